"""Calls for the sake of the answer: what is asked, and whether Karmada could read what comes back."""

from collections.abc import Iterator
from http import HTTPStatus

import orjson

from karta_interpreter.doctor.result import Result, ok, problem, warning
from karta_interpreter.doctor.tls_client import Reply
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON
from karta_interpreter.operations import Operation
from karta_interpreter.wire.request import API_VERSION, KIND

READY = "/readyz"
NOBODY = GVK("doctor.karta-interpreter.io", "v1", "Nobody")
"""A kind for which there is no definition: asking for it shows the way there and back, and changes nothing."""

_READINESS, _CALL = "readiness", "call"
_SLOW = 0.5
"""Seconds from which Karmada writes a call to its own log (``customized.go``)."""
_UID = "doctor"


def call_body(gvk: GVK, operation: Operation) -> bytes:
    """A request as Karmada makes it, for an object that has nothing but a name."""
    obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {"name": "doctor", "namespace": "default"}}
    request = {
        "uid": _UID,
        "kind": {"group": gvk.group, "version": gvk.version, "kind": gvk.kind},
        "name": "doctor",
        "namespace": "default",
        "operation": operation,
        "object": obj,
        "replicas": 0,
    }
    return orjson.dumps({"apiVersion": API_VERSION, "kind": KIND, "request": request})


def judge_readiness(reply: Reply) -> Iterator[Result]:
    """Judge the answer to a look at `READY`."""
    if reply.status == HTTPStatus.OK:
        yield ok(_READINESS, "the server says that it is ready")
    elif reply.status == HTTPStatus.NOT_FOUND:
        advice = "fine if a proxy passes on calls alone; else this is another server: check host and port"
        yield warning(_READINESS, f"nobody serves {READY} there", advice)
    else:
        found = f"the server is not ready: HTTP {reply.status} {_message(_json(reply))}".rstrip()
        yield problem(_READINESS, found, "mend what it says; its log has more")


def judge_call(reply: Reply, patience: int | None) -> Iterator[Result]:
    """Judge the answer to a call for `NOBODY`; ``patience`` is the seconds that Karmada waits."""
    objection = _objection(reply)
    if objection:
        yield problem(_CALL, objection, "check that host, port and path are those of a karta-interpreter server")
        return
    milliseconds = f"{reply.seconds * 1000:.3g} ms"
    if patience is not None and reply.seconds >= patience:
        found = f"a call took {milliseconds}, longer than the {patience} s that Karmada waits"
        yield problem(_CALL, found, "give the server more CPU, and look for a slow proxy or network on the way")
    elif reply.seconds >= _SLOW:
        found = f"a call took {milliseconds}; every one of Karmada's few workers waits that long"
        yield warning(_CALL, found, "give the server more CPU, and look for a slow proxy or network on the way")
    else:
        yield ok(_CALL, f"a call is answered in Karmada's form, in {milliseconds}")


def is_defined(reply: Reply) -> bool:
    """Whether the answer to a call comes from a definition, be it an error."""
    return bool(_code(_json(reply)) != HTTPStatus.NOT_FOUND)


def _objection(reply: Reply) -> str:
    """Return what Karmada would reject (``request/resourceinterpretercontext.go``), or this server never answers."""
    answer = _json(reply)
    if not HTTPStatus.OK <= reply.status <= HTTPStatus.PARTIAL_CONTENT:
        return f"a call is refused: HTTP {reply.status} {_message(answer)}".rstrip()
    if not isinstance(answer, dict):
        return "the answer to a call is no JSON object"
    if (answer.get("apiVersion", API_VERSION), answer.get("kind", KIND)) != (API_VERSION, KIND):
        return f"the answer to a call is a {answer.get('kind')} of {answer.get('apiVersion')}, not a {KIND}"
    if edit.get(answer, ("response", "uid")) != _UID:
        return "the answer to a call has not the uid of its request"
    if _code(answer) != HTTPStatus.NOT_FOUND:
        return f"a call for the kind {NOBODY}, which does not exist, is not answered with 404"
    return ""


def _code(answer: JSON) -> JSON:
    return edit.get(answer, ("response", "status", "code"))


def _message(answer: JSON) -> str:
    """The message of a Kubernetes ``Status``, "" when the answer is none."""
    message = edit.get(answer, ("message",))
    return message if isinstance(message, str) else ""


def _json(reply: Reply) -> JSON:
    try:
        return orjson.loads(reply.body)
    except orjson.JSONDecodeError:
        return None
