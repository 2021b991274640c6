"""jq's functions of strings."""

import re
from typing import Final

from karta_interpreter.errors import QueryEvaluationError
from karta_interpreter.jq.inprocess.operators import elements
from karta_interpreter.jq.inprocess.values import Number, is_number, normal, to_json
from karta_interpreter.k8s.values import JSON, type_name

_NUMERAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SPACE: Final = "".join(map(chr, (*range(9, 14), 32, 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288)))
"""The white space of Unicode, as jq and gojq know it; Python's own also has the separators of ASCII."""

LOWER: Final = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
"""Changes only the letters A to Z."""
UPPER: Final = {lower: upper for upper, lower in LOWER.items()}


def text_of(name: str, value: JSON) -> str:
    """The value of a string; QueryEvaluationError naming the function for anything else."""
    if isinstance(value, str):
        return value
    raise QueryEvaluationError(f"{name} needs a string, not {type_name(value)}")


def join(value: JSON, separator: JSON) -> str:
    """``join(separator)``; numbers and booleans become text, null becomes empty."""
    pieces = [_piece(element) for element in elements(value)]
    if len(pieces) < 2:  # noqa: PLR2004 - jq does not look at the separator then
        return "".join(pieces)
    return ("" if separator is None else text_of("join", separator)).join(pieces)


def _piece(element: JSON) -> str:
    if element is None:
        return ""
    return to_json(element) if isinstance(element, bool | int | float) else text_of("join", element)


def to_number(value: JSON) -> Number:
    """``tonumber``: decimal numerals only, with nothing around them."""
    if is_number(value):
        return normal(value)
    if isinstance(value, str) and _NUMERAL.fullmatch(value):
        return normal(float(value))
    raise QueryEvaluationError(f"{type_name(value)} cannot be read as a number")
