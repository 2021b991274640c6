"""A draft with pods at the places where containers of real pods come from, and what verify finds of the draft."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import CONTAINER_LISTS, JSON, Object, edit, get, objects_in
from karta_interpreter.definitions.karta import PREFIX, STRUCTURE, ComponentRules, Definition, annotation_path
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.draft import Decision, Draft, Form, PodsField, draft, find_pods
from karta_interpreter.definitions.openapi.schema import CustomKind, completed
from karta_interpreter.engine.drafting.inference import (
    Counted,
    Label,
    PlacedPod,
    component_labels,
    component_selector,
    count_of,
    instance_selector,
    label_of,
    with_running,
)
from karta_interpreter.engine.drafting.pieces import amounts_of, containers_of, pods_of_fields
from karta_interpreter.engine.evaluation import instance_ids, pod_sets
from karta_interpreter.engine.explain import path_of
from karta_interpreter.engine.verification import Evidence, Judgement, Question, Verdict, unsettled, verify
from karta_interpreter.engine.verification.members import MemberGroup, members

_ANNOTATION: Final = f"metadata.annotations.{PREFIX}"
_INDEX: Final = re.compile(r"\[\d+\]")
_MOST_CHECKS: Final = 20

Causes = Mapping[Judgement, Sequence[int]]
"""The differences, and the numbers of the objects with each."""


class Proof(NamedTuple):
    """A draft, and the differences that are left."""

    draft: Draft
    causes: Causes

    def mistaken(self, *questions: Question) -> int:
        """Return in how many objects the pods are not as many, or do not request as much, as the draft says."""
        questions = questions or (Question.COUNTS, Question.REQUIREMENTS)
        return len(
            {number for cause, numbers in self.causes.items() if cause.question in questions for number in numbers}
        )


def prove(draft: Draft, evidence: Sequence[Evidence]) -> Proof:
    """Return a draft with the lines that end its differences, and a note for each difference that is left."""
    draft = with_running(draft, evidence)
    draft = _with_lines(draft, evidence, _causes(draft.karta, evidence))
    causes, notes = _causes(draft.karta, evidence), [*draft.notes]
    for cause, numbers in list(causes.items())[:_MOST_CHECKS]:
        # At its field, or at the part of the draft that is nearest to it.
        _, is_annotation, name = cause.field.partition(_ANNOTATION)
        path = annotation_path(name) if is_annotation else path_of(cause.field)
        while path and edit.get(draft.karta, path) is None:
            path = path[:-1]
        agreeing = f"{len(evidence) - len(numbers)} of {count(len(evidence), 'object')} agree"
        notes.append((path or ("spec",), f"CHECK: {cause.question}: {agreeing}. {cause.reason}"))
    return Proof(Draft(draft.karta, tuple(notes)), causes)


def _causes(karta: Object, evidence: Iterable[Evidence]) -> Causes:
    definition, causes = load_definition(karta), defaultdict[Judgement, list[int]](list)
    for number, workload in enumerate(evidence):
        # Pods that another object between makes may be of a template that the draft lacks.
        differences = dict.fromkeys(
            judgement._replace(detail="")
            for judgement in verify(definition, workload)
            if judgement.verdict is Verdict.DIFFERS or "belong to no component" in judgement.reason
        )
        for judgement in differences:
            causes[judgement].append(number)
    return dict(sorted(causes.items(), key=lambda cause: -len(cause[1])))


def _with_lines(draft: Draft, evidence: Sequence[Evidence], causes: Causes) -> Draft:
    """Return a draft with the lines of annotations that its pods show."""
    dependencies: dict[str, set[int]] = defaultdict(set)
    for cause, numbers in causes.items():
        if cause.field == f"{_ANNOTATION}dependencies":
            dependencies[_INDEX.sub("[]", cause.fix)].update(numbers)
    karta, notes = draft.karta, [*draft.notes]
    for name, question, lines in (
        (
            "added-containers",
            "do all members add these containers, which the objects do not have?",
            _added(load_definition(draft.karta), evidence),
        ),
        ("dependencies", "do these fields name what pods refer to? Their values are the same.", dependencies),
    ):
        if lines:
            path = annotation_path(name)
            karta = edit.set_value(karta, path, "".join(f"{line}\n" for line in lines))
            agreeing = ", ".join(f"{len(numbers)} of {count(len(evidence), 'object')}" for numbers in lines.values())
            notes.append((path, f"CHECK: {question} Shown by {agreeing}."))
    return Draft(karta, tuple(notes))


PodsOfSets = tuple[Evidence, tuple[MemberGroup, ...]]
"""An object, and its pods by the pod sets that they belong to."""


def pods_of_sets(definition: Definition, evidence: Iterable[Evidence]) -> Iterator[PodsOfSets]:
    """Yield the objects that a definition can read, with their pods."""
    for workload in evidence:
        with suppress(InterpretationError):
            groups = members(definition, pod_sets(definition, workload.object), workload.active or workload.pods).groups
            yield workload, groups


def _added(definition: Definition, evidence: Sequence[Evidence]) -> dict[str, set[int]]:
    """Return a line for each component with the containers that its template lacks and the pods of all objects have."""
    numbers: dict[str, set[int]] = defaultdict(set)
    common: dict[str, list[tuple[str, str]]] = {}
    for number, (_, groups) in enumerate(pods_of_sets(definition, evidence)):
        for group in groups:
            component = group.sets[0].component
            if group.pods and all(pod_set.component == component for pod_set in group.sets):
                missing = _missing(group.sets[0].template, group.pods[0])
                common[component] = [container for container in common.get(component, missing) if container in missing]
                numbers[component].add(number)
    lines: dict[str, set[int]] = {}
    for component, containers in common.items():
        lists = (f"{kind}: [{', '.join(text for of, text in containers if of == kind)}]" for kind, _ in containers)
        quoted = ", ".join(dict.fromkeys(lists)).replace("'", "''")
        lines |= {f"{component}: '{{{quoted}}}'": numbers[component]} if containers else {}
    return lines


def _missing(template: Object, pod: Object) -> list[tuple[str, str]]:
    """Return the list and the expression of each container of a pod that its template lacks."""
    ours = {
        (kind, container.get("name"))
        for kind in CONTAINER_LISTS
        for container in objects_in(get(template, ("spec", kind)))
    }
    return [
        (kind, json.dumps({"name": name, "resources": {"requests": amounts_of(container.get("resources"))}}))
        for kind in CONTAINER_LISTS
        for container in containers_of(pod, kind)
        if (kind, name := container.get("name")) not in ours
    ]


_MOST_NAMED: Final = 4

Selected = tuple[PodsField, Decision]
"""Pods, and the decision with their selector."""


def draft_from(kind: CustomKind, evidence: Sequence[Evidence]) -> Draft:
    """Draft a Karta from objects and their pods."""
    kind = replace(kind, schema=completed(kind.schema, [workload.object for workload in evidence]))
    templates = [pods for pods in find_pods(kind.schema) if pods.form is not Form.FRAGMENTS]
    places = _supported(kind, templates, evidence)
    drafted = _with_counts(kind, _selected(kind, places, evidence), evidence) if places else draft(kind, [])
    if unshown := [pods.place.jq for pods in templates if pods not in places]:
        which = f"Which objects have pods of {'it' if len(unshown) == 1 else 'these'}?"
        note = STRUCTURE, f"CHECK: no pod is of {', '.join(unshown[:_MOST_NAMED])}. {which}"
        drafted = replace(drafted, notes=(*drafted.notes, note))
    proof = prove(drafted, evidence)
    proofs = [proof] if places else []
    # A template whose pods request something else may be an override of what the operator makes from other fields:
    # the numbers of a list's entries, or all numbers of the object.
    if not places or proof.mistaken(Question.REQUIREMENTS):
        drafted_pods = [pods_of_fields(kind, evidence, in_entries=in_entries) for in_entries in (True, False)]
        proofs += [prove(_with_counts(kind, pods, evidence), evidence) for pods in drafted_pods if pods]
    return min(proofs, key=Proof.mistaken, default=proof).draft


def _with_counts(kind: CustomKind, selected: Sequence[Selected], evidence: Sequence[Evidence]) -> Draft:
    definition, attributed = _attributed(kind, selected, evidence)
    settled = [(workload, groups) for workload, groups in attributed if not unsettled(definition, workload)]
    # Without other evidence, an autoscaler's minimum is the count of an object.
    judged = [(workload, groups) for workload, groups in settled if not workload.scaled] or settled
    counted = []
    for (pods, decision), leaf in zip(selected, definition.leaves, strict=True):
        template = str(decision.parts.get("specDefinition"))
        text, note = count_of(
            kind, pods, [own for workload, groups in judged if (own := _counted(leaf, workload, groups))], template
        )
        scale = {"scaleDefinition": {"replicasPath": text}} if text else {}
        counted.append((pods, Decision({**scale, **decision.parts}, (*decision.notes, note))))
    return draft(kind, counted)


def _counted(component: ComponentRules, workload: Evidence, groups: Sequence[MemberGroup]) -> Counted | None:
    """Return the pods of a component in an object, None if they cannot be distinguished from other components' pods."""
    ids = instance_ids(component, workload.object)
    own_groups = [group for group in groups if component.name in {pod_set.component for pod_set in group.sets}]
    if not own_groups or any(pod_set.component != component.name for group in own_groups for pod_set in group.sets):
        return None
    pods = tuple(
        (tuple(ids.index(pod_set.instance) for pod_set in group.sets), len(group.pods)) for group in own_groups
    )
    return Counted(workload.object, len(ids), pods)


def _attributed(
    kind: CustomKind, selected: Sequence[Selected], evidence: Iterable[Evidence]
) -> tuple[Definition, list[PodsOfSets]]:
    """Return a definition of the selected pods, and the objects that it can read with their pods."""
    definition = load_definition(draft(kind, selected).karta)
    made_up = {
        leaf.name
        for leaf, (_, decision) in zip(definition.leaves, selected, strict=True)
        if "componentInstanceSelector" not in decision.parts.get("podSelector", ())
    }
    # A made-up label tells no instance. Their templates do.
    components = tuple(
        replace(component, selector=component.selector.model_copy(update={"component_instance_selector": None}))
        if component.name in made_up
        else component
        for component in definition.components
    )
    definition = replace(definition, components=components)
    return definition, list(pods_of_sets(definition, evidence))


def _supported(kind: CustomKind, places: list[PodsField], evidence: Sequence[Evidence]) -> list[PodsField]:
    if not places:
        return places
    definition, attributed = _attributed(kind, [(pods, Decision()) for pods in places], evidence)
    supported: set[str] = set()
    for group in (group for _, groups in attributed for group in groups):
        # A pod of a template has its containers. A template without any is an operator's override.
        names_by_set = [_container_names(pod_set.template) for pod_set in group.sets]
        if any(names and names <= _container_names(pod) for pod in group.pods for names in names_by_set):
            supported |= {pod_set.component for pod_set in group.sets}
    kept = [pods for leaf, pods in zip(definition.leaves, places, strict=True) if leaf.name in supported]
    # Without the others, pods may be of other templates.
    return places if len(kept) == len(places) else _supported(kind, kept, evidence)


def _container_names(pod: Object) -> set[str]:
    return {str(container.get("name")) for container in objects_in(get(pod, ("spec", "containers")))}


def _selected(kind: CustomKind, places: Sequence[PodsField], evidence: Sequence[Evidence]) -> list[Selected]:
    """Return the places with the selectors that labels of pods give."""
    definition, attributed = _attributed(kind, [(pods, Decision()) for pods in places], evidence)
    numbers = {leaf.name: number for number, leaf in enumerate(definition.leaves)}
    placed = [
        (pod, frozenset((numbers[pod_set.component], pod_set.instance) for pod_set in group.sets))
        for _, groups in attributed
        for group in groups
        for pod in group.pods
    ]
    words = [
        frozenset({leaf.name, *map(str.lower, pods.place.names)})
        for leaf, pods in zip(definition.leaves, places, strict=True)
    ]
    labels = component_labels(placed, words) if len(places) > 1 else {}
    return [(pods, _selector(number, pods, labels.get(number), placed)) for number, pods in enumerate(places)]


def _selector(number: int, pods: PodsField, label: Label | None, placed: Sequence[PlacedPod]) -> Decision:
    own_pods = [
        (pod, sets)
        for pod, sets in placed
        if number in {component for component, _ in sets} and (label is None or label_of(pod, label[0]) == label[1])
    ]
    parts: dict[str, JSON] = {}
    by_instance = instance_selector(own_pods, number) if pods.place.has_instances else {}
    if by_instance is None:
        lowered = [(pod, frozenset((own, instance.lower()) for own, instance in sets)) for pod, sets in own_pods]
        by_instance = instance_selector(lowered, number)
        parts = {"instanceIdPath": f"{pods.place.ids} | ascii_downcase"} if by_instance else {}
    selector = {**(component_selector(label) if label else {}), **(by_instance or {})}
    parts |= {"podSelector": selector} if selector else {}
    labelled = f"{len(own_pods)} of {count(len(own_pods), 'pod')} {'have' if len(own_pods) > 1 else 'has'} it."
    notes = (
        (by_instance is None, "specDefinition", "CHECK: no label of the pods has the id of their instance."),
        (bool(selector), "podSelector", labelled),
    )
    return Decision(parts, tuple(((field,), note) for is_so, field, note in notes if is_so))
