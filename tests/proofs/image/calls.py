"""Calls to a server in the image, and what this checkout answers to the same ones."""

import http.client
import ssl
from collections.abc import Iterator

from msgspec import structs
from msgspec.structs import replace

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.operations import Operation, TargetComponent, interpret
from karta_interpreter.engine.suites.suite import Case, find_suites, load_suite
from karta_interpreter.webhook.wire import decode, encode_failure, encode_results
from tests.proofs.image.building import ROOT
from tests.support.waiting import HANG
from tests.webhook.process.conversations import spoken


def cases() -> list[Case]:
    """Return one case of each kind of the catalogue for each operation, of those that look nothing up.

    The suites answer InterpretComponent. ReviseComponents gets those components, with one replica more each.
    """
    found: dict[tuple[object, object, Operation], Case] = {}
    for suite in find_suites(ROOT / "kartas"):
        for case in load_suite(suite):
            thing = case.call.object
            if not case.references:
                found.setdefault((thing["apiVersion"], thing["kind"], case.call.operation), case)
    divided = (case for case in found.values() if case.call.operation is Operation.INTERPRET_COMPONENT)
    return [*found.values(), *map(_revising_components, divided)]


def _revising_components(case: Case) -> Case:
    """Return a case that asks for one replica more of each component that ``case`` expects."""
    components = TargetComponent.several(case.expected.get("components", []), "components")
    more = [TargetComponent(name, replicas + 1) for name, replicas in components]
    return replace(case, call=structs.replace(case.call, operation=Operation.REVISE_COMPONENTS, components=more))


def expected(body: bytes) -> bytes:
    """Return what this checkout answers."""
    request = decode(body)
    assert request.call
    assert request.gvk
    entries = {entry.definition.gvk: entry.definition for entry in load_catalogue().entries}
    try:
        return encode_results(request, interpret(entries[request.gvk], request.call))
    except InterpretationError as error:
        return encode_failure(request.uid, error.code, str(error))


class Caller:
    """A connection to a server that is trusted whatever its certificate is."""

    def __init__(self, port: int) -> None:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=HANG)

    def get(self, path: str) -> tuple[int, bytes]:
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def post(self, body: bytes) -> bytes:
        self._connection.request("POST", "/interpret?timeout=30s", body, {"Content-Type": "application/json"})
        return self._connection.getresponse().read()

    def close(self) -> None:
        self._connection.close()


def pairs(several: list[Case]) -> Iterator[tuple[Case, bytes, bytes]]:
    """Yield the body of each request and what is expected of it."""
    for case in several:
        body = spoken(case.call)
        yield case, body, expected(body)
