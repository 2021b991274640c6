"""What definitions were written from: the annotation, the comments and the record name the same projects."""

import re
from collections.abc import Iterator
from itertools import takewhile

from docs.tools.upstreams import upstreams, written_from
from karta_interpreter.definitions.karta.definition import Definition
from tests.catalogue.entries import entries, of_all_kinds

_RELEASE = r"v?\d[\w.+-]*\w"
_NAMES = "|".join(sorted(map(re.escape, upstreams()), key=len, reverse=True))
_NAMED = re.compile(rf"\b({_NAMES}) ({_RELEASE}(?:, {_RELEASE})*(?: and {_RELEASE})?)\b")
_OWNED = re.compile(r"\bof ([a-z][\w-]*/[\w.-]*\w)\b")
"""A file "of" a repository."""


def _comment(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return " ".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))


def _head(text: str) -> str:
    return _comment("\n".join(takewhile(lambda line: line.startswith("#"), text.splitlines())))


def _named(comment: str) -> Iterator[tuple[str, str]]:
    for project, releases in _NAMED.findall(comment):
        for release in re.findall(_RELEASE, releases):
            yield project, release


@of_all_kinds
def test_head_begins_with_project_that_serves_kind(definition: Definition, text: str) -> None:
    serving = definition.annotations.written_from.partition(",")[0]
    assert serving
    assert _head(text).startswith(f"Written from {serving}")


@of_all_kinds
def test_head_names_no_release_that_annotation_leaves_out(definition: Definition, text: str) -> None:
    assert set(_named(_head(text))) <= set(written_from(definition))


def _recorded(definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield what a definition was written from, as far as it is in the record: test_facts.py names the rest."""
    return (each for each in written_from(definition) if each[0] in upstreams())


@of_all_kinds
def test_no_file_of_a_repository_that_annotation_leaves_out(definition: Definition, text: str) -> None:
    repositories = {upstreams()[name].repository for name, _ in _recorded(definition)}
    assert set(_OWNED.findall(_comment(text))) <= repositories


@of_all_kinds
def test_comments_tell_which_files_of_each_release(definition: Definition, text: str) -> None:
    comment = _comment(text)
    named, owned = set(_named(comment)), set(_OWNED.findall(comment))
    silent = {
        each for each in _recorded(definition) if each not in named and upstreams()[each[0]].repository not in owned
    }
    assert not silent


def test_record_has_no_release_that_no_definition_names() -> None:
    named = {each for entry in entries() if entry.definition for each in written_from(entry.definition)}
    recorded = {(name, release) for name, upstream in upstreams().items() for release in upstream.releases}
    assert recorded <= named


def test_crds_are_of_a_module_or_have_a_reason() -> None:
    for upstream in upstreams().values():
        assert bool(upstream.conformance) <= bool(upstream.module)
        assert not upstream.crds or upstream.conformance or upstream.without, upstream.name
