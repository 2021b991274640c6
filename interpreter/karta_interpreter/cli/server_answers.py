"""The answers of a running server: ``interpret --server``."""

import json
import ssl
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from karta_interpreter.base.errors import RecordingError
from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.cli.calls import CallOutcome
from karta_interpreter.cli.files import is_url
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.engine.operations import SLOTS, Call
from karta_interpreter.webhook.wire.request import context_of
from karta_interpreter.webhook.wire.results import results_of

_SECONDS = 30.0
_NOT_FOUND = 404
_LONGEST = 1000


def ask_server(url: str, call: Call, *, insecure: bool) -> tuple[CallOutcome, bool]:
    """Return a server's outcome of a call, asked as Karmada asks, and whether the server leaves the operation out.

    Raises Problem if the server cannot be asked.
    """
    if not is_url(url):
        raise UsageProblem(f"error: --server {url}: write https://HOST:PORT")
    address = url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/interpret"
    request = Request(address, _body(call), {"Content-Type": "application/json"})  # noqa: S310 - is_url has checked it
    context = ssl._create_unverified_context() if insecure else None  # noqa: S323, SLF001 - the user's wish
    try:
        with urlopen(request, timeout=_SECONDS, context=context) as reply:  # noqa: S310 - as above
            answer = json.loads(reply.read())["response"]
    except HTTPError as error:
        with error:  # it is the answer, with an open connection
            text = error.read(_LONGEST).decode(errors="replace")
        raise Problem(f"error: {address}: HTTP status {error.code}: {text}") from error
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        hint = "; --insecure accepts the certificate" if isinstance(reason, ssl.SSLCertVerificationError) else ""
        if isinstance(reason, ConnectionRefusedError):
            reason, hint = "no server listens there", "; start one with `karta-interpreter serve`, or check HOST:PORT"
        raise Problem(f"error: {address}: {reason}{hint}") from error
    return _outcome(call, answer)


def _body(call: Call) -> bytes:
    more: dict[str, dict[str, JSON]] = {
        "replicas": {"replicas": call.replicas},
        "observed": {"observedObject": call.observed},
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
