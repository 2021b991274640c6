"""Drafts of kinds whose operators make pods from fields: what RabbitMQ's and ScyllaDB's operators read, cut down."""

from typing import Any

from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting.drafting import draft_from
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
        [
            _rabbit("a", 3, "1"),
            _rabbit("b", 1, "2"),
            _rabbit("c", 5, "500m"),
            _rabbit("d", 2, "3"),
            _rabbit("e", 0, "4"),
        ]
    )

    name = "rabbitmqcluster"
    assert found == [[(name, 3, 1000)], [(name, 1, 2000)], [(name, 5, 500)], [(name, 2, 3000)], [(name, 0, 4000)]]
    assert doubts == []


def test_draft_of_rabbitmq_takes_fields_although_the_override_names_the_container() -> None:
    mounts = {"name": "rabbitmq", "volumeMounts": [{"name": "wal", "mountPath": "/wal"}]}
    found, doubts = _answers([_rabbit("a", 3, "1"), _rabbit("b", 1, "2", mounts), _rabbit("c", 5, "500m", mounts)])

    assert found == [[("rabbitmqcluster", 3, 1000)], [("rabbitmqcluster", 1, 2000)], [("rabbitmqcluster", 5, 500)]]
    assert all("Fewer than 4" in doubt for doubt in doubts)


def test_one_object_with_operators_requests_does_not_cost_the_others_theirs() -> None:
    shown = [_rabbit("a", 3, "1"), _rabbit("b", 1, "2"), _rabbit("c", 5, "500m"), _rabbit("d", 2, "3")]
    unset = _rabbit("e", 4, "250m")
    spec = {name: value for name, value in unset.object["spec"].items() if name != "resources"}

    found, doubts = _answers([*shown, Evidence({**unset.object, "spec": spec}, unset.pods, now=2e9)])

    assert [pods[2] for sets in found for pods in sets] == [1000, 2000, 500, 3000, 250]
    assert [doubt for doubt in doubts if "What do objects without .resources have?" in doubt]


def test_container_named_after_its_object_is_one_container() -> None:
    shown = [_rabbit(name, 2, cpu) for name, cpu in {"a": "1", "b": "2", "c": "500m", "d": "3"}.items()]
    renamed = [
        Evidence(
            each.object,
            tuple(
                {
                    **pod,
                    "spec": {"containers": [{**pod["spec"]["containers"][0], "name": each.object["metadata"]["name"]}]},
                }
                for pod in each.pods
            ),
            now=2e9,
        )
        for each in shown
    ]

    found, _ = _answers(renamed)

    assert [pods[2] for sets in found for pods in sets] == [1000, 2000, 500, 3000]


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


def test_part_that_is_not_enabled_has_no_pods() -> None:
    shown = [_collector("a", 3, "1"), _collector("b", 2, "2", "250m"), _collector("c", 4, "4", "500m")]
    shown[0].object["spec"]["targetAllocator"] = {"enabled": False}

    found, _ = _answers(shown)

    assert [len(sets) for sets in found] == [1, 2, 2]


def test_draft_of_scylla_has_the_members_of_each_rack() -> None:
    found, doubts = _answers([_scylla("a", east=(2, "4"), west=(3, "2")), _scylla("b", north=(1, "8"))])

    assert found == [[("east", 2, 4050), ("west", 3, 2050)], [("north", 1, 8050)]]
    assert all("Fewer than 4" in doubt for doubt in doubts)


def test_draft_of_one_object_of_fields_has_doubts() -> None:
    found, doubts = _answers([_rabbit("a", 3, "1")])

    assert found == [[("rabbitmqcluster", 3, 1000)]]
    assert len(doubts) == 2, doubts


def _database(name: str, instances: int, routers: int, cpu: str = "") -> Evidence:
    """Return a cluster whose operator merges a list of containers into its own, and makes routers beside it."""
    spec: Thing = {"instances": instances, "router": {"instances": routers}}
    if cpu:
        spec["podSpec"] = {"containers": [{"name": "mysql", "resources": _resources(cpu, "2Gi")}]}
    server: list[Thing] = [{"name": "sidecar"}, {"name": "mysql", "resources": _resources(cpu, "2Gi") if cpu else {}}]
    pods = [_pod(f"{name}-{number}", *server, role="server") for number in range(instances)]
    pods += [_pod(f"{name}-router-{number}", {"name": "router"}, role="router") for number in range(routers)]
    obj = {"apiVersion": "example.com/v1", "kind": "Database", "metadata": {"name": name}, "spec": spec}
    return Evidence(obj, tuple(pods), now=2e9)


def test_container_that_operator_merges_has_the_requests_of_the_entry_with_its_name() -> None:
    shown = [_database("a", 1, 0), _database("b", 3, 1, "1"), _database("c", 3, 2, "2"), _database("d", 5, 1, "500m")]
    shown += [_database("e", 7, 3, "4"), _database("f", 3, 0, "1")]

    found, _ = _answers(shown)

    assert [[pods[1:] for pods in sets if pods[1]] for sets in found] == [
        [(1, 0)],
        [(3, 1000), (1, 0)],
        [(3, 2000), (2, 0)],
        [(5, 500), (1, 0)],
        [(7, 4000), (3, 0)],
        [(3, 1000)],
    ]


def _ring(name: str, size: int, racks: int, cpu: str) -> Evidence:
    """Return a datacenter whose operator spreads one count of pods over the racks."""
    spec: Thing = {
        "size": size,
        "racks": [{"name": f"r{rack}"} for rack in range(racks)],
        "resources": _resources(cpu, "4Gi"),
    }
    container = {"name": "main", "image": "main:1", "resources": spec["resources"]}
    pods = [_pod(f"{name}-{number}", container, rack=f"r{number % racks}") for number in range(size)]
    obj = {"apiVersion": "example.com/v1", "kind": "Ring", "metadata": {"name": name}, "spec": spec}
    return Evidence(obj, tuple(pods), now=2e9)


def test_pods_that_a_label_tells_apart_may_be_made_of_the_whole_object() -> None:
    found, _ = _answers([_ring("a", 3, 3, "1"), _ring("b", 6, 3, "2"), _ring("c", 2, 1, "4"), _ring("d", 5, 2, "8")])

    assert [pods[1:] for sets in found for pods in sets] == [(3, 1000), (6, 2000), (2, 4000), (5, 8000)]
