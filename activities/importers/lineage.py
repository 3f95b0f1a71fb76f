"""The tree of a transcript whose records name their parents: frames are inherited along it, abandoned branches are
found at its end.

A branch is abandoned when a fork led elsewhere and the branch holds a prompt or another answer of the model; results
of parallel calls and notes of the harness are dead ends of the tree and no branches. Memory: about 60 bytes for each
record.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from activities.importers.calls import short_hash
from activities.importers.compact import CompactMap

NONE, UNRESOLVED = -1, -2
PROMPT, ANSWER, SIDECHAIN, TALK = 1, 2, 4, 8
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
MAX_NATIVE = 512


@dataclass(frozen=True, slots=True)
class Node:
    """A record as the tree needs it: its id, the id of its parent, what it holds (PROMPT, ANSWER, ...) and its API
    message's id.
    """

    native: str
    parent: str | None
    flags: int
    message: str | None = None
    content: int = 0


@dataclass(frozen=True, slots=True)
class Branch:
    """An abandoned branch: native ids of its first and last record, and how many records it holds."""

    root: str
    leaf: str
    records: int


class Lineage:
    """The records of one run by their native ids. An id that is used again names its latest record."""

    def __init__(self) -> None:
        self._index = CompactMap()
        self._parents = array("i")
        self._frames = array("i")
        self._flags = array("B")
        self._messages = array("Q")
        self._contents = array("Q")
        self._packed = bytearray()
        self._spelled: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._places: dict[str, int] = {}
        self._unresolved: dict[int, tuple[int, str]] = {}
        self.compacted = False

    def find(self, native: str | None) -> int:
        """The record's index, NONE when it is not known."""
        return NONE if native is None else self._index.get(short_hash(native), NONE)

    def frame(self, index: int) -> str | None:
        """The frame the record at `index` belongs to: the id of the record that opened it, or a name of its own."""
        opener = self._frames[index] if index >= 0 else NONE
        return None if opener < 0 else self._names.get(opener) or self.native(opener)

    def add(self, node: Node, frame: str | None) -> str | None:
        """Takes the record up; `same` or `other` when its id was used before, for the same or another content."""
        key, index = short_hash(node.native), len(self._parents)
        before = self._index.get(key, NONE)
        parent = self.find(node.parent)
        if node.parent is not None and parent == NONE:
            parent = index if node.parent == node.native else UNRESOLVED
            if parent == UNRESOLVED:
                self._unresolved[index] = (short_hash(node.parent), node.parent[:MAX_NATIVE])
        self._parents.append(parent)
        self._flags.append(node.flags)
        self._messages.append(short_hash(node.message) if node.message else 0)
        self._contents.append(node.content)
        self._keep(index, node.native)
        self._frames.append(self._place(frame, index, parent))
        self._index.put(key, index)
        if before == NONE:
            return None
        return "same" if self._contents[before] == node.content else "other"

    def _place(self, frame: str | None, index: int, parent: int) -> int:
        """The record that stands for the frame: the one that opened it, or the first one seen in it."""
        if frame is None:
            return NONE
        if frame == self.native(index):
            return index
        if 0 <= parent < index and frame == self.frame(parent):
            return self._frames[parent]
        opener = self._places.setdefault(frame, index)
        if opener == index:
            self._names[index] = frame
        return opener

    def _keep(self, index: int, native: str) -> None:
        if _UUID.match(native):
            self._packed += bytes.fromhex(native.replace("-", ""))
        else:
            self._packed += bytes(16)
            self._spelled[index] = native[:MAX_NATIVE]

    def native(self, index: int) -> str:
        """The id of the record at `index`, cut at 512 characters."""
        if index in self._spelled:
            return self._spelled[index]
        text = self._packed[index * 16 : index * 16 + 16].hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def settle(self) -> list[tuple[str, str]]:
        """Finds parents that stand after their children; the (record, parent) ids of those that stand nowhere."""
        dangling: list[tuple[str, str]] = []
        for index, (key, parent) in self._unresolved.items():
            found = self._index.get(key, NONE)
            self._parents[index] = found
            if found == NONE:
                self._parents[index] = UNRESOLVED
                dangling.append((self.native(index), parent))
        self._unresolved.clear()
        return dangling

    def cycles(self) -> list[list[str]]:
        """Each circle of parents, by the ids in it; its first edge is cut, so that the tree is a tree afterwards."""
        found: list[list[str]] = []
        state = bytearray(len(self._parents))
        for start in range(len(self._parents)):
            path: list[int] = []
            index = start
            while index >= 0 and not state[index]:
                state[index] = 1
                path.append(index)
                index = self._parents[index]
            if index >= 0 and state[index] == 1:
                circle = path[path.index(index) :]
                found.append([self.native(place) for place in sorted(circle)[:8]])
                self._parents[min(circle)] = NONE
            for place in path:
                state[place] = 2
        return found

    def abandoned(self) -> Iterator[Branch]:
        """Branches that the last record of the conversation did not grow from. Call `settle` and `cycles` first."""
        leaf = self._last()
        if leaf == NONE:
            return
        active = bytearray(len(self._parents))
        root = leaf
        while True:
            active[root] = 1
            if self._parents[root] < 0:
                break
            root = self._parents[root]
        tops = self._tops(active)
        records: dict[int, int] = {}
        leaves: dict[int, int] = {}
        turned: set[int] = set()
        for index, top in enumerate(tops):
            if top < 0:
                continue
            records[top] = records.get(top, 0) + 1
            if self._flags[index] & TALK or top not in leaves:
                leaves[top] = index
            if self._turns(index, top):
                turned.add(top)
        for top in sorted(records):
            if top in turned and self._left(top, root, records[top]):
                yield Branch(self.native(top), self.native(leaves[top]), records[top])

    def _last(self) -> int:
        for index in range(len(self._parents) - 1, -1, -1):
            if self._flags[index] & TALK and not self._flags[index] & SIDECHAIN:
                return index
        return NONE

    def _tops(self, active: bytearray) -> array[int]:
        """For each record beside the active path, the first record of its branch; NONE for those on the path."""
        tops = array("i", [UNRESOLVED]) * len(self._parents)
        for start in range(len(self._parents)):
            path: list[int] = []
            index = start
            while tops[index] == UNRESOLVED:
                parent = self._parents[index]
                if active[index]:
                    tops[index] = NONE
                elif parent < 0 or active[parent]:
                    tops[index] = index
                else:
                    path.append(index)
                    index = parent
            for place in path:
                tops[place] = tops[index]
        return tops

    def _turns(self, index: int, top: int) -> bool:
        """Whether the record is a turn of its own: a prompt, or an answer that is no further part of the message at
        the fork.
        """
        flags = self._flags[index]
        if flags & PROMPT:
            return True
        fork = self._parents[top]
        if not flags & ANSWER or fork < 0:
            return bool(flags & ANSWER)
        return not (self._messages[index] and self._messages[index] == self._messages[fork])

    def _left(self, top: int, root: int, records: int) -> bool:
        if self._flags[top] & SIDECHAIN:
            return False
        if self._parents[top] >= 0:
            return True
        # a second beginning is a rewind to the start only when both are prompts and no compaction made the new root
        prompts = self._flags[top] & self._flags[root] & PROMPT
        return (
            self._parents[top] == NONE
            and self._parents[root] == NONE
            and bool(prompts)
            and records > 1
            and not self.compacted
        )
