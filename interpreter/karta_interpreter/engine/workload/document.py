"""Checks of an object before it is read, and of the fields that no change may touch."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, dataclass, field
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar, dataclass_transform

from karta_interpreter.base.errors import InterpretationError, WorkloadError
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, MAX_DEPTH, Object, Path, field_path, get, parts_within
from karta_interpreter.engine.evaluation import Scale, StatusMatch

_SURROGATE = re.compile("[\ud800-\udfff]")

IDENTITY: tuple[Path, ...] = (
    *(("apiVersion",), ("kind",), ("status",)),
    *(("metadata", field) for field in ("name", "namespace", "uid")),
)
"""The fields that a change of pods must leave alone: the identity of the object and its status."""


Value = TypeVar("Value")
_Class = TypeVar("_Class", bound="Public")


class Public:
    """A class of the library. The error about a name that it does not have says where the name is."""

    if not TYPE_CHECKING:  # a type checker would take it as leave to read any name

        def __getattr__(self, name: str) -> NoReturn:
            cls, obj = type(self), vars(self).get("object")
            names = {
                other.__name__: sorted(
                    own for own in {*dir(other), *getattr(other, "__dataclass_fields__", ())} if not own.startswith("_")
                )
                for other in (*Public.__subclasses__(), GVK, StatusMatch, Scale)
            }
            paths = [path for path in ((name,), ("metadata", name)) if get(obj, path) is not None]
            places = ["".join(("workload.object", *(f'["{key}"]' for key in path))) for path in paths] or [
                f"{place}.{name}" for other, place in _READ_AS.items() if name in names[other]
            ]
            hint = f"write {' or '.join(places[:2])}" if places else did_you_mean(name, names[cls.__name__])
            raise AttributeError(f"{cls.__name__} has no {name}; {hint}", name=name, obj=self)


class Named(dict[str, Value]):
    """Values by name. The error of a name that does not exist has a hint."""

    def __missing__(self, name: str) -> NoReturn:
        raise KeyError(f'there is no "{name}"; ' + did_you_mean(str(name), [f'"{own_name}"' for own_name in self]))


def _refuse_change(self: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(
        f"{type(self).__name__}.{name} cannot be changed in place; workload.component(NAME).scale_to({{ID: 12}}), "
        "its update_pod_templates, and workload.suspend() return a new workload"
    )


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def public(cls: type[_Class]) -> type[_Class]:
    """Make a frozen dataclass. The error about a change of a field says how to get a new workload."""
    made = dataclass(frozen=True)(cls)
    made.__setattr__ = made.__delattr__ = _refuse_change  # type: ignore[method-assign]
    return made


_READ_AS: Final = {
    "GVK": "workload.karta.gvk",
    "Karta": "workload.karta",
    "Component": "workload.component(NAME)",
    "Instance": "workload.component(NAME).instances[ID]",
    "Workload": "workload",
    "WorkloadTree": "WorkloadTree.build(workload)",
    "ComponentNode": "WorkloadTree.build(workload).root",
    "InstanceNode": "WorkloadTree.build(workload).root.instances[0]",
    "StatusMatch": "workload.status",
    "Scale": "workload.component(NAME).instances[ID].scale",
}


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
    name = type(value).__name__
    return name + (
        _MADE_OF[name]
        if name in _MADE_OF
        else _CLIENT
        if hasattr(value, "attribute_map")
        else "; its to_dict() may be one"
        if hasattr(value, "to_dict")
        else "; dict(value) makes one"
        if isinstance(value, Mapping)
        else "; give one of its entries"
        if isinstance(value, Iterable)
        else ""
    )


_CLIENT: Final = "; kubernetes.client.ApiClient().sanitize_for_serialization(obj) makes one of the client's objects"
_MADE_OF: Final = {
    **dict.fromkeys(("str", "bytes"), "; yaml.safe_load makes one of text"),
    "NoneType": "; yaml.safe_load makes it of an empty text",
    "coroutine": "; await it",
    "PosixPath": "; yaml.safe_load(path.read_text()) makes one of a file",
    "Workload": "; its own is .object",
    "GVK": "; it is the kind of one: Karta.catalogue()[gvk]",
}
checked_pod = partial(checked_object, noun="a pod", kind="Pod")


def checked_objects(values: JSON, plural: str, check: Callable[[JSON], Object] = checked_object) -> Iterator[Object]:
    """Return the values. Each must be a dict of JSON values. Raises WorkloadError as ``check``."""
    if not isinstance(values, Iterable) or isinstance(values, str | dict):
        hint = ("; give its items" if "items" in values else "; give [it]") if isinstance(values, dict) else ""
        raise WorkloadError(f"{plural} are a list of objects, not {type(values).__name__}{hint}")
    return map(check, values)


checked_pods = partial(checked_objects, plural="pods", check=checked_pod)


def check_workload(obj: JSON, gvk: GVK | None) -> None:
    """Raise WorkloadError if Karta's component factory would reject the object, or its kind is not ``gvk``."""
    check_kind(obj, gvk, "a workload")
    if not any(get(obj, ("metadata", field)) for field in ("name", "generateName")):
        raise WorkloadError(f"{GVK.of(obj)} needs metadata.name or metadata.generateName")


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
            name = type(nested).__name__
            hint = (
                "; write timestamps as text"
                if name in ("date", "datetime")
                else "; json.loads(json.dumps(obj)) has JSON's own types"
                if isinstance(nested, dict | list | tuple | str | int | float)
                else ""
            )
            raise WorkloadError(f"{field_path(path)} is of type {name}, which JSON does not have{hint}")


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
