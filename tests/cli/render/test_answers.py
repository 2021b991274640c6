import click
import pytest

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.cli.answers import outcomes_table
from karta_interpreter.engine.comparison.interpreter import CallOutcome
from karta_interpreter.engine.operations import Call, Operation, Results
from tests.support.rows import rows

_OBJECT = {"spec": {"replicas": 1}, "status": {}}


def _cell(outcome: CallOutcome) -> list[str]:
    lines = click.unstyle(outcomes_table([outcome])).splitlines()
    return [line[lines[0].index("ANSWER") :] for line in lines[1:]]


def _answer(operation: Operation, results: Results) -> list[str]:
    return _cell(CallOutcome(Call(operation, _OBJECT), results))


_CLAIM: JSON = {"nodeSelector": {"gpu": "a100"}, "tolerations": [{"operator": "Exists"}]}


@rows(
    ("operation", "results", "lines"),
    [
        pytest.param(Operation.INTERPRET_REPLICA,
            {"replica": 2, "requires": {"resourceRequest": {"cpu": "1"}, "nodeClaim": _CLAIM, "namespace": "team"}},
            ["2 pods, cpu 1 each", 'nodeSelector: {"gpu": "a100"}', 'tolerations: [{"operator": "Exists"}]',
            "namespace: team"], id="where pods may go"),
        pytest.param(
            Operation.INTERPRET_COMPONENT,
            {
                "components": [
                    {"name": "head", "replicas": 1},
                    {"name": "w", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}},
                ]
            },
            ["head  1 pod, no resource requests", "w     2 pods, cpu 2 each"],
            id="components",
        ),
        pytest.param(Operation.REVISE_REPLICA, {"revised": _OBJECT}, ["no change"], id="the same object"),
        pytest.param(Operation.REVISE_REPLICA, {"revised": {"spec": {"replicas": 4}, "status": {}}},
            ["spec.replicas: 1 -> 4"], id="a revised object"),
        pytest.param(Operation.INTERPRET_STATUS,
            {"status": {"phase": "Up", "conditions": [{"type": "A", "status": "True"}], "n": 1}},
            ["phase       Up", "conditions  A=True", "n           1"], id="a status"),
        pytest.param(Operation.INTERPRET_DEPENDENCY,
            {"dependencies": [{"apiVersion": "v1", "kind": "Secret", "namespace": "a", "name": "s"}]},
            ["v1  Secret  a/s"], id="a dependency"),
    ],
)  # fmt: skip
def test_lines(operation: Operation, results: Results, lines: list[str]) -> None:
    assert _answer(operation, results) == lines


@pytest.mark.parametrize(
    ("healthy", "reason", "line"),
    [
        pytest.param(True, "status Running", "yes (status Running)", id="healthy"),
        pytest.param(False, "its status belongs to an older generation",
            "no (its status belongs to an older generation)", id="not"),
    ],
)  # fmt: skip
def test_health(healthy: bool, reason: str, line: str) -> None:
    call = Call(Operation.INTERPRET_HEALTH, {})
    assert _cell(CallOutcome(call, {"healthy": healthy}, reason=reason)) == [line]


def test_long_error_stays_in_its_column() -> None:
    error = "word " * 40

    lines = _cell(CallOutcome(Call(Operation.INTERPRET_REPLICA, _OBJECT), failure=error))

    assert lines[0].startswith("error: word")
    assert all(line.startswith("  word") for line in lines[1:])
    assert all(len(line) <= 78 for line in lines)
