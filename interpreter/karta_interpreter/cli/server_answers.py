"""The answers of a running server: ``interpret --server``."""

import json
import ssl
import time
from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR
from threading import Timer
from urllib.parse import SplitResult, urlsplit

import orjson

from karta_interpreter.base.errors import RecordingError
from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.cli.calls import CallOutcome
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.engine.operations import SLOTS, Call
from karta_interpreter.webhook.wire.request import context_of
from karta_interpreter.webhook.wire.results import results_of

_SECONDS = 30.0
"""The time that a server has for all of an answer."""
_MOST_BYTES = 32 * 2**20
"""The longest answer. The server's own have half as many at most."""
_NOT_FOUND = 404
_LONGEST = 1000


def ask_server(url: str, call: Call, *, insecure: bool) -> tuple[CallOutcome, bool]:
    """Return a server's outcome of a call, asked as Karmada asks, and whether the server leaves the operation out.

    Raises Problem if the server cannot be asked.
    """
    if not url.startswith(("http://", "https://")):
        raise UsageProblem(f"error: --server {url}: write https://HOST:PORT")
    address = url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/interpret"
    context = ssl._create_unverified_context() if insecure else None  # noqa: S323, SLF001 - the user's wish
    begun = time.monotonic()
    try:
        status, content = _exchange(urlsplit(address), _body(call), context)
        if status == HTTPStatus.OK:
            return _outcome(call, orjson.loads(content)["response"])
        reason, hint = f"HTTP status {status}: {content[:_LONGEST].decode(errors='replace')}", ""
    except (LookupError, TypeError, AttributeError):
        reason, hint = "the answer is not that of an interpreter", ""
    except (OSError, HTTPException, ValueError) as error:
        reason = f"no whole answer in {_SECONDS:.0f} seconds" if time.monotonic() - begun >= _SECONDS else str(error)
        hint = "; --insecure accepts the certificate" if isinstance(error, ssl.SSLCertVerificationError) else ""
        if isinstance(error, ConnectionRefusedError):
            reason, hint = "no server listens there", "; start one with `karta-interpreter serve`, or check HOST:PORT"
    raise Problem(f"error: {address}: {reason}{hint}")


def _exchange(url: SplitResult, body: bytes, context: ssl.SSLContext | None) -> tuple[int, bytes]:
    """Return the status and the content of an answer, which follows no redirect: a call is a POST."""
    server = url.hostname or "", url.port
    secured = HTTPSConnection(*server, timeout=_SECONDS, context=context)
    with closing(secured if url.scheme == "https" else HTTPConnection(*server, timeout=_SECONDS)) as connection:
        # The timeout of a socket would begin anew with each byte that a server sends.
        timer = Timer(_SECONDS, _end, [connection])
        timer.start()
        try:
            target = f"{url.path}?{url.query}" if url.query else url.path
            connection.request("POST", target, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read(_MOST_BYTES + 1)
        finally:
            timer.cancel()
    if len(content) > _MOST_BYTES:
        raise ValueError(f"the answer has more than {_MOST_BYTES} bytes")
    return answer.status, content


def _end(connection: HTTPConnection) -> None:
    with suppress(AttributeError, OSError):  # there is no socket yet, or no longer
        connection.sock.shutdown(SHUT_RDWR)


def _body(call: Call) -> bytes:
    more: dict[str, dict[str, JSON]] = {
        "replicas": {"replicas": call.replicas},
        "observed": {"observedObject": call.observed},
        "components": {"components": [component._asdict() for component in call.components or ()]},
        "items": {"aggregatedStatus": [item.to_json() for item in call.items]},
    }
    metadata: Object = call.object.get("metadata") or {}
    named = {**call.object, "metadata": {name: metadata[name] for name in ("name", "namespace") if name in metadata}}
    context = context_of("1", call.operation, named, **more.get(SLOTS[call.operation].more, {}))
    return json.dumps({**context, "request": {**context["request"], "object": call.object}}).encode()


def _outcome(call: Call, answer: Object) -> tuple[CallOutcome, bool]:
    if not answer.get("successful"):
        status = answer.get("status") or {}
        return CallOutcome(call, error=str(status.get("message", "no reason"))), status.get("code") == _NOT_FOUND
    try:
        return CallOutcome(call, results_of(call, answer), reason="by the server"), False
    except RecordingError as error:
        return CallOutcome(call, error=str(error)), False
