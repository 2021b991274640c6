"""A draft with pods at the places where the containers of real pods come from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import JSON, Object, get, objects_in
from karta_interpreter.definitions.karta import Component, Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.schema_types import STRUCTURE
from karta_interpreter.definitions.openapi.draft import Decision, Draft, draft
from karta_interpreter.definitions.openapi.draft.pod_fields import Form, PodsField, find_pods
from karta_interpreter.definitions.openapi.observed import completed
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting.counts import Counted, count_of
from karta_interpreter.engine.drafting.pieces import pods_of_fields
from karta_interpreter.engine.drafting.proof import mistaken, proved
from karta_interpreter.engine.drafting.selectors import Place, component_selectors, has_label, instance_selector
from karta_interpreter.engine.evaluation import instance_ids, pod_sets
from karta_interpreter.engine.verification import Question
from karta_interpreter.engine.verification.evidence import Evidence, unsettled
from karta_interpreter.engine.verification.members import Group, members

MOST_PODS: Final = 1000
"""The most pods of an object that a draft looks at."""
_MOST_NAMED: Final = 4


class Shown(NamedTuple):
    """An object, and its pods by the pod sets that they belong to."""

    evidence: Evidence
    groups: tuple[Group, ...]


def draft_from(kind: CustomKind, evidence: Sequence[Evidence]) -> Draft:
    """Draft a Karta from objects and their pods."""
    kind = replace(kind, schema=completed(kind.schema, [each.object for each in evidence]))
    templates = [each for each in find_pods(kind.schema) if each.form is not Form.FRAGMENTS]
    places = _supported(kind, templates, evidence)
    drafted = _with_pods(kind, places, evidence) if places else draft(kind, [])
    drafted = _asked_about(proved(drafted, evidence), [each for each in templates if each not in places])
    # A template whose pods request something else may be an override of what the operator makes from other fields.
    is_doubtful = not places or mistaken(drafted, evidence, Question.REQUIREMENTS)
    drafts = [drafted] if places else []
    # Those of a list's entries, or all of the object.
    for in_entries in (True, False) if is_doubtful else ():
        if made := pods_of_fields(kind, evidence, in_entries=in_entries):
            other = _with_pods(kind, [pods for pods, _ in made], evidence, [own for _, own in made])
            drafts.append(proved(other, evidence))
    return min(drafts, key=lambda each: mistaken(each, evidence), default=drafted)


def _asked_about(drafted: Draft, templates: Sequence[PodsField]) -> Draft:
    """Return a draft with a note about the templates without a pod."""
    if not templates:
        return drafted
    named = ", ".join(each.place.jq for each in templates[:_MOST_NAMED])
    note = f"CHECK: no pod is of {named}. Which objects have pods of {'it' if len(templates) == 1 else 'these'}?"
    return Draft(drafted.karta, (*drafted.notes, (STRUCTURE, note)))


def _with_pods(
    kind: CustomKind, pods: list[PodsField], evidence: Sequence[Evidence], made: Sequence[Decision] = ()
) -> Draft:
    selected = made or _selected(kind, pods, evidence)
    definition, shown = _attributed(kind, pods, selected, evidence)
    settled = [each for each in shown if not unsettled(definition, each.evidence)]
    # The least count of an autoscaler is that of an object, if there is no other evidence.
    judged = [each for each in settled if not each.evidence.scaled] or settled
    own_pods = [[each for of in judged if (each := _counted(leaf, of))] for leaf in definition.leaves]
    decisions = []
    for own, decision, mine in zip(pods, selected, own_pods, strict=True):
        text, note = count_of(kind, own, mine)
        scale = {"scaleDefinition": {"replicasPath": text}} if text else {}
        decisions.append(Decision({**scale, **decision.parts}, (*decision.notes, note)))
    return draft(kind, list(zip(pods, decisions, strict=True)))


def _counted(component: Component, shown: Shown) -> Counted | None:
    """Return the pods of a component in an object, None if they cannot be told from those of others."""
    ids = instance_ids(component, shown.evidence.object)
    mine = [group for group in shown.groups if component.name in {own.component for own in group.sets}]
    if not mine or any(own.component != component.name for group in mine for own in group.sets):
        return None
    pods = tuple((tuple(ids.index(own.instance) for own in group.sets), len(group.pods)) for group in mine)
    return Counted(shown.evidence.object, len(ids), pods)


def _attributed(
    kind: CustomKind, pods: Sequence[PodsField], decisions: Sequence[Decision], evidence: Iterable[Evidence]
) -> tuple[Definition, list[Shown]]:
    definition = load_definition(draft(kind, list(zip(pods, decisions, strict=True))).karta)
    # A made-up label tells no instance. Their templates do.
    made_up = {
        leaf.name
        for leaf, decision in zip(definition.leaves, decisions, strict=True)
        if "componentInstanceSelector" not in decision.parts.get("podSelector", ())
    }
    blind = {"component_instance_selector": None}
    components = [
        replace(each, selector=each.selector.model_copy(update=blind)) if each.name in made_up else each
        for each in definition.components
    ]
    definition = replace(definition, components=tuple(components))
    return definition, list(_shown(definition, evidence))


def _shown(definition: Definition, evidence: Iterable[Evidence]) -> Iterator[Shown]:
    for each in evidence:
        running = each.active or each.pods
        try:
            yield Shown(each, members(definition, pod_sets(definition, each.object), running).groups)
        except InterpretationError:
            continue


def _supported(kind: CustomKind, pods: list[PodsField], evidence: Sequence[Evidence]) -> list[PodsField]:
    """Return the places with containers that are in pods."""
    while pods:
        definition, shown = _attributed(kind, pods, [Decision() for _ in pods], evidence)
        names = [leaf.name for leaf in definition.leaves]
        supported = {
            pods_set.component for each in shown for group in each.groups for pods_set in group.sets if _is_of(group)
        }
        kept = [each for name, each in zip(names, pods, strict=True) if name in supported]
        if len(kept) == len(pods):
            break
        pods = kept
    return pods


def _is_of(group: Group) -> bool:
    """Return whether a pod has the containers of a template. One without any is an operator's override."""
    wanted = [
        {str(each.get("name")) for each in objects_in(get(own.template, ("spec", "containers")))} for own in group.sets
    ]
    return any(
        names and names <= {str(each.get("name")) for each in objects_in(get(pod, ("spec", "containers")))}
        for pod in group.pods
        for names in wanted
    )


def _selected(kind: CustomKind, pods: Sequence[PodsField], evidence: Sequence[Evidence]) -> list[Decision]:
    """Return the decisions with the selectors that labels of pods give."""
    definition, shown = _attributed(kind, pods, [Decision() for _ in pods], evidence)
    numbers = {leaf.name: number for number, leaf in enumerate(definition.leaves)}
    places = [
        Place(pod, frozenset((numbers[own.component], own.instance) for own in group.sets))
        for each in shown
        for group in each.groups
        for pod in group.pods
    ]
    words = [
        frozenset({leaf.name, *map(str.lower, own.place.names)})
        for leaf, own in zip(definition.leaves, pods, strict=True)
    ]
    by_component = component_selectors(places, words) if len(pods) > 1 else {}
    return [_selector(number, own, (by_component or {}).get(number, {}), places) for number, own in enumerate(pods)]


def _selector(number: int, pods: PodsField, by_component: Object, places: Sequence[Place]) -> Decision:
    mine = [place for place in places if number in {component for component, _ in place.sets}]
    mine = [place for place in mine if not by_component or has_label(place.pod, by_component)]
    parts: dict[str, JSON] = {}
    by_instance = instance_selector(mine, number) if pods.place.has_instances else {}
    if by_instance is None:
        lowered = [Place(pod, frozenset((own, instance.lower()) for own, instance in sets)) for pod, sets in mine]
        by_instance = instance_selector(lowered, number)
        parts = {"instanceIdPath": f"{pods.place.ids} | ascii_downcase"} if by_instance else {}
    selector = {**by_component, **(by_instance or {})}
    notes = (
        []
        if by_instance is not None
        else [("specDefinition", "CHECK: no label of the pods has the id of their instance.")]
    )
    if selector:
        notes.append(
            ("podSelector", f"{len(mine)} of {count(len(mine), 'pod')} {'have' if len(mine) > 1 else 'has'} it.")
        )
    parts |= {"podSelector": selector} if selector else {}
    return Decision(parts, tuple(((field,), note) for field, note in notes))
