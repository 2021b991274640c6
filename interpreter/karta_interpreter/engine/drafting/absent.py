"""Templates for pods of objects that lack one: of an object that they name, or the same one that an operator has."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, get, namespace, objects_in
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.schema_types import ROOT, STRUCTURE
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.draft.pod_fields import Form
from karta_interpreter.definitions.openapi.schema import CustomKind, SchemaPath
from karta_interpreter.engine.drafting.conditions import fields_of, values_below
from karta_interpreter.engine.drafting.pieces import pods_of_fields
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.engine.verification.members import members


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


def with_absent_templates(kind: CustomKind, draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """Return a draft with a template for the pods of objects in which one component, and no other, has none."""
    definition, strays, lacking = load_definition(draft.karta), dict[int, Evidence](), dict[int, set[str]]()
    alone = {leaf.name for leaf in definition.leaves if leaf.instance_ids is None}
    for number, shown in enumerate(evidence):
        with suppress(InterpretationError):
            sets = pod_sets(definition, shown.object)
            lacking[number] = alone - {pods.component for pods in sets}
            if pods_of_none := members(definition, shown.object, sets, shown.active).strays:
                strays[number] = replace(shown, pods=pods_of_none)
    names = set.intersection(*(lacking[number] for number in strays)) if strays else set()
    index = next((index for index, each in enumerate(definition.components) if names == {each.name}), -1)
    path = (*(ROOT if index == 0 else (*STRUCTURE, "childComponents", index - 1)), "specDefinition")
    own = edit.get(draft.karta, (*path, Form.TEMPLATE.value)) if index >= 0 else None
    if own is None:
        return draft
    karta = draft.karta
    if reference := _reference(list(strays.values())):
        named, template = reference
        lookup = {"nameExpression": f"{named.path} | select(.kind == {json.dumps(named.gvk.kind)}) | .name"}
        entry = {"name": "named", "gvk": dict(zip(named.gvk._fields, named.gvk, strict=True)), "lookup": lookup}
        karta = edit.set_value(karta, (*STRUCTURE, "references"), [entry])
        text = f"$named | {template}"
        note = f"have pods of the {named.gvk.kind} that {named.path} names. Can it name other kinds?"
    elif len(strays) > 1 and all(len(each.pods) == 1 for each in strays.values()):
        without = [evidence[number] for number in lacking.keys() - strays.keys() if names <= lacking[number]]
        made = pods_of_fields(kind, list(strays.values()), without)
        if not made:
            return draft
        text = made[0][1].parts["specDefinition"][Form.TEMPLATE.value]
        note = "have pods with the same containers and requests. Does the operator make them?"
    else:
        return draft
    karta = edit.set_value(karta, (*path, Form.TEMPLATE.value), f"{own} // ({text})")
    note = f"CHECK: {len(strays)} of {count(len(evidence), 'object')} lack this template, and {note}"
    return Draft(karta, (*draft.notes, (path, note)))


def _reference(strays: Sequence[Evidence]) -> tuple[Named, str] | None:
    """Return the object that all objects name, and where in it the template of their pods is."""
    found = [
        {(named._replace(name=""), path) for named in named_objects(shown.object) for path in _templates(named, shown)}
        for shown in strays
    ]
    return min(set.intersection(*found), default=None)


def _templates(named: Named, shown: Evidence) -> Iterator[str]:
    """Yield the places in a named object with containers that all pods have."""
    with suppress(InterpretationError):
        target = shown.reader and shown.reader.get(named.gvk, namespace(shown.object), named.name)
        for path, value in values_below(SchemaPath(()), target):
            names = _containers(value) if isinstance(value, dict) else set()
            if names and all(names <= _containers(pod) for pod in shown.pods):
                yield path


def _containers(template: Object) -> set[JSON]:
    return {each.get("name") for each in objects_in(get(template, ("spec", "containers")))}
