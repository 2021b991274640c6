"""Who else writes into an object of a member, and that Karmada and each of them come to rest."""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from docs.tools.facts import Writer, Writers, facts_of
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import entries, of_all_kinds
from tests.catalogue.knowledge import knowing
from tests.catalogue.tables import leaves, patched, with_version
from tests.catalogue.writers import ORACLES
from tests.support.rows import rows


@of_all_kinds
def test_definition_says_who_writes_with_a_source(definition: Definition, text: str) -> None:
    head = text.partition("\napiVersion:")[0].replace("\n# ", " ")
    paragraphs = [line for line in head.splitlines() if re.match(r"#? ?(Who|Nobody) writes to ", line.lstrip("# "))]
    assert len(paragraphs) == 1, "the head of a definition has a paragraph with who writes to an object in a member"
    known = facts_of(definition.gvk).writers or Writers()
    sources = [paragraphs[0], known.nobody, *(writer.source for writer in known.writers)]
    for source in filter(None, sources):
        assert re.search(r"\w/[\w{]|\.(go|java|py|md)\b", source), f"{source} names no file"


def _meetings() -> Iterator[Any]:
    for entry in entries():
        assert entry.definition
        known = facts_of(entry.definition.gvk).writers or Writers()
        for writer in known.writers:
            for number, template in enumerate(known.templates if writer.templates is None else writer.templates):
                named = f"{entry.definition.gvk}: {writer.writer}, template {number}"
                made = with_version(template, entry.definition.gvk)
                yield pytest.param(entry.definition, writer, made, id=named)


@rows(("definition", "writer", "template"), _meetings())
def test_writer_has_nothing_left_to_write(definition: Definition, writer: Writer, template: Object) -> None:
    write = _function(writer)
    member = write(template)
    assert member != template or writer.function, "a writer who writes nothing shows nothing"
    retained = retained_by(definition, template, member)
    if writer.fights:
        assert write(retained) != retained, "it is no fight any more"
    elif writer.updates:
        assert write(retained) == member, "what Karmada's update lacks comes back with it, so nothing changes"
    elif writer.once:
        assert retained == member
    else:
        assert write(retained) == retained


@rows(("definition", "writer", "template"), _meetings())
def test_template_keeps_what_it_sets_on_purpose(definition: Definition, writer: Writer, template: Object) -> None:
    """A value that the writer only fills in is the template's, and one that the writer owns is the member's."""
    if writer.fights or writer.updates:
        return
    write = _function(writer)
    member = write(template)
    before = dict(leaves(template))
    for path, value in leaves(member):
        # What a list has more of is no value that a template could set alone.
        if path in before or any(isinstance(step, int) for step in path):
            continue
        if ".".join(map(str, path)) in writer.conflicts:
            continue
        purposeful = patched(template, _nested(path, _other(value)))
        assert isinstance(purposeful, dict)
        is_fixed = writer.immutable and path[0] == "spec"
        left = value if is_fixed else _at(write(purposeful), path)
        assert _at(retained_by(definition, purposeful, member), path) == left, path


def _function(writer: Writer) -> Callable[[Object], Object]:
    if writer.function:
        oracle = ORACLES[writer.function]
        return lambda obj: oracle(deepcopy(obj))

    def write(obj: Object) -> Object:
        result = patched(obj, writer.sets, over=False)
        result = patched(result, writer.owns)
        assert isinstance(result, dict)
        return result

    return write


def retained_by(definition: Definition, template: Object, member: Object) -> Object:
    """Return what Karmada writes: it puts the member's labels and annotations into the template before it asks."""
    desired = deepcopy(template)
    for name in ("labels", "annotations"):
        theirs, ours = member["metadata"].get(name), desired["metadata"].get(name)
        if theirs:
            desired["metadata"][name] = {**theirs, **(ours or {})}
    if not definition.answers(Operation.RETAIN):
        return desired
    retained: Object = interpret(knowing(definition, desired), Call(Operation.RETAIN, desired, member))["retained"]
    return retained


def _other(value: JSON) -> JSON:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}-mine"
    return value


def _nested(path: tuple[str | int, ...], value: JSON) -> Any:
    for name in reversed(path):
        value = {str(name): value}
    return value


def _at(value: Any, path: tuple[str | int, ...]) -> JSON:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else value[step]
    result: JSON = value
    return result
