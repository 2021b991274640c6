"""Python for values that take no time, and for conditions and numbers computed from them.

An *atom* is the name of a variable, the name of a constant, or a literal.
"""

import re
from typing import Final

from karta_interpreter.languages.jq.compiled.values import EXACT

_SAFE: Final = 2**52
_INTEGER: Final = re.compile(r"-?[0-9]{1,15}")
MERGE: Final = "merge"
"""The operator of a product of objects."""

_FUNCTIONS: Final = {"+": "add", "-": "subtract", "*": "multiply", MERGE: "merge", "/": "divide", "%": "modulo"}
_ORDERS: Final = {
    "<": "less({left}, {right})",
    ">": "less({right}, {left})",
    "<=": "not less({right}, {left})",
    ">=": "not less({left}, {right})",
}


def is_name(atom: str) -> bool:
    """Return whether an atom is a variable or a named constant."""
    return atom.isidentifier() and atom[0].islower()


def truth(atom: str) -> str:
    """Return Python that is true if a value is true to jq."""
    return f"{atom} is not None and {atom} is not False"


def untruth(atom: str) -> str:
    """Return Python that is true if a value is null or false."""
    return f"{atom} is None or {atom} is False"


def is_comparison(operator: str) -> bool:
    """Return whether the result of an operator is a boolean for all operands."""
    return operator in ("==", "!=") or operator in _ORDERS


def arithmetic(operator: str, left: str, right: str, result: str) -> str:
    """Return Python for ``left operator right``. ``result`` is the variable that will hold it."""
    general = f"{_FUNCTIONS[operator]}({left}, {right})"
    variables = [atom for atom in (left, right) if not is_integer(atom)]
    integers = "".join(f"type({atom}) is int and " for atom in variables)
    # `type(...) is int` excludes booleans. Python would compute with them.
    if operator == "*":
        return f"{result} if {integers}-{EXACT} <= ({result} := {left} * {right}) <= {EXACT} else {general}"
    if operator in ("+", "-") and len(variables) == 1:
        # If the result is that small, both operands are. A larger operand would have been rounded before.
        return f"{result} if {integers}-{_SAFE} < ({result} := {left} {operator} {right}) < {_SAFE} else {general}"
    return general


def comparison(operator: str, left: str, right: str) -> str:
    """Return Python for a comparison. The left side has a name, or both sides are named or literals."""
    if operator in _ORDERS:
        general = _ORDERS[operator].format(left=left, right=right)
        return f"{left} {operator} {right} if type({left}) is int else {general}" if is_integer(right) else general
    return _equality(left, right) if operator == "==" else f"not ({_equality(left, right)})"


def _equality(left: str, right: str) -> str:
    # Each of these is a single object. `==` would find that 1 is true.
    if right in ("None", "True", "False"):
        return f"{left} is {right}"
    if is_text(right):
        return f"{left} == {right}"
    if right in ("[]", "{}"):
        return f"type({left}) is {'list' if right == '[]' else 'dict'} and not {left}"
    general = f"equal({left}, {right})"
    return f"{left} == {right} if type({left}) is int else {general}" if is_integer(right) else general


def is_integer(atom: str) -> bool:
    """Return whether an atom is a small integer as it is written."""
    return _INTEGER.fullmatch(atom) is not None


def is_text(atom: str) -> bool:
    """Return whether an atom is a text as it is written."""
    return atom[0] in "'\""
