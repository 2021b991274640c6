"""Numbers as Go's ``encoding/json`` writes them, where Lua knows but one type: a float of 64 bits."""

from decimal import Decimal

EXACT = 2**53
"""Up to here every integer is a float of its own."""

_SMALLEST_PLAIN, _SMALLEST_LONG = 1e-6, 1e21


def number_text(number: float) -> str:
    """The shortest digits that mean this number.

    >>> [number_text(number) for number in (3, 0.00001, 2**63, 1e21, 1e-7)]
    ['3', '0.00001', '9223372036854776000', '1e+21', '1e-7']
    """
    if type(number) is int and -EXACT <= number <= EXACT:
        return str(number)
    digits = repr(float(number))
    if not number or _SMALLEST_PLAIN <= abs(number) < _SMALLEST_LONG:
        return _plain(digits)
    return digits.replace("e-0", "e-")


def _plain(digits: str) -> str:
    text = format(Decimal(digits), "f")
    return text.rstrip("0").removesuffix(".") if "." in text else text
