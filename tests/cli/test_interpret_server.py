"""Answers of a running server are those of the command line."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socket import socket

import pytest
from click.testing import Result

from karta_interpreter.base.errors import InterpretationError
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


def test_server_that_does_not_listen_is_named_with_what_to_do(run: Run) -> None:
    with socket() as unused:
        unused.bind(("127.0.0.1", 0))
        result = run("interpret", _OBJECT, "--server", f"http://127.0.0.1:{unused.getsockname()[1]}")

    assert result.exit_code == 1
    assert "no server listens there; start one with `karta-interpreter serve`" in result.output
