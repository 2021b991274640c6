"""JSON values as Python has them, the types of Kubernetes objects, and a memory of results for small values."""

import json
import marshal
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self, TypeAlias, TypeVar, TypeVarTuple

from karta_interpreter.base.errors import InterpretationError

JSON: TypeAlias = Any
"""None, bool, int, float, str, list of JSON, or dict from str to JSON. Never mutated once it is shared."""

Object: TypeAlias = Mapping[str, Any]
"""A JSON object, usually a Kubernetes object or a part of one."""

NewObject: TypeAlias = dict[str, Any]
"""A JSON object that its writer may still change."""

Path: TypeAlias = tuple[str | int, ...]
"""A place inside a JSON value: object keys and array indices, outermost first."""

MAX_DEPTH: Final = 200
"""Levels of nesting in an object. JSON encoders stop a little above it."""

MOST_REPLICAS: Final = 2**31 - 1
"""Kubernetes and Karmada count replicas in 32 bits."""

NOTHING: Final[Any] = object()
"""Stands for the value of a field that is not there."""

# What a thread does before it reads or loads one object of many. The threads of a server let its event loop go on.
before_object: Final[ContextVar[Callable[[], None]]] = ContextVar("before_object", default=lambda: None)

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TYPE_NAMES = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}


def field_path(path: Path) -> str:
    """Return a path as Kubernetes users write it. The whole document is ``.``.

    >>> field_path(("spec", "containers", 0, "image"))
    'spec.containers[0].image'
    >>> field_path(("metadata", "annotations", "example.com/a"))
    'metadata.annotations["example.com/a"]'
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}"
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text.removeprefix(".") or "."


def parts_of(value: JSON) -> Iterable[tuple[str | int, JSON]]:
    """Return the parts of an object by their keys, or of a list by their indices. Other values have no parts."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def parts_within(value: JSON) -> Iterator[tuple[Path, JSON]]:
    """Yield a value and all values within it, each with its path, in their order."""
    pending: list[tuple[Path, JSON]] = [((), value)]
    while pending:
        path, part = pending.pop()
        yield path, part
        pending += reversed([((*path, key), below) for key, below in parts_of(part)])


def objects_in(value: JSON) -> list[Object]:
    """Return the objects of a list. Other values have none."""
    return [element for element in value if isinstance(element, dict)] if isinstance(value, list) else []


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
    """Return the JSON type of a value with its article, for messages.

    >>> type_name([]), type_name(2.5)
    ('a list', 'a number')
    """
    return _TYPE_NAMES.get(type(value), "a number")


class GVK(NamedTuple):
    """A Kubernetes type.

    >>> GVK("apps", "v1", "Deployment").api_version
    'apps/v1'
    >>> print(GVK("", "v1", "Pod"))
    v1, Kind=Pod
    """

    group: str
    version: str
    kind: str

    @classmethod
    def parse(cls, api_version: str, kind: str) -> Self:
        """Return the type that a manifest's ``apiVersion`` and ``kind`` name.

        Raises InterpretationError (code 400) if they name none.

        >>> GVK.parse("batch/v1", "Job")
        GVK(group='batch', version='v1', kind='Job')
        """
        group, slash, version = api_version.rpartition("/")
        if not version or "/" in group or (slash and not group):
            raise InterpretationError(f'apiVersion "{api_version}" is not "version" or "group/version"', code=400)
        if not kind:
            raise InterpretationError(f'the kind of apiVersion "{api_version}" is empty', code=400)
        return cls(group, version, kind)

    @classmethod
    def of(cls, obj: Object) -> Self:
        """Return the type of an object. Raise InterpretationError (code 400) if the object has none."""
        return cls.parse(_required_text(obj, "apiVersion"), _required_text(obj, "kind"))

    @property
    def api_version(self) -> str:
        """The value of ``apiVersion`` in a manifest. The core group is not named there."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def type_meta(self) -> dict[str, str]:
        """The fields of a manifest that name the type.

        >>> GVK("batch", "v1", "Job").type_meta
        {'apiVersion': 'batch/v1', 'kind': 'Job'}
        """
        return {"apiVersion": self.api_version, "kind": self.kind}

    @property
    def names(self) -> tuple[str, str]:
        """The names that people use for the type, in small letters: its kind, and its kind with the API version."""
        return self.kind.lower(), f"{self.api_version}/{self.kind}".lower()

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


def _required_text(obj: Object, field: str) -> str:
    value: JSON = obj.get(field)
    if isinstance(value, str):
        return value
    defect = "has none" if field not in obj else f"has {type_name(value)} there"
    raise InterpretationError(f"an object needs a string in {field}; this one {defect}", code=400)


_Rest = TypeVarTuple("_Rest")
_T = TypeVar("_T")
_Key = TypeVar("_Key")

_MOST, _LONGEST = 1024, 2048
"""The most values of a function, and the most bytes of each: with the results, a few MiB."""


def remembered(function: Callable[[Object, *_Rest], _T]) -> Callable[[Object, *_Rest], _T]:
    """Return a function that remembers its results for equal values. A result must not be changed.

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


def grouped(pairs: Iterable[tuple[_Key, _T]]) -> dict[_Key, list[_T]]:
    """Return the values of each key, in their order.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[_Key, list[_T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
