"""Whether the kinds that are registered exist on karmada-apiserver, by its discovery."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from karta_interpreter.doctor.result import Result, counted, listed, ok, problem, warning
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.operations import Operation

_CHECK = "kinds"


@dataclass(frozen=True, slots=True)
class Served:
    """How a kind is served: in which versions, and in ours with a status subresource or without."""

    versions: tuple[str, ...] = ()
    status: bool = True


def group_path(group: str) -> str:
    """Where the API server lists the versions of a group, which the core group has none of."""
    return f"/apis/{group}" if group else "/api"


def version_path(group: str, version: str) -> str:
    """Where the API server lists the resources of a version.

    >>> version_path("", "v1"), version_path("ray.io", "v1")
    ('/api/v1', '/apis/ray.io/v1')
    """
    return f"{group_path(group)}/{version}"


def versions_of(group: Object) -> list[str]:
    """The versions in an ``APIGroup``, or in the ``APIVersions`` of the core group."""
    versions = group.get("versions")
    found = [edit.get(each, ("version",), each) for each in versions] if isinstance(versions, list) else []
    return [each for each in found if isinstance(each, str)]


def served(gvk: GVK, resources: Mapping[str, Object]) -> Served:
    """How a kind is served, when ``resources`` has the ``APIResourceList`` of each version of its group.

    >>> deployments = {"resources": [{"name": "deployments", "kind": "Deployment"}]}
    >>> served(GVK("apps", "v1", "Deployment"), {"v1": deployments})
    Served(versions=('v1',), status=False)
    """
    names = {version: _names(found, gvk.kind) for version, found in resources.items()}
    ours = names.get(gvk.version, frozenset())
    return Served(
        tuple(version for version in names if names[version]),
        status=any(f"{name}/status" in ours for name in ours),
    )


def judge_kinds(kinds: Mapping[GVK, Sequence[Operation]], found: Mapping[GVK, Served]) -> Iterator[Result]:
    """Judge that there can be objects of the registered kinds, and that their status can be written."""
    missing = [gvk for gvk in kinds if not found[gvk].versions]
    present = [gvk for gvk in kinds if gvk.version in found[gvk].versions]
    for gvk in kinds:
        versions = found[gvk].versions
        if versions and gvk.version not in versions:
            advice = f"write the definition for {listed(versions)}, or serve this version"
            yield warning(_CHECK, f"{gvk}: its CRD does not serve {gvk.version}, only {listed(versions)}", advice)
        elif versions and not found[gvk].status and Operation.AGGREGATE_STATUS in kinds[gvk]:
            advice = "register it without AggregateStatus, or add subresources: {status: {}} to its CRD"
            yield problem(_CHECK, f"{gvk}: AggregateStatus is registered, and there is no status subresource", advice)
    if missing:
        advice = "install their CRDs on karmada-apiserver too, if you propagate them; else this does no harm"
        yield warning(_CHECK, f"registered, but not installed on karmada-apiserver: {listed(missing)}", advice)
    if present:
        found_there = f"{len(present)} of {counted(len(kinds), 'registered kind')}"
        yield ok(_CHECK, f"karmada-apiserver serves {found_there}: {listed(present)}")


def _names(resources: Object, kind: str) -> frozenset[str]:
    """The names of a kind's resource and subresources."""
    entries: JSON = resources.get("resources")
    listed_here = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    plurals = {entry.get("name") for entry in listed_here if entry.get("kind") == kind}
    mains = {name for name in plurals if isinstance(name, str) and "/" not in name}
    names = (entry.get("name") for entry in listed_here)
    return frozenset(name for name in names if isinstance(name, str) and name.partition("/")[0] in mains)
