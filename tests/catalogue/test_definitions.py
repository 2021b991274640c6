"""The definitions themselves: sound, at home, and quick."""

from pathlib import Path

from karta_interpreter.definitions.karta import CORE
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import Loaded
from karta_interpreter.languages.jq import queries_in
from karta_interpreter.languages.jq.syntax import FunctionCall, Identity, Index, Literal, Node
from karta_interpreter.languages.jq.syntax.traversal import parts_of
from tests.catalogue.entries import of_all_kinds


@of_all_kinds
def test_catalogue_has_no_findings(loaded: Loaded) -> None:
    assert [str(finding) for finding in loaded.findings] == []


@of_all_kinds
def test_at_home_in_the_folder_of_its_kind(definition: Definition, folder: Path) -> None:
    gvk = definition.gvk
    assert folder.parts == (gvk.group or CORE, gvk.version, gvk.kind)


@of_all_kinds
def test_named_after_its_kind(definition: Definition) -> None:
    gvk = definition.gvk
    assert definition.object_name == f"{(gvk.group or CORE).replace('.', '-')}-{gvk.kind.lower()}-{gvk.version}"


@of_all_kinds
def test_catalogue_expressions_run_in_process(definition: Definition) -> None:
    assert not definition.uses_bounded


@of_all_kinds
def test_no_list_is_read_by_position(definition: Definition) -> None:
    """An element after the last position that is read would be nothing, with success.

    The first element may be a special one, and lists that an expression makes have fixed positions.
    """
    parts = (definition.components, definition.status, definition.annotations, definition.references)
    assert [query.text for query in queries_in(parts) if any(map(_is_later, parts_of(query.node)))] == []


def _is_later(node: Node) -> bool:
    match node:
        case Index(target, Literal(int(position))):
            return position > 0 and not isinstance(target, FunctionCall | Identity)
    return False
