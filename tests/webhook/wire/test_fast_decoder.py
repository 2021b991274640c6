"""A request that was read in parts gets the answer of the same request read as a whole."""

import copy
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st
from msgspec import structs

from karta_interpreter.base.errors import InterpretationError, RequestError
from karta_interpreter.base.k8s.projection import Projection, Read, reader
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.catalogue import catalogue_kinds
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Operation, Options, interpret
from karta_interpreter.engine.operations.dispatch import projection_of
from karta_interpreter.engine.operations.interpretation import has_scripts_alone
from karta_interpreter.webhook.wire import FastDecoder, Request, decode, encode_results, fast_decoder
from tests.catalogue.entries import entries_of
from tests.support.examples import EXAMPLES, few
from tests.support.rows import rows

OPERATIONS = tuple(operation.value for operation in Operation)
EVERYTHING = Options(resource_quota_estimate=True)
JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2.5,
    1e300,
    2**63,
    10**30,
    "",
    "x",
    "3",
    "ü",
    [],
    {},
    [1],
    [None],
    {"name": "x"},
    [{"type": "A"}],
)
SPLINTERS: tuple[bytes, ...] = (
    b"", b" ", b"\t", b"\n", b"\0", b"0", b"9", b"1e9", b".", b"-", b":", b",", b'"', b"\\", b"{", b"}", b"[", b"]",
)  # fmt: skip
SPLINTERS += (b"\xff", b"\xc3\xbc", b"\\u0073", b"\\ud800", b"null", b'"spec":1,', b"9" * 30, b"[" * 300 + b"]" * 300)


KINDS = catalogue_kinds()
FEW = few(sorted(KINDS), __name__)


@cache
def known(gvk: GVK) -> tuple[Definition, Sequence[dict[str, Any]]]:
    """Return the definition of a kind of the catalogue, with the objects of its suites, each once."""
    (entry,) = (each for each in entries_of(KINDS[gvk]) if each.loaded.gvk == gvk)
    assert entry.definition
    texts = dict.fromkeys(json.dumps(case.call.object) for case in entry.cases)
    return entry.definition, [json.loads(text) for text in texts]


def find(gvk: GVK) -> Definition | None:
    return known(gvk)[0] if gvk in KINDS else None


GLANCE = FastDecoder(find)


@pytest.fixture(autouse=True)
def _room_for_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of other files leave types in this process, for which its decoders would read nothing in parts."""
    monkeypatch.setattr(fast_decoder, "MOST_TYPES", sys.maxsize)


def spelled(operation: str, obj: dict[str, Any], text: bytes | None = None, beside: Any = None) -> bytes:
    """Spell a request as Go does for Karmada; ``beside`` is what some operations need next to the object."""
    group, _, version = obj["apiVersion"].rpartition("/")
    kind = json.dumps({"group": group, "version": version, "kind": obj["kind"]}, separators=(",", ":"))
    head = (
        '{"kind":"ResourceInterpreterContext","apiVersion":"config.karmada.io/v1alpha1","request":{"uid":"a-1",'
        f'"kind":{kind},"name":"rye","namespace":"bakery","operation":"{operation}","object":'
    )
    before, replicas, after = b"", 0, b""
    if operation == "Retain":
        before = b',"observedObject":' + written(obj if beside is None else beside)
    elif operation == "ReviseReplica":
        replicas = 7 if beside is None else beside
    elif operation == "AggregateStatus":
        after = b',"aggregatedStatus":' + written(reported(obj) if beside is None else beside)
    elif operation == "ReviseComponents":
        after = b',"components":' + written([{"name": "worker", "replicas": 3}] if beside is None else beside)
    return b'%b%b%b,"replicas":%d%b}}\n' % (
        head.encode(),
        written(obj) if text is None else text,
        before,
        replicas,
        after,
    )


def written(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def reported(obj: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what two clusters report of an object, the second one without saying more than it has to."""
    status = obj.get("status") or {"replicas": 1}
    return [{"clusterName": "one", "status": status, "applied": True}, {"clusterName": "two", "status": status}]


def answer(request: Request) -> bytes | str:
    if request.problem or request.gvk is None or request.call is None:
        return str(request.problem)
    definition = find(request.gvk)
    try:
        if definition is None:
            return "unknown"
        # Scripts can answer with the address of a table, or with a name that is made from its hash.
        return re.sub(
            b"0x[0-9a-f]+(-0-[0-9a-f]+)?", b"", encode_results(request, interpret(definition, request.call, EVERYTHING))
        )
    except InterpretationError as error:
        return str(error)


def whole(body: bytes) -> tuple[Any, ...]:
    try:
        request = decode(body)
    except RequestError as error:
        return (str(error),)
    return (*structs.astuple(request)[:-2], answer(request))


def in_parts(body: bytes) -> tuple[Any, ...]:
    glanced = GLANCE.read(body)
    if glanced is None:
        return whole(body)
    request, definition = glanced.request, glanced.definition
    assert definition is find(request.gvk or definition.gvk)
    return (*structs.astuple(request)[:-2], answer(request))


ABOUT_MORE = ("ReviseReplica", "ReviseComponents", "Retain", "AggregateStatus")


@pytest.mark.sweep
@pytest.mark.parametrize("gvk", FEW, ids=str)
@rows("operation", OPERATIONS)
def test_fast_decoder_agrees_for_catalogue(gvk: GVK, operation: str) -> None:
    definition, objects = known(gvk)
    is_own = definition.answers(operation) and not definition.scripts.of(operation)
    reads_all = definition.uses_bounded or definition.references or not is_own
    if has_scripts_alone(definition, operation) and operation not in ABOUT_MORE:
        reads_all = False
    chance = random.Random(str(gvk))  # noqa: S311 - the same junk every time
    for number, obj in enumerate(objects[: max(1, EXAMPLES // 5)]):
        assert (GLANCE.read(spelled(operation, obj)) is None) is bool(reads_all)
        others = [spoilt(chance, obj)] if number < max(1, EXAMPLES // 6) else []
        for one in () if reads_all else (obj, *others):
            # A set: of most operations these are the same.
            for body in {spelled(operation, one), spelled(operation, one, beside=beside(chance, operation, obj))}:
                assert in_parts(body) == whole(body)


def beside(chance: random.Random, operation: str, obj: dict[str, Any]) -> Any:
    """Return something that is asked next to an object, with junk in it."""
    if operation == "Retain":
        return spoilt(chance, obj)
    if operation == "AggregateStatus":
        return spoilt(chance, {"items": reported(obj)})["items"]
    if operation == "ReviseComponents":
        several = [{"name": "worker", "replicas": 3}, {"name": "head", "replicas": 1}]
        return spoilt(chance, {"components": several})["components"]
    return chance.choice((0, 1, 2, 40, 2**31 - 1, 2**31))


def test_unread_fields_are_omitted() -> None:
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": "bakery", "managedFields": [{"manager": "kubectl"}]},
        "spec": {
            "replicas": 3,
            "paused": True,
            "template": {"spec": {"containers": [{"name": "web", "image": "web"}]}},
        },
    }
    glanced = GLANCE.read(spelled("InterpretReplica", obj))
    assert glanced
    assert glanced.request.call
    assert glanced.request.call.object == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": "bakery"},
        "spec": {"replicas": 3, "template": {"spec": {"containers": [{}]}}},
    }


@rows(
    "body",
    [
        pytest.param(lambda body: body.replace(b'"uid"', b' "uid"'), id="a space"),
        pytest.param(lambda body: body.replace(b"}}\n", b"}}"), id="no line feed"),
        pytest.param(lambda body: body.replace(b'"a-1"', b'"a\\u002d1"'), id="an escape"),
        pytest.param(lambda body: body.replace(b'"replicas":0', b'"uid":"b-2"'), id="a field that comes again"),
        pytest.param(lambda body: body.replace(b'"replicas":0', b'"replica":0'), id="a field that nobody knows"),
        pytest.param(
            lambda body: body.replace(b"InterpretReplica", b"ReviseReplica").replace(b":0}", b":0.0}"), id="no integer"
        ),
        pytest.param(lambda body: body.replace(b"InterpretReplica", b"Retain"), id="an object that is missing"),
        pytest.param(lambda body: body.replace(b"InterpretReplica", b"Invented"), id="an unknown operation"),
        pytest.param(lambda body: body.replace(b"Deployment", b"Department"), id="an unknown kind"),
        pytest.param(lambda body: body.replace(b'"Deployment"},"replicas"', b'"Pod"},"replicas"'), id="another kind"),
        pytest.param(lambda body: body[:-20], id="an end that is missing"),
    ],
)
def test_unusual_body_is_left_to_full_decoder(body: Any) -> None:
    assert GLANCE.read(body(spelled("InterpretReplica", {"apiVersion": "apps/v1", "kind": "Deployment"}))) is None


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(below, (*place, key))


def spoilt(chance: random.Random, obj: dict[str, Any]) -> dict[str, Any]:
    """Put junk into some places."""
    value: Any = json.loads(json.dumps(obj))
    for _ in range(chance.randint(1, 3)):
        *parents, last = chance.choice([place for place in places(value) if place[0] not in ("apiVersion", "kind")])
        owner = value
        for key in parents:
            owner = owner[key]
        owner[last] = copy.deepcopy(chance.choice(JUNK))
    return dict(value)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A request with up to two stretches of its object's bytes replaced."""
    gvk = draw(st.sampled_from(FEW))
    text = json.dumps(draw(st.sampled_from(known(gvk)[1])), separators=(",", ":")).encode()
    body = spelled(draw(st.sampled_from(OPERATIONS)), {"apiVersion": gvk.api_version, "kind": gvk.kind}, text)
    for _ in range(draw(st.integers(1, 2))):
        start = draw(st.integers(0, len(body)))
        end = start + draw(st.integers(0, 4))
        body = body[:start] + draw(st.sampled_from(SPLINTERS)) + body[end:]
    return body


@given(body=damaged())
def test_damage_is_met_in_the_same_way(body: bytes) -> None:
    assert in_parts(body) == whole(body)


@rows(
    ("unread", "read", "at_a_glance"),
    [
        pytest.param(1000, 1000, True, id="an ordinary object"),
        pytest.param(1_000_000, 1000, True, id="a large one of which little is read"),
        pytest.param(1_050_000, 1000, False, id="one so large that skipping takes long"),
        pytest.param(1000, 66_000, False, id="one of which so much is read that answering takes long"),
    ],
)
def test_large_body_is_left_to_full_decoder(unread: int, read: int, at_a_glance: bool) -> None:
    meta = {"apiVersion": "apps/v1", "kind": "Deployment"}
    template = {"spec": {"nodeSelector": {"zone": "z" * read}}}
    body = spelled("InterpretReplica", {**meta, "spec": {"template": template}, "unread": "u" * unread})
    assert (FastDecoder(find).read(body) is not None) is at_a_glance


@rows(
    ("tolerations", "at_a_glance"),
    [
        pytest.param([{"key": "k" * 50}] * 1000, True, id="60 KB of few values"),
        pytest.param([{}] * 15_000, False, id="45 KB of so many values that answering takes long"),
        pytest.param([{}] * 10_000, True, id="30 KB, which cannot be as many"),
    ],
)
def test_so_are_many_small_values(tolerations: list[Any], *, at_a_glance: bool) -> None:
    spec = {"template": {"spec": {"tolerations": tolerations}}}
    body = spelled("InterpretReplica", {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec})
    assert (FastDecoder(find).read(body) is not None) is at_a_glance


def test_large_text_is_decoded_after_another_whose_parts_were_too_large() -> None:
    def body(read: int, unread: int) -> bytes:
        spec = {"template": {"spec": {"nodeSelector": {"zone": "z" * read}}}}
        obj = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec, "unread": "u" * unread}
        return spelled("InterpretReplica", obj)

    glance = FastDecoder(find)
    assert glance.read(body(66_000, 0)) is None
    assert glance.read(body(10, 70_000))


def test_decoder_keeps_what_it_learned_about_definition_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = list[str]()
    project = projection_of

    def projection(definition: Definition, operation: Operation) -> Projection | None:
        learned.append(definition.gvk.kind)
        return project(definition, operation)

    monkeypatch.setattr(fast_decoder, "projection_of", projection)
    kinds = [GVK("apps", "v1", kind) for kind in ("Deployment", "StatefulSet", "DaemonSet")]
    bodies = [spelled("InterpretHealth", {"apiVersion": "apps/v1", "kind": gvk.kind}) for gvk in kinds]
    served = {gvk: known(gvk)[0] for gvk in kinds}
    decoder = FastDecoder(served.get)
    assert all(map(decoder.read, bodies))
    changed = replace(served[kinds[1]], name="changed")
    decoder.use({kinds[0]: served[kinds[0]], kinds[1]: changed}.get)
    decoded = [decoder.read(body) for body in bodies]
    assert [each and each.definition for each in decoded] == [served[kinds[0]], changed, None]
    assert learned == ["Deployment", "StatefulSet", "DaemonSet", "StatefulSet"]


def test_readers_of_same_parts_share_their_types() -> None:
    def read(*paths: str) -> Read:
        projection = Projection()
        projection.take(*paths)
        return reader({"object": projection, "replicas": None})

    def count() -> int:
        return len(dict.__subclasses__())

    kept = [read("spec.sharedTemplate.spec.nodeName", "spec.sharedCounts[].value")]
    there = count()
    kept.append(read("spec.sharedCounts[].value", "spec.sharedTemplate.spec.nodeName"))
    assert count() == there
    # The object and its spec.
    kept.append(read("spec.sharedCounts[].value", "spec.sharedTemplate.spec.nodeName", "spec.shared"))
    assert count() == there + 2
    texts = [each(b'{"object": {"spec": {"shared": 1, "sharedCounts": [{"value": 2}]}}}')[1] for each in kept]
    narrow, wide = (
        b'[{"spec":{"sharedCounts":[{"value":2}]}},null]',
        b'[{"spec":{"shared":1,"sharedCounts":[{"value":2}]}},null]',
    )
    assert texts == [narrow, narrow, wide]


def test_numbers_beyond_doubles_are_not_noticed_where_nobody_reads() -> None:
    text = b'{"apiVersion":"apps/v1","kind":"Deployment","spec":{"unread":1e999}}'
    body = spelled("InterpretReplica", {"apiVersion": "apps/v1", "kind": "Deployment"}, text)
    assert GLANCE.read(body)
    with pytest.raises(RequestError):
        decode(body)


SCRIPTED = spelled(
    "InterpretReplica", {"apiVersion": "machinelearning.seldon.io/v1", "kind": "SeldonDeployment", "spec": {}}
)


def test_object_of_script_stays_text() -> None:
    decoded = GLANCE.read(SCRIPTED)
    assert decoded
    assert decoded.by_script
    assert decoded.request.call
    obj = {"apiVersion": "machinelearning.seldon.io/v1", "kind": "SeldonDeployment", "spec": {}}
    assert orjson.loads(orjson.dumps(decoded.request.call.object)) == obj


@rows(
    "body",
    [
        pytest.param(SCRIPTED.replace(b'"spec":{}', b'"spec":{"a":"\xff"}'), id="no UTF-8"),
        pytest.param(SCRIPTED.replace(b'"spec":{}', b'"spec":{"a":[1}'), id="no JSON"),
        pytest.param(SCRIPTED.replace(b'"spec":{}', b'"spec":{"a":"' + b"x" * 2**17 + b'"}'), id="too large"),
        pytest.param(SCRIPTED.replace(b'"spec":{}}', b'"spec":{}},"uid":"b-2"'), id="a field that comes again"),
        pytest.param(SCRIPTED.replace(b'SeldonDeployment","spec"', b'CloneSet","spec"'), id="another kind"),
        pytest.param(SCRIPTED.replace(b'"kind":"SeldonDeployment","spec"', b'"spec"'), id="no kind"),
        pytest.param(SCRIPTED.replace(b'"object":{', b'"object":[{').replace(b"{}}", b"{}}]"), id="no object"),
    ],
)
def test_unusual_body_is_read_as_a_whole_for_a_script_too(body: bytes) -> None:
    assert body != SCRIPTED
    assert GLANCE.read(body) is None
