"""With the gate MultiplePodTemplatesScheduling on, workloads of several components go to one cluster as they are."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from karta_interpreter.base.k8s.quantity import Quantity
from tests.proofs.e2e.flow import Flow, flowing, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kartas import karta_of
from tests.proofs.e2e.kinds import KINDS, WHOLE, Kind, Stage, kind_of, training_runtime
from tests.proofs.rig.api import Api, Object, named, until
from tests.proofs.rig.binaries import build_some, chosen
from tests.proofs.rig.estimators import estimating, sets_counted
from tests.proofs.rig.nodes import with_nodes
from tests.proofs.rig.places import put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import ONE_CLUSTER, weighted

_SEVERAL = [kind for kind in (*KINDS, *WHOLE) if kind.components]
_SUSPENDABLE = [kind for kind in _SEVERAL if kind.suspend]
_PLENTY, _SCARCE = "1k", "16"
_AMOUNTS = {"cpu", "memory"}
_ON_MEMBER2: Object = {"kubernetes.io/hostname": "member2-node"}


@pytest.fixture(scope="module", autouse=True)
def _gate(plane: ControlPlane, installed: Installed) -> Iterator[None]:
    more = (training_runtime(), *map(karta_of, WHOLE), _quota(_PLENTY))
    for thing in more:
        plane.karmada.apply(thing)
    if not _records_what_is_placed(plane.karmada):
        say("not asked: spec.clusters[].components, which Karmada has from 1.19 on")
    plane.restart_components(multiple_pod_templates=True)
    server = installed.serve("--multiple-pod-templates-scheduling")
    installed.registered({"url": server.url}, len(KINDS) + len(WHOLE))
    yield
    installed.stop(server)
    for thing in more:
        plane.karmada.delete(thing)
    plane.restart_components(multiple_pod_templates=False)


@pytest.mark.parametrize("kind", _SEVERAL, ids=[kind.title for kind in _SEVERAL])
def test_components_are_scheduled_together_and_never_scaled(plane: ControlPlane, kind: Kind) -> None:
    placed, up, down = kind.stages
    with flowing(plane, kind, kind.workload(f"whole-{kind.title.lower()}"), ONE_CLUSTER) as flow:
        spec = flow.scheduled_to_one()["spec"]
        (target,) = (cluster["name"] for cluster in spec["clusters"])
        assert "replicas" not in spec
        components = _agreed(flow, placed)
        assert {component["name"]: component["replicas"] for component in components} == kind.components
        assert flow.members({target: placed.template})[target]["metadata"]["generation"] == 1, "never another count"

        flow.report(**{target: "running"})
        flow.health(**{target: "Healthy"})
        flow.aggregated(kind.whole([flow.member(target)]))

        for generation, stage in enumerate((up, down), 2):
            flow.apply(kind.scaled(flow.template, stage.template))
            member = flow.members({target: kind.running(stage.template)})[target]
            assert member["metadata"]["generation"] == (1 if kind.stays else generation), "never another count"
            assert _without_counts(_agreed(flow, stage)) == _without_counts(components)
        for suspended in (True, False) if kind.suspend else ():
            accepted = _decided(flow)
            _switch(flow, target, suspended=suspended)
            assert _decided(flow) == accepted
            _agreed(flow, down)
        assert all(api.find(flow.template) is None for name, api in plane.members.items() if name != target)
    until("nothing is charged any more", lambda: not _charged(plane.karmada))


def test_components_stay_through_a_restart_of_karmada(plane: ControlPlane) -> None:
    with ExitStack() as stack:
        flows = [
            stack.enter_context(flowing(plane, kind, kind.workload(f"kept-{kind.title.lower()}"), ONE_CLUSTER))
            for kind in _SUSPENDABLE
        ]
        targets = [flow.scheduled_to_one()["spec"]["clusters"][0]["name"] for flow in flows]
        accepted = [_decided(flow) for flow in flows]
        plane.restart_components(multiple_pod_templates=True)
        for flow, target, decided in zip(flows, targets, accepted, strict=True):
            _switch(flow, target, suspended=True)
            assert _decided(flow) == decided


def test_change_over_quota_is_refused_and_components_stay(plane: ControlPlane) -> None:
    kind = kind_of("RayCluster")
    placed, up, down = kind.stages
    with _scarce(plane), flowing(plane, kind, kind.workload("scarce"), ONE_CLUSTER) as flow:
        target = flow.scheduled_to_one()["spec"]["clusters"][0]["name"]
        _agreed(flow, placed)
        flow.members({target: placed.template})
        accepted = _decided(flow)
        flow.apply(kind.scaled(flow.template, up.template))
        flow.saw(until("it is refused", lambda: _refusals(flow))[0])
        assert _decided(flow) == accepted
        assert kind.counted(flow.member(target)) == placed.template
        flow.apply(kind.scaled(flow.template, down.template))
        flow.members({target: down.template})
        _agreed(flow, down)


def test_estimators_count_sets_of_components(plane: ControlPlane) -> None:
    versions = chosen()
    if versions.source is None:
        pytest.skip(
            "needs KARMADA_SOURCE: until 1.18 estimators take messages that Kubernetes' libraries no longer have"
        )
    build_some(["karmada-scheduler-estimator"], say, versions)
    # A set has pods of 1, 2, 2, 2, 4 and 4 cores. Four of them have room on 64 cores, and none where those of 4 may not
    # run; on twelve nodes of 5 cores three find places, and not the four that their 60 cores promise.
    with _room(plane, member1=(1, 64), member2=(1, 32)):
        assert _placed_by_room(plane, "promised", _ON_MEMBER2) == "member1"
        with estimating(plane):
            assert _placed_by_room(plane, "counted", _ON_MEMBER2, member1=0, member2=2) == "member2"
    with _room(plane, member1=(12, 5), member2=(1, 32)), estimating(plane):
        assert _placed_by_room(plane, "packed", {}, member1=3, member2=2) == "member1"


def test_kind_of_one_component_is_divided(plane: ControlPlane) -> None:
    kind = kind_of("Deployment")
    stage = kind.stages[0]
    with flowing(plane, kind, kind.workload("divided-with-the-gate"), weighted(2, 1)) as flow:
        flow.scheduled({"member1": 4, "member2": 2})
        flow.members(stage.members)


def _agreed(flow: Flow, stage: Stage) -> Any:
    """Wait until the components are those of a stage, placed and charged as they are; return them."""
    records = _records_what_is_placed(flow.karmada)

    def agreed() -> Any:
        spec = flow.binding()["spec"]
        counts = {each["name"]: each["replicas"] for each in spec["components"]}
        placed = [{each["name"]: each["replicas"] for each in one.get("components", ())} for one in spec["clusters"]]
        agrees = sum(counts.values()) == stage.pods * flow.kind.pods_of_replica and (not records or placed == [counts])
        return agrees and _charged(flow.karmada) == _needed(spec["components"]) and spec["components"]

    components = until(f"{stage.pods} pods are placed and charged", agreed)
    counts = {each["name"]: each["replicas"] for each in components}
    charged = {name: str(amount) for name, amount in _charged(flow.karmada).items()}
    flow.saw(f"{'placed and charged' if records else 'charged'}: {counts}, {charged}")
    return components


def _needed(components: Any) -> dict[str, Quantity]:
    needed: dict[str, Quantity] = {}
    for component in components:
        for name, amount in component["replicaRequirements"]["resourceRequest"].items():
            total = Quantity(Quantity.parse(amount).nanos * component["replicas"])
            needed[name] = needed.get(name, Quantity(0)) + total
    return {name: amount for name, amount in needed.items() if name in _AMOUNTS}


def _quota(cpu: str) -> Object:
    quota = named("policy.karmada.io/v1alpha1", "FederatedResourceQuota", "components", "default")
    return quota | {"spec": {"overall": {"cpu": cpu, "memory": "1Ti"}}}


@contextmanager
def _scarce(plane: ControlPlane) -> Iterator[None]:
    """Have a quota that is soon used up until the end of the block."""
    plane.karmada.apply(_quota(_SCARCE))
    try:
        yield
    finally:
        plane.karmada.apply(_quota(_PLENTY))


def _charged(karmada: Api) -> dict[str, Quantity]:
    """Return what the quota says is used, without zeros."""
    found = karmada.find(_quota(_PLENTY)) or {}
    used = {name: Quantity.parse(amount) for name, amount in found["status"].get("overallUsed", {}).items()}
    return {name: amount for name, amount in used.items() if amount.nanos}


def _refusals(flow: Flow) -> list[str]:
    return [warning for warning in flow.warnings() if "quota" in warning.lower()]


@contextmanager
def _room(plane: ControlPlane, **nodes: tuple[int, int]) -> Iterator[None]:
    """Have members with so many nodes of so many cores until the end of the block."""
    with ExitStack() as stack:
        for name, (count, cpu) in nodes.items():
            stack.enter_context(with_nodes(plane.members[name], count, cpu))
        for name, (count, cpu) in nodes.items():
            until(f"Karmada sees {count} nodes of {name}", lambda: _cores(plane, name) == count * cpu)  # noqa: B023 - now
        yield


def _cores(plane: ControlPlane, name: str) -> int:
    cluster: Any = plane.karmada.get(f"/apis/cluster.karmada.io/v1alpha1/clusters/{name}")
    return Quantity.parse(cluster["status"]["resourceSummary"]["allocatable"]["cpu"]).value


def _placed_by_room(plane: ControlPlane, name: str, labels: Object, **sets: int) -> str:
    """Place a workload, of which some pods need nodes with labels; return where, and see what estimators counted."""
    kind = kind_of("RayCluster")
    template = put(kind.workload(name), ("spec", "workerGroupSpecs", 1, "template", "spec", "nodeSelector"), labels)
    with flowing(plane, kind, template, ONE_CLUSTER) as flow:
        target: str = flow.scheduled_to_one()["spec"]["clusters"][0]["name"]
        assert sets_counted(plane, name) == sets
        flow.saw(f"estimators counted {sets}" if sets else "by what the members say of themselves")
        return target


def _switch(flow: Flow, target: str, *, suspended: bool) -> None:
    flow.apply(flow.kind.switched(flow.template, suspended=suspended))
    word = "suspends" if suspended else "resumes"
    until(f"{target} {word} {flow.name}", lambda: flow.kind.is_switched(flow.member(target), suspended=suspended))
    flow.saw(f"{target} {word} it")


def _decided(flow: Flow) -> tuple[Any, Any]:
    spec = flow.binding()["spec"]
    return spec["components"], spec["clusters"]


def _without_counts(components: Any) -> list[Object]:
    return [component | {"replicas": None} for component in components]


def _records_what_is_placed(karmada: Api) -> bool:
    """Whether the schema of ResourceBindings has spec.clusters[].components."""
    crd = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "resourcebindings.work.karmada.io")
    found: Any = karmada.find(crd)
    (served,) = [version for version in found["spec"]["versions"] if version["name"] == "v1alpha2"]
    spec = served["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return "components" in spec["properties"]["clusters"]["items"]["properties"]
