import base64
import json
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations import Call, Operation, Options, Results
from karta_interpreter.webhook.wire import Request, encode_failure, encode_results
from tests.support.rows import rows
from tests.webhook.wire.karmada import RejectedError, receive

MILL: dict[str, Any] = {
    "apiVersion": "mill.example.org/v1",
    "kind": "GrainMill",
    "metadata": {"name": "rye", "labels": {"a/b~c": "x"}},
    "spec": {"stones": 3, "shifts": [1, 2]},
}


def request(operation: Operation, obj: Mapping[str, Any] = MILL) -> Request:
    gvk = GVK("mill.example.org", "v1", "GrainMill")
    return Request("uid-1", gvk, operation_name=operation, call=Call(operation, obj))


def answer(operation: Operation, results: Any, obj: Mapping[str, Any] = MILL) -> Any:
    """Return what Karmada makes of the answer to a call."""
    body = encode_results(request(operation, obj), results)
    return receive(body, uid="uid-1", operation=operation, obj=obj)


def _results(name: str, value: Any) -> Any:
    return {name: value}


def test_answer_has_expected_bytes() -> None:
    body = encode_results(request(Operation.INTERPRET_REPLICA), {"replica": 3, "requires": None})
    assert body == (
        b'{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext",'
        b'"response":{"replicas":3,"status":{"code":200},"successful":true,"uid":"uid-1"}}'
    )


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        (Operation.INTERPRET_STATUS, "status"),  # stored as it is
        (Operation.AGGREGATE_STATUS, "aggregatedStatus"),  # a value of a patch
    ],
)
def test_order_of_keys_changes_no_byte(operation: Operation, result: str) -> None:
    forth = {"b": 1, "a": {"y": [{"é": 1, "z": 2}], "x": None}}
    back = {"a": {"x": None, "y": [{"z": 2, "é": 1}]}, "b": 1}
    whole = [MILL | {"status": one} if result == "aggregatedStatus" else one for one in (forth, back)]
    one, other = (encode_results(request(operation), _results(result, value)) for value in whole)
    assert one == other
    raw = json.loads(one)["response"]
    text = base64.b64decode(raw["patch"]) if "patch" in raw else one
    assert '{"a":{"x":null,"y":[{"z":2,"é":1}]},"b":1}'.encode() in text


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        pytest.param(
            {"turning": 1, "mills": [1, 2]},
            {"turning": 3, "mills": [1, 2]},
            [{"op": "replace", "path": "/status", "value": {"turning": 3, "mills": [1, 2]}}],
            id="another status is one step",
        ),
        pytest.param(None, {"turning": 3}, [{"op": "add", "path": "/status", "value": {"turning": 3}}], id="the first"),
        pytest.param({"turning": 1}, None, [{"op": "remove", "path": "/status"}], id="a script drops it"),
    ],
)
def test_changed_status_is_one_step(before: Any, after: Any, patch: Any) -> None:
    template = MILL if before is None else MILL | {"status": before}
    asked = request(Operation.AGGREGATE_STATUS, template)
    assert asked.call
    answered = {**asked.call.object, "status": after, "spec": "which Karmada does not take"}
    if after is None:
        answered.pop("status")
    body = encode_results(asked, {"aggregatedStatus": answered})
    assert json.loads(base64.b64decode(json.loads(body)["response"]["patch"])) == patch


def test_unchanged_object_is_no_patch() -> None:
    asked = request(Operation.AGGREGATE_STATUS)
    assert asked.call
    assert "patch" not in json.loads(encode_results(asked, {"aggregatedStatus": asked.call.object}))["response"]


REQUIREMENTS = {"resourceRequest": {"cpu": "250m", "memory": "64Mi"}, "nodeClaim": {"nodeSelector": {"a": "b"}}}
COMPONENTS = [{"name": "head", "replicas": 1}, {"name": "worker", "replicas": 0, "replicaRequirements": REQUIREMENTS}]
DEPENDENCIES = [{"apiVersion": "v1", "kind": "Secret", "namespace": "bakery", "name": "recipe"}]


@rows(
    ("operation", "results", "received"),
    [
        (Operation.INTERPRET_REPLICA, {"replica": 3, "requires": REQUIREMENTS}, (3, REQUIREMENTS)),
        (Operation.INTERPRET_REPLICA, {"replica": 2**31 - 1, "requires": None}, (2**31 - 1, None)),
        (Operation.INTERPRET_COMPONENT, {"components": COMPONENTS}, COMPONENTS),
        (Operation.INTERPRET_COMPONENT, {"components": []}, []),
        (Operation.INTERPRET_COMPONENT, {"components": None}, None),
        (Operation.INTERPRET_STATUS, {"status": {}}, {}),
        (Operation.INTERPRET_STATUS, {"status": {"turning": 3.5}}, {"turning": 3.5}),
        (Operation.INTERPRET_HEALTH, {"healthy": True}, True),
        (Operation.INTERPRET_HEALTH, {"healthy": False}, False),
        (Operation.INTERPRET_DEPENDENCY, {"dependencies": DEPENDENCIES}, DEPENDENCIES),
        (Operation.INTERPRET_DEPENDENCY, {"dependencies": []}, []),
    ],
)
def test_karmada_receives_what_was_answered(operation: Operation, results: Any, received: Any) -> None:
    assert answer(operation, results) == received


@rows(
    ("operation", "result", "after"),
    [
        (Operation.REVISE_REPLICA, "revised", MILL | {"spec": {"stones": 5, "shifts": [1, 2]}}),
        (Operation.REVISE_REPLICA, "revised", MILL | {"spec": {"stones": 3, "shifts": [1, 2], "new": {"a": []}}}),
        (Operation.RETAIN, "retained", MILL | {"spec": {"stones": None, "shifts": [2, 3, 4]}}),
        (Operation.RETAIN, "retained", MILL | {"metadata": {"name": "rye", "labels": {"a/b~c": "y"}}}),
        (Operation.AGGREGATE_STATUS, "aggregatedStatus", MILL | {"status": {"turning": 3}}),
        (Operation.AGGREGATE_STATUS, "aggregatedStatus", MILL | {"status": {}}),
    ],
)
def test_karmada_patches_its_object_to_the_one_that_was_answered(
    operation: Operation, result: str, after: Mapping[str, Any]
) -> None:
    assert answer(operation, {result: after}) == after


@rows(
    ("operation", "result"),
    [
        (Operation.REVISE_REPLICA, "revised"),
        (Operation.RETAIN, "retained"),
        (Operation.AGGREGATE_STATUS, "aggregatedStatus"),
    ],
)
def test_unchanged_object_needs_no_patch(operation: Operation, result: str) -> None:
    same = json.loads(json.dumps(MILL))
    for after in (MILL, same):
        response = json.loads(encode_results(request(operation), _results(result, after)))["response"]
        assert set(response) == {"uid", "successful", "status"}


def test_patch_has_only_changes() -> None:
    after = MILL | {"spec": {"stones": 5, "shifts": [1, 2]}}
    response = json.loads(encode_results(request(Operation.REVISE_REPLICA), {"revised": after}))["response"]
    assert response["patchType"] == "JSONPatch"
    assert base64.b64decode(response["patch"]) == b'[{"op":"replace","path":"/spec/stones","value":5}]'


@rows(
    ("replicas", "stones", "propagates", "is_answered"),
    [
        pytest.param(0, 0, False, False, id="counted, and not yet divided by the scheduler, or without room"),
        pytest.param(0, 0, True, True, id="the scheduler gives clusters 0"),
        pytest.param(0, 3, False, True, id="the template has no pods, so nothing changes"),
        pytest.param(1, 1, False, True, id="a share"),
    ],
)
def test_undivided_workload_is_not_emptied(replicas: int, stones: int, propagates: bool, is_answered: bool) -> None:
    call = Call(Operation.REVISE_REPLICA, MILL, replicas=replicas)
    asked = Request("uid-1", None, operation_name=Operation.REVISE_REPLICA, call=call)
    results: Any = {"revised": MILL | {"spec": {"stones": stones, "shifts": [1, 2]}}}
    options = Options(empty_workload_propagation=propagates)

    with nullcontext() if is_answered else pytest.raises(InterpretationError, match="no replicas"):
        encode_results(asked, results, options)


@rows(
    ("operation", "results", "said", "code"),
    [
        (Operation.INTERPRET_REPLICA, {"replica": 2**31, "requires": None}, "replicas must be", 422),
        (Operation.INTERPRET_REPLICA, {"replica": -1, "requires": None}, "replicas must be", 422),
        (Operation.INTERPRET_REPLICA, {"replica": 3.0, "requires": None}, "replicas must be", 422),
        (Operation.INTERPRET_REPLICA, {"replica": True, "requires": None}, "replicas must be", 422),
        (Operation.INTERPRET_COMPONENT, {"components": [{"name": "w", "replicas": 2**31}]}, "replicas of component w",
            422),
        (Operation.INTERPRET_COMPONENT, {"components": [{"name": "w", "replicas": 1}] * 2},
            "must be unique, but are w, w", 422),
        (Operation.INTERPRET_COMPONENT, {"components": [{"name": "", "replicas": 1}]}, "1 to 32", 422),
        (Operation.INTERPRET_COMPONENT, {"components": [{"name": "w" * 33, "replicas": 1}]}, "1 to 32", 422),
        (Operation.INTERPRET_STATUS, {"status": []}, "must be an object, but is a list", 422),
        (Operation.INTERPRET_STATUS, {"status": None}, "must be an object, but is null", 422),
        (Operation.INTERPRET_STATUS, {"status": {"sum": 2**70}}, "cannot be written as JSON", 422),
        (Operation.INTERPRET_HEALTH, {"healthy": "true"}, "must be true or false, but is a string", 422),
        (Operation.INTERPRET_DEPENDENCY, {"dependencies": [{"kind": "Secret", "name": "a"}]}, "apiVersion", 422),
        (Operation.INTERPRET_DEPENDENCY, {"dependencies": [{"apiVersion": "v1", "kind": "Pod"}]}, "a name", 422),
        (Operation.REVISE_REPLICA, {"revised": MILL | {"spec": 2**70}}, "cannot be written as JSON", 422),
        (Operation.INTERPRET_DEPENDENCY, {"dependencies": [{"kind": 2**70}]}, "cannot be written as JSON", 422),
    ],
)  # fmt: skip
def test_results_that_karmada_rejects_are_errors(operation: Operation, results: Any, said: str, code: int) -> None:
    with pytest.raises(InterpretationError, match=said) as caught:
        encode_results(request(operation), results)
    assert caught.value.code == code


def _components(number: int, requirements: Mapping[str, Any]) -> Results:
    components = [{"name": f"c{index}", "replicas": 1, "replicaRequirements": requirements} for index in range(number)]
    return {"components": components}


@rows(
    ("operation", "results"),
    [
        pytest.param(Operation.INTERPRET_REPLICA,
            {"replica": 1, "requires": {"nodeClaim": {"nodeSelector": dict.fromkeys("abcdefghi", "x" * 2**17)}}},
            id="a text in a selector"),
        pytest.param(Operation.INTERPRET_COMPONENT,
            _components(10, {"nodeClaim": {"tolerations": [[0] * 1000] * 110}}), id="a list"),
        pytest.param(Operation.INTERPRET_COMPONENT, _components(9, {"priorityClassName": "x" * 2**17}),
            id="a priority class"),
        pytest.param(Operation.INTERPRET_DEPENDENCY,
            {"dependencies": [{"apiVersion": "v1", "kind": f"K{n}", "name": "x" * 2**17} for n in range(9)]},
            id="names"),
    ],
)  # fmt: skip
def test_repetition_in_answer_is_bounded(operation: Operation, results: Any) -> None:
    with pytest.raises(InterpretationError, match="more than 1048576 characters"):
        encode_results(request(operation), results)


def test_components_may_repeat_what_fits_into_a_binding() -> None:
    results = _components(7, {"nodeClaim": {"nodeSelector": {"zone": "x" * 2**17}}, "priorityClassName": "high"})
    assert len(encode_results(request(Operation.INTERPRET_COMPONENT), results)) > 7 * 2**17


def test_too_deep_status_is_an_error() -> None:
    status: dict[str, Any] = {}
    for _ in range(300):
        status = {"a": status}
    with pytest.raises(InterpretationError, match="cannot be written"):
        encode_results(request(Operation.INTERPRET_STATUS), {"status": status})


def test_failure_reaches_karmada_with_code_and_reason() -> None:
    body = encode_failure("uid-1", 422, "definition mill, field replicas: `.spec.stones` gave 2.5")
    with pytest.raises(RejectedError, match="get status code: 422, msg: definition mill, field replicas: "):
        receive(body, uid="uid-1", operation="InterpretReplica")


@rows(
    ("reason", "message"),
    [
        pytest.param("x" * 4096, "x" * 4096, id="as long as an event may be"),
        pytest.param("x" * 4097, "x" * 4095 + "…", id="a character too long"),
        pytest.param("\ud800" + "x" * 9000, "?" + "x" * 4094 + "…", id="with half a surrogate pair"),
    ],
)
def test_message_is_cut_to_length_of_an_event(reason: str, message: str) -> None:
    assert json.loads(encode_failure("1", 422, reason))["response"]["status"]["message"] == message


NUMBERS = st.integers(-(2**33), 2**33) | st.floats() | st.booleans() | st.none()
NAMES = st.text(max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=4).map(lambda fields: fields | {"kind": "GrainMill"})
COMPONENT = st.fixed_dictionaries({"name": NAMES, "replicas": NUMBERS})
DEPENDENCY = st.fixed_dictionaries({}, optional={"apiVersion": NAMES, "kind": NAMES, "name": NAMES})
RESULTS = st.one_of(
    st.tuples(st.just(Operation.INTERPRET_REPLICA), st.fixed_dictionaries({"replica": NUMBERS, "requires": st.none()})),
    st.tuples(
        st.just(Operation.INTERPRET_COMPONENT), st.fixed_dictionaries({"components": st.lists(COMPONENT, max_size=3)})
    ),
    st.tuples(st.just(Operation.INTERPRET_STATUS), st.fixed_dictionaries({"status": JSON})),
    st.tuples(st.just(Operation.INTERPRET_HEALTH), st.fixed_dictionaries({"healthy": JSON})),
    st.tuples(
        st.just(Operation.INTERPRET_DEPENDENCY),
        st.fixed_dictionaries({"dependencies": st.lists(DEPENDENCY, max_size=3)}),
    ),
    st.tuples(st.just(Operation.RETAIN), st.fixed_dictionaries({"retained": OBJECTS})),
    st.tuples(st.just(Operation.AGGREGATE_STATUS), st.fixed_dictionaries({"aggregatedStatus": OBJECTS})),
)


@given(OBJECTS, RESULTS)
def test_encoded_answer_is_accepted_by_karmada(obj: dict[str, Any], question: tuple[Operation, Any]) -> None:
    operation, results = question
    try:
        body = encode_results(request(operation, obj), results)
    except InterpretationError:
        return
    received = receive(body, uid="uid-1", operation=operation, obj=obj)
    if operation is Operation.RETAIN:
        assert received == results["retained"]
