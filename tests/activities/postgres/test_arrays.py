"""The arrays of an append arrive as they were sent, whatever is in them."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from activities.postgres.arrays import Bodies, Texts, Times
from tests.support.installation import Installation


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (Texts(()), "text"),
        (Texts((None,)), "text"),
        (Texts(("a", None, "", "ключ 🧮", 'quoted "x", {y}', "NULL", "x" * 70_000)), "text"),
        (Bodies(()), "bytea"),
        (Bodies((b"", b"\x00\xff", b"x" * 70_000)), "bytea"),
        (Times((datetime(1, 1, 1, tzinfo=UTC), datetime(1999, 12, 31, 23, 59, 59, 999999, UTC))), "timestamptz"),
        (
            Times(
                (datetime(2026, 3, 1, 12, 0, 0, 1, timezone(timedelta(hours=5))), datetime(9999, 12, 31, tzinfo=UTC))
            ),
            "timestamptz",
        ),
    ],
)
async def test_what_is_sent_arrives(installation: Installation, sent: tuple[Any, ...], kind: str) -> None:
    async with installation.database.connection() as connection:
        cursor = await connection.execute(
            f"SELECT v FROM unnest(%(sent)b::{kind}[]) WITH ORDINALITY AS u(v, n) ORDER BY n".encode(), {"sent": sent}
        )
        assert [value for (value,) in await cursor.fetchall()] == list(sent)
