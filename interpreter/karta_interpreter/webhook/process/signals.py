"""The process of a server: signals, the log and the event loop."""

import asyncio
import gc
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec

from karta_interpreter.webhook.log import configure_log, flush_log, log, open_standard_files
from karta_interpreter.webhook.memory import settle_garbage
from karta_interpreter.webhook.process.reading import wait_for_calls
from karta_interpreter.webhook.process.server import Server, Started
from karta_interpreter.webhook.settings import Settings

# uvloop is not available on every platform that Python runs on.
_LOOPS = "uvloop" if find_spec("uvloop") else "asyncio"
_SWITCH_SECONDS = 0.0002
"""A thread that loads definitions lets the event loop go on after this time. A call needs that some ten times."""


def run(settings: Settings, *, started: Callable[[Started], None] = lambda _: None) -> None:
    """Serve until SIGTERM or SIGINT. ``started`` is called once the server listens.

    The first signal ends the server in order (see `Settings`), a second one at once. SIGHUP, which comes when the
    server's terminal is closed, ends it too. Raises ServeError if the server cannot start.
    """
    with process(settings.log_level) as runner:
        gc.freeze()  # imported modules: definitions then load in a tenth less time
        sys.setswitchinterval(_SWITCH_SECONDS)
        runner.run(_serve(settings, started))


@contextmanager
def process(log_level: str) -> Iterator[asyncio.Runner]:
    """Make this process one that serves: with a log, and with the event loop of the runner."""
    open_standard_files()
    configure_log(log_level)
    try:
        with asyncio.Runner(loop_factory=import_module(_LOOPS).new_event_loop) as runner:
            yield runner
    finally:
        # The thread that writes the log is a daemon, and ends with the process.
        flush_log()


async def _serve(settings: Settings, started: Callable[[Started], None]) -> None:
    stopping, insisted = asyncio.Event(), asyncio.Event()

    def stop(*_: object) -> None:
        (insisted if stopping.is_set() else stopping).set()

    # Before the server starts: a signal in between ends a start in order, too.
    handlers = dict.fromkeys((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), stop)
    wait_for_calls()
    async with _on_signals(handlers), Server(settings) as server:
        settle_garbage()
        log.info("serving", url=server.started.url)
        started(server.started)
        await stopping.wait()
        log.info("stopping", grace_period=settings.grace_period)
        ends = [asyncio.create_task(server.wind_down()), asyncio.create_task(insisted.wait())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
    log.info("stopped")


@asynccontextmanager
async def _on_signals(handlers: Mapping[signal.Signals, Callable[..., None]]) -> AsyncIterator[None]:
    """Call a handler in the event loop in a block, once for each signal.

    The `add_signal_handler` of uvloop calls a handler twice if its signal comes while the loop takes notice of another
    signal, such as one of `Interruption`. A second SIGTERM would end the server at once.
    """
    # Not a Python function: `Interruption` could end it before the event loop has the signal.
    soon = asyncio.get_running_loop().call_soon_threadsafe
    before = {number: signal.signal(number, partial(soon, handler)) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
