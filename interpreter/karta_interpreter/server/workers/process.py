"""The program of a worker: it answers on the connections that it is given, from what it is told, and ends when told.

Its arguments are two open sockets: one for messages, and one on which connections come. When nobody is at the other
end of the first one any more, it ends.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from karta_interpreter.errors import ServeError
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.server.log import configure_log, log
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.readiness import Readiness
from karta_interpreter.server.reception import FAREWELL_SECONDS, HANDSHAKE_SECONDS, Reception
from karta_interpreter.server.runtime import collect_replaced, keep_imports, runner, settle_garbage
from karta_interpreter.server.tls import Tls
from karta_interpreter.server.workers.channel import Channel
from karta_interpreter.server.workers.handover import Taking
from karta_interpreter.server.workers.messages import (
    Begin,
    Certify,
    Closed,
    Define,
    Drain,
    Drop,
    Finish,
    Hold,
    Ready,
    Report,
    Reported,
    Take,
    Told,
    ToWorker,
    to_worker,
)
from karta_interpreter.server.workers.mirror import Mirror
from karta_interpreter.server.workers.questions import Questions
from karta_interpreter.server.workers.totals import counted

_PATIENCE: Final = 1.0
"""Seconds until a certificate is tried again."""


def main() -> None:
    """Work until the end."""
    control, way = (socket.socket(fileno=int(handle)) for handle in sys.argv[1:])
    keep_imports()
    with runner() as running:
        running.run(_work(control, way))


async def _work(control: socket.socket, way: socket.socket) -> None:
    _ignore_signals()
    channel = await Channel.open(control)
    messages = channel.messages()
    first = await anext(messages, b"")
    if first and isinstance(begin := to_worker(first), Begin):
        configure_log(begin.settings.log_level, worker=begin.number)
        await _Work(begin, channel, way).run(messages)


def _ignore_signals() -> None:
    # Ctrl-C in a terminal, and whoever stops a group of processes, means the server, which lets its workers finish.
    # Not SIG_IGN, which children of this process would inherit.
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, lambda: None)


class _Work:
    def __init__(self, begin: Begin, channel: Channel, way: socket.socket) -> None:
        self._settings = begin.settings
        self._channel = channel
        self._certificate = begin.certificate
        self._tls = Tls(_Given(begin.certificate)) if begin.certificate else None
        self._mirror = Mirror()
        self._metrics = Metrics()
        self._readiness = Readiness(lambda: self._mirror.snapshot, self._tls)
        self._questions = Questions(channel)
        self._reception = Reception(begin.settings, self._mirror, self._metrics, self._readiness, self._questions)
        self._reception.connections.on_lost = self._ended
        self._lessons: asyncio.Queue[Define | Hold | Drop] = asyncio.Queue()
        self._told_to_finish = asyncio.Event()
        self._welcoming: set[asyncio.Task[None]] = set()
        self._taking = Taking(way, self._welcome, self._ended)

    async def run(self, messages: AsyncIterator[bytes]) -> None:
        """Work until the server says that it is enough, or says nothing any more."""
        works = {asyncio.create_task(work) for work in (self._listen(messages), self._learn(), self._finish())}
        done, others = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
        for task in others:
            task.cancel()
        self._taking.end()
        await self._reception.close()
        for task in done:
            task.result()

    async def _listen(self, messages: AsyncIterator[bytes]) -> None:
        async for data in messages:
            self._obey(to_worker(data))

    def _obey(self, message: ToWorker) -> None:
        match message:
            case Define() | Hold() | Drop():
                self._lessons.put_nowait(message)
            case Certify(certificate) if self._tls:
                self._certificate = certificate
                self._certify(self._tls, certificate)
            case Drain():
                self._readiness.draining = True
            case Finish():
                self._told_to_finish.set()
            case Take():
                self._mirror.take(message)
            case Report():
                self._channel.send(Reported(counted(self._metrics.registry)))
            case Told():
                self._questions.answer(message)

    def _certify(self, tls: Tls, certificate: Certificate) -> None:
        """Serve a certificate, unless another one has come since; when the machine has no room for it, a bit later."""
        if certificate is not self._certificate:
            return
        try:
            tls.install(certificate)
        except (ServeError, OSError) as error:
            log.error("the new certificate cannot be served yet, the present one stays", reason=str(error))
            asyncio.get_running_loop().call_later(_PATIENCE, self._certify, tls, certificate)

    async def _learn(self) -> None:
        while True:
            lesson = await self._lessons.get()
            try:
                await self._take_in(lesson)
            except Exception:  # noqa: BLE001 - whatever it is, the calls go on
                log.exception("what the server says cannot be taken in; what was known stays")

    async def _take_in(self, lesson: Define | Hold | Drop) -> None:
        match lesson:
            case Define():
                is_first = not self._mirror.snapshot.generation
                await asyncio.to_thread(self._mirror.define, lesson)
                if is_first:
                    settle_garbage()
                else:
                    collect_replaced()
                self._channel.send(Ready(lesson.generation))
            case Hold():
                await asyncio.to_thread(self._mirror.hold, lesson)
            case Drop():
                self._mirror.drop(lesson)

    async def _finish(self) -> None:
        await self._told_to_finish.wait()
        self._taking.take_all()
        await self._reception.drained(self._settings.drain_timeout)

    def _welcome(self, connection: socket.socket) -> None:
        task = asyncio.create_task(self._shake_hands(connection))
        self._welcoming.add(task)
        task.add_done_callback(self._welcoming.discard)

    async def _shake_hands(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        loop, connections = asyncio.get_running_loop(), self._reception.connections
        try:
            if not self._tls:
                await loop.connect_accepted_socket(connections, connection)
                return
            await loop.connect_accepted_socket(
                connections,
                connection,
                ssl=self._tls.context,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=FAREWELL_SECONDS,
            )
        except OSError:
            self._ended()

    def _ended(self) -> None:
        self._channel.send(Closed())


@dataclass(frozen=True, slots=True)
class _Given:
    """The source of a certificate that the server has read; it sends the next one by itself."""

    certificate: Certificate

    def read(self) -> Certificate:
        return self.certificate

    async def look(self) -> Certificate:
        return self.certificate

    async def close(self) -> None:
        pass


if __name__ == "__main__":
    main()
