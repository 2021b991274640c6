"""Judges whether a draft is right about pods, or has a CHECK at a wrong line."""

from collections import Counter
from collections.abc import Sequence

import yaml

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import Object, edit
from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.reference_resolver import resolved
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.verification import Evidence

_STRUCTURE = ("spec", "structureDefinition")
_PODS = ("specDefinition", "scaleDefinition", "podSelector")
_QUESTIONS = ("CHECK: requirements:", "CHECK: InterpretReplica:", "CHECK: no pods were found", "CHECK: no pod is of")
_ADDED = "karta-interpreter.io/added-containers"
_OTHERS = "pods of no component, or of containers that no component has"
_ALL = "containers of every component"

Requests = Counter[str]
"""The number of pods by their requests."""


def requests_of(template: Object) -> str:
    """Return what kube-scheduler reserves for a pod, as text."""
    return str(sorted(pod_requirements(template, Counting.SCHEDULER).resource_request.items()))


def answered(definition: Definition, shown: Evidence) -> Counter[tuple[str, str]] | None:
    """Return the number of an object's pods by their component and their requests, or None without an answer."""
    answer: Counter[tuple[str, str]] = Counter()
    try:
        for pods in pod_sets(resolved(definition, shown.object, shown.reader), shown.object):
            answer[pods.component, requests_of(pods.template)] += pods.replicas
    except InterpretationError:
        return None
    return +answer


def by_requests(answer: Counter[tuple[str, str]] | None) -> Requests | None:
    """Return the number of pods by their requests."""
    if answer is None:
        return None
    total: Requests = Counter()
    for (_, requests), number in answer.items():
        total[requests] += number
    return total


def judged(draft: Draft, shown: Sequence[tuple[Evidence, Requests | None]]) -> tuple[int, list[list[str]]]:
    """Return in how many objects a draft has the right pods, and the components that are wrong and have no CHECK."""
    definition, doubted = load_definition(draft.karta), _doubted(draft)
    wrong = [_wrong(right, answered(definition, evidence)) for evidence, right in shown]
    components = set().union(*wrong)
    return wrong.count(set()), [sorted(each) for each in components if not doubted & {*each, _ALL}]


def _wrong(right: Requests | None, made: Counter[tuple[str, str]] | None) -> set[frozenset[str]]:
    """Return who may be wrong: the components of a draft that give pods too much, and others where pods are missing."""
    drafted = by_requests(made)
    if right is None or made is None or drafted is None:
        return set() if right == drafted else {frozenset({_OTHERS})}
    wrong = {frozenset(component for component, own in made if own == requests) for requests in drafted - right}
    return wrong | ({frozenset({_OTHERS})} if right - drafted else set())


def _doubted(draft: Draft) -> set[str]:
    """Return the components with a CHECK at their count, template or selector, and whether one is about any pods."""
    doubted = set()
    for path, note in draft.notes:
        if note.startswith(_QUESTIONS) or (note.startswith("CHECK") and {*path}.intersection(_PODS)):
            place = path[: 4 if "childComponents" in path else 3]
            name = edit.get(draft.karta, (*place, "name")) if path[:2] == _STRUCTURE else None
            doubted |= {_OTHERS, str(name or _ALL)}
        if note.startswith("CHECK") and path[-1:] == (_ADDED,):
            doubted |= yaml.safe_load(edit.get(draft.karta, path)).keys()
    return doubted
