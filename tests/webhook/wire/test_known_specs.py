"""An object whose spec is known is read as one that was never seen, wherever the same text stands."""

from typing import Any

import pytest

from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.operations import interpret
from karta_interpreter.webhook.wire import FastDecoded, FastDecoder, decode
from karta_interpreter.webhook.wire.known_specs import MARK
from tests.webhook.wire.test_fast_decoder import OPERATIONS, find, spelled

SPEC = '"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}}'
OTHER = '"spec":{"replicas":4}'
HEAD = '"apiVersion":"apps/v1","kind":"Deployment"'
OBJECT = {"apiVersion": "apps/v1", "kind": "Deployment"}


def body(text: str, operation: str = "InterpretReplica", beside: Any = None) -> bytes:
    return spelled(operation, OBJECT, f"{{{HEAD},{text}}}".encode(), beside)


def call(found: FastDecoded | None) -> tuple[Any, ...] | None:
    return tuple(found.request.call or ()) if found else None


@pytest.mark.parametrize("size", [1, 20_000])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_rest_of_an_object_is_read_anew(operation: str, size: int) -> None:
    decoder = FastDecoder(find)
    for number in range(4):
        status = f'"status":{{"replicas":{number},"conditions":[]}}'
        asked = body(f'"metadata":{{"generation":{number},"x":"{"x" * size}"}},{SPEC},{status}', operation)
        found = decoder.read(asked)
        assert call(found) == call(FastDecoder(find).read(asked))
    if found and found.asked:
        assert found.asked[2], "the spec is known"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'"metadata":{{"x":1,{SPEC}}},{OTHER}', id="in its metadata, and another spec"),
        pytest.param(f'"metadata":{{"x":1,{SPEC}}}', id="in its metadata, and no spec"),
        pytest.param(f'"metadata":{{"labels":{{"x":"1",{SPEC}}}}},{SPEC}', id="in what is read of its metadata"),
        pytest.param(f'"metadata":{{}},{SPEC},{OTHER}', id="with a second spec after it"),
        pytest.param(f'"metadata":{{}},{OTHER},{SPEC}', id="with another spec before it"),
        pytest.param(f'{SPEC[:-1]},"more":1}}', id="with one more field"),
        pytest.param(f'"metadata":{{}},{SPEC}]', id="before what is no JSON"),
        pytest.param(f'"metadata":"\\",{SPEC}', id="after a backslash"),
        pytest.param('"metadata":{},"spec":null', id="as null"),
        pytest.param(f'"metadata":{{}},"spec":"{MARK}"', id="as the mark itself"),
    ],
)
@pytest.mark.parametrize("operation", ["InterpretReplica", "InterpretDependency", "ReviseReplica"])
def test_the_text_of_a_known_spec_elsewhere(operation: str, text: str) -> None:
    decoder = FastDecoder(find)
    for _ in range(3):
        assert decoder.read(body(SPEC, operation))
    asked = body(text, operation)
    for _ in range(3):
        assert call(decoder.read(asked)) == call(FastDecoder(find).read(asked))


def test_the_spec_of_the_observed_object_is_not_that_of_the_object() -> None:
    decoder = FastDecoder(find)
    for _ in range(3):
        assert decoder.read(body(SPEC, "Retain", OBJECT))
    asked = body('"metadata":{}', "Retain", {**OBJECT, "spec": {"replicas": 3}})
    assert call(decoder.read(asked)) == call(FastDecoder(find).read(asked))


def test_a_spec_is_known_while_the_observed_object_changes() -> None:
    decoder = FastDecoder(find)
    for number in range(4):
        observed = {**OBJECT, "metadata": {"resourceVersion": f"{number}"}, "status": {"replicas": number}}
        found = decoder.read(body(SPEC, "Retain", observed))
    assert found
    assert found.asked
    assert found.asked[2], "the spec is known, though there is no status at its end"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_spec_that_changes_now_and_then(operation: str) -> None:
    decoder = FastDecoder(find)
    for number in (0, 1, 2, 2, 2, 3, 3, 2, 3, 3, 3, 0):
        status = f'"status":{{"replicas":{number}}}'
        asked = body(f"{SPEC.replace('3', f'{number}', 1)},{status}", operation)
        for _ in range(2):
            assert call(decoder.read(asked)) == call(FastDecoder(find).read(asked))


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("[.[]] | length", id="all values of the object"),
        pytest.param("[.[]?.replicas?] | add", id="a field of each value"),
    ],
)
def test_decoder_reads_root_elements_when_object_comes_again(expression: str) -> None:
    root = {"name": "deployment", "kind": {"group": "apps", "version": "v1", "kind": "Deployment"}}
    root |= {
        "specDefinition": {"podTemplateSpecPath": ".spec.template"},
        "scaleDefinition": {"replicasPath": expression},
    }
    root["statusDefinition"] = {
        "statusMappings": {"running": [{"byPhase": "Running"}]},
        "phaseDefinition": {"path": ".p"},
    }
    karta = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "deployments"}}
    definition = load_definition({**karta, "spec": {"structureDefinition": {"rootComponent": root}}})
    decoder = FastDecoder(lambda _: definition)
    request = body(f'"metadata":{{}},{SPEC},"status":{{"replicas":3}}')
    decoded = [decoder.read(request) for _ in range(4)]
    answers = [interpret(definition, one.request.call) for one in decoded if one and one.request.call]
    whole = decode(request).call
    assert whole
    assert answers == [interpret(definition, whole)] * 4
