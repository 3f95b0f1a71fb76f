"""The fake of `domain.ports.importing`: a file holds as many runs as a test planned."""

from activities.implements import implements
from domain.contracts.ids import digest_id
from domain.contracts.imports import ImportAnswer, ImportedRun, ImportInput
from domain.ports.importing import IMPORT_TRANSCRIPT
from tests.workflows.fakes.faults import Faults


class Importing:
    """`plan` says how many runs a project's files hold; 1 where nothing is planned."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.plan: dict[str, int] = {}
        self.answers: dict[tuple[str, str], ImportAnswer] = {}
        self.broken: set[str] = set()
        """Projects whose second run has a trajectory that no workflow id can hold."""

        self.cancelled: set[str] = set()
        """Projects whose second run was cancelled by an operator."""

    @implements(IMPORT_TRANSCRIPT)
    async def transcript(self, asked: ImportInput) -> ImportAnswer:
        await self._faults.meet(asked.project)
        runs = [self._run(asked, number) for number in range(self.plan.get(asked.project, 1))]
        answer = ImportAnswer(
            file=asked.file,
            status="imported",
            format="fake",
            project=asked.project,
            runs=runs,
            events=10 * len(runs),
            added=10 * len(runs),
            extractor="fake/1",
        )
        return self.answers.setdefault((asked.project, asked.import_id), answer)

    def _run(self, asked: ImportInput, number: int) -> ImportedRun:
        run = f"{asked.sha256[:8]}-{number}"
        if asked.project in self.broken and number == 1:
            run = "x" * 300
        outcome = "cancelled" if asked.project in self.cancelled and number == 1 else "completed"
        trajectory = digest_id(run, size=64)
        return ImportedRun(run=run, trajectory=trajectory, events=10, added=10, tool_calls=2, outcome=outcome)
