"""One address from the first packet to the answer of a call."""

import socket
import ssl
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from karta_interpreter.doctor.address import Address
from karta_interpreter.doctor.certificate import judge_certificate, read_bundle
from karta_interpreter.doctor.exchange import NOBODY, READY, call_body, is_defined, judge_call, judge_readiness
from karta_interpreter.doctor.result import Level, Result, listed, ok, problem
from karta_interpreter.doctor.tls_client import SECONDS, ask, connect, shake_hands, verify
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.operations import Operation

_CONNECTION, _TLS, _CALL, _DEFINITIONS = "connection", "tls", "call", "definitions"
_UNSET = 30
"""Seconds that Karmada waits when nobody says how long."""
_INSIDE = (".svc", ".cluster.local")
_PORT_FORWARD = (
    "the name exists inside the host cluster only: run doctor in a pod there, or forward a port "
    "(kubectl port-forward) and add --url https://localhost:PORT"
)


async def examine_endpoint(
    address: Address, ca_bundle: str, patience: int | None, kinds: Sequence[GVK]
) -> list[Result]:
    """Dial an address, look at its certificate, and call it; ``kinds`` are those that it should know.

    ``patience`` is the seconds that Karmada waits, None when that is not set.

    A step that fails ends it, except a certificate that is not accepted: then the rest is looked at all the same.
    """
    try:
        await connect(address)
    except OSError as error:
        return [judge_connection(address, error)]
    results = [ok(_CONNECTION, f"{address} takes connections")]
    try:
        results += await _certificate(address, ca_bundle)
    except OSError as error:
        return [*results, judge_tls(address, error)]
    try:
        results += await _calls(address, patience, kinds)
    except OSError as error:
        results.append(judge_exchange(error))
    return results


def judge_connection(address: Address, error: OSError) -> Result:
    """Return the result about a connection that fails."""
    way = f" ({address.reason})" if address.reason else ""
    advice = f"; {address.advice}" if address.advice else ""
    if isinstance(error, socket.gaierror):
        inside = address.host.endswith(_INSIDE)
        hint = _PORT_FORWARD if inside else f"check the name, and DNS where Karmada's controllers run{advice}"
        return problem(_CONNECTION, f"the name {address.host} cannot be resolved from here{way}", hint)
    if isinstance(error, ConnectionRefusedError):
        hint = "check that the server runs, that its Service has endpoints (kubectl get endpointslices), and the port"
        return problem(_CONNECTION, f"nothing listens on {address}{way}", hint + advice)
    hint = "check firewalls and NetworkPolicies between Karmada's controllers and the server"
    what = f"no answer in {SECONDS:.0f} s" if isinstance(error, TimeoutError) else f"no way: {error}"
    return problem(_CONNECTION, f"{address}: {what}{way}", hint + advice)


def judge_tls(address: Address, error: OSError) -> Result:
    """Return the result about a handshake that fails with any certificate accepted."""
    reason = str(getattr(error, "reason", None) or str(error) or type(error).__name__).replace("_", " ").lower()
    if isinstance(error, TimeoutError):
        reason = f"no handshake in {SECONDS:.0f} s"
    found = f"{address} does not speak TLS as Karmada does: {reason}"
    return problem(
        _TLS, found, "serve HTTPS with TLS 1.2 or newer there; --plain-http is for behind something that does"
    )


def judge_exchange(error: OSError) -> Result:
    """Return the result about a call without an answer on a good connection."""
    if isinstance(error, TimeoutError):
        return problem(_CALL, f"a call has no answer after {SECONDS:.0f} s", "look at the server's log and its CPU")
    if isinstance(error, ssl.SSLError):
        advice = "do not ask for client certificates: Karmada has none"
        return problem(_CALL, f"the server ends the connection: {error.reason or error}", advice)
    return problem(_CALL, f"a call has no answer: {str(error) or type(error).__name__}", "look at the server's log")


def judge_definitions(known: Sequence[GVK], unknown: Sequence[GVK]) -> Iterator[Result]:
    """Judge that the server can answer for what is registered."""
    if unknown:
        found = f"registered, but the server has no definition of it: {listed(unknown)}"
        advice = "give it the definitions, or take the kinds out of the registration: every call for them is an error"
        yield problem(_DEFINITIONS, found, advice)
    elif known:
        each = "the kind that is" if len(known) == 1 else f"each of the {len(known)} kinds that are"
        yield ok(_DEFINITIONS, f"the server has a definition of {each} registered")


async def _certificate(address: Address, ca_bundle: str) -> list[Result]:
    seen = await shake_hands(address)
    results = [ok(_TLS, f"{address} speaks {seen.version}")]
    pem = read_bundle(ca_bundle)
    if isinstance(pem, Result):
        return [*results, pem]
    error = await verify(address, pem)
    judged = judge_certificate(seen.leaf, address.server_name, error, datetime.now(UTC), bundled=bool(pem))
    return [*results, *judged]


async def _calls(address: Address, patience: int | None, kinds: Sequence[GVK]) -> list[Result]:
    results = list(judge_readiness(await ask(address, READY)))
    target = f"{address.path}?timeout={patience or _UNSET}s"
    results += judge_call(await ask(address, target, call_body(NOBODY, Operation.INTERPRET_REPLICA)), patience)
    if results[-1].level is Level.PROBLEM:
        return results
    known: dict[GVK, bool] = {}
    for gvk in kinds:
        known[gvk] = is_defined(await ask(address, target, call_body(gvk, Operation.INTERPRET_STATUS)))
    return [*results, *judge_definitions([k for k in kinds if known[k]], [k for k in kinds if not known[k]])]
