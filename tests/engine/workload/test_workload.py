import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter import GVK, ComponentNotFoundError, Karta, Status, Workload, WorkloadError, WorkloadTree

ORCHESTRA = {"apiVersion": "toys.example.com/v1", "kind": "Orchestra"}


@pytest.fixture
def workload(texts: dict[str, str]) -> Workload:
    obj = {**ORCHESTRA, "metadata": {"name": "city", "namespace": "music"}, "spec": None}
    return Workload(Karta.load(texts["Orchestra"]), obj)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        pytest.param({"kind": "Orchestra", "metadata": {"name": "x"}}, "apiVersion", id="no apiVersion"),
        pytest.param({"apiVersion": "toys.example.com/v1", "metadata": {"name": "x"}}, "kind", id="no kind"),
        pytest.param(ORCHESTRA, "metadata.name or metadata.generateName", id="no metadata"),
        pytest.param({**ORCHESTRA, "metadata": {"name": ""}}, "metadata.name", id="an empty name"),
        pytest.param(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}},
            "the object is a v1, Kind=Pod, but the Karta is for toys.example.com/v1, Kind=Orchestra",
            id="another kind",
        ),
        pytest.param([], "not list", id="no object"),
    ],
)
def test_object_of_another_kind_is_refused(texts: dict[str, str], obj: Any, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        Workload(Karta.load(texts["Orchestra"]), obj)


def test_generated_name_is_enough(texts: dict[str, str]) -> None:
    obj = {**ORCHESTRA, "metadata": {"generateName": "city-"}}
    assert Workload(Karta.load(texts["Orchestra"]), obj).object is obj


def test_another_version_is_taken_when_asked_for(texts: dict[str, str]) -> None:
    obj = {**ORCHESTRA, "apiVersion": "toys.example.com/v2", "metadata": {"name": "x"}}
    workload = Workload(Karta.load(texts["Orchestra"]), obj, any_kind=True)
    assert workload.suspend().object["spec"]["paused"] is True


def test_components_come_in_the_order_of_the_definition(workload: Workload) -> None:
    assert list(workload.components) == ["orchestra", "conductor", "section", "chair"]
    assert workload.root == workload.component("orchestra")
    assert workload.root.kind == GVK("toys.example.com", "v1", "Orchestra")
    assert workload.component("section").kind is None


def test_components_know_their_relatives(workload: Workload) -> None:
    assert [child.name for child in workload.root.children] == ["conductor", "section"]
    assert [child.name for child in workload.component("section").children] == ["chair"]
    assert workload.component("chair").owner == workload.component("section")
    assert workload.root.owner is None
    assert [each.name for each in workload.components.values() if each.has_pods] == ["conductor", "section"]


def test_missing_component_has_a_hint(workload: Workload) -> None:
    with pytest.raises(ComponentNotFoundError, match='no component "sektion"; did you mean section'):
        workload.component("sektion")
    with pytest.raises(ComponentNotFoundError, match="there are: orchestra, conductor, section, chair"):
        workload.component("zzz")


def test_workloads_have_a_readable_repr(workload: Workload) -> None:
    assert repr(workload) == "Workload(toys.example.com/v1, Kind=Orchestra music/city)"
    assert repr(workload.root) == f"Component(orchestra of {workload!r})"
    assert repr(workload.karta) == "Karta(orchestra: toys.example.com/v1, Kind=Orchestra)"


def test_name_of_wrong_type_is_not_shown(workload: Workload) -> None:
    numbered = workload.replaced({**workload.object, "metadata": {"name": 3, "namespace": 4}})
    assert repr(numbered) == "Workload(toys.example.com/v1, Kind=Orchestra )"


def test_matching_statuses_come_in_their_order(make: Any) -> None:
    conditions = [{"type": "OutOfTune", "status": "True", "reason": "Rain"}]
    status = make("Orchestra", status={"phase": "Playing", "conditions": conditions}).status
    assert status.phase == "Playing"
    assert status.matched == (Status.RUNNING, Status.DEGRADED)
    assert [(each.type, each.reason) for each in status.conditions] == [("OutOfTune", "Rain")]


def test_without_a_match_the_status_is_undefined(workload: Workload) -> None:
    assert workload.status.matched == (Status.UNDEFINED,)
    assert workload.status.phase == ""


def test_unreadable_status_is_an_error_with_its_place(make: Any) -> None:
    with pytest.raises(
        WorkloadError, match=r"definition orchestra, component orchestra, phaseDefinition.path `.status.phase`"
    ):
        _ = make("Orchestra", status={"phase": 3}).status


@pytest.fixture
def tuned(raw: Any) -> Karta:
    """An orchestra that has its number of conductors in a ConfigMap."""
    definition = raw("Orchestra")
    structure = definition["spec"]["structureDefinition"]
    structure["references"] = [
        {
            "name": "score",
            "gvk": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "lookup": {"nameExpression": ".spec.score"},
        }
    ]
    structure["childComponents"][0]["scaleDefinition"] = {"replicasPath": "$score.data.conductors"}
    return Karta.load(definition)


def test_references_are_looked_up_among_the_given_objects(tuned: Karta, make: Any) -> None:
    score = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "nine"}, "data": {"conductors": "2"}}
    workload = Workload(tuned, make("Orchestra", {"score": "nine"}).object)
    known = workload.with_references([score])
    assert known.component("conductor").scales[""].replicas == 2
    assert known.suspend().component("conductor").scales[""].replicas == 2
    assert pickle.loads(pickle.dumps(known)).component("conductor").scales[""].replicas == 2  # noqa: S301 - its own
    with pytest.raises(WorkloadError, match="score"):
        _ = workload.component("conductor").scales
    with pytest.raises(WorkloadError, match="apiVersion"):
        workload.with_references([{}])


def test_pods_that_are_unknown_are_not_none() -> None:
    example = Path(__file__).parents[3] / "docs" / "examples" / "patterns" / "references"
    workload = Workload(Karta.load(example / "karta.yaml"), yaml.safe_load((example / "object.yaml").read_text()))
    for read in (
        WorkloadTree.build,
        lambda workload: workload.minimum_members("run"),
        lambda workload: workload.component("run").instances,
    ):
        with pytest.raises(WorkloadError, match=r"no pods are known: .*Kind=Blueprint torch cannot be looked up"):
            read(workload)


def test_missing_name_is_a_key_error_that_lists_the_names(workload: Workload) -> None:
    with pytest.raises(KeyError, match='there is no "x"; there are: '):
        workload.components["x"]
    with pytest.raises(KeyError, match='there is no "x"; there are: ""'):
        workload.root.instances["x"]
    assert workload.components.get("x") is None


def test_status_contains_what_matches(workload: Workload) -> None:
    assert all(status in workload.status for status in workload.status.matched)
    assert Status.RESUMING not in workload.status
    with pytest.raises(ValueError, match=r"there is no status 'running'; did you mean Running\?"):
        Status("running")
