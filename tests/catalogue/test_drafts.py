"""Drafts from what real controllers have made: right about pods, or with a CHECK at what is wrong.

What is right about an object is what the catalogue answers, in states in which its pods agree.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.schema import CustomKind, completed
from karta_interpreter.engine.drafting.drafting import draft_from
from karta_interpreter.engine.verification import Evidence, Question, Verdict, verify
from tests.catalogue.verified import states
from tests.support.drafted import answered, by_requests, judged
from tests.support.examples import SWEEPS_ALL, few
from tests.support.recorded import recorded

_PODS = {Question.COUNTS, Question.REQUIREMENTS}
_RIGHT = 0.5
"""The share of the objects left out of which everything about pods is right."""
_UNSEEN = 0.05
"""The share of kinds of which an object left out has what none of the others shows."""


@pytest.mark.slow
@pytest.mark.sweep
def test_draft_is_right_about_objects_it_was_not_drafted_from_or_asks_at_the_component_that_is_wrong() -> None:
    outcomes: Counter[str] = Counter()
    kinds = few(sorted(recorded()), "draft")
    for definition, states_of_kind in states(kinds if SWEEPS_ALL else kinds[::2]):
        if definition.needs_child:
            continue
        complete = (each for each in states_of_kind if each.active and _is_complete(definition, each))
        shown = list(islice(complete, 50 if SWEEPS_ALL else 8))
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


def _is_complete(definition: Definition, shown: Evidence) -> bool:
    """Return whether the pods of an object are all there, which the catalogue says."""
    judgements = verify(definition, shown)
    return all(each.verdict is Verdict.OK for each in judgements if each.question in _PODS)
