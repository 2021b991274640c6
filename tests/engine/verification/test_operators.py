"""Operators that the catalogue does not have: their pods and statuses, and in `operators/` definitions by a user.

- RabbitmqCluster (``internal/resource/statefulset.go``, ``internal/status`` of rabbitmq/cluster-operator 2): one
  StatefulSet, whose pods have an init container.
- RedisCluster (``internal/k8sutils/redis-cluster.go`` of OT-CONTAINER-KIT/redis-operator): the StatefulSet of the
  followers comes after the leaders are ready.
- ClickHouseInstallation (``pkg/controller/chi`` of Altinity/clickhouse-operator): a StatefulSet for each host.
- ZookeeperCluster, OpenSearchCluster and VMCluster: ``tests/support/operators.py``.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter import Karta
from karta_interpreter.engine.verification import Evidence, Verdict, verify
from tests.engine.verification.member import NOW, Thing, ago, container, crashing, evidence, pod, ready, workload
from tests.engine.verification.mutants import answers, mutants, new_fields
from tests.support.operators import OPERATORS
from tests.support.rows import rows

_HERE = Path(__file__).parent
_EDITED, _PENDING = 1800, {"phase": "Pending"}


def _edited(api_version: str, kind: str, spec: Thing, status: Thing, generation: int) -> Thing:
    fields = {"manager": "karmada", "time": ago(_EDITED), "fieldsV1": {"f:spec": {"f:x": {}}}}
    status = {"observedGeneration": generation, **status}
    return workload(api_version, kind, spec, status, generation=generation, managedFields=[fields])


def _set(name: str, *containers: Thing, labels: Thing | None = None, **lists: Any) -> Thing:
    template = {"metadata": {"labels": labels or {}}, "spec": {"containers": list(containers), **lists}}
    about = {"name": name, "uid": name, "ownerReferences": [{"uid": "it", "controller": True}]}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": about, "spec": {"template": template}}


def _pods(of: Thing, number: int, status: Thing | None = None, age: int = 6000, *containers: Thing) -> list[Thing]:
    template, name = of["spec"]["template"], of["metadata"]["name"]
    lists = {key: value for key, value in template["spec"].items() if key != "containers"}
    own = containers or template["spec"]["containers"]
    labels = template["metadata"]["labels"]
    return [pod(each, *own, status=status, age=age, owner=name, labels=labels, **lists) for each in range(number)]


def _shown(obj: Thing, sets: Iterable[Thing], *pods: Thing) -> Evidence:
    return evidence(obj, *pods, owners=tuple(sets))


def _rabbit(replicas: int, number: int, cpu: str = "1", generation: int = 1) -> Thing:
    condition = {"type": "AllReplicasReady", "status": str(0 < replicas == number)}
    spec = {"replicas": replicas, "image": "rabbitmq:1", "resources": {"requests": {"cpu": cpu}}}
    return _edited("rabbitmq.com/v1beta1", "RabbitmqCluster", spec, {"conditions": [condition]}, generation)


def _rabbits() -> dict[str, Evidence]:
    setup = [container("setup-container", "100m", image="rabbitmq:1")]
    server = _set("it-server", container("rabbitmq"), initContainers=setup)
    resized = _set("it-server", container("rabbitmq", "3"), initContainers=setup)
    rolling = [*_pods(server, 2), *_pods(resized, 1, _PENDING, 900)]
    return {
        "it is pending": _shown(_rabbit(3, 0), [server], *_pods(server, 3, _PENDING)),
        "it runs": _shown(_rabbit(3, 3), [server], *_pods(server, 3)),
        "it has grown": _shown(_rabbit(5, 5, generation=2), [server], *_pods(server, 3), *_pods(server, 2, age=900)),
        "it crashes": _shown(_rabbit(3, 0), [server], *_pods(server, 3, crashing())),
        "its requests change": _shown(_rabbit(3, 2, "3", 2), [resized], *rolling),
        "it is scaled to 0": _shown(_rabbit(0, 0, generation=2), [server]),
    }


def _redis(state: str, exporter: bool = True, **spec: Any) -> Thing:
    spec = {"clusterSize": 3, "kubernetesConfig": {"resources": {"requests": {"cpu": "2"}}}, **spec}
    if exporter:
        spec["redisExporter"] = {"enabled": True, "resources": {"requests": {"cpu": "10m"}}}
    return _edited("redis.redis.opstreelabs.in/v1beta2", "RedisCluster", spec, {"state": state}, 1)


def _redises() -> dict[str, Evidence]:
    def of(role: str, cpu: str = "2", exporter: bool = True) -> Thing:
        more = [container("redis-exporter", "10m")] if exporter else []
        return _set(f"it-{role}", container(f"it-{role}", cpu), *more, labels={"role": role})

    leader, follower, small = of("leader"), of("follower"), of("follower", "1")
    bare = [of(role, exporter=False) for role in ("leader", "follower")]
    few = _redis("Ready", redisFollower={"replicas": 1, "resources": {"requests": {"cpu": "1"}}})
    return {
        "its leaders come first": _shown(_redis("Initializing"), [leader], *_pods(leader, 3, _PENDING)),
        "it runs": _shown(_redis("Ready"), [leader, follower], *_pods(leader, 3), *_pods(follower, 3)),
        "it has fewer followers": _shown(few, [leader, small], *_pods(leader, 3), *_pods(small, 1)),
        "it has no exporter": _shown(
            _redis("Ready", exporter=False), bare, *(p for one in bare for p in _pods(one, 3))
        ),
        "it crashes": _shown(_redis("Initializing"), [leader], *_pods(leader, 3, crashing())),
    }


def _clickhouse(status: str, *layouts: Thing, generation: int = 1) -> Thing:
    clusters = [{"name": f"c{number}", "layout": layout} for number, layout in enumerate(layouts)]
    pods = {"podTemplates": [{"name": "p", "spec": {"containers": [container("clickhouse", "2")]}}]}
    spec = {"configuration": {"clusters": clusters}, "templates": pods}
    return _edited("clickhouse.altinity.com/v1", "ClickHouseInstallation", spec, {"status": status}, generation)


def _clickhouses() -> dict[str, Evidence]:
    hosts = [_set(f"chi-it-{number}", container("clickhouse", "2")) for number in range(7)]
    square, row = {"shardsCount": 2, "replicasCount": 2}, {"replicasCount": 3}
    pods = [made for host in hosts for made in _pods(host, 1)]
    grown = [made for host in hosts[4:6] for made in _pods(host, 1, age=900)]
    crashed = [made for host in hosts[:4] for made in _pods(host, 1, crashing())]
    larger = _clickhouse("Completed", {**square, "shardsCount": 3}, generation=2)
    return {
        "its first host starts": _shown(_clickhouse("InProgress", square), hosts[:1], *_pods(hosts[0], 1, _PENDING)),
        "it runs": _shown(_clickhouse("Completed", square), hosts[:4], *pods[:4]),
        "it has two clusters": _shown(_clickhouse("Completed", square, row), hosts, *pods),
        "its layout is unset": _shown(_clickhouse("Completed", {}), hosts[:1], *pods[:1]),
        "it has grown": _shown(larger, hosts[:6], *pods[:4], *grown),
        "it crashes": _shown(_clickhouse("InProgress", square), hosts[:4], *crashed),
    }


def _ready_and_not(operator: str, running: Thing, starting: Thing) -> Callable[[], dict[str, Evidence]]:
    """Return the objects with pods that are ready, and with pods that have not been for an hour."""
    unready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    return lambda: {
        f"{number}, {status}": Evidence(
            {**shown.object, "status": {"observedGeneration": 1, **status}},
            tuple({**each, "status": state} for each in shown.pods),
            now=NOW,
        )
        for number, shown in enumerate(OPERATORS[operator])
        for status, state in ((running, ready()), (starting, unready))
    }


_PODS_READY: list[Thing] = [
    {"conditions": [{"type": "PodsReady", "status": status}], "readyReplicas": number}
    for status, number in (("True", 1), ("False", 0))
]
_OPERATORS = {
    "rabbit": _rabbits,
    "redis": _redises,
    "clickhouse": _clickhouses,
    "zookeeper": _ready_and_not("zookeeper", *_PODS_READY),
    "opensearch": _ready_and_not("opensearch", {"phase": "RUNNING"}, {"phase": "PENDING"}),
    "victoria": _ready_and_not("victoria", {"updateStatus": "operational"}, {"updateStatus": "expanding"}),
}
_HIDDEN = {name: ["a waiting status counts as running"] for name in ("opensearch", "victoria")}
"""Mistakes about what an object does not show: its phase alone tells whether its pods are ready (Go omits 0 nodes)."""


@rows("operator", _OPERATORS)
def test_right_definition_of_an_unknown_operator_differs_in_no_state(operator: str) -> None:
    states = _OPERATORS[operator]
    definition = Karta.load(_HERE / "operators" / f"{operator}.yaml").definition

    found = {name: verify(definition, shown) for name, shown in states().items()}
    assert not [
        f"{name}: {each}"
        for name, judgements in found.items()
        for each in judgements
        if each.verdict is Verdict.DIFFERS
    ]


@pytest.mark.slow
@pytest.mark.parametrize("operator", _OPERATORS)
def test_mistakes_in_the_definition_of_an_unknown_operator_are_found(operator: str) -> None:
    states = _OPERATORS[operator]
    right = Karta.load(_HERE / "operators" / f"{operator}.yaml").definition
    before = [(shown, answers(right, shown), verify(right, shown)) for shown in states().values()]

    tried, missed = Counter[str](), list[str]()
    for mutant in mutants(right.manifest):
        seen = [(shown, known) for shown, answer, known in before if answers(mutant.definition, shown) != answer]
        tried[mutant.mistake] += bool(seen)
        # Without its only component a definition has no pods that could be judged.
        if (
            seen
            and mutant.definition.leaves
            and not any(new_fields(known, mutant.definition, shown) for shown, known in seen)
        ):
            missed.append(mutant.mistake)
    assert tried.total() >= 15
    assert missed == _HIDDEN.get(operator, [])
