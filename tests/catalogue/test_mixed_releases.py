"""Members with operators of two releases: what an older one does not write keeps nothing of the newer one back."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import answers, applies, entries
from tests.support.rows import rows
from tests.support.scripts import answer

_ROWS: Final = yaml.safe_load(Path(__file__).with_name("mixed-releases.yaml").read_text(encoding="utf-8"))
_RAY: Final = GVK("ray.io", "v1", "RayCluster")
_OLDER: Final = {"state": "ready", "desiredWorkerReplicas": 2, "availableWorkerReplicas": 2}
_CONDITIONS: Final = [
    {"type": "HeadPodReady", "status": "True", "reason": "HeadPodRunningAndReady"},
    {"type": "RayClusterProvisioned", "status": "True", "reason": "AllPodRunningAndReadyFirstTime"},
    {"type": "RayClusterSuspended", "status": "False", "reason": "X"},
]
_NEWER: Final = {**_OLDER, "conditions": _CONDITIONS}


def _of(gvk: GVK) -> Definition:
    return next(entry.definition for entry in entries() if entry.definition and entry.definition.gvk == gvk)


def _ray() -> Definition:
    return _of(_RAY)


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


class _Pair:
    """A workload with members of an older and of a newer release, as a row has it."""

    def __init__(self, row: Object) -> None:
        self.row = row
        self.object: Object = {"metadata": {"name": "x", "namespace": "d", "generation": 2}, "spec": row["spec"]}
        self.object |= {"apiVersion": row["apiVersion"], "kind": row["kind"]}
        self.definition = _of(GVK.of(self.object))

    def merged(self, *members: tuple[str, int], before: Object | None = None) -> Any:
        """Return the template after members of a release with the template's generation that has reached them."""
        items = list[StatusItem]()
        for number, (release, arrived) in enumerate(members):
            live = {**self.arrived(arrived), "status": self.row[release]}
            assert self.is_healthy(live)
            status = interpret(self.definition, Call(Operation.INTERPRET_STATUS, live))["status"]
            items.append(StatusItem(f"member{number}", status))
        call = Call(Operation.AGGREGATE_STATUS, {**self.object, "status": before or {}}, items=tuple(items))
        return interpret(self.definition, call)["aggregatedStatus"]

    def arrived(self, generation: int) -> Object:
        """Return the member's object that was made from a generation of the template."""
        notes = {"annotations": {"resourcetemplate.karmada.io/generation": f"{generation}"}}
        return {**self.object, "metadata": {**self.object["metadata"], **notes}}

    def is_healthy(self, obj: Object) -> bool:
        return interpret(self.definition, Call(Operation.INTERPRET_HEALTH, obj))["healthy"]


_PAIRS: Final = [pytest.param(row, id=f"{row['apiVersion']} {row['kind']}") for row in _ROWS]
_BOTH: Final = [("older", 2), ("newer", 2)]


@rows("row", _PAIRS)
def test_members_of_two_releases_are_healthy_alone_and_together(row: Object) -> None:
    pair = _Pair(row)
    for members in product(_BOTH, repeat=2):
        whole = pair.merged(*members)
        assert pair.is_healthy(whole)
    for pair_of_members in (_BOTH, _BOTH[::-1]):
        status = pair.merged(*pair_of_members)["status"]
        assert {field: status.get(field) for field in row["merged"]} == row["merged"]


@rows("row", [pair for pair, row in zip(_PAIRS, _ROWS, strict=True) if "observedGeneration" in row["newer"]])
def test_generation_waits_for_what_each_release_tells(row: Object) -> None:
    pair, before = _Pair(row), {"observedGeneration": 1}
    assert pair.merged(*_BOTH, before=before)["status"]["observedGeneration"] == 2
    for members in ([("older", 1), ("newer", 2)], [("older", 2), ("newer", 1)]):
        assert pair.merged(*members, before=before)["status"]["observedGeneration"] == 1


@rows("row", [pair for pair, row in zip(_PAIRS, _ROWS, strict=True) if row.get("exported", True)])
def test_exported_scripts_answer_the_same(row: Object) -> None:
    pair, template = _Pair(row), {"observedGeneration": 1}
    operations = (Operation.INTERPRET_STATUS, Operation.AGGREGATE_STATUS)
    reflecting, merging = (Script(name, script_of(pair.definition, name), "exported") for name in operations)
    for members in (_BOTH, _BOTH[::-1], [("older", 1), ("newer", 2)]):
        items = list[Object]()
        for number, (release, arrived) in enumerate(members):
            live = {**pair.arrived(arrived), "status": row[release]}
            items.append({"clusterName": f"member{number}", "status": answer([reflecting], object=live)["status"]})
        merged: Any = answer([merging], object={**pair.object, "status": template}, items=items)["aggregatedStatus"]
        assert merged["status"] == pair.merged(*members, before=template)["status"]


def test_failed_job_set_without_terminal_state_is_unhealthy() -> None:
    pair = _Pair(next(row for row in _ROWS if row["kind"] == "JobSet"))
    failed = {**pair.row["older"], "conditions": [{"type": "Failed", "status": "True", "reason": "FailedJobs"}]}
    assert not pair.is_healthy({**pair.object, "status": failed})


@applies(answers(Operation.AGGREGATE_STATUS, scripted=False))
def test_field_of_later_releases_is_told_of_all_clusters_or_of_none(definition: Definition) -> None:
    for field in {later.name for later in definition.annotations.later_status} - {"observedGeneration"}:
        if field == "ready":
            continue
        value: Any = [{"name": "a", "replicas": 2}] if field == "roleStatuses" else 2
        older = {"replicas": 4, "availableReplicas": 3, "updatedReplicas": 2, "availableWorkerReplicas": 2}
        for statuses in ([older, {**older, field: value}], [{**older, field: value}, older]):
            merged = _merged(definition, _template(definition), statuses)["status"]
            assert merged.get(field) != value, field
