"""What verify finds of a draft: lines that end differences, and the differences that are left."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import Object, Path, edit
from karta_interpreter.definitions.karta import PREFIX, annotation_path
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.engine.drafting.added import added_containers
from karta_interpreter.engine.drafting.running import with_running
from karta_interpreter.engine.verification import Evidence, Judgement, Question, Verdict, verify

_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_ANNOTATION: Final = f"metadata.annotations.{PREFIX}"
_INDEX: Final = re.compile(r"\[\d+\]")
_QUOTED: Final = re.compile(r"`([^`]+)`")
_MOST_CHECKS: Final = 20

Causes = Mapping[Judgement, Sequence[int]]
"""The differences, and the numbers of the objects with each."""


def proved(draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """Return a draft with the lines that end its differences, and a note for each difference that is left."""
    draft = with_running(draft, evidence)
    draft = _with_lines(draft, evidence, _causes(draft.karta, evidence))
    notes = [*draft.notes]
    for cause, numbers in list(_causes(draft.karta, evidence).items())[:_MOST_CHECKS]:
        agreeing = f"{len(evidence) - len(numbers)} of {count(len(evidence), 'object')} agree"
        notes.append((_path(draft.karta, cause.field), f"CHECK: {cause.question}: {agreeing}. {cause.reason}"))
    return Draft(draft.karta, tuple(notes))


def mistaken(draft: Draft, evidence: Iterable[Evidence], *about: Question) -> int:
    """Return in how many objects the pods are not as many, or do not request as much, as a draft says."""
    causes = _causes(draft.karta, evidence).items()
    questions = about or (Question.COUNTS, Question.REQUIREMENTS)
    return len({number for cause, numbers in causes if cause.question in questions for number in numbers})


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
    """Return a draft with the lines of annotations that verify gives."""
    lines: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for cause, numbers in causes.items():
        if cause.field.startswith(_ANNOTATION) and (line := _line(cause)):
            lines[cause.field.removeprefix(_ANNOTATION)][line].update(numbers)
    lines.pop(_ADDED, None)
    if added := added_containers(load_definition(draft.karta), evidence):
        lines[_ADDED] = added
    karta, notes = draft.karta, [*draft.notes]
    for name, shown in lines.items():
        path = annotation_path(name)
        karta = edit.set_value(karta, path, "".join(f"{line}\n" for line in shown))
        agreeing = ", ".join(f"{len(numbers)} of {count(len(evidence), 'object')}" for numbers in shown.values())
        notes.append((path, f"{_ABOUT[name]} Shown by {agreeing}."))
    return Draft(karta, tuple(notes))


_ADDED: Final = "added-containers"
_ABOUT: Final = {
    _ADDED: "CHECK: do all members add these containers, which the objects do not have?",
    "dependencies": "CHECK: do these fields name what pods refer to? Their values are the same.",
    "retain": "CHECK: is the member to decide these fields, which other managers write?",
}


def _line(cause: Judgement) -> str:
    """Return the line of an annotation that ends a difference in every object, or ""."""
    line = cause.fix
    if cause.question is Question.RETAIN:
        line = next(iter(_QUOTED.findall(line)), "")
        line = line if line.startswith("- ") else ""
    return _INDEX.sub("[]", line)


def _path(karta: Object, field: str) -> Path:
    """Return the path of a field, or of the part of the draft that is nearest to it."""
    path: Path = ()
    if field.startswith(_ANNOTATION):
        steps: Iterator[str | int] = iter(("metadata", "annotations", field.removeprefix("metadata.annotations.")))
    else:
        steps = (int(index) if index else name for name, index in _STEP.findall(field))
    for step in steps:
        if edit.get(karta, (*path, step)) is None:
            break
        path = (*path, step)
    return path or ("spec",)
