"""Personal fields are erasable: hashes cover the ciphertext, so a destroyed key leaves the chain whole and `verify` says erased."""

import asyncio
import hashlib
from dataclasses import replace
from typing import Any

import orjson
import pytest

from activities.personal import PersonalFields, open_with
from activities.postgres.events import find
from activities.postgres.rebuild import rebuild
from activities.postgres.verify import verify
from domain.contracts.errors import NotFound
from domain.journal.canonical import canonical
from domain.journal.event import Event
from domain.journal.personal import Sealed, sealed
from domain.projections.batch import prepare
from tests.conftest import ROOT
from tests.support.events import NOON, happened
from tests.support.installation import Installation

GOLDEN = ROOT / "tests" / "golden" / "personal_event.json"
GOLDEN_HASH = "8782af042b451f125f2fc23bfda60381ca091f14418a57252e6a7987cefff19b"
GOLDEN_KEY = bytes(range(32))
SUBJECT = "human:example.org:u42"
NAME = "Ada Lovelace 🧮"


def named(project: str, field: Sealed, event_id: str = "named") -> Event:
    data = {"principal": field.subject, "display_name": field.field()}
    return Event(
        project,
        "temporality/access",
        event_id,
        "access.principal_named",
        NOON,
        data,
        actor=SUBJECT,
        caused_by=("cause",),
    )


def field_of(event: Event) -> Sealed:
    found = sealed(event.data["display_name"])
    assert found is not None
    return found


def test_the_golden_event_reads_and_opens_as_it_always_did() -> None:
    """These bytes are of the first version and never change: every later version opens them."""
    body = GOLDEN.read_bytes()
    assert hashlib.sha256(body).hexdigest() == GOLDEN_HASH
    event = Event.from_document(orjson.loads(body))
    assert canonical(event.document()) == body
    assert prepare(event).content.hex() == GOLDEN_HASH
    assert open_with(GOLDEN_KEY, "golden", field_of(event)) == "Ada Lovelace"


async def test_a_sealed_field_opens_until_its_key_is_destroyed(installation: Installation, project: str) -> None:
    personal = PersonalFields(installation.database)
    events = [
        happened(project, "before"),
        named(project, await personal.seal(project, SUBJECT, NAME)),
        happened(project, "after"),
    ]
    await installation.journal.append(project, events)
    before = await verify(installation.database, project, full=True)
    stored = await find(installation.database, project, "temporality/access", "named")
    assert stored is not None
    assert await personal.open(project, field_of(stored.event)) == NAME

    assert await personal.erase(project, SUBJECT) == 1

    assert await personal.open(project, field_of(stored.event)) is None
    after = await verify(installation.database, project, full=True)
    assert (after.problems, after.erased, after.head) == ([], 1, before.head)
    assert before.erased == 0
    assert (await rebuild(installation.database, project)).identical
    assert await personal.erase(project, SUBJECT) == 0


async def test_the_name_and_the_key_are_nowhere_after_the_erasure(installation: Installation, project: str) -> None:
    personal = PersonalFields(installation.database)
    await installation.journal.append(project, [named(project, await personal.seal(project, SUBJECT, NAME))])
    assert installation.rows("SELECT length(key) FROM journal.subject_keys WHERE project_id = %s", project) == [(32,)]
    await personal.erase(project, SUBJECT)
    assert installation.rows("SELECT key FROM journal.subject_keys WHERE project_id = %s", project) == [(None,)]
    [(body,)] = installation.rows(
        "SELECT convert_from(body, 'UTF8') FROM journal.events WHERE project_id = %s", project
    )
    assert "Lovelace" not in body


async def test_an_erased_subject_gets_a_new_key_and_the_old_fields_stay_erased(
    installation: Installation, project: str
) -> None:
    personal = PersonalFields(installation.database)
    old = await personal.seal(project, SUBJECT, NAME)
    await personal.erase(project, SUBJECT)
    new = await personal.seal(project, SUBJECT, "Ada again")
    assert new.key != old.key
    assert (await personal.open(project, old), await personal.open(project, new)) == (None, "Ada again")


async def test_callers_at_once_make_one_key_for_a_subject(installation: Installation, project: str) -> None:
    personal = PersonalFields(installation.database)
    fields = await asyncio.gather(*(personal.seal(project, SUBJECT, f"name {i}") for i in range(8)))
    assert len({field.key for field in fields}) == 1
    assert len({field.nonce for field in fields}) == 8
    assert [await personal.open(project, field) for field in fields] == [f"name {i}" for i in range(8)]


async def test_subjects_have_keys_of_their_own(installation: Installation, project: str) -> None:
    personal = PersonalFields(installation.database)
    ada, alan = (
        await personal.seal(project, SUBJECT, NAME),
        await personal.seal(project, "human:example.org:u43", "Alan"),
    )
    await personal.erase(project, SUBJECT)
    assert (await personal.open(project, ada), await personal.open(project, alan)) == (None, "Alan")


async def test_a_field_moved_elsewhere_does_not_open(installation: Installation, project: str) -> None:
    personal = PersonalFields(installation.database)
    field = await personal.seal(project, SUBJECT, NAME)
    other = await personal.seal(f"{project}-other", SUBJECT, "other")
    with pytest.raises(NotFound):
        await personal.open(f"{project}-other", field)
    for edited in (
        replace(field, subject="human:example.org:u43"), replace(field, ciphertext=other.ciphertext), replace(field, nonce="??"),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            await personal.open(project, edited)


@pytest.mark.parametrize(
    "value", [None, "x", {}, {"$personal": 1}, {"$personal": {"subject": "s"}}, {"$personal": {}, "more": 1}]
)
def test_what_only_looks_like_a_field_is_none(value: Any) -> None:
    assert sealed(value) is None
