"""Each definition has a file of facts beside it, and it is complete: docs/developers/facts.md."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.tools.facts import (
    NAME,
    Differences,
    Facts,
    FactsError,
    Immutable,
    ImmutableField,
    RollOut,
    Wait,
    Words,
    Writer,
    Writers,
    facts_of,
    read_facts,
)
from docs.tools.upstreams import upstreams, written_from
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.engine.operations import Operation
from tests.catalogue.entries import PATHS, Entry, answers, entries_of
from tests.support.rows import rows


def test_facts_of_each_kind_are_complete() -> None:
    lacking = [
        f"kartas/{'/'.join(path.parts[-4:-1])}/{NAME} lacks {', '.join(missing)}: see docs/developers/facts.md"
        for path in PATHS
        if (missing := dict.fromkeys(each for entry in entries_of(path) for each in _missing(entry)))
    ]
    assert not lacking, "\n".join(lacking)


def _missing(entry: Entry) -> Iterator[str]:
    """Yield the fields that the facts of a kind lack."""
    assert entry.definition
    gvk = entry.definition.gvk
    facts = facts_of(gvk)
    yield from (name for name in ("statuses", "words", "writers", "immutable") if getattr(facts, name) is None)
    for name, release in written_from(entry.definition):
        if name not in upstreams() or release not in upstreams()[name].releases:
            yield f"upstreams.{name}.releases.{release}"
    if gvk not in catalogue_schemas() and not facts.without_schema:
        yield "without-schema, unless `python -m tests.proofs.drift.schemas` writes it"
    if answers(Operation.INTERPRET_COMPONENT)(entry) and gvk.version not in facts.components:
        yield f"components.{gvk.version}, which `python -m tests.catalogue.component_names` writes"


def test_facts_have_nothing_that_nothing_needs() -> None:
    for path in PATHS:
        facts = read_facts(path.with_name(NAME))
        versions = {entry.loaded.gvk.version for entry in entries_of(path) if entry.loaded.gvk}
        assert facts.components.keys() <= versions, path
        # Karmada's scripts are also about versions that members serve no more.
        others = {name for name, each in facts.versions.items() if each.model_fields_set != {"bundled_scripts"}}
        assert others <= versions - {path.parts[-3]}, path
        for entry in entries_of(path):
            assert entry.loaded.gvk
            assert not (entry.loaded.gvk in catalogue_schemas() and facts_of(entry.loaded.gvk).without_schema), path


@rows(
    ("text", "message"),
    [
        pytest.param(
            "statuses: {}\nword: {}", "/facts.yaml:2: word: Extra inputs are not permitted", id="another field"
        ),
        pytest.param("writers:\n  nobody: a\n  nobody: b", "/facts.yaml:3: the key", id="a field twice"),
        pytest.param("writers: {nobody: [a]}", "/facts.yaml:1: writers.nobody: Input should be", id="another type"),
    ],
)
def test_wrong_field_is_error_with_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / f"{len(text)}" / NAME
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(FactsError) as caught:
        read_facts(path)
    assert message in str(caught.value)


def test_file_without_facts_has_none(tmp_path: Path) -> None:
    assert read_facts(tmp_path / NAME) == Facts()


def test_page_explains_each_field() -> None:
    page = (Path(__file__).parents[2] / "docs" / "developers" / "facts.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"`(?:\w+\[\])?\.?([a-z-]+)`", page))
    for model in (Facts, Words, Writers, Writer, Immutable, ImmutableField, RollOut, Wait, Differences):
        assert {str(field.alias) for field in model.model_fields.values()} <= explained, model
