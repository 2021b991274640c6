"""Standard error that nobody reads or that is not there, and what Python itself would write to it."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from tests.support.waiting import HANG
from tests.webhook.log_alone import LOG_ALONE
from tests.webhook.process.client import Client, post, question
from tests.webhook.process.process import KARTAS, PROGRAM

LOGGING = f"""{LOG_ALONE}
import logging, sys, threading, warnings
configure_log("info")
"""
MANY = 5000


def popen(program: str, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program, *arguments], **streams)


def lines(stream: IO[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.read().splitlines()]


def test_unread_log_delays_no_caller() -> None:
    program = f"""{LOGGING}
for number in range({MANY}):
    log.info("line", number=number, text="x" * 100)
print("done", flush=True)
sys.stdin.read(1)
log.info("last")
"""
    pipe = subprocess.PIPE
    with popen(program, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        assert child.stdin
        assert child.stdout
        assert child.stderr
        try:
            assert read_in_time(child.stdout, child.kill) == b"done\n"
            found = [json.loads(child.stderr.readline()) for _ in range(MANY // 10)]
            child.stdin.close()
            found += lines(child.stderr)
        finally:
            child.kill()
    assert found[0]["number"] == 0
    assert "last" in [line["message"] for line in found], "there was room again"
    numbers = [line["number"] for line in found if "number" in line]
    assert numbers == sorted(numbers), "what waits is written in order"
    (loss,) = (line for line in found if "lost" in line)
    assert (loss["message"], loss["level"]) == ("lines of the log were not written in time", "warning")
    assert loss["lost"] == MANY - len(numbers)


def read_in_time(stream: IO[bytes], give_up: Callable[[], None]) -> bytes:
    timer = threading.Timer(HANG, give_up)
    timer.start()
    try:
        return stream.readline()
    finally:
        timer.cancel()


def test_nonblocking_pipe_loses_nothing() -> None:
    program = f"""{LOGGING}
import os
os.set_blocking(2, False)
for number in range(900):
    log.info("line", number=number, text="x" * 300)
print("done", flush=True)
sys.stdin.read(1)
"""
    pipe = subprocess.PIPE
    with popen(program, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        assert child.stdin
        assert child.stdout
        assert child.stderr
        try:
            assert read_in_time(child.stdout, child.kill) == b"done\n"
            child.stdin.close()
            numbers = [line["number"] for line in lines(child.stderr)]
        finally:
            child.kill()
    assert numbers == list(range(900))


def test_lines_that_cannot_be_written_are_counted(tmp_path: Path) -> None:
    program = f"""{LOGGING}
import os
full = os.open("/dev/full", os.O_WRONLY)
file = os.dup(2)
os.dup2(full, 2)
for number in range(3):
    log.info("line", number=number)
flush_log()
os.dup2(file, 2)
log.info("last")
"""
    with (tmp_path / "log").open("wb") as file:
        assert popen(program, stderr=file).wait(HANG) == 0
    first, second = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert (first["message"], second["lost"]) == ("last", 3)


def test_unread_log_does_not_prevent_the_end() -> None:
    program = f"""{LOGGING}
from karta_interpreter.webhook import log as room
room._FLUSH_SECONDS = 0.01  # nothing could be written, however long it waits
for _ in range({MANY}):
    log.info("line", text="x" * 100)
"""
    with popen(program, stderr=subprocess.PIPE) as child:
        try:
            assert child.wait(HANG) == 0
        finally:
            child.kill()


def test_messages_of_python_are_one_line_each() -> None:
    program = f"""{LOGGING}
warnings.warn("old", stacklevel=1)
logging.getLogger("a.library").error("%d of them", "some")
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
class Broken:
    def __del__(self):
        1 / 0
Broken()
raise ValueError("two\\nlines")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=HANG)
    said = [json.loads(line) for line in done.stderr.splitlines()]
    assert "UserWarning: old" in said[0]["message"]
    assert [(line["level"], line["message"]) for line in said[1:]] == [
        ("error", "%d of them"),  # whose words do not fit
        ("error", "a thread fails"),
        ("error", "failed unexpectedly"),  # which nobody can catch
        ("error", "the process fails"),
    ]
    assert said[0]["level"] == "warning"
    assert "two\nlines" in said[-1]["exception"]


def without_files(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command])


async def port_in(file: Path) -> int:
    async with asyncio.timeout(HANG):
        while not (file.exists() and (text := file.read_text())):  # noqa: ASYNC110, ASYNC240 - written by another process
            await asyncio.sleep(0.05)
    port: int = json.loads(text)["port"]
    return port


@pytest.mark.slow
async def test_server_without_standard_files_answers_and_ends(tmp_path: Path) -> None:
    options = {"folder": str(KARTAS), "port": 0, "grace_period": 0.0, "plain_http": True}
    # Its stdout would have the address that it listens on.
    told, program = tmp_path / "port", PROGRAM.replace("print(json.dumps(", "Path(sys.argv[2]).write_text(json.dumps(")
    command = [sys.executable, "-c", program.replace("), flush=True)", "))"), json.dumps(options), str(told)]
    with without_files(command) as child:
        try:
            client = await Client.connect(await port_in(told), None)
            assert (await client.ask(post(question()))).response["successful"]
            child.send_signal(signal.SIGTERM)
            assert child.wait(HANG) == 0
            await client.close()
        finally:
            child.kill()
