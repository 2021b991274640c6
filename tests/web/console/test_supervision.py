"""The webhook watches over its second process: beats, questions, readiness and the end."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.errors import ServeError
from karta_interpreter.web import web_process as module
from karta_interpreter.web.web_process import WebChannel, web_process
from karta_interpreter.web.webhook import Webhook
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.process.server import Server, Shared
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import Clock, until
from tests.webhook.process.processes import descendants, is_there

TICK = 0.2
SETTINGS = Settings(port=0, plain_http=True, catalogue=False)
NOT_LISTENING = "the workload types API does not listen yet"
SECOND = partial(web_process, module="tests.web.console.second_process")


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The lines that are logged about the second process."""
    lines: list[dict[str, Any]] = []
    for level in ("warning", "error"):
        monkeypatch.setattr(log, level, lambda message, **fields: lines.append({"message": message, **fields}))
    return lines


def second_processes() -> set[int]:
    """Return the second processes that run; one that starts has the command of its parent at first."""
    commands = ((pid, Path(f"/proc/{pid}/cmdline").read_bytes()) for pid in descendants(os.getpid()))
    return {pid for pid, command in commands if b"second_process" in command}


def second() -> int:
    (pid,) = second_processes()
    return pid


async def ticks(clock: Clock, seconds: float) -> None:
    for _ in range(round(seconds / TICK)):
        await clock.advance(TICK)


async def test_frozen_process_is_replaced_within_ten_seconds(clock: Clock, logged: list[dict[str, Any]]) -> None:
    async with Server(SETTINGS, [SECOND]):
        frozen = second()
        os.kill(frozen, signal.SIGSTOP)
        await ticks(clock, 7)
        assert is_there(frozen), "a process may be silent for a while"
        await ticks(clock, 3)
        await until(lambda: not is_there(frozen))
        await until(lambda: logged)
        assert logged[0]["reason"].endswith("the signal SIGKILL after 8 s without a beat")
        await ticks(clock, 1.2)
        await until(lambda: second_processes() - {frozen})


async def test_beat_ends_silence(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[module.WebProcess] = []

    class Seen(module.WebProcess):
        def __init__(self, *parts: Any) -> None:
            super().__init__(*parts)
            made.append(self)

    monkeypatch.setattr(module, "WebProcess", Seen)
    async with Server(SETTINGS, [SECOND]):
        pid = second()
        for _ in range(3):
            await until(lambda: made[0]._silence == 0)  # noqa: SLF001 - no beat is visible outside
            await ticks(clock, 5)
        assert second() == pid


async def test_frozen_process_delays_the_end_by_two_seconds(clock: Clock) -> None:
    server = Server(SETTINGS, [SECOND])
    await server.__aenter__()
    frozen = second()
    os.kill(frozen, signal.SIGSTOP)
    end = asyncio.create_task(server.__aexit__())
    await ticks(clock, 3)
    await until(lambda: not is_there(frozen))
    await until(end.done)


async def test_webhook_is_ready_when_the_other_process_listens() -> None:
    may_listen = asyncio.Event()
    objections: Callable[[], list[str]] = list

    @asynccontextmanager
    async def slow(shared: Shared) -> AsyncIterator[Callable[[], Awaitable[object]]]:
        nonlocal objections
        objections = shared.readiness.objections
        yield may_listen.wait

    server = Server(SETTINGS, [slow])
    start = asyncio.create_task(server.__aenter__())
    await until(lambda: NOT_LISTENING in objections())
    assert not start.done()
    may_listen.set()
    await start
    assert NOT_LISTENING not in objections()
    await server.__aexit__()


async def test_error_of_the_webhook_reaches_who_asks() -> None:
    reader = asyncio.StreamReader()
    sent: list[bytes] = []
    writer: Any = type("Writer", (), {"write": staticmethod(sent.append), "close": None})
    webhook = Webhook(WebChannel(reader, writer))
    following = asyncio.create_task(webhook.follow())
    question = asyncio.create_task(webhook.ask("labels"))
    await until(lambda: sent)
    reader.feed_data(b'{"error": "too long"}\n')
    with pytest.raises(ServeError, match="too long"):
        await question
    with pytest.raises(ServeError, match="the most is"):
        await webhook.ask("reload", "x" * module.MOST_BYTES)
    reader.feed_eof()
    await following
