"""The story in words: every line and figure is one that was read back."""

from collections.abc import Iterator

from cli.demo.story import Story
from cli.describing import citation_lines, counted, evidence_lines, short
from cli.output import one_line, say, table, when
from domain.retrieval.views import Citation, KnowledgeView

NARROW = 2
"""Pieces of evidence shown of each candidate."""


def tell_import(story: Story) -> None:
    """One row for each transcript."""
    say(f"\n1. {counted(len(story.rows), 'transcript')} handed in")
    columns = ("file", "format", "run", ">events", ">tool calls", ">errors", ">candidates")
    rows: list[tuple[object, ...]] = []
    for row in story.rows:
        if not row.answer.runs:
            rows.append((row.answer.file, row.answer.reason or row.answer.status))
        for run in row.answer.runs:
            view = next(item.run for item in story.runs if item.run.run_id == run.run)
            counts = (view.events, view.tool_calls, view.errors, run.candidates)
            rows.append((row.answer.file, row.answer.format, run.run[:8], *counts))
    table(columns, rows)


def tell_candidates(story: Story) -> None:
    """What was extracted, with the evidence it stands on."""
    say(f"\n2. What they taught: {counted(len(story.waiting), 'candidate')}, each with its evidence")
    for item in story.waiting:
        known = item.knowledge
        say(f"\n{known.proposition}")
        say(f"  {short(known.id)} ({known.state}), said in run {_run(known.provenance.origin_run)}")
        for line in evidence_lines(item.evidence, NARROW):
            say(line)
    quiet = [run.run.title for run in story.runs if not any(item.knowledge.kind == "claim" for item in run.moved)]
    for title in quiet:
        say(f"\nNothing to keep from: {one_line(title or 'a run without a title', 90)}")


def tell_independent(story: Story) -> None:
    """What a second session confirmed, with both sides' evidence."""
    say(
        f"\n3. Found again by another session on its own evidence: {counted(len(story.independent), 'claim')} confirmed"
    )
    for item in story.independent:
        known, step = item.view.knowledge, item.step
        first = _of_run(item.view, known.provenance.origin_run)
        second = _of_run(item.view, step.run)
        say(f"\n{known.proposition}")
        say(f"  proposed by run {_run(known.provenance.origin_run)} on")
        for line in citation_lines(first) if first else ():
            say(f"  {line}")
        say(f"  confirmed by run {_run(step.run)} ({step.reason}, event {step.seq}) on")
        for line in citation_lines(second) if second else ():
            say(f"  {line}")
    for run in story.runs:
        for moved in run.moved:
            if moved.knowledge.kind == "observation":
                say(
                    f"  run {_run(run.run.run_id)} {moved.transition} the observation {one_line(moved.knowledge.proposition)}"
                )


def tell_decisions(story: Story) -> None:
    """What the reviewer decided, and what each transaction answered."""
    say(f"\n4. {counted(len(story.decided), 'decision')} by {story.script.reviewer}")
    for item in story.decided:
        answer, view = item.outcome.answer, item.outcome.view
        say(f"\n{item.candidate.knowledge.proposition}")
        say(f"  {answer.state} ({answer.application}) at {when(answer.decided_at)} UTC: {item.planned.rationale}")
        if view is not None:
            say(f"  it is {view.knowledge.state} now, by event {view.transitions[-1].seq} of the journal")


def tell_search(story: Story) -> None:
    """What was found, and the words that chose it."""
    if story.found is None:
        return
    say(f"\n5. Search: “{one_line(story.found.text, 100)}”")
    for item in story.found.items:
        chosen = ", ".join(f"{term.term} {term.score / 1000:.1f}" for term in item.terms)
        say(f"  {item.rank}. {one_line(item.knowledge.proposition, 150)}")
        say(f"     {item.knowledge.state}; chosen by {chosen}")
    say(
        f"  {len(story.found.items)} of {story.found.matching} that match, among {story.found.searched}; what ended is not shown"
    )


def tell_checks(story: Story) -> None:
    """The chain and the rebuild."""
    verified, rebuilt = story.verified, story.rebuild
    if verified is not None:
        head = f"; head {verified.head.hash[:16]}" if verified.head else ""
        say(
            f"\n6. The journal is {'whole' if verified.ok else 'NOT whole'}: {verified.events} events hashed and linked{head}"
        )
        for problem in verified.problems:
            say(f"  {problem}")
    if rebuilt is not None:
        same = "identical, to the byte" if rebuilt.identical else "NOT identical"
        say(f"\n7. The projections folded again from {rebuilt.rebuilt.events} events: {same}")
        pairs = zip(rebuilt.before, rebuilt.rebuilt.digests, strict=True)
        rows = [
            (old.table, new.rows, old.sha256[:16], new.sha256[:16], "yes" if old == new else "NO") for old, new in pairs
        ]
        table(("table", ">rows", "before", "after", "same"), rows)


def tell_sum(story: Story, seconds: float) -> None:
    """The table at the end."""
    counts = story.counts
    if counts is None:
        return
    say(f"\n8. In the end, after {seconds:.0f} s")
    rows: list[tuple[object, object]] = [
        ("events in the journal", counts.events),
        ("runs", counts.runs),
        ("tool calls", counts.operations),
        *((f"extractions {state}", number) for state, number in counts.extractions.items()),
        *((f"knowledge {state}", number) for state, number in counts.knowledge.items()),
        *((f"approvals {state}", number) for state, number in counts.approvals.items()),
        *((f"workflows {kind}", _statuses(by)) for kind, by in story.workflows.items()),
    ]
    table(("what", ">how many"), rows)


def closing(ui_port: int | None) -> Iterator[str]:
    """Where to look, and how to go on."""
    ui = f"http://127.0.0.1:{ui_port}" if ui_port else "the address `temporality status` prints"
    yield ""
    yield "The demo's servers are stopped and its data is gone. To go on:"
    yield "  make up                                        the stack, kept running"
    yield "  .venv/bin/temporality import PATH...           your own transcripts (Claude Code: ~/.claude/projects)"
    yield "  .venv/bin/temporality review                   what waits for a decision"
    yield "  .venv/bin/temporality search 'some words'      what is known"
    yield f"In the Temporal UI ({ui}), these filters of the workflow list tell who must do what:"
    yield "  TemporalityKind = 'approval' AND ExecutionStatus = 'Running'     who decides, and by when"
    yield "  TemporalityKind = 'extraction' AND ExecutionStatus = 'Failed'    what can be run again"


def _statuses(by: dict[str, int]) -> str:
    return ", ".join(f"{number} {status}" for status, number in sorted(by.items()))


def _run(run: str | None) -> str:
    return (run or "-")[:8]


def _of_run(view: KnowledgeView, run: str | None) -> Citation | None:
    """The strongest piece of evidence a run brought: a result before anything else."""
    mine = [item for item in view.evidence if item.run == run]
    return next((item for item in mine if item.type.endswith("_result")), mine[0] if mine else None)
