"""Numbers as Go writes them: in gopher-lua (``value.go``) and in JSON."""

import math
from decimal import Decimal
from typing import Final

FIRST_BEYOND: Final = 2.0**63
"""The first float beyond the integers of 64 bits."""

SMALLEST: Final = -(2**63)
_LARGEST: Final = 2**64 - 1
# Up to here every integer is a float of its own.
_EXACT: Final = 2**53

_PLAIN: Final = range(-4, 6)
_SMALLEST_PLAIN, _SMALLEST_LONG = 1e-6, 1e21


def number_text(number: float) -> str:
    """Return the text that ``tostring`` returns: integers in full, all others as Go's ``fmt.Sprint`` has them.

    >>> [number_text(number) for number in (3.0, 1e15, 0.1, 1234567.5, 2.0**63, 1e-5, float("inf"))]
    ['3', '1000000000000000', '0.1', '1.2345675e+06', '9.223372036854776e+18', '1e-05', '+Inf']
    """
    number = float(number)  # also an integer of `json_number` with fewer digits than it has
    if -FIRST_BEYOND <= number < FIRST_BEYOND and number.is_integer():
        return str(int(number))
    return shortest(number)


def shortest(number: float) -> str:
    """Return the text that ``%g`` prints: the fewest digits of this number, with an exponent below -4 and above 5."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "-Inf" if number < 0 else "+Inf"
    exact = _decimal(number)
    if exact.adjusted() in _PLAIN or not number:
        return format(exact, "f")
    return format(number, f".{len(exact.as_tuple().digits) - 1}e")


def json_number(number: float) -> float:
    """Return the number that ``encoding/json`` writes: an integer with the fewest digits that mean it.

    One of more than 64 bits stays a float, as readers and writers of JSON have it.

    >>> json_number(3.0), json_number(2.0**62), json_number(0.5), json_number(1e20)
    (3, 4611686018427388000, 0.5, 1e+20)
    """
    if type(number) is int and -_EXACT <= number <= _EXACT:
        return number
    number = float(number)
    if not (abs(number) <= _LARGEST and number.is_integer()):
        return number
    integer = int(_decimal(number))
    return integer if SMALLEST <= integer <= _LARGEST else number


def json_text(number: float) -> str:
    """Return the text that ``encoding/json`` writes.

    >>> [json_text(number) for number in (3, 0.00001, 2**63, 1e21, 1e-7)]
    ['3', '0.00001', '9223372036854776000', '1e+21', '1e-7']
    """
    number = json_number(number)
    if isinstance(number, int):
        return str(number)
    if _SMALLEST_PLAIN <= abs(number) < _SMALLEST_LONG:
        return format(_decimal(number), "f")
    return repr(number).replace("e-0", "e-")


def _decimal(number: float) -> Decimal:
    return Decimal(repr(float(number))).normalize()
