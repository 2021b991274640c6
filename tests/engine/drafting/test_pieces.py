"""Drafts of kinds whose operators make pods from fields: what RabbitMQ's and ScyllaDB's operators read, cut down."""

from typing import Any

from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting import draft_from
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.verification import Evidence

Thing = dict[str, Any]


def _resources(cpu: str, memory: str) -> Thing:
    return {"requests": {"cpu": cpu, "memory": memory}}


def _pod(name: str, *containers: Thing, **labels: str) -> Thing:
    metadata = {"name": name, "labels": {each.replace("_", "/"): value for each, value in labels.items()}}
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": list(containers)}}


def _rabbit(name: str, replicas: int, cpu: str, *overrides: Thing) -> Evidence:
    spec: Thing = {
        "replicas": replicas,
        "image": f"rabbitmq:{cpu}",
        "resources": _resources(cpu, "2Gi"),
        "override": {"statefulSet": {"spec": {"template": {"spec": {"containers": list(overrides)}}}}},
    }
    obj = {"apiVersion": "rabbitmq.com/v1beta1", "kind": "RabbitmqCluster", "metadata": {"name": name}, "spec": spec}
    server = {"name": "rabbitmq", "image": spec["image"], "resources": spec["resources"]}
    return Evidence(obj, tuple(_pod(f"{name}-server-{number}", server) for number in range(replicas)), now=2e9)


def _scylla(name: str, **racks: tuple[int, str]) -> Evidence:
    listed: list[Thing] = [
        {"name": rack, "members": number, "resources": _resources(cpu, "8Gi"), "agentResources": _resources("50m", cpu)}
        for rack, (number, cpu) in racks.items()
    ]
    spec = {"datacenter": {"name": "dc", "racks": listed}, "version": "6.2"}
    obj = {"apiVersion": "scylla.scylladb.com/v1", "kind": "ScyllaCluster", "metadata": {"name": name}, "spec": spec}
    pods = [
        _pod(
            f"{name}-{rack['name']}-{number}",
            {"name": "scylla", "image": "scylla:6.2", "resources": rack["resources"]},
            {"name": "agent", "image": "agent:3", "resources": rack["agentResources"]},
            scylla_rack=rack["name"],
        )
        for rack in listed
        for number in range(rack["members"])
    ]
    return Evidence(obj, tuple(pods), now=2e9)


def _answers(shown: list[Evidence]) -> tuple[list[list[tuple[str, int, int]]], list[str]]:
    """Return the name, the count and the CPU of each pod set by the draft, and its doubts about pods."""
    drafted = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown)
    definition = load_definition(drafted.karta)
    found = [
        [
            (
                each.name,
                each.replicas,
                pod_requirements(each.template, Counting.SCHEDULER).resource_request.get("cpu", 0),
            )
            for each in pod_sets(definition, evidence.object)
        ]
        for evidence in shown
    ]
    places = ("specDefinition", "scaleDefinition", "podSelector")
    return found, [note for path, note in drafted.notes if path[-1] in places and note.startswith("CHECK")]


def test_draft_of_rabbitmq_takes_fields_and_not_the_override_template() -> None:
    found, doubts = _answers(
        [_rabbit("a", 3, "1"), _rabbit("b", 1, "2"), _rabbit("c", 5, "500m"), _rabbit("d", 0, "3")]
    )

    name = "rabbitmqcluster"
    assert found == [[(name, 3, 1000)], [(name, 1, 2000)], [(name, 5, 500)], [(name, 0, 3000)]]
    assert doubts == []


def test_draft_of_rabbitmq_takes_fields_although_the_override_names_the_container() -> None:
    mounts = {"name": "rabbitmq", "volumeMounts": [{"name": "wal", "mountPath": "/wal"}]}
    found, doubts = _answers([_rabbit("a", 3, "1"), _rabbit("b", 1, "2", mounts), _rabbit("c", 5, "500m", mounts)])

    assert found == [[("rabbitmqcluster", 3, 1000)], [("rabbitmqcluster", 1, 2000)], [("rabbitmqcluster", 5, 500)]]
    assert doubts == []


def test_fields_next_to_large_override_are_found() -> None:
    # The schema of a whole pod stands before the fields that count.
    inner = {"properties": {f"field{number}": {"type": "string"} for number in range(600)}}
    schema = {"properties": {"spec": {"properties": {"anOverride": inner}}}}
    shown = [_rabbit("a", 3, "1"), _rabbit("b", 1, "2"), _rabbit("c", 5, "500m")]

    drafted = draft_from(CustomKind("crd", GVK.of(shown[0].object), schema), shown)

    template = drafted.karta["spec"]["structureDefinition"]["rootComponent"]["specDefinition"]["podTemplateSpecPath"]
    assert "resources: .resources" in template


def _collector(name: str, replicas: int, cpu: str, allocator: str = "") -> Evidence:
    spec: Thing = {"replicas": replicas, "resources": _resources(cpu, "1Gi")}
    made = [{"name": "collector", "image": "collector:1", "resources": spec["resources"]}] * replicas
    pods = [_pod(f"{name}-{number}", each, role="collector") for number, each in enumerate(made)]
    if allocator:
        spec["targetAllocator"] = {"enabled": True, "resources": _resources(allocator, "2Gi")}
        container = {"name": "allocator", "image": "allocator:1", "resources": spec["targetAllocator"]["resources"]}
        pods.append(_pod(f"{name}-allocator", container, role="allocator"))
    obj = {"apiVersion": "example.io/v1", "kind": "Collector", "metadata": {"name": name}, "spec": spec}
    return Evidence(obj, tuple(pods), now=2e9)


def test_pods_with_other_containers_are_another_component_where_a_field_tells_them() -> None:
    found, doubts = _answers(
        [_collector("a", 3, "1"), _collector("b", 2, "2", "250m"), _collector("c", 4, "4", "500m")]
    )

    assert [[pods[1:] for pods in sets] for sets in found] == [
        [(3, 1000)],
        [(2, 2000), (1, 250)],
        [(4, 4000), (1, 500)],
    ]
    assert [note for note in doubts if "tell the objects that have them?" in note]


def test_draft_of_scylla_has_the_members_of_each_rack() -> None:
    found, doubts = _answers([_scylla("a", east=(2, "4"), west=(3, "2")), _scylla("b", north=(1, "8"))])

    assert found == [[("east", 2, 4050), ("west", 3, 2050)], [("north", 1, 8050)]]
    assert doubts == []


def test_draft_of_one_object_of_fields_has_doubts() -> None:
    found, doubts = _answers([_rabbit("a", 3, "1")])

    assert found == [[("rabbitmqcluster", 3, 1000)]]
    assert len(doubts) == 2, doubts


def _job(name: str, **roles: int) -> Evidence:
    """Return a job whose operator makes the pods of its workers alone."""
    containers = [{"name": "main", "image": "main:1"}]
    spec = {
        role: {"replicas": number, "template": {"spec": {"containers": containers}}} for role, number in roles.items()
    }
    obj = {"apiVersion": "example.com/v1", "kind": "TrainerJob", "metadata": {"name": name}, "spec": spec}
    pods = tuple(_pod(f"{name}-{number}", *containers) for number in range(roles["worker"]))
    return Evidence(obj, pods, now=2e9)


def test_draft_leaves_out_a_template_that_no_pod_is_of_and_asks() -> None:
    shown = [_job("a", worker=2), _job("b", worker=3), _job("c", worker=4, master=1)]

    found, _ = _answers(shown)

    assert [[pods[1] for pods in sets] for sets in found] == [[2], [3], [4]]
    notes = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown).notes
    assert any("no pod is of .spec.master.template alone" in note for _, note in notes)
