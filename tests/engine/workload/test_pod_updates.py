from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from karta_interpreter import ComponentNotFoundError, PathNotWritableError, PodChanges, Workload, WorkloadError

Make = Callable[..., Workload]

CHANGES = PodChanges(
    scheduler_name="kai",
    priority_class_name="high",
    labels={"queue": "q", "old": None},
    node_selector={"gpu": "h100"},
    tolerations=[{"key": "gpu", "operator": "Exists"}],
    pod_affinity={"requiredDuringSchedulingIgnoredDuringExecution": []},
    resource_claims=[{"name": "nic"}],
    containers={"main": {"image": "new", "command": None}},
)
BEFORE = {"containers": [{"name": "main", "image": "old", "command": ["x"], "own": 1}, {"name": "log"}]}
AFTER = {
    "containers": [{"name": "main", "image": "new", "own": 1}, {"name": "log"}],
    "schedulerName": "kai",
    "priorityClassName": "high",
    "nodeSelector": {"gpu": "h100"},
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}},
    "resourceClaims": [{"name": "nic"}],
}


def test_pod_changes_fit_template_and_spec(make: Make) -> None:
    template = {"spec": BEFORE, "metadata": {"labels": {"old": "1", "app": "x"}}}
    workload = make(
        "Orchestra", {"sections": [{"name": "a", "template": template}, {"name": "b", "template": template}]}
    )
    before = deepcopy(workload.object)
    changed = workload.component("section").update_pods({"a": CHANGES})
    assert changed.component("section").pod_templates == {
        "a": {"spec": AFTER, "metadata": {"labels": {"app": "x", "queue": "q"}}},
        "b": template,
    }
    assert workload.object == before

    tavern = make("Tavern", {**BEFORE, "labels": {"old": "1"}, "minReplicas": 1}).root.update_pods({"": CHANGES})
    assert tavern.object["spec"] == {**AFTER, "labels": {"queue": "q"}, "minReplicas": 1}


def test_pieces_take_what_they_have_a_path_for(make: Make) -> None:
    dock = make("Harbor", {"docks": {"a": {"labels": {"x": "y"}, "sidecars": [{"name": "log"}]}}}).component("dock")
    changes = PodChanges(scheduler_name="kai", labels={"queue": "q"}, containers={"log": {"image": "i"}})
    assert dock.update_pods({"a": changes}).object["spec"]["docks"]["a"] == {
        "labels": {"x": "y", "queue": "q"},
        "sidecars": [{"name": "log", "image": "i"}],
        "scheduler": "kai",
    }
    with pytest.raises(PathNotWritableError, match="node_selector: the definition has no such path"):
        dock.update_pods({"a": PodChanges(scheduler_name="kai", node_selector={"a": "b"})})


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(PodChanges(), id="no change"),
        pytest.param(PodChanges(labels={}), id="no label"),
        pytest.param(PodChanges(labels={"absent": None}), id="no label to remove"),
        pytest.param(PodChanges(labels={"app": "x"}, scheduler_name="kai"), id="what is there already"),
        pytest.param(PodChanges(containers={"main": {"image": "old"}}), id="a container as it is"),
    ],
)
def test_ineffective_changes_return_same_workload(make: Make, changes: PodChanges) -> None:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {**BEFORE, "schedulerName": "kai"}}
    workload = make("Orchestra", {"conductor": {"template": template}})
    assert workload.component("conductor").update_pods({"": changes}) is workload


@pytest.mark.parametrize(
    "keys",
    [pytest.param({}, id="no key"), pytest.param({"absent": None}, id="no key to remove")],
)
def test_change_without_keys_adds_no_empty_object(make: Make, keys: dict[str, None]) -> None:
    workload = make("Orchestra", {"conductor": {"template": {"spec": BEFORE}}})
    for changes in (PodChanges(labels=keys), PodChanges(annotations=keys), PodChanges(node_selector=keys)):
        assert workload.component("conductor").update_pods({"": changes}) is workload


def test_last_label_can_be_removed(make: Make) -> None:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": BEFORE}
    changed = (
        make("Orchestra", {"conductor": {"template": template}})
        .component("conductor")
        .update_pods({"": PodChanges(labels={"app": None})})
    )
    assert changed.object["spec"]["conductor"]["template"]["metadata"] == {"labels": {}}


def test_empty_value_clears_field(make: Make) -> None:
    template = {"spec": {"schedulerName": "kai", "tolerations": [{"key": "a"}], "containers": []}}
    conductor = make("Orchestra", {"conductor": {"template": template}}).component("conductor")
    changed = conductor.update_pods({"": PodChanges(scheduler_name="", tolerations=[])})
    spec = {"schedulerName": "", "tolerations": [], "containers": []}
    assert changed.component("conductor").pod_templates == {"": {"spec": spec}}


def test_pods_that_do_not_exist_are_not_half_made(make: Make) -> None:
    workload = make("Orchestra", {"sections": [{"name": "a"}]})
    with pytest.raises(PathNotWritableError, match="component conductor: the workload has no pods to change"):
        workload.component("conductor").update_pods({"": CHANGES})
    with pytest.raises(PathNotWritableError, match="has no pods of a to change"):
        workload.component("section").update_pods({"a": CHANGES})
    with pytest.raises(
        PathNotWritableError, match="component chair, schedulerNamePath: the definition has no such path"
    ):
        workload.component("chair").update_pods({"": CHANGES})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        pytest.param(
            PodChanges(containers={"mian": {}}), ComponentNotFoundError, "did you mean main", id="no such container"
        ),
        pytest.param(
            PodChanges(containers={"main": "image"}),  # type: ignore[dict-item] # the wrong type is the point
            WorkloadError,
            "the change of main must be an object, not of type str",
            id="a text for a container",
        ),
        pytest.param(
            PodChanges(containers={"main": False}),  # type: ignore[dict-item] # as above
            WorkloadError,
            "the change of main must be an object, not of type bool",
            id="a boolean for a container",
        ),
        pytest.param(
            PodChanges(scheduler_name=1),  # type: ignore[arg-type] # the wrong type is the point
            WorkloadError,
            "must be a string, not of type int",
            id="another type",
        ),
        *(
            pytest.param(
                PodChanges(**{field: {"a": value}}),  # type: ignore[arg-type] # the wrong type is the point
                WorkloadError,
                f"the value of a must be a string, not of type {type(value).__name__}",
                id=f"{field} that are no text",
            )
            for field, value in (("labels", 1), ("annotations", True), ("node_selector", {"b": "c"}))
        ),
        pytest.param(PodChanges(labels={"$patch": "delete"}), WorkloadError, "directive", id="an order"),
        pytest.param(PodChanges(tolerations=[{"a": {1}}]), WorkloadError, "type set", id="what JSON does not have"),
    ],
)
def test_impossible_change_changes_nothing(
    make: Make, changes: PodChanges, error: type[Exception], message: str
) -> None:
    workload = make("Orchestra", {"conductor": {"template": {"spec": BEFORE}}})
    before = deepcopy(workload.object)
    with pytest.raises(error, match=message):
        workload.component("conductor").update_pods({"": changes})
    assert workload.object == before


def test_list_without_names_has_no_container_to_change(make: Make) -> None:
    lists: list[Any] = [[], [{}], ["x"], None]
    for containers in lists:
        workload = make("Orchestra", {"conductor": {"template": {"spec": {"containers": containers}}}})
        with pytest.raises(ComponentNotFoundError, match="there are none"):
            workload.component("conductor").update_pods({"": PodChanges(containers={"main": {}})})
