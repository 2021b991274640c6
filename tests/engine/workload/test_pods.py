"""What a workload says about pods, as programs ask it."""

from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter import Attribution, Karta, PodGroup, Workload
from karta_interpreter.base.errors import ComponentNotFoundError, WorkloadError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.evaluation.attribution import matches_component_type
from tests.support.examples import few
from tests.support.rows import rows

Make = Callable[..., Workload]

TEMPLATE = {"spec": {"containers": [{"name": "main"}]}}
SPEC = {
    "conductor": {"template": TEMPLATE},
    "sections": [{"name": "violins", "desks": 4, "players": 2, "least": 3, "template": TEMPLATE}],
}
CONDUCTOR = {"metadata": {"name": "maestro", "labels": {"part": "conductor"}}}
VIOLIN = {"metadata": {"name": "violin-0", "labels": {"part": "section", "section": "violins"}}}


def test_pods_are_attributed_to_component_and_instance(make: Make) -> None:
    orchestra = make("Orchestra", SPEC)
    assert orchestra.infer_component(VIOLIN) == "section"
    assert orchestra.infer_instance(VIOLIN) == "violins"
    assert orchestra.infer_instance(CONDUCTOR) == ""
    assert orchestra.attribute([VIOLIN, CONDUCTOR]) == (Attribution("section", "violins"), Attribution("conductor"))


def test_minimum_members_are_those_of_component_and_below(make: Make) -> None:
    orchestra = make("Orchestra", SPEC)
    assert orchestra.minimum_members("orchestra") == 1 + 3
    assert orchestra.minimum_members("section", "violins") == 3


def test_groups(raw: Callable[[str], dict[str, Any]], make: Make) -> None:
    written = raw("Orchestra")
    members = [{"componentName": "section", "groupByKeyPaths": [".metadata.labels.section"]}]
    gang = {"podGroups": [{"name": "sections", "members": members}]}
    written["spec"]["optimizationInstructions"] = {"gangScheduling": gang}
    orchestra = Workload(Karta.load(written), make("Orchestra", SPEC).object)
    assert orchestra.pod_groups([CONDUCTOR, VIOLIN]) == (PodGroup("sections", 3, (VIOLIN,), ("violins",)),)
    assert orchestra.effective_member(CONDUCTOR) is None
    member = orchestra.effective_member(VIOLIN)
    assert member is not None
    assert (member.pod_group, member.component) == ("sections", "section")


def test_without_instructions_there_are_no_groups(make: Make) -> None:
    assert make("Orchestra", SPEC).pod_groups([VIOLIN]) == ()


@rows(
    ("pod", "message"),
    [
        pytest.param(None, "a pod is a dict of JSON values, not NoneType", id="nothing"),
        pytest.param([VIOLIN], "a pod is a dict of JSON values, not list", id="several"),
        pytest.param({"metadata": {"labels": {"part": {1}}}}, "metadata.labels.part is of type set", id="no JSON"),
    ],
)
def test_values_that_are_not_pods_are_refused(make: Make, pod: Any, message: str) -> None:
    orchestra = make("Orchestra", SPEC)
    for ask in (orchestra.infer_component, orchestra.infer_instance, orchestra.effective_member):
        with pytest.raises(WorkloadError, match=message):
            ask(pod)
    for ask_all in (orchestra.attribute, orchestra.pod_groups):
        with pytest.raises(WorkloadError, match=message):
            ask_all([pod])


def test_object_with_wrong_ids_is_workload_error(make: Make) -> None:
    orchestra = make("Orchestra", {"sections": [{"name": 1}]})
    with pytest.raises(WorkloadError, match="instanceIdPath"):
        orchestra.infer_instance(VIOLIN)
    with pytest.raises(WorkloadError, match="instanceIdPath"):
        orchestra.minimum_members("section")
    with pytest.raises(ComponentNotFoundError):
        orchestra.minimum_members("tuba")


@pytest.mark.sweep
@rows("gvk", few([*Karta.catalogue()], "empty pod"), ids=str)
def test_empty_pod_matches_no_component_of_catalogue(gvk: GVK) -> None:
    for component in Karta.catalogue()[gvk].definition.components:
        assert not matches_component_type(component, {}), "a pod that says nothing is nobody's"
