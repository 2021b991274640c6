"""Retain: does Karmada keep the fields that others write in the member? If not, they will fight.

The template is not known here. It is taken as the object without the fields of other managers, so that a field counts
only if Retain does not bring it back. A queue that holds an object has put the template's own values back where it had
written: an object in a queue is judged as if it ran.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from math import inf
from types import MappingProxyType
from typing import Any, Final

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, NOTHING, Object, Path, get, grouped, set_value
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.openapi.schema import below
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.explain.reading import paths_read
from karta_interpreter.engine.fights.rounds import (
    AMOUNT,
    FieldDifference,
    Writer,
    differences,
    element_key,
    field_of,
    owners,
    retain_line,
)
from karta_interpreter.engine.operations import Call, Operation, interpret, is_queued
from karta_interpreter.engine.verification.evidence import Evidence
from karta_interpreter.engine.verification.judgement import Judgement, Question, Verdict

_FIELD: Final = "metadata.annotations.karta-interpreter.io/retain"
# Managers that write fields of the template, before Karmada does or without it.
_PEOPLE: Final = ("kubectl", "helm", "argocd", "kustomize-controller", "before-first-apply")

_UNCHANGED: Final = ("apiVersion", "kind", "metadata", "status")
_Owned = Sequence[Object]


def judge_retention(definition: Definition, evidence: Evidence, schema: Object) -> Iterator[Judgement]:
    """Have Retain answer about the object without the fields of other managers. ``schema`` comes from its CRD."""
    observed = evidence.object
    owned = owners(observed)
    if not owned:
        yield Judgement(Question.RETAIN, Verdict.UNJUDGED, "the object has no managedFields")
        return
    if is_queued(definition, observed):
        observed = reduce(lambda obj, action: action.path.assign(obj, action.value), definition.resume, observed)
    desired, theirs = template_of(definition, observed, owned, schema)
    call, retained = Call(Operation.RETAIN, desired, observed), desired
    if definition.answers(call.operation):
        retained = interpret(definition, call, reader=evidence.reader)["retained"]
    fights = grouped((difference.field, difference) for difference in differences(retained, observed, theirs))
    yield from (_judged(definition, observed, first) for first, *_ in fights.values())


def template_of(
    definition: Definition,
    observed: Object,
    owned: Sequence[tuple[Writer, Object]],
    schema: Object = MappingProxyType({}),
) -> tuple[Object, list[tuple[Writer, Object]]]:
    """Return the object as its template may be, and the other managers with their fields."""
    written = max((writer.time for writer, _ in owned if not writer.manager), default=inf)
    first = min((writer for writer, _ in owned if writer.time), key=lambda writer: writer.time, default=owned[0][0])
    keeper = first.manager if written == inf else ""

    # What was there when Karmada last wrote is in the template, or kept. A person who writes later fights.
    ours, theirs = list[Object](), list[tuple[Writer, Object]]()
    for writer, fields in owned:
        is_person = writer.manager.startswith(_PEOPLE) and writer.time <= written
        if writer.manager == keeper or is_person:
            ours.append(fields)
        else:
            theirs.append((writer, fields))
    others = [fields for _, fields in theirs]
    desired = _template(observed, ours, others, schema)
    if _containers(definition, desired) != _containers(definition, observed):
        # A controller that writes an object back in another form owns whole lists. The template has the pods in them.
        desired = _template(observed, ours, others, schema, keeps_lists=True)
    # Most templates have the count that an autoscaler writes through the subresource, whose entry has no time.
    return _changed(desired, observed, [fields for writer, fields in theirs if not writer.time]), theirs


def _containers(definition: Definition, obj: Object) -> list[tuple[str, bool]] | None:
    """Return the pod sets, and whether they have containers. None if an expression fails."""
    try:
        return [(pods.name, bool(get(pods.template, ("spec", "containers")))) for pods in pod_sets(definition, obj)]
    except InterpretationError:
        return None


def _judged(definition: Definition, observed: Object, difference: FieldDifference) -> Judgement:
    field, manager = difference.field, difference.writer.manager if difference.writer else "another manager"
    if difference.ours is NOTHING:  # the template may have the field in another form
        if AMOUNT.search(field):
            reason = f"{manager} writes {field}, which may be the template's amount in another form"
            return Judgement(Question.RETAIN, Verdict.UNJUDGED, reason)
        for rule in definition.annotations.retain:
            if any(field_of(path).startswith(f"{field}[") for path in paths_read(rule.place, observed)):
                reason = f"{manager} writes {field}, a list that may be the template's, of which Retain keeps fields"
                return Judgement(Question.RETAIN, Verdict.UNJUDGED, reason)
    reason = f"{manager} writes {field}, and Retain does not keep it"
    line = "" if definition.scripts.of(Operation.RETAIN) else retain_line(difference)
    return Judgement(Question.RETAIN, Verdict.DIFFERS, reason, "", _FIELD, line)


def _template(observed: Object, ours: _Owned, theirs: _Owned, schema: Object, *, keeps_lists: bool = False) -> Object:
    """Return the object without what only others own, except for metadata and status."""
    fields = {**observed}
    unchanged = {name: fields.pop(name) for name in _UNCHANGED if name in fields}
    return {**unchanged, **_without(fields, ours, theirs, schema, keeps_lists=keeps_lists)}


def _without(value: JSON, ours: _Owned, theirs: _Owned, schema: Object, *, keeps_lists: bool) -> JSON:
    if isinstance(value, dict):
        steps: list[tuple[Any, str]] = [(name, f"f:{name}") for name in value]
    elif isinstance(value, list) and any(key[:2] in ("k:", "v:") for fields in (*ours, *theirs) for key in fields):
        key_of = element_key([*ours, *theirs])
        steps = [(index, key_of(element)) for index, element in enumerate(value)]
    else:
        return value
    entries, required = [], schema.get("required")
    for step, key in steps:
        own = [fields[key] for fields in ours if key in fields]
        other = [fields[key] for fields in theirs if key in fields]
        part = value[step]
        is_whole_list = isinstance(part, list) and not any(other)
        if own and other:
            inner = below(schema, step) if isinstance(step, str) else get(schema, ("items",)) or {}
            entries.append((step, _without(part, own, other, inner, keeps_lists=keeps_lists)))
        elif own or not other or (keeps_lists and is_whole_list):
            entries.append((step, part))
        elif isinstance(required, list) and step in required and not isinstance(part, dict | list):
            # The template has it, with a value that others have overwritten.
            entries.append((step, part + 1 if type(part) is int else f"{part}-"))
    return dict(entries) if isinstance(value, dict) else [element for _, element in entries]


def _changed(desired: Object, observed: Object, scaled: _Owned) -> Object:
    """Return the template with another number wherever a scaler has set a count."""
    pending: list[tuple[Path, Object]] = [(("spec",), fields.get("f:spec") or {}) for fields in scaled]
    while pending:
        path, fields = pending.pop()
        pending += [((*path, name.removeprefix("f:")), inner) for name, inner in fields.items()]
        if type(count := get(observed, path)) is int and isinstance(get(desired, path[:-1]), dict):
            desired = set_value(desired, path, count + 1)
    return desired
