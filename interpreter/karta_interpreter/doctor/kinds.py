"""Kinds and Kartas on karmada-apiserver: whether kinds exist, and whether Kartas are ready and registered."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from karta_interpreter.doctor.result import Result, listed, ok, problem, warning
from karta_interpreter.findings import count
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.schema import gvk_of, name_of
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
        found_there = f"{len(present)} of {count(len(kinds), 'registered kind')}"
        yield ok(_CHECK, f"karmada-apiserver serves {found_there}: {listed(present)}")


def _names(resources: Object, kind: str) -> frozenset[str]:
    """The names of a kind's resource and subresources."""
    entries: JSON = resources.get("resources")
    listed_here = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    plurals = {entry.get("name") for entry in listed_here if entry.get("kind") == kind}
    mains = {name for name in plurals if isinstance(name, str) and "/" not in name}
    names = (entry.get("name") for entry in listed_here)
    return frozenset(name for name in names if isinstance(name, str) and name.partition("/")[0] in mains)


_KARTAS = "kartas"


@dataclass(frozen=True, slots=True)
class Stored:
    """A Karta as it is stored; ``conditions`` gives status and message by type."""

    name: str
    gvk: GVK | None
    conditions: dict[str, tuple[str, str]]

    def says(self, condition: str, status: str) -> bool:
        """Whether a condition has a status."""
        return self.conditions.get(condition, ("", ""))[0] == status

    def message(self, *conditions: str) -> str:
        """The message of the first of these conditions that is false, in one line."""
        texts = (self.conditions[each][1] for each in conditions if self.says(each, "False"))
        return " ".join(next(texts, "").split())


def read_stored(obj: Object) -> Stored:
    """What an object reports about itself."""
    conditions = edit.get(obj, ("status", "conditions"))
    entries = [each for each in conditions if isinstance(each, dict)] if isinstance(conditions, list) else []
    found = {str(each.get("type")): (str(each.get("status")), str(each.get("message", ""))) for each in entries}
    return Stored(name_of(obj), gvk_of(obj), found)


def judge_kartas(kartas: Sequence[Stored]) -> Iterator[Result]:
    """Judge their conditions."""
    for karta in kartas:
        if karta.says("Validated", "False"):
            found = f"{karta.name} is not valid: {karta.message('Validated')}"
            yield problem(_KARTAS, found, "correct it; karta-interpreter validate shows every finding")
        elif karta.says("Ready", "False"):
            found = f"{karta.name} is not ready: {karta.message('CRDExists', 'Ready')}"
            yield warning(_KARTAS, found, "install the CRD of its kind on karmada-apiserver, in the version it names")
    silent = [karta.name for karta in kartas if "Ready" not in karta.conditions]
    if silent:
        advice = "check that a server runs with --kubeconfig for this API server, and may patch kartas/status"
        yield warning(_KARTAS, f"nobody has judged {listed(silent)}: there is no condition Ready", advice)
    ready = [karta for karta in kartas if karta.says("Ready", "True")]
    if ready:
        yield ok(_KARTAS, f"{len(ready)} of {len(kartas)} {'is' if len(ready) == 1 else 'are'} ready")
    if not kartas:
        yield ok(_KARTAS, "none is stored here; the server answers from its folders and catalogue")


def judge_coverage(kartas: Sequence[Stored], registered: Collection[GVK]) -> Iterator[Result]:
    """Check that each defined kind is registered, and defined once."""
    kinds = Counter(karta.gvk for karta in kartas if karta.gvk)
    for gvk in (gvk for gvk, times in kinds.items() if times > 1):
        names = listed(karta.name for karta in kartas if karta.gvk == gvk)
        yield problem(_KARTAS, f"{gvk} has several definitions: {names}", "keep one; the others are not used")
    usable = [karta for karta in kartas if karta.gvk and not karta.says("Ready", "False")]
    missing = [f"{karta.name} ({karta.gvk})" for karta in usable if karta.gvk not in registered]
    if missing:
        advice = "start the server with --register, or apply what export webhook-configuration prints now"
        yield warning(_KARTAS, f"defined, but not registered, so Karmada does not ask: {listed(missing)}", advice)
