"""The values of variables, while an expression runs."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeVar

from karta_interpreter.base.errors import QueryReferenceError
from karta_interpreter.base.k8s import JSON

A = TypeVar("A")
B = TypeVar("B")

_present: Final = ContextVar[Mapping[str, JSON]]("values of variables")


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Stands for a value that is not known, with the reason."""

    reason: str


def with_values(values: Mapping[str, JSON], function: Callable[[A], B], argument: A) -> B:
    """Return the result of a function, with values for the variables that are read while it runs."""
    token = _present.set(values)
    try:
        return function(argument)
    finally:
        _present.reset(token)


def value_of(name: str) -> JSON:
    """Return the value of a variable. Raise QueryReferenceError if it has none. Null is a value."""
    value = _present.get().get(name, Unresolved(f"the reference ${name} has no value: it was not looked up"))
    if isinstance(value, Unresolved):
        raise QueryReferenceError(value.reason)
    return value
