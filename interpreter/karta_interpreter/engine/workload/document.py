"""Checks of an object before it is read, and of the fields that no change may touch."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import Final, NoReturn, TypeVar

from karta_interpreter.base.errors import InterpretationError, WorkloadError
from karta_interpreter.base.findings import closest, did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, MAX_DEPTH, Object, Path, field_path, parts_within
from karta_interpreter.definitions.karta import catalogue_kinds

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
        raise WorkloadError(f"{noun} is a dict of JSON values, not {named_type(value)}")
    if "api_version" in value:
        raise WorkloadError(f"{noun} has apiVersion, not api_version{_CLIENT}")
    if str(value.get("kind")).endswith("List") and "items" in value:
        raise WorkloadError(f"{noun} is given alone, not in a {value['kind']}: give its items")
    if kind and value.get("kind", kind) != kind:
        raise WorkloadError(f"{noun} is of kind {kind}, not {value['kind']}")
    check_json(value)
    return value


def named_type(value: JSON) -> str:
    """Return the name of a type that is not the right one, and how to make an object of its value."""
    return f"{type(value).__name__}{_made_of(value)}"


def _made_of(value: object) -> str:
    """Return how an object is made of a value, or ""."""
    if isinstance(value, str):
        if value.endswith((".yaml", ".yml", ".json")):
            return _MADE_OF["PosixPath"]
        if kinds := kinds_like(value):
            return f"; Karta.catalogue() has the Karta of {kinds}"
    if (name := type(value).__name__) in _MADE_OF:
        return _MADE_OF[name]
    for attribute, hint in _BY_ATTRIBUTE.items():
        if hasattr(value, attribute):
            return hint
    if isinstance(value, Mapping):
        return "; dict(value) makes one"
    return "; give one of its entries" if isinstance(value, Iterable) else ""


_CLIENT: Final = "; kubernetes.client.ApiClient().sanitize_for_serialization(obj) makes one of the client's objects"
_BY_ATTRIBUTE: Final = {
    "attribute_map": _CLIENT,
    "model_dump": "; its model_dump() may be one",
    "read": "; yaml.safe_load(file) makes one",
    "to_dict": "; its to_dict() may be one",
}
_MADE_OF: Final = {
    **dict.fromkeys(("str", "bytes"), "; yaml.safe_load makes one of text"),
    "NoneType": "; yaml.safe_load makes it of an empty text",
    "coroutine": "; await it",
    "PosixPath": "; yaml.safe_load(path.read_text()) makes one of a file",
    "Workload": "; its own is .object",
    "GVK": "; it is the kind of one: Karta.catalogue()[gvk]",
    "Karta": "; Workload(karta, object) has both",
}


def kinds_like(name: str) -> str:
    """Return the keys of the catalogue for the kind that a text may name, "" for none.

    >>> kinds_like("jobset.x-k8s.io/v1alpha2/Jobset")
    "GVK(group='jobset.x-k8s.io', version='v1alpha2', kind='JobSet')"
    """
    words = re.split("[/=.,]", name[:80])  # not at spaces, which texts of objects have
    kinds = {closest(word, sorted({gvk.kind for gvk in catalogue_kinds()})) for word in words}
    return " or ".join(repr(gvk) for gvk in catalogue_kinds() if gvk.kind in kinds)


checked_pod = partial(checked_object, noun="a pod", kind="Pod")


def checked_objects(values: JSON, plural: str, check: Callable[[JSON], Object] = checked_object) -> Iterator[Object]:
    """Return the values. Each must be a dict of JSON values. Raises WorkloadError as ``check``."""
    if not isinstance(values, Iterable) or isinstance(values, str | dict):
        hint = _listed(values, plural)
        raise WorkloadError(f"{plural} are a list of objects, not {type(values).__name__}{hint}")
    return map(check, values)


def _listed(value: JSON, plural: str) -> str:
    """Return how a list is made of a value, or ""."""
    if not isinstance(value, dict):
        return "; give its items" if hasattr(value, "items") else ""
    if "items" in value:
        return "; give its items"
    if value.keys() & {"kind", "metadata", "clusterName", "status"}:
        return "; give [it]"
    if plural == "statuses":
        return '; give [{"clusterName": NAME, "status": {…}}]'
    return "; give a list of its values"


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
