"""Lines for people about knowledge and its evidence, used by every command that shows some."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from cli.output import one_line, when
from domain.retrieval.query import Known
from domain.retrieval.views import Citation, Moved

MOST_EVIDENCE = 12
_SHORT = 12


def short(ident: str) -> str:
    """The beginning of an id that people type: twelve characters of its own part."""
    head, slash, rest = ident.rpartition("/")
    return f"{head}{slash}{rest[:_SHORT]}" if slash else ident


def knowledge_lines(known: Known) -> Iterator[str]:
    """The proposition, then what it is and where it comes from."""
    told = known.provenance
    yield known.proposition
    yield f"  {known.state} {known.kind} {known.id}"
    until = f" until {when(known.valid_to)}" if known.valid_to else ""
    yield f"  valid from {when(known.valid_from)}{until} UTC, in project {known.project}"
    runs = len(told.runs)
    yield (
        f"  from run {told.origin_run or '-'} by {told.producer}.{told.producer_version}: "
        f"{counted(told.evidence, 'piece')} of evidence"
        + (f" from {counted(runs, 'run')}" if runs else "")
        + f", {counted(told.confirmations, 'confirmation')}, {counted(told.uses, 'use')}"
    )
    if known.reason or known.reason_code:
        yield f"  why: {known.reason_code or ''}{': ' if known.reason and known.reason_code else ''}{known.reason or ''}"
    if known.replaced_by:
        yield f"  replaced by {known.replaced_by}"
    if known.earlier:
        yield f"  decided before as {known.earlier}"
    if known.forgotten:
        yield "  forgotten: hidden from every search"


def evidence_lines(evidence: Sequence[Citation], most: int = MOST_EVIDENCE) -> Iterator[str]:
    """Each citation: its kind, its event, and the cited characters."""
    for citation in evidence[:most]:
        yield from citation_lines(citation)
    if len(evidence) > most:
        yield f"  ... and {len(evidence) - most} more pieces of evidence"


def citation_lines(citation: Citation) -> Iterator[str]:
    """One citation on two or three lines."""
    seq = f" (event {citation.seq} of the journal)" if citation.seq is not None else ""
    yield f"  {citation.type} in {citation.event_type or 'an event'} {citation.event}{seq}, run {citation.run or '-'}"
    if citation.command:
        yield f"    $ {one_line(citation.command)}"
    cut = citation.excerpt
    if cut is None:
        yield "    its event is not in this journal"
        return
    place = f"{cut.field} {cut.start}-{cut.end}" if cut.start is not None else cut.field
    outcome = f"; {cut.outcome}" if cut.outcome else ""
    doubt = "" if cut.verified is not False else "; NOT what was cited"
    doubt += "" if cut.complete else "; only its beginning could be read"
    text = one_line(cut.text, 300)
    yield f"    [{place}{outcome}{doubt}]{f' “{text}”' if text else ''}"


def moved_lines(moved: Sequence[Moved]) -> Iterator[str]:
    """What became of knowledge, one line for each move."""
    for item in moved:
        yield f"  {item.transition:<11} {item.knowledge.state:<11} {short(item.knowledge.id)}  {one_line(item.knowledge.proposition, 110)}"


def counted(number: int, word: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def left_until(deadline: datetime) -> str:
    """How long a deadline is away, in words."""
    seconds = int((deadline - datetime.now(UTC)).total_seconds())
    if seconds <= 0:
        return "passed"
    days, hours = seconds // 86400, seconds % 86400 // 3600
    return f"in {counted(days, 'day')}" if days else f"in {counted(hours, 'hour')}" if hours else "within the hour"
