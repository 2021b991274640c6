"""The work of an answer grows no faster than the object: counted in calls of functions, not in time."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest
from msgspec import structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit, values
from karta_interpreter.base.k8s.values import JSON, Path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.webhook.wire import Request, encode_results
from tests.support.counting import calls
from tests.support.examples import SWEEPS_ALL

_SIZES = (6, 12, 36)
"""Whole rounds of lists of two, three or six elements, which are repeated."""
_MOST = 4.4  # exactly 4 if the work is linear, 10 if it is quadratic
_SMALL = 100


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered of one size would be no work for another one."""
    monkeypatch.setattr(values, "_LONGEST", 0)


@pytest.mark.slow
def test_more_elements_are_as_much_more_work(definition: Definition, swept: Sequence[Case]) -> None:
    """Scripts are limited by time instead."""
    seen: set[tuple[Operation, str, Path]] = set()
    for case in swept:
        if definition.scripts.of(case.call.operation):
            continue
        known = Known.of(case.references)
        for field, place in _collections(case.call):
            group = (case.call.operation, field, tuple(0 if type(key) is int else key for key in place))
            if group in seen:
                continue
            seen.add(group)
            first, *larger = (_with(case.call, field, place, size) for size in _SIZES)
            outcome = bool(_answer(definition, first, known))  # compiles expressions, which does not count
            (more, most), outcomes = zip(*(_work(definition, call, known) for call in larger), strict=True)
            if {outcome} != {*outcomes} or most - more <= _SMALL:
                continue  # more pods than may be asked for, or a place that costs nothing
            some, _ = _work(definition, first, known)
            if some > more:
                continue  # a bound between the two ended a part of the answer
            assert most - more <= _MOST * (more - some) + _SMALL, (case.source, case.line, place, some, more, most)
    assert seen or not SWEEPS_ALL


def _collections(call: Call) -> Iterator[tuple[str, Path]]:
    """Yield the field of the call and the place in it of everything that may have many elements."""
    for field in ("object", "observed"):
        for place in _inside(getattr(call, field), ()):
            yield field, place
    if call.items:
        yield "items", ()


def _inside(value: JSON, place: Path) -> Iterator[Path]:
    """Yield the places of lists and of maps; of the elements of a list only the first two are gone into."""
    if place and value and (isinstance(value, list) or _is_map(value)):
        yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _inside(part, (*place, key))


def _is_map(value: JSON) -> bool:
    return isinstance(value, dict) and all(isinstance(item, dict) for item in value.values())


def _with(call: Call, field: str, place: Path, size: int) -> Call:
    if field == "items":
        items = (call.items[index % len(call.items)] for index in range(size))
        return structs.replace(
            call, items=tuple(StatusItem(f"m{index}", item.status) for index, item in enumerate(items))
        )
    whole = getattr(call, field)
    return structs.replace(call, **{field: edit.set_value(whole, place, _many(edit.get(whole, place), size))})


def _many(value: JSON, size: int) -> JSON:
    if isinstance(value, dict):
        names = list(value)
        return {f"{name}-{index}": value[name] for index in range(size) for name in [names[index % len(names)]]}
    return [_other(value[index % len(value)], index) for index in range(size)]


def _other(value: JSON, number: int) -> JSON:
    """Return the value under another name."""
    if isinstance(value, str):
        return f"{value}-{number}"
    if isinstance(value, dict) and "name" in value:
        return {**value, "name": f"{value['name']}-{number}"}
    return value


def _work(definition: Definition, call: Call, known: Known) -> tuple[int, bool]:
    """Return the calls of functions that an answer takes, and whether there is one."""
    answers: list[bytes] = []
    return calls(lambda: answers.extend(_answer(definition, call, known))), bool(answers)


def _answer(definition: Definition, call: Call, known: Known) -> list[bytes]:
    """Return the answer to a call, or nothing where there is none."""
    with suppress(InterpretationError):
        return [encode_results(Request("1", call=call), interpret(definition, call, reader=known))]
    return []
