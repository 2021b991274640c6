import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import RequestError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from karta_interpreter.webhook.wire import decode
from karta_interpreter.webhook.wire.request import context_of
from tests.support.rows import rows

TESTDATA = Path(__file__).parent / "testdata"
MILL = GVK("mill.example.org", "v1alpha2", "GrainMill")
ABSENT = object()


def test_made_request_is_read_as_its_call() -> None:
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "team"}}
    request = decode(json.dumps(context_of("1", Operation.RETAIN, obj, observedObject=obj)).encode())
    assert (request.uid, request.gvk, request.namespace, request.name) == ("1", GVK.of(obj), "team", "web")
    assert request.call == Call(Operation.RETAIN, obj, observed=obj)


def body_of(operation: str) -> dict[str, Any]:
    context: dict[str, Any] = json.loads((TESTDATA / f"{operation}.json").read_text())
    return context


def changed(operation: str, path: str, value: Any) -> bytes:
    """Return the body of an operation with one place of it set or, with ABSENT, removed."""
    context = body_of(operation)
    parent: Any = context
    *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in parents:
        parent = parent[step]
    if value is ABSENT:
        del parent[last]
    else:
        parent[last] = value
    return json.dumps(context).encode()


@rows("operation", Operation)
def test_request_of_karmada_becomes_a_call(operation: Operation) -> None:
    context = body_of(operation)
    request = decode(json.dumps(context).encode())
    assert request.problem is None
    assert request.call is not None
    assert (request.uid, request.gvk, request.operation_name) == (context["request"]["uid"], MILL, operation)
    assert (request.namespace, request.name) == ("bakery", "rye")
    assert request.call.operation is operation
    assert request.call.object == context["request"]["object"]


def test_call_has_only_inputs_of_its_operation() -> None:
    def call(operation: str) -> Call:
        found = decode(json.dumps(body_of(operation)).encode()).call
        assert found is not None
        return found

    assert call("ReviseReplica").replicas == 2
    assert call("InterpretReplica").replicas is None
    assert call("ReviseComponents").components == (("grainmill", 2),)
    assert call("ReviseReplica").components is None
    assert call("Retain").observed == body_of("Retain")["request"]["observedObject"]
    north, south, west = call("AggregateStatus").items
    assert north.status["turning"] == 3
    assert south == StatusItem("south", status=None, applied=True, health="Unknown")
    assert west == StatusItem("west", status={}, applied=False, message="admission denied")


@rows(
    ("body", "said"),
    [
        pytest.param(b"", "the body is empty", id="nothing at all"),
        pytest.param(b"kind: Pod\n", "is not JSON", id="YAML"),
        pytest.param(b"[" * 1000, "its lists and objects do not end", id="lists that do not end"),
        pytest.param(b"\xef\xbb\xbf{}", "BOM", id="a byte order mark"),
        pytest.param(b'{"request": {"uid": "1"}} {}', "after document", id="a second value"),
        pytest.param(b'{"request": {"uid": "1"', "is not JSON", id="cut short"),
        pytest.param(b'{"request": {"uid": "1", "replicas": NaN}}', "is not JSON", id="NaN"),
        pytest.param(b'{"request": {"uid": "1", "replicas": Infinity}}', "is not JSON", id="Infinity"),
        pytest.param(b'{"request": {"uid": "1", "replicas": 1e999}}', "is not JSON", id="infinite in a double"),
        pytest.param(b'{"request": {"uid": "\xff"}}', "is not JSON", id="bytes that are not UTF-8"),
        pytest.param(b'{"request": {"uid": "\\ud800"}}', "is not JSON", id="half a surrogate pair"),
        pytest.param(b'{"a":' * 5000 + b"1" + b"}" * 5000, "depth", id="nested without end"),
        pytest.param(b"[" * 700_000, "depth", id="700,000 brackets"),
        pytest.param(b"null", "must be an object, but is null", id="null"),
        pytest.param(b"[]", "must be an object, but is a list", id="a list"),
        pytest.param(b"{}", "request must be an object, but is missing", id="no request"),
        pytest.param(b'{"request": null}', "request must be an object, but is null", id="null request"),
        pytest.param(b'{"Request": {"uid": "1"}}', "request must be", id="names are case-sensitive"),
        pytest.param(b'{"request": {}}', "request.uid must be a string", id="no uid"),
        pytest.param(b'{"request": {"uid": ""}}', 'is ""', id="an empty uid"),
        pytest.param(b'{"request": {"uid": 7}}', "but is 7", id="a number as uid"),
        pytest.param(b'{"request": {"uid": "%s"}}' % (b"x" * 257), "of 1 to 256 characters", id="a uid without end"),
    ],
)
def test_body_without_readable_uid_is_http_error(body: bytes, said: str) -> None:
    with pytest.raises(RequestError, match=said) as caught:
        decode(body)
    assert caught.value.status == 400


@rows(
    ("operation", "path", "value", "said"),
    [
        ("Retain", "kind", "AdmissionReview", 'kind must be "ResourceInterpreterContext", but is "Adm'),
        ("Retain", "apiVersion", "config.karmada.io/v2", "apiVersion must be"),
        ("Retain", "kind", {"deep": []}, "but is an object"),
        ("Retain", "request/kind", ABSENT, "request.kind must be an object, as .*, but is missing"),
        ("Retain", "request/kind", "GrainMill", "request.kind must be an object"),
        ("Retain", "request/kind/group", "apps/v1", 'request.object.apiVersion must be "apps/v1/v1alpha2" as in'),
        ("Retain", "request/kind/kind", "", "request.kind must have a version and a kind, as {"),
        ("Retain", "request/kind/version", ABSENT, "request.kind must have a version and a kind, as {"),
        ("Retain", "request/kind/group", 3, "request.kind.group must be a short string, but is 3"),
        ("Retain", "request/kind/kind", "x" * 300, "request.kind.kind must be a short string"),
        ("Retain", "request/kind/kind", ["GrainMill"], "request.kind.kind must be a short string, but is a list"),
        ("Retain", "request/operation", ABSENT, "request.operation is missing; it must be one of"),
        ("Retain", "request/operation", ["Retain"], "request.operation is a list"),
        ("Retain", "request/operation", "Prune", 'request.operation is "Prune"; it must be one of InterpretReplica'),
        ("Retain", "request/object", "{}", 'request.object must be an object, but is "{}"'),
        ("Retain", "request/operation", "GetReplicas", "it must be one of InterpretReplica"),
        ("Retain", "request/operation", "*", 'operation is "\\*"; it must be'),
        ("Retain", "request/operation", "retain", 'operation is "retain"; it must be'),
        ("Retain", "request/object", ABSENT, "request.object must be an object, but is missing"),
        ("Retain", "request/object", None, "request.object must be an object, but is null"),
        ("Retain", "request/object", [], "request.object must be an object, but is a list"),
        ("Retain", "request/object/kind", "Windmill", 'request.object.kind must be "GrainMill" as in request.kind'),
        ("Retain", "request/object/apiVersion", ABSENT, "request.object.apiVersion must be"),
        ("Retain", "request/observedObject", ABSENT, "request.observedObject must be an object, but is missing"),
        ("Retain", "request/observedObject", "{}", "request.observedObject must be an object"),
        ("Retain", "request/observedObject/kind", "Windmill", "request.observedObject.kind must be"),
        (
            "ReviseReplica",
            "request/replicas",
            ABSENT,
            "request.replicas must be an integer from 0 to 2147483647, but is missing",
        ),
        ("ReviseReplica", "request/replicas", 2.0, "request.replicas must be an integer"),
        ("ReviseReplica", "request/replicas", "2", "request.replicas must be an integer"),
        ("ReviseReplica", "request/replicas", True, "integer from 0 to 2147483647, but is a boolean"),
        ("ReviseReplica", "request/replicas", -1, "from 0 to 2147483647, but is -1"),
        ("ReviseReplica", "request/replicas", 2**31, "from 0 to 2147483647"),
        ("ReviseReplica", "request/replicas", 10**40, "request.replicas must be an integer"),
        ("ReviseComponents", "request/components", ABSENT, "request.components must be a list of names"),
        ("ReviseComponents", "request/components", {}, "request.components must be a list"),
        ("ReviseComponents", "request/components", 3, "request.components must be a list"),
        ("ReviseComponents", "request/components/0", "worker", "request.components must be a list of names"),
        ("ReviseComponents", "request/components/0/name", ABSENT, "request.components must be a list of names"),
        ("ReviseComponents", "request/components/0/replicas", 2.0, "a whole number of replicas"),
        ("ReviseComponents", "request/components/0/replicas", True, "a whole number of replicas"),
        ("AggregateStatus", "request/aggregatedStatus", {}, "request.aggregatedStatus must be a list"),
        ("AggregateStatus", "request/aggregatedStatus/1", 5, "aggregatedStatus\\[1\\] must be an object"),
        ("AggregateStatus", "request/aggregatedStatus/0/clusterName", 5, "\\[0\\].clusterName must be a string"),
        ("AggregateStatus", "request/aggregatedStatus/0/clusterName", ABSENT, "\\[0\\] has no clusterName"),
        ("AggregateStatus", "request/aggregatedStatus/0/applied", "yes", "\\[0\\].applied must be a boolean"),
        ("AggregateStatus", "request/aggregatedStatus/2/appliedMessage", 1, "\\[2\\].appliedMessage must be"),
        ("AggregateStatus", "request/aggregatedStatus/0/health", None, "\\[0\\].health must be a string"),
    ],
)
def test_unanswerable_request_has_a_problem(operation: str, path: str, value: Any, said: str) -> None:
    request = decode(changed(operation, path, value))
    assert request.uid == body_of(operation)["request"]["uid"]
    assert request.call is None
    assert request.problem is not None
    assert request.problem.code == 400
    with pytest.raises(type(request.problem), match=said):
        raise request.problem


@rows(
    ("operation", "path", "value"),
    [
        pytest.param("Retain", "request/components", [{"name": "a"}], id="a field of a later Karmada"),
        pytest.param("Retain", "request/replicas", "many", id="replicas where nothing asks for them"),
        pytest.param("Retain", "request/namespace", ABSENT, id="a cluster-scoped object"),
        pytest.param("Retain", "kind", ABSENT, id="no kind of the envelope"),
        pytest.param("AggregateStatus", "request/aggregatedStatus", ABSENT, id="no items at all"),
        pytest.param("AggregateStatus", "request/aggregatedStatus", None, id="null items"),
        pytest.param("ReviseReplica", "request/replicas", 0, id="scaled to zero"),
        pytest.param("ReviseComponents", "request/replicas", 0, id="replicas of Go's zero value"),
        pytest.param("ReviseReplica", "request/replicas", 2**31 - 1, id="the largest count"),
    ],
)
def test_tolerated_differences_do_not_matter(operation: str, path: str, value: Any) -> None:
    assert decode(changed(operation, path, value)).call is not None


def test_core_group_has_no_name() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod"}
    request = {"uid": "1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "object": pod}
    body = json.dumps({"request": request | {"operation": "InterpretHealth"}}).encode()
    assert decode(body).call == Call(Operation.INTERPRET_HEALTH, pod)


def test_last_of_equal_keys_counts() -> None:
    body = json.dumps(body_of("ReviseReplica")).replace('"replicas": 2', '"replicas": 9, "replicas": 7')
    call = decode(body.encode()).call
    assert call is not None
    assert call.replicas == 7


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A real body with one place, at any depth, replaced by any JSON."""
    context = copy.deepcopy(body_of(draw(st.sampled_from(Operation))))
    parent: Any = context
    while True:
        key = draw(st.sampled_from(sorted(parent) if isinstance(parent, dict) else range(len(parent))))
        child = parent[key]
        if not child or not isinstance(child, dict | list) or draw(st.booleans()):
            parent[key] = draw(JSON)
            return json.dumps(context, ensure_ascii=False).encode(errors="replace")
        parent = child


@given(damaged() | st.binary(max_size=64) | JSON.map(lambda value: json.dumps(value).encode()))
def test_decoded_body_is_call_or_problem(body: bytes) -> None:
    try:
        request = decode(body)
    except RequestError as error:
        assert error.status == 400  # noqa: PT017 - either outcome is right
        return
    assert (request.call is None) == (request.problem is not None)


# Parsing takes twelve times the bytes of a body at once.
STARVING = """
import resource
from pathlib import Path
from karta_interpreter.webhook.admission import read
from karta_interpreter.webhook.wire import decode

body = b"[" + b"1," * 2**22 + b"1]"
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 2**25, size + 2**25))
for reader in decode, read:
    try:
        reader(body)
    except MemoryError:
        print("no memory")
"""


@pytest.mark.slow
def test_want_of_memory_is_not_an_error_of_the_body() -> None:
    run = subprocess.run([sys.executable, "-c", STARVING], capture_output=True, text=True, check=True)
    assert run.stdout == "no memory\n" * 2
