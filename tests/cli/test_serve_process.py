"""`serve` as a process: what it writes to stderr, and what stderr and its environment do to it."""

import http
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import IO, TextIO

import pytest

from tests.support.rows import rows
from tests.support.serving import reserved_port
from tests.support.waiting import HANG
from tests.webhook.process.forked import forked

# Loading the catalogue is half of the work of a start, and tests of the catalogue do it.
NO_CATALOGUE = ["--no-catalogue"]
DEPLOYMENT = Path(__file__).parents[2] / "kartas" / "apps" / "v1" / "Deployment" / "karta.yaml"
SERVE = [sys.executable, "-m", "karta_interpreter", "serve", *NO_CATALOGUE]


PROGRAM = "from karta_interpreter.cli import main; main()"
# No line can be written to a full pipe, however long the program waits for that.
HURRIED = f"from karta_interpreter.webhook import log; log._FLUSH_SECONDS = 0.01; {PROGRAM}"


@contextmanager
def _forked(
    *arguments: str, stderr: tuple[int, int] | None = None, program: str = PROGRAM
) -> Iterator[tuple[ForkServerProcess, IO[bytes], IO[bytes]]]:
    """A server that is forked: the process, its stdout and its stderr."""
    with forked(program, "serve", "--grace-period", "0", *arguments, stderr_ends=stderr) as started:
        yield started


def _end(server: ForkServerProcess) -> int | None:
    """Wait for the end of a server, and return its exit code."""
    server.join(HANG)
    return server.exitcode


def _stop(server: ForkServerProcess) -> None:
    assert server.pid
    os.kill(server.pid, signal.SIGTERM)


def test_server_that_cannot_start_names_reason() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with _forked(*NO_CATALOGUE, "--port", port) as (server, stdout, stderr):
            said = stderr.read().decode()
            assert (_end(server), stdout.read()) == (1, b"")

    *_, last = said.splitlines()
    assert last.startswith("error: cannot listen on 127.0.0.1 port"), "after everything that was logged"


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is missing: install it")
@pytest.mark.parametrize("scheme", ["--https", "--plain-http"])
def test_printed_curl_line_works(files: Path, karta: Callable[..., str], scheme: str) -> None:
    (files / "bad.yaml").write_text(karta("Bad", replicas=".a |"))
    shutil.copy(DEPLOYMENT, files / "deployment.yaml")
    with _on_a_terminal(*NO_CATALOGUE, "--port", "0", scheme, "--kartas", str(files)) as (server, shown):
        said = _read_until(shown, "  curl ")
        answer = subprocess.run(said[-1], shell=True, capture_output=True, text=True, check=True)  # noqa: S602 - that is what a user does with it
        _stop(server)
        assert _end(server) == 0

    assert re.match(r"\d\d:\d\d:\d\d warning definition quarantined source=\S+ name=bad reasons=\[", said[1]), said
    assert json.loads(answer.stdout)["response"].get("replicas") == 3, answer.stdout
    text = "".join(said)
    assert "Listening on http" in text
    assert f"  {files}/karta.yaml\n" in text
    assert "Not usable" not in text, "the log has said so"


@contextmanager
def _on_a_terminal(*arguments: str) -> Iterator[tuple[ForkServerProcess, TextIO]]:
    """A server whose stderr is a terminal, and what is shown there."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("NO_COLOR", "1")
        with _forked(*arguments, stderr=os.openpty()) as (server, _, shown):
            yield server, io.TextIOWrapper(shown, encoding="utf-8")


def test_without_a_terminal_there_are_log_lines_alone() -> None:
    with _forked(*NO_CATALOGUE, "--port", "0", "--kartas", str(DEPLOYMENT)) as (server, _, stderr):
        said = stderr.readline(), stderr.readline()
        _stop(server)
        rest = stderr.read().decode().splitlines()
        assert _end(server) == 0
    assert json.loads(said[1])["message"] == "serving"
    assert [re.search(r"stopp(ing|ed)", each) is not None for each in rest] == [True, True]


@pytest.mark.slow
def test_server_with_closed_terminal_stops() -> None:
    ours, its = os.openpty()
    with reserved_port() as port:
        command = [*SERVE, "--port", str(port), "--grace-period", "0", "--plain-http"]
        server = subprocess.Popen(command, stderr=its)
        try:
            os.close(its)
            assert _answers(lambda: server.poll() is None, port)
            os.close(ours)
            server.send_signal(signal.SIGHUP)
            assert server.wait(HANG) == 0
        finally:
            server.kill()
            server.wait()


@rows(
    ("arguments", "message", "hint"),
    [
        pytest.param(("--plain-http", "--certificate-name", "a.example"), "certificate", "--plain-http", id="no TLS"),
        pytest.param(("--karta-api-group", "a.example"), "API group", "--cluster", id="a group"),
        pytest.param((), "no kind is served", "--kartas", id="no definitions"),
    ],
)
def test_settings_without_effect_are_named(arguments: tuple[str, ...], message: str, hint: str) -> None:
    with _forked(*NO_CATALOGUE, "--port", "0", *arguments) as (server, _, stderr):
        lines = [json.loads(stderr.readline()) for _ in range(3)]
        _stop(server)
    assert (lines[2]["level"], message in lines[2]["message"], hint in lines[2]["hint"]) == ("warning", True, True)


def _full_disk() -> tuple[int, int]:
    return os.open(os.devnull, os.O_RDONLY), os.open("/dev/full", os.O_WRONLY)


def _closed_pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    os.close(reading)
    return os.open(os.devnull, os.O_RDONLY), writing


def _full_pipe() -> tuple[int, int]:
    """A pipe that holds as much as it can, and that nothing reads."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for size in (4096, 1):
        with suppress(BlockingIOError):
            while True:
                os.write(writing, b"x" * size)
    os.set_blocking(writing, True)
    return reading, writing


STDERRS = [
    pytest.param(_full_disk, id="a full disk"),
    pytest.param(_closed_pipe, id="a pipe without a reader"),
    pytest.param(_full_pipe, id="a full pipe"),
]


@rows("stderr", STDERRS)
def test_server_runs_with_any_stderr(stderr: Callable[[], tuple[int, int]]) -> None:
    with reserved_port() as port:
        arguments = [*NO_CATALOGUE, "--port", str(port), "--plain-http"]
        with _forked(*arguments, stderr=stderr(), program=HURRIED) as (server, *_):
            assert _answers(server.is_alive, port)
            _stop(server)
            assert _end(server) == 0


@rows("stderr", STDERRS)
def test_server_that_cannot_start_ends_with_any_stderr(stderr: Callable[[], tuple[int, int]]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with _forked(*NO_CATALOGUE, "--port", port, stderr=stderr(), program=HURRIED) as (server, *_):
            assert _end(server) == 1


@pytest.mark.slow
def test_program_that_cannot_write_why_it_ends_has_its_exit_code() -> None:
    """Python itself writes to stderr once more when it ends."""
    with socket.create_server(("127.0.0.1", 0)) as taken, open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        command = [*SERVE, "--port", str(taken.getsockname()[1])]
        assert subprocess.run(command, stderr=full, check=False, timeout=HANG).returncode == 1


def _answers(is_alive: Callable[[], bool], port: int) -> bool:
    """Wait until the server answers, or has ended."""
    deadline = time.monotonic() + HANG
    while is_alive() and time.monotonic() < deadline:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
            return bool(answer.status == http.HTTPStatus.OK)
        time.sleep(0.05)
    return False


def _read_until(shown: TextIO, start: str) -> list[str]:
    lines: list[str] = []
    deadline = time.monotonic() + HANG
    while time.monotonic() < deadline and (line := shown.readline()):
        lines.append(line)
        if line.startswith(start):
            return lines
    pytest.fail("".join(lines))
