"""One address from the first packet to the answer of a call, and whether Karmada could read the answer."""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from time import monotonic
from typing import TypeAlias

import orjson
from msgspec.structs import replace

from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s import GVK, JSON, edit
from karta_interpreter.base.k8s.pem import has_authority, read_certificates
from karta_interpreter.base.karmada import API_VERSION
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.doctor.certificate import judge_certificate, judge_unregistered, read_bundle
from karta_interpreter.webhook.doctor.connection import (
    SECONDS,
    DialAddress,
    Reply,
    ask,
    connect,
    shake_hands,
    verify,
)
from karta_interpreter.webhook.doctor.result import IS_IN_POD, CheckResult, Level, ok, problem, warning
from karta_interpreter.webhook.settings import option
from karta_interpreter.webhook.wire.request import KIND, SLOW, context_of

Kinds: TypeAlias = Mapping[GVK, Sequence[Operation]]
"""Kinds, each with the operations that are registered for it."""

_CONNECTION, _TLS, _READINESS, _CALL, _DEFINITIONS = "connection", "tls", "readiness", "call", "definitions"
READY = "/readyz"
UNDEFINED = GVK("doctor.karta-interpreter.io", "v1", "Nobody")
"""A kind without a definition: a call for it shows the way there and back, and changes nothing."""

_UNSET = 30
"""Seconds that Karmada waits if no timeout is set."""
_ALL_SECONDS = 60.0  # within this time, calls for further kinds begin
_SLOW_ADVICE = "give the server more CPU, and check for a slow proxy or network on the way"
_UID = "doctor"
_OTHER_SERVER = "check that host, port and path are those of a karta-interpreter server"
_CALL_ADVICE = {
    404: "register the path /interpret; if that is the path, another server answers: check host and port",
    401: "let calls through without credentials: Karmada has none; a proxy on the way asks for them",
    403: "let calls through without credentials: Karmada has none; a proxy on the way asks for them",
    502: "a proxy on the way does not reach the server: check its upstream, and that the server runs",
    503: "the server starts, stops or is overloaded, or a proxy does not reach it: check its log and its CPU",
    504: "a proxy on the way gets no answer in time: check the server's log and its CPU",
}
"""By HTTP status."""
_DOUBT_ADVICE = (
    f"correct the definition, or the name in {option('kinds')} or {option('without')}; a name is fine if its "
    "definition comes later; for Kartas that cannot be read install the chart of the control plane, and give both "
    "charts one kartaApiGroup; let the server list and watch the kinds that it may not look up"
)
_INSIDE = (".svc", ".cluster.local")
_PORT_FORWARD = (
    "the name exists inside the host cluster only: run doctor in a pod there, or forward a port "
    "(kubectl port-forward) and add --url https://localhost:PORT"
)


async def examine_endpoint(
    address: DialAddress, ca_bundle: str | None, limit: int | None, kinds: Kinds
) -> list[CheckResult]:
    """Dial an address, check its certificate, and call it. The server should know the ``kinds``.

    Each kind is asked one of its operations, because a kind that only has scripts does not answer others. ``limit`` is
    the seconds that Karmada waits, None if no timeout is set. If ``ca_bundle`` is None, only the dates of the
    certificate are checked. The first step that fails is the last one, except if only the certificate is rejected.
    """
    # Blocking sockets: on them each step can fail, and be named, by itself.
    return [
        replace(result, found=result.found[:1000])  # a server may name its certificate, or what is wrong, at any length
        for result in await asyncio.to_thread(_examine, address, ca_bundle, limit, kinds)
    ]


def _examine(address: DialAddress, ca_bundle: str | None, limit: int | None, kinds: Kinds) -> list[CheckResult]:
    try:
        connect(address)
    except OSError as error:
        return [judge_connection(address, error)]
    results = [ok(_CONNECTION, f"{address} takes connections")]
    try:
        results += _certificate(address, ca_bundle)
    except OSError as error:
        return [*results, judge_tls(address, error)]
    except ValueError as error:
        return [*results, problem("certificate", f"it cannot be parsed: {error}", "issue it in the form of RFC 5280")]
    try:
        results += _calls(address, limit, kinds)
    except OSError as error:
        results.append(judge_exchange(error))
    return results


def _certificate(address: DialAddress, ca_bundle: str | None) -> list[CheckResult]:
    leaf, version = shake_hands(address)
    results = [ok(_TLS, f"{address} speaks {version}")]
    if ca_bundle is None:
        return [*results, *judge_unregistered(leaf, datetime.now(UTC))]
    pem = read_bundle(ca_bundle)
    if isinstance(pem, CheckResult):
        return [*results, pem]
    return [
        *results,
        *judge_certificate(leaf, address.server_name, verify(address, pem), datetime.now(UTC), bundled=bool(pem)),
        *(
            [
                warning(
                    "certificate",
                    "the caBundle has no CA, but the certificate of a server, trusted until it is renewed",
                    "register the certificate of the CA that signed it",
                )
            ]
            if pem and not has_authority(read_certificates(pem.encode(), "the caBundle"))
            else []
        ),
    ]


def _calls(address: DialAddress, limit: int | None, kinds: Kinds) -> list[CheckResult]:
    results = list(judge_readiness(ask(address, f"{READY}?verbose")))
    target = f"{address.path}?timeout={limit or _UNSET}s"
    results += judge_call(ask(address, target, call_body(UNDEFINED, Operation.INTERPRET_REPLICA)), limit)
    # A server that is not ours would give the same objection for each of hundreds of kinds.
    if results[-1].level is Level.PROBLEM:
        return results
    probes = {gvk: next(iter(operations), Operation.INTERPRET_STATUS) for gvk, operations in kinds.items()}
    until = monotonic() + _ALL_SECONDS
    are_defined = {
        gvk: is_defined(ask(address, target, call_body(gvk, operation)))
        for gvk, operation in probes.items()
        if monotonic() < until
    }
    if undefined := len(probes) - len(are_defined):
        results.append(
            warning(
                _DEFINITIONS,
                f"{undefined} kinds are left out: the other {len(are_defined)} have taken {_ALL_SECONDS:.0f} s",
                _SLOW_ADVICE,
            )
        )
    results += judge_definitions(are_defined)
    return results


def call_body(gvk: GVK, operation: Operation) -> bytes:
    """Return a request in Karmada's form for an object that only has a name."""
    obj = {**gvk.type_meta, "metadata": {"name": "doctor", "namespace": "default"}}
    # Only Retain uses the observed object. Other operations ignore it.
    return orjson.dumps(context_of(_UID, operation, obj, observedObject=obj, replicas=0, components=[]))


def judge_connection(address: DialAddress, error: OSError) -> CheckResult:
    """Return the result about a connection that fails."""
    reason = f" ({address.reason})" if address.reason else ""
    advice = f"; {address.advice}" if address.advice else ""
    inside = address.host.endswith(_INSIDE) and not IS_IN_POD
    walls = "check firewalls and NetworkPolicies between Karmada's controllers and the server"
    rows: dict[type[OSError], tuple[str, str]] = {
        socket.gaierror: (
            f"the name {address.host} cannot be resolved from here",
            _PORT_FORWARD if inside else "check the name, and DNS where Karmada's controllers run",
        ),
        ConnectionRefusedError: (
            f"nothing listens on {address}",
            "check that the server runs, that its Service has endpoints (kubectl get endpointslices), and the port",
        ),
        TimeoutError: (f"{address}: no answer in {SECONDS:.0f} s", walls),
        OSError: (f"{address}: no connection: {error}", walls),
    }
    found, hint = next(row for kind, row in rows.items() if isinstance(error, kind))
    return problem(_CONNECTION, found + reason, hint + advice)


def judge_tls(address: DialAddress, error: OSError) -> CheckResult:
    """Return the result about a handshake that fails even though any certificate is accepted."""
    said = str(getattr(error, "reason", None) or str(error) or type(error).__name__).replace("_", " ").lower()
    reason = f"no handshake in {SECONDS:.0f} s" if isinstance(error, TimeoutError) else said
    return problem(
        _TLS,
        f"{address} does not speak TLS as Karmada does: {reason}",
        "serve HTTPS with TLS 1.2 or newer there; --plain-http is for behind a proxy that does",
    )


def judge_exchange(error: OSError) -> CheckResult:
    """Return the result about a call that gets no answer on a good connection."""
    rows: dict[type[OSError], tuple[str, str]] = {
        TimeoutError: (f"a call has no answer after {SECONDS:.0f} s", "check the server's log and its CPU"),
        ssl.SSLError: (
            f"the server ends the connection: {getattr(error, 'reason', None) or error}",
            "do not ask for client certificates: Karmada has none",
        ),
        OSError: (f"a call has no answer: {str(error) or type(error).__name__}", "check the server's log"),
    }
    return problem(_CALL, *next(row for kind, row in rows.items() if isinstance(error, kind)))


def judge_readiness(reply: Reply) -> Iterator[CheckResult]:
    """Check the answer of `READY`."""
    if reply.status == HTTPStatus.OK:
        yield ok(_READINESS, "the server is ready")
        head, *doubts = reply.body.decode(errors="replace").splitlines() or [""]
        for doubt in doubts[:30] if head == "ok" else ():
            yield warning(_READINESS, doubt, _DOUBT_ADVICE)
    elif reply.status == HTTPStatus.NOT_FOUND:
        yield warning(
            _READINESS,
            f"the server has no {READY}",
            "fine if a proxy forwards calls only; else this is another server: check host and port",
        )
    else:
        yield problem(
            _READINESS,
            f"the server is not ready: HTTP {reply.status} {_message(_json(reply))}".rstrip(),
            "fix the reason that it names; its log has more",
        )


def judge_call(reply: Reply, limit: int | None) -> Iterator[CheckResult]:
    """Check the answer to a call for `UNDEFINED`. ``limit`` is the seconds that Karmada waits."""
    objection = _objection(reply)
    if objection:
        yield problem(_CALL, objection, _CALL_ADVICE.get(reply.status, _OTHER_SERVER))
        return
    milliseconds = f"{reply.seconds * 1000:.3g} ms"
    if limit is not None and reply.seconds >= limit:
        yield problem(_CALL, f"a call took {milliseconds}, longer than the {limit} s that Karmada waits", _SLOW_ADVICE)
    elif reply.seconds >= SLOW:
        yield warning(_CALL, f"a call took {milliseconds}; each of Karmada's few workers waits that long", _SLOW_ADVICE)
    else:
        yield ok(_CALL, f"a call is answered in Karmada's form, in {milliseconds}")


def is_defined(reply: Reply) -> bool:
    """Return whether the answer to a call, possibly an error, comes from a definition."""
    # The objects of these calls only have a name, so a definition may well answer with an error.
    return bool(_code(_json(reply)) != HTTPStatus.NOT_FOUND)


def judge_definitions(are_defined: dict[GVK, bool]) -> Iterator[CheckResult]:
    """Check that the server has a definition of each registered kind."""
    unknown = [gvk for gvk, is_known in are_defined.items() if not is_known]
    if unknown:
        finding = f"registered, but the server has no definition of it: {listed(unknown)}"
        yield problem(
            _DEFINITIONS,
            finding,
            "give it the definitions, or take the kinds out of the registration: every call for them is an error",
        )
    elif are_defined:
        subject = "the kind that is" if len(are_defined) == 1 else f"each of the {len(are_defined)} kinds that are"
        yield ok(_DEFINITIONS, f"the server has a definition of {subject} registered")


def _objection(reply: Reply) -> str:
    """Return why Karmada rejects an answer (``resourceinterpretercontext.go``), or why it comes from another server."""
    answer = _json(reply)
    # The client of Kubernetes takes 200 to 206 as success (`rest.transformResponse`), and no other 2xx.
    if not HTTPStatus.OK <= reply.status <= HTTPStatus.PARTIAL_CONTENT:
        return f"a call is rejected: HTTP {reply.status} {_message(answer)}".rstrip()
    if not isinstance(answer, dict):
        return "the answer to a call is not a JSON object"
    if (answer.get("apiVersion", API_VERSION), answer.get("kind", KIND)) != (API_VERSION, KIND):
        # A deeply nested value has no text.
        names = [text for text in map(answer.get, ("kind", "apiVersion")) if isinstance(text, str)]
        return f"the answer to a call is a {' of '.join(names) or 'value without a kind'}, not a {KIND}"
    if edit.get(answer, ("response", "uid")) != _UID:
        return "the answer to a call has not the uid of its request"
    # Another webhook may well answer a kind that does not exist.
    if _code(answer) != HTTPStatus.NOT_FOUND:
        return f"a call for the kind {UNDEFINED}, which does not exist, is not answered with 404"
    return ""


def _code(answer: JSON) -> JSON:
    return edit.get(answer, ("response", "status", "code"))


def _message(answer: JSON) -> str:
    """Return the message of a Kubernetes ``Status``, "" for any other answer."""
    message = edit.get(answer, ("message",))
    return message if isinstance(message, str) else ""


def _json(reply: Reply) -> JSON:
    try:
        return orjson.loads(reply.body)
    except orjson.JSONDecodeError:
        return None
