"""Answers of a running server are those of the command line."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socket import socket
from typing import ClassVar
from urllib.parse import quote, unquote

import pytest
from click.testing import Result

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.cli import server_answers
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import interpret
from karta_interpreter.webhook.wire.request import decode
from karta_interpreter.webhook.wire.response import encode_failure, encode_results
from tests.support.serving import serving

Run = Callable[..., Result]

_OBJECT = str(Path(__file__).parents[1] / "catalogue" / "manifests" / "raycluster.yaml")


class _Webhook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = decode(self.rfile.read(int(self.headers["Content-Length"])))
        entry = find_in_catalogue(request.gvk) if request.gvk else None
        try:
            assert request.call
            assert entry
            body = encode_results(request, interpret(entry.definition, request.call))
        except InterpretationError as error:
            body = encode_failure(request.uid, error.code, str(error))
        self.send_response(200 if self.path == "/interpret" else 404)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def url() -> Iterator[str]:
    with serving(_Webhook) as address:
        yield address


def test_server_gives_the_answers_of_the_command_line(run: Run, url: str) -> None:
    arguments = ("interpret", _OBJECT, "--desired-replica", "5", "-o", "json")
    served, own = run(*arguments, "--server", url), run(*arguments)
    assert json.loads(served.stdout)["operations"] == json.loads(own.stdout)["operations"]
    assert json.loads(served.stdout)["server"] == url


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(("--server", "{url}/other"), 1, "HTTP status 404", id="another path"),
        pytest.param(("--insecure",), 2, "name it with --server URL", id="insecure without a server"),
        pytest.param(("--server", "127.0.0.1:1"), 2, "write https://HOST:PORT", id="no scheme"),
        pytest.param(("--server", "{url}", "--explain"), 2, "answers from its own definitions", id="explain"),
        pytest.param(("--server", "http://127.0.0.1:1"), 1, "http://127.0.0.1:1/interpret: ", id="nobody listens"),
    ],
)
def test_server_that_cannot_be_asked_is_a_problem(
    run: Run, url: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = run("interpret", _OBJECT, *(argument.replace("{url}", url) for argument in arguments))
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


class _Hostile(BaseHTTPRequestHandler):
    """Answers a POST with the text in its path, and remembers what it is asked after a redirect."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        how, _, text = unquote(self.path[1:]).partition(" ")
        self.send_response(302 if how == "redirect" else 200)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        with suppress(OSError):
            for _ in range(10_000 if how == "without-end" else 1):
                self.wfile.write(text.encode() * (1000 if how == "without-end" else 1))
                self.wfile.flush()
            for _ in range(1000 if how == "slow" else 0):
                self.wfile.write(b" ")
                time.sleep(0.05)

    def do_GET(self) -> None:
        self.asked.append(self.path)


_DEEP = "[" * 900 + "]" * 900


def _answered(fields: str) -> str:
    more = '"replicas": 1, "healthy": true, "rawStatus": {}, "dependencies": []'
    return f'now {{"response": {{"successful": true, {more}, {fields}}}}}'


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("now []", "not that of an interpreter", id="a list"),
        pytest.param('now "x"', "not that of an interpreter", id="a text"),
        pytest.param('now {"response": []}', "not that of an interpreter", id="a list as response"),
        pytest.param('now {"response": {"status": "x"}}', "not that of an interpreter", id="a text as status"),
        pytest.param(f'now {{"response": {_DEEP}}}', "not that of an interpreter", id="900 levels"),
        pytest.param(_answered('"components": 7'), "cannot be read", id="components that are none"),
        pytest.param(_answered('"replicaRequirements": "x"'), "cannot be read", id="requirements that are none"),
        pytest.param("slow {", "no whole answer in 0 seconds", id="a byte now and then"),
        pytest.param("without-end {", "more than 1000000 bytes", id="an answer without end"),
        pytest.param("redirect x", "HTTP status 302", id="a redirect"),
    ],
)
def test_hostile_server_is_a_problem_soon(run: Run, path: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_answers, "_SECONDS", 0.4 if path.startswith("slow") else 30)
    monkeypatch.setattr(server_answers, "_MOST_BYTES", 1_000_000)
    with serving(_Hostile) as url:
        result = run("interpret", _OBJECT, "--server", f"{url}/{quote(path)}")
    assert result.exit_code == 1, result.output
    assert message in result.output
    assert _Hostile.asked == []


def test_server_that_does_not_listen_is_named_with_what_to_do(run: Run) -> None:
    with socket() as unused:
        unused.bind(("127.0.0.1", 0))
        result = run("interpret", _OBJECT, "--server", f"http://127.0.0.1:{unused.getsockname()[1]}")

    assert result.exit_code == 1
    assert "no server listens there; start one with `karta-interpreter serve`" in result.output
