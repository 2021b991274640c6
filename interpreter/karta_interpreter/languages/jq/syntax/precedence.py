"""How tight each construct of jq binds, used by the parser and by the printer."""

from enum import IntEnum
from typing import Final

from msgspec.structs import replace

from karta_interpreter.base.findings import Span
from karta_interpreter.languages.jq import syntax as ast


class Precedence(IntEnum):
    """The level that a place in an expression requires. A node that binds looser needs parentheses there."""

    QUERY = 0
    COMMA = 1
    ALTERNATIVE = 2
    ASSIGNMENT = 3
    OR = 4
    AND = 5
    COMPARISON = 6
    SUM = 7
    PRODUCT = 8
    PREFIX = 9
    TERM = 10


OPERATORS: Final = {
    "//": Precedence.ALTERNATIVE,
    **dict.fromkeys(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="), Precedence.ASSIGNMENT),
    "or": Precedence.OR,
    "and": Precedence.AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), Precedence.COMPARISON),
    **dict.fromkeys("+-", Precedence.SUM),
    **dict.fromkeys("*/%", Precedence.PRODUCT),
}
UNCHAINED: Final = (Precedence.ASSIGNMENT, Precedence.COMPARISON)
"""Levels with operators that cannot follow each other."""

_LEVELS: Final = {
    **dict.fromkeys((ast.Pipe, ast.Bind, ast.Define, ast.Label), Precedence.QUERY),
    ast.Comma: Precedence.COMMA,
    ast.Alternative: Precedence.ALTERNATIVE,
    ast.Negate: Precedence.PREFIX,
}


def level_of(node: ast.Node) -> Precedence:
    """Return how tight the text of a node binds."""
    match node:
        case ast.Binary(operator) | ast.Assign(operator):
            return OPERATORS[operator]
        # It is written with a sign, as a negation is.
        case ast.Literal(int() | float() as number) if number < 0:
            return Precedence.PREFIX
        case ast.Try(handler=ast.Node()):
            return Precedence.PREFIX
        case ast.Pipe(left, right) if is_optional_step(right) and not isinstance(left, ast.Identity):
            return Precedence.TERM if level_of(left) is Precedence.TERM else Precedence.QUERY
        case _:
            return _LEVELS.get(type(node), Precedence.TERM)


Step = ast.Index | ast.Slice | ast.Iterate


def optional_step(step: Step, span: Span) -> ast.Node:
    """Return a step followed by a ``?``.

    If the key depends on the input, the tree does not separate the step from the text before it. There the ``?`` covers
    both.
    """
    if isinstance(step.target, ast.Identity) or not has_fixed_key(step):
        return ast.Try(step, span=span)
    return ast.Pipe(step.target, ast.Try(replace(step, target=ast.Identity(span=step.span)), span=span), span=span)


def is_optional_step(node: ast.Node) -> bool:
    """Return whether a node is a single step with a ``?``, which can be written after another term."""
    match node:
        case ast.Try(ast.Index(ast.Identity()) | ast.Slice(ast.Identity()) | ast.Iterate(ast.Identity()) as step, None):
            return has_fixed_key(step)
        case _:
            return False


def has_fixed_key(step: Step) -> bool:
    """Return whether the key of a step does not depend on the input."""
    match step:
        case ast.Index(key=key):
            return isinstance(key, ast.Literal | ast.Variable)
        case ast.Slice(start=start, stop=stop):
            return all(bound is None or isinstance(bound, ast.Literal | ast.Variable) for bound in (start, stop))
        case _:
            return True


def split_path(node: ast.Node) -> tuple[ast.Node, tuple[str, ...]]:
    """Return the base of the fields at the end of a path, and the names of these fields."""
    names: tuple[str, ...] = ()
    while isinstance(node, ast.Index) and isinstance(node.key, ast.Literal) and isinstance(node.key.value, str):
        names = (node.key.value, *names)
        node = node.target
    return node, names
