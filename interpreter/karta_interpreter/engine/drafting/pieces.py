"""Pods that an operator makes from fields: a template of the fields with values that the pods of every object have."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Final

from karta_interpreter.base.errors import QuantityError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import CONTAINER_LISTS, JSON, Object, Quantity, get, objects_in
from karta_interpreter.definitions.openapi.draft import Decision, Form, PodsField
from karta_interpreter.definitions.openapi.schema import CustomKind, Entries, SchemaPath, below, parts_below
from karta_interpreter.engine.drafting.inference import (
    FEW,
    Label,
    component_selector,
    held_out,
    instance_selector,
    keys_of,
    label_of,
    outputs,
)
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.languages.jq import Query

_SPEC: Final = SchemaPath(("spec",))
_MOST_PATHS: Final = 500
_INJECTED: Final = re.compile(r"(?i)inject|sidecar|proxy")
_SHORTEST: Final = 4
_MOST_SORTS: Final = 4
_MOST_LABELS: Final = 20


def pods_of_fields(
    kind: CustomKind, evidence: Sequence[Evidence], *, in_entries: bool
) -> list[tuple[PodsField, Decision]]:
    """Return pods with templates that are written from fields, each with its own containers, or nothing.

    ``in_entries``: the fields are in the entries of the list that a label of the pods names, if there is one.
    """
    shown = [workload for workload in evidence if workload.active]
    paths = sorted(_paths(_SPEC, below(kind.schema, "spec")), key=lambda path: len(path.steps))[:_MOST_PATHS]
    drafted: list[tuple[PodsField, Decision]] = []
    for of_component, sort in _sorts(shown):
        having = [*sort.values()]
        place, by_instance = _instances(paths, having) if in_entries else (_SPEC, {})
        parts = [part for workload in having for part in _parts(place, by_instance, workload)]
        depth = len(place.steps)
        inside = [path for path in paths if path.steps[:depth] == place.steps and path != place]
        template, doubts = _template([SchemaPath(path.steps[depth:]) for path in inside], parts)
        text = f"{place.jq} | {template}"
        if part := _part_of(template, having, [workload for at, workload in enumerate(shown) if at not in sort]):
            text = f"if ({part}) then {text} else empty end"
            doubts.append(f"Does ({part}) tell the objects that have them?")
        doubts += [f"Fewer than {FEW} parts of objects are little evidence."] if len(parts) < FEW else []
        note = f"The containers of {count(len(having), 'object')} are made of these fields. {' '.join(doubts)}".rstrip()
        selector = {**of_component, **by_instance}
        decision = Decision(
            {"specDefinition": {Form.TEMPLATE.value: text}, **({"podSelector": selector} if selector else {})},
            ((("specDefinition",), f"CHECK: {note}" if doubts else note),),
        )
        drafted.append((PodsField(place, {}, Form.FRAGMENTS, ((_SPEC, below(kind.schema, "spec")),)), decision))
    return drafted


def _part_of(template: str, having: Sequence[Evidence], lacking: Sequence[Evidence]) -> str:
    """Return the condition of the part that a template is made of, or that has a switch, if others lack such pods."""
    parts = [
        {
            name
            for name, part in workload.object["spec"].items()
            if isinstance(part, dict) and part.get("enabled") is not False
        }
        for workload in (*having, *lacking)
    ]
    names = set.intersection(*parts[: len(having)]).difference(*parts[len(having) :]) if lacking else ()
    with_switch = (name for name in sorted(names) if "enabled" in having[0].object["spec"][name])
    in_template = (name for name in sorted(names) if f"{SchemaPath((name,)).jq}." in template)
    return next((f"{(_SPEC / name).jq} | . and .enabled != false" for name in chain(in_template, with_switch)), "")


def _sorts(workloads: Sequence[Evidence]) -> list[tuple[Object, dict[int, Evidence]]]:
    """Return the objects by number, each with pods of the same containers, and the selector of these pods."""
    pods = [pod for workload in workloads for pod in workload.active]
    names = sorted({key for pod in pods for key in get(pod, ("metadata", "labels")) or {}})
    by_value = ([(key, value) for value in dict.fromkeys(label_of(pod, key) for pod in pods)] for key in keys_of(pods))
    # Each pod has one of some labels, whatever its value.
    by_key = ([(key, "") for key in keys] for size in (2, 3) for keys in combinations(names[:_MOST_LABELS], size))
    for labels in chain([[("", "")]], by_value, by_key):
        if len(labels) > _MOST_SORTS or any(sum(_has(pod, label) for label in labels) != 1 for pod in pods):
            continue
        sorts = [
            (component_selector(label) if label[0] else {}, sort)
            for label in labels
            if (sort := _sort(workloads, label))
        ]
        if all(len({_names(pod) for pod in evidence.pods}) == 1 for _, sort in sorts for evidence in sort.values()):
            return sorts
    return []


def _sort(workloads: Sequence[Evidence], label: Label) -> dict[int, Evidence]:
    return {
        number: replace(workload, pods=pods)
        for number, workload in enumerate(workloads)
        if (pods := tuple(pod for pod in workload.active if _has(pod, label)))
    }


def _has(pod: Object, label: Label) -> bool:
    """Return whether a pod has a label, with any value if the label has none. All pods have the one without a key."""
    key, value = label
    return not key or (label_of(pod, key) == value if value else key in (get(pod, ("metadata", "labels")) or {}))


def _names(pod: Object) -> tuple[str, ...]:
    return tuple(
        sorted(str(container.get("name")) for kind in CONTAINER_LISTS for container in containers_of(pod, kind))
    )


def containers_of(pod: Object, kind: str) -> list[Object]:
    """Return the containers of a pod, apart from those that a webhook's annotation names."""
    notes = [note for note in (get(pod, ("metadata", "annotations")) or {}).items() if _INJECTED.search(note[0])]
    words = {word for key, _ in notes for word in key.partition("/")[0].split(".") if len(word) >= _SHORTEST}
    return [
        container
        for container in objects_in(get(pod, ("spec", kind)))
        if not any(word in str(container.get("name")) for word in words)
        and not any(json.dumps(container.get("name")) in str(value) for _, value in notes)
    ]


def _paths(path: SchemaPath, schema: Object) -> Iterator[SchemaPath]:
    for at, inner in parts_below(path, schema):
        yield at
        if not (path.has_instances and isinstance(at.steps[-1], Entries)):
            yield from _paths(at, inner)


def _instances(paths: Sequence[SchemaPath], workloads: Sequence[Evidence]) -> tuple[SchemaPath, Object]:
    """Return the list of the entries that a label of all pods names, or the spec as a whole."""
    lists = ((path, path.steps[-1]) for path in paths)
    for path in (path for path, last in lists if isinstance(last, Entries) and (last.key or last.is_map)):
        ids = [frozenset((0, str(output)) for output in outputs(path.ids, workload.object)) for workload in workloads]
        pods = [
            (pod, ids_of_workload)
            for workload, ids_of_workload in zip(workloads, ids, strict=True)
            for pod in workload.active
        ]
        if selector := instance_selector(pods, 0):
            return path, selector
    return _SPEC, {}


def _parts(place: SchemaPath, selector: Object, evidence: Evidence) -> Iterator[tuple[JSON, Object]]:
    """Yield each part of an object that pods are made from, with one of these pods."""
    if not selector:
        yield evidence.object.get("spec"), evidence.active[0]
        return
    label = Query.compile(selector["componentInstanceSelector"]["idPath"])
    pods = {str(label.first(pod)): pod for pod in evidence.active}
    ids, values = outputs(place.ids, evidence.object), outputs(place.jq, evidence.object)
    yield from ((value, pods[name]) for name, value in zip(ids, values, strict=False) if name in pods)


def _template(paths: Sequence[SchemaPath], parts: Sequence[tuple[JSON, Object]]) -> tuple[str, list[str]]:
    """Return the expression of a template, and what is in doubt. Containers are those at one position in most pods."""
    doubts: list[str] = []
    lists = []
    for kind in CONTAINER_LISTS:
        rows = [(value, containers_of(pod, kind)) for value, pod in parts]
        columns = [
            [(value, row[at]) for value, row in rows if at < len(row)] for at in range(max(len(row) for _, row in rows))
        ]
        containers = [
            f"{{{', '.join(_fields(paths, column, len(parts), f'{kind}[{at}]', doubts))}}}"
            for at, column in enumerate(columns)
            if 2 * len(column) > len(parts)
        ]
        lists += [f"{kind}: [{', '.join(containers)}]"] if containers else []
    return f"{{spec: {{{', '.join(lists)}}}}}", doubts


def _fields(
    paths: Sequence[SchemaPath], column: Sequence[tuple[JSON, Object]], all_parts: int, at: str, doubts: list[str]
) -> Iterator[str]:
    names = {str(container.get("name")) for _, container in column}
    name = names.pop() if len(names) == 1 else at
    yield f"name: {json.dumps(name)}"
    if len(column) < all_parts:
        doubts.append(f"Which objects have no {name}?")
    plain = [path.jq for path in paths if not path.has_instances]
    amounts = [amounts_of(container.get("resources")) for _, container in column]
    if not any(amounts):
        return
    # Of the container of this name, in lists that an operator merges into its own containers.
    overrides = [
        f"({SchemaPath(path.steps[:-2]).jq} // [] | .[] | select(.name == {json.dumps(name)}) | .resources)"
        for path in paths
        if path.steps[:-2] and path.steps[-2:] == (Entries(key="name"), "resources")
    ]
    resources, own_doubts = same([*plain, *overrides], [value for value, _ in column], amounts, name)
    doubts += [f"{doubt} They are the requests of {name}." for doubt in own_doubts]
    if not resources:
        doubts.append(f"Where do the requests of {name} come from? These are the usual ones.")
    yield f"resources: {resources or json.dumps({'requests': max(amounts, key=amounts.count)})}"


def same(
    paths: Sequence[str], parts: Sequence[JSON], requests_of_pods: Sequence[Mapping[str, str]], name: str = ""
) -> tuple[str, list[str]]:
    """Return the shortest path with the wanted requests in every part that sets it, "" for none, and what is in doubt.

    Most parts set it, or it names the container. The usual requests of the other parts follow the path.
    """
    rules: dict[str, list[bool]] = {}
    defaults: dict[str, set[str]] = {}
    for path in paths:
        requests = [next(map(amounts_of, outputs(path, part)), {}) for part in parts]
        if sum(map(bool, requests)) > (0 if f".{name}." in path else len(parts) // 2):
            pairs = list(zip(requests, requests_of_pods, strict=True))
            rules[path] = [amounts in ({}, of_pod) for amounts, of_pod in pairs]
            defaults[path] = {json.dumps({"requests": of_pod}) for amounts, of_pod in pairs if not amounts}
    right = [path for path, verdicts in rules.items() if all(verdicts)]
    if not right:
        return "", []
    text, *others = right
    is_alone = not others and held_out([*rules.values()]) < len(parts)
    doubts = (
        (bool(others), f"{text} or {' or '.join(others[:2])}?"),
        (is_alone, f"Other fields than {text} are right for all but one object."),
        (
            len({json.dumps(own) for own in requests_of_pods}) == 1 < len(parts),
            f"Is it {text}? All objects have the same.",
        ),
        (bool(defaults[text]), f"What do objects without {text} have?"),
    )
    usual = defaults[text] - {'{"requests": {}}'}
    return f"({text} // {usual.pop()})" if len(usual) == 1 else text, [doubt for holds, doubt in doubts if holds]


def amounts_of(value: JSON) -> Mapping[str, str]:
    """Return the requests of resources, or else their limits."""
    amount_maps = objects_in([get(value, (name,)) for name in ("limits", "requests")])
    texts: dict[str, str] = {}
    for name, amount in [pair for amounts in amount_maps for pair in amounts.items()]:
        try:
            texts[name] = str(Quantity.parse(amount))
        except QuantityError:
            texts[name] = ""
    return texts
