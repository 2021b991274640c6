"""What a Karmada holds of its workloads: bindings, the templates that they name, Works, and who interprets them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import chain
from typing import Final, Protocol, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from karta_interpreter.base.errors import ClusterError, InterpretationError
from karta_interpreter.base.k8s import (
    GVK,
    Object,
    get,
    grouped,
    name as name_of,
    namespace as namespace_of,
    objects_in,
    request_path,
)
from karta_interpreter.base.karmada import API_VERSION
from karta_interpreter.clusters.member import Member, Tree, WorkloadSelection
from karta_interpreter.clusters.resource import MOST_NAMED, Resource, binding_name, resource_of
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.api_server import ApiServer, existing
from karta_interpreter.engine.comparison.bindings import Bound, Reported, items_of
from karta_interpreter.engine.registered.interpreters import Interpreters, in_order, read_customization, read_webhooks

_WORK_API: Final = "work.karmada.io"
_CLUSTER: Final = GVK("cluster.karmada.io", "v1alpha1", "Cluster")
_SUMMARY: Final = ("allocatable", "allocatableModelings")
_QUOTA: Final = GVK("policy.karmada.io", "v1alpha1", "FederatedResourceQuota")
_BINDINGS: Final = tuple(GVK(_WORK_API, "v1alpha2", kind) for kind in ("ResourceBinding", "ClusterResourceBinding"))
_WORK: Final = GVK(_WORK_API, "v1alpha1", "Work")
_CUSTOMIZATION: Final = GVK.of({"apiVersion": API_VERSION, "kind": "ResourceInterpreterCustomization"})
_WEBHOOKS: Final = GVK.of({"apiVersion": API_VERSION, "kind": "ResourceInterpreterWebhookConfiguration"})
# The namespace of a cluster's Works (``names.GenerateExecutionSpaceName``).
_NAMESPACE: Final = "karmada-es-"
# The annotations of a Work that name its binding (``pkg/apis/work/v1alpha2/well_known_constants.go``).
_OF_BINDING: Final = "resourcebinding.karmada.io"
_OF_CLUSTER_BINDING: Final = "clusterresourcebinding.karmada.io"
# What Karmada notes on an object that a policy selects, before it makes the binding (``ClaimPolicyForObject``).
_POLICIES: Final = ("propagationpolicy.karmada.io/name", "clusterpropagationpolicy.karmada.io/name")
_MOST_BINDINGS = 100_000

_Name: TypeAlias = tuple[str, str]
"""A namespace, "" for an object of the cluster, and a name."""


_Item = TypeVar("_Item")


class Watched(Protocol):
    """A bar of progress."""

    def __call__(self, items: Sequence[_Item], label: str, /) -> Iterator[_Item]:
        """Yield the items, and show how many are done."""


class Bindings(Struct):
    """Everything that was read. ``problems`` say what could not be."""

    interpreters: Interpreters = field(default_factory=Interpreters)
    clusters: list[Object] = field(default_factory=list)
    quotas: list[Object] = field(default_factory=list)
    crds: list[Object] = field(default_factory=list)
    references: list[Object] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    has_components: bool = False
    """Whether a binding has components: the gate MultiplePodTemplatesScheduling is on."""
    kinds: dict[GVK, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The UIDs of the bindings by the kinds of their templates."""
    unbound: dict[GVK, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The UIDs of objects that a policy selects and that have no binding, by their kinds."""
    _tree: Tree = field(default_factory=Tree)
    _templates: dict[tuple[GVK, _Name], str] = field(default_factory=dict)
    _works: dict[tuple[str, _Name], str] = field(default_factory=dict)
    _clusters: set[str] = field(default_factory=set)
    """The clusters that the statuses of bindings name."""
    _members: set[str] = field(default_factory=set)
    """The clusters that Karmada has."""
    _bound: set[tuple[str, str, _Name]] = field(default_factory=set)
    """The group, kind and name of what has a binding or was found without one, in whatever version."""
    _resources: dict[_Name, Resource] = field(default_factory=dict)
    """The objects of bindings, by the names of the bindings."""
    _refused: int = 0
    """The number of bindings and Works that name no object, or another than they may."""

    def get(self, gvk: GVK, uid: str) -> Bound:
        """Return one of the bindings of a kind."""
        binding = self._tree.get(uid)
        found = self._templates.get((gvk, _named(resource_of(binding))))
        template = self._tree.get(found) if found else None
        return Bound(gvk, binding, template, tuple(self._reported(binding, template)) if template else ())

    def unbound_object(self, uid: str) -> tuple[Object, str]:
        """Return an object without a binding, and the name of its policy."""
        obj = self._tree.get(uid)
        return obj, _policy_of(obj)

    def _reported(self, binding: Object, template: Object) -> Iterator[Reported]:
        for item in items_of(binding):
            cluster = str(item.get("clusterName"))
            manifest, report = template, item if item.get("applied") else {}
            if work_uid := self._works.get((cluster, (namespace_of(binding), name_of(binding)))):
                work = self._tree.get(work_uid)
                # Karmada puts one manifest into a Work (``pkg/controllers/ctrlutil/work.go``).
                manifest = next(iter(_manifests(work)), template)
                report = next(iter(objects_in(get(work, ("status", "manifestStatuses")))), {})
            if health := report.get("health"):
                yield Reported(cluster, _as_reported(manifest, report), str(health))

    async def read(
        self,
        api: ApiServer,
        find: Callable[[GVK], Definition | None],
        watched: Watched,
        kinds: Iterable[GVK] = (),
        looked_up: Iterable[GVK] = (),
    ) -> None:
        """Read a Karmada. Templates are read of kinds for which ``find`` has a definition. Raises ClusterError.

        Of these ``kinds`` objects without a binding are read, too, and all objects of the kinds that are ``looked_up``.
        """
        if await existing(api.get(request_path(_WORK_API, "v1alpha2"))) is None:
            raise ClusterError(f"{api.url} is not karmada-apiserver: it has no bindings; give its --context")
        karmada = Member(api, problems=self.problems)
        for gvk in watched((*_BINDINGS, _CUSTOMIZATION, _WEBHOOKS, _CLUSTER, _QUOTA), "reading bindings"):
            async with aclosing(karmada.read_objects(gvk)) as objects:
                async for obj in objects:
                    if not self._keep(gvk, obj):
                        break
        self.interpreters.webhooks = in_order(self.interpreters.webhooks)
        self.interpreters.customizations.sort(key=lambda customization: customization.name)
        # One version of each kind is read, v1 before v1beta1: an API server gives all objects in any.
        stable_last = sorted(kinds, reverse=True)
        read = {(gvk.group, gvk.kind): [gvk] for gvk in stable_last if await karmada.serves(gvk)}
        read |= grouped(((gvk.group, gvk.kind), gvk) for gvk in self.kinds)
        for gvk in watched([*chain.from_iterable(read.values())], "reading templates"):
            if find(gvk):
                await self._read_templates(karmada, gvk)
        definitions = {gvk: definition for gvk in (*self.kinds, *self.unbound) if (definition := find(gvk))}
        await karmada.read_kinds([*definitions.values()])
        await karmada.look_up(looked_up)
        self.crds, self.references = [*karmada.crds.values()], karmada.references
        for cluster in watched(sorted(self._clusters & self._members), "reading Works"):
            of_cluster = replace(karmada, selection=WorkloadSelection(f"{_NAMESPACE}{cluster}"))
            async for work in of_cluster.read_objects(_WORK):
                self._keep_work(cluster, work, definitions)
        if self._refused > MOST_NAMED:
            self.problems.append(
                f"{self._refused - MOST_NAMED} more bindings and Works are not judged for such reasons"
            )

    async def _read_templates(self, karmada: Member, gvk: GVK) -> None:
        names = {_named(resource_of(self._tree.get(uid))) for uid in self.kinds.get(gvk, ())}
        async for obj in karmada.read_objects(gvk):
            if (name := (namespace_of(obj), name_of(obj))) in names:
                self._templates[gvk, name] = self._tree.keep(obj)
            elif _policy_of(obj) and (gvk.group, gvk.kind, name) not in self._bound:
                self._bound.add((gvk.group, gvk.kind, name))
                self.unbound[gvk].append(self._tree.keep(obj))

    def _keep(self, gvk: GVK, obj: Object) -> bool:
        """Keep an object. Return whether there is room for more."""
        if gvk == _CUSTOMIZATION:
            self.interpreters.customizations.append(read_customization(obj))
        elif gvk == _WEBHOOKS:
            self.interpreters.webhooks += read_webhooks(obj)
        elif gvk == _CLUSTER:
            summary = {part: get(obj, ("status", "resourceSummary", part)) for part in _SUMMARY}
            models = {"resourceModels": get(obj, ("spec", "resourceModels"))}
            self._members.add(name_of(obj))
            self.clusters.append({"spec": models, "status": {"resourceSummary": summary}})
        elif gvk == _QUOTA:
            self.quotas.append(obj)
        else:
            if sum(map(len, self.kinds.values())) >= _MOST_BINDINGS:
                self.problems.append(f"there are more than {_MOST_BINDINGS} bindings: the rest is not read")
                return False
            try:
                resource = resource_of(obj)
            except InterpretationError as error:
                self._refuse(f"{binding_name(gvk.kind, obj)}: spec.resource: {error}")
                return True
            self.kinds[resource.gvk].append(self._tree.keep(obj))
            self._bound.add((resource.gvk.group, resource.gvk.kind, _named(resource)))
            self._resources[namespace_of(obj), name_of(obj)] = resource
            self.has_components |= bool(get(obj, ("spec", "components")))
            self._clusters |= {str(item.get("clusterName")) for item in items_of(obj)}
        return True

    def _keep_work(self, cluster: str, work: Object, kept: Collection[GVK]) -> None:
        """Keep the Work of a binding for a cluster, if what it brings there is the object of the binding."""
        annotations = get(work, ("metadata", "annotations")) or {}
        namespace = str(annotations.get(f"{_OF_BINDING}/namespace", ""))
        name = str(annotations.get(f"{_OF_BINDING}/name") or annotations.get(f"{_OF_CLUSTER_BINDING}/name") or "")
        resource = self._resources.get((namespace, name))
        # Secrets are among the manifests. What is not compared is not kept.
        if resource is None or resource.gvk not in kept or not (manifests := _manifests(work)):
            return
        own = manifests[0]
        brought = (own.get("apiVersion"), own.get("kind"), namespace_of(own), name_of(own), namespace_of(work))
        expected = (*resource.gvk.type_meta.values(), resource.namespace, resource.name, f"{_NAMESPACE}{cluster}")
        if brought == expected:
            self._works[cluster, (namespace, name)] = self._tree.keep(work)
            return
        self._refuse(f"{binding_name('Work', work)} does not bring {resource}, the object of its binding")

    def _refuse(self, problem: str) -> None:
        self._refused += 1
        if self._refused <= MOST_NAMED:
            self.problems.append(problem)


def _policy_of(obj: Object) -> str:
    annotations = get(obj, ("metadata", "annotations")) or {}
    return next((str(annotations[name]) for name in _POLICIES if annotations.get(name)), "")


def _named(resource: Resource) -> _Name:
    return resource.namespace, resource.name


def _manifests(work: Object) -> list[Object]:
    return objects_in(get(work, ("spec", "workload", "manifests")))


def _as_reported(manifest: Object, report: Object) -> Object:
    """Return a manifest with a reported status. Only Karmada's bookkeeping there tells the generation in the member."""
    obj = {field: value for field, value in manifest.items() if field != "status"}
    metadata = {**manifest["metadata"], "generation": None}
    status = report.get("status")
    if isinstance(status, dict):
        obj["status"] = status
        if isinstance(status.get("generation"), int):
            metadata["generation"] = status["generation"]
    return {**obj, "metadata": metadata}
