"""The process around a server: starting, the signals that stop it, and stopping."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from karta_interpreter.server.log import configure_log, flush_log, log
from karta_interpreter.server.runtime import keep_imports, runner, settle_garbage
from karta_interpreter.server.server import Server, Started
from karta_interpreter.server.settings import Settings

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_STANDARD_ERROR = 2


def run(settings: Settings, *, started: Callable[[Started], None] = lambda _: None) -> None:
    """Serve until SIGTERM or SIGINT; ``started`` is called once the server listens.

    The first signal ends the server in order (see `Settings`), a second one at once. Raises ServeError when the
    server cannot start.
    """
    _open_standard_files()
    configure_log(settings.log_level)
    keep_imports()
    try:
        with runner() as running:
            running.run(_serve(settings, started))
    finally:
        flush_log()


def _open_standard_files() -> None:
    """Keep file descriptors 0, 1 and 2 from being connections: libuv aborts when it has to close one of these."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
        pass
    os.close(handle)


async def _serve(settings: Settings, started: Callable[[Started], None]) -> None:
    with _stop_signals() as stop:
        async with Server(settings) as server:
            settle_garbage()
            log.info("serving", url=server.started.url)
            started(server.started)
            await stop.asked.wait()
            log.info("stopping", grace_period=settings.grace_period)
            await _first_of(server.wind_down(), stop.insisted.wait())
    log.info("stopped")


@dataclass(frozen=True, slots=True)
class _Stop:
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    insisted: asyncio.Event = field(default_factory=asyncio.Event)

    def receive(self) -> None:
        (self.insisted if self.asked.is_set() else self.asked).set()


@contextmanager
def _stop_signals() -> Iterator[_Stop]:
    loop, stop = asyncio.get_running_loop(), _Stop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.receive)
    try:
        yield stop
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def _first_of(*works: Coroutine[None, None, object]) -> None:
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
