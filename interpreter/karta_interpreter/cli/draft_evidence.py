"""The evidence of ``create karta``: objects of a kind and their pods, in files, in a saved folder or in a member."""

import asyncio
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, get, namespace
from karta_interpreter.cli.files import EMPTY, named, read_objects
from karta_interpreter.cli.member import Member, Tree, WorkloadSelection
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.saved import read_about, read_workloads
from karta_interpreter.definitions.karta import Known
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.draft import draft
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.definitions.sources.api_server import ApiServer, by_kind
from karta_interpreter.engine.verification import Evidence, owner_references

MOST: Final = 50
"""The most objects that a draft looks at."""
# The most pods of one of them.
_MOST_PODS: Final = 1000


class Shown(NamedTuple):
    """The objects of a kind with their pods, and the CRD, if there is one. ``problems`` names the unreadable rest."""

    gvk: GVK
    evidence: tuple[Evidence, ...]
    crd: Object | None = None
    problems: tuple[str, ...] = ()


def shown_by(gvk: GVK, evidence: Iterable[Evidence], crd: Object | None = None, problems: Iterable[str] = ()) -> Shown:
    """Return evidence within the bounds. Nothing to look at is a Problem."""
    problems = list(problems)
    workloads = list(evidence)[:MOST]
    if not workloads:
        why = f": {'; '.join(problems)}" if problems else ""
        raise Problem(f"error: there is no object of the kind {gvk.kind}{why}")
    large = [named(workload.object) for workload in workloads if len(workload.pods) > _MOST_PODS]
    problems += [f"{name} is left out: it has more than {_MOST_PODS} pods" for name in large]
    return Shown(
        gvk, tuple(workload for workload in workloads if len(workload.pods) <= _MOST_PODS), crd, tuple(problems)
    )


def from_files(objects: Sequence[str], pods: Sequence[str], kind: str | None) -> Shown:
    """Read objects, and their pods with the objects between."""
    listed = [obj for path in objects for obj in read_objects(path)]
    for obj in listed:
        if not (isinstance(obj.get("kind"), str) and isinstance(obj.get("apiVersion"), str)):
            raise Problem(f"error: {', '.join(objects)}: an object has no apiVersion and kind")
    gvk = chosen_kind({GVK.of(obj) for obj in listed}, kind, ", ".join(objects))
    workloads = [_with_uid(obj) for obj in listed if GVK.of(obj) == gvk]
    pod_objects = [obj for path in pods for obj in read_objects(path)]
    tree = Tree()
    for obj in (*workloads, *pod_objects):
        is_alone = obj.get("kind") == "Pod" and gvk.kind != "Pod" and not owner_references(obj)
        tree.keep(_with_uid(_with_owner(obj, workloads) if is_alone else obj))
    evidence = [tree.evidence(tree.keep(obj), time.time()) for obj in workloads]
    owned_names = {get(pod, ("metadata", "name")) for workload in evidence for pod in workload.pods}
    strays = [
        named(pod)
        for pod in pod_objects
        if pod.get("kind") == "Pod" and get(pod, ("metadata", "name")) not in owned_names
    ]
    if strays:
        raise Problem(
            f"error: {', '.join(pods)}: no object owns {', '.join(strays[:5])}; give the objects between, too"
        )
    return shown_by(gvk, evidence)


def _with_uid(obj: Object) -> Object:
    if get(obj, ("metadata", "uid")):
        return obj
    uid = f"{obj.get('kind')}/{namespace(obj)}/{get(obj, ('metadata', 'name'))}"
    return {**obj, "metadata": {**(obj.get("metadata") or {}), "uid": uid}}


def _with_owner(pod: Object, objects: Sequence[Object]) -> Object:
    """Return a pod without owners as one of the object with the name that it begins with."""
    name = str(get(pod, ("metadata", "name")))
    owners = [
        owner
        for owner in objects
        if name.startswith(f"{get(owner, ('metadata', 'name'))}-") and namespace(owner) == namespace(pod)
    ]
    if not owners:
        return pod
    owner = max(owners, key=lambda candidate: len(get(candidate, ("metadata", "name"))))
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": get(owner, ("metadata", "name")),
        "uid": get(owner, ("metadata", "uid")),
        "controller": True,
    }
    return {**pod, "metadata": {**pod["metadata"], "ownerReferences": [reference]}}


def chosen_kind(kinds: Collection[GVK], kind: str | None, source: str) -> GVK:
    """Return the kind among several that KIND, KIND.GROUP or apiVersion/KIND names. Another one is a UsageProblem."""
    names = {gvk: (gvk.kind, f"{gvk.kind}.{gvk.group}", "/".join(filter(None, gvk))) for gvk in sorted(kinds)}
    matching = [gvk for gvk in names if kind is None or kind.lower() in map(str.lower, names[gvk])]
    if not names:
        raise Problem(f"error: {source}: it contains no object{EMPTY}")
    if not matching:
        hint = did_you_mean(str(kind), dict.fromkeys(gvk.kind for gvk in names))
        raise UsageProblem(f"error: {source}: it has nothing for the kind {kind}; {hint}")
    if len(matching) > 1:
        choices = ", ".join(names[gvk][-1] for gvk in matching)
        raise UsageProblem(f"error: {source}: choose one with --kind: {choices}")
    return matching[0]


def from_folder(folder: Path, kind: str | None) -> Shown:
    """Read the objects of a kind in a folder that ``verify --save`` wrote."""
    state, listed = read_about(folder), dict[GVK, list[Evidence]]()
    for workload in read_workloads(folder, state):
        of_kind = listed.setdefault(GVK.of(workload.object), [])
        if len(of_kind) < MOST and (kind is None or kind.lower() in GVK.of(workload.object).names):
            of_kind.append(workload)
    gvk = chosen_kind(listed, kind, str(folder))
    return shown_by(gvk, listed[gvk], state.crd(gvk), state.problems)


async def resource_of(api: ApiServer, text: str) -> tuple[str, Object]:
    """Return the API version and the first ``APIResourceList`` entry that a text names, as kubectl does."""
    word, _, group = text.lower().partition(".")
    groups = (await api.get("/apis")).get("groups")
    versions = ([] if group else ["v1"]) + list(_versions(groups, group))
    # All versions are asked at once. An aggregated API that is down must not hide the resources of others.
    lists = await asyncio.gather(*map(api.resources, versions), return_exceptions=True)
    errors = [answer for answer in lists if isinstance(answer, BaseException)]
    for version, resources in zip(versions, lists, strict=True):
        for resource in () if isinstance(resources, BaseException) else by_kind(resources).values():
            names = (
                resource["name"],
                resource.get("singularName"),
                resource["kind"],
                *(resource.get("shortNames") or ()),
            )
            if word in (str(name).lower() for name in names):
                return version, resource
    for error in errors:  # of an API that is not available, and may have the resource
        raise error
    raise Problem(f"error: {api.url} has no resource {text}")


def _versions(groups: JSON, group_or_version: str) -> Iterator[str]:
    """Yield the preferred API version of each group, or of the wanted one. ``v1.apps`` names the version, too."""
    for group in groups if isinstance(groups, list) else ():
        name = edit.get(group, ("name",))
        yield from (
            str(edit.get(version, ("groupVersion",)))
            for version in edit.get(group, ("versions",)) or ()
            if group_or_version == f"{edit.get(version, ('version',))}.{name}"
        )
        if group_or_version in ("", name):
            yield str(edit.get(group, ("preferredVersion", "groupVersion")))


async def from_member(api: ApiServer, kind: str, namespace: str | None) -> Shown:
    """Read the objects of a kind in a member, in a namespace or in all with ""."""
    api_version, resource = await resource_of(api, kind)
    gvk = GVK.of({"apiVersion": api_version, "kind": resource["kind"]})
    selection = WorkloadSelection(api.namespace if namespace is None else namespace, gvk.kind, most=MOST)
    member, now = Member(api, selection), time.time()
    workloads = await member.read([load_definition(draft(CustomKind("", gvk, {})).karta)])
    shown = [member.evidence(uid, now, Known.of(())) for _, uid in workloads]
    return shown_by(gvk, shown, member.crds.get(gvk), member.problems)
