"""Runs one command in a sandbox of its own: started held, limited, released, watched, and ended whole.

However `run` ends (an ending, a limit, a cancellation, the worker's death), no process of the command outlives it.
"""

import asyncio
import contextlib
import os
import platform
from pathlib import Path
from typing import Final

from activities.sandbox.bubblewrap import ALLOW, find_bubblewrap, lacks_namespaces
from activities.sandbox.layout import View, arguments
from activities.sandbox.output import Drain, Feed, Kept
from activities.sandbox.policy import Command, Ended, Killed, SandboxPolicy, check_size
from activities.sandbox.process import Bubblewrap, Program
from activities.sandbox.syscalls import filter_program
from activities.sandbox.watch import breach
from activities.sandbox.workspace import Workspace
from activities.sandbox.workspace_files import WorkspaceFiles
from domain.contracts.errors import SandboxDidNotStart, SandboxUnavailable

SETUP_SECONDS = 30.0
WATCH_SECONDS = 0.025
LAST_WORDS_SECONDS = 1.0
# The command begins when a line comes, and not when the worker that would have sent it is gone.
GATE: Final = ("/bin/sh", "-c", 'read -r go && exec "$@"', "sh")
GO: Final = b"go\n"
SIGNALLED: Final = 128


class Sandbox:
    """The means to run commands on this machine; one for a worker, used from its event loop."""

    def __init__(self, bubblewrap: Path, closed: tuple[Path, ...] = ()) -> None:
        """`closed` are folders of the host that no command may see, whatever a policy says: the installation's home."""
        self._bubblewrap = bubblewrap
        self._closed = tuple(Path(os.path.realpath(place)) for place in closed)

    @classmethod
    def find(cls, closed: tuple[Path, ...] = ()) -> "Sandbox":
        """The sandbox of this machine. Raises SandboxUnavailable with what to install."""
        return cls(find_bubblewrap(), closed)

    async def run(self, command: Command, policy: SandboxPolicy, workspace: Workspace) -> Ended:
        """Runs `command` to its end. Must be called from the main thread's loop: the kernel ends it with that thread.

        Raises CommandRefused and PathRefused before anything is started, SandboxUnavailable where this machine cannot
        do it, SandboxDidNotStart when the command was not run. A command that fails is an `Ended`, not an error.
        """
        check_size(command, policy)
        files = WorkspaceFiles(workspace)
        files.check_folder(command.cwd)
        view = View(workspace, workspace.root / command.cwd, policy, self._closed)
        running = Bubblewrap.start(
            Program(
                bubblewrap=self._bubblewrap,
                options=arguments(view),
                system_call_filter=filter_program(platform.machine()),
                command=(*GATE, *command.arguments()),
            )
        )
        execution = _Execution(running, policy, workspace)
        try:
            await execution.prepare()
            return await execution.conduct(command)
        finally:
            try:
                await execution.close()
            finally:
                running.forget()


class _Execution:
    """One command from its start to the end of everything it started."""

    def __init__(self, running: Bubblewrap, policy: SandboxPolicy, workspace: Workspace) -> None:
        self._running = running
        self._policy = policy
        self._workspace = workspace
        self._out = Kept(policy.max_output_bytes)
        self._err = Kept(policy.max_output_bytes)
        pipes = running.pipes
        self._drains = (Drain(pipes.stdout, self._out.add), Drain(pipes.stderr, self._err.add))
        self._feed: Feed | None = None
        self._closing: asyncio.Future[None] | None = None

    async def prepare(self) -> None:
        """Limits stand and the sandbox waits for its line. Raises SandboxUnavailable, SandboxDidNotStart."""
        try:
            async with asyncio.timeout(SETUP_SECONDS):
                if await self._running.adopt():
                    self._running.limit(self._policy.limits)
                    if await self._running.tethered():
                        return
        except TimeoutError:
            raise SandboxDidNotStart(f"bubblewrap was not ready after {SETUP_SECONDS:.0f} seconds.") from None
        await self.close()
        raise self._refusal()

    async def conduct(self, command: Command) -> Ended:
        """Sends the line and waits for the end, whichever comes first. Raises SandboxDidNotStart."""
        loop = asyncio.get_running_loop()
        self._feed = Feed(self._running.pipes.stdin, GO + command.stdin)
        began = loop.time()
        ended = asyncio.ensure_future(self._running.ended())
        watched = asyncio.ensure_future(self._watch())
        try:
            wall = self._policy.wall_seconds
            done, _ = await asyncio.wait({ended, watched}, timeout=wall, return_when=asyncio.FIRST_COMPLETED)
            killed: Killed | None = None
            if ended not in done:
                killed = watched.result() if watched in done else "wall time"
            took_ms = round((loop.time() - began) * 1000)
        finally:
            ended.cancel()
            watched.cancel()
        await self.close()
        if killed is not None:
            return Ended(None, None, killed == "wall time", killed, self._out.output(), self._err.output(), took_ms)
        code = self._running.command_exit_code()
        if code is None:
            code = self._code_without_word()
        signal_number = code - SIGNALLED if SIGNALLED < code <= SIGNALLED + 64 else None
        exit_code = None if signal_number is not None else code
        return Ended(exit_code, signal_number, False, None, self._out.output(), self._err.output(), took_ms)

    def _code_without_word(self) -> int:
        """Bubblewrap itself was ended by a signal (the kernel's memory killer), or gave up before the command."""
        code = self._running.exit_code
        if code is not None and code < 0:
            return SIGNALLED - code
        raise self._refusal()

    async def _watch(self) -> Killed:
        inner = self._running.inner
        assert inner is not None, "a sandbox is watched after it was adopted"
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if (found := breach(inner, self._policy.limits, self._workspace.root)) is not None:
                return found

    def _refusal(self) -> SandboxUnavailable | SandboxDidNotStart:
        said = self._err.output().text().strip() or "bubblewrap ended without a word"
        if lacks_namespaces(said):
            return SandboxUnavailable(f"bubblewrap says {said!r}; {ALLOW}")
        return SandboxDidNotStart(f"bubblewrap says {said!r}.")

    async def close(self) -> None:
        """Ends everything, waits until it has ended, and reads what was still in the pipes."""
        self._closing = self._closing or asyncio.ensure_future(self._close())
        await _to_the_end(self._closing)

    async def _close(self) -> None:
        os.close(self._running.pipes.hold)
        if self._feed is None:
            os.close(self._running.pipes.stdin)
        else:
            self._feed.close()
        # Given up during its start: without process 1, bubblewrap alone would be ended, and not what it began.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETUP_SECONDS):
                await self._running.adopt()
        self._running.kill()
        await self._running.gone()
        # A descriptor of these pipes may have been passed out through a socket in the workspace: no waiting for ever.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                await asyncio.gather(*(asyncio.shield(drain.ended) for drain in self._drains))
        for drain in self._drains:
            drain.close()


async def _to_the_end(work: asyncio.Future[None]) -> None:
    """Awaits `work` whole, also when the caller is cancelled meanwhile, and then lets the cancellation through."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    work.result()
