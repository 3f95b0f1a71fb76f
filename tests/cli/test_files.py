"""Which files a user means by paths: sorted, each once, hidden ones left out, loops entered once."""

import os
from pathlib import Path

import pytest

from cli.files import NoSuchPath, walk


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.jsonl", "a.jsonl", "sub/c.jsonl", ".hidden.jsonl", ".git/d.jsonl", "sub/.e"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path / "in"


def names(paths: list[Path], root: Path) -> list[str]:
    return [os.path.relpath(item.path, root) for item in walk(paths)]


def test_a_folder_is_walked_in_order_without_hidden_files(folder: Path) -> None:
    assert names([folder], folder) == ["a.jsonl", "b.jsonl", "sub/c.jsonl"]


def test_a_hidden_file_that_is_named_is_meant(folder: Path) -> None:
    assert names([folder / ".hidden.jsonl", folder / ".git"], folder) == [".hidden.jsonl", ".git/d.jsonl"]


def test_a_file_named_twice_or_under_a_named_folder_is_one_file(folder: Path) -> None:
    assert names([folder / "a.jsonl", folder, folder / "sub" / ".." / "a.jsonl"], folder) == [
        "a.jsonl",
        "b.jsonl",
        "sub/c.jsonl",
    ]


def test_loops_of_links_end(folder: Path) -> None:
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    (folder / "z.jsonl").symlink_to(folder / "a.jsonl")
    found = walk([folder])
    assert [os.path.relpath(item.path, folder) for item in found if item.refused is None] == [
        "a.jsonl",
        "b.jsonl",
        "sub/c.jsonl",
    ]
    assert [item.refused for item in found if item.refused] == ["the link leads nowhere"]


def test_what_is_no_file_says_so(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "gone").symlink_to(folder / "nowhere")
    reasons = {item.path.name: item.refused for item in walk([folder])}
    assert reasons["pipe"] == "it is no regular file"
    assert reasons["gone"] == "the link leads nowhere"


def test_a_path_that_is_not_there(folder: Path) -> None:
    with pytest.raises(NoSuchPath, match="nothing-here"):
        walk([folder, folder / "nothing-here"])


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert walk([tmp_path]) == []
