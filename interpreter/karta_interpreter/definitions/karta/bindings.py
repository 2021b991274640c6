"""Giving the expressions of a definition the values of what it refers to."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq import Query

Binding: TypeAlias = Callable[[Mapping[str, JSON]], Any]
"""Makes the copy of a part of a definition that has values for its variables."""


class Bindings:
    """The parts of a definition that read references; found when they are first read, and not again for each call.

    A part that reads none stays the same object, so that definitions share it with its compiled expressions.

    >>> query = Query.compile(".n // $runtime.n", frozenset({"runtime"}))
    >>> bound = Bindings(counts=(query,), name="job").bound({"runtime": {"n": 2}})
    >>> [*bound], bound["counts"][0].evaluate({})
    (['counts'], [2])
    """

    def __init__(self, **parts: object) -> None:
        self._parts = parts

    def __getstate__(self) -> dict[str, Any]:
        return {"_parts": self._parts}  # functions cannot be pickled

    @cached_property
    def _found(self) -> Mapping[str, Binding]:
        return _bindings(self._parts)

    def bound(self, values: Mapping[str, JSON]) -> dict[str, Any]:
        """The parts that read references, by their names, with values for these."""
        return {name: binding(values) for name, binding in self._found.items()}


def _bindings(parts: Mapping[str, object]) -> dict[str, Binding]:
    return {name: binding for name, part in parts.items() if (binding := _binding(part))}


def _binding(part: Any) -> Binding | None:  # noqa: ANN401 - any part of a definition
    """The binding of a part, None where nothing in it reads a variable."""
    if isinstance(part, Query):
        return part.bound if part.variables else None
    if type(part) is tuple:  # a named tuple, such as a GVK, holds no expression
        items = [(_binding(item), item) for item in part]
        is_read = any(binding for binding, _ in items)
        return (lambda values: tuple(bind(values) if bind else item for bind, item in items)) if is_read else None
    if is_dataclass(part) and not isinstance(part, type):
        found = _bindings({each.name: getattr(part, each.name) for each in fields(part)})
        return (lambda values: replace(part, **{name: bind(values) for name, bind in found.items()})) if found else None
    return None
