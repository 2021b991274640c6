"""Kinds, Kartas and clusters on karmada-apiserver: whether kinds exist, and Kartas are ready and registered."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from karta_interpreter.base.findings import count, listed
from karta_interpreter.base.k8s import GVK, Object, by_kind, edit, objects_in
from karta_interpreter.definitions.karta import kinds_of, name_of
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.registered.interpreters import Client
from karta_interpreter.webhook.doctor.result import CheckResult, ok, problem, warning
from karta_interpreter.webhook.settings import option

_KINDS, _KARTAS, _CLUSTERS = "kinds", "kartas", "clusters"


class ServedVersions(Struct, frozen=True):
    """The versions in which a kind is served, and whether the version in question has a status subresource."""

    versions: tuple[str, ...] = ()
    status: bool = True


def served(gvk: GVK, resources: Mapping[str, Sequence[Object]]) -> ServedVersions:
    """Return how a kind is served, from the resources of each version of its group.

    >>> deployments = [{"name": "deployments", "kind": "Deployment"}]
    >>> served(GVK("apps", "v1", "Deployment"), {"v1": deployments})
    ServedVersions(versions=('v1',), status=False)
    """
    plurals = {
        version: entry["name"]
        for version, entries in resources.items()
        if (entry := by_kind(entries).get(gvk.kind)) is not None
    }
    names = {entry["name"] for entry in resources.get(gvk.version, ())}
    return ServedVersions(tuple(plurals), status=f"{plurals.get(gvk.version)}/status" in names)


def judge_kinds(
    kinds: Mapping[GVK, Sequence[Operation]], served_versions: Mapping[GVK, ServedVersions]
) -> Iterator[CheckResult]:
    """Check that objects of the registered kinds can exist, and that their status can be written."""
    missing = [gvk for gvk in kinds if not served_versions[gvk].versions]
    present = [gvk for gvk in kinds if gvk.version in served_versions[gvk].versions]
    for gvk in kinds:
        versions = served_versions[gvk].versions
        if versions and gvk.version not in versions:
            yield warning(
                _KINDS,
                f"{gvk}: its CRD does not serve {gvk.version}, only {listed(versions)}",
                f"write the definition for {listed(versions)}, or serve this version",
            )
        elif versions and not served_versions[gvk].status and Operation.AGGREGATE_STATUS in kinds[gvk]:
            yield problem(
                _KINDS,
                f"{gvk}: AggregateStatus is registered, and there is no status subresource",
                "register it without AggregateStatus, or add subresources: {status: {}} to its CRD",
            )
    if missing:
        yield warning(
            _KINDS,
            f"registered, but not installed on karmada-apiserver: {listed(missing)}",
            "install their CRDs on karmada-apiserver too, if you propagate them; else this does no harm",
        )
    if present:
        yield ok(
            _KINDS,
            f"karmada-apiserver serves {len(present)} of {count(len(kinds), 'registered kind')}: {listed(present)}",
        )


class Stored(Struct, frozen=True):
    """A Karta as it is stored. ``conditions`` gives status and message by type."""

    name: str
    kinds: tuple[GVK, ...]
    """The kinds that it describes, its own version first."""
    conditions: Mapping[str, tuple[str, str]]

    def has(self, condition: str, status: str) -> bool:
        """Return whether a condition has a status."""
        return self.conditions.get(condition, ("", ""))[0] == status

    def message(self, *conditions: str) -> str:
        """Return the message of the first of these conditions that is false, in one line."""
        texts = (self.conditions[condition][1] for condition in conditions if self.has(condition, "False"))
        return " ".join(next(texts, "").split())


def read_stored(obj: Object) -> Stored:
    """Return a stored Karta with its conditions. Anyone may have written its status."""
    entries = objects_in(edit.get(obj, ("status", "conditions")))
    conditions = {
        str(entry.get("type")): (str(entry.get("status")), str(entry.get("message", ""))) for entry in entries
    }
    return Stored(name_of(obj), kinds_of(obj), conditions)


def judge_kartas(kartas: Sequence[Stored], *, can_be_listed: bool = True) -> Iterator[CheckResult]:
    """Check their conditions."""
    for karta in kartas:
        if karta.has("Validated", "False"):
            finding = f"{karta.name} is not valid: {karta.message('Validated')}"
            yield problem(_KARTAS, finding, "correct it; karta-interpreter validate shows every finding")
        elif karta.has("Ready", "False"):
            finding = f"{karta.name} is not ready: {karta.message('CRDExists', 'Ready')}"
            yield warning(_KARTAS, finding, "install the CRD of its kind on karmada-apiserver, in the version it names")
    if silent := [karta.name for karta in kartas if "Ready" not in karta.conditions]:
        yield warning(
            _KARTAS,
            f"no server has checked {listed(silent)}: there is no condition Ready",
            f"check that a server runs with {option('kubeconfig')} for this API server, and may patch kartas/status",
        )
    if ready := [karta for karta in kartas if karta.has("Ready", "True")]:
        yield ok(_KARTAS, f"{len(ready)} of {len(kartas)} {'is' if len(ready) == 1 else 'are'} ready")
    if not kartas:
        yield ok(
            _KARTAS,
            f"none {'is stored here' if can_be_listed else 'can be listed here (is their CRD installed?)'}"
            "; the server answers from its folders and catalogue",
        )


def judge_coverage(kartas: Sequence[Stored], registered: Collection[GVK]) -> Iterator[CheckResult]:
    """Check that each defined kind is registered, and defined once."""
    kinds = Counter(gvk for karta in kartas for gvk in karta.kinds)
    for gvk in (gvk for gvk, times in kinds.items() if times > 1):
        yield problem(
            _KARTAS,
            f"{gvk} has several definitions: {listed(karta.name for karta in kartas if gvk in karta.kinds)}",
            "keep one; the others are not used",
        )
    # A Karta that is not ready has a result of its own, and is rightly not registered. Nor is a version without a CRD.
    usable = [(karta.name, karta.kinds[0]) for karta in kartas if karta.kinds and not karta.has("Ready", "False")]
    missing = [f"{name} ({gvk})" for name, gvk in usable if gvk not in registered]
    if missing:
        yield warning(
            _KARTAS,
            f"defined, but not registered, so Karmada does not ask: {listed(missing)}",
            f"check that {option('kinds')} and {option('without')} let it in, and start the server with "
            f"{option('register')}, or apply the output of export webhook-configuration",
        )


def judge_clusters(clusters: Sequence[Object], clients: Sequence[Client]) -> Iterator[CheckResult]:
    """Warn about Pull-mode clusters, because their agents cannot be checked."""
    pulling = [cluster["metadata"]["name"] for cluster in clusters if edit.get(cluster, ("spec", "syncMode")) == "Pull"]
    if not pulling:
        yield ok(_CLUSTERS, f"{count(len(clusters), 'member cluster')}, and none in Pull mode")
        return
    where = "in Pull mode, karmada-agent calls from inside the cluster, for Retain, status and health"
    advice = (
        "register a URL that its pods can resolve and reach, or run a copy of the server in the member"
        if any(client.service for client in clients)
        else "make sure that its pods reach the address; run doctor in a pod there"
    )
    yield warning(_CLUSTERS, f"{where}: {listed(pulling)}", advice)
