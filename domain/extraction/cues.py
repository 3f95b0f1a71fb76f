"""What the `rules` provider looks for in a sentence, and what rules a sentence out, in English and Russian.

`CUES` are the kinds of statement worth keeping (spec/2 section 11); `REFUSALS` say why a sentence is none, in the order they are asked.
Both are plain tables: a reader can see from a rule's name why a sentence was kept or dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w-])(?:" + "|".join(alternatives) + r")(?![\w-]|\.\w)", re.I)


def _starts(*alternatives: str) -> re.Pattern[str]:
    return re.compile(r"^(?:" + "|".join(alternatives) + r")(?![\w-]|\.\w)", re.I)


@dataclass(frozen=True, slots=True)
class Cue:
    """A kind of statement: its rule's name, its strength, and the words that mark it."""

    rule: str
    strength: int
    words: re.Pattern[str]


CUES: tuple[Cue, ...] = (
    Cue("negative_result", 3, _words(
        r"(?:does|do|did) not (?:help|fix|change|affect|solve)", r"(?:doesn't|don't|didn't) (?:help|fix|change|affect|solve)",
        r"(?:has|had|have) no effect", r"makes? no difference", r"(?:is|was) not the (?:cause|reason|culprit)",
        r"(?:has|have) nothing to do with", r"(?:is|are) ignored", r"never (?:reaches|runs|fires|called)",
        r"не (?:помог\w*|влияет|влияют|решает|исправляет)", r"не является причиной", r"ни при ч[её]м", r"игнорируется",
    )),
    Cue("incompatibility", 3, _words(
        r"incompatib\w+", r"(?:is|are) not compatible", r"conflicts? with", r"(?:does|do) not work (?:with|in|on|under|for|when|if)",
        r"(?:doesn't|don't) work (?:with|in|on|under|for|when|if)", r"fails? (?:on|with|when|under|for|if|unless)",
        r"breaks? (?:on|with|when|under|if)", r"crash(?:es)? (?:on|with|when|under|if)", r"raises? \S+ (?:on|when|for|if|with)",
        r"works? only (?:with|in|on|when|if)", r"only works? (?:with|in|on|when|if)", r"(?:is|are) not supported", r"unsupported",
        r"(?:does|do) not support", r"doesn't support", r"несовместим\w*", r"конфликтует", r"не работа(?:ет|ют)",
        r"падает (?:при|на|с|если)", r"ломается (?:при|на|с|если)", r"не поддержива\w+", r"работа(?:ет|ют) только",
    )),
    Cue("cause", 3, _words(
        r"because(?: of)?", r"due to", r"caused by", r"causes", r"is the (?:root )?cause", r"the (?:root )?cause of", r"leads? to",
        r"results? in", r"is why", r"the reason (?:for|why)", r"triggered by", r"stems? from", r"as a result of",
        r"потому что", r"из-за", r"причин[аоы]\w*", r"вызван[аоы]?", r"приводит к", r"приводят к", r"поскольку", r"так как",
    )),
    Cue("consequence", 2, _words(
        r"so (?:it|the|a|an|any|every|each|all|no|its|their|they|both|nothing|only|¤)", r"which means", r"for (?:this|that) reason", r"поэтому", r"так что",
    )),
    Cue("verified_fix", 2, _words(
        r"(?:fixes|resolves|solves|avoids|prevents)", r"(?:is|was|are|were) fixed by", r"(?:is|was) (?:re)?solved by", r"workaround",
        r"the fix is", r"works? (?:again )?(?:after|once)", r"passe?s? (?:again )?(?:after|once)",
        r"исправляет(?:ся)?", r"решает(?:ся)?", r"помогает", r"обходн\w+", r"устраняет(?:ся)?", r"предотвраща\w+",
    )),
    Cue("decision", 2, _words(
        r"(?:we|the team|it was) (?:have )?decided", r"we (?:chose|agreed)", r"the decision is", r"decided (?:to|against)",
        r"мы решили", r"решено", r"решили", r"выбрали", r"договорились",
    )),
    Cue("constraint", 2, _words(
        r"must(?: not| never| always| only)?", r"mustn't", r"(?:cannot|can't|can not)", r"(?:has|have|needs?) to be",
        r"requires?", r"only (?:accepts?|allows?|supports?|takes?)", r"(?:is|are) limited to", r"at most", r"at least", r"never", r"always",
        r"is (?:required|mandatory|forbidden|reserved|read-only|immutable|case-sensitive)",
        r"нельзя", r"долж(?:ен|на|но|ны)", r"обязательн\w+", r"необходимо", r"требу(?:ет|ют|ется)", r"никогда", r"всегда", r"не более",
        r"не менее", r"запрещ\w+",
    )),
    Cue("behaviour", 1, _words(
        r"(?:silently )?(?:ignores|truncates|rounds|drops|swallows|overrides|overwrites|shadows|mutates|discards|strips|caches|inherits)",
        r"silently", r"defaults to", r"falls back to", r"takes precedence", r"is case-sensitive",
        r"(?:doesn't|does not) (?:return|raise|check|validate|handle|preserve|include|respect|inherit|read|use|call|know|reload|cache)",
        r"игнорирует", r"округля(?:ет|ют)", r"отбрасыва(?:ет|ют)", r"по умолчанию", r"перезаписыва\w+",
        r"не (?:проверя|возвраща|учитыва|сохраня|обрабатыва|чита|использу)\w+",
    )),
)  # fmt: skip

LABELS = re.compile(
    r"root cause|cause|conclusion|finding|findings|result|results|note|important|caveat|constraint|limitation|limitations|gotcha|"
    r"lesson|lessons learned|learned|takeaway|key (?:insight|finding|takeaway|point)s?|decision|fix|solution|workaround|reason|problem|issue|"
    r"warning|explanation|analysis|diagnosis|what (?:happened|went wrong)|why|keep in mind|remember|.*\bto keep in mind|"
    r"причин[аы]|вывод|выводы|итог|важно|ограничени[ея]|решение|замечание|примечание|заключение|объяснение|корень проблемы",
    re.I,
)
"""Leads and headings that stand over conclusions; they are no part of the proposition."""
CONCLUDING = re.compile(
    r"cause|conclusion|finding|limitation|constraint|gotcha|lesson|learn|takeaway|insight|decision|diagnosis|keep in mind|remember|important|"
    r"note|why|went wrong|причин|вывод|итог|важно|ограничен|решение|заключ",
    re.I,
)

LEADS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"^(?:so|also|and|but|thus|hence|therefore|however|in short|in fact|in summary|to summarize|overall|basically|essentially|note that|"
        r"note|remember(?: that)?|importantly|in addition|additionally|moreover|furthermore|finally|ultimately|indeed|clearly|of course|"
        r"as a result|in conclusion|turns out(?: that)?|it turns out(?: that)?|it turned out(?: that)?|as it turns out)\b[,:]?\s+",
        r"^(?:i|we) (?:found|confirmed|verified|learned|discovered|established|determined|now know)(?: out)?(?: now)? that\s+",
        r"^(?:i|we) (?:can )?(?:now )?(?:see|notice|know)(?: that)?\s+",
        r"^(?:this|that|it|which|the (?:test|result|output|experiment|investigation|log|trace)s?) "
        r"(?:confirms|confirmed|shows|showed|proves|proved|means|reveals|demonstrates)(?: that)?\s+",
        r"^confirmed:\s+",
        r"^(?:the |my )?(?:actual |real |root |main |underlying |core )?(?:issue|problem|bug|cause|reason|culprit|finding|conclusion|key point|key) "
        r"(?:here )?(?:is|was) that\s+",
        r"^the (?:fix|solution|workaround|answer) (?:here )?(?:is|was) to\s+",
        r"^(?:итак|значит|таким образом|следовательно|оказалось|выяснилось|подтвердилось|в итоге|то есть|получается|кроме того|также|важно)"
        r"(?:, что)?[,:]?\s+",
        r"^(?:причина|проблема|дело) (?:была )?(?:в том|заключается в том), что\s+",
    )
)  # fmt: skip
"""Openings that tie a sentence to its place in a conversation and say nothing themselves."""
FOUND = re.compile(
    r"\b(?:found|confirm\w*|verified|learned|discovered|established|determined|turn(?:s|ed) out|prove[sd]?|reveals|demonstrate\w*|conclusion|remember|"
    r"cause|culprit|reason|issue|problem|bug|finding|fix|solution|workaround|оказалось|выяснилось|подтвердилось|следовательно|причина|дело|проблема)\b",
    re.I,
)
"""Openings that say the sentence is what came out."""
CAUSE_IS = re.compile(
    r"^(?:the )?(?:actual |real |root |underlying )?(?:cause|culprit|reason|issue|problem|bug) (?:is|was) (?P<what>.+?), which (?P<does>.+)$"
    r"|^(?:причина|проблема) (?:в|во|— в|- в)\s+(?P<ru>.+?), котор(?:ый|ая|ое|ые) (?P<rudoes>.+)$",
    re.I,
)
"""`The cause is X, which does Y` says `X does Y`, and that it is a cause."""

REFUSALS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("question", re.compile(r"\?[\"')\s]*$")),
    ("unfinished", re.compile(r"(?::|,|…|\.\.\.|;)$")),
    ("plan", _starts(
        r"i'll", r"i will", r"i'm going", r"i am going", r"let me", r"let's", r"lets", r"now,? (?:i|let|we|that)", r"next", r"first,?", r"then,?",
        r"we (?:should|need|can|could|will|must)", r"i (?:should|need|can|could|want|have to|must)", r"going to", r"trying", r"to do", r"todo",
        r"to (?:fix|solve|address|resolve|reproduce|verify|test|check|confirm|see|make|do|find|get|run|be)",
        r"need to", r"time to", r"before (?:i|we|making|submitting|changing)", r"we'll", r"you(?:'ll| will| can| could| should| need| would)",
        r"сейчас", r"давай(?:те)?", r"попробу\w+", r"теперь (?:я|мы|нужно|надо)?", r"сначала", r"затем", r"далее", r"проверю", r"посмотр\w+", r"нужно", r"надо",
    )),
    ("hedged", _words(
        r"might", r"may", r"maybe", r"perhaps", r"probab(?:ly|le)", r"possib(?:ly|le)", r"likely", r"unlikely", r"seems?", r"seemed", r"appears?",
        r"appeared", r"looks? like", r"looked like", r"could", r"suspect\w*", r"i (?:think|guess|believe|assume|expect)", r"suggest(?:s|ed|ing)?",
        r"presumably", r"should", r"would", r"hopefully", r"apparently", r"i'm not sure", r"not sure", r"unclear", r"potential(?:ly)?",
        r"assum(?:e|es|ing|ption)", r"hypothes\w+", r"theory", r"can (?:lead|cause|result)",
        r"похоже", r"возможно", r"вероятно", r"может(?: быть)?", r"могу?т", r"кажется", r"видимо", r"наверное", r"думаю", r"предполож\w+", r"по-видимому", r"бы",
    )),
    ("hypothetical", _starts(r"if (?:you|we|i|this|that|it|needed)", r"suppose", r"imagine", r"in case", r"when you", r"once you", r"если (?:ты|вы|мы|я|это)", r"допустим")),
    ("retraction", _words(
        r"(?:was|were|am) wrong", r"wrong (?:guess|hypothesis|assumption|track)", r"not the (?:issue|problem)", r"mistaken", r"my mistake",
        r"ruled out", r"я ошиб\w+", r"ошибочн\w+",
    )),
    ("courtesy", _words(
        r"sorry", r"apolog\w+", r"thanks?", r"thank you", r"you're welcome", r"feel free", r"let me know", r"happy to", r"great", r"perfect", r"excellent",
        r"hello", r"hi", r"please", r"congratulations", r"good (?:news|question|point|catch)", r"unfortunately", r"извин\w+", r"прости\w*", r"спасибо", r"пожалуйста", r"отлично",
    )),
    ("narrative", _words(
        r"i", r"i'm", r"i've", r"i'd", r"i'll", r"me", r"my", r"mine", r"let's", r"you", r"your", r"yours", r"you're", r"you've", r"myself",
        r"we've", r"we're", r"we'll", r"we'd", r"he", r"she", r"his", r"her", r"я", r"мне", r"меня", r"мой", r"моя", r"мои", r"вы", r"вам", r"вас", r"ваш\w*", r"ты", r"тебе",
    )),
    ("progress", _starts(
        r"(?:successfully )?(?:added|fixed|created|updated|removed|changed|replaced|renamed|implemented|verified|confirmed|checked|ran|wrote|deleted|"
        r"moved|refactored|installed|committed|configured|used|kept|made|done|ensured|integrated|cleaned|tested|everything|none of|all (?:tests|checks|files|changes|types|functions|components|modules))",
        r"(?:готово|все|всё)", r"(?:временно |пока |уже )?[а-яё]+(?:ил|ал|ял|ел|ул)(?:и|а)?",
    )),
    ("progress", _words(
        r"(?:has|have|had) (?:now |already |just |all )?(?:been|successfully)", r"successfully", r"(?:is|are) now", r"now (?:works|passes|returns|uses|has|fails)",
        r"tests? (?:now )?pass(?:es|ed)?", r"was (?:added|changed|updated|created|removed|replaced)", r"were (?:added|changed|updated|created|removed|replaced)",
        r"(?:is|are) (?:complete|completed|done|finished|ready)", r"as (?:expected|requested|shown|mentioned|described|you)", r"тесты (?:теперь )?проходят", r"успешно", r"готов[оа]?",
    )),
    ("passing_detail", _words(
        r"^now", r"above", r"below", r"the following", r"following", r"previous(?:ly)?", r"earlier", r"just now", r"right now", r"current(?:ly)?", r"today", r"yesterday",
        r"tomorrow", r"this (?:time|session|run|step|point|turn|task|challenge|file|issue|error|change|approach|line|output|case|one|way|is|was|means)",
        r"the (?:last|next|previous) (?:step|command|edit|run|attempt|message)", r"so far", r"already been", r"attempt(?:s|ed)?", r"step \d+",
        r"lines? \d+(?:-\d+)?", r"выше", r"ниже", r"сегодня", r"вчера", r"текущ\w+", r"предыдущ\w+", r"пока", r"ещ[её] раз", r"на этом шаге", r"строк[аеиу] \d+",
    )),
    ("no_subject", _starts(
        r"this", r"that", r"it", r"it's", r"its", r"they", r"these", r"those", r"there", r"here", r"which", r"such", r"what", r"one", r"another", r"other", r"same",
        r"the (?:same|former|latter|other|second|first|rest|script|code|output|result|command|attempt|issue|problem|bug|error|fix|change|changes|solution|"
        r"tests?|function|method|class|file|main|cause|reason|app|application|implementation|update|server|page|program|flag|execution|goal|purpose|task|user)"
        r"(?! (?:(?:in|of|for|with|behind) )?(?:the )?¤)",
        r"because", r"since", r"due", r"by", r"with", r"as", r"while", r"although", r"though", r"even", r"where", r"whether", r"or", r"yes", r"no", r"not", r"only", r"when",
        r"(?:uses|used|includes|handles|displays|shows|provides|supports|contains|persists|features|optimized|returns|takes|needs|defaults)",
        r"это(?:т|го|му)?", r"эти", r"эта", r"он[аои]?", r"так", r"там", r"тут", r"здесь", r"тот", r"та", r"те", r"потому", r"поэтому", r"из-за", r"да", r"нет",
    )),
    ("instruction", _starts(
        r"run", r"create", r"write", r"read", r"open", r"change", r"remove", r"update", r"fix", r"modify", r"click", r"go to", r"see", r"try", r"check",
        r"make sure", r"ensure", r"note", r"consider", r"put", r"start", r"stop", r"implement", r"provide", r"test", r"verify", r"find", r"look",
        r"добавь\w*", r"сделай\w*", r"запусти\w*", r"напиши\w*", r"исправь\w*", r"создай\w*",
    )),
    ("advice", _starts(
        r"use", r"add", r"make", r"set", r"replace", r"install", r"keep", r"call", r"return", r"import", r"pass", r"avoid", r"prefer", r"используй\w*",
    )),
)  # fmt: skip

REVISED = _words(
    r"(?:was|is|were) wrong", r"wrong", r"not the (?:cause|issue|problem|reason|culprit)", r"mistaken", r"incorrect", r"ruled out", r"on the contrary",
    r"(?:does|do|did|is|was|are) not\b.{0,40}\bat all", r"doesn't\b.{0,40}\bat all", r"actually", r"no longer", r"turns out not", r"not true", r"disproved?", r"rather than",
    r"is fine", r"are fine", r"не так", r"ошиб\w+", r"оказалось,? что не", r"не подтверд\w+", r"на самом деле", r"всё-таки",
)
"""Words of a later sentence that take back an earlier one about the same names."""
