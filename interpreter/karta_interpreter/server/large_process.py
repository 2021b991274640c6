"""A process that answers large calls, one after the other."""

import asyncio
import json
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import asdict
from typing import Final, NamedTuple, Self

import orjson

from karta_interpreter.errors import InterpretationError, InterpreterError, RequestError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.resolution import NOTHING_KNOWN, Known
from karta_interpreter.karta.transfer import pack, pack_known
from karta_interpreter.operations import Options
from karta_interpreter.server import large_child as child
from karta_interpreter.wire import Request
from karta_interpreter.worker.packages import BARE, environment

_PIECE: Final = 2**18
_REST_SECONDS: Final = 1.0
_REAP_SECONDS: Final = 1.0


class _Cause(NamedTuple):
    """Why a process ended early, with the HTTP status and the code of an answer that say so."""

    reason: str
    status: int
    code: int


_NO_MEMORY: Final = _Cause(f"needs more than {child.MEMORY >> 20} MiB of memory", 413, 422)
_DEATHS: Final = {
    child.NO_MEMORY: _NO_MEMORY,
    # Libraries end their process when memory runs out.
    -signal.SIGABRT: _NO_MEMORY,
    -signal.SIGSEGV: _NO_MEMORY,
    -signal.SIGKILL: _Cause("was stopped from outside, perhaps for want of memory", 503, 503),
    -signal.SIGXCPU: _Cause("takes too much processor time", 503, 504),
}


class _EndedError(InterpreterError):
    def __init__(self, cause: _Cause) -> None:
        super().__init__(cause.reason)
        self.cause = cause


class LargeProcess:
    """A process for one call at a time: `read` it, perhaps `answer` it, and in any case `rest` or `end`."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.is_in_step = True
        """Whether its next word will be about what it is sent next, and not about something before."""

    @classmethod
    async def start(cls) -> Self:
        """Start a process; raises RequestError when the machine has none to give."""
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise _no_process(error) from error
        with theirs:
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=_PIECE)
            try:
                process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own program, no shell; starting takes 1 ms
                    [*BARE, child.__file__],
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env=environment(),
                    start_new_session=True,  # Ctrl-C in a terminal is for the server, which finishes its calls
                )
            except OSError as error:
                writer.transport.abort()
                raise _no_process(error) from error
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_there(self) -> bool:
        """Whether the process can be given a call."""
        return self._process.poll() is None and not self._reader.at_eof()

    async def read(self, body: bytes, seconds: float) -> Request:
        """Return the request, without its call, which stays in the process; after ``seconds`` that may end itself.

        Raises RequestError when the request has no uid, or when finding it needs too much memory.
        """
        try:
            about = orjson.loads(await self._exchange(body, seconds, child.ABOUT))
        except _EndedError as error:
            raise RequestError(f"reading a body of {len(body)} bytes {error}", status=error.cause.status) from error
        gvk, problem = about.pop("gvk"), about.pop("problem")
        return Request(**about, gvk=gvk and GVK(*gvk), problem=problem and InterpretationError(**problem))

    async def answer(
        self, definition: Definition, options: Options, seconds: float, known: Known = NOTHING_KNOWN
    ) -> bytes:
        """Return the body that answers the request; raises InterpretationError when there is no right answer.

        Expressions and scripts may take ``seconds`` together. ``known`` are objects that the definition refers to.
        """
        needed = {
            "definition": json.dumps(pack(definition)),
            "options": asdict(options),
            "known": pack_known(known),
        }
        try:
            return await self._exchange(json.dumps(needed).encode(), seconds, child.ANSWER)
        except _EndedError as error:
            raise InterpretationError(
                f"definition {definition.name}: the call {error}", code=error.cause.code
            ) from error

    async def rest(self) -> bool:
        """Have a process that is in step forget its call; tell whether it is fit for another one."""
        try:
            async with asyncio.timeout(_REST_SECONDS):
                await self._exchange(b"", 0.0, child.READY)
        except (TimeoutError, InterpreterError):
            return False
        return True

    def end(self) -> asyncio.Future[int]:
        """End the process, whatever it is doing; the result is there when its memory is free, which takes a while."""
        self.kill()
        return self._gone()

    def kill(self) -> None:
        """Have the process end, without waiting for that."""
        self._process.kill()
        self._writer.transport.abort()

    def reap(self) -> None:
        """Wait for the end of a process that is killed, where no event loop can."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_REAP_SECONDS)

    def _gone(self) -> asyncio.Future[int]:
        """Return what becomes the exit status of the process."""
        return asyncio.get_running_loop().run_in_executor(None, self._process.wait)

    async def _exchange(self, payload: bytes, seconds: float, expected: bytes) -> bytes:
        self.is_in_step = False
        await self._send(payload, seconds)
        letter, said = await self._receive()
        self.is_in_step = letter != child.BROKEN
        if letter == expected:
            return said
        raise _error(letter, said)

    async def _send(self, payload: bytes, seconds: float) -> None:
        view = memoryview(payload)
        try:
            self._writer.write(child.TO_CHILD.pack(seconds, len(view)))
            for start in range(0, len(view), _PIECE):
                self._writer.write(view[start : start + _PIECE])
                await self._writer.drain()
        except ConnectionError as error:
            raise await self._ended() from error

    async def _receive(self) -> tuple[bytes, bytes]:
        try:
            letter, length = child.FROM_CHILD.unpack(await self._reader.readexactly(child.FROM_CHILD.size))
            return letter, await self._reader.readexactly(length)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            raise await self._ended() from error

    async def _ended(self) -> InterpreterError:
        status = await self._gone()
        cause = _DEATHS.get(status)
        return _EndedError(cause) if cause else InterpreterError(f"the process of a call ended with status {status}")


def _no_process(error: OSError) -> RequestError:
    return RequestError(f"no process can be started: {error.strerror}", status=503)


def _error(letter: bytes, payload: bytes) -> InterpreterError:
    """Return what a frame says instead of what was expected."""
    if letter == child.UNREADABLE:
        return RequestError(**orjson.loads(payload))
    if letter == child.FAILURE:
        return InterpretationError(**json.loads(payload))
    return InterpreterError(f"the process of a call failed:\n{payload.decode()}")
