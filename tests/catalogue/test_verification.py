"""``verify`` finds mistakes in the catalogue's definitions, in members where the right definitions agree."""

from collections import Counter
from itertools import islice

import pytest

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Operation
from tests.catalogue.entries import Entry, entries
from tests.engine.verification.mutants import changes_an_answer, members, mutants, new_fields
from tests.support.examples import SWEEPS_ALL, few

_FOUND, _NAMED = 0.95, 0.80


def _evidence(entry: Entry, definition: Definition) -> list:  # type: ignore[type-arg]
    return list(islice(members(definition, entry.cases), None if SWEEPS_ALL else 6))


@pytest.mark.sweep
def test_verify_finds_mistakes_in_definitions() -> None:
    outcomes: Counter[str] = Counter()
    missed: list[str] = []
    for entry in few(entries(), "verify")[:: 1 if SWEEPS_ALL else 2]:
        definition = entry.definition
        if definition is None or definition.needs_child:
            continue
        shown = _evidence(entry, definition)
        for mutant in mutants(definition.manifest):
            # Only Retain can be judged without pods.
            judged = [each for each in shown if each.pods or mutant.mistake == "a field less"]
            visible = [each for each in judged if changes_an_answer(definition, mutant.definition, each)]
            if not visible:
                continue
            fields = [field for each in visible for field in new_fields(definition, mutant.definition, each)]
            outcomes["all"] += 1
            outcomes["found"] += bool(fields)
            # The pods of a schedule are in its dependencies only, which do not tell where its template has gone wrong.
            if not definition.answers(Operation.INTERPRET_REPLICA):
                continue
            outcomes["judged"] += 1
            outcomes["named"] += mutant.field in fields
            if mutant.field not in fields:
                missed.append(f"{definition.name}: {mutant.mistake} at {mutant.field}: {fields[:2]}")

    assert outcomes["all"] > (200 if SWEEPS_ALL else 5)
    assert outcomes["found"] >= _FOUND * outcomes["all"], "\n".join(missed)
    assert outcomes["named"] >= _NAMED * outcomes["judged"], "\n".join(missed)
