"""The words that operators write into a status, each with the answer of InterpretHealth."""

from collections.abc import Iterator
from typing import Any

import pytest

from docs.tools.facts import facts_of
from docs.tools.upstreams import upstreams
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import entries, of_all_kinds
from tests.catalogue.knowledge import knowing
from tests.catalogue.tables import answered, questions
from tests.support.rows import rows


@of_all_kinds
def test_source_of_words_is_in_the_record(definition: Definition) -> None:
    words = facts_of(definition.gvk).words
    if words:
        assert words.source.version in upstreams()[words.source.project].releases.values()


@of_all_kinds
def test_words_of_schema_and_definition_have_answers(definition: Definition) -> None:
    words = facts_of(definition.gvk).words
    if words:
        assert _known(definition, words.phase) - answered(words) == set()


def _known(definition: Definition, phase: str) -> set[str]:
    """Return the words that the schema of the kind lists at the phase, and those that the definition matches."""
    rules, kind = definition.status, catalogue_schemas().get(definition.gvk)
    assert rules
    words = set(_listed(kind.schema, phase)) if kind and phase else set()
    for _, matchers in rules.mappings:
        for matcher in matchers:
            words |= {matcher.phase} - {""}
            for condition in matcher.conditions:
                words |= {condition.type, *([condition.reason] if condition.reason else [])}
    return words


def _listed(schema: Object, path: str) -> Iterator[str]:
    for name in path.strip(".").split("."):
        schema = schema.get("properties", {}).get(name, {})
    yield from filter(None, schema.get("enum", ()))


def _questions() -> Iterator[Any]:
    for entry in entries():
        assert entry.definition
        for name, obj, answer in questions(entry.definition.gvk):
            yield pytest.param(entry.definition, obj, answer, id=f"{entry.definition.gvk}: {name}")


@rows(("definition", "obj", "answer"), _questions())
def test_each_word_has_its_answer(definition: Definition, obj: Object, answer: str) -> None:
    assert _health(definition, obj) == answer, obj


def _health(definition: Definition, obj: Object) -> str:
    try:
        healthy = interpret(knowing(definition, obj), Call(Operation.INTERPRET_HEALTH, obj))["healthy"]
    except InterpretationError:
        return "unknown"
    return "healthy" if healthy else "unhealthy"
