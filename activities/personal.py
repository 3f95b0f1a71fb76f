"""Sealing personal fields for their subject, opening them, and destroying a subject's keys.

Encryption is AES-256-GCM under one random key for each subject and project, kept in `journal.subject_keys` beside the journal and never
in it. Destroying the key erases every field sealed under it: nothing in the journal changes, and `verify` says erased.
"""

from __future__ import annotations

import base64
import binascii
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from activities.postgres.pool import Connection, Database
from domain.contracts.errors import NotFound
from domain.contracts.ids import digest_id
from domain.journal.personal import Sealed, bound_to

KEY_BYTES = 32
NONCE_BYTES = 12


class PersonalFields:
    """The personal fields of all projects, through one pool."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def seal(self, project: str, subject: str, text: str) -> Sealed:
        """`text` encrypted for `subject` (an opaque id), with the subject's present key or, where there is none, a new one."""
        async with self._database.scoped(project) as connection:
            key_id, key = await _present_key(connection, project, subject) or await _new_key(
                connection, project, subject
            )
        return seal_with(key, secrets.token_bytes(NONCE_BYTES), project, Sealed(subject, key_id, "", ""), text)

    async def open(self, project: str, item: Sealed) -> str | None:
        """The text; None where its key was destroyed. Raises `NotFound` for a field that this project's keys never sealed."""
        async with self._database.scoped(project) as connection:
            cursor = await connection.execute(
                "SELECT key FROM journal.subject_keys WHERE project_id = %s AND key_id = %s",
                (project, item.key),
                binary=True,
            )
            record = await cursor.fetchone()
        if record is None:
            raise NotFound(f"key {item.key[:64]} of project {project}")
        return None if record[0] is None else open_with(record[0], project, item)

    async def erase(self, project: str, subject: str) -> int:
        """Destroy every key of `subject` in the project; how many there were. What they sealed can never be read again."""
        async with self._database.scoped(project) as connection:
            done = await connection.execute(
                "UPDATE journal.subject_keys SET key = NULL, destroyed_at = clock_timestamp()"
                " WHERE project_id = %s AND subject = %s AND key IS NOT NULL",
                (project, subject),
            )
        return done.rowcount


def seal_with(key: bytes, nonce: bytes, project: str, named: Sealed, text: str) -> Sealed:
    """`text` under `key`, 32 bytes, and `nonce`, 12 bytes that this key never sees again."""
    ciphertext = AESGCM(key).encrypt(nonce, text.encode(), bound_to(project, named))
    return Sealed(named.subject, named.key, base64.b64encode(nonce).decode(), base64.b64encode(ciphertext).decode())


def open_with(key: bytes, project: str, item: Sealed) -> str:
    """The text of `item`. Raises `NotFound` when it was not sealed like this: another project, subject or key, or an edited field."""
    try:
        nonce, ciphertext = (
            base64.b64decode(item.nonce, validate=True),
            base64.b64decode(item.ciphertext, validate=True),
        )
        return AESGCM(key).decrypt(nonce, ciphertext, bound_to(project, item)).decode()
    except (InvalidTag, ValueError, binascii.Error) as error:
        raise NotFound(
            f"a personal field of project {project} does not open: it was not sealed under key {item.key[:64]}"
        ) from error


async def _present_key(connection: Connection, project: str, subject: str) -> tuple[str, bytes] | None:
    cursor = await connection.execute(
        "SELECT key_id, key FROM journal.subject_keys WHERE project_id = %s AND subject = %s AND key IS NOT NULL"
        " ORDER BY created_at, key_id LIMIT 1",
        (project, subject),
        binary=True,
    )
    record = await cursor.fetchone()
    return (record[0], record[1]) if record else None


async def _new_key(connection: Connection, project: str, subject: str) -> tuple[str, bytes]:
    """A key for a subject that has none. Its id counts destroyed ones, so that two callers at once make one key and not two."""
    cursor = await connection.execute(
        "SELECT count(*) FROM journal.subject_keys WHERE project_id = %s AND subject = %s", (project, subject)
    )
    record = await cursor.fetchone()
    key_id = digest_id("personal/1", project, subject, str(record[0] if record else 0))
    await connection.execute(
        "INSERT INTO journal.subject_keys (project_id, key_id, subject, key) VALUES (%s, %s, %s, %b) ON CONFLICT DO NOTHING",
        (project, key_id, subject, secrets.token_bytes(KEY_BYTES)),
    )
    kept = await _present_key(connection, project, subject)
    if kept is None:
        raise NotFound(f"the key of {subject[:64]} was destroyed while it was made")
    return kept
