"""Two answers that count in other units are told from answers with another number of replicas."""

from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.definitions.sources.snapshot import ServedDefinition
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.comparison.unit import size_of_unit, unit_change
from karta_interpreter.engine.operations import Call, Operation, Options
from karta_interpreter.engine.suites import compare_answers
from tests.support.rows import rows

_LWS = GVK("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet")
_UNITS = "replicas are units (`.spec.replicas // 1`) instead of pods"
_COUNT, _REVISE = Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA


def _interpreter(*, in_pods: bool = False) -> Interpreter:
    entry = find_in_catalogue(_LWS)
    assert entry
    return Interpreter(ServedDefinition(entry.definition.in_pods if in_pods else entry.definition, entry.origin))


def _object() -> Any:
    template = {"size": 4, "workerTemplate": {"spec": {"containers": [{"name": "w", "image": "w"}]}}}
    metadata = {"name": "l", "namespace": "n"}
    return {**_LWS.type_meta, "metadata": metadata, "spec": {"replicas": 5, "leaderWorkerTemplate": template}}


@rows(
    ("operation", "replicas", "before", "after", "text"),
    [
        pytest.param(_COUNT, None, 20, 5, _UNITS, id="a recorded number of pods"),
        pytest.param(_COUNT, None, 6, 5, "", id="another number of groups"),
        pytest.param(_REVISE, 13, 13, 0, _UNITS, id="a recorded share of pods"),
        pytest.param(_REVISE, 3, 3, 2, "", id="a share of groups"),
        pytest.param(Operation.INTERPRET_HEALTH, None, 20, 5, "", id="no count"),
    ],
)
def test_recorded_answer_shows_its_unit(
    operation: Operation, replicas: int | None, before: int, after: int, text: str
) -> None:
    changed = tuple(compare_answers({"replica": before}, {"replica": after}))
    call = Call(operation, _object(), replicas=replicas)
    assert unit_change(None, _interpreter(), call, Options(), changed) == text


def test_definitions_show_their_units() -> None:
    groups, pods, call = _interpreter(), _interpreter(in_pods=True), Call(_COUNT, _object())
    assert unit_change(pods, groups, call, Options(), ()) == _UNITS
    assert unit_change(groups, pods, call, Options(), ()) == "replicas are pods instead of units"
    assert unit_change(groups, groups, call, Options(), ()) == ""
    assert unit_change(None, groups, call, Options(count_pods=("LeaderWorkerSet",)), ()) == ""


def test_size_of_unit_is_unknown_without_one() -> None:
    definition = _interpreter().entry.definition
    assert size_of_unit(definition, _object(), Options()) == (5, 4)
    assert size_of_unit(definition.in_pods, _object(), Options()) == (0, 0)
    assert size_of_unit(definition, {"spec": 1}, Options()) == (0, 0)
