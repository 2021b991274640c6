"""The values of variables, while an expression runs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

from msgspec import Struct

from karta_interpreter.base.errors import QueryReferenceError
from karta_interpreter.base.k8s import JSON

A = TypeVar("A")
B = TypeVar("B")

_present: Final = ContextVar[Mapping[str, JSON]]("values of variables")
_absent_read: Final = ContextVar[list[str] | None]("reasons of absent values that were read", default=None)


class Unresolved(Struct, frozen=True):
    """Stands for a value that is not known, with the reason. Reading it is an error."""

    reason: str
    error: type[QueryReferenceError] = QueryReferenceError


class Absent(Struct, frozen=True):
    """Stands for a value that lacks objects, with the reason. Reading it gives what there is: null, or a list."""

    reason: str
    value: JSON = None


@contextmanager
def noting_absent() -> Iterator[list[str]]:
    """Give a list of the reasons of the absent values that expressions read from here on."""
    reasons: list[str] = []
    token = _absent_read.set(reasons)
    try:
        yield reasons
    finally:
        _absent_read.reset(token)


def with_values(values: Mapping[str, JSON], function: Callable[[A], B], argument: A) -> B:
    """Return the result of a function, with values for the variables that are read while it runs."""
    token = _present.set(values)
    try:
        return function(argument)
    finally:
        _present.reset(token)


def value_of(name: str) -> JSON:
    """Return the value of a variable. Raise QueryReferenceError if it has none. Null is a value."""
    values = _present.get()
    value = values[name] if name in values else Unresolved(f"the reference ${name} has no value: it was not looked up")
    if isinstance(value, Unresolved):
        raise value.error(value.reason)
    if not isinstance(value, Absent):
        return value
    reasons = _absent_read.get()
    if reasons is not None and value.reason not in reasons:
        reasons.append(value.reason)
    return value.value
