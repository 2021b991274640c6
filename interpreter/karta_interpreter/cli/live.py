"""Workloads as they run in a member cluster, for ``tree``: the tree of one, or a row for each of a kind."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from karta_interpreter.base.k8s import JSON, Object, full_name, get, name as name_of, namespace as namespace_of
from karta_interpreter.cli.definitions import chosen, is_named, served_definitions
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import table
from karta_interpreter.clusters.live import LiveWorkloads
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.snapshot import ServedDefinition
from karta_interpreter.engine.evaluation import Status
from karta_interpreter.engine.verification.evidence import time_of
from karta_interpreter.engine.workload import WorkloadTree

# Resources of nodes that every pod has. All others are devices.
_COMMON: Final = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"))


class Named(NamedTuple):
    """What is shown: the definitions of a kind, and the name of one object or ""."""

    definitions: Sequence[Definition]
    kind: str
    name: str


def named(text: str, filenames: Sequence[str]) -> Named:
    """Return what KIND or KIND/NAME names, in each version that a definition describes. Raises UsageProblem."""
    entries = served_definitions(filenames)
    kind, name = text, ""
    kinds = _kinds_named(entries, text)
    if not kinds and "/" in text:
        kind, _, name = text.rpartition("/")
        kinds = _kinds_named(entries, kind)
    if not kinds:
        chosen(entries, (kind,))  # raises UsageProblem, with the names that are alike
    definitions = list[Definition]()
    for entry in entries:
        definition = entry.definition
        if definition.has_karta and (definition.gvk.group, definition.gvk.kind) in kinds:
            definitions.append(definition)
    return Named(definitions, kind, name)


def _kinds_named(entries: Sequence[ServedDefinition], text: str) -> set[tuple[str, str]]:
    """Return the groups and kinds that a text names, also by a version without a definition."""
    kinds = set[tuple[str, str]]()
    group, _, rest = text.partition("/")
    kind_of_version = rest.partition("/")[2].lower()
    for entry in entries:
        gvk = entry.definition.gvk
        is_other_version = gvk.group == group and gvk.kind.lower() == kind_of_version
        if is_other_version or is_named(entry, [text]):
            kinds.add((gvk.group, gvk.kind))
    return kinds


def only(live: LiveWorkloads, kind: str, name: str) -> WorkloadTree:
    """Return the tree of the only workload. Raises Problem."""
    if not live.trees:
        found = "could be read" if live.problems else "exists"
        raise Problem(f"error: in {live.place} no {kind} {name} {found}")
    if len(live.trees) > 1:
        objects = " and ".join(_described(tree.workload.object) for tree in live.trees)
        raise Problem(f"error: {kind}/{name} names {objects}; give apiVersion/KIND/NAME, or -n")
    return live.trees[0]


def newest_first(trees: Iterable[WorkloadTree], statuses: Collection[str]) -> list[WorkloadTree]:
    """Return the trees with one of the statuses, or all without statuses."""
    taken = list[WorkloadTree]()
    for tree in trees:
        if not statuses or any(status in tree.status.matched for status in map(Status, statuses)):
            taken.append(tree)
    taken.sort(key=lambda tree: full_name(tree.workload.object.get("metadata")))
    taken.sort(key=_created, reverse=True)
    return taken


def workloads_table(trees: Iterable[WorkloadTree], now: float) -> str:
    """Return a row for each workload."""
    rows = list[tuple[str, ...]]()
    for tree in trees:
        obj, counts = tree.workload.object, tree.counts
        devices = [f"{name} {amount}" for name, amount in tree.total_requests.items() if name not in _COMMON]
        rows.append(
            (
                str(obj["kind"]),
                full_name(obj.get("metadata")),
                ", ".join(tree.status.matched),
                f"{counts.ready}/{counts.desired}",
                ", ".join(devices) or "-",
                age(now - _created(tree)),
            )
        )
    return table(rows, header=("KIND", "NAME", "STATUS", "READY", "DEVICES", "AGE"))


def workloads_json(trees: Iterable[WorkloadTree]) -> JSON:
    """Return the rows as JSON values."""
    items = list[JSON]()
    for tree in trees:
        obj, counts = tree.workload.object, tree.counts
        items.append(
            {
                "apiVersion": obj["apiVersion"],
                "kind": obj["kind"],
                "namespace": namespace_of(obj),
                "name": name_of(obj),
                "creationTimestamp": get(obj, ("metadata", "creationTimestamp")),
                "phases": [str(status) for status in tree.status.matched],
                "replicas": counts.desired,
                "currentReplicas": counts.current,
                "readyReplicas": counts.ready,
                "totalRequests": tree.total_requests,
            }
        )
    return {"items": items}


def age(seconds: float) -> str:
    """Return a duration in its largest unit.

    >>> age(59), age(200), age(90_000)
    ('59s', '3m', '1d')
    """
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(int(seconds), 0)}s"


def _created(tree: WorkloadTree) -> float:
    return time_of(get(tree.workload.object, ("metadata", "creationTimestamp")))


def _described(obj: Object) -> str:
    return f"{obj['apiVersion']}/{obj['kind']} {full_name(obj.get('metadata'))}"
