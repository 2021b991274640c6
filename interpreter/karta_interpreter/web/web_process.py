"""The process of the types API, next to the webhook: started, informed, answered, and restarted.

Both ends of its channel send JSON documents, one on each line. The two use no time or memory of the webhook's process
except for the questions that `WebProcess` answers.
"""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, Final

import orjson

from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.k8s import JSON, label
from karta_interpreter.webhook.http.certificate import Certificate
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.process.server import Shared
from karta_interpreter.webhook.settings import MIB, Settings

MOST_BYTES: Final = MIB
"""Of a message in either direction."""
BEAT_SECONDS: Final = 1.0
"""How often the process sends a beat."""

_INFORM_SECONDS: Final = 0.2
_START_SECONDS: Final = 60.0
"""The most seconds until the first beat: the process imports its modules, perhaps on a busy machine."""
_SILENT_SECONDS: Final = 8.0
"""After this time without a beat, the process counts as frozen."""
_SILENT_AT_END: Final = 2.0
_END_SECONDS: Final = 5.0  # a second each for requests in work, changes whose clients have left, and connections
_EXIT_SECONDS: Final = 2.0
_LONGEST_REASON: Final = 500
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class State:
    """The facts about the webhook that the process knows: sent at the start, and whenever they change."""

    certificate: Certificate | None = None
    """None for plain HTTP."""
    in_step: bool | None = None
    """None without registration."""
    draining: bool = False
    stopping: bool = False
    """Asks the process to finish its requests and to end."""


class WebChannel:
    """One end of the channel."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.close = writer.close

    @classmethod
    async def of(cls, end: socket.socket) -> "WebChannel":
        """Read from and write to a socket."""
        return cls(*await asyncio.open_unix_connection(sock=end, limit=MOST_BYTES))

    def write(self, message: bytes) -> None:
        """Write a message without waiting."""
        self._writer.write(message)

    async def send(self, message: bytes) -> None:
        """Write a message. Does nothing if the other end is closed."""
        with suppress(OSError):
            self.write(message)
            await self._writer.drain()

    async def receive(self) -> Any:  # noqa: ANN401 - any document
        """Return the next document, None at the end. Raises ValueError for a document that is too long."""
        line = b""
        with suppress(OSError):
            line = await self._reader.readline()
        return orjson.loads(line) if line.endswith(b"\n") else None


def message(document: object) -> bytes:
    """Return the message for a document. Raises ServeError for a document that the other end would not read."""
    text = orjson.dumps(document, default=_plain)
    if len(text) > MOST_BYTES:
        raise ServeError(f"a message to the other process has {len(text)} bytes; the most is {MOST_BYTES}")
    return text + b"\n"


def _plain(value: object) -> str:
    # The text around the certificates of a PEM file may have any encoding.
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


class WebProcess:
    """The process. If it ends or freezes, the webhook goes on, and starts it again after a pause that grows."""

    def __init__(self, shared: Shared, module: str) -> None:
        self._shared, self._module, self._settings = shared, module, shared.settings
        self._silence = 0.0
        self.urls: dict[str, str] = {}
        self.wanted, self.started, self.stopping = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run(self) -> None:
        """Keep it running until `stopping`. Raises ServeError if it does not start the first time."""
        pause = 0.0
        while not self.stopping.is_set():
            begun = time.monotonic()
            try:
                reason = await self._life()
            except Exception as error:  # noqa: BLE001 - whatever the process does, the webhook goes on
                reason = str(error) if isinstance(error, ServeError) else repr(error)
            if not self.started.is_set():
                raise ServeError(reason)
            if self.stopping.is_set():
                return
            lasted = time.monotonic() - begun > _LONGEST_PAUSE
            pause = _FIRST_PAUSE if lasted else min(2 * pause or _FIRST_PAUSE, _LONGEST_PAUSE)
            log.error("the workload types API starts again", reason=reason, pause=pause)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), pause)

    async def _life(self) -> str:
        """Start it, and inform and answer it until it ends. Return how. Raises ServeError if it cannot start."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = start(self._module, self._settings, theirs)
        channel = await WebChannel.of(ours)
        self._silence = _SILENT_SECONDS - _START_SECONDS
        informing = asyncio.create_task(self._inform(channel, process))
        try:
            while (document := await channel.receive()) is not None:
                self._silence = 0.0
                if isinstance(document, list):
                    await self._reply(channel, *document)
                    await asyncio.sleep(0)  # calls come between two questions
                elif document:
                    self._take(**document)
        except BaseException:
            process.kill()  # there is no time left, or nothing more to expect of it
            raise
        finally:
            informing.cancel()
            channel.close()
            status = await asyncio.to_thread(_status, process)
        how = f"the signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        if self._silence > _SILENT_AT_END:
            how += f" after {_SILENT_SECONDS:.0f} s without a beat"
        return f"the process of the workload types API has ended with {how}"

    def _take(self, urls: dict[str, str], ports: dict[str, Any], error: str = "") -> None:
        """Take the news that the process serves, or cannot."""
        if error:
            raise ServeError(error)
        self.urls = urls
        for what, url in urls.items():
            log.info(what, url=url)
        # The same ports again: clients know the addresses.
        self._settings = replace(self._settings, **ports)
        self.started.set()

    async def _inform(self, channel: WebChannel, process: "subprocess.Popen[bytes]") -> None:
        """Tell the process about changes, and kill it if it is silent for too long."""
        shared, plane, told = self._shared, self._shared.control_plane, None
        while True:
            certificate = shared.tls.certificate if shared.tls else None
            in_step = plane.registrar.in_step if plane and plane.registrar else None
            state = State(certificate, in_step, shared.readiness.draining, self.stopping.is_set())
            if self.wanted.is_set() and state != told:
                told = state
                channel.write(message({"state": state}))
            await asyncio.sleep(_INFORM_SECONDS)
            # Counted in looks: while the webhook itself stands still, it does not hear beats either.
            self._silence += _INFORM_SECONDS
            if self._silence > (_SILENT_AT_END if self.stopping.is_set() else _SILENT_SECONDS):
                process.kill()

    async def _reply(self, channel: WebChannel, question: str, *arguments: Any) -> None:  # noqa: ANN401 - JSON
        """Answer a question. The reply is an error if the question fails or its answer is too long."""
        self._silence = -inf  # no beat is read meanwhile
        try:
            answer = message({"answer": await self._answer(question, *arguments)})
        except Exception as error:  # noqa: BLE001 - the error of one question
            reason = f"{error!r}"[:_LONGEST_REASON]
            log.warning("a question of the types API failed", question=question, reason=reason)
            answer = message({"error": reason})
        self._silence = 0.0
        await channel.send(answer)

    async def _answer(self, what: str, *about: Any) -> JSON:  # noqa: ANN401 - JSON
        """Answer a question: read a file of the types folder, or labels of Kartas.

        The first may take more than a part of a millisecond: a thread reads the file, and changes in it are published
        like every change of definitions.
        """
        shared = self._shared
        if what == "reload" and (folder := shared.settings.types_folder):
            await shared.store.reload_file(folder, folder / Path(about[0]).name)
        if what == "labels" and shared.control_plane and (cluster := shared.control_plane.cluster):
            name, kartas = about
            return [label(found.obj, name) if (found := cluster.find(each)) else None for each in kartas]
        return None


def start(module: str, settings: Settings, end: socket.socket) -> "subprocess.Popen[bytes]":
    """Start a module. Its arguments are the descriptor of the channel and the settings."""
    return subprocess.Popen(  # noqa: S603 - our own program, and no shell
        # Without the current folder on the path (-P): its files are not part of this program.
        [sys.executable, "-P", "-m", module, str(end.fileno()), orjson.dumps(settings, default=_plain)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(end.fileno(),),
        start_new_session=True,  # Ctrl-C in a terminal is for the webhook, which ends it in order
    )


def _status(process: "subprocess.Popen[bytes]") -> int:
    """Wait for the end of a process. Its closed channel is the sign of its end."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(_EXIT_SECONDS)
    process.kill()
    return process.wait()


@asynccontextmanager
async def web_process(shared: Shared, module: str) -> AsyncIterator[Callable[[], Awaitable[dict[str, str]]]]:
    """Run the process, which is a module, in a block.

    The block gets a function that lets the process listen, and returns the addresses. It raises ServeError if the
    process cannot listen.
    """
    process = WebProcess(shared, module)
    running = asyncio.create_task(process.run())
    await asyncio.sleep(0)  # It starts now, and reads the definitions while the webhook reads them.

    async def listens() -> dict[str, str]:
        process.wanted.set()
        started = asyncio.create_task(process.started.wait())
        await asyncio.wait({running, started}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if running.done():
            running.result()
        return process.urls

    try:
        yield listens
    finally:
        process.stopping.set()
        await asyncio.wait({running}, timeout=_END_SECONDS if process.started.is_set() else 0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
