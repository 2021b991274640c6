"""What a member cluster shows of its workloads, read in pages: objects, pods, the objects between, and what they use.

Objects are packed while they wait, because a cluster has tens of thousands of pods.
"""

import zlib
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Final, NamedTuple, Self

import orjson
from msgspec import Struct, field

from karta_interpreter.base.errors import ClusterError, InterpretationError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import (
    GVK,
    JSON,
    Object,
    by_kind,
    get,
    listed_versions,
    name as name_of,
    namespace as namespace_of,
    objects_in,
    request_path,
)
from karta_interpreter.base.karmada import GROUP, VERSION
from karta_interpreter.definitions.karta import Definition, Known
from karta_interpreter.definitions.sources.api_server import CRD, ApiServer, existing
from karta_interpreter.engine.verification import Evidence, listed_object, owner_references
from karta_interpreter.engine.verification.members import is_selected

_PAGE: Final = 500
# The most bytes of a list. 150,000 pods of a large cluster have less.
_MOST_LISTED: Final = 2**30
# The most bytes of a list whose objects definitions look up. They are not packed.
_MOST_REFERRED: Final = 2**26
_POD: Final = GVK("", "v1", "Pod")
_AUTOSCALER: Final = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
_USED: Final = tuple(GVK("", "v1", kind) for kind in ("ConfigMap", "PersistentVolumeClaim", "ServiceAccount"))
# Kinds that are not read as owners or references: Secrets, and the nodes that own the pods of their kubelets.
_UNREAD: Final = frozenset({"Secret", "Node"})
_SECRETS: Final = ("", "secrets")
_OF_POD: Final = ("phase", "reason", "conditions", "containerStatuses", "initContainerStatuses")
# The most owners between a workload and its pods, one above the other.
_LONGEST_CHAIN: Final = 8
# The most owners of an object that are kept, and the most workloads above it that it is shown with.
_MOST_OWNERS: Final = 32
_CROWDED: Final = f"an object has more than {_MOST_OWNERS} owners, or workloads above it: the others are shown without"


class WorkloadSelection(NamedTuple):
    """The workloads to read: of all namespaces without one, all of a kind without ``most``.

    ``labels`` is a label selector. Those that a controller owns are read if ``owned`` is true or one is named.
    """

    namespace: str = ""
    kind: str = ""
    name: str = ""
    most: int = 0
    labels: str = ""
    owned: bool = False

    async def within(self, api: ApiServer, *, all_namespaces: bool) -> tuple[Self, str]:
        """Return the selection in its namespace, by default that of the context, and the name of the place."""
        await api.get("/version")  # after which the namespace of the context is known
        namespace = "" if all_namespaces else self.namespace or api.namespace
        place = f"namespace {namespace}" if namespace else "any namespace"
        return self._replace(namespace=namespace), f"{place} of {api.url}"

    def has_kind(self, gvk: GVK) -> bool:
        """Return whether objects of a kind are read."""
        return not self.kind or self.kind.lower() in gvk.names

    def takes(self, obj: Object) -> bool:
        """Return whether an object has the kind, the name and the namespace. Without a namespace it is in each."""
        return (
            self.has_kind(GVK.of(obj))
            and (not self.name or name_of(obj) == self.name)
            and (not self.namespace or namespace_of(obj) in ("", self.namespace))
        )


class Tree(Struct, frozen=True):
    """Objects by uid, packed, and their children with their namespaces."""

    objects: dict[str, bytes] = field(default_factory=dict)
    children: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    owners: dict[GVK, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The owners that objects name."""
    crowded: set[str] = field(default_factory=set)
    """The namespaces of objects with more owners than are kept."""
    _shown: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def keep(self, obj: Object) -> str:
        """Add an object, and return its uid."""
        uid = str(get(obj, ("metadata", "uid")))
        if uid not in self.objects:
            owners = owner_references(obj)
            if len(owners) > _MOST_OWNERS:
                self.crowded.add(namespace_of(obj))
                owners = sorted(owners, key=lambda owner: not owner.get("controller"))[:_MOST_OWNERS]
                obj = {**obj, "metadata": {**obj["metadata"], "ownerReferences": owners}}
            self.objects[uid] = zlib.compress(orjson.dumps(obj), 1)
            for owner in owners:
                owner_uid = str(owner.get("uid"))
                self.children[owner_uid].append((namespace_of(obj), uid))
                with suppress(InterpretationError):  # no API server has an object without a kind
                    self.owners[GVK.of(owner)].add(owner_uid)
        return uid

    def get(self, uid: str) -> Object:
        """Return an object."""
        obj: Object = orjson.loads(zlib.decompress(self.objects[uid]))
        return obj

    def evidence(self, uid: str, now: float) -> Evidence:
        """Return an object with the pods and the other objects that it owns, and that these own.

        What belongs to another object of its kind is left out, such as the workers of a StatefulSet of leaders.
        """
        obj = self.get(uid)
        pods, owners = [obj] if obj.get("kind") == "Pod" else [], list[Object]()
        level, seen, namespace = [uid], {uid}, namespace_of(obj)
        is_whole = self.crowded.isdisjoint([namespace] if namespace else [*self.crowded])
        for _ in range(_LONGEST_CHAIN + 1):
            above, level = level, []
            for child in self._below(above, namespace):
                if child in seen:
                    continue
                seen.add(child)
                if not self._shows(child, uid):
                    is_whole = False
                    continue
                descendant = self.get(child)
                if not _have_same_kind(obj, descendant):
                    level.append(child)
                    (pods if descendant.get("kind") == "Pod" else owners).append(descendant)
        return Evidence(obj, tuple(pods), tuple(owners), now=now, unread="" if is_whole else _CROWDED)

    def _below(self, uids: Iterable[str], namespace: str) -> Iterator[str]:
        """Yield the children of objects. An object of a namespace owns none elsewhere, whatever others say."""
        for uid in uids:
            for within, child in self.children.get(uid, ()):
                if namespace in ("", within):
                    yield child

    def _shows(self, uid: str, workload: str) -> bool:
        """Note that an object is shown with a workload. Return whether it is."""
        workloads = self._shown[uid]
        if workload not in workloads and len(workloads) < _MOST_OWNERS:
            workloads.append(workload)
        return workload in workloads


def _have_same_kind(one: Object, other: Object) -> bool:
    kinds = [(gvk.group, gvk.kind) for gvk in (GVK.of(one), GVK.of(other))]
    return kinds[0] == kinds[1]


class Member(Struct):
    """A member cluster. ``problems`` say what could not be read, ``crds`` define the kinds that have objects."""

    api: ApiServer
    selection: WorkloadSelection = WorkloadSelection()
    problems: list[str] = field(default_factory=list)
    crds: dict[GVK, Object] = field(default_factory=dict)
    references: list[Object] = field(default_factory=list)
    _tree: Tree = field(default_factory=Tree)
    _resources: dict[str, dict[str, Object]] = field(default_factory=dict)
    _made: dict[str, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))
    _scaled: dict[tuple[str, str, str], str] = field(default_factory=dict)
    _unowned: dict[tuple[str, JSON], list[str]] = field(default_factory=lambda: defaultdict(list))
    """The pods without an owner, by namespace and by each value of their labels."""
    _versions: list[str] = field(default_factory=list)
    _unread: str = ""

    async def read(self, definitions: Iterable[Definition]) -> list[tuple[Definition, str]]:
        """Read everything, and return the definition and the uid of each workload. Raises ClusterError."""
        workloads = await self.read_workloads(definitions)
        if workloads:
            await self._read_used()
            await self.read_kinds([definition for definition, _ in workloads])
        return workloads

    async def read_workloads(self, definitions: Iterable[Definition]) -> list[tuple[Definition, str]]:
        """Read workloads, pods and the objects between, and return the definition and the uid of each workload.

        Raises ClusterError.
        """
        preferred = await self._preferred(definitions)
        workloads = [(definition, uid) for definition in preferred for uid in await self._workloads(definition.gvk)]
        of_pods = [definition for definition in preferred if definition.gvk == _POD and not self.selection.labels]
        if workloads or of_pods:
            pods = await self._read_pods()
            selected = [(definition, uid) for definition in of_pods for uid in pods if self._is_selected(uid)]
            workloads += selected[: self.selection.most or None]
            await self._read_owners()
        if await existing(self.api.get(request_path(GROUP, VERSION))):
            self.problems.append(
                "this is karmada-apiserver, where no pods run: give the kubeconfig or context of a member"
            )
        return workloads

    def evidence(self, uid: str, now: float, reader: Known) -> Evidence:
        """Return the evidence about a workload."""
        shown = self._tree.evidence(uid, now)
        within = namespace_of(shown.object)
        targets = ((within, str(target.get("kind")), name_of(target)) for target in (shown.object, *shown.owners))
        scaled = next((self._scaled[target] for target in targets if target in self._scaled), "")
        unread = self._unread or shown.unread
        if shown.unread and shown.unread not in self.problems:
            self.problems.append(shown.unread)
        return replace(shown, made=self._made.get(within, {}), scaled=scaled, unread=unread, reader=reader)

    def selected_pods(self, definition: Definition, obj: Object) -> tuple[Object, ...]:
        """Return the pods without an owner that name the object in a label, and that a component selects."""
        pods = list[Object]()
        for uid in self._unowned.get((namespace_of(obj), name_of(obj)), ()):
            pod = self._tree.get(uid)
            if any(is_selected(leaf, pod) for leaf in definition.leaves):
                pods.append(pod)
        return tuple(pods)

    def _is_selected(self, uid: str) -> bool:
        obj = self._tree.get(uid)
        is_top = not any(owner.get("controller") for owner in owner_references(obj))
        return self.selection.takes(obj) and (is_top or self.selection.owned or bool(self.selection.name))

    async def _preferred(self, definitions: Iterable[Definition]) -> list[Definition]:
        """Return one definition for each kind: of the version that the API server prefers of those with the kind."""
        served = await self._served_versions()
        candidates = [
            definition
            for definition in definitions
            if definition.gvk.api_version in served and self.selection.has_kind(definition.gvk)
        ]
        preferred: dict[tuple[str, str], Definition] = {}
        for definition in sorted(candidates, key=lambda candidate: served.index(candidate.gvk.api_version)):
            gvk = definition.gvk
            if (gvk.group, gvk.kind) not in preferred and await self._serves(gvk):
                preferred[gvk.group, gvk.kind] = definition
        return list(preferred.values())

    async def _serves(self, gvk: GVK) -> bool:
        """Return whether a version has a kind. If that cannot be read, it is a problem."""
        try:
            return gvk.kind in await self._served(gvk.api_version)
        except ClusterError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                self.problems.append(str(error))
            return False

    async def _workloads(self, gvk: GVK) -> list[str]:
        """Read the objects of a kind, and return the selected ones."""
        uids: list[str] = []
        # Pods are read anyway. Only the API server knows which of them a selector chooses.
        if (gvk == _POD and not self.selection.labels) or not self.selection.has_kind(gvk):
            return uids
        async with aclosing(self.read_objects(gvk, is_optional=True, labels=self.selection.labels)) as objects:
            async for obj in objects:
                uid = self._tree.keep(obj)
                uids += [uid] if self._is_selected(uid) else []
                if 0 < self.selection.most <= len(uids):
                    break
        return uids

    async def _read_pods(self) -> list[str]:
        problems = len(self.problems)
        uids = []
        async for pod in self.read_objects(_POD):
            # What is judged of a pod. Only a pod of its own has other managers.
            metadata, status = {**pod["metadata"]}, pod.get("status") or {}
            if owner_references(pod):
                metadata.pop("managedFields", None)
            judged = {name: status[name] for name in _OF_POD if name in status}
            uid = self._tree.keep({**pod, "metadata": metadata, "status": judged})
            uids.append(uid)
            if not owner_references(pod):
                for value in set((metadata.get("labels") or {}).values()):
                    self._unowned[namespace_of(pod), value].append(uid)
        if len(self.problems) > problems:
            self._unread = "not all pods could be read"
        return uids

    async def _read_owners(self) -> None:
        tree, tried = self._tree, set[GVK]()
        for _ in range(_LONGEST_CHAIN):
            missing = {gvk: uids - tree.objects.keys() for gvk, uids in tree.owners.items() if gvk.kind not in _UNREAD}
            missing = {gvk: uids for gvk, uids in missing.items() if uids and gvk not in tried}
            if not missing:
                return
            tried |= missing.keys()
            for gvk, uids in missing.items():
                if not await self._serves(gvk):
                    continue
                async for obj in self.read_objects(gvk, is_optional=True):
                    if get(obj, ("metadata", "uid")) in uids:
                        tree.keep(obj)

    async def _read_used(self) -> None:
        for gvk in _USED:
            async for obj in self.read_objects(gvk):
                names = self._made[namespace_of(obj)]
                names[f"{gvk.kind}/{name_of(obj)}"] = bool(owner_references(obj))
                # Admission adds these to pods, and the account names them in every cluster.
                names.update(
                    {f"Secret/{secret.get('name')}": True for secret in objects_in(obj.get("imagePullSecrets"))}
                )
        async for obj in self.read_objects(_AUTOSCALER, is_optional=True):
            kind, name = (str(get(obj, ("spec", "scaleTargetRef", part))) for part in ("kind", "name"))
            key = (namespace_of(obj), kind, name)
            self._scaled[key] = f"HorizontalPodAutoscaler {name_of(obj)}"

    async def read_kinds(self, definitions: Sequence[Definition]) -> None:
        """Read the CRDs of kinds, and the objects that their definitions look up."""
        for gvk in sorted({definition.gvk for definition in definitions if "." in definition.gvk.group}):
            try:
                resource = (await self._served(gvk.api_version)).get(gvk.kind, {})
                name = f"{resource.get('name')}.{gvk.group}"
                crd = await existing(self.api.get(request_path(*CRD, name=name)))
            except ClusterError as error:
                self.problems.append(str(error))
                break
            if crd:
                self.crds[gvk] = crd
        await self.look_up({reference.gvk for definition in definitions for reference in definition.references})

    async def look_up(self, kinds: Iterable[GVK]) -> None:
        """Read all objects of some kinds as references."""
        for gvk in sorted(gvk for gvk in kinds if gvk.kind not in _UNREAD):
            self.references += [obj async for obj in self.read_objects(gvk, is_optional=True, is_everywhere=True)]

    async def serves(self, gvk: GVK) -> bool:
        """Return whether the API server has a kind. What cannot be read is a problem."""
        try:
            return gvk.kind in await self._served(gvk.api_version)
        except ClusterError as error:
            self.problems.append(str(error))
            return False

    async def _served(self, api_version: str) -> dict[str, Object]:
        """Return the resources of an API version by kind, none of a version that the API server does not list.

        A version that cannot be read raises ClusterError once. It has none afterwards.
        """
        if api_version not in self._resources:
            listed = api_version in await self._served_versions()
            self._resources[api_version] = {}
            self._resources[api_version] = by_kind(await self.api.resources(api_version)) if listed else {}
        return self._resources[api_version]

    async def _served_versions(self) -> Sequence[str]:
        """Return the API versions that the API server lists, the preferred ones before others of their groups."""
        self._versions = self._versions or ["v1", *listed_versions(await self.api.get("/apis"))]
        return self._versions

    async def read_objects(
        self, gvk: GVK, *, is_optional: bool = False, is_everywhere: bool = False, labels: str = ""
    ) -> AsyncGenerator[Object]:
        """Yield the objects of a kind, never Secrets.

        What the API server does not give is a problem, unless it lacks the kind, and so is what is no object.
        """
        number, refused = 0, list[str]()
        try:
            resource = (await self._served(gvk.api_version)).get(gvk.kind)
            if resource is None or (gvk.group, resource["name"]) == _SECRETS:
                return
            is_within = self.selection.namespace and resource.get("namespaced") and not is_everywhere
            namespace = self.selection.namespace if is_within else None
            path = request_path(gvk.group, gvk.version, str(resource["name"]), namespace=namespace)
            most = _MOST_REFERRED if is_everywhere else _MOST_LISTED
            async with aclosing(self.api.pages(path, ("list",), selector=labels, size=_PAGE, most=most)) as pages:
                async for page in pages:
                    for value in _items(page, path):
                        number += 1
                        try:
                            obj = listed_object(gvk, value, is_reference=is_everywhere)
                        except ValueError as error:
                            refused.append(str(error))
                        else:
                            yield obj
        except ClusterError as error:
            if not (is_optional and error.status == HTTPStatus.NOT_FOUND):
                after = f", after {count(number, gvk.kind)}" if number else ""
                self.problems.append(f"{error}{after}")
        if refused:
            more = f", and neither are {len(refused) - 1} more" if refused[1:] else ""
            self.problems.append(f"{refused[0]}{more}")


def _items(page: Object, path: str) -> list[JSON]:
    """Return the values of a list. Go writes an empty one as null. Raises ClusterError for another answer."""
    items = page.get("items", "")
    if not isinstance(items, list | None):
        raise ClusterError(f"GET {path}: the answer is no list")
    return items or []
