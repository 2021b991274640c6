"""Drafts of kinds with operators that make pods from fields: by upstream's CRDs and samples.

Nothing of upstream is committed: CRDs and samples are files of Go modules. The pods are written from the operators'
sources, with the defaults that the CRD gives an object. The module of ScyllaDB's operator has no checksum, so its kind
needs a checkout. No sample of a collector requests anything, so only the counts of its pods are compared.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from karta_interpreter.base.k8s.values import JSON, Object, objects_in
from karta_interpreter.definitions.openapi.schema import CustomKind, below
from karta_interpreter.engine.drafting.drafting import draft_from
from karta_interpreter.engine.verification import Evidence
from tests.proofs.rig.toolchain import module_folder
from tests.support.drafted import judged, requests_of

_LATER: Final = 2e9
"""A time at which all objects have settled."""
_MOST: Final = 50
"""The most objects that ``create karta`` looks at."""
_NODES: Final = 3
"""The nodes of the cluster, each with a pod of a DaemonSet."""


class Operator(NamedTuple):
    """An operator: its module, the files of its CRD and of samples, and the pods that it makes of an object."""

    kind: str
    module: str
    version: str
    crd: str
    samples: tuple[str, ...]
    pods: Callable[[Object], Iterator[Object]]
    defaults: Object
    """Fields that the operator sets in an object without them."""


def _container(name: str, cpu: str = "", memory: str = "", **fields: JSON) -> Object:
    requests = {"cpu": cpu, "memory": memory} if cpu else {}
    return {"name": name, "image": f"{name}:1", "resources": {"requests": requests}, **fields}


def _rabbitmq(obj: Object) -> Iterator[Object]:
    """Yield the pods of internal/resource/statefulset.go. The override of the StatefulSet is merged into it."""
    spec = obj["spec"]
    override = ((spec.get("override") or {}).get("statefulSet") or {}).get("spec") or {}
    template = (override.get("template") or {}).get("spec") or {}
    made = {
        "initContainers": [_container("setup-container", "20m", "64Mi")],
        "containers": [_container("rabbitmq", image=spec["image"], resources=spec["resources"])],
    }
    lists = {name: _merged(own, template.get(name) or ()) for name, own in made.items()}
    for _ in range(override.get("replicas", spec["replicas"])):
        yield {"spec": lists}


def _merged(own: Sequence[Object], others: Iterable[Object]) -> list[Object]:
    """Return containers with the fields of others of their names, and the others."""
    merged = {each["name"]: each for each in own}
    for each in others:
        merged[each["name"]] = {**merged.get(each["name"], {}), **each}
    return list(merged.values())


def _scylla(obj: Object) -> Iterator[Object]:
    """Yield the pods of pkg/controller/scylladbdatacenter/resource.go: a StatefulSet for each rack."""
    for rack in obj["spec"]["datacenter"]["racks"]:
        containers = [
            _container("scylla", resources=rack["resources"]),
            _container("scylladb-api-status-probe", "50m", "40Mi"),
            _container("scylladb-ignition", "50m", "40Mi"),
            _container("scylla-manager-agent", resources=rack["agentResources"]),
        ]
        init = [_container("sidecar-injection", "10m", "50Mi")]
        for _ in range(rack["members"]):
            labels = {"scylla/rack": rack["name"], "scylla/cluster": obj["metadata"]["name"]}
            yield {"metadata": {"labels": labels}, "spec": {"initContainers": init, "containers": containers}}


def _collector(obj: Object) -> Iterator[Object]:
    """Yield the pods of internal/manifests/collector and targetallocator, with the defaults of the webhook."""
    spec = obj["spec"]
    mode, replicas = spec.get("mode") or "deployment", spec.get("replicas", 1)
    name = "otc-container"
    own = _container(name, resources=spec.get("resources") or {})
    containers = [own, *(spec.get("additionalContainers") or ())]
    labels = {"app.kubernetes.io/component": "opentelemetry-collector"}
    for _ in range({"sidecar": 0, "daemonset": _NODES}.get(mode, replicas)):
        pod = {"initContainers": spec.get("initContainers") or [], "containers": containers}
        yield {"metadata": {"labels": labels}, "spec": pod}
    allocator = spec.get("targetAllocator") or {}
    for _ in range(allocator.get("replicas", 1) if allocator.get("enabled") else 0):
        labels = {"app.kubernetes.io/component": "opentelemetry-targetallocator"}
        pod = {"containers": [_container("ta-container", resources=allocator.get("resources") or {})]}
        yield {"metadata": {"labels": labels}, "spec": pod}


OPERATORS: Final = (
    Operator(
        "RabbitmqCluster",
        "github.com/rabbitmq/cluster-operator/v2",
        "v2.16.0",
        "config/crd/bases/rabbitmq.com_rabbitmqclusters.yaml",
        ("docs/examples/*/rabbitmq.yaml",),
        _rabbitmq,
        {"image": "rabbitmq:4.1"},
    ),
    Operator(
        "OpenTelemetryCollector",
        "github.com/open-telemetry/opentelemetry-operator",
        "v0.131.0",
        "config/crd/bases/opentelemetry.io_opentelemetrycollectors.yaml",
        ("config/samples/*.yaml", "tests/e2e*/**/*.yaml"),
        _collector,
        {},
    ),
    Operator(
        "ScyllaCluster",
        "github.com/scylladb/scylla-operator",
        "",
        "pkg/api/scylla/v1/scylla.scylladb.com_scyllaclusters.yaml",
        ("examples/**/*.yaml", "deploy/manager/*/*.yaml"),
        _scylla,
        {},
    ),
)


@dataclass
class Tally:
    """The outcome of each draft."""

    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def failures(self) -> Iterator[str]:
        """Yield the objects and the components that are wrong and should not be."""
        yield from self.problems


def compare(folder: Path | None) -> Tally:
    """Draft each kind. ``folder`` is a checkout of ScyllaDB's operator. Raises BuildError if a module cannot be had."""
    tally = Tally()
    for operator in OPERATORS:
        if not (operator.version or folder):
            tally.lines.append(f"{operator.kind}: left out, as the module of its operator has no checksum")
            continue
        source = module_folder(operator.module, operator.version) if operator.version else folder
        assert source
        crd = yaml.load((source / operator.crd).read_text(), yaml.CSafeLoader)
        kind = CustomKind.of(crd, next(each["name"] for each in crd["spec"]["versions"] if each["storage"]))
        shown = list(islice(_evidence(operator, kind, source), _MOST))
        drafted = draft_from(kind, shown)
        right, silent = judged(drafted, [(each, Counter(map(requests_of, each.active))) for each in shown])
        on_nodes = sum(each.object["spec"].get("mode") == "daemonset" for each in shown)
        outcome = f"{operator.kind}: {right} of {len(shown)} objects right"
        tally.lines.append(f"{outcome}, {on_nodes} with a pod on each node, which no definition counts")
        if right < len(shown) - on_nodes or not shown:
            tally.problems.append(outcome)
        tally.problems += [f"{operator.kind}: no CHECK for {components}" for components in silent]
    return tally


def _evidence(operator: Operator, kind: CustomKind, source: Path) -> Iterator[Evidence]:
    """Yield samples with their pods, each with another specification than those before but for the configuration."""
    seen: set[str] = set()
    for file in sorted(file for pattern in operator.samples for file in source.glob(pattern)):
        for obj in _documents(file):
            if (obj.get("apiVersion"), obj.get("kind")) != (kind.gvk.api_version, kind.gvk.kind):
                continue
            spec = _defaulted(below(kind.schema, "spec"), {**operator.defaults, **(obj.get("spec") or {})})
            made = {**obj, "spec": spec}
            key = json.dumps({**spec, "config": None}, sort_keys=True)
            pods = [
                {"kind": "Pod", **pod, "metadata": {**pod.get("metadata", {}), "name": f"{len(seen)}-{number}"}}
                for number, pod in enumerate(operator.pods(made))
            ]
            if pods and key not in seen:
                seen.add(key)
                yield Evidence(made, tuple(pods), now=_LATER)


def _documents(file: Path) -> list[Object]:
    try:
        return objects_in(list(yaml.load_all(file.read_text(), yaml.CSafeLoader)))
    except yaml.YAMLError:
        # A template of the tests.
        return []


def _defaulted(schema: Object, value: JSON) -> JSON:
    """Return a value with the defaults that an API server gives it."""
    if isinstance(value, list):
        return [_defaulted(schema.get("items") or {}, each) for each in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties") or {}
    missing = {name: each["default"] for name, each in properties.items() if "default" in each and name not in value}
    return {name: _defaulted(properties.get(name) or {}, each) for name, each in {**value, **missing}.items()}
