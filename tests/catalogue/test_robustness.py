"""Objects with junk in any place get an answer or one of our own errors, never anything else."""

import copy
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from msgspec import structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.knowledge import knowing
from tests.support.examples import EXAMPLES, SWEEPS_ALL

JUNK = [
    None,
    True,
    False,
    0,
    -1,
    2.5,
    1e300,
    2**63,
    "",
    "x",
    "3",
    [],
    {},
    [1],
    [None],
    {"name": "x"},
    [{"type": "Ready"}],
]
ROUNDS = EXAMPLES * (15 if SWEEPS_ALL else 8)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(below, (*place, key))


def spoilt(chance: random.Random, value: Any) -> Any:
    for _ in range(chance.randint(1, 3)):
        found = [place for place in places(value) if place[0] not in ("apiVersion", "kind")]
        if found:
            value = _with(value, chance.choice(found), chance.choice(JUNK))
    return value


def _with(value: Any, place: tuple[Any, ...], junk: Any) -> Any:
    """The value with junk at a place; it shares all that is elsewhere."""
    if not place:
        return junk
    key, *rest = place
    changed = copy.copy(value)
    changed[key] = _with(value[key], tuple(rest), junk)
    return changed


def spoilt_call(chance: random.Random, call: Call) -> Call:
    observed = spoilt(chance, call.observed) if call.observed else None
    items = tuple(structs.replace(item, status=spoilt(chance, item.status)) for item in call.items)
    return structs.replace(call, object=spoilt(chance, call.object), observed=observed, items=items)


@pytest.mark.sweep
def test_junk_gets_an_answer_or_our_own_error(definition: Definition, cases: Sequence[Case]) -> None:
    chance = random.Random(definition.name)  # noqa: S311 - the same junk every time
    answered = 0
    for _ in range(ROUNDS):
        call = spoilt_call(chance, chance.choice(cases).call)
        with suppress(InterpretationError):
            interpret(knowing(definition, call.object), call)
            answered += 1
    assert 0 < answered < ROUNDS
