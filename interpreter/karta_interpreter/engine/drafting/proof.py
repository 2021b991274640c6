"""What verify finds of a draft: lines that end differences, and the differences that are left."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import Object, Path, edit, get, objects_in
from karta_interpreter.definitions.karta import PREFIX, Definition, annotation_path
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.engine.drafting.pieces import LISTS, amounts_of, containers_of
from karta_interpreter.engine.drafting.running import with_running
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.explain.explanation import path_of
from karta_interpreter.engine.verification import Evidence, Judgement, Question, Verdict, verify
from karta_interpreter.engine.verification.members import Group, members

_ANNOTATION: Final = f"metadata.annotations.{PREFIX}"
_INDEX: Final = re.compile(r"\[\d+\]")
_MOST_CHECKS: Final = 20

Causes = Mapping[Judgement, Sequence[int]]
"""The differences, and the numbers of the objects with each."""


class Proof(NamedTuple):
    """A draft, and the differences that are left."""

    draft: Draft
    causes: Causes

    def mistaken(self, *about: Question) -> int:
        """Return in how many objects the pods are not as many, or do not request as much, as the draft says."""
        questions = about or (Question.COUNTS, Question.REQUIREMENTS)
        wrong = [numbers for cause, numbers in self.causes.items() if cause.question in questions]
        return len(set().union(*wrong))


def prove(draft: Draft, evidence: Sequence[Evidence]) -> Proof:
    """Return a draft with the lines that end its differences, and a note for each difference that is left."""
    draft = with_running(draft, evidence)
    draft = _with_lines(draft, evidence, _causes(draft.karta, evidence))
    causes, notes = _causes(draft.karta, evidence), [*draft.notes]
    for cause, numbers in list(causes.items())[:_MOST_CHECKS]:
        agreeing = f"{len(evidence) - len(numbers)} of {count(len(evidence), 'object')} agree"
        notes.append((_path(draft.karta, cause.field), f"CHECK: {cause.question}: {agreeing}. {cause.reason}"))
    return Proof(Draft(draft.karta, tuple(notes)), causes)


def _causes(karta: Object, evidence: Iterable[Evidence]) -> Causes:
    """Return the differences of a draft, the most frequent first."""
    definition, causes = load_definition(karta), defaultdict[Judgement, list[int]](list)
    for number, each in enumerate(evidence):
        # Pods that another object between makes may be of a template that the draft lacks.
        found = [
            judgement
            for judgement in verify(definition, each)
            if judgement.verdict is Verdict.DIFFERS or "belong to no component" in judgement.reason
        ]
        for judgement in dict.fromkeys(judgement._replace(detail="") for judgement in found):
            causes[judgement].append(number)
    return dict(sorted(causes.items(), key=lambda cause: -len(cause[1])))


def _with_lines(draft: Draft, evidence: Sequence[Evidence], causes: Causes) -> Draft:
    """Return a draft with the lines of annotations that its pods show."""
    lines: dict[str, dict[str, set[int]]] = {
        _ADDED: _added(load_definition(draft.karta), evidence),
        _DEPENDENCIES: defaultdict(set),
    }
    for cause, numbers in causes.items():
        if cause.field == f"{_ANNOTATION}{_DEPENDENCIES}":
            lines[_DEPENDENCIES][_INDEX.sub("[]", cause.fix)].update(numbers)
    karta, notes = draft.karta, [*draft.notes]
    for name, shown in lines.items():
        if shown:
            path = annotation_path(name)
            karta = edit.set_value(karta, path, "".join(f"{line}\n" for line in shown))
            agreeing = ", ".join(f"{len(numbers)} of {count(len(evidence), 'object')}" for numbers in shown.values())
            notes.append((path, f"{_ABOUT[name]} Shown by {agreeing}."))
    return Draft(karta, tuple(notes))


_ADDED: Final = "added-containers"
_DEPENDENCIES: Final = "dependencies"
_ABOUT: Final = {
    _ADDED: "CHECK: do all members add these containers, which the objects do not have?",
    _DEPENDENCIES: "CHECK: do these fields name what pods refer to? Their values are the same.",
}


class PodsOfSets(NamedTuple):
    """An object, and its pods by the pod sets that they belong to."""

    evidence: Evidence
    groups: tuple[Group, ...]


def pods_of_sets(definition: Definition, evidence: Iterable[Evidence]) -> Iterator[PodsOfSets]:
    """Yield the objects that a definition can read, with their pods."""
    for each in evidence:
        with suppress(InterpretationError):
            groups = members(definition, pod_sets(definition, each.object), each.active or each.pods).groups
            yield PodsOfSets(each, groups)


def _added(definition: Definition, evidence: Sequence[Evidence]) -> dict[str, set[int]]:
    """Return a line for each component with the containers that its template lacks and the pods of all objects have."""
    numbers: dict[str, set[int]] = defaultdict(set)
    common: dict[str, list[tuple[str, str]]] = {}
    for number, shown in enumerate(pods_of_sets(definition, evidence)):
        for group in shown.groups:
            component = group.sets[0].component
            if group.pods and all(own.component == component for own in group.sets):
                missing = _missing(group.sets[0].template, group.pods[0])
                common[component] = [each for each in common.get(component, missing) if each in missing]
                numbers[component].add(number)
    lines: dict[str, set[int]] = {}
    for component, containers in common.items():
        parts = (f"{kind}: [{', '.join(text for of, text in containers if of == kind)}]" for kind, _ in containers)
        quoted = ", ".join(dict.fromkeys(parts)).replace("'", "''")
        lines |= {f"{component}: '{{{quoted}}}'": numbers[component]} if containers else {}
    return lines


def _missing(template: Object, pod: Object) -> list[tuple[str, str]]:
    """Return the list and the expression of each container of a pod that its template lacks."""
    ours = {(kind, each.get("name")) for kind in LISTS for each in objects_in(get(template, ("spec", kind)))}
    return [
        (kind, json.dumps({"name": name, "resources": {"requests": amounts_of(each.get("resources"))}}))
        for kind in LISTS
        for each in containers_of(pod, kind)
        if (kind, name := each.get("name")) not in ours
    ]


def _path(karta: Object, field: str) -> Path:
    """Return the path of a field, or of the part of the draft that is nearest to it."""
    _, is_annotation, name = field.partition(_ANNOTATION)
    path = annotation_path(name) if is_annotation else path_of(field)
    while path and edit.get(karta, path) is None:
        path = path[:-1]
    return path or ("spec",)
