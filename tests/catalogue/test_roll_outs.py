"""Health in the middle of a roll-out, by what the operator of each kind writes: `roll-outs` of the facts."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from docs.tools.facts import RollOut, facts_of
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.identity import gvk_of
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import Entry, applies, of_all_kinds
from tests.catalogue.knowledge import knowing
from tests.catalogue.roll_outs import State, object_in, state_of, states, suites
from tests.catalogue.tables import with_version


def _rolls_out(entry: Entry) -> bool:
    return entry.definition is not None and bool(_roll_outs(entry.definition))


def _roll_outs(definition: Definition) -> tuple[RollOut, ...]:
    """Return the roll-outs of a definition in its own version, of which the facts are."""
    is_own = gvk_of(definition.manifest) == definition.gvk
    return tuple(facts_of(definition.gvk).roll_outs) if is_own else ()


@of_all_kinds
@applies(_rolls_out)
def test_state_with_too_few_new_pods_is_unhealthy(definition: Definition) -> None:
    """A roll-out that waits on purpose is in the facts, and so is a kind whose status does not show the new pods."""
    for roll_out in _roll_outs(definition):
        short = [state for state in states(roll_out) if state.is_short]
        healthy = [state for state in short if _is_healthy(definition, object_in(roll_out, state))]
        if roll_out.unshown:
            assert healthy, "its status shows how far a roll-out is"
        else:
            assert healthy == [], roll_out.name


@of_all_kinds
@applies(_rolls_out)
def test_roll_out_that_is_over_is_healthy(definition: Definition) -> None:
    for roll_out in _roll_outs(definition):
        assert _is_healthy(definition, object_in(roll_out, State())), roll_out.name


@of_all_kinds
@applies(_rolls_out)
def test_late_generation_leaves_open_roll_out_open(definition: Definition) -> None:
    for roll_out in _roll_outs(definition):
        for state in states(roll_out):
            obj = object_in(roll_out, state)
            edited = object_in(roll_out, state, 3)
            if state.is_short and not _is_healthy(definition, obj):
                assert not _is_healthy(definition, edited), (roll_out.name, state)


@of_all_kinds
@applies(_rolls_out)
def test_field_parts_roll_out_that_waits_from_one_that_goes_on(definition: Definition) -> None:
    """Both have the counters of one state."""
    for roll_out in _roll_outs(definition):
        for wait in roll_out.waits:
            goes_on = object_in(roll_out, state_of(wait))
            waits = object_in(roll_out, state_of(wait), patch=wait.patch)
            assert _is_healthy(definition, waits) == wait.healthy, wait.state
            assert roll_out.unshown or not _is_healthy(definition, goes_on), wait.state


def test_suites_are_those_of_the_facts() -> None:
    different = [path for path, text in suites() if not path.exists() or path.read_text(encoding="utf-8") != text]
    assert different == [], "`python -m tests.catalogue.roll_outs` writes them"


@of_all_kinds
@applies(_rolls_out)
def test_kind_without_a_moment_says_why(definition: Definition) -> None:
    for roll_out in _roll_outs(definition):
        assert bool(roll_out.waits) != ("waits" in roll_out.lacks), roll_out.name
        assert (".overdue" in roll_out.status) != ("overdue" in roll_out.lacks), roll_out.name


@of_all_kinds
@applies(_rolls_out)
def test_page_has_the_exceptions_of_each_kind_that_rolls_out(definition: Definition) -> None:
    """A kind whose status does not show the new pods, and one that is healthy before anybody has seen an edit."""
    notes, promise = _promises()[definition.gvk.kind]
    for roll_out in _roll_outs(definition):
        assert not roll_out.unshown or promise != "no", roll_out.name
        assert "edited" not in roll_out.healthy or notes or promise == "rule 2", roll_out.name


@cache
def _promises() -> Mapping[str, tuple[str, str]]:
    """Return the notes and the promise of each kind in the table of docs/health.md."""
    page = (Path(__file__).parents[2] / "docs" / "health.md").read_text(encoding="utf-8")
    table = page.partition("### During an update\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([A-Z].*?) \| (.*?) \|", table, re.MULTILINE)
    return {kind: (notes, cell) for kinds, cell in rows for kind, notes in re.findall(r"(\w+)[^,(]*(\(\d\))?", kinds)}


def _is_healthy(definition: Definition, obj: Object) -> bool:
    named = with_version(obj, definition.gvk)
    return bool(interpret(knowing(definition, named), Call(Operation.INTERPRET_HEALTH, named))["healthy"])
