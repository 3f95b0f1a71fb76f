"""What has passed where, and which kills are due, done and mended: one SQLite file that every process of a site shares.

What is written here is written before the kill it tells of, so a process that dies in the middle of it loses no count.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.plan import Cell, Kill

POLL_SECONDS: Final = 0.005

_SCHEMA = """
CREATE TABLE IF NOT EXISTS passage (work TEXT, phase TEXT, count INTEGER NOT NULL, PRIMARY KEY (work, phase));
CREATE TABLE IF NOT EXISTS kill (
  number INTEGER PRIMARY KEY, victim TEXT, work TEXT, phase TEXT, passage INTEGER, after_ms INTEGER,
  claimed_by TEXT, place TEXT, asked REAL, done REAL, killed_pid INTEGER, mended REAL);
"""
_COLUMNS = "number, victim, work, phase, passage, after_ms"
_PASS = """
INSERT INTO passage VALUES (?, ?, 1) ON CONFLICT (work, phase) DO UPDATE SET count = count + 1 RETURNING count
"""
# A server that is still coming back is not killed again: the hook would wait for a process that is not there.
_DUE = f"""
SELECT {_COLUMNS} FROM kill k
WHERE work = ? AND phase = ? AND passage <= ? AND claimed_by IS NULL AND asked IS NULL
  AND NOT EXISTS (SELECT 1 FROM kill o WHERE o.victim = k.victim AND o.asked IS NOT NULL AND o.mended IS NULL)
ORDER BY passage, number LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Placed:
    """A kill that was carried out: at which activity or command, when, and how long its victim was away (seconds)."""

    kill: Kill
    place: str
    asked_at: float
    away_seconds: float


class Ledger:
    """The shared file. Any number of processes and threads may use it at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()
        self._file = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        # What SIGKILL leaves is what the kernel has: nothing has to reach the disk.
        self._file.execute("PRAGMA journal_mode = wal")
        self._file.execute("PRAGMA synchronous = off")
        self._file.executescript(_SCHEMA)

    def close(self) -> None:
        self._file.close()

    def plan(self, kills: Iterable[Kill]) -> None:
        """Start anew with these kills."""
        with self._transaction():
            self._file.execute("DELETE FROM passage")
            self._file.execute("DELETE FROM kill")
            rows = [(k.number, k.victim, k.work, k.phase, k.passage, k.after_ms) for k in kills]
            self._file.executemany(f"INSERT INTO kill ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", rows)

    def passing(self, cell: Cell, place: str, by: str) -> Kill | None:
        """Count one passage; the kill that is due here, claimed for the process `by`, or None."""
        with self._transaction():
            (count,) = self._file.execute(_PASS, cell).fetchone()
            found = self._file.execute(_DUE, (*cell, count)).fetchone()
            if found is None:
                return None
            self._file.execute("UPDATE kill SET claimed_by = ?, place = ? WHERE number = ?", (by, place, found[0]))
        return Kill(*found)

    def give_back(self, kill: Kill) -> None:
        """The body ended before it could be interrupted: the kill is due at the next passage, from its first step on."""
        statement = "UPDATE kill SET claimed_by = NULL, after_ms = after_ms / 8 WHERE number = ?"
        self._write(statement, (kill.number,))

    def forget_claims(self) -> None:
        """A new worker: what the dead one had claimed and not carried out is due again."""
        self._write("UPDATE kill SET claimed_by = NULL WHERE asked IS NULL", ())

    def ask(self, kill: Kill) -> None:
        """From now on the kill counts as carried out."""
        self._write("UPDATE kill SET asked = ? WHERE number = ?", (time.time(), kill.number))

    def wait_done(self, kill: Kill, seconds: float) -> bool:
        """Block until somebody has done it; False after `seconds`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._file.execute("SELECT done FROM kill WHERE number = ?", (kill.number,)).fetchone()[0] is not None:
                return True
            time.sleep(POLL_SECONDS)
        return False

    def asked(self) -> list[Kill]:
        """Kills of servers that wait to be done."""
        statement = f"SELECT {_COLUMNS} FROM kill WHERE victim <> 'worker' AND asked IS NOT NULL AND done IS NULL"
        return [Kill(*row) for row in self._file.execute(statement).fetchall()]

    def done(self, kill: Kill, pid: int) -> None:
        """The process `pid` is dead, or is this one and about to be."""
        statement = "UPDATE kill SET done = ?, killed_pid = ? WHERE number = ?"
        self._write(statement, (time.time(), pid, kill.number))

    def mended(self, victim: str, pid: int) -> None:
        """The victim serves again, as the process `pid`."""
        statement = "UPDATE kill SET mended = ? WHERE victim = ? AND killed_pid <> ? AND mended IS NULL"
        self._write(statement, (time.time(), victim, pid))

    def unmended(self, victim: str) -> bool:
        statement = "SELECT 1 FROM kill WHERE victim = ? AND asked IS NOT NULL AND mended IS NULL LIMIT 1"
        return self._file.execute(statement, (victim,)).fetchone() is not None

    def passages(self) -> dict[Cell, int]:
        """How often each phase of each work was passed, kills and repetitions included."""
        return {(work, phase): count for work, phase, count in self._file.execute("SELECT * FROM passage").fetchall()}

    def placed(self) -> list[Placed]:
        """What was carried out, in order."""
        statement = f"SELECT {_COLUMNS}, place, asked, mended FROM kill WHERE asked IS NOT NULL ORDER BY asked"
        found = self._file.execute(statement).fetchall()
        return [Placed(Kill(*row[:6]), row[6], row[7], (row[8] or row[7]) - row[7]) for row in found]

    def missing(self) -> list[Kill]:
        """What no passage came for."""
        statement = f"SELECT {_COLUMNS} FROM kill WHERE asked IS NULL ORDER BY number"
        return [Kill(*row) for row in self._file.execute(statement).fetchall()]

    def _write(self, statement: str, values: Sequence[object]) -> None:
        # Alone in a transaction: as part of another thread's it would be lost with the process that dies now.
        with self._transaction():
            self._file.execute(statement, values)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._guard:
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
            finally:
                self._file.execute("COMMIT")
