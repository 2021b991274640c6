"""Templates for pods of objects that lack one: of an object that they name, or the same one that an operator has."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, get, namespace, objects_in
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.schema_types import ROOT, STRUCTURE
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.draft.pod_fields import Form
from karta_interpreter.definitions.openapi.schema import SchemaPath
from karta_interpreter.engine.drafting.conditions import condition_of, fields_of, values_below
from karta_interpreter.engine.drafting.pieces import LISTS, amounts_of
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.engine.verification.members import members

_CHILDREN: Final = (*STRUCTURE, "childComponents")

_Pods = Mapping[int, Sequence[Object]]
"""Pods of no component, by the number of their object."""


class Named(NamedTuple):
    """An object that another one names in its specification, and where."""

    path: str
    gvk: GVK
    name: str


def named_objects(obj: Object) -> Iterator[Named]:
    """Yield the objects that an object names with their kind."""
    for path, value in fields_of(obj).items():
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            with suppress(InterpretationError):
                yield Named(path, GVK.of(value), value["name"])


def with_absent_templates(draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """Return a draft with a template for the pods of objects in which one component, and no other, has none."""
    definition, strays, lacking = load_definition(draft.karta), dict[int, Sequence[Object]](), dict[int, set[str]]()
    alone = {leaf.name for leaf in definition.leaves if leaf.instance_ids is None}
    for number, shown in enumerate(evidence):
        with suppress(InterpretationError):
            sets = pod_sets(definition, shown.object)
            lacking[number] = alone - {pods.component for pods in sets}
            if pods_of_none := members(definition, shown.object, sets, shown.active).strays:
                strays[number] = pods_of_none
    names = set.intersection(*(lacking[number] for number in strays)) if strays else set()
    children = objects_in(edit.get(draft.karta, _CHILDREN))
    places = [ROOT, *((*_CHILDREN, index) for index in range(len(children)))]
    path = next((each for each in places if names == {edit.get(draft.karta, (*each, "name"))}), ())
    own = edit.get(draft.karta, (*path, "specDefinition", Form.TEMPLATE.value))
    if own is None:
        return draft
    karta = draft.karta
    if reference := _reference(strays, evidence):
        named, template = reference
        lookup = {"nameExpression": f"{named.path} | select(.kind == {json.dumps(named.gvk.kind)}) | .name"}
        gvk = dict(zip(named.gvk._fields, named.gvk, strict=True))
        karta = edit.set_value(karta, (*STRUCTURE, "references"), [{"name": "named", "gvk": gvk, "lookup": lookup}])
        text = f"$named | {template}"
        note = f"have pods of the {named.gvk.kind} that {named.path} names. Can it name other kinds?"
    elif text := _operators(strays, {number for number, absent in lacking.items() if names <= absent}, evidence):
        note = "have pods with the same containers and requests. Does the operator make them?"
    else:
        return draft
    karta = edit.set_value(karta, (*path, "specDefinition", Form.TEMPLATE.value), f"{own} // ({text})")
    note = f"CHECK: {len(strays)} of {count(len(evidence), 'object')} lack this template, and {note}"
    return Draft(karta, (*draft.notes, ((*path, "specDefinition"), note)))


def _reference(strays: _Pods, evidence: Sequence[Evidence]) -> tuple[Named, str] | None:
    """Return the object that all objects name, and where in it the template of their pods is."""
    found = [
        {
            (named._replace(name=""), path)
            for named in named_objects(evidence[number].object)
            for path in _templates(named, evidence[number], pods)
        }
        for number, pods in strays.items()
    ]
    return min(set.intersection(*found), default=None)


def _templates(named: Named, shown: Evidence, pods: Sequence[Object]) -> Iterator[str]:
    """Yield the places in a named object whose containers all pods have."""
    target = None
    if shown.reader:
        with suppress(InterpretationError):
            target = shown.reader.get(named.gvk, namespace(shown.object), named.name)
    for path, value in values_below(SchemaPath(()), target):
        names = _containers(value) if isinstance(value, dict) else set()
        if names and all(names <= _containers(pod) for pod in pods):
            yield path


def _containers(template: Object) -> set[JSON]:
    return {each.get("name") for each in objects_in(get(template, ("spec", "containers")))}


def _operators(strays: _Pods, lacking: set[int], evidence: Sequence[Evidence]) -> str:
    """Return the expression of the template that one pod of each of several objects has, or ""."""
    templates = {json.dumps(_template(pod)) for pods in strays.values() for pod in pods}
    if len(strays) == 1 or len(templates) > 1 or any(len(pods) > 1 for pods in strays.values()):
        return ""
    fields = [fields_of(shown.object) for shown in evidence]
    condition = condition_of(fields, set(strays), lacking - strays.keys())
    return f"if {condition} then {templates.pop()} else null end" if condition else ""


def _template(pod: Object) -> Object:
    lists = {
        kind: [
            {"name": each.get("name"), "resources": {"requests": dict(amounts_of(each.get("resources")))}}
            for each in objects_in(get(pod, ("spec", kind)))
        ]
        for kind in LISTS
    }
    return {"spec": {kind: containers for kind, containers in lists.items() if containers}}
