"""Who could have made the difference? What the member refuses is kept or sent by one rule, in all kinds."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from docs.tools.facts import Immutable, facts_of
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import of_all_kinds
from tests.catalogue.immutable import Refused, refused, steps_of, values_at
from tests.catalogue.knowledge import knowing
from tests.support.rows import rows

_TEMPLATE = "resourcetemplate.karmada.io/uid"


def _pairs() -> Iterator[Any]:
    for pair in refused():
        yield pytest.param(pair, id=pair.name)


@of_all_kinds
def test_facts_say_what_a_member_refuses_with_a_source(definition: Definition) -> None:
    known = facts_of(definition.gvk).immutable or Immutable()
    assert bool(known.none) != bool(known.fields)
    for source in (known.none, *(field.source for field in known.fields)):
        assert not source or any(mark in source for mark in ("/", ".go", ".java", ".yaml")), f"{source} names no file"


@rows(("pair",), _pairs())
def test_member_keeps_what_the_template_cannot_have_changed(pair: Refused) -> None:
    steps = steps_of(pair.field.field)
    ours, theirs = (values_at(obj, steps) for obj in (pair.template, pair.member))
    assert ours != theirs, "the two values differ"
    assert values_at(_retained(pair), steps) == (theirs if pair.field.is_kept else ours)


@rows(("pair",), _pairs())
def test_rest_of_an_edit_arrives(pair: Refused) -> None:
    template: Any = deepcopy(pair.template)
    template["metadata"]["labels"] = {**template["metadata"].get("labels", {}), "team": "a"}
    retained = _retained(pair._replace(template=template))
    assert retained["metadata"]["labels"]["team"] == "a"


@rows(("pair",), _pairs())
def test_member_of_another_template_keeps_its_share_alone(pair: Refused) -> None:
    if (pair.field.is_kept and pair.field.by == "webhook") or "division" in pair.field.kept:
        return
    template, member = (deepcopy(obj) for obj in (pair.template, pair.member))
    for uid, obj in (("1", template), ("2", member)):
        changed: Any = obj["metadata"]
        changed["annotations"] = {**changed.get("annotations", {}), _TEMPLATE: uid}
    steps = steps_of(pair.field.field)
    ours = values_at(template, steps)
    retained = values_at(_retained(pair._replace(template=template, member=member)), steps)
    assert _holds(retained, ours), "what differs goes out, and the author sees the refusal"


def _holds(retained: Any, ours: Any) -> bool:
    """Return whether a value has all of the template's, besides what the member fills into it."""
    if isinstance(ours, dict) and isinstance(retained, dict):
        return all(_holds(retained.get(name), value) for name, value in ours.items())
    if isinstance(ours, list) and isinstance(retained, list):
        return len(ours) == len(retained) and all(map(_holds, retained, ours))
    return bool(retained == ours)


def _retained(pair: Refused) -> Object:
    if not pair.definition.answers(Operation.RETAIN):
        return pair.template
    call = Call(Operation.RETAIN, pair.template, pair.member)
    retained: Object = interpret(knowing(pair.definition, pair.template), call)["retained"]
    return retained
