"""``os.time`` and ``os.date`` as Karmada has them (``pkg/util/lifted/lua/oslib_safe.go``)."""

import re
import time
from datetime import UTC, datetime
from typing import Final

from karta_interpreter.base.errors import LuaRunError

_PYTHON: Final = {letter: f"%{letter}" for letter in "AbBdHImMpSwyYzZ"} | {
    "a": "mon",  # not a layout of Go's, so it stays as it is
    "c": "%d %b %y %H:%M %Z",
    "F": "%Y-%m-%d",
    "x": "%H/%M/%S",
    "X": "%H:%M:%S",
}
_DIRECTIVE: Final = re.compile("%(.)", re.DOTALL)


def now() -> int:
    """Return the seconds since 1970."""
    return int(time.time())


def moment(year: float, month: float, day: float, hour: float, minute: float, second: float) -> int:
    """Return the seconds since 1970 of a local time. Its fields may be beyond their ranges."""
    try:
        return int(time.mktime((int(year), int(month), int(day), int(hour), int(minute), int(second), 0, 0, -1)))
    except (ValueError, OverflowError) as err:
        raise LuaRunError("this time is out of range") from err


def formatted(form: str, seconds: float | None = None) -> str:
    """Return a date in a form. Directives unknown to Go's layouts stay.

    >>> formatted("!%H:%M %q%%", None)[5:]
    ' %q%'
    """
    date = _date(form, seconds)
    words = {"%": "%", "P": date.strftime("%p").lower()}
    for letter in set(_DIRECTIVE.findall(form)) - words.keys():
        directive = _PYTHON.get(letter)
        words[letter] = date.strftime(directive) if directive else f"%{letter}"
    return _DIRECTIVE.sub(lambda match: words[match[1]], form.lstrip("!"))


def fields(form: str, seconds: float | None = None) -> tuple[int, ...]:
    """Return year, month, day, hour, minute, second, and weekday from 1 for Sunday."""
    date = _date(form, seconds)
    return date.year, date.month, date.day, date.hour, date.minute, date.second, date.isoweekday() % 7 + 1


def _date(form: str, seconds: float | None) -> datetime:
    """Return the date. A given time is local even if the form begins with an exclamation mark, as in Karmada."""
    if seconds is None:
        return datetime.now(UTC if form.startswith("!") else None).astimezone(UTC if form.startswith("!") else None)
    try:
        return datetime.fromtimestamp(int(seconds), UTC).astimezone()
    except (ValueError, OverflowError, OSError) as err:
        raise LuaRunError("this time is out of range") from err
