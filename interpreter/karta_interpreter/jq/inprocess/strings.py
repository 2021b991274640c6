"""jq's functions of strings."""

import re
from typing import Final

from karta_interpreter.errors import QueryEvaluationError
from karta_interpreter.jq.inprocess.operators import elements
from karta_interpreter.jq.inprocess.values import Number, is_number, normal, to_json
from karta_interpreter.k8s.values import JSON, type_name

_NUMERAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SPACE: Final = "".join(
    map(chr, (*range(9, 14), 32, 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288))
)
"""The white space of Unicode, as jq and gojq know it; Python's own also has the separators of ASCII."""

_LOWER: Final = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {lower: upper for upper, lower in _LOWER.items()}


def text_of(name: str, value: JSON) -> str:
    """The value of a string; QueryEvaluationError naming the function for anything else."""
    if isinstance(value, str):
        return value
    raise QueryEvaluationError(f"{name} needs a string, not {type_name(value)}")


def ascii_downcase(value: JSON) -> str:
    """Change only the letters A to Z.

    >>> ascii_downcase("ÀB")
    'Àb'
    """
    text = text_of("ascii_downcase", value)
    return text.lower() if text.isascii() else text.translate(_LOWER)


def ascii_upcase(value: JSON) -> str:
    """Change only the letters a to z."""
    text = text_of("ascii_upcase", value)
    return text.upper() if text.isascii() else text.translate(_UPPER)


def starts_with(value: JSON, prefix: JSON) -> bool:
    """``startswith(prefix)`` of strings."""
    return text_of("startswith", value).startswith(text_of("startswith", prefix))


def ends_with(value: JSON, suffix: JSON) -> bool:
    """``endswith(suffix)`` of strings."""
    return text_of("endswith", value).endswith(text_of("endswith", suffix))


def without_prefix(value: JSON, prefix: JSON) -> str:
    """``ltrimstr(prefix)``: without the prefix, if it is there."""
    return text_of("ltrimstr", value).removeprefix(text_of("ltrimstr", prefix))


def without_suffix(value: JSON, suffix: JSON) -> str:
    """``rtrimstr(suffix)``: without the suffix, if it is there."""
    return text_of("rtrimstr", value).removesuffix(text_of("rtrimstr", suffix))


def trim(value: JSON) -> str:
    """``trim``: without white space at its ends; `ltrim` and `rtrim` look at one end."""
    return text_of("trim", value).strip(_SPACE)


def ltrim(value: JSON) -> str:
    """``ltrim``: without white space at the start."""
    return text_of("ltrim", value).lstrip(_SPACE)


def rtrim(value: JSON) -> str:
    """``rtrim``: without white space at the end."""
    return text_of("rtrim", value).rstrip(_SPACE)


def join(value: JSON, separator: JSON) -> str:
    """``join(separator)``; numbers and booleans become text, null becomes empty.

    >>> join(["a", 1, None, True], "-")
    'a-1--true'
    """
    pieces = [_piece(element) for element in elements(value)]
    if len(pieces) < 2:  # noqa: PLR2004 - jq does not look at the separator then
        return "".join(pieces)
    return ("" if separator is None else text_of("join", separator)).join(pieces)


def _piece(element: JSON) -> str:
    if element is None:
        return ""
    return to_json(element) if isinstance(element, bool | int | float) else text_of("join", element)


def to_number(value: JSON) -> Number:
    """``tonumber``: decimal numerals only, with nothing around them.

    >>> to_number("1e3"), to_number(5)
    (1000, 5)
    """
    if is_number(value):
        return normal(value)
    if isinstance(value, str) and _NUMERAL.fullmatch(value):
        return normal(float(value))
    raise QueryEvaluationError(f"{type_name(value)} cannot be read as a number")
