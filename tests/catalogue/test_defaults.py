"""Defaults that a writer in the member leaves behind: recognized by what they say, not by being equal to an object."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from karta_interpreter.base.k8s import JSON, Object, Path, get, set_value
from karta_interpreter.definitions.karta import Definition, Unset
from karta_interpreter.definitions.karta.expressions import fields_read
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import entries
from tests.support.rows import rows

_QUEUED: Final = {"labels": {"kueue.x-k8s.io/queue-name": "q"}}
_CLUSTER: Final = {"spec": {"mode": "cluster", "components": {}}}
_OLD_CLUSTER: Final = {"spec": {"mode": "cluster", "components": {"rootCoord": {"replicas": 2}}}}
_MACHINE: Final[Object] = {"spec": {"template": {"spec": {"domain": {}}}}}
_SERVICE: Final = {"serviceType": "ClusterIP"}
_WRITTEN: Final = {"paused": False, "probes": None, "securityContext": None}

_PODS: Final[Object] = {"spec": {"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "A"}]}]}}}}
_VARIABLES: Final = ("spec", "template", "spec", "containers", 0, "env")

_Row = tuple[str, Object, Path, JSON, Object]
# Kind, template, place, default, and what the CRD or a newer operator adds to it.
_DEFAULTS: Final[tuple[_Row, ...]] = (
    ("Milvus", {"spec": {}}, ("spec", "components", "standalone"), {"replicas": 1}, _SERVICE | _WRITTEN),
    ("Milvus", _CLUSTER, ("spec", "components", "standalone"), {"replicas": 0}, _SERVICE | _WRITTEN),
    *(
        ("Milvus", _CLUSTER, ("spec", "components", name), {"replicas": 1}, _SERVICE | _WRITTEN)
        for name in ("proxy", "mixCoord", "dataNode", "indexNode", "queryNode", "streamingNode")
    ),
    *(
        ("Milvus", _OLD_CLUSTER, ("spec", "components", name), {"replicas": 1}, _WRITTEN)
        for name in ("dataCoord", "indexCoord", "queryCoord")
    ),
    *(
        ("Milvus", {"spec": {}}, ("spec", "dependencies", name), default, {})
        for name, default in {
            "pulsar": {"external": False, "endpoint": ""},
            "kafka": {"external": False},
            "woodpecker": {"external": False, "persistence": {"persistentVolumeClaim": {"spec": None}}},
            "tei": {"enabled": False},
        }.items()
    ),
    ("NIMService", {"spec": {}}, ("spec", "scale"), {"hpa": {"minReplicas": 1, "maxReplicas": 0}}, {"enabled": False}),
    (
        "Cluster",
        {"spec": {"replicationSlots": {"updateInterval": 30}}},
        ("spec", "replicationSlots", "highAvailability"),
        {"enabled": True, "slotPrefix": "_cnpg_"},
        {"synchronizeLogicalDecoding": False},
    ),
    (
        "Cluster",
        {"spec": {"replicationSlots": {"updateInterval": 30}}},
        ("spec", "replicationSlots", "synchronizeReplicas"),
        {"enabled": True},
        {"excludePatterns": []},
    ),
    (
        "Cluster",
        {"spec": {"plugins": [{"name": "own"}]}},
        ("spec", "plugins", 1),
        {"name": "given", "enabled": True},
        {"isWALArchiver": False, "parameters": {}},
    ),
    (
        "Cluster",
        {"spec": {"monitoring": {"customQueriesConfigMap": []}}},
        ("spec", "monitoring", "customQueriesConfigMap", 0),
        {"name": "cnpg-default-monitoring", "key": "queries"},
        {},
    ),
    (
        "Cluster",
        {"spec": {"monitoring": {"customQueriesSecret": []}}},
        ("spec", "monitoring", "customQueriesSecret", 0),
        {"name": "cnpg-default-monitoring", "key": "queries"},
        {},
    ),
    (
        "VirtualMachine",
        _MACHINE,
        ("spec", "template", "spec", "affinity"),
        {},
        {"nodeAffinity": {}, "podAffinity": None},
    ),
    (
        "RayJob",
        {"metadata": _QUEUED, "spec": {}},
        ("spec", "submitterPodTemplate"),
        {"spec": {"containers": [{"name": "ray-job-submitter", "image": "i", "resources": {"limits": {"cpu": "1"}}}]}},
        {"metadata": {}},
    ),
    (
        "SparkApplication",
        {"metadata": _QUEUED, "spec": {"driver": {}}},
        ("spec", "driver", "template"),
        {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "spark", "resources": {}}]}},
        {},
    ),
    (
        "TrainJob",
        {"spec": {"runtimePatches": []}},
        ("spec", "runtimePatches", 0),
        {"manager": "kueue.x-k8s.io/manager"},
        {"trainingRuntimeSpec": {}},
    ),
    *(
        (kind, _PODS, (*_VARIABLES, 1), {"name": "STAKATER_IT_SECRET", "value": "5f"}, {"valueFrom": None})
        for kind in ("Deployment", "StatefulSet", "DaemonSet", "Rollout")
    ),
)
# Kind, template, place, and a field of somebody's own in the default that was dropped on purpose.
_OWN: Final[tuple[tuple[str, Object, Path, JSON], ...]] = (
    ("NIMService", {"spec": {}}, ("spec", "scale"), {"enabled": True, "hpa": {"minReplicas": 1, "maxReplicas": 4}}),
    (
        "Milvus",
        {"spec": {}},
        ("spec", "components", "standalone"),
        {"replicas": 1, "resources": {"limits": {"cpu": "1"}}},
    ),
    ("Milvus", _CLUSTER, ("spec", "components", "proxy"), {"replicas": 1, "serviceType": "LoadBalancer"}),
    ("Milvus", _CLUSTER, ("spec", "components", "standalone"), {"replicas": 1}),
    (
        "Cluster",
        {"spec": {"replicationSlots": {}}},
        ("spec", "replicationSlots", "highAvailability"),
        {"enabled": True, "slotPrefix": "mine_"},
    ),
    (
        "Cluster",
        {"spec": {"replicationSlots": {}}},
        ("spec", "replicationSlots", "synchronizeReplicas"),
        {"enabled": False},
    ),
    (
        "Cluster",
        {"spec": {"plugins": []}},
        ("spec", "plugins", 0),
        {"name": "x", "enabled": True, "parameters": {"a": "b"}},
    ),
    ("VirtualMachine", _MACHINE, ("spec", "template", "spec", "affinity"), {"nodeAffinity": {"a": []}}),
    (
        "RayJob",
        {"metadata": _QUEUED, "spec": {}},
        ("spec", "submitterPodTemplate"),
        {"spec": {"containers": [{"name": "ray-job-submitter", "image": "i", "command": ["a"]}]}},
    ),
    (
        "SparkApplication",
        {"metadata": _QUEUED, "spec": {"driver": {}}},
        ("spec", "driver", "template"),
        {"spec": {"containers": [], "hostNetwork": True}},
    ),
    ("Deployment", _PODS, (*_VARIABLES, 1), {"name": "DROPPED", "value": "STAKATER_"}),
)


def _definition(kind: str) -> Definition:
    found = [entry.definition for entry in entries() if entry.definition and entry.definition.gvk.kind == kind]
    return next(each for each in found if each.gvk.group != "spark.apache.org")


def _additions(more: Object) -> Iterator[Object]:
    empty: tuple[JSON, ...] = (None, False, "", 0, {}, [])
    for value in (*empty, "unknown", True, 7, {"a": 1}, ["b"]):
        yield {"fieldOfNextRelease": value}
    yield from ({name: value} for name, value in more.items())
    yield more


def _retained(definition: Definition, template: Object, member: Object) -> Object:
    desired = {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind, **deepcopy(template)}
    desired["metadata"] = {"name": "it", "namespace": "n", **template.get("metadata", {})}
    retained: Object = interpret(definition, Call(Operation.RETAIN, desired, {**desired, **member}))["retained"]
    return retained


def _with(template: Object, path: Path, value: JSON) -> Object:
    """Return the template with a value, in a list behind all elements that it has."""
    if not isinstance(path[-1], int):
        return set_value(template, path, value)
    return set_value(template, path[:-1], [*get(template, path[:-1]), value])


@rows(("kind", "template", "path", "default", "more"), _DEFAULTS)
def test_default_with_one_more_field_is_kept(
    kind: str, template: Object, path: Path, default: Object, more: Object
) -> None:
    definition = _definition(kind)
    for added in ({}, *_additions(more)):
        member = _with(template, path, {**default, **added})

        assert get(_retained(definition, template, member), path) == {**default, **added}, added


@rows(("kind", "template", "path", "value"), _OWN)
def test_part_with_own_value_goes_with_template(kind: str, template: Object, path: Path, value: JSON) -> None:
    retained = _retained(_definition(kind), template, _with(template, path, value))

    assert get(retained, path) in (None, {})


def test_section_of_milvus_with_any_field_of_its_crd_goes_with_template() -> None:
    schema: Any = next(found.schema for gvk, found in catalogue_schemas().items() if gvk.kind == "Milvus")
    sections = schema["properties"]["spec"]["properties"]["components"]["properties"]
    values = {"string": "x", "boolean": True, "integer": 7, "object": {"a": "b"}, "array": [{"name": "a"}]}
    for name in ("proxy", "queryNode", "mixCoord", "streamingNode"):
        for field, kind in sections[name]["properties"].items():
            path = ("spec", "components", name)
            member = set_value(_CLUSTER, path, {"replicas": 1, field: values[kind["type"]]})

            assert get(_retained(_definition("Milvus"), _CLUSTER, member), path) is None, (name, field)


def test_each_rule_about_an_object_has_a_default_in_the_table() -> None:
    asked: dict[str, list[tuple[Object, Path]]] = {}
    for kind, template, path, default, _ in _DEFAULTS:
        asked.setdefault(kind, []).append((_with(template, path, default), path))
    for entry in entries():
        assert entry.definition
        for rule in entry.definition.annotations.retained:
            if isinstance(rule, Unset) and rule.condition and fields_read(rule.condition.node):
                met = [
                    path[: len(place)] == place
                    for member, path in asked.get(entry.definition.gvk.kind, ())
                    for place in rule.place.known_paths(member)
                    if place
                ]
                assert any(met), rule
