"""A large body passes through a store in memory bounded by a few chunks."""

import hashlib
import tracemalloc
from collections.abc import Iterator

import pytest

from tests.activities.artifacts.conftest import Held, folder, postgres

MIB = 1024 * 1024
SIZE_MIB = 48


@pytest.mark.parametrize("held", [folder, postgres], ids=lambda make: make.__name__, indirect=True)
async def test_memory_stays_bounded(held: Held) -> None:
    store = held.store
    seen = hashlib.sha256()

    def chunks() -> Iterator[bytes]:
        for n in range(SIZE_MIB):
            chunk = n.to_bytes(4, "big") * (MIB // 4)
            seen.update(chunk)
            yield chunk

    tracemalloc.start()
    try:
        stored = await store.put_stream("p", chunks())
        async with store.open_stream("p", stored.sha256) as file:
            read = 0
            while chunk := file.read(MIB):
                read += len(chunk)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert stored == (seen.hexdigest(), SIZE_MIB * MIB)
    assert read == SIZE_MIB * MIB
    assert peak < 16 * MIB
