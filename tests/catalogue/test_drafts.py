"""Drafts of the catalogue's kinds from objects and pods alone: right about pods, or with a CHECK."""

from collections import Counter
from itertools import islice
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.reference_resolver import resolved
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting import draft_from
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.verification import Evidence
from tests.catalogue.entries import entries
from tests.engine.verification.mutants import members
from tests.support.examples import SWEEPS_ALL, third

_RIGHT = 0.33
"""The share of kinds of which everything about pods is right in every object."""
_NOT_PODS = {"statusMappings", "suspendActions", "suspendDefinition"}


def _answer(definition: Definition, shown: Evidence) -> Any:
    """Return the number of pods by their requests, or None without an answer."""
    answer: Counter[str] = Counter()
    try:
        for pods in pod_sets(resolved(definition, shown.object, shown.reader), shown.object):
            answer[str(pod_requirements(pods.template, Counting.SCHEDULER).resource_request)] += pods.replicas
    except InterpretationError:
        return None
    return +answer


@pytest.mark.sweep
def test_draft_is_right_about_pods_or_asks() -> None:
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
        is_right = all(_answer(definition, each) == _answer(made, each) for each in shown)
        doubts = [note for path, note in drafted.notes if note.startswith("CHECK") and path[-1] not in _NOT_PODS]
        outcomes["right" if is_right else "wrong"] += 1
        assert is_right or doubts, f"{definition.name} is wrong without a CHECK"

    assert outcomes.total() > (10 if SWEEPS_ALL else 0)
    if SWEEPS_ALL:
        assert outcomes["right"] >= _RIGHT * outcomes.total(), outcomes
