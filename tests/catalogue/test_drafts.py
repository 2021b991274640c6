"""Drafts of the catalogue's kinds from objects and pods alone: right about pods, or with a CHECK at what is wrong.

The pods are made from the catalogue's definition. So "right" means that the draft agrees with the catalogue, which the
proofs of real controllers guard. No member says it here: `tests/proofs/reality/drafted.py` drafts from real pods.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.observed import completed
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting import draft_from
from karta_interpreter.engine.verification import Evidence
from tests.catalogue.entries import entries
from tests.engine.verification.mutants import members
from tests.support.drafted import answered, by_requests, judged
from tests.support.examples import SWEEPS_ALL, few

_RIGHT = 0.5
"""The share of the objects left out of which everything about pods is right."""
_UNSEEN = 0.05
"""The share of kinds of which an object left out has what none of the others shows."""


@pytest.mark.sweep
def test_draft_is_right_about_objects_it_was_not_drafted_from_or_asks_at_the_component_that_is_wrong() -> None:
    outcomes: Counter[str] = Counter()
    for entry in few(entries(), "draft")[:: 1 if SWEEPS_ALL else 6]:
        definition = entry.definition
        if definition is None or definition.needs_child:
            continue
        with_pods = (each for each in members(definition, entry.cases) if each.pods)
        shown = list(islice(with_pods, 50 if SWEEPS_ALL else 12))
        # The schema has the fields of all objects, as the CRD would have them.
        kind = CustomKind("", definition.gvk, completed({}, [each.object for each in shown]))
        drafted = draft_from(kind, shown)
        assert not _judged(definition, drafted, shown)[1], f"{definition.name}: no CHECK"
        if held_out := shown[1::2]:
            right, silent = _judged(definition, draft_from(kind, shown[::2]), held_out)
            outcomes.update(right=right, objects=len(held_out), kinds=1, silent=bool(silent))

    assert outcomes["objects"] > (10 if SWEEPS_ALL else 0)
    if SWEEPS_ALL:
        assert outcomes["right"] >= _RIGHT * outcomes["objects"], outcomes
        assert outcomes["silent"] <= _UNSEEN * outcomes["kinds"], outcomes


def _judged(definition: Definition, drafted: Draft, shown: Sequence[Evidence]) -> tuple[int, list[list[str]]]:
    return judged(drafted, [(each, by_requests(answered(definition, each))) for each in shown])
