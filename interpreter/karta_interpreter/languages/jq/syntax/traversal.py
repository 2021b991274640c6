"""Walking a syntax tree, and deriving trees from it."""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Final

from msgspec import Struct

from karta_interpreter.base.k8s.values import Path
from karta_interpreter.languages.jq import syntax as ast

_NULL: Final = ast.Literal(None)
_GROUPS: Final = (tuple, Struct)  # a union of types takes as long to make as a node takes to visit


def children(node: ast.Node) -> Iterator[ast.Node]:
    """Yield the nodes directly below one, in the order of the text. Keys inside of patterns are among them."""
    for name in type(node).__match_args__:
        value = getattr(node, name)
        if isinstance(value, ast.Node):
            yield value
        elif isinstance(value, _GROUPS):
            yield from nodes_in(value)


def nodes_in(value: object) -> Iterator[ast.Node]:
    """Yield the nodes in a part of a node, or in a pattern: there they are the keys."""
    match value:
        case ast.Node():
            yield value
        case tuple():
            for item in value:
                yield from nodes_in(item)
        case ast.Entry(key, inner):
            yield from (key, inner)
        case ast.ArrayPattern(parts) | ast.ObjectPattern(parts):
            yield from nodes_in(parts)


def parts_of(node: ast.Node, below: Callable[[ast.Node], Iterable[ast.Node]] = children) -> Iterator[ast.Node]:
    """Yield a node and all below it, in the order of the text. ``below`` gives the nodes directly below one."""
    waiting = [node]
    while waiting:  # without recursion, which would pass every node through all nodes above it
        current = waiting.pop()
        yield current
        waiting += reversed([*below(current)])


def terms_of(node: ast.Node) -> list[ast.Node]:
    """Return the parts of a list, ``a, b, c``, or the node itself if it is not a list."""
    parts = parts_of(node, lambda part: (part.left, part.right) if isinstance(part, ast.Comma) else ())
    return [part for part in parts if not isinstance(part, ast.Comma)]


def is_deeper(node: ast.Node, limit: int) -> bool:
    """Return whether the longest way down from a node passes more than ``limit`` nodes, itself among them.

    Does not recurse, so that it can guard everything that does.
    """
    level = [node]
    for _ in range(limit):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return False
    return True


def is_merge(node: ast.Node) -> bool:
    """Return whether a node is a product that has an object on one side by its form, which merges two objects.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> is_merge(parse("(.a // {}) * .b")), is_merge(parse(".a * .b"))
    (True, False)
    """
    return isinstance(node, ast.Binary) and node.operator == "*" and (_is_object(node.left) or _is_object(node.right))


def _is_object(node: ast.Node) -> bool:
    match node:
        case ast.Object():
            return True
        case ast.Alternative(_, right):
            return _is_object(right)
        case _:
            return is_merge(node)


def variables_in(node: ast.Node) -> frozenset[str]:
    """Return the names of all variables in an expression, free and bound."""
    return frozenset(part.name for part in parts_of(node) if isinstance(part, ast.Variable))


def field_of(node: ast.Node, *names: str) -> ast.Node:
    """Return the expression of a field, or of a nested field, in each output of an expression that returns objects.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> from karta_interpreter.languages.jq.syntax.printer import render
    >>> render(field_of(parse(".pods | {metadata, spec: (.spec + {containers: []})}"), "spec", "tolerations"))
    '.pods | .spec.tolerations'
    """
    return reduce(_field, names, node)


def owner_of(node: ast.Node) -> ast.Node | None:
    """Return the expression of the objects that contain the field an expression returns.

    Returns None if the expression may return other values.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> from karta_interpreter.languages.jq.syntax.printer import render
    >>> render(owner_of(parse(".tasks[] | select(.on) | .size")))
    '.tasks[] | select(.on) | .'
    """
    match node:
        case ast.Pipe(left, right):
            owner = owner_of(right)
            return None if owner is None else ast.Pipe(left, owner)
        case ast.Index(target, ast.Literal(str())):
            return target
    return None


def is_computed(node: ast.Node) -> bool:
    """Return whether no output of an expression can be the value at a place.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> is_computed(parse(".a | [.b]")), is_computed(parse("if .a then null else .b end"))
    (True, False)
    """
    match node:
        case ast.Pipe(_, right):
            return is_computed(right)
        case ast.If(branches, otherwise):
            return otherwise is not None and all(map(is_computed, (otherwise, *(then for _, then in branches))))
    return isinstance(node, ast.Array | ast.Binary | ast.Literal | ast.Negate | ast.Object | ast.Text)


def _field(node: ast.Node, name: str) -> ast.Node:
    match node:
        case ast.Pipe(left, right):
            return ast.Pipe(left, _field(right, name))
        case ast.If(branches, otherwise):
            fields = tuple((condition, _field(then, name)) for condition, then in branches)
            return ast.If(fields, _field(ast.Identity() if otherwise is None else otherwise, name))
        case ast.Object(entries) if _are_named(entries):
            return next((entry.value for entry in reversed(entries) if entry.key == ast.Literal(name)), _NULL)
        case ast.Binary("+", left, ast.Object(entries) as right) if _are_named(entries):
            return _field(right if _has(entries, name) else left, name)
        case ast.Alternative(left, ast.Object(entries)) if _are_named(entries) and not _has(entries, name):
            return _field(left, name)
        case ast.Literal(None):
            return node
    return ast.Index(node, ast.Literal(name))


def _has(entries: tuple[ast.Entry, ...], name: str) -> bool:
    return any(entry.key == ast.Literal(name) for entry in entries)


def _are_named(entries: tuple[ast.Entry, ...]) -> bool:
    return all(isinstance(entry.key, ast.Literal) for entry in entries)


def plain_path(node: ast.Node) -> Path | None:
    """Return the path if a node only reads fields of its input, None for any other node."""
    match node:
        case ast.Identity():
            return ()
        case ast.Index(target, ast.Literal(str(key))):
            path = plain_path(target)
            return None if path is None else (*path, key)
    return None


def fixed_paths(node: ast.Node) -> list[Path] | None:
    """Return the path of each output if a node only reads fields of its input, some fields of one or several.

    It is None for any other node.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> fixed_paths(parse(".spec | .suspend, .replicas")), fixed_paths(parse(".spec.groups[]"))
    ([('spec', 'suspend'), ('spec', 'replicas')], None)
    """
    match node:
        case ast.Comma():
            several = [fixed_paths(part) for part in terms_of(node)]
            return None if None in several else [path for paths in several for path in paths or ()]
        case ast.Pipe(left, right):
            starts, ends = fixed_paths(left), fixed_paths(right)
            return None if starts is None or ends is None else [(*start, *end) for start in starts for end in ends]
    path = plain_path(node)
    return None if path is None else [path]
