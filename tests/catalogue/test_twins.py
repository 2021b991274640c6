"""Two definitions of the same part answer alike: every key that either of them reads, alone and next to others.

Twins are versions of a kind, kinds with one program or one controller's rules below them, and kinds that contain
another one. Their shared part is put into an object of each of them, and the answers are compared.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, Final, NamedTuple

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.projection import Projection
from karta_interpreter.base.k8s.values import JSON, Object, Path, field_path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.dispatch import reads_of
from tests.catalogue.entries import Entry, entries
from tests.catalogue.knowledge import knowing
from tests.support.examples import EXAMPLES, few

pytestmark = [pytest.mark.slow, pytest.mark.sweep]

_OPERATIONS: Final = (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT, Operation.INTERPRET_DEPENDENCY)
_POD: Final = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
_TEMPLATE: Final = {"metadata": {"labels": {"app": "twin"}}, "spec": _POD}
_VALUES: Final[Sequence[JSON]] = (
    "2", "twin", "true", "1g", "50%", 0, 3, True, False, None, {}, [], {"name": "twin"}, ["twin"], [{"name": "twin"}],
    _POD, _TEMPLATE,
)  # fmt: skip


class Twins(NamedTuple):
    """Two kinds, the places of their shared part, and the part that each key is added to.

    ``differ`` has the keys whose answers differ, and why. ``only`` are components that one of them has in addition, and
    ``of_one`` are keys that one of them alone reads, so that only it refuses a wrong value.
    """

    left: str
    right: str
    shared: Mapping[str, JSON]
    left_base: Mapping[str, JSON] = {}
    right_base: Mapping[str, JSON] = {}
    left_at: tuple[str, ...] = ("spec",)
    right_at: tuple[str, ...] = ("spec",)
    operations: Sequence[Operation] = _OPERATIONS
    only: frozenset[str] = frozenset()
    keys: Sequence[str] = ()
    differ: Mapping[str, str] = {}
    of_one: frozenset[str] = frozenset()


_RAY: Final = {
    "headGroupSpec": {"template": _TEMPLATE},
    "workerGroupSpecs": [{"groupName": "g", "template": _TEMPLATE}],
}
_RAY_WITH_SWITCHES: Final = {
    "headGroupSpec": {"template": _TEMPLATE, "enableIngress": True},
    "workerGroupSpecs": [{"groupName": "g", "template": _TEMPLATE, "replicas": 2}],
    "gcsFaultToleranceOptions": {"backend": "rocksdb"},
}
"""The switches that KubeRay 1.2 lacks are on, so each of these fields makes a difference by itself."""
_NEWER_RAY: Final = (
    "authOptions.secretName",
    "gcsFaultToleranceOptions.redisPassword.valueFrom.configMapKeyRef.name",
    "gcsFaultToleranceOptions.redisPassword.valueFrom.secretKeyRef.name",
    "gcsFaultToleranceOptions.redisUsername.valueFrom.configMapKeyRef.name",
    "gcsFaultToleranceOptions.redisUsername.valueFrom.secretKeyRef.name",
    "gcsFaultToleranceOptions.storage.claimName",
    "headGroupSpec.ingressOptions.tls[0].secretName",
    "historyServerOptions.collectorOptions.env",
    "historyServerOptions.collectorOptions.resources",
    "tlsOptions.enabled",
    "workerGroupSpecs[0].suspend",
)
_ARGUMENTS: Final = {"parameters": [{"name": "p", "value": "v"}]}
_WORKFLOW_TEMPLATE: Final = {
    "container": {"image": "main"},
    "dag": {"tasks": [{"arguments": _ARGUMENTS}]},
    "inputs": _ARGUMENTS,
    "name": "main",
    "steps": [[{"arguments": _ARGUMENTS}]],
}
"""A parameter without a name would be an error, whatever else is asked."""
_NAMED: Final = {"spec": {"containers": [{"name": "main"}]}}
_FLINK: Final = {
    "flinkVersion": "v1_20",
    "jobManager": {"podTemplate": _NAMED},
    "taskManager": {"podTemplate": _NAMED},
    "podTemplate": _NAMED,
}
"""Containers are merged by their names: one without a name would be an error, whatever else is asked."""
_SPARK_RUN: Final = {"mainClass": "a", "jars": "local:///a.jar", "runtimeVersions": {"sparkVersion": "4.0.0"}}
_SPARK_KEYS: Final = tuple(
    f"spark.kubernetes.{role}{key}"
    for role in ("", "driver.", "executor.")
    for key in (
        "node.selector.pool",
        "secrets.a",
        "secretKeyRef.A",
        "volumes.persistentVolumeClaim.a.options.claimName",
    )
)
"""Keys that definitions recognize by their first or last part."""


def _versions(kind: str, left: str, right: str, shared: Mapping[str, JSON], **fields: Any) -> Twins:
    return Twins(f"{kind}/{left}", f"{kind}/{right}", shared, **fields)


def _part_of_kafka(part: str) -> Twins:
    at = ("spec", part)
    return _versions("Kafka.kafka.strimzi.io", "v1", "v1beta2", {}, left_at=at, right_at=at)


_TWINS: Final = [
    _versions(
        "AdvancedCronJob.apps.kruise.io",
        "v1alpha1",
        "v1beta1",
        {"template": {"jobTemplate": {"spec": {"template": _TEMPLATE}}}},
    ),
    _versions("BroadcastJob.apps.kruise.io", "v1alpha1", "v1beta1", {"template": _TEMPLATE}),
    _versions("CloneSet.apps.kruise.io", "v1alpha1", "v1beta1", {"template": _TEMPLATE}),
    _versions("DaemonSet.apps.kruise.io", "v1alpha1", "v1beta1", {"template": _TEMPLATE}),
    _versions("SidecarSet.apps.kruise.io", "v1alpha1", "v1beta1", {}),
    _versions("StatefulSet.apps.kruise.io", "v1alpha1", "v1beta1", {"template": _TEMPLATE}),
    _versions(
        "UnitedDeployment.apps.kruise.io",
        "v1alpha1",
        "v1beta1",
        {"template": {"cloneSetTemplate": {"spec": {"template": _TEMPLATE}}}},
    ),
    # What only v1beta2 has, brokers without pools and ZooKeeper, is there together.
    *(_part_of_kafka(part) for part in ("cruiseControl", "entityOperator", "kafkaExporter")),
    _versions(
        "KafkaNodePool.kafka.strimzi.io",
        "v1",
        "v1beta2",
        {"replicas": 2},
    ),
    _versions("LLMInferenceService.serving.kserve.io", "v1alpha1", "v1alpha2", {"replicas": 2, "template": _POD}),
    _versions("Sandbox.agents.x-k8s.io", "v1alpha1", "v1beta1", {"podTemplate": _TEMPLATE}),
    _versions("SandboxWarmPool.extensions.agents.x-k8s.io", "v1alpha1", "v1beta1", {"replicas": 2}),
    _versions(
        "SparkCluster.spark.apache.org",
        "v1",
        "v1beta1",
        {"runtimeVersions": {"sparkVersion": "4.0.0"}, "clusterTolerations": {"instanceConfig": {"initWorkers": 2}}},
    ),
    Twins("CloneSet.apps.kruise.io/v1alpha1", "Deployment.apps/v1", {"template": _TEMPLATE}),
    Twins("StatefulSet.apps.kruise.io/v1beta1", "StatefulSet.apps/v1", {"template": _TEMPLATE}),
    Twins("DaemonSet.apps.kruise.io/v1beta1", "DaemonSet.apps/v1", {"template": _TEMPLATE}),
    Twins("ReplicaSet.apps/v1", "Deployment.apps/v1", {"template": _TEMPLATE}),
    Twins("Policy.kyverno.io/v1", "ClusterPolicy.kyverno.io/v1", {}),
    Twins(
        "AdvancedCronJob.apps.kruise.io/v1beta1",
        "CronJob.batch/v1",
        {"template": _TEMPLATE},
        left_at=("spec", "template", "jobTemplate", "spec"),
        right_at=("spec", "jobTemplate", "spec"),
    ),
    Twins(
        "RayCluster.ray.io/v1",
        "RayJob.ray.io/v1",
        _RAY,
        right_at=("spec", "rayClusterSpec"),
        operations=(Operation.INTERPRET_COMPONENT, Operation.INTERPRET_DEPENDENCY),
        only=frozenset({"submitter"}),
    ),
    Twins("RayCluster.ray.io/v1", "RayService.ray.io/v1", _RAY, right_at=("spec", "rayClusterConfig")),
    Twins(
        "RayCluster.ray.io/v1",
        "RayClusterFleet.orchestration.aibrix.ai/v1alpha1",
        _RAY_WITH_SWITCHES,
        right_at=("spec", "template", "spec"),
        differ=dict.fromkeys(_NEWER_RAY, "the RayCluster of a fleet is that of KubeRay 1.2"),
    ),
    Twins(
        "RoleBasedGroup.workloads.x-k8s.io/v1alpha2",
        "RoleBasedGroupSet.workloads.x-k8s.io/v1alpha2",
        {"roles": [{"name": "role", "standalonePattern": {"template": _TEMPLATE}}]},
        right_at=("spec", "groupTemplate", "spec"),
    ),
    Twins("RayJob.ray.io/v1", "RayCronJob.ray.io/v1", {"rayClusterSpec": _RAY}, right_at=("spec", "jobTemplate")),
    Twins(
        "Workflow.argoproj.io/v1alpha1",
        "CronWorkflow.argoproj.io/v1alpha1",
        {"arguments": _ARGUMENTS, "templates": [_WORKFLOW_TEMPLATE]},
        right_at=("spec", "workflowSpec"),
    ),
    Twins(
        "SparkApplication.sparkoperator.k8s.io/v1beta2",
        "SparkApplication.spark.apache.org/v1",
        {"spark.executor.instances": "2"},
        left_base={"type": "Scala", "driver": {}, "executor": {}},
        right_base=_SPARK_RUN,
        left_at=("spec", "sparkConf"),
        right_at=("spec", "sparkConf"),
        keys=_SPARK_KEYS,
        differ={'["spark.executor.instances"]': "the defaults differ: one executor and two"},
    ),
    Twins(
        "SparkApplication.sparkoperator.k8s.io/v1beta2",
        "ScheduledSparkApplication.sparkoperator.k8s.io/v1beta2",
        {"type": "Scala", "driver": {}, "executor": {}},
        right_at=("spec", "template"),
    ),
    Twins(
        "SparkApplication.sparkoperator.k8s.io/v1beta2",
        "SparkConnect.sparkoperator.k8s.io/v1alpha1",
        {},
        left_base={"type": "Scala", "sparkVersion": "4.0.4", "driver": {}, "executor": {"instances": 2}},
        right_base={"sparkVersion": "4.0.4", "server": {}, "executor": {"instances": 2}},
        left_at=("spec", "executor", "template"),
        right_at=("spec", "executor", "template"),
        only=frozenset({"driver", "server", "ServiceAccount"}),  # one of them adds that of the older name
        of_one=frozenset({"spec.serviceAccount"}),
    ),
    Twins(
        "VirtualMachineInstance.kubevirt.io/v1",
        "VirtualMachineInstanceReplicaSet.kubevirt.io/v1",
        {"domain": {}},
        right_at=("spec", "template", "spec"),
    ),
    Twins(
        "VirtualMachineInstance.kubevirt.io/v1",
        "VirtualMachine.kubevirt.io/v1",
        {"domain": {}},
        right_at=("spec", "template", "spec"),
    ),
    Twins(
        "FlinkDeployment.flink.apache.org/v1beta1",
        "FlinkBlueGreenDeployment.flink.apache.org/v1beta1",
        _FLINK,
        right_at=("spec", "template", "spec"),
    ),
]


@cache
def _entries() -> Mapping[str, Entry]:
    known = {entry.definition.gvk: entry for entry in entries() if entry.definition}
    return {f"{gvk.kind}.{gvk.api_version}": entry for gvk, entry in known.items()}


def _definition(name: str) -> Definition:
    definition = _entries()[name].definition
    assert definition
    return definition


def _keys(twins: Twins) -> list[Path]:
    """Return the keys below the shared part that either definition reads."""
    found: dict[Path, None] = {(key,): None for key in twins.keys}
    for name, at in ((twins.left, twins.left_at), (twins.right, twins.right_at)):
        definition = _definition(name)
        for operation in filter(definition.answers, twins.operations):
            found |= dict.fromkeys(_leaves(reads_of(definition, operation).at(*at)))
    # Kubernetes makes no pod with ephemeral containers (ValidatePodCreate in validation.go).
    apart = {key for key in found if "ephemeralContainers" in key or field_path(key) in twins.of_one}
    return sorted(found.keys() - apart, key=field_path)


def _leaves(part: Projection, path: Path = ()) -> Iterator[Path]:
    if path and (part.is_whole or not (part.fields or part.elements)):
        yield path
    for name, below in part.fields.items():
        yield from _leaves(below, (*path, name))
    if part.elements and not part.fields:  # beside fields, the elements are the values of a map
        yield from _leaves(part.elements, (*path, 0))


def _with(part: JSON, path: Path, value: JSON) -> Any:
    if not path:
        return deepcopy(value)
    step, *rest = path
    if isinstance(step, int):
        first, *others = part if isinstance(part, list) and part else [None]
        return [_with(first, tuple(rest), value), *others]
    fields = part if isinstance(part, dict) else {}
    return {**fields, step: _with(fields.get(step), tuple(rest), value)}


def _answers(twins: Twins, shared: JSON) -> Iterator[tuple[Operation, JSON, JSON]]:
    """Yield what both answer to each operation, None for an error."""
    left, right = (
        _with({"spec": twins.left_base}, twins.left_at, shared),
        _with({"spec": twins.right_base}, twins.right_at, shared),
    )
    for operation in twins.operations:
        if all(_definition(name).answers(operation) for name in (twins.left, twins.right)):
            yield operation, _answer(twins, twins.left, left, operation), _answer(twins, twins.right, right, operation)


def _answer(twins: Twins, name: str, obj: Object, operation: Operation) -> JSON:
    definition = _definition(name).in_pods
    gvk = definition.gvk
    obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {"name": "twin", "namespace": "n"}, **obj}
    try:
        answer: Any = interpret(knowing(definition, obj), Call(operation, obj))
    except InterpretationError:
        return None
    if operation is Operation.INTERPRET_REPLICA:
        return answer
    if operation is Operation.INTERPRET_COMPONENT:
        # A single component has the name of its kind.
        found = [component for component in answer["components"] if component["name"] not in twins.only]
        return [{**component, "name": "" if len(found) == 1 else component["name"]} for component in found]
    found = [{**each, "apiVersion": each["apiVersion"].partition("/")[0]} for each in answer["dependencies"]]
    return [each for each in found if each["kind"] not in twins.only]


def _pairs(test: str) -> pytest.MarkDecorator:
    chosen = few(_TWINS, test)
    return pytest.mark.parametrize("twins", chosen, ids=[f"{twins.left}-{twins.right}" for twins in chosen])


@_pairs("every key")
def test_twins_answer_alike_for_every_key_alone(twins: Twins) -> None:
    different: dict[str, str] = {}
    for key in _keys(twins):
        answers: dict[Operation, list[tuple[JSON, JSON, JSON]]] = {}
        for value in _VALUES:
            for operation, left, right in _answers(twins, _with(twins.shared, key, value)):
                answers.setdefault(operation, []).append((value, left, right))
        for operation, asked in answers.items():
            # Many values are wrong for the key. Then one of them may be laxer.
            both = [(value, left, right) for value, left, right in asked if left is not None and right is not None]
            wrong = [f"{value}: {left} != {right}" for value, left, right in both if left != right]
            if wrong or not both:
                different.setdefault(field_path(key), f"{operation}: {(wrong or ['no value is answered by both'])[0]}")
    assert different.keys() == twins.differ.keys(), different


@_pairs("random keys")
def test_twins_answer_alike_for_random_keys(twins: Twins) -> None:
    chance = random.Random(f"{twins.left} {twins.right}")  # noqa: S311 - the same objects in each run
    keys = [key for key in _keys(twins) if field_path(key) not in twins.differ]
    for _ in range(EXAMPLES * 5):
        shared: JSON = twins.shared
        for key in chance.sample(keys, min(len(keys), chance.randint(2, 4))):
            shared = _with(shared, key, chance.choice(_VALUES))
        for operation, left, right in _answers(twins, shared):
            assert left is None or right is None or left == right, f"{operation} of {shared}: {left} != {right}"
