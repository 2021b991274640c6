"""Kartas compiled to customizations: Karmada answers by their scripts alone, and no webhook is registered."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import yaml

from tests.e2e.flow import Flow, flowing
from tests.e2e.installed import Installed
from tests.e2e.kinds import Kind, kind_of, put
from tests.e2e.rig.api import Object
from tests.e2e.rig.interpreter import run
from tests.e2e.rig.layout import MEMBERS
from tests.e2e.rig.plane import ControlPlane
from tests.e2e.rig.policy import ONE_CLUSTER, weighted

_KINDS = [kind_of(name) for name in ("JobSet", "RayCluster", "PyTorchJob")]
_RETAIN_REPLICAS = {"resourcetemplate.karmada.io/retain-replicas": "true"}
_EVERYWHERE_HEALTHY = dict.fromkeys(MEMBERS, "Healthy")

_each_kind = pytest.mark.parametrize("kind", _KINDS, ids=[kind.name for kind in _KINDS])


def _with_gate(*, on: bool) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("customized", [on], ids=["gate-on" if on else "gate-off"], indirect=True)


@pytest.fixture(scope="module")
def customized(request: pytest.FixtureRequest, plane: ControlPlane, installed: Installed) -> Iterator[None]:
    """A Karmada without our webhook, with the exported customizations, and the gate as the test wants it."""
    gate: bool = request.param
    plane.karmada.delete(installed.registration())
    with _exported(plane, *(["--multiple-pod-templates"] if gate else [])):
        # Components that start read all customizations first: Karmada gives no other sign of having read one.
        plane.restart_components(multiple_pod_templates=gate)
        yield
    if gate:
        plane.restart_components(multiple_pod_templates=False)


@_with_gate(on=False)
@_each_kind
@pytest.mark.usefixtures("customized")
def test_scripts_alone_divide_scale_judge_and_retain(plane: ControlPlane, kind: Kind) -> None:
    placed, up, _ = kind.stages
    with flowing(plane, kind, kind.workload(f"exported-{kind.name.lower()}"), weighted(2, 1)) as flow:
        binding = _divided(flow, 0)
        assert binding["spec"]["replicas"] == placed.pods
        assert binding["spec"]["replicaRequirements"]["resourceRequest"] == kind.requires
        flow.followed()

        flow.report(member1="running")
        flow.health(member1="Healthy", member2="Unhealthy")
        flow.report(member2="running")
        _whole(flow)

        flow.apply(kind.scaled(flow.template, up.template))
        _divided(flow, 1)
        flow.report(**dict.fromkeys(MEMBERS, "running"))
        _whole(flow)

        flow.apply(put(flow.template, ("metadata", "labels"), _RETAIN_REPLICAS))
        flow.edited("before")
        plane.members["member1"].put(flow.template, lambda now: kind.scaled(now, placed.template))
        plane.members["member2"].put(flow.template, lambda now: kind.switched(now, suspended=True))
        flow.saw(f"member1's autoscaler sets {placed.template}, member2's queue suspends the workload")
        flow.edited("after")
        flow.members({"member1": placed.template, "member2": up.member2})
        assert flow.suspended("member2") is True
        assert not flow.suspended("member1")


@_with_gate(on=True)
@_each_kind
@pytest.mark.usefixtures("customized")
def test_scripts_alone_schedule_components_together(plane: ControlPlane, kind: Kind) -> None:
    placed, up, _ = kind.stages
    with flowing(plane, kind, kind.workload(f"exported-whole-{kind.name.lower()}"), ONE_CLUSTER) as flow:
        spec = flow.scheduled_to_one()["spec"]
        (target,) = (cluster["name"] for cluster in spec["clusters"])
        assert {component["name"]: component["replicas"] for component in spec["components"]} == kind.components
        assert "replicas" not in spec
        for stage in (placed, up):
            flow.apply(kind.scaled(flow.template, stage.template))
            flow.members({target: stage.template})
            flow.report(**{target: "running"})
            flow.health(**{target: "Healthy"})
            flow.aggregated(kind.whole([flow.member(target)]))


@contextmanager
def _exported(plane: ControlPlane, *options: str) -> Iterator[None]:
    """Have the customizations that our command prints on the control plane."""
    done = run("export", "customization", *(kind.name for kind in _KINDS), *options)
    assert done.returncode == 0, done.stderr
    customizations = list(yaml.safe_load_all(done.stdout))
    assert len(customizations) == len(_KINDS)
    for customization in customizations:
        plane.karmada.apply(customization)
    try:
        yield
    finally:
        for customization in customizations:
            plane.karmada.delete(customization)


def _divided(flow: Flow, number: int) -> Object:
    stage = flow.kind.stages[number]
    binding = flow.scheduled({"member1": stage.pods * 2 // 3, "member2": stage.pods // 3})
    flow.members(stage.members)
    return binding


def _whole(flow: Flow) -> None:
    flow.health(**_EVERYWHERE_HEALTHY)
    flow.aggregated(flow.kind.whole([flow.member(name) for name in MEMBERS]))
