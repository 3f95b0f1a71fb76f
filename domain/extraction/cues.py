"""What the `rules` provider looks for in a sentence, in English and Russian: the kinds of statement worth keeping.

Plain tables, so that a reader sees from a rule's name why a sentence was kept (spec/2 section 11). Words are looked for
outside code spans and quoted strings, which stand as `¤` here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from domain.extraction.wording import words


@dataclass(frozen=True, slots=True)
class Cue:
    """A kind of statement: its rule's name, its strength, and the words that mark it."""

    rule: str
    strength: int
    words: re.Pattern[str]


_NEGATIVE = words(
    r"""(?:does|do|did) not (?:help|fix|change|affect|solve);
    (?:doesn't|don't|didn't) (?:help|fix|change|affect|solve); (?:has|had|have) no effect;
    makes? no difference; (?:is|was) not the (?:cause|reason|culprit); (?:has|have) nothing to do with;
    (?:is|are) ignored; never (?:reaches|runs|fires|called);
    не (?:помог\w*|влияет|влияют|решает|исправляет); не является причиной; ни при ч[её]м; игнорируется"""
)
_INCOMPATIBLE = words(
    r"""incompatib\w+; (?:is|are) not compatible; conflicts? with; unsupported; (?:is|are) not supported;
    (?:does|do) not work (?:with|in|on|under|for|when|if);
    (?:doesn't|don't) work (?:with|in|on|under|for|when|if); fails? (?:on|with|when|under|for|if|unless);
    breaks? (?:on|with|when|under|if); crash(?:es)? (?:on|with|when|if);
    raises? \S+ (?:on|when|for|if|with); works? only (?:with|in|on|when|if);
    only works? (?:with|in|on|when|if); (?:does|do) not support; doesn't support; несовместим\w*;
    конфликтует; не работа(?:ет|ют); не поддержива\w+; падает (?:при|на|с|если); ломается (?:при|на|с|если);
    работа(?:ет|ют) только; возника(?:ет|ют) только; (?:occurs?|happens?|appears?) only;
    only (?:occurs?|happens?|affects?)"""
)
_CAUSE = words(
    r"""because(?: of)?; due to; caused by; causes; is the (?:root )?cause; the (?:root )?cause of; leads? to;
    results? in; is why; the reason (?:for|why); triggered by; stems? from; as a result of; потому что;
    из-за; причин[аоы]\w*; вызван[аоы]?; приводит к; приводят к; поскольку; так как"""
)
_CONSEQUENCE = words(
    r"""so (?:when|if|once|that|it|the|a|an|any|every|each|all|no|its|their|they|both|nothing|only|¤); which means;
    for (?:this|that) reason; поэтому; так что"""
)
_FIX = words(
    r"""fixes; resolves; solves; (?:is|was|are|were) fixed by; (?:is|was) (?:re)?solved by; workaround;
    the fix is; works? (?:again )?(?:after|once); passe?s? (?:again )?(?:after|once); исправляет(?:ся)?;
    решает(?:ся)?; помогает; обходн\w+; устраняет(?:ся)?; предотвраща\w+"""
)
_DECISION = words(
    r"""(?:we|the team|it was) (?:have )?decided; we (?:chose|agreed); the decision is; decided (?:to|against);
    мы решили; решено; решили; выбрали; договорились"""
)
_CONSTRAINT = words(
    r"""must(?: not| never| always| only)?; mustn't; cannot; can't; can not; (?:has|have|needs?) to; otherwise;
    or else; (?:is|are) (?:refused|rejected|forbidden); requires?;
    only (?:accepts?|allows?|supports?|takes?|checks?|handles?|matches|reads?|sees?|watches|updates?|applies); expects;
    (?:is|are) limited to; at most; at least; never; always;
    is (?:required|mandatory|forbidden|reserved|read-only|immutable|case-sensitive); нельзя;
    долж(?:ен|на|но|ны); обязательн\w+; необходимо; требу(?:ет|ют|ется); никогда; всегда; иначе; не более;
    не менее; запрещ\w+"""
)
_BEHAVIOUR = words(
    r"""ignores; truncates; rounds; drops; swallows; overrides; overwrites; shadows; mutates; discards; strips;
    caches; inherits; silently; defaults to; falls back to; takes precedence; is case-sensitive; reuses;
    (?:doesn't|does not|don't|do not) (?:return|raise|check|validate|handle|preserve|include|respect|inherit|read|use);
    (?:doesn't|does not|don't|do not) (?:call|know|reload|cache|implement|distinguish|clear|reset|update|invalidate);
    (?:doesn't|does not|don't|do not) (?:propagate|expose|export|match|escape|accept|allow|apply|trigger|set|recogni[sz]e);
    (?:doesn't|does not|don't|do not) (?:wait|flush|close|persist|save|load|register|forward|follow|resolve|catch|cover);
    игнорирует; округля(?:ет|ют); отбрасыва(?:ет|ют); по умолчанию;
    перезаписыва\w+; не (?:проверя|возвраща|учитыва|сохраня|обрабатыва|чита|использу)\w+"""
)
_CONTRAST = words(
    r"""instead of; but not; but only; unless; in reality; regardless of; rather than; not the; depends? on; avoids;
    prevents; captures; hard-?codes?; вместо; но не; а не; независимо от"""
)
CUES: tuple[Cue, ...] = (
    Cue("negative_result", 3, _NEGATIVE),
    Cue("incompatibility", 3, _INCOMPATIBLE),
    Cue("cause", 3, _CAUSE),
    Cue("consequence", 2, _CONSEQUENCE),
    Cue("verified_fix", 2, _FIX),
    Cue("decision", 2, _DECISION),
    Cue("constraint", 2, _CONSTRAINT),
    Cue("behaviour", 2, _BEHAVIOUR),
    Cue("behaviour", 1, _CONTRAST),
)
"""The first that a sentence holds names its rule; a decision is one whatever else it holds."""

LABELS = re.compile(
    r"root cause|cause|conclusion|findings?|results?|note|important|caveat|constraint|limitations?|gotcha|lessons?|"
    r"lessons? learned|learned|takeaway|key (?:insight|finding|takeaway|point)s?|decision|fix|solution|workaround|"
    r"reason|problem|issue|warning|"
    r"explanation|analysis|diagnosis|what (?:happened|went wrong)|why\b.*|keep in mind|remember|"
    r".*\bto keep in mind|причин[аы]|вывод|выводы|итог|важно|ограничени[ея]|решение|замечание|примечание|заключение|"
    r"объяснение|корень проблемы",
    re.IGNORECASE,
)
"""Leads and headings that stand over conclusions; they are no part of the proposition."""
CONCLUDING = re.compile(
    r"cause|conclusion|finding|limitation|constraint|gotcha|lesson|learn|takeaway|insight|decision|diagnosis|note|why|"
    r"keep in mind|remember|important|went wrong|причин|вывод|итог|важно|ограничен|решение|заключ",
    re.IGNORECASE,
)
"""Those among them that say what came out."""

_OPENINGS = (
    r"(?:ok|okay|ah|aha|yes|right|indeed|actually|in reality|in practice)\b[,:!]?",
    r"(?:so|also|and|but|thus|hence|therefore|however|in short|in fact|in summary|to summarize|overall)\b[,:]?",
    r"(?:basically|essentially)\b[,:]?",
    r"(?:note that|note|remember(?: that)?|importantly|in addition|additionally|moreover|furthermore)\b[,:]?",
    r"(?:finally|ultimately|indeed|clearly|of course|as a result|in conclusion)\b[,:]?",
    r"(?:it )?(?:turns|turned) out(?: that)?\b[,:]?",
    r"(?:i|we) (?:found|confirmed|verified|learned|discovered|established|determined|now know)(?: out)?(?: now)? that",
    r"(?:i|we) (?:can )?(?:now |clearly )?(?:see|notice|know)(?: that)?",
    r"(?:this|that|it|which|the (?:test|result|output|experiment|investigation|log|trace)s?) "
    r"(?:confirms|confirmed|shows|showed|proves|proved|means|reveals|demonstrates)(?: that)?",
    r"confirmed:",
    r"(?:the |my )?(?:actual |real |root |main |underlying |core )?"
    r"(?:issue|problem|bug|cause|reason|culprit|finding|conclusion|key point|key) (?:here )?(?:is|was) that",
    r"the (?:fix|solution|workaround|answer) (?:here )?(?:is|was) to",
    r"(?:итак|значит|таким образом|следовательно|оказалось|выяснилось|подтвердилось|в итоге|то есть|получается)"
    r"(?:, что)?[,:]?",
    r"(?:кроме того|также|важно)(?:, что)?[,:]?",
    r"(?:причина|проблема|дело) (?:была )?(?:в том|заключается в том), что",
)
LEADS = tuple(re.compile(rf"^{opening}\s+", re.IGNORECASE) for opening in _OPENINGS)
"""Openings that tie a sentence to its place in a conversation and say nothing themselves."""
FOUND = words(
    r"""found; confirm\w*; verified; learned; discovered; established; determined; turn(?:s|ed) out; prove[sd]?;
    reveals; demonstrate\w*; conclusion; remember; cause; culprit; reason; issue; problem; bug; finding;
    fix; solution; workaround; оказалось; выяснилось; подтвердилось; следовательно; причина; дело; проблема"""
)
"""Words of an opening that say the sentence is what came out."""
CAUSE_IS = re.compile(
    r"^(?:the )?(?:actual |real |root |underlying )?(?:cause|culprit|reason|issue|problem|bug) (?:is|was) "
    r"(?P<what>.+?), which (?P<does>.+)$"
    r"|^(?:причина|проблема) (?:в|во|— в|- в)\s+(?P<ru>.+?), котор(?:ый|ая|ое|ые) (?P<rudoes>.+)$",
    re.IGNORECASE,
)
"""`The cause is X, which does Y` says `X does Y`, and that it is a cause."""

REVISED = words(
    r"""(?:was|is|were) wrong; wrong; not the (?:cause|issue|problem|reason|culprit); mistaken; incorrect;
    ruled out; on the contrary; (?:does|do|did|is|was|are) not\b.{0,40}\bat all; doesn't\b.{0,40}\bat all;
    actually; no longer; turns out not; not true; disproved?; rather than; is fine; are fine; не так;
    ошиб\w+; оказалось,? что не; не подтверд\w+; на самом деле; всё-таки"""
)
"""Words of a later sentence that take back an earlier one about the same names."""
CONFIRMED = words(
    r"""assumptions? (?:is|are|was|were) (?:valid|right|correct|confirmed); as (?:we |i )?(?:expected|thought|assumed);
    exactly as; (?:this|that|which|it) (?:confirms|proves); hypothesis (?:is|was) (?:right|correct|confirmed);
    confirmed; предположение (?:верно|подтвердилось); подтвердилось; как и ожидалось"""
)
"""Words of a later sentence that say a guess was seen to hold."""
