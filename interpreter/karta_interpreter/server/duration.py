"""Durations as Go writes them."""

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_TERM = r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_TERMS = re.compile(_TERM)
_DURATION = re.compile(rf"(?:{_TERM})+", re.ASCII)


def parse_duration(text: str) -> float | None:
    """Return the seconds of a positive Go duration, None for anything else (Go's ``time.ParseDuration``).

    >>> parse_duration("1m0.5s"), parse_duration("3s"), parse_duration("soon")
    (60.5, 3.0, None)
    """
    if len(text) > 32 or not _DURATION.fullmatch(text):  # noqa: PLR2004 - Go itself writes at most 26
        return None
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _TERMS.findall(text))
    return seconds or None
