"""A broken object of a member can always be repaired: Retain has an answer, whatever the member's object says."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import pytest

from karta_interpreter.base.errors import ExportError, InterpretationError, LuaError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS
from karta_interpreter.export.customization import script_of
from karta_interpreter.export.traits import has_empty
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import answers, applies
from tests.catalogue.knowledge import knowing
from tests.catalogue.test_robustness import JUNK, places
from tests.proofs.conformance.changed_calls import with_exact_numbers, without_empty, without_nulls
from tests.support.examples import CHANGES
from tests.support.scripts import answer

_Asked: TypeAlias = Callable[[Object, Object], JSON]
"""Answers Retain about a template and a member's object; raises InterpretationError."""


def _answer(definition: Definition, desired: Object, observed: Object) -> JSON:
    call = Call(Operation.RETAIN, desired, observed=observed)
    return interpret(knowing(definition, desired), call)["retained"]


def _templates(objects: Sequence[Object], ask: _Asked) -> Iterator[tuple[Object, Object]]:
    """Yield templates that have an answer, as they are and with the label, and the member's object of each."""
    for obj in objects:
        labels = edit.get(obj, ("metadata", "labels"))
        is_map = isinstance(labels, dict | None) and isinstance(obj.get("metadata"), dict)
        labelled = (edit.set_value(obj, ("metadata", "labels"), {**(labels or {}), RETAIN_REPLICAS: "true"}),)
        for desired in (obj, *(labelled if is_map else ())):
            try:
                ask(desired, obj)
            except InterpretationError:
                continue
            yield desired, obj


def _broken(definition: Definition, objects: Sequence[Object], ask: _Asked) -> Iterator[tuple[Object, Object, str]]:
    """Yield templates, and objects of members in which one place has another JSON value."""
    chance = random.Random(definition.name)  # noqa: S311 - the same changes every time
    pairs = list(_templates(objects, ask))
    for _ in range(CHANGES if pairs else 0):
        desired, observed = chance.choice(pairs)
        found = [place for place in places(observed) if place[0] not in ("apiVersion", "kind")]
        if found:
            place, value = chance.choice(found), chance.choice(JUNK)
            yield desired, edit.set_value(observed, place, value), f"{value!r} at {place}"


# Scripts of the catalogue are their authors'.
@applies(answers(Operation.RETAIN, scripted=False))
def test_retain_answers_beside_broken_member(definition: Definition, objects: Sequence[Object]) -> None:
    failed: list[str] = []
    for desired, observed, change in _broken(definition, objects, partial(_answer, definition)):
        try:
            retained = _answer(definition, desired, observed)
        except InterpretationError as error:
            failed.append(f"{change}: {error}")
        else:
            with suppress(InterpretationError):  # a template that is as broken as the member
                assert _answer(definition, retained, observed) == retained, "twice is once"
    assert not failed, "\n".join(failed)


@pytest.mark.slow
@applies(answers(Operation.RETAIN, scripted=False))
def test_exported_retain_answers_beside_broken_member(definition: Definition, objects: Sequence[Object]) -> None:
    try:
        script = Script(Operation.RETAIN, script_of(definition, Operation.RETAIN), definition.name)
    except ExportError:
        return

    def both(desired: Object, observed: Object) -> JSON:
        retained = _answer(definition, desired, observed)
        try:
            return retained, answer([script], object=desired, observed=observed)["retained"]
        except LuaError as error:
            raise InterpretationError(str(error)) from error

    for desired, observed, change in _broken(definition, objects, both):
        # Lua has one value for an empty list and an empty object, none for null, and prints large numbers otherwise.
        if change.startswith(("[", "None", "1e+300", str(2**63))) or (change.startswith("{") and has_empty(desired)):
            continue
        expected, retained = both(desired, observed)
        assert _plain(retained) == _plain(expected), change


def _plain(value: JSON) -> JSON:
    """Return what Lua can tell of a value: neither nulls, nor an empty list from an empty object, nor large numbers."""
    return without_empty(without_nulls(with_exact_numbers(value)))
