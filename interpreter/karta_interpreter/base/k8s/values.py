"""JSON values as Python has them, and what was computed of small ones."""

import json
import marshal
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeVar, TypeVarTuple

JSON: TypeAlias = Any
"""None, bool, int, float, str, list of JSON, or dict from str to JSON. Never mutated once it is shared."""

Object: TypeAlias = Mapping[str, Any]
"""A JSON object, usually a Kubernetes object or a part of one."""

Path: TypeAlias = tuple[str | int, ...]
"""A place inside a JSON value: object keys and array indices, outermost first."""

MOST_REPLICAS: Final = 2**31 - 1
"""Kubernetes and Karmada count replicas in 32 bits."""

NOTHING: Final[Any] = object()
"""Stands for the value of a field that is not there."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TYPE_NAMES = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}


def field_path(path: Path) -> str:
    """A path as Kubernetes users write it; the whole document is ``.``.

    >>> field_path(("spec", "containers", 0, "image"))
    'spec.containers[0].image'
    >>> field_path(("metadata", "annotations", "example.com/a"))
    'metadata.annotations["example.com/a"]'
    """
    text = "".join(_step(step) for step in path)
    return text.removeprefix(".") or "."


def parts_of(value: JSON) -> Iterable[tuple[str | int, JSON]]:
    """Return the parts of an object by their keys, or of a list by their indices; nothing for any other value."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def json_pointer(path: Path) -> str:
    """Return a path as a JSON Pointer (RFC 6901), "" for the whole document.

    >>> json_pointer(("metadata", "labels", "example.com/a", 0))
    '/metadata/labels/example.com~1a/0'
    """
    return "".join([f"/{pointer_step(str(step))}" for step in path])


def pointer_step(key: str) -> str:
    """Return a key as a part of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def type_name(value: JSON) -> str:
    """The JSON type of a value with its article, for messages.

    >>> type_name([]), type_name(2.5)
    ('a list', 'a number')
    """
    return _TYPE_NAMES.get(type(value), "a number")


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN_KEY.fullmatch(step):
        return f".{step}"
    return f"[{json.dumps(step, ensure_ascii=False)}]"


_Rest = TypeVarTuple("_Rest")
_T = TypeVar("_T")

_MOST, _LONGEST = 1024, 2048
"""Values of a function, and bytes of each: with what is computed, a few MiB."""


def remembered(function: Callable[[Object, *_Rest], _T]) -> Callable[[Object, *_Rest], _T]:
    """Return a function that remembers what it returned for equal values; it must not be changed.

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
