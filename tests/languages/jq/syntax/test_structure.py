"""Nodes are values: which of them are equal."""

import pytest

from karta_interpreter.base.findings import Span
from karta_interpreter.languages.jq.syntax import (
    Entry,
    FunctionCall,
    Identity,
    Index,
    Literal,
    Negate,
    Node,
    RecursiveDescent,
)
from tests.support.rows import rows

HERE, THERE = Span(0, 1), Span(4, 9)


@rows(
    ("left", "right", "equal"),
    [
        pytest.param(Identity(), Identity(), True, id="nothing in them"),
        pytest.param(Identity(span=HERE), Identity(span=THERE), True, id="the place is not a part of a node"),
        pytest.param(
            Index(Identity(span=HERE), Literal("a")), Index(Identity(), Literal("a", span=THERE)), True, id="nor below"
        ),
        pytest.param(Identity(), RecursiveDescent(), False, id="another kind, and nothing in them"),
        pytest.param(FunctionCall("a"), Literal("a"), False, id="another kind, and the same in them"),
        pytest.param(Negate(Literal(1)), Negate(Literal(2)), False, id="a part differs"),
        pytest.param(Index(Identity(), Literal("a")), Index(Literal("a"), Identity()), False, id="the order counts"),
        pytest.param(Literal("a"), "a", False, id="a value is not a node"),
    ],
)
def test_nodes_are_equal_when_their_parts_are(left: Node, right: object, equal: bool) -> None:
    assert (left == right) is equal
    assert (left != right) is not equal
    assert len({left, right}) == (1 if equal else 2)


def test_node_repr_shows_its_parts() -> None:
    node = Index(Identity(span=HERE), Literal("a", span=THERE), span=HERE)
    assert repr(node) == "Index(target=Identity(), key=Literal(value='a'))"
    assert repr(Entry(Literal("a"), node.target)) == "Entry(key=Literal(value='a'), value=Identity())"


@pytest.mark.parametrize("name", ["target", "span"])
def test_node_is_frozen(name: str) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        setattr(Index(Identity(), Literal("a")), name, Identity())
