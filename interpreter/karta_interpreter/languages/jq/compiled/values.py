"""jq's types, truth, order, equality, numbers and text of JSON values.

Numbers are doubles, as in gojq: integral ones are Python ints, integers beyond 2**53 lose the digits that a
double has no room for. A bool is never a number.
"""

import json
import math
import re
import sys
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeGuard

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s import JSON, type_name

Number: TypeAlias = int | float

EXACT: Final = 2**53
"""From here on, and below its negative, not every integer is a double."""

_INT64: Final = 2**63
_LARGEST: Final = sys.float_info.max
_KINDS: Final = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
_NUMERAL: Final = re.compile(r"[+-]?([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]++)?")
_quote: Final = json.JSONEncoder(ensure_ascii=False).encode


def truthy(value: JSON) -> bool:
    """Everything is true but null and false."""
    return value is not None and value is not False


def kind(value: JSON) -> str:
    """Return the result of jq's ``type``."""
    return _KINDS.get(type(value), "null")


def text_of(name: str, value: JSON) -> str:
    """Return the value of a string. Raise QueryEvaluationError naming the function for any other value."""
    if isinstance(value, str):
        return value
    raise QueryEvaluationError(
        f"{name} needs a string, not {type_name(value)}"
        + '; give an absent field a default: `PATH // ""`' * (value is None)
    )


def is_number(value: JSON) -> TypeGuard[Number]:
    """True for ints and floats, not for bools."""
    return type(value) is int or type(value) is float


def normal(number: Number) -> Number:
    """Return a number as a double holds it, or the largest double. Integral numbers are ints if they fit in 64 bits."""
    if type(number) is int and -EXACT <= number <= EXACT:
        return number
    if number != number:  # noqa: PLR0124 - so only NaN. JSON has none, but objects in Python may
        raise QueryEvaluationError("a number is NaN")
    double = float(max(-_LARGEST, min(_LARGEST, number)))
    return int(double) if double.is_integer() and abs(double) < _INT64 else double


def to_number(value: JSON) -> Number:
    """``tonumber``: decimal numerals only, with nothing around them."""
    if is_number(value):
        return normal(value)
    if isinstance(value, str) and _NUMERAL.fullmatch(value):
        return normal(float(value))
    raise QueryEvaluationError(f"{type_name(value)} cannot be read as a number")


def number_text(number: Number) -> str:
    """Return a number as gojq prints it: shortest digits, an exponent below 1e-6 and from 1e21 on."""
    double = normal(number)
    text = repr(double)
    if "e" not in text:
        return text
    if 1e-6 <= math.fabs(double) < 1e21:  # noqa: PLR2004 - where the format changes
        return f"{Decimal(text):f}"
    return text.replace("e-0", "e-")


def to_json(value: JSON) -> str:
    """Return a value as compact JSON text with sorted keys, as jq's ``tojson`` on gojq."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case list():
            return f"[{','.join(map(to_json, value))}]"
        case dict():
            return f"{{{','.join(f'{_text(key)}:{to_json(value[key])}' for key in sorted(value))}}}"
        case _:
            return number_text(value)


def _text(value: str) -> str:
    # gojq escapes it as it does control characters.
    return _quote(value).replace("\x7f", "\\u007f")


def to_text(value: JSON) -> str:
    """``tostring``: strings as they are, everything else as JSON."""
    return value if isinstance(value, str) else to_json(value)


def order_key(value: JSON) -> tuple[Any, ...]:
    """Return a key that sorts values as jq does, and is equal for equal values.

    null < false < true < numbers < strings (by code point) < arrays < objects (keys first, then values).
    """
    if type(value) is str:  # the most common sort and group keys
        return 4, value
    match value:
        case bool():
            return (2,) if value else (1,)
        case list():
            return 5, [order_key(element) for element in value]
        case dict():
            keys = sorted(value)
            return 6, keys, [order_key(value[key]) for key in keys]
        case int() | float():
            return 3, normal(value)
        case _:
            return (0,)


def equal(left: JSON, right: JSON) -> bool:
    """``==``: true is not 1, and 1.0 is 1."""
    if left is right:
        return True
    if type(left) is str or type(right) is str:
        return bool(left == right)
    if type(left) is dict and type(right) is dict:
        if left.keys() != right.keys():
            return False
        for key, value in left.items():  # noqa: SIM110 - `all` takes twice as long for few fields
            if not equal(value, right[key]):
                return False
        return True
    if is_number(left) and is_number(right):
        return normal(left) == normal(right)
    if type(left) is list and type(right) is list:
        return len(left) == len(right) and all(map(equal, left, right))
    return False  # null and the booleans are each one object


def less(left: JSON, right: JSON) -> bool:
    """``<`` between any two values."""
    # A double of a larger number lies on the same side of it.
    if type(left) is int and type(right) is int and -EXACT < left < EXACT:
        return left < right
    if type(left) is str and type(right) is str:
        return left < right
    if is_number(left) and is_number(right):
        return normal(left) < normal(right)
    return order_key(left) < order_key(right)
