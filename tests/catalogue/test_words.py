"""The words that operators write into a status, each with the answer of InterpretHealth: see words/README.md."""

from collections.abc import Iterator
from typing import Any

import pytest

from docs.tools.upstreams import upstreams
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import entries, of_all_kinds
from tests.catalogue.knowledge import knowing
from tests.catalogue.tables import Table, answered, is_undone, kind_of, questions, table_of, undone
from tests.support.rows import rows


@of_all_kinds
def test_kind_has_a_table_of_words_or_stands_in_a_list(definition: Definition) -> None:
    has_table = table_of("words", definition.gvk) is not None
    assert has_table != is_undone("words", definition.gvk), "see tests/catalogue/words/README.md"


def test_lists_of_kinds_without_words_name_kinds_of_the_catalogue() -> None:
    kinds = {kind_of(definition.gvk) for definition, _ in _all()}
    assert undone("words") - kinds == set()


@of_all_kinds
def test_source_of_words_is_in_the_record(definition: Definition) -> None:
    table = table_of("words", definition.gvk)
    if table is not None:
        source = table["source"]
        assert source["version"] in upstreams()[source["project"]].releases.values()


@of_all_kinds
def test_words_of_schema_and_definition_have_answers(definition: Definition) -> None:
    table = table_of("words", definition.gvk)
    if table is not None:
        assert _known(definition, table) - answered(table) == set()


def _known(definition: Definition, table: Table) -> set[str]:
    """Return the words that the schema of the kind lists at the phase, and those that the definition matches."""
    rules, kind = definition.status, catalogue_schemas().get(definition.gvk)
    assert rules
    words = set(_listed(kind.schema, table["phase"])) if kind and "phase" in table else set()
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


def _all() -> Iterator[tuple[Definition, Table | None]]:
    for entry in entries():
        assert entry.definition
        yield entry.definition, table_of("words", entry.definition.gvk)


def _questions() -> Iterator[Any]:
    for definition, table in _all():
        for name, obj, answer in questions(table, definition.gvk) if table else ():
            yield pytest.param(definition, obj, answer, id=f"{definition.gvk}: {name}")


@rows(("definition", "obj", "answer"), _questions())
def test_each_word_has_its_answer(definition: Definition, obj: Object, answer: str) -> None:
    assert _health(definition, obj) == answer, obj


def _health(definition: Definition, obj: Object) -> str:
    try:
        healthy = interpret(knowing(definition, obj), Call(Operation.INTERPRET_HEALTH, obj))["healthy"]
    except InterpretationError:
        return "unknown"
    return "healthy" if healthy else "unhealthy"
