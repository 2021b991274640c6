"""Pods that an operator makes from fields: a template of the fields whose values are in the pods of every object."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from karta_interpreter.base.errors import QuantityError, QueryError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import JSON, Object, get, objects_in
from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.definitions.openapi.draft import Decision
from karta_interpreter.definitions.openapi.draft.pod_fields import Form, PodsField
from karta_interpreter.definitions.openapi.schema import CustomKind, Entries, SchemaPath, below, parts_below
from karta_interpreter.engine.drafting.conditions import ALWAYS, condition_of, fields_of
from karta_interpreter.engine.drafting.selectors import Place, instance_selector, keys_of, label_of, path_of
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.languages.jq import Query

_SPEC: Final = SchemaPath(("spec",))
LISTS: Final = ("initContainers", "containers")
_MOST_PATHS: Final = 500
_MOST_SORTS: Final = 4


class _Part(NamedTuple):
    """A part of an object that pods are made from, and one of these pods."""

    value: JSON
    pod: Object


def pods_of_fields(
    kind: CustomKind, evidence: Sequence[Evidence], lacking: Sequence[Evidence] = ()
) -> list[tuple[PodsField, Decision]]:
    """Return pods with templates that are written from fields, each with its own containers, or nothing.

    Objects that are ``lacking`` have other pods.
    """
    shown = [each for each in evidence if each.active]
    paths = sorted(_paths(_SPEC, below(kind.schema, "spec")), key=lambda path: len(path.steps))[:_MOST_PATHS]
    fields = [fields_of(each.object) for each in (*shown, *lacking) if each.active]
    made = []
    for selector, sort in _sorts(shown):
        condition = condition_of(fields, set(sort), set(range(len(fields))) - sort.keys())
        if condition:
            made.append(_made(kind, paths, list(sort.values()), selector, condition))
    return made


def _sorts(shown: Sequence[Evidence]) -> list[tuple[Object, dict[int, Evidence]]]:
    """Return the objects by number, each with pods of the same containers, and the selector of these pods."""
    if all(len({_names(pod) for pod in each.active}) == 1 for each in shown):
        return [({}, dict(enumerate(shown)))] if shown else []
    for key in keys_of([pod for each in shown for pod in each.active]):
        sorts: dict[str, dict[int, Evidence]] = {}
        for number, each in enumerate(shown):
            for value in dict.fromkeys(label_of(pod, key) for pod in each.active):
                own = tuple(pod for pod in each.active if label_of(pod, key) == value)
                sorts.setdefault(value, {})[number] = replace(each, pods=own)
        alike = all(len({_names(pod) for pod in own.pods}) == 1 for sort in sorts.values() for own in sort.values())
        if alike and len(sorts) <= _MOST_SORTS:
            selectors = {value: {"componentTypeSelector": {"keyPath": path_of(key), "value": value}} for value in sorts}
            return [(selectors[value], sort) for value, sort in sorts.items()]
    return []


def _made(
    kind: CustomKind, paths: Sequence[SchemaPath], shown: Sequence[Evidence], selector: Object, condition: str
) -> tuple[PodsField, Decision]:
    place, by_instance = _instances(paths, shown)
    parts = [part for each in shown for part in _parts(place, by_instance, each)]
    inside = [path for path in paths if path.steps[: len(place.steps)] == place.steps]
    relative = [SchemaPath(path.steps[len(place.steps) :]) for path in inside]
    template, doubts = _template([path for path in relative if path.steps and not path.has_instances], parts)
    text = f"{place.jq} | {template}"
    if condition != ALWAYS:
        text = f"if {condition} then {text} else empty end"
        doubts.append(f"Does {condition} tell the objects that have them?")
    note = f"The containers of {count(len(shown), 'object')} are made of these fields. {' '.join(doubts)}".rstrip()
    selector = {**selector, **by_instance}
    decision = Decision(
        {
            "specDefinition": {Form.TEMPLATE.value: text},
            **({"podSelector": selector} if selector else {}),
        },
        ((("specDefinition",), f"CHECK: {note}" if doubts else note),),
    )
    return PodsField(place, {}, Form.FRAGMENTS, ((_SPEC, below(kind.schema, "spec")),)), decision


def _names(pod: Object) -> tuple[str, ...]:
    return tuple(sorted(str(each.get("name")) for name in LISTS for each in objects_in(get(pod, ("spec", name)))))


def _paths(path: SchemaPath, schema: Object) -> Iterator[SchemaPath]:
    """Yield the parts of a schema with at most one list on the way."""
    for at, inner in parts_below(path, schema):
        yield at
        if not (path.has_instances and isinstance(at.steps[-1], Entries)):
            yield from _paths(at, inner)


def _instances(paths: Sequence[SchemaPath], shown: Sequence[Evidence]) -> tuple[SchemaPath, Object]:
    """Return the list whose entries have the ids that a label of all pods names, or the spec as a whole."""
    for path in paths:
        last = path.steps[-1]
        if not isinstance(last, Entries) or not (last.key or last.is_map):
            continue
        ids = [frozenset((0, str(found)) for found in _evaluated(path.ids, each.object)) for each in shown]
        pods = [Place(pod, own) for each, own in zip(shown, ids, strict=True) for pod in each.active]
        if selector := instance_selector(pods, 0):
            return path, selector
    return _SPEC, {}


def _parts(place: SchemaPath, selector: Object, evidence: Evidence) -> Iterator[_Part]:
    if not selector:
        yield _Part(evidence.object.get("spec"), evidence.active[0])
        return
    label = Query.compile(selector["componentInstanceSelector"]["idPath"])
    pods = {str(label.first(pod)): pod for pod in evidence.active}
    ids, values = _evaluated(place.ids, evidence.object), _evaluated(place.jq, evidence.object)
    yield from (_Part(value, pods[found]) for found, value in zip(ids, values, strict=False) if found in pods)


def _evaluated(text: str, value: JSON) -> list[JSON]:
    try:
        return Query.compile(text).evaluate(value)
    except QueryError:
        return []


def _template(paths: Sequence[SchemaPath], parts: Sequence[_Part]) -> tuple[str, list[str]]:
    """Return the expression of a template, and what is in doubt."""
    doubts: list[str] = []
    lists = []
    for kind in LISTS:
        names = dict.fromkeys(str(each.get("name")) for each in objects_in(get(parts[0].pod, ("spec", kind))))
        fields = {name: [f"name: {json.dumps(name)}", *_fields(paths, parts, kind, name, doubts)] for name in names}
        containers = [f"{{{', '.join(own)}}}" for own in fields.values()]
        lists += [f"{kind}: [{', '.join(containers)}]"] if containers else []
    return f"{{spec: {{{', '.join(lists)}}}}}", doubts


def _fields(
    paths: Sequence[SchemaPath], parts: Sequence[_Part], kind: str, name: str, doubts: list[str]
) -> Iterator[str]:
    containers = [_container(part.pod, kind, name) for part in parts]
    if image := _same(paths, parts, [container.get("image") for container in containers], _text):
        yield f"image: {image}"
    amounts = [amounts_of(container.get("resources")) for container in containers]
    if not any(amounts):
        return
    is_varied = len({json.dumps(each, sort_keys=True, default=str) for each in amounts}) > 1
    if resources := _same(paths, parts, amounts, amounts_of):
        if not is_varied:
            doubts.append(f"Do the requests of {name} come from {resources}? All objects have the same.")
        yield f"resources: {resources}"
        return
    requests = []
    for resource in dict.fromkeys(resource for each in amounts for resource in each):
        wanted = [each.get(resource) for each in amounts]
        if path := _same(paths, parts, wanted, _amount):
            requests.append(f"{json.dumps(resource)}: {path}")
        elif len({*wanted}) == 1:
            requests.append(f"{json.dumps(resource)}: {json.dumps(str(wanted[0]))}")
        else:
            doubts.append(f"Where does the {resource} of {name} come from?")
        if len({*wanted}) == 1:
            doubts.append(f"Is the {resource} of {name} always {wanted[0]}?")
    yield f"resources: {{requests: {{{', '.join(requests)}}}}}"


def _same(
    paths: Sequence[SchemaPath], parts: Sequence[_Part], wanted: Sequence[object], read: Callable[[JSON], object]
) -> str:
    """Return the shortest path that has the wanted value in every part, "" for none."""
    if not any(wanted):
        return ""
    queries = ((path.jq, Query.compile(path.jq)) for path in paths)
    same = (text for text, query in queries if all(_is(query, each, read) for each in zip(parts, wanted, strict=True)))
    return next(same, "")


def _is(query: Query, pair: tuple[_Part, object], read: Callable[[JSON], object]) -> bool:
    part, wanted = pair
    try:
        return (read(query.first(part.value)) or None) == (wanted or None)
    except QueryError:
        return False


def _container(pod: Object, kind: str, name: str) -> Object:
    return next((each for each in objects_in(get(pod, ("spec", kind))) if each.get("name") == name), {})


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def amounts_of(value: JSON) -> Mapping[str, str]:
    """Return the requests of resources, or else their limits."""
    limits, requests = (get(value, (name,)) if isinstance(value, dict) else None for name in ("limits", "requests"))
    amounts = {**(limits if isinstance(limits, dict) else {}), **(requests if isinstance(requests, dict) else {})}
    return {name: _amount(amount) for name, amount in amounts.items()}


def _amount(value: JSON) -> str:
    try:
        return str(Quantity.parse(value)) if type(value) in (str, int, float) else ""
    except QuantityError:
        return ""
