"""Python for operators, with what is common computed in place.

Small integers are: replicas, hosts and generations. Everything else goes to
`karta_interpreter.jq.plain.arithmetic` and `karta_interpreter.jq.plain.values`.
"""

import re
from typing import Final

_EXACT: Final = 2**53
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


def is_comparison(operator: str) -> bool:
    """Whether an operator gives a boolean, whatever it is given."""
    return operator in ("==", "!=") or operator in _ORDERS


def arithmetic(operator: str, left: str, right: str, result: str) -> str:
    """Python for ``left operator right``; ``result`` is the variable that will hold it.

    >>> arithmetic("*", "t1", "2", "t2")
    't2 if type(t1) is int and -9007199254740992 <= (t2 := t1 * 2) <= 9007199254740992 else multiply(t1, 2)'
    """
    general = f"{_FUNCTIONS[operator]}({left}, {right})"
    variables = [atom for atom in (left, right) if not is_integer(atom)]
    integers = "".join(f"type({atom}) is int and " for atom in variables)
    if operator == "*":
        return f"{result} if {integers}-{_EXACT} <= ({result} := {left} * {right}) <= {_EXACT} else {general}"
    if operator in ("+", "-") and len(variables) == 1:
        # Where the result is that small both operands are; a larger one would have been rounded before.
        return f"{result} if {integers}-{_SAFE} < ({result} := {left} {operator} {right}) < {_SAFE} else {general}"
    return general


def comparison(operator: str, left: str, right: str) -> str:
    """Python for a comparison; the left side has a name, or both are named or literals.

    >>> comparison("!=", "t1", "None"), comparison("==", "t1", "'x'"), comparison(">", "t1", "0")
    ('t1 is not None', "t1 == 'x'", 't1 > 0 if type(t1) is int else less(0, t1)')
    """
    if operator in _ORDERS:
        general = _ORDERS[operator].format(left=left, right=right)
        return f"{left} {operator} {right} if type({left}) is int else {general}" if is_integer(right) else general
    if operator == "==":
        return _equality(left, right)
    inverse = f"{left} is not {right}" if right in ("None", "True", "False") else ""
    return inverse or (f"{left} != {right}" if is_text(right) else f"not ({_equality(left, right)})")


def _equality(left: str, right: str) -> str:
    if right in ("None", "True", "False"):
        return f"{left} is {right}"
    if is_text(right):
        return f"{left} == {right}"
    if right in ("[]", "{}"):
        return f"type({left}) is {'list' if right == '[]' else 'dict'} and not {left}"
    general = f"equal({left}, {right})"
    return f"{left} == {right} if type({left}) is int else {general}" if is_integer(right) else general


def is_integer(atom: str) -> bool:
    """Whether an atom is a small integer as it is written."""
    return _INTEGER.fullmatch(atom) is not None


def is_text(atom: str) -> bool:
    """Whether an atom is a text as it is written."""
    return atom[0] in "'\""
