"""Walking a syntax tree, whatever its nodes are."""

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

from interpreter.query.grammar.syntax import ArrayPattern, Entry, Node, ObjectPattern, Span


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below one, in the order of the text; keys inside of patterns are among them."""
    for name in _fields(type(node)):  # type: ignore[arg-type]  # mypy asks whether nodes, not their types, have a hash
        yield from _nodes(getattr(node, name))


@cache
def _fields(kind: type[Node]) -> tuple[str, ...]:
    """What of a kind of node may hold nodes."""
    return tuple(field.name for field in fields(kind) if field.type not in (str, Span))


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
