"""Containers that pods have and templates do not: always, or where a field of the object says so."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, Object, get, objects_in
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.reference_resolver import resolved
from karta_interpreter.engine.drafting.conditions import ALWAYS, ID, Fields, condition_of, fields_of
from karta_interpreter.engine.drafting.pieces import LISTS, amounts_of
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.engine.verification.members import members


class _Container(NamedTuple):
    component: str
    kind: str
    name: str


class _Place(NamedTuple):
    """The pods of an instance in the object of a number, with the requests of the containers that templates lack."""

    number: int
    component: str
    instance: str | None
    found: Mapping[_Container, Mapping[str, str]]


def added_containers(definition: Definition, evidence: Sequence[Evidence]) -> dict[str, set[int]]:
    """Return the line of each component whose pods have more containers, and the numbers of the objects that show it.

    A container of some objects or instances needs a field or an id that all of these have, and no other one.
    """
    places = [place for number, shown in enumerate(evidence) for place in _places(definition, number, shown)]
    fields = [{**fields_of(evidence[place.number].object), ID: place.instance} for place in places]
    added: dict[_Container, dict[int, Mapping[str, str]]] = defaultdict(dict)
    for index, place in enumerate(places):
        for key, amounts in place.found.items():
            added[key][index] = amounts
    lists: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    shown_by: dict[str, set[int]] = defaultdict(set)
    for key, requests in added.items():
        having = {index for index, place in enumerate(places) if place.component == key.component}
        resources = _resources(fields, requests) if any(requests.values()) else ""
        condition = condition_of(fields, set(requests), having - set(requests))
        if resources and condition:
            container = f"{{name: {json.dumps(key.name)}, resources: {resources}}}"
            is_always = condition == ALWAYS
            text = container if is_always else f"(if {condition} then {container} else empty end)"
            lists[key.component][key.kind].append(text)
            shown_by[key.component].update(places[index].number for index in requests)
    return {_line(definition, component, own): shown_by[component] for component, own in lists.items()}


def _line(definition: Definition, component: str, lists: Mapping[str, Sequence[str]]) -> str:
    expression = ", ".join(f"{kind}: [{', '.join(containers)}]" for kind, containers in lists.items())
    found = definition.component(component)
    is_by_id = found and found.instance_ids and f"if {ID} ==" in expression
    ids = f"({found.instance_ids.text}) as {ID} | " if found and found.instance_ids and is_by_id else ""
    quoted = f"{ids}{{{expression}}}".replace("'", "''")
    return f"{component}: '{quoted}'"


def _places(definition: Definition, number: int, shown: Evidence) -> Iterator[_Place]:
    """Yield the components and instances of an object that have pods, with the containers that their templates lack."""
    with suppress(InterpretationError):
        definition = resolved(definition, shown.object, shown.reader)
        for group in members(definition, shown.object, pod_sets(definition, shown.object), shown.active).groups:
            components = {pods.component for pods in group.sets}
            if group.pods and len(components) == 1:
                component, instances = components.pop(), [pods.instance for pods in group.sets]
                found = dict(_missing(component, group.sets[0].template, group.pods[0]))
                yield _Place(number, component, instances[0] if len(instances) == 1 else None, found)


def _missing(component: str, template: Object, pod: Object) -> Iterator[tuple[_Container, Mapping[str, str]]]:
    for kind in LISTS:
        names = {each.get("name") for each in objects_in(get(template, ("spec", kind)))}
        for each in objects_in(get(pod, ("spec", kind))):
            if each.get("name") not in names:
                yield _Container(component, kind, str(each.get("name"))), amounts_of(each.get("resources"))


def _resources(fields: Fields, requests: Mapping[int, Mapping[str, str]]) -> str:
    """Return the expression of the resources: the same ones, or those of a field that some objects have, or ""."""
    for path in [
        "",
        *dict.fromkeys(name for number in requests for name, each in fields[number].items() if _is_amounts(each)),
    ]:
        others = {json.dumps(own) for number, own in requests.items() if path not in fields[number]}
        same = all(
            amounts_of(fields[number][path]) == own for number, own in requests.items() if path in fields[number]
        )
        if same and len(others) <= 1:
            constant = f"{{requests: {others.pop()}}}" if others else ""
            return f"({path} // {constant})" if path and constant else path or constant
    return ""


def _is_amounts(value: JSON) -> bool:
    return isinstance(value, dict) and bool({"limits", "requests"}.intersection(value))
