"""A child process behind a socket; what jq and Lua do with theirs is tested in their rooms."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.worker.process import Process
from tests.waiting import HANG

ECHO = str(Path(__file__).parent / "echo.py")


@pytest.fixture
def process() -> Iterator[Process]:
    process = Process(ECHO, "a", "b")
    yield process
    process.stop()


def soon() -> float:
    return time.monotonic() + HANG


def test_requests_and_answers(process: Process) -> None:
    process.send(b"one\ntwo\n", soon())
    assert [process.receive(soon()), process.receive(soon())] == [(b"R", b"one"), (b"R", b"two")]


def test_a_long_message(process: Process) -> None:
    word = b"x" * 3_000_000
    process.send(word + b"\n", soon())
    assert process.receive(soon()) == (b"R", word)


def test_no_environment_and_a_session_of_its_own(process: Process) -> None:
    assert Path(f"/proc/{process.pid}/environ").read_bytes() == b""
    assert os.getsid(process.pid) == process.pid
    assert Path(f"/proc/{process.pid}/cwd").readlink() == Path("/")


def test_no_answer_in_time(process: Process) -> None:
    process.send(b"sleep\n", soon())
    with pytest.raises(TimeoutError):
        process.receive(time.monotonic() + 0.05)
    assert process.is_alive


@pytest.mark.parametrize(
    ("end", "status"),
    [
        pytest.param(lambda process: process.send(b"die\n", soon()), 3, id="its own end"),
        pytest.param(lambda process: os.kill(process.pid, signal.SIGKILL), -signal.SIGKILL, id="a signal"),
    ],
)
def test_the_cause_of_death(process: Process, end: "object", status: int) -> None:
    assert callable(end)
    end(process)
    with pytest.raises(OSError):  # noqa: PT011 - any kind of it
        process.receive(soon())
    assert process.cause_of_death() == status
    assert not process.is_alive


def test_stopping_ends_and_reaps_it(process: Process) -> None:
    process.stop()
    assert not process.is_alive
    assert not Path(f"/proc/{process.pid}").exists()


def test_a_program_that_does_not_start() -> None:
    with pytest.raises(OSError):  # noqa: PT011 - any kind of it
        Process("/nowhere.py")
