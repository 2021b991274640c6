"""Kartas compiled to customizations: Karmada answers by their scripts alone, and no webhook is registered."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import yaml

from tests.proofs.e2e.flow import Flow, flowing
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import Kind, kind_of
from tests.proofs.rig.api import Object, at_rest, until
from tests.proofs.rig.interpreter import Interpreter, run
from tests.proofs.rig.layout import MEMBERS
from tests.proofs.rig.ledger import Ledger
from tests.proofs.rig.places import put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import ONE_CLUSTER, weighted

_KINDS = [kind_of(name) for name in ("JobSet", "RayCluster", "PyTorchJob")]
_RETAIN_REPLICAS = {"resourcetemplate.karmada.io/retain-replicas": "true"}
_EVERYWHERE_HEALTHY = dict.fromkeys(MEMBERS, "Healthy")

_WORKS = "/apis/work.karmada.io/v1alpha1/works"
_MARKED = """
local revised = ReviseReplica

function ReviseReplica(obj, replicas)
  local found = revised(obj, replicas)
  found.metadata.labels = {marked = "true"}
  return found
end
"""

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


def test_switch_from_webhook_to_customization_changes_no_work(plane: ControlPlane, installed: Installed) -> None:
    server = installed.serve()
    installed.registered({"url": server.url})
    with ExitStack() as stack:
        flows = [
            stack.enter_context(flowing(plane, kind, kind.workload(f"switched-{kind.name.lower()}"), weighted(2, 1)))
            for kind in _KINDS
        ]
        workloads = {f"{flow.kind.name} {flow.name} in {member}" for flow in flows for member in MEMBERS}
        for flow in flows:
            _divided(flow, 0)
            flow.followed()
            flow.report(**dict.fromkeys(MEMBERS, "running"))
            _whole(flow)
        before = _works(plane)
        assert before.keys() > workloads

        # Components that start ask about every object anew. The first control: the webhook answers as before.
        plane.restart_components(multiple_pod_templates=False)
        _goes_well(plane, "witness-of-the-webhook")
        assert _changed(before, _works(plane)) == set()
        calls = _calls(server)
        assert calls > 0

        (jobset, *_) = stack.enter_context(_exported(plane))
        plane.restart_components(multiple_pod_templates=False)
        _goes_well(plane, "witness-of-the-scripts")
        assert _changed(before, _works(plane)) == set()
        assert _calls(server) == calls, "the scripts answer alone"
        flows[0].saw(f"{len(before)} Works are as they were, and the webhook is not asked any more")
        installed.stop(server)
        plane.karmada.delete(installed.registration())
        for flow in flows:
            flow.apply(flow.kind.scaled(flow.template, flow.kind.stages[1].template))
            _divided(flow, 1)

        # The second control: of a script that answers otherwise, the same comparison of what is sent shows it.
        scaled = _sent(_works(plane))
        assert _changed(_sent(before), scaled) == workloads
        jobset["spec"]["customizations"]["replicaRevision"]["luaScript"] += _MARKED
        plane.karmada.apply(jobset)
        plane.restart_components(multiple_pod_templates=False)
        of_jobset = {name for name in workloads if name.startswith("JobSet ")}
        until("the Works of the JobSet change", lambda: of_jobset <= _changed(scaled, _sent(_works(plane))))
        assert _changed(scaled, _sent(_works(plane))) == of_jobset
        flows[0].saw(f"another script changes {len(of_jobset)} Works")


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

        if kind.stays:  # no autoscaler scales it either
            return
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
            flow.members({target: kind.running(stage.template)})
            flow.report(**{target: "running"})
            flow.health(**{target: "Healthy"})
            flow.aggregated(kind.whole([flow.member(target)]))


@contextmanager
def _exported(plane: ControlPlane, *options: str) -> Iterator[list[Object]]:
    """Have the customizations that our command prints on the control plane, in the order of the kinds."""
    done = run("export", "customization", *(kind.name for kind in _KINDS), *options)
    assert done.returncode == 0, done.stderr
    customizations = list(yaml.safe_load_all(done.stdout))
    assert len(customizations) == len(_KINDS)
    for customization in customizations:
        plane.karmada.apply(customization)
    try:
        yield customizations
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


def _goes_well(plane: ControlPlane, name: str) -> None:
    """Send one more workload all the way: what Karmada does when it starts comes first."""
    kind = _KINDS[0]
    with flowing(plane, kind, kind.workload(name), weighted(2, 1)) as flow:
        _divided(flow, 0)
        flow.report(**dict.fromkeys(MEMBERS, "running"))
        _whole(flow)


def _works(plane: ControlPlane) -> Object:
    """Return what Karmada sends to the members and hears of it, by object and member, when it has come to rest."""

    def found() -> Object:
        listed = (plane.karmada.get(_WORKS) or {"items": []})["items"]
        return {_name(work, manifest): _seen(work) for work in listed for manifest in _manifests(work)}

    return at_rest("the Works", found)


def _manifests(work: Object) -> list[Object]:
    manifests: list[Object] = work["spec"]["workload"]["manifests"]
    return manifests


def _name(work: Object, manifest: Object) -> str:
    member = work["metadata"]["namespace"].removeprefix("karmada-es-")
    return f"{manifest['kind']} {manifest['metadata']['name']} in {member}"


def _seen(work: Object) -> Object:
    # No resourceVersion: Karmada dates its own conditions anew when it starts.
    generation = work["metadata"]["generation"]  # of a spec that was never written since
    statuses = work.get("status", {}).get("manifestStatuses")
    return {"generation": generation, "manifests": _manifests(work), "statuses": statuses}


def _sent(works: Object) -> Object:
    """Leave out what members report: they go on reporting after a change of the replicas."""
    return {name: work["manifests"] for name, work in works.items()}


def _changed(before: Object, after: Object) -> set[str]:
    return {name for name in before if after.get(name) != before[name]}


def _calls(server: Interpreter) -> float:
    ledger = Ledger()
    ledger.read(server.get("/metrics")[1])
    return sum(row.calls for row in ledger.rows.values())
