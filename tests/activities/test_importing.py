"""Importing again adds what is new and nothing else, whatever died in between (DESIGN section 8, "Sameness")."""

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.exceptions import ApplicationError

from activities.artifacts import FolderArtifactStore
from activities.artifacts.stores import stores
from activities.importing import Files, Importing
from activities.postgres.journal import Journal, Receipt
from activities.postgres.rebuild import rebuild
from activities.postgres.verify import verify
from activities.sealing import Sealer
from domain.contracts.errors import JournalUnavailable
from domain.contracts.imports import ImportAnswer, ImportInput
from domain.contracts.redaction import Redactor
from domain.ports.artifact_store import IncomingStore
from domain.ports.importing import IMPORT_TRANSCRIPT
from stack.postgres import PostgresServer
from tests.conftest import ROOT
from tests.support.events import NOON
from tests.support.installation import ORIGIN_KEY, Installation, installed

EXAMPLES = ROOT / "examples"
SESSION = EXAMPLES / "ledger-rounding-1.jsonl"
FILES = [*sorted(EXAMPLES.glob("ledger-*.jsonl")), *sorted((EXAMPLES / "formats").iterdir())]
# the sidecar of the Aider history is no transcript of its own
FILES = [path for path in FILES if path.name != "aider.json"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def elsewhere(
    postgres_server: PostgresServer, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Installation]:
    """Another installation, where the same project may have another life: trajectories hold their project's name."""
    async with installed(postgres_server, migrated, tmp_path_factory.mktemp("elsewhere")) as made:
        yield made


async def imported(installation: Installation, project: str, body: bytes, **fields: Any) -> ImportAnswer:
    return await installation.call(IMPORT_TRANSCRIPT, await request_of(installation, project, body, **fields))


async def request_of(installation: Installation, project: str, body: bytes, **fields: Any) -> ImportInput:
    sha256 = await installation.artifacts.put(project, body)
    told = {
        "file": "session.jsonl",
        "import_id": f"import-{hashlib.sha256(body).hexdigest()[:8]}",
        "requested_at": NOON,
        **fields,
    }
    return ImportInput.model_validate({"project": project, "sha256": sha256, "bytes": len(body), **told})


def content(installation: Installation, project: str) -> list[tuple[Any, ...]]:
    """Everything but the imports' own events, in order."""
    return installation.rows(
        "SELECT source_id, event_id, convert_from(body, 'UTF8'), encode(origin_hash, 'hex') FROM journal.events"
        " WHERE project_id = %s AND type NOT LIKE 'ingest.%%' ORDER BY seq",
        project,
    )


def counts(answer: ImportAnswer) -> dict[str, Any]:
    return answer.model_dump(exclude={"status", "file", "reason"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
async def test_the_same_file_again_adds_nothing(installation: Installation, project: str, path: Path) -> None:
    first = await imported(installation, project, path.read_bytes())
    assert (first.status, first.refused) == ("imported", [])
    assert first.added == first.events == sum(run.events for run in first.runs)
    held = content(installation, project)
    again = await imported(installation, project, path.read_bytes(), import_id="another")
    assert (again.status, again.added, [run.added for run in again.runs]) == ("imported", 0, [0] * len(again.runs))
    assert [run.trajectory for run in again.runs] == [run.trajectory for run in first.runs]
    assert content(installation, project) == held
    assert (await rebuild(installation.database, project)).identical


async def test_the_same_import_again_gets_its_first_answer(installation: Installation, project: str) -> None:
    first = await imported(installation, project, SESSION.read_bytes())
    assert await imported(installation, project, SESSION.read_bytes()) == first
    assert first.added > 0


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".jsonl"], ids=lambda path: path.name)
async def test_a_longer_copy_adds_only_what_is_new(
    installation: Installation, elsewhere: Installation, project: str, path: Path
) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    cut = len(lines) // 2
    short = await imported(installation, project, b"".join(lines[:cut]))
    held = content(installation, project)
    full = await imported(installation, project, path.read_bytes())
    assert full.added > 0
    runs = [run.run for run in full.runs]
    assert runs[: len(short.runs)] == [run.run for run in short.runs]
    assert content(installation, project)[: len(held)] == held
    whole = await imported(elsewhere, project, path.read_bytes())
    assert {run.trajectory for run in full.runs} != {run.trajectory for run in short.runs}
    assert counts(full) | {"added": 0, "runs": []} == counts(whole) | {"added": 0, "runs": []}
    ids = {
        (source, event) for source, event, *_ in content(installation, project) if not source.startswith("temporality/")
    }
    assert {
        (source, event) for source, event, *_ in content(elsewhere, project) if not source.startswith("temporality/")
    } <= ids


async def test_the_same_bytes_under_another_name_are_a_copy(installation: Installation, project: str) -> None:
    first = await imported(installation, project, SESSION.read_bytes())
    copy = await imported(installation, project, SESSION.read_bytes(), import_id="another", file="copy.jsonl")
    assert (copy.status, copy.added, copy.reason) == ("copy", 0, "the same bytes came before as session.jsonl")
    assert counts(copy) | {"added": 0, "runs": []} == counts(first) | {"added": 0, "runs": []}
    assert [run.trajectory for run in copy.runs] == [run.trajectory for run in first.runs]


class Dying(Journal):
    """A journal whose process dies at a given append: before it, or after it committed and before anybody was told."""

    def __init__(self, installation: Installation, dies_at: int, *, committed: bool) -> None:
        super().__init__(installation.database)
        self._left = dies_at
        self._committed = committed

    async def transact(self, project: str, decide: Callable[..., Any], **options: Any) -> Receipt:
        self._left -= 1
        if self._left == 0:
            if self._committed:
                await super().transact(project, decide, **options)
            raise JournalUnavailable("killed")
        return await super().transact(project, decide, **options)


def importing(installation: Installation, journal: Journal, incoming: IncomingStore | None = None) -> Importing:
    resources = installation.resources
    sealer = Sealer(Redactor(ORIGIN_KEY), resources.artifacts)
    files = Files(resources.artifacts, incoming)
    return Importing(journal, resources.database, files, sealer, resources.limits, origin_key=ORIGIN_KEY)


@pytest.mark.parametrize("where", ["folder", "postgres"])
async def test_a_file_that_was_handed_in_is_gone_once_it_was_read(
    installation: Installation, project: str, where: str, tmp_path: Path
) -> None:
    incoming = FolderArtifactStore(tmp_path) if where == "folder" else stores(None, installation.database).incoming
    body = FILES[0].read_bytes()
    kept = await incoming.put(project, body)
    request = ImportInput(
        project=project, file="handed-in", sha256=kept, bytes=len(body), requested_at=datetime.now(UTC), import_id="i1"
    )
    activity = importing(installation, installation.journal, incoming)
    answer = await activity.import_transcript(request)
    assert answer.status == "imported" and answer.added > 0
    assert not await incoming.exists(project, kept)
    assert await activity.import_transcript(request) == answer, "asked again after the file is gone"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("committed", [False, True], ids=["not committed", "committed"])
async def test_killed_at_any_append_and_repeated_it_is_as_if_nothing_had_been(
    installation: Installation,
    elsewhere: Installation,
    project: str,
    path: Path,
    committed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("activities.importing.BATCH_EVENTS", 7)
    expected = await imported(elsewhere, project, path.read_bytes())
    dies_at, answer = 1, None
    request = await request_of(installation, project, path.read_bytes())
    while answer is None:
        activity = importing(installation, Dying(installation, dies_at, committed=committed))
        try:
            answer = await activity.import_transcript(request)
        except ApplicationError as error:
            assert "killed" in str(error)
            dies_at += 1
    assert dies_at > 3
    assert counts(answer) == counts(expected)
    assert content(installation, project) == content(elsewhere, project)
    assert (await verify(installation.database, project, full=True)).ok


async def test_a_format_without_times_keeps_the_time_of_its_first_import(
    installation: Installation, project: str
) -> None:
    body = (EXAMPLES / "formats" / "openai-chat.json").read_bytes()
    first = await imported(installation, project, body)
    later = await imported(installation, project, body, import_id="another", requested_at=NOON.replace(year=2027))
    assert (later.added, later.refused) == (0, [])
    assert [run.trajectory for run in later.runs] == [run.trajectory for run in first.runs]


NO_TRANSCRIPT = {
    "nothing": (b"", "skipped"),
    "a licence": (b"MIT License\n\nCopyright", "skipped"),
    "binary": (bytes(range(256)) * 10, "skipped"),
    "other json": (b'{"hello": "world"}', "skipped"),
}


@pytest.mark.parametrize("name", NO_TRANSCRIPT)
async def test_what_is_no_transcript_is_said_and_leaves_no_trace(
    installation: Installation, project: str, name: str
) -> None:
    body, status = NO_TRANSCRIPT[name]
    answer = await imported(installation, project, body)
    assert answer.status in (status, "refused")
    assert answer.reason
    assert installation.rows("SELECT count(*) FROM journal.events WHERE project_id = %s", project) == [(0,)]


async def test_broken_lines_are_refused_by_place_and_lose_nothing_else(
    installation: Installation, project: str
) -> None:
    lines = SESSION.read_bytes().splitlines(keepends=True)
    whole = await imported(installation, f"{project}-whole", SESSION.read_bytes())
    broken = [*lines[:3], b'{"type": "user", \n', b"\xff\xfe\x00\n", b"null\n", b"[1,\n", *lines[3:]]
    answer = await imported(installation, project, b"".join(broken))
    assert answer.events >= whole.events
    assert len(answer.refused) + answer.unknown >= 3
    assert all(item.where and item.reason for item in answer.refused)
    assert (await verify(installation.database, project, full=True)).ok


async def test_no_secret_of_a_transcript_is_in_postgres(installation: Installation, project: str) -> None:
    secret = "ghp_" + "Zk3vQx81LmTb7Yc5RwHn2PdEs9Ju4GaVfXo6"
    body = SESSION.read_bytes().replace(b"rounding", secret.encode())
    assert secret.encode() in body
    await imported(installation, project, body)
    assert not [row for row in content(installation, project) if secret in row[2]]


def test_there_are_files_to_import() -> None:
    kinds: Sequence[str] = sorted({path.suffix for path in FILES})
    assert len(FILES) >= 5, kinds
