"""Walking a syntax tree, whatever its nodes are."""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

from msgspec import Struct

from karta_interpreter.jq.grammar.syntax import (
    Alternative,
    ArrayPattern,
    Binary,
    Entry,
    Identity,
    Literal,
    Node,
    Object,
    ObjectPattern,
)

_IDENTITY: Final = Identity()
_SHARED: Final = 512


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below one, in the order of the text; keys inside of patterns are among them."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        else:
            yield from _nodes(value)


@cache
def _fields(kind: type[Node]) -> tuple[str, ...]:
    """What of a kind of node may hold nodes."""
    return tuple(name for name in kind.__match_args__ if kind.__annotations__[name] is not str)


def is_deeper(node: Node, limit: int) -> bool:
    """Whether the longest way down from a node passes more than ``limit`` nodes, itself among them.

    Does not recurse, so that it can guard everything that does.
    """
    level = [node]
    for _ in range(limit):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return False
    return True


def is_merge(node: Node) -> bool:
    """Whether a node is a product that has an object on one side by its form, which merges two objects.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> is_merge(parse("(.a // {}) * .b")), is_merge(parse(".a * .b"))
    (True, False)
    """
    return isinstance(node, Binary) and node.operator == "*" and (_is_object(node.left) or _is_object(node.right))


def _is_object(node: Node) -> bool:
    match node:
        case Object():
            return True
        case Alternative(_, right):
            return _is_object(right)
        case _:
            return is_merge(node)


def without_places(node: Node) -> Node:
    """The same tree for keeping: two thirds smaller without its places in the text, and with leaves that others have.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> tree = parse(".a")
    >>> tree.span, without_places(tree).span, without_places(tree) == tree
    (Span(start=0, end=2), Span(start=0, end=0), True)
    """
    kept: Node = _without_places(node)
    return kept


def _without_places(part: Any) -> Any:  # noqa: ANN401 - a node, or what stands in one
    kind = type(part)
    if kind is tuple:
        return tuple([_without_places(each) for each in part])
    if kind is Identity:
        return _IDENTITY
    if kind is Literal and type(part.value) is str:
        return _text(part.value)
    if isinstance(part, Struct):
        return kind(*[_without_places(getattr(part, name)) for name in kind.__match_args__])
    return part


@lru_cache(_SHARED)
def _text(value: str) -> Literal:
    return Literal(value)


def _nodes(value: object) -> Iterator[Node]:
    match value:
        case Node():
            yield value
        case tuple():
            for item in value:
                yield from _nodes(item)
        case Entry(key, inner):
            yield from (key, inner)
        case ArrayPattern(elements):
            yield from _nodes(elements)
        case ObjectPattern(entries):
            yield from _nodes(entries)
