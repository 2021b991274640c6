"""Members with operators of two releases: what an older one does not write keeps nothing of the newer one back."""

from collections.abc import Sequence
from typing import Any, Final

import pytest

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from tests.catalogue.entries import answers, applies, entries
from tests.support.rows import rows

_RAY: Final = GVK("ray.io", "v1", "RayCluster")
_OLDER: Final = {"state": "ready", "desiredWorkerReplicas": 2, "availableWorkerReplicas": 2}
_CONDITIONS: Final = [
    {"type": "HeadPodReady", "status": "True", "reason": "HeadPodRunningAndReady"},
    {"type": "RayClusterProvisioned", "status": "True", "reason": "AllPodRunningAndReadyFirstTime"},
    {"type": "RayClusterSuspended", "status": "False", "reason": "X"},
]
_NEWER: Final = {**_OLDER, "conditions": _CONDITIONS}


def _ray() -> Definition:
    return next(entry.definition for entry in entries() if entry.definition and entry.definition.gvk == _RAY)


def _merged(definition: Definition, template: Object, statuses: Sequence[Object]) -> Any:
    items = tuple(StatusItem(f"member{number}", status) for number, status in enumerate(statuses))
    return interpret(definition, Call(Operation.AGGREGATE_STATUS, template, items=items))["aggregatedStatus"]


def _template(definition: Definition, **status: object) -> Any:
    gvk = definition.gvk
    metadata = {"name": "a", "generation": 2}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, "spec": {}, "status": status}


@rows(
    ("older", "ready"),
    [
        pytest.param(_OLDER, "True", id="it runs, and has no conditions"),
        pytest.param({**_OLDER, "state": ""}, None, id="it does not run"),
    ],
)
def test_operator_without_conditions_is_judged_by_its_status(older: Object, ready: str | None) -> None:
    for statuses in ([older, _NEWER], [_NEWER, older]):
        merged = _merged(_ray(), _template(_ray()), statuses)["status"]["conditions"]
        assert {one["type"]: one["status"] for one in merged}.get("HeadPodReady") == ready


@rows(
    ("arrived", "observed"),
    [
        pytest.param((2, 2), 2, id="in all members"),
        pytest.param((1, 2), 1, id="in one of two"),
        pytest.param((1,), 1, id="in none"),
    ],
)
def test_generation_of_mapped_kind_waits_for_edit_to_arrive(arrived: Sequence[int], observed: int) -> None:
    statuses = [{**_NEWER, "observedGeneration": 7, "resourceTemplateGeneration": number} for number in arrived]
    assert (
        _merged(_ray(), _template(_ray(), observedGeneration=1), statuses)["status"]["observedGeneration"] == observed
    )


@applies(answers(Operation.AGGREGATE_STATUS, scripted=False))
def test_generation_that_no_operator_writes_is_left_out(definition: Definition) -> None:
    if ("status", "observedGeneration") in definition.annotations.aggregate or definition.annotations.outcomes:
        return
    merged = _merged(definition, _template(definition, observedGeneration=1), [{"zzz": 1}, {"zzz": 2}])
    assert merged["status"]["zzz"] == 3
    assert "observedGeneration" not in merged["status"]
