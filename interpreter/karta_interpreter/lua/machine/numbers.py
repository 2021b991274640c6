"""Numbers as gopher-lua prints them (``value.go``), and as Karmada writes them as JSON.

To print them is to write integers in full, all others as Go's ``fmt.Sprint`` has them.
"""

import math
from decimal import Decimal
from typing import Final

_FIRST_BEYOND: Final = 2.0**63
_PLAIN: Final = range(-4, 6)
_EXACT: Final = 2**53
_SMALLEST: Final = -(2**63)
_LARGEST: Final = 2**64 - 1


def number_text(number: float) -> str:
    """What ``tostring`` gives.

    >>> [number_text(number) for number in (3.0, 1e15, 0.1, 1234567.5, 2.0**63, 1e-5, float("inf"))]
    ['3', '1000000000000000', '0.1', '1.2345675e+06', '9.223372036854776e+18', '1e-05', '+Inf']
    """
    number = float(number)  # also an integer that was `written` with fewer digits than it has
    if -_FIRST_BEYOND <= number < _FIRST_BEYOND and number.is_integer():
        return str(int(number))
    return shortest(number)


def shortest(number: float) -> str:
    """What ``%g`` gives: the fewest digits that mean this number, with an exponent below -4 and above 5."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "-Inf" if number < 0 else "+Inf"
    sign, numerals, exponent = Decimal(repr(float(number))).as_tuple()
    digits = "".join(map(str, numerals)).rstrip("0") or "0"
    power = len(numerals) + int(exponent) - 1
    text = _plain(digits, power) if power in _PLAIN or not number else f"{_point(digits)}e{power:+03d}"
    return "-" + text if sign else text


def written(number: float) -> float:
    """The number that Go's ``encoding/json`` writes: an integer with the fewest digits that mean it.

    One of more than 64 bits stays a float, as readers and writers of JSON have it.

    >>> written(3.0), written(2.0**62), written(0.5), written(1e20)
    (3, 4611686018427388000, 0.5, 1e+20)
    """
    if type(number) is int and -_EXACT <= number <= _EXACT:
        return number
    number = float(number)
    if not (abs(number) <= _LARGEST and number.is_integer()):
        return number
    integer = int(Decimal(repr(number)))
    return integer if _SMALLEST <= integer <= _LARGEST else number


def _point(digits: str) -> str:
    return f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    whole, fraction = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
    return f"{whole}.{fraction}" if fraction else whole
