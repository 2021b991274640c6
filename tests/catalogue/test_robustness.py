"""Objects with junk in any place get an answer or one of our own errors, never anything else."""

import copy
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interpreter.errors import InterpretationError
from interpreter.karta.definition import Definition
from interpreter.karta.loading import load_documents
from interpreter.operations import Call, interpret
from interpreter.suites import find_suites, load_suite

KARTAS = sorted((Path(__file__).parents[2] / "kartas").rglob("karta.yaml"))
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
ROUNDS = 1500


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(below, (*place, key))


def spoilt(chance: random.Random, value: Any) -> Any:
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        found = [place for place in places(value) if place[0] not in ("apiVersion", "kind")]
        if found:
            *parents, last = chance.choice(found)
            owner = value
            for key in parents:
                owner = owner[key]
            owner[last] = copy.deepcopy(chance.choice(JUNK))
    return value


def spoilt_call(chance: random.Random, call: Call) -> Call:
    observed = spoilt(chance, call.observed) if call.observed else None
    items = tuple(replace(item, status=spoilt(chance, item.status)) for item in call.items)
    return replace(call, object=spoilt(chance, call.object), observed=observed, items=items)


@pytest.mark.parametrize("file", KARTAS, ids=lambda file: file.parent.name)
def test_junk_gets_an_answer_or_our_own_error(file: Path) -> None:
    [loaded] = load_documents(file.read_text(), file.name)
    assert isinstance(loaded.definition, Definition)
    calls = [case.call for suite in find_suites(file.parent) for case in load_suite(suite)]
    chance = random.Random(file.parent.name)  # noqa: S311 - the same junk every time
    answered = 0
    for _ in range(ROUNDS):
        call = spoilt_call(chance, chance.choice(calls))
        with suppress(InterpretationError):
            interpret(loaded.definition, call)
            answered += 1
    assert 0 < answered < ROUNDS
