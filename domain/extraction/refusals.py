"""What rules a sentence out, in English and Russian: plans, guesses, courtesies, progress, details of the moment.

The filters are asked in their order and the first that holds names the reason. Words are looked for outside code spans
and quoted strings, which stand as `¤` here.
"""

from __future__ import annotations

import re

from domain.extraction.wording import starts, words

_PLAN = starts(
    r"""i'll; i will; i'm going; i am going; let me; let's; lets; now,? (?:i|let|we|that); next; first,?;
    then,?; we (?:should|need|can|could|will|must); i (?:should|need|can|could|want|have to|must); going to;
    trying; to do; todo;
    to (?:fix|solve|address|resolve|reproduce|verify|test|check|confirm|see|make|do|find|get|run|be);
    need to; time to; before (?:i|we|making|submitting|changing); we'll;
    you(?:'ll| will| can| could| should| need| would); сейчас; давай(?:те)?; попробу\w+;
    теперь (?:я|мы|нужно|надо)?; сначала; затем; далее; проверю; посмотр\w+; нужно; надо"""
)
_HEDGED = words(
    r"""might; may; maybe; perhaps; probab(?:ly|le); possib(?:ly|le); likely; unlikely; seems?; seemed;
    appears?; appeared; looks? like; looked like; could; suspect\w*;
    i (?:think|guess|believe|assume|expect); suggest(?:s|ed|ing)?; presumably; should; would; hopefully;
    apparently; i'm not sure; not sure; unclear; potential(?:ly)?; assum(?:e|es|ing|ption); hypothes\w+;
    theory; can (?:lead|cause|result); похоже; возможно; вероятно; может(?: быть)?; могу?т; кажется; видимо;
    наверное; думаю; предполож\w+; по-видимому; бы"""
)
_HYPOTHETICAL = starts(
    r"""if (?:you|we|i|this|that|it|needed); suppose; imagine; in case; when you; once you;
    если (?:ты|вы|мы|я|это); допустим"""
)
_RETRACTION = words(
    r"""(?:was|were|am) wrong; wrong (?:guess|hypothesis|assumption|track); not the (?:issue|problem); mistaken;
    my mistake; ruled out; я ошиб\w+; ошибочн\w+"""
)
_COURTESY = words(
    r"""sorry; apolog\w+; thanks?; thank you; you're welcome; feel free; let me know; happy to; great; perfect;
    excellent; hello; hi; please; congratulations; good (?:news|question|point|catch); unfortunately;
    извин\w+; прости\w*; спасибо; пожалуйста; отлично"""
)
_NARRATIVE = words(
    r"""i; i'm; i've; i'd; i'll; me; my; mine; let's; you; your; yours; you're; you've; myself; we've; we're;
    we'll; we'd; he; she; his; her; я; мне; меня; мой; моя; мои; вы; вам; вас; ваш\w*; ты; тебе"""
)
_DONE = starts(
    r"""(?:successfully )?(?:added|fixed|created|updated|removed|changed|replaced|renamed|implemented|verified);
    (?:successfully )?confirmed;
    (?:successfully )?(?:checked|ran|wrote|deleted|moved|refactored|installed|committed|configured|used|kept|made|done);
    ensured; integrated; cleaned; tested; everything; none of;
    all (?:tests|checks|files|changes|types|functions|components|modules); готово; все; всё;
    (?:временно |пока |уже )?[а-яё]+(?:ил|ал|ял|ел|ул)(?:и|а)?"""
)
_PROGRESS = words(
    r"""(?:has|have|had) (?:now |already |just |all )?(?:been|successfully); successfully; (?:is|are) now;
    now (?:works|passes|returns|uses|has|fails); tests? (?:now )?pass(?:es|ed)?;
    (?:was|were) (?:added|changed|updated|created|removed|replaced);
    (?:is|are) (?:complete|completed|done|finished|ready);
    as (?:expected|requested|shown|mentioned|described|you); тесты (?:теперь )?проходят; успешно; готов[оа]?"""
)
_PASSING = words(
    r"""(?:the|as|see|shown|listed|described|mentioned|given) (?:above|below); following; previous(?:ly)?;
    earlier; just now; right now; currently;
    current (?:directory|file|folder|step|state|task|code|branch|approach|content|output|test|issue|implementation);
    current version;
    an? (?:old|outdated) (?:\w+ )?(?:implementation|version|approach); today; yesterday; tomorrow;
    this (?:time|session|run|step|point|turn|task|challenge|file|issue|error|change|approach|line);
    this (?:output|case|one|way|is|was|means);
    the (?:last|next|previous) (?:step|command|edit|run|attempt|message); so far; already been;
    attempt(?:s|ed)?; step \d+; lines? \d+(?:-\d+)?; выше; ниже; сегодня; вчера;
    текущ\w+ (?:файл|каталог|папк|шаг|задач|состояни|ветк|реализаци|код|верси)\w*; предыдущ\w+; пока;
    ещ[её] раз; на этом шаге; строк[аеиу] \d+"""
)
_THING = (
    r"same|former|latter|other|second|first|rest|script|code|output|result|command|attempt|issue|problem|bug|error|fix|"
    r"changes?|solution|tests?|function|method|class|file|main|cause|reason|app|application|implementation|update|server|"
    r"page|program|flag|execution|goal|purpose|task|user"
)
_NO_SUBJECT = starts(
    rf"""this; that; it; it's; its; they; these; those; there; here; which; such; what; one; another; other;
    same; the (?:{_THING})(?! (?:(?:in|of|for|with|behind) )?(?:the )?¤); because; since; due; cannot;
    can't; must; does; doesn't; is; are; has; have; by; with; as; while; although; though; even; where;
    whether; or; yes; no; not; only; when; uses; used; includes; handles; displays; shows; provides;
    supports; contains; persists; features; optimized; returns; takes; needs; defaults; это(?:т|го|му)?;
    эти; эта; он[аои]?; так; там; тут; здесь; тот; та; те; потому; поэтому; из-за; да; нет"""
)
_INSTRUCTION = starts(
    r"""run; create; write; read; open; change; remove; update; fix; modify; click; go to; see; try; check;
    make sure; ensure; note; consider; put; start; stop; implement; provide; test; verify; find; look;
    добавь\w*; сделай\w*; запусти\w*; напиши\w*; исправь\w*; создай\w*"""
)
_ADVICE = starts(
    r"""use; add; make; set; replace; install; keep; call; return; import; pass; avoid; prefer; используй\w*"""
)

ADVICE = "advice"
"""Advice is worth keeping with its reason only."""
REFUSALS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("question", re.compile(r"\?[\"')\s]*$")),
    ("unfinished", re.compile(r"(?::|,|…|\.\.\.|;)$")),
    ("plan", _PLAN),
    ("hedged", _HEDGED),
    ("hypothetical", _HYPOTHETICAL),
    ("retraction", _RETRACTION),
    ("courtesy", _COURTESY),
    ("narrative", _NARRATIVE),
    ("progress", _DONE),
    ("progress", _PROGRESS),
    ("passing_detail", re.compile(r"^now\b", re.IGNORECASE)),
    ("passing_detail", _PASSING),
    ("no_subject", _NO_SUBJECT),
    (
        "raw_message",
        re.compile(r"^(?:[\w.]*(?:Error|Exception|Warning)|error|fatal|warning|traceback)\b[^a-z¤]*:", re.IGNORECASE),
    ),
    ("definition", re.compile(r"^\S{1,60}(?: \([^)]*\))? [-–—] ")),
    ("instruction", _INSTRUCTION),
    (ADVICE, _ADVICE),
)
