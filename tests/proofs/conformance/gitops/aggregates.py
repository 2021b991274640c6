"""Templates with the status that AggregateStatus makes of their members, for every kind of the catalogue.

The members' states are those of the suites: each state of InterpretHealth, and what clusters report in the cases of
AggregateStatus.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, TypeAlias

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition, PodTemplate
from karta_interpreter.engine.operations import Call, Operation, Results, StatusItem, interpret
from karta_interpreter.engine.operations.interpret_status import BOOKKEEPING, observed_generation
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import Entry
from tests.catalogue.knowledge import knowing

_TEMPLATE_GENERATION = 7
_OF_TEMPLATE = ("metadata", "annotations", "resourcetemplate.karmada.io/generation")
_FIELDS = re.compile(r"(\.\w+)+")
_POD_TEMPLATE: Object = {"spec": {"containers": [{"name": "main", "image": "busybox"}]}}


class Member(NamedTuple):
    """An object in a member cluster, and what the suite calls its state."""

    state: str
    object: Object


Members: TypeAlias = tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A template with the merged status of its members; ``placement`` is Single, Duplicated or Divided."""

    kind: str
    placement: str
    members: Members
    template: Object


def aggregates(entries: Iterable[Entry]) -> Iterator[Aggregate]:
    """Yield each state in one member, and each two states that the members of one template can have, in both orders."""
    for entry in entries:
        definition = entry.definition
        if definition is None or not definition.answers(Operation.AGGREGATE_STATUS):
            continue
        for members in _groups(definition, entry.cases):
            for chosen in [*((member,) for member in members), *product(members, repeat=2)]:
                if _identity(chosen[0].object) == _identity(chosen[-1].object):
                    yield from _placed(definition, chosen)


def _groups(definition: Definition, cases: Iterable[Case]) -> Iterator[list[Member]]:
    """Yield the members that are combined with each other."""
    answered = [case for case in cases if case.error is None]
    health = [case for case in answered if case.call.operation is Operation.INTERPRET_HEALTH]
    yield [_member(definition, case.name, case.call.object) for case in health if case.call.object.get("status")]
    for case in answered:
        if case.call.operation is Operation.AGGREGATE_STATUS:
            reports = [(item.cluster, item.status) for item in case.call.items if item.status]
            yield [
                _member(definition, f"{case.name}: {cluster}", _live(case.call.object, status))
                for cluster, status in reports
            ]


def _live(template: Object, status: Object) -> Object:
    """Return the member's object that reports a status, as far as it is known."""
    metadata = {**template["metadata"], **{key: status[key] for key in ("generation",) if key in status}}
    bare = {key: value for key, value in status.items() if key not in BOOKKEEPING}
    return {**template, "metadata": metadata, "status": bare}


def _member(definition: Definition, state: str, live: Object) -> Member:
    """Return the object as a member has it: of the template's generation, with defaults and with pods to divide."""
    generation = live["metadata"].get("generation") or observed_generation(live["status"]) or 1
    live = edit.set_value(live, ("metadata", "generation"), generation)
    if definition.gvk.group == "apps" and definition.gvk.kind != "DaemonSet":
        live = edit.set_value(live, ("spec", "replicas"), edit.get(live, ("spec", "replicas"), 1))
    for component in definition.leaves:
        path = _FIELDS.fullmatch(component.pods.query.text) if isinstance(component.pods, PodTemplate) else None
        place = tuple(path[0].split(".")[1:]) if path else ()
        if place and edit.get(live, place) is None:
            live = edit.set_value(live, place, _POD_TEMPLATE)
    return Member(state, edit.set_value(live, _OF_TEMPLATE, str(_TEMPLATE_GENERATION)))


def _identity(live: Object) -> tuple[JSON, ...]:
    """Return what members of one template have in common."""
    return live["metadata"]["name"], live.get("spec"), live["metadata"].get("annotations")


def _placed(definition: Definition, members: Members) -> Iterator[Aggregate]:
    kind = f"{definition.gvk.api_version} {definition.gvk.kind}"
    template = _template(members)
    yield _aggregate(definition, kind, "Duplicated" if members[1:] else "Single", members, template)
    divided = _divided(definition, template, len(members))
    if members[1:] and divided != template:
        yield _aggregate(definition, kind, "Divided", members, divided)


def _template(members: Members) -> Object:
    """Return the template of the members, whose generation before the present one all of them had seen."""
    live = members[0].object
    annotations = {key: value for key, value in live["metadata"]["annotations"].items() if key != _OF_TEMPLATE[-1]}
    metadata = live["metadata"] | {"generation": _TEMPLATE_GENERATION, "annotations": annotations}
    template = {key: value for key, value in live.items() if key != "status"} | {"metadata": metadata}
    for seen in (member.object["status"].get("observedGeneration") for member in members):
        if seen is not None:
            template["status"] = {"observedGeneration": type(seen)(_TEMPLATE_GENERATION - 1)}
    return template


def _divided(definition: Definition, template: Object, members: int) -> Object:
    """Return the template with as many pods as its members have together; itself where that cannot be written."""
    definition = definition.in_pods
    try:
        count = _ask(definition, Call(Operation.INTERPRET_REPLICA, template))["replica"]
        assert isinstance(count, int)
        revised: Object = _ask(definition, Call(Operation.REVISE_REPLICA, template, replicas=members * count))[
            "revised"
        ]
    except InterpretationError:
        return template
    return revised


def _aggregate(definition: Definition, kind: str, placement: str, members: Members, template: Object) -> Aggregate:
    items = tuple(
        StatusItem(cluster=f"member{number}", status=_reported(definition, member.object))
        for number, member in enumerate(members, 1)
    )
    answer = _ask(definition, Call(Operation.AGGREGATE_STATUS, template, items=items))["aggregatedStatus"]
    return Aggregate(kind, placement, members, answer)


def _reported(definition: Definition, live: Object) -> JSON:
    if not definition.answers(Operation.INTERPRET_STATUS):
        return live["status"]
    return _ask(definition, Call(Operation.INTERPRET_STATUS, live))["status"]


def _ask(definition: Definition, call: Call) -> Results:
    return interpret(knowing(definition, call.object), call)
