"""Containers that pods have and templates do not: always, or where a field of the object says so."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, Object, get, objects_in
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.openapi.schema import SchemaPath
from karta_interpreter.engine.drafting.pieces import LISTS, amounts_of
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.engine.verification.members import members

_MOST_FIELDS: Final = 2000
_ALWAYS: Final = "true"
_SPEC: Final = SchemaPath(("spec",))

_Fields = Sequence[Mapping[str, JSON]]
"""The values below the specification of each object, by their expressions."""


class _Container(NamedTuple):
    component: str
    kind: str
    name: str


_Found = dict[_Container, Mapping[str, str]]
"""The containers of pods that templates do not have, and their requests."""


def added_containers(definition: Definition, evidence: Sequence[Evidence]) -> dict[str, set[int]]:
    """Return the line of each component whose pods have more containers, and the numbers of the objects that show it.

    A container that only some objects have needs a field that all of these have, and no other object.
    """
    having: dict[str, set[int]] = defaultdict(set)
    added: dict[_Container, dict[int, Mapping[str, str]]] = defaultdict(dict)
    for number, shown in enumerate(evidence):
        for component, found in _found(definition, shown):
            having[component].add(number)
            for key, amounts in found.items():
                added[key][number] = amounts
    fields = [dict(islice(_fields(_SPEC, shown.object.get("spec")), _MOST_FIELDS)) for shown in evidence]
    lists: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    shown_by: dict[str, set[int]] = defaultdict(set)
    for key, requests in added.items():
        resources = _resources(fields, requests) if any(requests.values()) else ""
        condition = _condition(fields, set(requests), having[key.component] - set(requests))
        if resources and condition:
            container = f"{{name: {json.dumps(key.name)}, resources: {resources}}}"
            is_always = condition == _ALWAYS
            text = container if is_always else f"(if {condition} then {container} else empty end)"
            lists[key.component][key.kind].append(text)
            shown_by[key.component].update(requests)
    return {_line(component, own): shown_by[component] for component, own in lists.items()}


def _line(component: str, lists: Mapping[str, Sequence[str]]) -> str:
    expression = ", ".join(f"{kind}: [{', '.join(containers)}]" for kind, containers in lists.items())
    quoted = expression.replace("'", "''")
    return f"{component}: '{{{quoted}}}'"


def _found(definition: Definition, shown: Evidence) -> Iterator[tuple[str, _Found]]:
    """Yield the components of an object that have pods of their own, with the containers that their templates lack."""
    with suppress(InterpretationError):
        for group in members(definition, shown.object, pod_sets(definition, shown.object), shown.active).groups:
            components = {pods.component for pods in group.sets}
            if group.pods and len(components) == 1:
                component = components.pop()
                yield component, dict(_missing(component, group.sets[0].template, group.pods[0]))


def _missing(component: str, template: Object, pod: Object) -> Iterator[tuple[_Container, Mapping[str, str]]]:
    for kind in LISTS:
        names = {each.get("name") for each in objects_in(get(template, ("spec", kind)))}
        for each in objects_in(get(pod, ("spec", kind))):
            if each.get("name") not in names:
                yield _Container(component, kind, str(each.get("name"))), amounts_of(each.get("resources"))


def _fields(path: SchemaPath, value: JSON) -> Iterator[tuple[str, JSON]]:
    """Yield the values that are not in lists."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield (path / name).jq, inner
        yield from _fields(path / name, inner)


def _resources(fields: _Fields, requests: Mapping[int, Mapping[str, str]]) -> str:
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


def _condition(fields: _Fields, having: set[int], lacking: set[int]) -> str:
    """Return a condition that holds for some objects and for no others, switches first, then texts, or ""."""
    if not lacking:
        return _ALWAYS
    first = fields[min(having)]
    texts = {f"{name} == {json.dumps(value)}": (name, value) for name, value in first.items() if isinstance(value, str)}
    conditions = {
        **{name: {number for number, own in enumerate(fields) if own.get(name) is True} for name in first},
        **{name: {number for number, own in enumerate(fields) if own.get(name) not in (None, False)} for name in first},
        **{
            text: {number for number, own in enumerate(fields) if own.get(name) == value}
            for text, (name, value) in texts.items()
        },
    }
    return next((text for text, holds in conditions.items() if having <= holds and not lacking & holds), "")
