"""Cases that `create suite` and the console draft: today's answer, without fields of API servers."""

from typing import Any

import pytest

from karta_interpreter import Karta
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.sources import ServedDefinition
from karta_interpreter.engine.comparison.cases import case_about
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.operations import Call, Operation
from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

_PODS = {"template": {"spec": {"containers": [{"name": "main"}]}}}
_JOB: Object = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "sum"},
    "spec": {**_PODS, "parallelism": 3},
}
_SERVED: Object = {**_JOB, "metadata": {"name": "sum", "uid": "1", "resourceVersion": "2", "managedFields": []}}
_CATALOGUE = Interpreter(ServedDefinition(Karta.for_object(_JOB).definition, "catalogue"), {})


@rows(
    ("call", "expected"),
    [
        pytest.param(
            Call(Operation.INTERPRET_STATUS, {**_SERVED, "status": {"active": 3}}),
            {"observedObj": {**_JOB, "status": {"active": 3}}, "output": {"status": {"active": 3}}},
            id="a live object",
        ),
        pytest.param(
            Call(Operation.REVISE_REPLICA, _SERVED, replicas=4),
            {
                "desiredObj": _JOB,
                "inputReplicas": 4,
                "output": {"revised": {**_JOB, "spec": {**_PODS, "parallelism": 4}}},
            },
            id="a template",
        ),
        pytest.param(
            Call(Operation.REVISE_REPLICA, _JOB, replicas=-1),
            {"output": {"error": "replicas must be a number from 0 up to 2147483647, but is -1"}},
            id="an error",
        ),
    ],
)
def test_case_expects_the_answer_of_today(call: Call, expected: dict[str, Any]) -> None:
    case = case_about(_CATALOGUE, call)

    assert (case["name"], case["operation"]) == ("sum", str(call.operation))
    assert {name: case[name] for name in expected} == expected


def test_case_has_references_without_fields_of_servers() -> None:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "2"}}

    case = case_about(
        _CATALOGUE, Call(Operation.INTERPRET_HEALTH, {"kind": "Job", "apiVersion": "batch/v1"}), [reference]
    )

    assert case["references"] == [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}]
    assert case["name"] == "without a name"
