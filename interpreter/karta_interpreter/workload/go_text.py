"""Keys as Karta's library writes them: as Go's ``fmt.Sprint`` writes JSON values that Go has decoded."""

from decimal import Decimal

from karta_interpreter.jq.inprocess.values import normal

_FIXED = range(-4, 6)
"""The powers of ten of the first digit for which Go writes no exponent (`%g` with the shortest digits)."""


def go_text(value: str | bool | float, *, of_object: bool = True) -> str:
    """A text, boolean or number as Go writes it.

    Every number of an object is a floating-point number to Go, and large ones get an exponent; whole numbers that
    jq computes are integers, written as they are.

    >>> go_text(8080), go_text(1000000), go_text(1000000, of_object=False), go_text(True)
    ('8080', '1e+06', '1000000', 'true')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not of_object:
        return str(value)
    return _shortest(Decimal(repr(float(normal(value)))).normalize())


def _shortest(number: Decimal) -> str:
    if number.adjusted() in _FIXED:
        return f"{number:f}"
    mantissa, exponent = f"{number:e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"
