"""Drafts of the catalogue's kinds from objects and pods alone: right about pods, or with a CHECK at what is wrong.

The pods are made from the catalogue's definition. So "right" means that the draft agrees with the catalogue, which the
proofs of real controllers guard. No member says it here: `tests/proofs/reality/drafted.py` drafts from real pods.
"""

from collections import Counter
from itertools import islice

import pytest

from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting import draft_from
from tests.catalogue.entries import entries
from tests.engine.verification.mutants import members
from tests.support.drafted import answered, by_requests, judged
from tests.support.examples import SWEEPS_ALL, third

_RIGHT = 0.5
"""The share of kinds of which everything about pods is right in every object."""


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
        expected = [(each, by_requests(answered(definition, each))) for each in shown]
        right, silent = judged(drafted, expected)
        outcomes["right" if right == len(shown) else "wrong"] += 1
        assert not silent, f"{definition.name}: no CHECK for {silent}"

    assert outcomes.total() > (10 if SWEEPS_ALL else 0)
    if SWEEPS_ALL:
        assert outcomes["right"] >= _RIGHT * outcomes.total(), outcomes
