from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import Projection, edit
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.evaluation.pods import pod_sets, template_reads
from tests.support.rows import rows

Raw = dict[str, Any]

GPU = {"limits": {"nvidia.com/gpu": "1"}}
NODES: Raw = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}


def test_single_container_is_read_by_its_fields(harbor: Raw) -> None:
    read = Projection()
    template_reads(load_definition(harbor), read, "containers[].resources")
    assert {path for path in read.paths(99) if path.startswith(("spec.docks[].main", "spec.docks[].sidecars"))} == {
        "spec.docks[].main.resources",
        "spec.docks[].sidecars[].resources",
    }


def template(definition: Definition, dock: Any) -> Any:
    (only,) = pod_sets(definition, {"spec": {"docks": {"west": dock}}})
    return only.template


@rows(
    ("dock", "expected"),
    [
        pytest.param({}, {"spec": {}}, id="an instance without pieces has a pod of defaults"),
        pytest.param({"scheduler": "kai", "priority": "high", "claims": [{"name": "gpu"}]},
            {"spec": {"schedulerName": "kai", "priorityClassName": "high", "resourceClaims": [{"name": "gpu"}]}},
            id="plain fields of the pod"),
        pytest.param({"labels": {"a": "b"}, "notes": {"c": "d"}},
            {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {}},
            id="labels and annotations are metadata"),
        pytest.param({"affinity": {"nodeAffinity": NODES, "podAffinity": {"x": 1}}},
            {"spec": {"affinity": {"podAffinity": {"x": 1}, "nodeAffinity": NODES}}}, id="affinities are one field"),
        pytest.param({"resources": GPU}, {"spec": {"containers": [{"name": "dock", "resources": GPU}]}},
            id="resources alone make up a container named like the component"),
        pytest.param({"resources": GPU, "image": "crane"},
            {"spec": {"containers": [{"name": "dock", "image": "crane", "resources": GPU}]}}, id="an image goes along"),
        pytest.param({"main": {"name": "crane", "image": "mine"}, "resources": GPU, "image": "other"},
            {"spec": {"containers": [{"image": "mine", "resources": GPU, "name": "crane"}]}},
            id="a container keeps what it says itself; pieces fill its gaps"),
        pytest.param({"sidecars": [{"name": "log"}], "main": {"storage": "s3"}},
            {"spec": {"containers": [{"name": "log"}, {"storage": "s3"}]}},
            id="the single container stands next to the listed ones"),
        pytest.param({"sidecars": [{"name": "log"}], "main": {"name": "log"}},
            {"spec": {"containers": [{"name": "log"}]}}, id="unless it is one of them"),
        pytest.param({"sidecars": [{"name": "log"}], "resources": GPU}, {"spec": {"containers": [{"name": "log"}]}},
            id="listed containers speak for themselves"),
        pytest.param({"sidecars": [], "image": "crane"},
            {"spec": {"containers": [{"name": "dock", "image": "crane"}]}}, id="an empty list of containers is none"),
    ],
)  # fmt: skip
def test_assembly(compiled: dict[str, Definition], dock: Raw, expected: Raw) -> None:
    assert template(compiled["harbor"], dock) == expected


@rows(
    ("dock", "message"),
    [
        pytest.param({"scheduler": 1}, "schedulerNamePath `.spec.docks[].scheduler`: gives a number where a string"),
        pytest.param({"labels": []}, "labelsPath `.spec.docks[].labels`: gives a list where an object"),
        pytest.param({"resources": "1"}, "resourcesPath `.spec.docks[].resources`: gives a string where an object"),
        pytest.param({"claims": {}}, "resourceClaimsPath `.spec.docks[].claims`: gives an object where a list"),
        pytest.param({"sidecars": {}}, "containersPath `.spec.docks[].sidecars`: gives an object where a list"),
        pytest.param({"main": []}, "containerPath `.spec.docks[].main`: gives a list where an object"),
        pytest.param({"image": False}, "imagePath `.spec.docks[].image`: gives a boolean where a string"),
    ],
)  # fmt: skip
def test_pieces_of_the_wrong_type(compiled: dict[str, Definition], dock: Raw, message: str) -> None:
    with pytest.raises(InterpretationError) as caught:
        template(compiled["harbor"], dock)
    assert str(caught.value).startswith(f"definition harbor, component dock, {message} belongs (at spec.docks.west.")


def single(harbor: Raw, *, root: bool) -> Definition:
    """The harbor with one dock and no instances. On request the dock is the workload itself."""
    structure = ("spec", "structureDefinition")
    child = (*structure, "childComponents", 0)
    for field in ("instanceIdPath", "podSelector", "scaleDefinition"):
        harbor = edit.remove(harbor, (*child, field))
    pieces = {"fragmentedPodSpecDefinition": {"imagePath": ".spec.image", "labelsPath": ".spec.labels"}}
    harbor = edit.set_value(harbor, (*child, "specDefinition"), pieces)
    if root:
        harbor = edit.set_value(harbor, (*structure, "rootComponent", "specDefinition"), pieces)
        harbor = edit.set_value(harbor, (*structure, "childComponents"), [])
    return load_definition(harbor)


def test_child_without_fragments_does_not_exist(harbor: Raw) -> None:
    definition = single(harbor, root=False)
    assert pod_sets(definition, {"spec": {"labels": None}}) == ()
    assert [s.name for s in pod_sets(definition, {"spec": {"labels": {}}})] == ["dock"]


def test_root_without_fragments_exists(harbor: Raw) -> None:
    (only,) = pod_sets(single(harbor, root=True), {"spec": {}})
    assert (only.name, only.replicas, only.template) == ("harbor", 1, {"spec": {}})


def test_pieces_and_ids_are_paired_by_position(harbor: Raw) -> None:
    at = ("spec", "structureDefinition", "childComponents", 0, "specDefinition", "fragmentedPodSpecDefinition")
    picked = '.spec.docks[] | .sidecars[]? | select(.name == "main")'
    definition = load_definition(edit.set_value(harbor, (*at, "containerPath"), picked))
    docks = {"east": {"sidecars": [{"name": "main"}]}, "west": {"sidecars": [{"name": "log"}]}}
    with pytest.raises(InterpretationError, match="gives 1 result for 2 instance ids"):
        pod_sets(definition, {"spec": {"docks": docks}})


def test_made_pod_spec_has_the_fields_that_fragments_lack() -> None:
    status = {"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {"running": [{"byPhase": "Up"}]}}
    made = "{containers: [{image: .spec.image}], tolerations: .spec.tolerations, nodeSelector: .spec.nodes}"
    root = {
        "name": "dock",
        "kind": {"group": "example.io", "version": "v1", "kind": "Dock"},
        "specDefinition": {"podSpecPath": made},
        "statusDefinition": status,
    }
    karta = {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "dock"},
        "spec": {"structureDefinition": {"rootComponent": root}},
    }
    tolerations = [{"key": "gpu", "operator": "Exists"}]

    (only,) = pod_sets(
        load_definition(karta), {"spec": {"image": "a", "tolerations": tolerations, "nodes": {"a": "b"}}}
    )

    assert only.template == {
        "spec": {"containers": [{"image": "a"}], "tolerations": tolerations, "nodeSelector": {"a": "b"}}
    }
