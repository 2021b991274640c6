"""Trees as a whole."""

from collections.abc import Iterator

import pytest
from hypothesis import given

from karta_interpreter.jq.syntax import NOWHERE, Literal, Node
from karta_interpreter.jq.syntax.parser import parse
from karta_interpreter.jq.syntax.printer import render
from karta_interpreter.jq.syntax.traversal import children, without_places
from tests.jq.syntax.trees import trees


def below(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from below(child)


@given(trees)
def test_a_tree_without_places_is_the_same_tree(node: Node) -> None:
    placed = parse(render(node))
    kept = without_places(placed)
    assert kept == placed
    assert repr(kept) == repr(placed)  # which tells 1 from true and from 1.0
    assert {each.span for each in below(kept)} == {NOWHERE}


def test_leaves_are_shared_between_trees() -> None:
    first, second = (list(below(without_places(parse(text)))) for text in (".spec.replicas", '.["spec"] // .x'))
    assert {id(node) for node in first if node == Literal("spec")} == {
        id(node) for node in second if node == Literal("spec")
    }


@pytest.mark.parametrize("text", ["[1, true, 1.5, null, false, 0]", '[true, 1, "1", null, "null"]'])
def test_constants_that_are_equal_in_python_stay_apart(text: str) -> None:
    assert repr(without_places(parse(text))) == repr(parse(text))
