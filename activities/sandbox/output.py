"""The pipes of a command: what it prints is kept bounded however much it is, what it reads is fed as it asks.

Everything happens in the event loop, one chunk at a time, so a flood costs time and never memory.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable

from activities.sandbox.policy import Output

CHUNK_BYTES = 64 * 1024


class Kept:
    """The first and the last half of `limit` bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._head_limit = (limit + 1) // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._total = 0

    def add(self, chunk: bytes) -> None:
        """Takes the next bytes of the stream."""
        self._total += len(chunk)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if not chunk:
            return
        self._tail.append(chunk[-self._tail_limit :])
        self._tail_bytes += len(self._tail[-1])
        while self._tail_bytes - len(self._tail[0]) >= self._tail_limit:
            self._tail_bytes -= len(self._tail.popleft())

    def output(self) -> Output:
        """What was kept so far."""
        return Output(bytes(self._head), b"".join(self._tail)[-self._tail_limit :], self._total)


class Drain:
    """Reads a pipe to its end and hands on each chunk, b"" for the end. Owns the descriptor."""

    def __init__(self, descriptor: int, take: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._take = take
        self.ended: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def close(self) -> None:
        """Stops reading; harmless when everything was read."""
        if not self.ended.done():
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self.ended.set_result(None)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return
        if chunk:
            self._take(chunk)
        else:
            self._take(b"")
            self.close()


class Feed:
    """Writes `text` into a pipe and closes it; a reader that does not want it all is no error. Owns the descriptor."""

    def __init__(self, descriptor: int, text: bytes) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._rest = memoryview(text)
        self._open = True
        if not text:
            self._open = False
            os.close(descriptor)
            return
        os.set_blocking(descriptor, False)
        self._loop.add_writer(descriptor, self._write)

    def close(self) -> None:
        """Stops writing; harmless when everything was written."""
        if self._open:
            self._open = False
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)

    def _write(self) -> None:
        try:
            self._rest = self._rest[os.write(self._descriptor, self._rest[:CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.close()
            return
        if not self._rest:
            self.close()
