"""What every artifact store promises: bodies by project and hash, whole or not at all, verified when read."""

import asyncio
import hashlib
import os
from collections.abc import Iterator

import pytest

from domain.contracts.errors import ArtifactMissing, MalformedId
from domain.ports.artifact_store import ArtifactStore
from tests.activities.artifacts.conftest import Held

MIB = 1024 * 1024
BODIES = [b"", b"x", b"line\nline\n\x00\xff", os.urandom(MIB), os.urandom(MIB + 1), os.urandom(3 * MIB)]


def sha(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{len(body)} bytes")
async def test_a_body_comes_back_as_it_was_put(store: ArtifactStore, body: bytes) -> None:
    assert await store.put("p", body) == sha(body)
    assert await store.get("p", sha(body)) == body
    assert await store.exists("p", sha(body))


async def test_a_stream_is_the_same_body_as_its_bytes(store: ArtifactStore) -> None:
    body = os.urandom(2 * MIB + 17)
    stored = await store.put_stream("p", (body[at : at + 1000] for at in range(0, len(body), 1000)))
    assert stored == (sha(body), len(body))
    assert await store.get("p", stored.sha256) == body


async def test_an_empty_stream_is_the_empty_body(store: ArtifactStore) -> None:
    assert await store.put_stream("p", []) == (sha(b""), 0)
    assert await store.get("p", sha(b"")) == b""


async def test_a_file_can_be_read_by_lines_and_from_any_place(store: ArtifactStore) -> None:
    lines = [b'{"n": %d}\n' % n for n in range(200_000)]
    key = await store.put("p", b"".join(lines))
    async with store.open_stream("p", key) as file:
        assert file.seekable()
        assert list(file) == lines
        file.seek(len(lines[0]))
        assert file.readline() == lines[1]


async def test_putting_twice_is_putting_once(store: ArtifactStore) -> None:
    first = await store.put("p", b"again")
    assert await store.put("p", b"again") == first
    assert await store.put_stream("p", [b"ag", b"ain"]) == (first, 5)
    assert await store.get("p", first) == b"again"


async def test_a_project_does_not_see_the_bodies_of_another(store: ArtifactStore) -> None:
    key = await store.put("mine", b"mine")
    assert not await store.exists("yours", key)
    with pytest.raises(ArtifactMissing, match=f"project yours, sha256 {key}"):
        await store.get("yours", key)


async def test_what_was_never_put_is_missing(store: ArtifactStore) -> None:
    await store.put("p", b"another")
    with pytest.raises(ArtifactMissing, match="it is not there; restore it"):
        await store.get("p", sha(b"never"))
    with pytest.raises(ArtifactMissing):
        async with store.open_stream("p", sha(b"never")):
            pytest.fail("a missing body was opened")
    assert not await store.exists("p", sha(b"never"))


@pytest.mark.parametrize("size", [10, 2 * MIB + 3])
async def test_a_damaged_body_is_never_given(held: Held, size: int) -> None:
    key = await held.store.put("p", os.urandom(size))
    held.damage("p", key)
    with pytest.raises(ArtifactMissing, match="its bytes have another hash"):
        await held.store.get("p", key)
    with pytest.raises(ArtifactMissing):
        async with held.store.open_stream("p", key):
            pytest.fail("a damaged body was opened")


async def test_putting_over_a_damaged_body_heals_it_or_says_so(held: Held) -> None:
    body = os.urandom(1000)
    key = await held.store.put("p", body)
    held.damage("p", key)
    try:
        await held.store.put("p", body)
    except ArtifactMissing:
        return
    assert await held.store.get("p", key) == body


async def test_concurrent_writers_of_one_body_all_succeed(store: ArtifactStore) -> None:
    body = os.urandom(MIB + 5)
    same, others = [body] * 6, [b"%d" % n for n in range(6)]
    keys = await asyncio.gather(*(store.put("p", each) for each in same + others))
    assert set(keys[:6]) == {sha(body)}
    assert await store.get("p", sha(body)) == body
    assert [await store.get("p", key) for key in keys[6:]] == others


async def test_a_stream_that_breaks_off_leaves_nothing(store: ArtifactStore) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise ValueError("the source broke off")

    with pytest.raises(ValueError, match="broke off"):
        await store.put_stream("p", chunks())
    assert not await store.exists("p", sha(b"half"))


@pytest.mark.parametrize("project", [".", "..", "a%2Fb", "_installation", "x" * 128])
async def test_every_encoded_project_id_is_a_place_of_its_own(store: ArtifactStore, project: str) -> None:
    key = await store.put(project, project.encode())
    assert await store.get(project, key) == project.encode()


@pytest.mark.parametrize("project", ["", "a/b", "../x", "a\nb", "x" * 129, "p\x00"])
async def test_a_project_that_is_no_encoded_id_is_refused(store: ArtifactStore, project: str) -> None:
    with pytest.raises(MalformedId, match="is no encoded project id"):
        await store.put(project, b"")
    with pytest.raises(MalformedId):
        await store.get(project, sha(b""))


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
async def test_a_hash_that_is_none_is_refused(store: ArtifactStore, key: str) -> None:
    with pytest.raises(MalformedId, match="is no artifact"):
        await store.get("p", key)
    with pytest.raises(MalformedId):
        await store.exists("p", key)
