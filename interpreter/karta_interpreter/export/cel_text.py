"""Texts of CEL: operands in parentheses where they need them, literals, and truth values."""

import json
import re
from typing import NamedTuple

from karta_interpreter.languages.jq.syntax import Node

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = "as break const continue else false for function if import in let loop namespace null package return true var"
_RESERVED = frozenset([*_WORDS.split(), "void", "while"])

# How strongly the outermost operator of a text binds.
CHOICE, OR, AND, COMPARISON, SUM, NOT, ATOM = range(7)


class Cel(NamedTuple):
    """A text in CEL; ``binds`` is the strength of its outermost operator, ``boolean`` whether it is true or false.

    ``optional`` is the same value before its default, where there is one; ``default`` is that, if a literal.
    """

    text: str
    binds: int = ATOM
    boolean: bool = False
    optional: str = ""
    default: Node | None = None

    def within(self, binds: int) -> str:
        """Return the text as an operand of an operator of that strength."""
        return self.text if self.binds > binds else f"({self.text})"


def truth(value: Cel) -> Cel:
    """Return whether jq takes a value for true: everything but null and false."""
    return value if value.boolean else Cel(f"!({value.text} in [null, false])", NOT, boolean=True)


def negation(value: Cel) -> Cel:
    """Return the opposite of a truth value."""
    return Cel(f"!{value.within(NOT - 1)}", NOT, boolean=True)


def joined(operator: str, parts: list[Cel]) -> Cel:
    """Return the conjunction or disjunction of truth values; of none it is what changes nothing.

    >>> joined("||", [Cel("a"), Cel("b && c", AND)]).text
    'a || (b && c)'
    """
    if not parts:
        return Cel("true" if operator == "&&" else "false", boolean=True)
    if len(parts) == 1:
        return parts[0]
    # CEL reads && before ||; parentheses spare people the thought.
    return Cel(f" {operator} ".join(part.within(AND) for part in parts), AND if operator == "&&" else OR, boolean=True)


def literal(value: object) -> str:
    """Return a JSON value without objects in CEL.

    >>> literal(["ready", 1, None])
    "['ready', 1, null]"
    """
    if isinstance(value, str):
        # Not in ASCII: JSON writes a character beyond 16 bits as two escapes, which CEL rejects.
        return "'" + json.dumps(value, ensure_ascii=False)[1:-1].replace("'", "\\'").replace('\\"', '"') + "'"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return json.dumps(value)


def optional_field(key: str) -> str:
    """Return the access to a field that may be absent.

    >>> optional_field("phase"), optional_field("a-b")
    ('.?phase', "[?'a-b']")
    """
    return f".?{key}" if is_name(key) else f"[?{literal(key)}]"


def is_name(text: str) -> bool:
    """Return whether a text is an identifier of CEL."""
    return _NAME.fullmatch(text) is not None and text not in _RESERVED
