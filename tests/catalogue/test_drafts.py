"""Drafts of the catalogue's kinds from objects and pods alone: right about pods, or with a CHECK at what is wrong.

The pods are made from the catalogue's definition. So "right" means that the draft agrees with the catalogue, which the
proofs of real controllers guard. No member says it here.
"""

from collections import Counter
from itertools import islice

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.reference_resolver import resolved
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting import draft_from
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.verification import Evidence
from tests.catalogue.entries import entries
from tests.engine.verification.mutants import members
from tests.support.examples import SWEEPS_ALL, third

_RIGHT = 0.33
"""The share of kinds of which everything about pods is right in every object."""
_STRUCTURE = ("spec", "structureDefinition")
_PODS = ("specDefinition", "scaleDefinition", "podSelector")
_QUESTIONS = ("CHECK: requirements:", "CHECK: InterpretReplica:", "CHECK: no pods were found")
_OTHERS = "pods of no component, or of containers that no component has"
_ALL = "containers of every component"

Answer = Counter[tuple[str, str]]
"""The number of pods by their component and their requests."""


def _answer(definition: Definition, shown: Evidence) -> Answer | None:
    """Return the pods of an object, or None without an answer."""
    answer: Answer = Counter()
    try:
        for pods in pod_sets(resolved(definition, shown.object, shown.reader), shown.object):
            requests = pod_requirements(pods.template, Counting.SCHEDULER).resource_request
            answer[pods.component, str(requests)] += pods.replicas
    except InterpretationError:
        return None
    return +answer


def _wrong(catalogue: Answer | None, made: Answer | None) -> set[frozenset[str]]:
    """Return who may be wrong: the components of a draft that give pods too much, and others where pods are missing."""
    if catalogue is None or made is None:
        return set() if catalogue == made else {frozenset({_OTHERS})}
    right, drafted = _by_requests(catalogue), _by_requests(made)
    wrong = {frozenset(component for component, own in made if own == requests) for requests in drafted - right}
    return wrong | ({frozenset({_OTHERS})} if right - drafted else set())


def _by_requests(answer: Answer) -> Counter[str]:
    total: Counter[str] = Counter()
    for (_, requests), number in answer.items():
        total[requests] += number
    return total


def _doubted(draft: Draft) -> set[str]:
    """Return the components with a CHECK at their count, template or selector, and whether one is about any pods."""
    doubted = set()
    for path, note in draft.notes:
        if note.startswith(_QUESTIONS) or (note.startswith("CHECK") and {*path}.intersection(_PODS)):
            place = path[: 4 if "childComponents" in path else 3]
            name = edit.get(draft.karta, (*place, "name")) if path[:2] == _STRUCTURE else _ALL
            doubted |= {_OTHERS, str(name)}
    return doubted


@pytest.mark.sweep
def test_draft_is_right_about_pods_or_asks_at_the_component_that_is_wrong() -> None:
    outcomes: Counter[str] = Counter()
    for entry in third(entries(), "draft")[:: 1 if SWEEPS_ALL else 6]:
        definition = entry.definition
        if definition is None or definition.needs_child:
            continue
        with_pods = (each for each in members(definition, entry.cases) if each.pods)
        if not (shown := list(islice(with_pods, 50 if SWEEPS_ALL else 8))):
            continue
        drafted = draft_from(CustomKind("", definition.gvk, {}), shown)
        made = load_definition(drafted.karta)
        wrong = set().union(*(_wrong(_answer(definition, each), _answer(made, each)) for each in shown))
        outcomes["wrong" if wrong else "right"] += 1
        doubted = _doubted(drafted)
        silent = [sorted(components) for components in wrong if not doubted & {*components, _ALL}]
        assert not silent, f"{definition.name}: no CHECK for {silent}"

    assert outcomes.total() > (10 if SWEEPS_ALL else 0)
    if SWEEPS_ALL:
        assert outcomes["right"] >= _RIGHT * outcomes.total(), outcomes
