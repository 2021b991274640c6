"""With the gate MultiplePodTemplatesScheduling on, workloads of several components go to one cluster as they are."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.proofs.e2e.flow import Flow, flowing
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import KINDS, Kind, at, kind_of
from tests.proofs.e2e.rig.api import Api, Object, until
from tests.proofs.e2e.rig.plane import ControlPlane
from tests.proofs.e2e.rig.policy import ONE_CLUSTER, weighted

_SEVERAL = [kind for kind in KINDS if kind.components]
_SUSPENDABLE = [kind for kind in _SEVERAL if kind.suspend]


@pytest.fixture(scope="module", autouse=True)
def _gate(plane: ControlPlane, installed: Installed) -> Iterator[None]:
    plane.restart_components(multiple_pod_templates=True)
    server = installed.serve("--multiple-pod-templates-scheduling")
    installed.registered({"url": server.url})
    yield
    installed.stop(server)
    plane.restart_components(multiple_pod_templates=False)


@pytest.mark.parametrize("kind", _SEVERAL, ids=[kind.name for kind in _SEVERAL])
def test_components_are_scheduled_together_and_never_scaled(plane: ControlPlane, kind: Kind) -> None:
    placed, up, _ = kind.stages
    with flowing(plane, kind, kind.workload(f"whole-{kind.name.lower()}"), ONE_CLUSTER) as flow:
        spec = flow.scheduled_to_one()["spec"]
        (target,) = (cluster["name"] for cluster in spec["clusters"])
        assert {component["name"]: component["replicas"] for component in spec["components"]} == kind.components
        assert "replicas" not in spec
        _placed(flow, spec["components"])
        assert flow.members({target: placed.template})[target]["metadata"]["generation"] == 1, "never another count"

        flow.report(**{target: "running"})
        flow.health(**{target: "Healthy"})
        flow.aggregated(kind.whole([flow.member(target)]))

        flow.apply(kind.scaled(flow.template, up.template))
        assert flow.members({target: up.template})[target]["metadata"]["generation"] == 2, "never another count"
        components = flow.binding()["spec"]["components"]
        assert [each["name"] for each in components] == [each["name"] for each in spec["components"]]
        assert components != spec["components"]
        _placed(flow, components)
        assert all(api.find(flow.template) is None for name, api in plane.members.items() if name != target)


@pytest.mark.parametrize("kind", _SUSPENDABLE, ids=[kind.name for kind in _SUSPENDABLE])
def test_components_stay_through_suspension_and_a_restart_of_karmada(plane: ControlPlane, kind: Kind) -> None:
    with flowing(plane, kind, kind.workload(f"paused-{kind.name.lower()}"), ONE_CLUSTER) as flow:
        before = flow.scheduled_to_one()["spec"]
        _placed(flow, before["components"])
        accepted = flow.binding()["spec"]
        for suspended in (True, False):
            _switch(flow, before["clusters"][0]["name"], suspended=suspended)
            assert _decided(flow.binding()["spec"]) == _decided(accepted)
        plane.restart_components(multiple_pod_templates=True)
        _switch(flow, before["clusters"][0]["name"], suspended=True)
        assert _decided(flow.binding()["spec"]) == _decided(accepted)


def _switch(flow: Flow, target: str, *, suspended: bool) -> None:
    """Suspend or resume the template, and wait for its member."""
    flow.apply(flow.kind.switched(flow.template, suspended=suspended))
    word = "suspends" if suspended else "resumes"
    until(f"{target} {word} {flow.name}", lambda: at(flow.member(target), flow.kind.suspend) is suspended)
    flow.saw(f"{target} {word} it")


def _decided(spec: Object) -> tuple[Any, Any]:
    return spec["components"], spec["clusters"]


def _placed(flow: Flow, components: Any) -> None:
    """Wait until the scheduler has placed the components; Karmada says so since 1.19."""
    schema = _bindings(flow.karmada)["spec"]["properties"]["clusters"]["items"]["properties"]
    if "components" not in schema:
        return
    counts = {each["name"]: each["replicas"] for each in components}
    until(f"{counts} are placed", lambda: _counts_placed(flow) == [counts])
    flow.saw(f"placed: {counts}")


def _counts_placed(flow: Flow) -> list[dict[str, int]]:
    clusters = flow.binding()["spec"].get("clusters", [])
    return [{each["name"]: each["replicas"] for each in cluster.get("components", [])} for cluster in clusters]


def _bindings(karmada: Api) -> Any:
    """Return the schema of ResourceBindings."""
    name = "resourcebindings.work.karmada.io"
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}}
    found: Any = karmada.find(kind)
    (served,) = [version for version in found["spec"]["versions"] if version["name"] == "v1alpha2"]
    return served["schema"]["openAPIV3Schema"]["properties"]


def test_a_kind_of_one_component_is_divided_as_ever(plane: ControlPlane) -> None:
    kind = kind_of("Deployment")
    stage = kind.stages[0]
    with flowing(plane, kind, kind.workload("divided-with-the-gate"), weighted(2, 1)) as flow:
        flow.scheduled({"member1": 4, "member2": 2})
        flow.members(stage.members)
