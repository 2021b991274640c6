import dataclasses
import http
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import Result

from karta_interpreter.cli import serve
from karta_interpreter.server import Settings
from tests.waiting import HANG

Run = Callable[..., Result]
Stderr = AbstractContextManager[int]

# Loading the catalogue is half of the work of a start, and tests of the catalogue do it.
SERVE = [sys.executable, "-m", "karta_interpreter", "serve", "--no-catalogue"]


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """What `serve` would have started a server with."""
    taken: list[Settings] = []
    monkeypatch.setattr(serve, "run", lambda settings, **_: taken.append(settings))
    return taken


def test_without_flags_the_settings_are_the_defaults(run: Run, settings: list[Settings]) -> None:
    assert run("serve").exit_code == 0
    assert settings == [Settings()]


def test_every_setting_has_a_flag_and_a_variable() -> None:
    fields = {field.name for field in dataclasses.fields(Settings)}
    options = {option.name: option for option in serve.command.params}

    assert options.keys() == fields
    assert all(str(option.envvar).startswith("KARTA_INTERPRETER_") for option in options.values())


def test_kinds_can_be_chosen(run: Run, settings: list[Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("serve", "--kinds", "RayJob", "--kinds", "JobSet", "--without", "apps/v1/*").exit_code == 0
    monkeypatch.setenv("KARTA_INTERPRETER_WITHOUT", "apps/v1/* batch/v1/Job")
    assert run("serve").exit_code == 0
    assert settings == [
        Settings(kinds=("RayJob", "JobSet"), without=("apps/v1/*",)),
        Settings(without=("apps/v1/*", "batch/v1/Job")),
    ]


def test_flags_are_settings(run: Run, settings: list[Settings], tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b.yaml").touch()

    result = run(
        *("serve", "--host", "0.0.0.0", "--port", "0", "--no-catalogue", "--call-limit", "1.5"),  # noqa: S104 - only read
        *("--kartas", str(tmp_path / "a"), "--kartas", str(tmp_path / "b.yaml")),
        *("--overrides", str(tmp_path / "b.yaml"), "--overrides", str(tmp_path / "a")),
        *("--certificate-name", "one", "--certificate-name", "two", "--plain-http"),
    )

    assert result.exit_code == 0
    assert settings == [
        Settings(
            host="0.0.0.0",  # noqa: S104 - only compared
            port=0,
            folders=(tmp_path / "a", tmp_path / "b.yaml"),
            overrides=(tmp_path / "b.yaml", tmp_path / "a"),
            catalogue=False,
            certificate_names=("one", "two"),
            plain_http=True,
            call_limit=1.5,
        )
    ]


def test_variables_are_settings_and_flags_are_stronger(run: Run, settings: list[Settings], tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    env = {
        "KARTA_INTERPRETER_PORT": "1",
        "KARTA_INTERPRETER_HOST": "::1",
        "KARTA_INTERPRETER_KARTAS": f"{tmp_path}/a:{tmp_path}/b",
        "KARTA_INTERPRETER_CERTIFICATE_NAME": "one two",
        "KARTA_INTERPRETER_CATALOGUE": "false",
    }

    assert run("serve", "--port", "2", env=env).exit_code == 0
    assert settings == [
        Settings(
            host="::1",
            port=2,
            folders=(tmp_path / "a", tmp_path / "b"),
            certificate_names=("one", "two"),
            catalogue=False,
        )
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--kartas", "no-such-folder"], id="a folder that is missing"),
        pytest.param(["--overrides", "no-such-folder"], id="a folder of scripts that is missing"),
        pytest.param(["--port", "99999"], id="a port that cannot be"),
        pytest.param(["--workers", "2"], id="an option that is gone"),
        pytest.param(["--host", ""], id="a variable that is not set"),
        pytest.param(["--call-limit", "-1"], id="a negative time"),
        pytest.param(["--call-limit", "0"], id="no time for an answer"),
        pytest.param(["--header-timeout", "0"], id="no time for headers"),
        pytest.param(["--exchange-timeout", "0"], id="no time for a body"),
        pytest.param(["--certificate-interval", "0"], id="a look without a pause"),
        pytest.param(["--grace-period", "nan"], id="a time that is no number"),
        pytest.param(["--grace-period", "inf"], id="a time without end"),
        pytest.param(["--certificate-days", "nan"], id="a life that is no number"),
        pytest.param(["--authority-days", "1e7"], id="a life beyond what a certificate can say"),
    ],
)
def test_wrong_settings_are_exit_code_2(run: Run, settings: list[Settings], arguments: list[str]) -> None:
    assert run("serve", *arguments).exit_code == 2
    assert settings == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--port", "abc"], "'abc' is not a whole number from 0 to 65535.", id="no number"),
        pytest.param(["--port", "65536"], "'65536' is not a whole number from 0 to 65535.", id="too large"),
        pytest.param(["--body-limit", "0"], "'0' is not a whole number from 1 up.", id="without an upper bound"),
    ],
)
def test_a_number_names_its_range_in_words(run: Run, arguments: list[str], message: str) -> None:
    assert message in run("serve", *arguments).stderr


def test_a_server_that_cannot_start_says_why() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [*SERVE, "--port", str(taken.getsockname()[1])]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG)

    assert (result.returncode, result.stdout) == (1, "")
    *_, last = result.stderr.splitlines()
    assert last.startswith("error: cannot listen on 127.0.0.1 port"), "after everything that was logged"


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
@pytest.mark.parametrize("scheme", ["--https", "--plain-http"])
def test_the_line_to_try_it_works_as_printed(files: Path, karta: Callable[..., str], scheme: str) -> None:
    (files / "bad.yaml").write_text(karta("Bad", replicas=".a |"))
    command = [sys.executable, "-m", "karta_interpreter", "serve", "--port", "0", "--grace-period", "0", scheme]
    with subprocess.Popen([*command, "--kartas", str(files)], stderr=subprocess.PIPE, text=True) as server:
        try:
            said = _read_until(server, "  curl ")
            answer = subprocess.run(said[-1], shell=True, capture_output=True, text=True, check=True)  # noqa: S602 - that is what a user does with it
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(HANG) == 0

    assert json.loads(answer.stdout)["response"]["replicas"] == 3
    text = "".join(said)
    assert "Listening on http" in text
    assert f"  {files}/karta.yaml\n" in text
    assert f"Not usable: bad from {files}/bad.yaml" in text
    assert "bad.yaml:16:" in text


def test_a_server_whose_terminal_is_closed_stops() -> None:
    ours, its = os.openpty()
    with _reserved_port() as port:
        command = [*SERVE, "--port", str(port), "--grace-period", "0", "--plain-http"]
        server = subprocess.Popen(command, stderr=its)
        try:
            os.close(its)
            assert _answers(server, port)
            os.close(ours)
            server.send_signal(signal.SIGHUP)
            assert server.wait(HANG) == 0
        finally:
            server.kill()
            server.wait()


VARIABLES = [
    pytest.param("KARTA_INTERPRETER_PROT", "did you mean KARTA_INTERPRETER_PORT?", id="a typo"),
    pytest.param("KARTA_INTERPRETER_XYZ", "`karta-interpreter serve --help` lists the settings", id="like no setting"),
]


@pytest.mark.parametrize(("name", "hint"), VARIABLES)
def test_a_variable_that_is_no_setting_is_named(name: str, hint: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [*SERVE, "--port", str(taken.getsockname()[1])]
        env = os.environ | {name: "1", "KARTA_INTERPRETER_SERVICE_PORT_HTTPS": "443"}
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG, env=env)

    lines = [json.loads(line) for line in result.stderr.splitlines() if line.startswith("{")]
    warned = [(line["name"], line["hint"]) for line in lines if line["level"] == "warning"]
    assert warned == [(name, hint)]


@contextmanager
def _full_disk() -> Iterator[int]:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        yield full.fileno()


@contextmanager
def _closed_pipe() -> Iterator[int]:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


@contextmanager
def _full_pipe() -> Iterator[int]:
    """A pipe that holds as much as it can, and that nothing reads."""
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        with suppress(BlockingIOError):
            while True:
                os.write(writing, b"x" * 4096)
        with suppress(BlockingIOError):
            while True:
                os.write(writing, b"x")
        os.set_blocking(writing, True)
        yield writing
    finally:
        os.close(reading)
        os.close(writing)


STDERRS = [
    pytest.param(_full_disk, id="a full disk"),
    pytest.param(_closed_pipe, id="a pipe without a reader"),
    pytest.param(_full_pipe, id="a full pipe"),
]


@pytest.mark.parametrize("stderr", STDERRS)
def test_a_server_starts_and_ends_in_order_whatever_stderr_is(stderr: Callable[[], Stderr]) -> None:
    with _reserved_port() as port, stderr() as handle:
        command = [*SERVE, "--port", str(port), "--grace-period", "0", "--plain-http"]
        server = subprocess.Popen(command, stderr=handle)
        try:
            assert _answers(server, port)
            server.send_signal(signal.SIGTERM)
            assert server.wait(HANG) == 0
        finally:
            server.kill()
            server.wait()


@pytest.mark.parametrize("stderr", STDERRS)
def test_a_server_that_cannot_start_ends_whatever_stderr_is(stderr: Callable[[], Stderr]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, stderr() as handle:
        command = [*SERVE, "--port", str(taken.getsockname()[1])]
        assert subprocess.run(command, stderr=handle, check=False, timeout=HANG).returncode == 1


@contextmanager
def _reserved_port() -> Iterator[int]:
    """A port that no other process gets by chance: bound here, so that only a server that asks for it listens on it."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def _answers(server: "subprocess.Popen[bytes]", port: int) -> bool:
    """Wait until the server answers, or has ended."""
    deadline = time.monotonic() + HANG
    while server.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
            return bool(answer.status == http.HTTPStatus.OK)
        time.sleep(0.05)
    return False


def _read_until(server: "subprocess.Popen[str]", start: str) -> list[str]:
    assert server.stderr is not None
    lines: list[str] = []
    deadline = time.monotonic() + HANG
    while time.monotonic() < deadline and (line := server.stderr.readline()):
        lines.append(line)
        if line.startswith(start):
            return lines
    pytest.fail("".join(lines))
