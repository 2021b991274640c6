"""What was computed of a small JSON value, for the next equal one."""

import marshal
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar, TypeVarTuple

from karta_interpreter.base.k8s.values import Object

_Rest = TypeVarTuple("_Rest")
_T = TypeVar("_T")

_MOST, _LONGEST = 1024, 2048
"""Values of a function, and bytes of each: with what is computed, a few MiB."""


def remembered(function: Callable[[Object, *_Rest], _T]) -> Callable[[Object, *_Rest], _T]:
    """Return a function that remembers what it returned for equal values; nobody may change that.

    Values are compared in their written form, so that 1, 1.0 and true stay apart. Errors are not remembered.

    >>> names = remembered(lambda value: list(value))
    >>> names({"a": 1}) is names({"a": 1}), names({"a": 1}) is names({"a": True})
    (True, False)
    """

    @lru_cache(_MOST)
    def known(text: bytes, *rest: *_Rest) -> _T:
        return function(marshal.loads(text), *rest)  # noqa: S302 - written below

    def found(value: Object, *rest: *_Rest) -> _T:
        try:
            # Not JSON, which repeats a part for each place that refers to it: an expression can make gigabytes of it.
            text = marshal.dumps(value)  # type: ignore[arg-type]  # a dict, as all JSON objects here
        except ValueError:
            return function(value, *rest)
        return known(text, *rest) if len(text) <= _LONGEST else function(value, *rest)

    return found
