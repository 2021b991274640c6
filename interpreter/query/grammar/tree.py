"""Walking a syntax tree, whatever its nodes are."""

from collections.abc import Iterator
from dataclasses import fields

from interpreter.query.grammar.syntax import ArrayPattern, Entry, Node, ObjectPattern


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below one, in the order of the text; keys inside of patterns are among them."""
    for field in fields(node):
        yield from _nodes(getattr(node, field.name))


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
