"""Statuses of drafts: what objects whose pods are ready show, and others do not."""

from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting.drafting import draft_from
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.verification import Evidence
from tests.support.rows import rows

Thing = dict[str, Any]

_TEMPLATE = {"spec": {"containers": [{"name": "main", "image": "main"}]}}


def _crew(name: str, replicas: int, ready: bool, status: Thing) -> Evidence:
    spec = {"replicas": replicas, "template": _TEMPLATE}
    obj = {"apiVersion": "example.com/v1", "kind": "Crew", "metadata": {"name": name}, "spec": spec, "status": status}
    conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    status = {"phase": "Running", "conditions": conditions}
    pods = [
        {"kind": "Pod", "metadata": {"name": f"{name}-{number}"}, "status": status, **_TEMPLATE}
        for number in range(replicas)
    ]
    return Evidence(obj, tuple(pods), now=2e9)


def _condition(status: str, reason: str, name: str = "Succeeded") -> Thing:
    return {"conditions": [{"type": name, "status": status, "reason": reason}]}


_CASES = [
    pytest.param({"phase": "Sailing"}, {"phase": "Sinking"}, id="a phase that no word means"),
    pytest.param(_condition("True", "", "Afloat"), _condition("False", "", "Afloat"), id="a condition"),
    pytest.param(_condition("Unknown", "Running"), _condition("Unknown", "Pending"), id="the reason of a condition"),
    pytest.param({"availableReplicas": 3}, {"availableReplicas": 1}, id="a count"),
    pytest.param({"crew": {"aboard": 3}}, {"crew": {"aboard": 1}}, id="a count in a part, of any name"),
    pytest.param({"state": {"sea": "calm"}}, {"state": {"sea": "rough"}}, id="a text in a part"),
    pytest.param({"afloat": True}, {"afloat": False}, id="a switch"),
]


def _drafted(*shown: Evidence) -> tuple[list[bool], list[str]]:
    """Return which objects are healthy by the draft, and the notes about the status of a running workload."""
    drafted = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown)
    definition = load_definition(drafted.karta)
    health = [_is_healthy(definition, each.object) for each in shown]
    return health, [note for path, note in drafted.notes if path[-1] == "running"]


def _is_healthy(definition: Definition, obj: Object) -> bool:
    try:
        healthy = interpret(definition, Call(Operation.INTERPRET_HEALTH, obj))["healthy"]
    except InterpretationError:  # a phase that the draft leaves out
        return False
    return bool(healthy)


@rows(("running", "failing"), _CASES)
def test_status_of_ready_pods_means_running(running: Thing, failing: Thing) -> None:
    shown = [_crew("a", 3, True, running), _crew("b", 3, True, running)]
    shown += [_crew("c", 3, False, failing), _crew("d", 3, False, failing)]
    health, notes = _drafted(*shown)

    assert health == [True, True, False, False]
    assert notes == ["2 of 2 objects with ready pods and 0 of 2 others show it."]


def test_status_of_three_objects_is_to_be_checked() -> None:
    up, down = {"phase": "Sailing"}, {"phase": "Sinking"}
    _, notes = _drafted(_crew("a", 3, True, up), _crew("b", 3, True, up), _crew("c", 3, False, down))

    assert notes == ["CHECK: 2 of 2 objects with ready pods and 0 of 1 others show it. Does it end when pods fail?"]


def test_status_that_nothing_contradicts_is_to_be_checked() -> None:
    health, notes = _drafted(_crew("a", 3, True, {"phase": "Sailing"}), _crew("b", 2, True, {"phase": "Sailing"}))

    assert health == [True, True]
    (note,) = notes
    assert note.startswith("CHECK: 2 of 2 objects with ready pods and 0 of 0 others show it.")


def test_status_without_ready_pods_is_left_to_names() -> None:
    _, notes = _drafted(_crew("a", 3, False, {"phase": "Sinking"}), _crew("b", 2, False, {"phase": "Sinking"}))

    assert notes == []


def test_status_of_few_objects_with_ready_pods_is_left_to_names() -> None:
    _, notes = _drafted(*(_crew(str(number), 2, True, {"phase": f"Phase{number}"}) for number in range(3)))

    assert notes == []


@rows(
    "status",
    [
        pytest.param("sailing", id="a text"),
        pytest.param({"ready pods": 2}, id="a name with a space"),
        pytest.param({"conditions": [{"type": 1, "status": None}, "x"]}, id="conditions of other types"),
    ],
)
def test_status_of_another_form_gives_a_draft_that_loads(status: Any) -> None:
    shown = [_crew("a", 2, True, status), _crew("b", 2, True, status)]

    drafted = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown)

    assert load_definition(drafted.karta).leaves
