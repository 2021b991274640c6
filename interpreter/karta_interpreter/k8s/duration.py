"""Durations as Go prints them (``time.Duration.String``), exactly."""

import re
from fractions import Fraction

_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_TERM = r"([0-9]+(?:\.[0-9]*)?)(ns|us|µs|μs|ms|s|m|h)"
_TERMS = re.compile(_TERM)
_DURATION = re.compile(rf"(-?)((?:{_TERM})+)")
_MAX_LENGTH = 64


def parse_duration(text: str) -> int | None:
    """Return the nanoseconds of a Go duration, None for other text.

    >>> parse_duration("1m0.5s"), parse_duration("soon")
    (60500000000, None)
    """
    match = _DURATION.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        return None
    nanoseconds = int(sum(Fraction(number) * _NANOSECONDS[unit] for number, unit in _TERMS.findall(match[2])))
    return -nanoseconds if match[1] else nanoseconds
