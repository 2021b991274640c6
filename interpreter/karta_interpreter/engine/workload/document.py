"""Checks of an object before it is read, and of the fields that no change may touch."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import NoReturn, TypeVar

from karta_interpreter.base.errors import InterpretationError, WorkloadError
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, MAX_DEPTH, Object, Path, field_path, parts_within

_SURROGATE = re.compile("[\ud800-\udfff]")

IDENTITY: tuple[Path, ...] = (
    *(("apiVersion",), ("kind",), ("status",)),
    *(("metadata", field) for field in ("name", "namespace", "uid")),
)
"""The fields that a change of pods must leave alone: the identity of the object and its status."""


Value = TypeVar("Value")


class Named(dict[str, Value]):
    """Values by name. The error of a name that does not exist has a hint."""

    def __missing__(self, name: str) -> NoReturn:
        raise KeyError(f'there is no "{name}"; ' + did_you_mean(str(name), [f'"{own_name}"' for own_name in self]))


def checked_object(value: JSON, noun: str = "an object", kind: str = "") -> Object:
    """Return the value, which must be a dict of JSON values. Raise a WorkloadError about ``noun`` if it is not.

    With a ``kind``, an object that names another one is rejected as well.
    """
    if not isinstance(value, dict):
        raise WorkloadError(f"{noun} is a dict of JSON values, not {type(value).__name__}")
    if "api_version" in value:
        raise WorkloadError(f"{noun} has apiVersion, not api_version")
    if str(value.get("kind")).endswith("List") and "items" in value:
        raise WorkloadError(f"{noun} is given alone, not in a {value['kind']}: give its items")
    if kind and value.get("kind", kind) != kind:
        raise WorkloadError(f"{noun} is of kind {kind}, not {value['kind']}")
    check_json(value)
    return value


checked_pod = partial(checked_object, noun="a pod", kind="Pod")


def checked_objects(values: JSON, plural: str, check: Callable[[JSON], Object] = checked_object) -> Iterator[Object]:
    """Return the values. Each must be a dict of JSON values. Raises WorkloadError as ``check``."""
    if not isinstance(values, Iterable) or isinstance(values, str | dict):
        raise WorkloadError(f"{plural} are a list of objects, not {type(values).__name__}")
    return map(check, values)


checked_pods = partial(checked_objects, plural="pods", check=checked_pod)


def check_kind(obj: JSON, gvk: GVK | None, noun: str = "an object") -> None:
    """Raise WorkloadError if the value is not an object, has no kind, or (unless ``gvk`` is None) has another kind."""
    checked_object(obj, noun)
    with reading():
        actual = GVK.of(obj)
    if gvk not in (None, actual):
        raise WorkloadError(f"the object is a {actual}, but the Karta is for {gvk}")


def check_json(value: JSON) -> None:
    """Raise WorkloadError for a value that JSON does not have. The message names its path.

    >>> check_json({"spec": {"hosts": {"a", "b"}}})
    Traceback (most recent call last):
    ...
    karta_interpreter.base.errors.WorkloadError: spec.hosts is of type set, which JSON does not have
    """
    for path, nested in parts_within(value):
        # The code that changes and encodes objects is recursive. This is not, so depth does no harm here.
        if len(path) > MAX_DEPTH:
            raise WorkloadError(f"{field_path(path[:3])} is nested more than {MAX_DEPTH} levels deep")
        # Exact types, because expressions do not treat a subclass of dict as an object.
        if type(nested) is dict:
            for key in nested:
                if type(key) is not str:
                    raise WorkloadError(f"{field_path(path)} has the key {key!r}; the keys of JSON objects are strings")
                _check_text(path, key)
        elif type(nested) is str:
            _check_text(path, nested)
        elif type(nested) is float and not isfinite(nested):
            raise WorkloadError(f"{field_path(path)} is {nested}, which JSON does not have")
        elif type(nested) not in (int, float, bool, list, type(None)):
            name, hint = type(nested).__name__, _converted(nested)
            raise WorkloadError(f"{field_path(path)} is of type {name}, which JSON does not have{hint}")


def _converted(value: object) -> str:
    """Return how to make a value of JSON of another one, or ""."""
    if type(value).__name__ in ("date", "datetime"):
        return "; write timestamps as text"
    if isinstance(value, dict | list | tuple | str | int | float):
        return "; json.loads(json.dumps(obj)) has JSON's own types"
    return ""


def _check_text(path: Path, text: str) -> None:
    if not text.isascii() and _SURROGATE.search(text):
        raise WorkloadError(f"{field_path(path)} has text with half of a surrogate pair, which JSON does not have")


@contextmanager
def reading() -> Iterator[None]:
    """Raise WorkloadError if a definition cannot answer about an object."""
    try:
        yield
    except InterpretationError as err:
        raise WorkloadError(str(err)) from err
