"""How tight each construct of jq binds; the printer's side of the grammar that the parser reads."""

from enum import IntEnum

from karta_interpreter.jq.grammar.steps import is_optional_step
from karta_interpreter.jq.grammar.syntax import (
    Alternative,
    Assign,
    Binary,
    Bind,
    Comma,
    Define,
    Identity,
    Import,
    Label,
    Literal,
    Negate,
    Node,
    Pipe,
    Try,
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
