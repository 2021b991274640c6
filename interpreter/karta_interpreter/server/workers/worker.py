"""One worker, as the server sees it."""

import asyncio
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Final, Self

from karta_interpreter.errors import ServeError
from karta_interpreter.server.workers.channel import Channel
from karta_interpreter.server.workers.handover import give
from karta_interpreter.server.workers.messages import Ask, Closed, Family, Ready, Report, Reported, ToWorker, to_server
from karta_interpreter.worker.packages import BARE, environment

_PROGRAM: Final = "karta_interpreter.server.workers.process"


class Worker:
    """A process that answers.

    ``number`` is that of its place, ``connections`` are those it has, and ``counted`` is what it said last.
    """

    def __init__(self, number: int, process: asyncio.subprocess.Process, channel: Channel, way: socket.socket) -> None:
        self.number = number
        self.connections = 0
        self.counted: list[Family] = []
        self.began = time.monotonic()
        self._ready = asyncio.Event()
        self._process = process
        self._channel = channel
        self._way = way
        self._awaited: deque[asyncio.Future[None]] = deque()

    @classmethod
    async def start(cls, number: int) -> Self:
        """Start a process, which waits to be told what to do; raises ServeError when the machine has none to give."""
        with ExitStack() as ours, ExitStack() as theirs:
            try:
                control, its_control = _pair(ours, theirs)
                way, its_way = _pair(ours, theirs)
                way.setblocking(False)
                process = await _start(its_control.fileno(), its_way.fileno())
            except OSError as error:
                raise ServeError(f"worker {number} cannot be started: {error.strerror}") from error
            ours.pop_all()
        return cls(number, process, await Channel.open(control), way)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_ready(self) -> bool:
        """Whether it has definitions to answer from, and is there."""
        return self._ready.is_set()

    async def ready(self, seconds: float) -> None:
        """Return when it can answer; raises ServeError when it ends before that, or takes longer."""
        ready, ended = asyncio.create_task(self._ready.wait()), asyncio.create_task(self.ended())
        try:
            done, _ = await asyncio.wait({ready, ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
            ended.cancel()
        if ended in done:
            raise ServeError(f"worker {self.number} ended before it could answer: {cause(ended.result())}")
        if not done:
            self.kill()
            raise ServeError(f"worker {self.number} could not answer after {seconds:.0f} seconds")

    def tell(self, message: ToWorker) -> None:
        """Send a message."""
        self._channel.send(message)

    def take(self, connection: socket.socket) -> bool:
        """Hand a connection over; false when the worker takes no more for the moment."""
        taken = give(self._way, connection)
        self.connections += taken
        return taken

    async def listen(self, asked: Callable[[Self, Ask], None]) -> None:
        """Hear what it says, until it ends; ``asked`` gets its questions."""
        async for data in self._channel.messages():
            match to_server(data):
                case Ready():
                    self._ready.set()
                case Reported(families):
                    self.counted = families
                    self._heard()
                case Closed():
                    self.connections -= 1
                case Ask() as question:
                    asked(self, question)

    async def report(self, seconds: float) -> bool:
        """Have it say what it has counted; false when it does not in that time."""
        answer = asyncio.get_running_loop().create_future()
        self._awaited.append(answer)
        self.tell(Report())
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await answer
                return True
        return False

    async def ended(self) -> int:
        """Return the status with which it ends; minus the number of a signal."""
        return await self._process.wait()

    def leave(self) -> None:
        """Say nothing more to it, upon which it closes its connections and ends."""
        self._ready.clear()
        self._channel.close()
        self._way.close()

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            self._process.kill()

    def _heard(self) -> None:
        answer = self._awaited.popleft()
        if not answer.done():
            answer.set_result(None)


def _pair(ours: ExitStack, theirs: ExitStack) -> tuple[socket.socket, socket.socket]:
    our_end, their_end = socket.socketpair()
    return ours.enter_context(our_end), theirs.enter_context(their_end)


async def _start(*ends: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(*BARE, "-m", _PROGRAM, *map(str, ends)),
        stdin=asyncio.subprocess.DEVNULL,
        pass_fds=ends,
        env={**os.environ, **environment()},
    )


def cause(status: int) -> str:
    """Return what the status of a process says about its end.

    >>> cause(-9), cause(1)
    ('SIGKILL', 'exit code 1')
    """
    return signal.Signals(-status).name if status < 0 else f"exit code {status}"
