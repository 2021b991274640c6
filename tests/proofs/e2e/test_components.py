"""With the gate MultiplePodTemplatesScheduling on, workloads of several components go to one cluster as they are."""

from collections.abc import Iterator

import pytest

from tests.proofs.e2e.flow import flowing
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import KINDS, Kind, kind_of
from tests.proofs.e2e.rig.plane import ControlPlane
from tests.proofs.e2e.rig.policy import ONE_CLUSTER, weighted

_SEVERAL = [kind for kind in KINDS if kind.components]


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
        assert flow.members({target: placed.template})[target]["metadata"]["generation"] == 1, "never another count"

        flow.report(**{target: "running"})
        flow.health(**{target: "Healthy"})
        flow.aggregated(kind.whole([flow.member(target)]))

        flow.apply(kind.scaled(flow.template, up.template))
        assert flow.members({target: up.template})[target]["metadata"]["generation"] == 2, "never another count"
        assert all(api.find(flow.template) is None for name, api in plane.members.items() if name != target)


def test_a_kind_of_one_component_is_divided_as_ever(plane: ControlPlane) -> None:
    kind = kind_of("Deployment")
    stage = kind.stages[0]
    with flowing(plane, kind, kind.workload("divided-with-the-gate"), weighted(2, 1)) as flow:
        flow.scheduled({"member1": 4, "member2": 2})
        flow.members(stage.members)
