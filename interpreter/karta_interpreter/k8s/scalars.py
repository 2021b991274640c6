"""What an unquoted YAML scalar means to the API server (``sigs.k8s.io/yaml`` over ``go.yaml.in/yaml/v2``).

That is YAML 1.1 with the numbers of Go: ``yes`` is true, ``0777`` and ``0o777`` are octal, while times (``12:30``)
and dates stay strings.
"""

import math
import re

from karta_interpreter.k8s.values import JSON

_WORDS: dict[str, JSON] = {
    **{word: True for name in ("y", "yes", "true", "on") for word in (name, name.title(), name.upper())},
    **{word: False for name in ("n", "no", "false", "off") for word in (name, name.title(), name.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NOT_JSON = frozenset(
    sign + dot for dot in (".inf", ".Inf", ".INF") for sign in ("", "+", "-")
) | {".nan", ".NaN", ".NAN"}  # fmt: skip
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_RADIX = re.compile(r"([-+]?)0(?:[xX]([0-9a-fA-F]+)|[bB]([01]+)|[oO]?([0-7]+))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT64_MIN, _UINT64_MAX, _INT64_MAX = -(2**63), 2**64 - 1, 2**63 - 1


def resolve(text: str) -> JSON:
    """The JSON value of a plain scalar; raises ValueError for infinity and NaN, which JSON does not have.

    >>> [resolve(text) for text in ("yes", "1_000", "0x1F", "1e3", "2001-01-01", "1:30", "~")]
    [True, 1000, 31, 1000, '2001-01-01', '1:30', None]
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if text in _NOT_JSON:
        raise ValueError(f"{text} is not a JSON number")
    number = _number(text.replace("_", ""))
    return text if number is None else number


def _number(digits: str) -> int | float | None:
    integer = _integer(digits)
    if integer is not None and _INT64_MIN <= integer <= _UINT64_MAX:
        return integer
    if not _FLOAT.fullmatch(digits):
        return None
    number = float(digits)
    if not math.isfinite(number):
        return None
    # Go writes an integral float without a fraction, and so it comes back as an integer.
    return int(number) if number.is_integer() and abs(number) <= _INT64_MAX else number


def _integer(digits: str) -> int | None:
    if _DECIMAL.fullmatch(digits):
        return int(digits) if len(digits) <= len("-18446744073709551615") else None
    parts = _RADIX.fullmatch(digits)
    if parts is None:
        return None
    sign, hexadecimal, binary, octal = parts.groups()
    magnitude = int(hexadecimal or binary or octal, 16 if hexadecimal else 2 if binary else 8)
    return -magnitude if sign == "-" else magnitude
