"""How tight each construct of jq binds; the printer's side of the grammar that the parser reads."""

from enum import IntEnum

from msgspec.structs import replace

from karta_interpreter.jq.syntax import (
    Alternative,
    Assign,
    Binary,
    Bind,
    Comma,
    Define,
    Identity,
    Import,
    Index,
    Iterate,
    Label,
    Literal,
    Negate,
    Node,
    Pipe,
    Slice,
    Span,
    Try,
    Variable,
)


class Level(IntEnum):
    """A place in an expression asks for a level; what binds looser needs parentheses there."""

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


_LEVELS = {
    Pipe: Level.QUERY,
    Bind: Level.QUERY,
    Define: Level.QUERY,
    Import: Level.QUERY,
    Label: Level.QUERY,
    Comma: Level.COMMA,
    Alternative: Level.ALTERNATIVE,
    Assign: Level.ASSIGNMENT,
    Negate: Level.PREFIX,
}
_OPERATORS = {
    "or": Level.OR,
    "and": Level.AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), Level.COMPARISON),
    **dict.fromkeys("+-", Level.SUM),
    **dict.fromkeys("*/%", Level.PRODUCT),
}


def level_of(node: Node) -> Level:
    """How tight the text of a node binds."""
    match node:
        case Binary(operator=operator):
            return _OPERATORS[operator]
        case Literal(int() | float() as number) if number < 0:
            return Level.PREFIX
        case Try(handler=Node()):
            return Level.PREFIX
        case Pipe(left, right) if is_optional_step(right) and not isinstance(left, Identity):
            return Level.TERM if level_of(left) is Level.TERM else Level.QUERY
        case _:
            return _LEVELS.get(type(node), Level.TERM)


def is_enclosing(node: Node) -> bool:
    """Whether everything behind the text of a node becomes part of it, as the body of ``def``."""
    return isinstance(node, Bind | Define | Import | Label)


Step = Index | Slice | Iterate


def optional_step(step: Step, span: Span) -> Node:
    """A step with a ``?`` behind it.

    Where the key depends on the input the tree cannot tell the step from what stands before it: there the ``?``
    covers both.
    """
    if isinstance(step.target, Identity) or not has_fixed_key(step):
        return Try(step, span=span)
    alone = replace(step, target=Identity(span=step.span))
    return Pipe(step.target, Try(alone, span=span), span=span)


def is_optional_step(node: Node) -> bool:
    """Whether a node is a single step with a ``?``, which can be written behind another term."""
    match node:
        case Try(Index(Identity()) | Slice(Identity()) | Iterate(Identity()) as step, None):
            return has_fixed_key(step)
        case _:
            return False


def has_fixed_key(step: Step) -> bool:
    """Whether a step takes the same key whatever the input is."""
    match step:
        case Index(key=key):
            return isinstance(key, Literal | Variable)
        case Slice(start=start, stop=stop):
            return all(bound is None or isinstance(bound, Literal | Variable) for bound in (start, stop))
        case _:
            return True


def split_path(node: Node) -> tuple[Node, tuple[str, ...]]:
    """What the fields at the end of a path are fields of, and their names."""
    names: tuple[str, ...] = ()
    while isinstance(node, Index) and isinstance(node.key, Literal) and isinstance(node.key.value, str):
        names = (node.key.value, *names)
        node = node.target
    return node, names
