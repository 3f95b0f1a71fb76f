"""The file tools do what they say inside a workspace, and nothing outside it even while links are swapped under them."""

import ctypes
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from activities.sandbox import Entry, FileWritten, Workspace, WorkspaceFiles, beneath, workspace_files
from activities.sandbox.workspace import APPLICATION, homes, interpreter_roots
from domain.contracts.errors import PathRefused, PayloadTooLarge

ROUNDS = 800
AT_FDCWD, RENAME_EXCHANGE = -100, 2


@pytest.fixture
def files(workspace: Workspace) -> WorkspaceFiles:
    return WorkspaceFiles(workspace)


@pytest.fixture
def root(workspace: Workspace) -> Path:
    return workspace.root


def test_what_is_written_is_read(files: WorkspaceFiles, root: Path) -> None:
    assert files.write("a/b/c.txt", b"hello") == FileWritten(size_bytes=5, created=True)
    assert files.write("./a//b/c.txt", b"bye") == FileWritten(size_bytes=3, created=False)
    assert files.read("a/b/c.txt").content == (root / "a/b/c.txt").read_bytes() == b"bye"
    assert [entry.name for entry in files.list("a/b").entries] == ["c.txt"]


def test_a_long_file_is_read_in_parts(files: WorkspaceFiles, root: Path) -> None:
    content = os.urandom(2 * workspace_files.MIB + 5)
    (root / "long").write_bytes(content)
    parts, offset = [], 0
    while True:
        part = files.read("long", offset=offset, max_bytes=10**9)
        assert len(part.content) <= workspace_files.MAX_READ_BYTES
        assert part.size_bytes == len(content)
        parts.append(part.content)
        offset += len(part.content)
        if not part.truncated:
            break
    assert b"".join(parts) == content
    assert len(parts) == 3
    after = files.read("long", offset=len(content) + 7)
    assert (after.content, after.truncated) == (b"", False)


def test_a_replaced_file_keeps_its_permissions_and_no_other_bits(files: WorkspaceFiles, root: Path) -> None:
    (root / "tool").write_text("old")
    (root / "tool").chmod(0o4751)
    files.write("tool", b"new")
    assert stat.S_IMODE((root / "tool").stat().st_mode) == 0o751


def test_a_replaced_file_is_whole_for_whoever_reads_it(files: WorkspaceFiles, root: Path) -> None:
    files.write("f", b"a" * 100_000)
    with open(root / "f", "rb") as reader:
        files.write("f", b"b" * 100_000)
        assert reader.read() == b"a" * 100_000
    assert os.listdir(root) == ["f"]


def test_nothing_is_left_when_a_write_fails(files: WorkspaceFiles, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    files.write("f", b"old")
    monkeypatch.setattr(workspace_files.os, "fsync", full)
    with pytest.raises(PathRefused, match="No space left"):
        files.write("f", b"new")
    assert (os.listdir(root), (root / "f").read_bytes()) == (["f"], b"old")


def test_links_that_stay_inside_are_followed(files: WorkspaceFiles, root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_text("x")
    (root / "relative").symlink_to("a/b")
    (root / "a" / "up").symlink_to("../a/./b/file")
    (root / "absolute").symlink_to(root / "a" / "b")
    (root / "chain").symlink_to("relative")
    (root / "dangling").symlink_to("a/new")
    (root / "home").symlink_to(".")
    for path in ("relative/file", "a/up", "absolute/file", "chain/file", "home/home/a/b/file"):
        assert files.read(path).content == b"x"
    files.write("dangling", b"made")
    assert (root / "a" / "new").read_bytes() == b"made"
    assert (root / "dangling").is_symlink()
    files.write("a/up", b"y")
    assert (root / "a" / "b" / "file").read_bytes() == b"y"
    assert [one.name for one in files.list("chain").entries] == ["file"]


@pytest.mark.parametrize(
    "target", ["..", "../..", "../outside", "a/../..", "/", "/etc/passwd", "{root}x", "{root}/../outside"]
)
def test_links_that_lead_out_are_not(files: WorkspaceFiles, root: Path, target: str) -> None:
    (root / "a").mkdir()
    Path(f"{root}x").mkdir()
    (root.parent / "outside").mkdir()
    (root / "link").symlink_to(target.format(root=root))
    for use in (
        files.read,
        files.list,
        lambda path: files.write(path, b"x"),
        lambda path: files.write(f"{path}/new", b"x"),
    ):
        with pytest.raises(PathRefused):
            use("link")
    assert os.listdir(root.parent / "outside") == os.listdir(f"{root}x") == []


@pytest.mark.parametrize(
    "path", ["", "/", "/etc/passwd", "..", "../x", "a/..", "a/../b", "a\0b", "\udcff", "a" * 300, "a/" * 3000, "/" * 10]
)
def test_what_is_no_path_of_a_workspace_is_refused(files: WorkspaceFiles, root: Path, path: str) -> None:
    (root / "a").mkdir()
    for use in (files.read, files.list, lambda given: files.write(given, b"x")):
        with pytest.raises(PathRefused, match=r"The path cannot be used: .+\.$"):
            use(path)


def test_many_folders_are_refused_before_descriptors_run_out(files: WorkspaceFiles) -> None:
    with pytest.raises(PathRefused, match="more than 256"):
        files.write("d/" * 400 + "f", b"x")


def test_what_is_not_there_is_said(files: WorkspaceFiles, root: Path) -> None:
    (root / "file").write_text("")
    for path in ("missing", "missing/file", "file/x"):
        with pytest.raises(PathRefused, match="does not exist"):
            files.read(path)
    with pytest.raises(PathRefused, match="is a folder and no file"):
        files.read(".")
    with pytest.raises(PathRefused, match="is a file and no folder"):
        files.list("file")
    with pytest.raises(PathRefused, match="is a file"):
        files.write("file/x", b"")


def test_limits_are_said(files: WorkspaceFiles) -> None:
    with pytest.raises(PayloadTooLarge):
        files.write("f", bytes(workspace_files.MAX_WRITE_BYTES + 1))
    for offset, max_bytes in ((-1, 1), (0, 0), (2**63, 1)):
        with pytest.raises(PathRefused):
            files.read("f", offset=offset, max_bytes=max_bytes)
    with pytest.raises(PathRefused):
        files.list(".", max_entries=0)


def test_a_listing_says_what_things_are(files: WorkspaceFiles, root: Path) -> None:
    (root / "b").mkdir()
    (root / "a").write_text("four")
    (root / "c").symlink_to("/nowhere")
    os.mkfifo(root / "d")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff")).write_text("")
    assert files.list().entries == (
        Entry("a", "file", 4),
        Entry("b", "folder", None),
        Entry("c", "link", None),
        Entry("d", "other", None),
        Entry("\\xff", "file", 0),
    )


def test_a_long_listing_is_bounded_and_says_so(
    files: WorkspaceFiles, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (root / f"{number:02}").touch()
    listing = files.list(max_entries=10)
    assert ([one.name for one in listing.entries], listing.left_out) == ([f"{number:02}" for number in range(10)], 20)
    assert listing.complete
    monkeypatch.setattr(workspace_files, "MAX_SCANNED", 20)
    assert not files.list().complete


def test_no_descriptor_is_left_open(files: WorkspaceFiles, root: Path) -> None:
    (root / "loop").symlink_to("loop")
    before = len(os.listdir("/proc/self/fd"))
    for use in (
        lambda: files.write("a/b/c", b"x"),
        lambda: files.read("a/b/c"),
        lambda: files.list("a"),
        lambda: files.read("a"),
        lambda: files.read("loop"),
        lambda: files.write("loop", b""),
        lambda: files.check_folder("a/b"),
        lambda: files.read("missing"),
    ):
        try:
            use()
        except PathRefused:
            continue
    assert len(os.listdir("/proc/self/fd")) == before


@contextmanager
def _swapping(first: Path, second: Path) -> Iterator[None]:
    """Exchanges two names again and again, as a command in the sandbox could while a tool runs."""
    stop = threading.Event()
    libc = ctypes.CDLL(None, use_errno=True)

    def swap() -> None:
        while not stop.is_set():
            libc.renameat2(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_swapping_a_link_in_leads_nowhere(files: WorkspaceFiles, root: Path, kind: str) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("secret")
    if kind == "folder":
        (root / "d").mkdir()
        (root / "d" / "f").write_text("inside")
        (root / "e").symlink_to(outside)
        path = "d/f"
    else:
        (root / "d").write_text("inside")
        (root / "e").symlink_to(outside / "f")
        path = "d"
    came: set[bytes | str] = set()
    with _swapping(root / "d", root / "e"):
        for turn in range(ROUNDS):
            came.add(_tried(lambda: files.read(path).content))
            if turn % 10 == 0:
                came.add(_tried(lambda: files.write(path, b"inside") and b"inside"))
                came.add(_tried(lambda: files.list("d") and b"inside"))
    assert came <= {b"inside", "refused"}
    assert "refused" in came, "the link was never met: the race was not run"
    assert b"inside" in came
    assert (os.listdir(outside), (outside / "f").read_text()) == (["f"], "secret")


def _tried(use: Callable[[], bytes]) -> bytes | str:
    try:
        return use()
    except PathRefused:
        return "refused"


def test_a_workspace_that_became_a_link_is_refused(files: WorkspaceFiles, workspace: Workspace, tmp_path: Path) -> None:
    workspace.root.rename(tmp_path / "moved")
    workspace.root.symlink_to(tmp_path / "moved")
    with pytest.raises(PathRefused, match="symbolic link"):
        files.list()
    with pytest.raises(PathRefused, match="symbolic link"):
        workspace.check(())
    assert Workspace.at(workspace.root).root == tmp_path / "moved"


@pytest.mark.parametrize(
    "path",
    [
        *(
            Path(name)
            for name in (
                "/",
                "/usr",
                "/usr/lib",
                "/etc",
                "/etc/ssl",
                "/proc/self",
                "/dev/shm",
                "/tmp",
                "/home",
                "/missing",
            )
        ),
        *homes(),
        *(home.parent for home in homes()),
        *interpreter_roots(),
        APPLICATION,
        APPLICATION.parent,
    ],
)
def test_a_folder_that_would_show_or_give_too_much_is_no_workspace(path: Path) -> None:
    with pytest.raises(PathRefused, match=r"The path cannot be used: .+\.$"):
        Workspace.at(path)


@given(some.lists(some.sampled_from(["a", "b", "..", ".", "", "/", "l", "\0", "x" * 256, "é"]), max_size=8))
def test_no_path_is_walked_out_of(parts: list[str]) -> None:
    try:
        found = beneath.parts_of("/".join(parts))
    except PathRefused:
        return
    assert ".." not in found
    assert all(part and "/" not in part and part != "." for part in found)
