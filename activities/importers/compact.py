"""A map from 60-bit hashes to small integers in flat arrays: about 20 bytes for each entry, where a dict takes 150.

Hashing what was seen keeps a transcript of any size within memory; two things with one hash are one thing here.
"""

from __future__ import annotations

from array import array

_FIRST_SLOTS = 1 << 6


class CompactMap:
    """Open addressing with linear probing; nothing is ever removed. Values fit in 32 bits."""

    __slots__ = ("_filled", "_keys", "_mask", "_values")

    def __init__(self) -> None:
        self._allocate(_FIRST_SLOTS)

    def _allocate(self, slots: int) -> None:
        self._keys = array("Q", bytes(8 * slots))
        self._values = array("i", bytes(4 * slots))
        self._mask = slots - 1
        self._filled = 0

    def __len__(self) -> int:
        return self._filled

    def __contains__(self, key: int) -> bool:
        return self._keys[self._slot(key or 1)] != 0

    def get(self, key: int, default: int = 0) -> int:
        """The value of `key`, or `default`."""
        slot = self._slot(key or 1)
        return self._values[slot] if self._keys[slot] else default

    def put(self, key: int, value: int) -> None:
        """Sets the value of `key`."""
        key = key or 1
        slot = self._slot(key)
        if not self._keys[slot]:
            if self._filled * 10 >= (self._mask + 1) * 6:
                self._grow()
                slot = self._slot(key)
            self._keys[slot] = key
            self._filled += 1
        self._values[slot] = value

    def _slot(self, key: int) -> int:
        """Where `key` stands, or the empty place where it would."""
        keys, mask = self._keys, self._mask
        slot = key & mask
        while keys[slot] and keys[slot] != key:
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._allocate((self._mask + 1) * 2)
        for key, value in zip(keys, values, strict=True):
            if key:
                slot = self._slot(key)
                self._keys[slot], self._values[slot] = key, value
                self._filled += 1
