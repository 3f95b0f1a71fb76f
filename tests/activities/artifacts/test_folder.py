"""The folder store keeps a body through a power cut and leaves no remains of what failed."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from activities.artifacts import FolderArtifactStore
from domain.contracts.errors import ArtifactsUnavailable


def files(root: Path) -> list[Path]:
    return sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())


async def test_a_body_lies_under_its_project_and_the_start_of_its_hash(tmp_path: Path) -> None:
    key = await FolderArtifactStore(tmp_path / "a" / "b").put("p", b"body")
    assert files(tmp_path) == [Path("a/b/p") / key[:2] / key]


async def test_two_dots_do_not_lead_out_of_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    await FolderArtifactStore(root).put("..", b"body")
    assert [path.parts[0] for path in files(tmp_path)] == ["root"]


async def test_the_file_is_synced_before_it_has_its_name_and_its_folders_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, replace = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        steps.append("file" if path.is_file() else f"folder {path.relative_to(tmp_path)}")
        sync(descriptor)

    def rename(path: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", rename)
    key = await FolderArtifactStore(tmp_path / "root").put("p", b"body")
    place = f"folder root/p/{key[:2]}"
    assert [step for step in steps if step in ("file", "rename", place)] == ["file", "rename", place]
    assert {"folder .", "folder root", "folder root/p"} <= set(steps)
    steps.clear()
    await FolderArtifactStore(tmp_path / "root").put("p", b"body")
    assert place in steps, "another process may have renamed it and not synced the folder yet"


async def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    store = FolderArtifactStore(tmp_path)
    await store.put("p", b"first")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArtifactsUnavailable, match=r"did not answer; nothing was recorded.*No space left on device"):
        await store.put("p", b"second")
    assert [path.name for path in files(tmp_path)] == [hashlib.sha256(b"first").hexdigest()]


async def test_a_damaged_file_is_healed_by_putting_it_again(tmp_path: Path) -> None:
    store = FolderArtifactStore(tmp_path)
    key = await store.put("p", b"body")
    (tmp_path / "p" / key[:2] / key).write_bytes(b"bod")
    await store.put("p", b"body")
    assert await store.get("p", key) == b"body"
