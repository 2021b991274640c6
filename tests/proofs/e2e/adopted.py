"""A fleet of workloads of many kinds, and what of it runs in members."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from tests.proofs.e2e.flow import Story
from tests.proofs.e2e.kinds import KINDS, WHOLE
from tests.proofs.rig.api import Api, Object, named, until
from tests.proofs.rig.karmada import serves
from tests.proofs.rig.places import at, put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import DUPLICATED, ONE_CLUSTER, aggregated, divided, propagation, weighted
from tests.support.plurals import plural

_HERE = Path(__file__).parent
_KARTAS = _HERE.parents[2] / "kartas"
_FILE = yaml.safe_load((_HERE / "fleet.yaml").read_text(encoding="utf-8"))
_EDITED: Final = ("metadata", "annotations", "example.com/edited")
_BOTH = ("member1", "member2")
PLACEMENTS: Mapping[str, Object] = {
    "duplicated": DUPLICATED,
    "static": weighted(2, 1),
    "even": divided(_BOTH, {}),
    "dynamic": divided(_BOTH, {"dynamicWeight": "AvailableReplicas"}),
    "aggregated": aggregated(*_BOTH),
    "one": ONE_CLUSTER,
}
_OF_WORKLOADS = {(kind.api_version, kind.name): kind for kind in (*KINDS, *WHOLE)}


class Seen(NamedTuple):
    """What runs of a workload, and what Karmada says of it."""

    specs: Mapping[str, str]
    """What its member's objects want, as JSON, by the member."""
    generations: Mapping[str, int]
    edits: Mapping[str, str]
    health: Mapping[str, str]
    conditions: Mapping[str, str]
    clusters: Mapping[str, int]
    dependencies: frozenset[str]

    def changes(self, now: "Seen") -> set[str]:
        """Return in which respects what runs is another than now."""
        pairs = {
            "members": (sorted(self.specs), sorted(now.specs)),
            "spec": tuple({name: side.specs[name] for name in {*self.specs} & {*now.specs}} for side in (self, now)),
            "health": tuple(
                {name: side.health[name] for name in {*self.health} & {*now.health}} for side in (self, now)
            ),
            "dependencies": (self.dependencies, now.dependencies),
            "conditions": (self.conditions, now.conditions),
        }
        return {name for name, (before, after) in pairs.items() if before != after}


def _of_both(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[Mapping[str, str], ...]:
    """Return both sides without the clusters that one of them lacks."""
    names = {*before} & {*now}
    return tuple({name: side[name] for name in names} for side in (before, now))


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One workload of the fleet."""

    kind: str
    """The folder of the kind in the catalogue."""
    placement: str
    namespace: str
    healthy: bool | None = None
    """Whether its members report a status that counts as healthy, None for no status."""
    runs: bool = True
    """Whether Karmada alone brings it to members."""

    @property
    def api_version(self) -> str:
        return self.kind.rpartition("/")[0].removeprefix("core/")

    @property
    def title(self) -> str:
        return self.kind.rpartition("/")[2]

    @property
    def name(self) -> str:
        return f"{self.title.lower()}-{self.placement}"

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"

    def template(self) -> Object:
        if kind := _OF_WORKLOADS.get((self.api_version, self.title)):
            obj: Object = kind.workload(self.name)
        else:
            obj = _first_object(self.kind)
        if self.api_version == "apps/v1":
            labels = {"app": self.name}
            obj = put(obj, ("spec", "selector"), {"matchLabels": labels})
            obj = put(obj, ("spec", "template", "metadata", "labels"), labels)
        obj = {key: value for key, value in obj.items() if key != "status"}
        return obj | {"metadata": {**obj["metadata"], "name": self.name, "namespace": self.namespace}}

    def policy(self) -> Object:
        return propagation(self.template(), PLACEMENTS[self.placement])

    def status(self) -> Object | None:
        """Return the status that members report."""
        if self.healthy is None:
            return None
        for case in _cases(self.kind, "interprethealth"):
            if case.get("output") == {"healthy": self.healthy} and "status" in case["observedObj"]:
                status: Object = case["observedObj"]["status"]
                return status
        return None


def _cases(kind: str, operation: str) -> Iterator[Object]:
    file = _KARTAS / kind / "testdata" / f"{operation.lower()}.yaml"
    if file.exists():
        yield from yaml.safe_load_all(file.read_text(encoding="utf-8"))


def _first_object(kind: str) -> Object:
    """Return the object of the first case of a kind about counts, or else about anything."""
    for operation in ("interpretreplica", "interpretdependency", "retain", "aggregatestatus", "interpretstatus"):
        for case in _cases(kind, operation):
            found: Object = case.get("desiredObj") or case["observedObj"]
            return found
    raise LookupError(kind)


@dataclass
class Fleet(Story):
    """The workloads on a control plane."""

    plane: ControlPlane
    workloads: tuple[Workload, ...]
    templates: dict[str, Object] = field(default_factory=dict)

    @property
    def karmada(self) -> Api:
        return self.plane.karmada

    def begin(self) -> None:
        """Apply the workloads with their policies, let members report, and wait until all is as Karmada wants it."""
        for namespace in sorted({workload.namespace for workload in self.workloads}):
            self.karmada.add_namespace(namespace)
        for workload in self.workloads:
            template = workload.template()
            self.templates[workload.full_name] = template
            for thing in (*_dependencies(workload), workload.policy(), template):
                self.karmada.apply(thing)
        until("the fleet runs", self._runs)
        self.saw(f"{len(self.workloads)} workloads run")
        for workload in self.workloads:
            self._report(workload)

    def _runs(self) -> bool:
        # Karmada looks for new kinds every 30 s.
        seen = self.see()
        missing = {workload.name: seen[workload.full_name] for workload in self.workloads if workload.runs}
        if missing := {name: each for name, each in missing.items() if not each.specs}:
            raise LookupError(f"not in members: {missing}")
        return True

    def _report(self, workload: Workload) -> None:
        status = workload.status()
        for api in self.plane.members.values() if status is not None else ():
            if api.find(self.templates[workload.full_name]):
                api.put_status(self.templates[workload.full_name], status or {})

    def edit(self, value: str) -> None:
        """Annotate each template."""
        for name, template in self.templates.items():
            self.templates[name] = put(template, _EDITED, value)
            self.karmada.apply(self.templates[name])

    def see(self) -> dict[str, Seen]:
        """Return what runs, by the full names of the workloads."""
        return until("API servers say what runs", self._see)

    def _see(self) -> dict[str, Seen]:
        members = {name: self._objects(api) for name, api in self.plane.members.items()}
        bindings = {_resource(each): each for each in self._list(self.karmada, _BINDING)}
        settings = {
            f"{name} {thing['kind']} {thing['metadata']['namespace']}/{thing['metadata']['name']}"
            for name, api in self.plane.members.items()
            for kind in (_CONFIG_MAP, _SECRET)
            for thing in self._list(api, kind)
        }
        return {workload.full_name: _seen(workload, members, bindings, settings) for workload in self.workloads}

    def _objects(self, api: Api) -> dict[tuple[str, str], Object]:
        found = dict[tuple[str, str], Object]()
        for version, kind in {(workload.api_version, workload.title) for workload in self.workloads}:
            for obj in self._list(api, named(version, kind, "")):
                found[f"{version}/{kind}", _full_name(obj)] = obj
        return found

    def _list(self, api: Api, thing: Object) -> list[Object]:
        found = list[Object]()
        for namespace in sorted({workload.namespace for workload in self.workloads}):
            listed = api.get(api.collection(put(thing, ("metadata", "namespace"), namespace))) or {"items": []}
            found += [item | {"kind": thing["kind"]} for item in listed["items"]]
        return found

    def _is_gone(self, api: Api) -> bool:
        return not self._objects(api)

    def end(self) -> None:
        """Take everything away, from the members, too."""
        for workload in self.workloads:
            for thing in (self.templates.get(workload.full_name) or workload.template(), workload.policy()):
                self.karmada.delete(thing)
        for workload in self.workloads:
            for thing in _dependencies(workload):
                self.karmada.delete(thing)
        for api in self.plane.members.values():
            until(f"the fleet is gone from {api.name}", partial(self._is_gone, api))


_BINDING = named("work.karmada.io/v1alpha2", "ResourceBinding", "")
_CONFIG_MAP, _SECRET = named("v1", "ConfigMap", ""), named("v1", "Secret", "")


def _seen(
    workload: Workload,
    members: Mapping[str, Mapping[tuple[str, str], Object]],
    bindings: Mapping[tuple[str, str], Object],
    settings: set[str],
) -> Seen:
    key = workload.kind.removeprefix("core/"), workload.full_name
    objects = {name: found[key] for name, found in members.items() if key in found}
    binding = bindings.get((workload.title, workload.full_name), {"spec": {}})
    status = binding.get("status", {})
    names = {f"{thing['kind']} {_full_name(thing)}" for thing in _dependencies(workload)}
    counts_annotations = workload.title == "Deployment"
    return Seen(
        {name: json.dumps(_wanted(obj), sort_keys=True) for name, obj in objects.items()},
        {name: 0 if counts_annotations else obj["metadata"].get("generation", 0) for name, obj in objects.items()},
        {name: str(at(obj, _EDITED) or "") for name, obj in objects.items()},
        {item["clusterName"]: item.get("health", "") for item in status.get("aggregatedStatus", [])},
        {each["type"]: f"{each['status']} {each['reason']}" for each in status.get("conditions", [])},
        {target["name"]: target.get("replicas", 0) for target in binding["spec"].get("clusters", [])},
        frozenset(each for each in settings if each.partition(" ")[2] in names),
    )


def _wanted(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def _dependencies(workload: Workload) -> tuple[Object, ...]:
    settings, token = f"{workload.name}-settings", f"{workload.name}-token"
    return named("v1", "ConfigMap", settings, workload.namespace), named("v1", "Secret", token, workload.namespace)


def _resource(binding: Object) -> tuple[str, str]:
    resource = binding["spec"]["resource"]
    return resource["kind"], f"{resource['namespace']}/{resource['name']}"


def _full_name(obj: Object) -> str:
    return f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"


def _is_new(workload: Workload) -> bool:
    is_built_in = "." not in workload.api_version.partition("/")[0]
    return not is_built_in and (workload.api_version, workload.title) not in _OF_WORKLOADS


def fleet_of(part: str) -> tuple[Workload, ...]:
    """Return the workloads of a part of ``fleet.yaml``, in a namespace of its name."""
    return tuple(Workload(namespace=part, **entry) for entry in _FILE[part])


@contextmanager
def new_kinds(plane: ControlPlane) -> Iterator[None]:
    """Have CRDs that take any object for the kinds that the rig does not know. Karmada notices no second time."""
    servers = (plane.karmada, *plane.members.values())
    workloads = [workload for part in _FILE for workload in fleet_of(part) if _is_new(workload)]
    kinds = {(workload.api_version, workload.title) for workload in workloads}
    for api in servers:
        for kind in kinds:
            api.apply(open_crd(*kind))
    for name in plane.members:
        for kind in kinds:
            until(f"{name} serves {kind}", partial(serves, plane.karmada, name, *kind))
    yield
    for api in servers:
        for kind in kinds:
            api.delete(open_crd(*kind))


def open_crd(api_version: str, kind: str) -> Object:
    """Return a CRD with the subresource of the status that takes any object."""
    group, _, version = api_version.partition("/")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"kind": kind, "plural": plural(kind)}
    served: dict[str, Any] = {"name": version, "served": True, "storage": True, "schema": schema}
    definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{names['plural']}.{group}")
    definition["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for a test"}
    versions = [served | {"subresources": {"status": {}}}]
    return definition | {"spec": {"group": group, "names": names, "scope": "Namespaced", "versions": versions}}
