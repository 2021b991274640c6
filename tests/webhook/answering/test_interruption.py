"""Work is interrupted at its time, once, and only while somebody looks."""

import asyncio
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from math import inf

import pytest

from karta_interpreter.webhook.answering.load import BEGUN, LONG, InterruptedWork, Interruption
from karta_interpreter.webhook.process.signals import _on_signals
from tests.support.waiting import turns


def spend(seconds: float) -> None:
    """Spend processor time of this thread, and little of it in the system, where the timer does not count it."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(1000))


def caught() -> None:
    """Work that takes every error for one of its own."""
    while True:
        with suppress(Exception):
            spend(0.01)


@pytest.mark.parametrize("work", [pytest.param(lambda: spend(60), id="plain"), pytest.param(caught, id="catches all")])
def test_work_is_interrupted_once(work: Callable[[], None]) -> None:
    interruption = Interruption()
    with interruption.running():
        interruption.at = time.thread_time() + 0.02
        with pytest.raises(InterruptedWork):
            work()
        interruption.at = inf
        spend(0.1)


def test_work_is_interrupted_again_when_weak_reference_swallows_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    interruption, swallowed = Interruption(), list[object]()
    monkeypatch.setattr(sys, "unraisablehook", swallowed.append)
    referent = threading.Lock()
    _ = weakref.ref(referent, lambda _: spend(60))
    with interruption.running():
        interruption.at = time.thread_time() + 0.02
        del referent
        assert len(swallowed) == 1
        with pytest.raises(InterruptedWork):
            spend(60)


def test_work_is_interrupted_when_it_has_taken_long_since_its_begin() -> None:
    interruption = Interruption()
    with interruption.running():
        interruption.at, begin = BEGUN, time.thread_time()
        with pytest.raises(InterruptedWork):
            spend(60)
        assert time.thread_time() - begin >= LONG


def test_work_does_not_pay_for_work_before_it() -> None:
    interruption = Interruption()
    with interruption.running():
        for _ in range(5):
            interruption.at = BEGUN
            spend(LONG / 2)
            interruption.at = inf


@pytest.mark.parametrize(
    "begin", [pytest.param(lambda: time.thread_time() + 0.2, id="a time"), pytest.param(lambda: BEGUN, id="its begin")]
)
def test_waiting_is_no_work(begin: Callable[[], float]) -> None:
    interruption = Interruption()
    with interruption.running():
        interruption.at = begin()
        time.sleep(0.25)


def test_everything_is_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    interruption = Interruption()
    with interruption.running():
        assert signal.getsignal(signal.SIGVTALRM) != before
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    interruption.at = time.thread_time()
    spend(0.1)


def test_another_thread_than_the_main_one_is_never_interrupted() -> None:
    ended = threading.Event()

    def run() -> None:
        interruption = Interruption()
        with interruption.running():
            interruption.at = time.thread_time()
            spend(0.1)
            ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ended.is_set()


def test_signal_for_server_is_not_lost_to_interruption() -> None:
    interruption, taken = Interruption(), list[object]()

    def interrupt(_: object, event: str, __: object) -> None:
        if event == "call":
            sys.setprofile(None)
            signal.raise_signal(signal.SIGVTALRM)

    async def work() -> None:
        async with _on_signals({signal.SIGHUP: lambda *_: taken.append("SIGHUP")}):
            interruption.at = 0.0
            try:
                # The timer's signal comes in the first function of Python that takes the other one, if there is any.
                sys.setprofile(interrupt)
                signal.raise_signal(signal.SIGHUP)
            except InterruptedWork:
                pass
            finally:
                sys.setprofile(None)
                interruption.at = inf
            await turns()

    with interruption.running(), asyncio.Runner(loop_factory=pytest.importorskip("uvloop").new_event_loop) as runner:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        runner.run(work())
    assert taken == ["SIGHUP"]
