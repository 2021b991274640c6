"""A draft with pods at the places where the containers of real pods come from."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

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
from karta_interpreter.engine.drafting.proof import PodsOfSets, Proof, pods_of_sets, prove
from karta_interpreter.engine.drafting.selectors import (
    Label,
    PlacedPod,
    component_labels,
    component_selector,
    instance_selector,
    label_of,
)
from karta_interpreter.engine.evaluation import instance_ids
from karta_interpreter.engine.verification import Evidence, Question, unsettled
from karta_interpreter.engine.verification.members import Group

MOST_PODS: Final = 1000
"""The most pods of an object that a draft looks at."""
_MOST_NAMED: Final = 4

Selected = tuple[PodsField, Decision]
"""Pods, and the decision with their selector."""


def draft_from(kind: CustomKind, evidence: Sequence[Evidence]) -> Draft:
    """Draft a Karta from objects and their pods."""
    kind = replace(kind, schema=completed(kind.schema, [each.object for each in evidence]))
    templates = [pods for pods in find_pods(kind.schema) if pods.form is not Form.FRAGMENTS]
    places = _supported(kind, templates, evidence)
    drafted = _with_counts(kind, _selected(kind, places, evidence), evidence) if places else draft(kind, [])
    proof = prove(_asked_about(drafted, [pods for pods in templates if pods not in places]), evidence)
    proofs = [proof] if places else []
    # A template whose pods request something else may be an override of what the operator makes from other fields:
    # those of a list's entries, or all of the object.
    if not places or proof.mistaken(Question.REQUIREMENTS):
        made = [pods_of_fields(kind, evidence, in_entries=in_entries) for in_entries in (True, False)]
        proofs += [prove(_with_counts(kind, pods, evidence), evidence) for pods in made if pods]
    return min(proofs, key=Proof.mistaken, default=proof).draft


def _asked_about(drafted: Draft, templates: Sequence[PodsField]) -> Draft:
    """Return a draft with a note about the templates without a pod."""
    if not templates:
        return drafted
    named = ", ".join(pods.place.jq for pods in templates[:_MOST_NAMED])
    note = f"CHECK: no pod is of {named}. Which objects have pods of {'it' if len(templates) == 1 else 'these'}?"
    return Draft(drafted.karta, (*drafted.notes, (STRUCTURE, note)))


def _with_counts(kind: CustomKind, selected: Sequence[Selected], evidence: Sequence[Evidence]) -> Draft:
    definition, shown = _attributed(kind, selected, evidence)
    settled = [each for each in shown if not unsettled(definition, each.evidence)]
    # The least count of an autoscaler is that of an object, if there is no other evidence.
    judged = [each for each in settled if not each.evidence.scaled] or settled
    counted = []
    for (pods, decision), leaf in zip(selected, definition.leaves, strict=True):
        text, note = count_of(kind, pods, [own for each in judged if (own := _counted(leaf, each))])
        scale = {"scaleDefinition": {"replicasPath": text}} if text else {}
        counted.append((pods, Decision({**scale, **decision.parts}, (*decision.notes, note))))
    return draft(kind, counted)


def _counted(component: Component, shown: PodsOfSets) -> Counted | None:
    """Return the pods of a component in an object, None if they cannot be told from those of others."""
    ids = instance_ids(component, shown.evidence.object)
    mine = [group for group in shown.groups if component.name in {own.component for own in group.sets}]
    if not mine or any(own.component != component.name for group in mine for own in group.sets):
        return None
    pods = tuple((tuple(ids.index(own.instance) for own in group.sets), len(group.pods)) for group in mine)
    return Counted(shown.evidence.object, len(ids), pods)


def _attributed(
    kind: CustomKind, selected: Sequence[Selected], evidence: Iterable[Evidence]
) -> tuple[Definition, list[PodsOfSets]]:
    """Return a definition of the selected pods, and the objects that it can read with their pods."""
    definition = load_definition(draft(kind, selected).karta)
    # A made-up label tells no instance. Their templates do.
    blind = {"component_instance_selector": None}
    made_up = {
        leaf.name
        for leaf, (_, decision) in zip(definition.leaves, selected, strict=True)
        if "componentInstanceSelector" not in decision.parts.get("podSelector", ())
    }
    components = (
        replace(own, selector=own.selector.model_copy(update=blind)) if own.name in made_up else own
        for own in definition.components
    )
    definition = replace(definition, components=tuple(components))
    return definition, list(pods_of_sets(definition, evidence))


def _supported(kind: CustomKind, places: list[PodsField], evidence: Sequence[Evidence]) -> list[PodsField]:
    """Return the places with containers that are in pods."""
    if not places:
        return places
    definition, shown = _attributed(kind, [(pods, Decision()) for pods in places], evidence)
    groups = [group for each in shown for group in each.groups if _has_pod_of_template(group)]
    supported = {own.component for group in groups for own in group.sets}
    kept = [pods for leaf, pods in zip(definition.leaves, places, strict=True) if leaf.name in supported]
    # Without the others, pods may be of other templates.
    return places if len(kept) == len(places) else _supported(kind, kept, evidence)


def _has_pod_of_template(group: Group) -> bool:
    """Return whether a pod has the containers of a template. One without any is an operator's override."""
    wanted = [_container_names(own.template) for own in group.sets]
    return any(names and names <= _container_names(pod) for pod in group.pods for names in wanted)


def _container_names(pod: Object) -> set[str]:
    return {str(each.get("name")) for each in objects_in(get(pod, ("spec", "containers")))}


def _selected(kind: CustomKind, places: Sequence[PodsField], evidence: Sequence[Evidence]) -> list[Selected]:
    """Return the places with the selectors that labels of pods give."""
    definition, shown = _attributed(kind, [(pods, Decision()) for pods in places], evidence)
    numbers = {leaf.name: number for number, leaf in enumerate(definition.leaves)}
    placed = [
        PlacedPod(pod, frozenset((numbers[own.component], own.instance) for own in group.sets))
        for each in shown
        for group in each.groups
        for pod in group.pods
    ]
    words = [
        frozenset({leaf.name, *map(str.lower, pods.place.names)})
        for leaf, pods in zip(definition.leaves, places, strict=True)
    ]
    labels = component_labels(placed, words) if len(places) > 1 else {}
    return [(pods, _selector(number, pods, labels.get(number), placed)) for number, pods in enumerate(places)]


def _selector(number: int, pods: PodsField, label: Label | None, placed: Sequence[PlacedPod]) -> Decision:
    mine = [place for place in placed if number in {component for component, _ in place.sets}]
    mine = [place for place in mine if label is None or label_of(place.pod, label[0]) == label[1]]
    parts: dict[str, JSON] = {}
    by_instance = instance_selector(mine, number) if pods.place.has_instances else {}
    if by_instance is None:
        lowered = [PlacedPod(pod, frozenset((own, instance.lower()) for own, instance in sets)) for pod, sets in mine]
        by_instance = instance_selector(lowered, number)
        parts = {"instanceIdPath": f"{pods.place.ids} | ascii_downcase"} if by_instance else {}
    selector = {**(component_selector(label) if label else {}), **(by_instance or {})}
    parts |= {"podSelector": selector} if selector else {}
    shown = f"{len(mine)} of {count(len(mine), 'pod')} {'have' if len(mine) > 1 else 'has'} it."
    notes = (
        (by_instance is None, "specDefinition", "CHECK: no label of the pods has the id of their instance."),
        (bool(selector), "podSelector", shown),
    )
    return Decision(parts, tuple(((field,), note) for is_so, field, note in notes if is_so))
