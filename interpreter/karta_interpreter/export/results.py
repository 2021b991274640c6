"""Parts of an expression that only become its result, and so need less Lua."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from karta_interpreter.export.traits import is_present
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.traversal import is_merge, parts_of, terms_of

_AMOUNTS: Final = ("requests", "limits")
"""The fields of an object in which a null means 0."""


class Results(NamedTuple):
    """``objects``: a null field of them may be absent; ``counts``: an error for anything but numbers and texts."""

    objects: frozenset[Node] = frozenset()
    counts: frozenset[Node] = frozenset()


def results_of(node: Node, *, is_count: bool) -> Results:
    """Return the parts of an expression that become its result; a count is a number, a text of digits or an error.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> len(results_of(parse("{a: {b: .c}} | {d: ., e: {f: .g}}"), is_count=False).objects)
    2
    >>> len(results_of(parse("[.a // 1, .b // 1] | max"), is_count=True).counts)
    1
    """
    counts = [*_counts(node)] if is_count else []
    return Results(_found_nowhere_else([*_objects(node)], node), _found_nowhere_else(counts, node))


def _found_nowhere_else(found: Sequence[Node], whole: Node) -> frozenset[Node]:
    """Return the nodes of which a whole has no equal ones next to those that were found."""
    if not found:
        return frozenset()
    every = Counter(parts_of(whole))
    return frozenset(node for node, count in Counter(found).items() if every[node] == count)


def _objects(node: Node) -> Iterator[Node]:
    match node:
        case ast.Object(entries):
            yield node
            for entry in entries:
                if isinstance(entry.key, ast.Literal) and entry.key.value not in _AMOUNTS:
                    yield from _objects(entry.value)
        case ast.Array(ast.Node() as body) | ast.Pipe(_, body) | ast.Try(body, None):
            yield from _objects(body)
        case ast.Comma(left, right) | ast.Alternative(left, right):
            yield from _objects(left)
            yield from _objects(right)
        case ast.If(branches, otherwise):
            for then in (*(then for _, then in branches), *([otherwise] if otherwise else [])):
                yield from _objects(then)


def _counts(node: Node) -> Iterator[Node]:
    match node:
        case ast.Pipe(ast.Array(ast.Node() as body), ast.Call("max" | "min" | "add" as name, ())):
            terms = terms_of(body)
            if all(map(is_present, terms)):
                yield node
            for term in terms if name != "add" else ():
                yield from _counts(term)
        case ast.Alternative(left, right):
            # The largest of some booleans is not an error there; a sum of several is.
            if isinstance(left, ast.Pipe) and left.right == ast.Call("add"):
                yield from _counts(left)
            yield from _counts(right)
        case ast.Pipe(_, right):
            yield from _counts(right)
        case ast.If(branches, otherwise):
            for then in (*(then for _, then in branches), *([otherwise] if otherwise else [])):
                yield from _counts(then)
        case ast.Binary("*", left, right) if not is_merge(node):
            yield from _counts(left)
            yield from _counts(right)
