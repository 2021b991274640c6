"""Checks of an object before it is read, and of the fields that no change may touch."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, dataclass, field
from functools import partial, wraps
from inspect import isfunction, signature
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, dataclass_transform

from karta_interpreter.base.errors import InterpretationError, WorkloadError
from karta_interpreter.base.findings import closest, did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, MAX_DEPTH, Object, Path, field_path, get, parts_within
from karta_interpreter.definitions.karta import catalogue_kinds
from karta_interpreter.engine.evaluation import Scale, StatusMatch

_SURROGATE = re.compile("[\ud800-\udfff]")

IDENTITY: tuple[Path, ...] = (
    *(("apiVersion",), ("kind",), ("status",)),
    *(("metadata", field) for field in ("name", "namespace", "uid")),
)
"""The fields that a change of pods must leave alone: the identity of the object and its status."""


Value = TypeVar("Value")
_Class = TypeVar("_Class", bound="Public")


class _PublicClass(type):
    """The type of the classes of the library. Its error about a name that a class does not have says which it has."""

    if not TYPE_CHECKING:  # as below

        def __getattr__(cls, name: str) -> NoReturn:
            hint = did_you_mean(name, [own for own in dir(cls) if not own.startswith("_")])
            place = _MADE_BY.get(f"{cls.__name__}.__init__", f"{cls.__name__}(…)")
            raise AttributeError(f"{cls.__name__} has no {name}; {hint}; {place} makes one", name=name, obj=cls)


class Public(metaclass=_PublicClass):
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

    if not TYPE_CHECKING:  # a type checker would take it as leave to read any name

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f'this is a dict, which has no {name}: write ["{name}"]', name=name, obj=self)

    def __call__(self, *_: object) -> NoReturn:  # noqa: D102 - its error says it
        raise TypeError("this is a dict, not a method: leave the parentheses out, and write [NAME]")


def _with_signature(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method. Its error about arguments that it does not take ends with what to write."""

    @wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of the method
        try:
            return method(*args, **kwargs)
        except TypeError as err:
            if err.__traceback__ and err.__traceback__.tb_next is None:  # of the call, not from inside the method
                short = _TYPE.sub(
                    lambda name: "dict" if name[1] == "Mapping" else "list", _LONG.sub("", str(signature(method)))
                )
                err.args = (f"{err}; write {_MADE_BY.get(method.__qualname__, method.__name__ + short)}",)
            raise

    return called


# By this a signature is longer than its short form: modules, the class or object itself, and what it returns.
_LONG: Final = re.compile(r"\b(?:[a-z_]+\.)+|\b(?:self|cls)\b(?:, )?| -> .*")
_TYPE: Final = re.compile(r"(Mapping|Iterable|Sequence)(?:\[str, Any\])?")


def _refuse_change(self: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(
        f"{type(self).__name__}.{name} cannot be changed in place; workload.component(NAME).scale_to({{ID: 12}}), "
        "its update_pod_templates, and workload.suspend() return a new workload"
    )


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def public(cls: type[_Class]) -> type[_Class]:
    """Make a frozen dataclass. Errors about a change of a field, and about arguments, have what to write."""
    made = dataclass(frozen=True)(cls)
    made.__setattr__ = made.__delattr__ = _refuse_change  # type: ignore[method-assign]
    for name, member in [*vars(made).items()]:
        method = getattr(member, "__func__", member)
        if isfunction(method) and (name == "__init__" or not name.startswith("_")):
            hinted = _with_signature(method)
            setattr(made, name, hinted if method is member else type(member)(hinted))
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
_MADE_BY: Final = {f"{name}.__init__": place for name, place in _READ_AS.items()} | {
    "Karta.__init__": "Karta.for_object(obj) or Karta.load(source)",
    "Workload.__init__": "Workload(karta, object)",
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
    name, is_file = type(value).__name__, isinstance(value, str) and value.endswith((".yaml", ".yml", ".json"))
    kinds = kinds_like(value) if isinstance(value, str) else ""
    return name + (
        _MADE_OF["PosixPath"]
        if is_file
        else f"; Karta.catalogue() has the Karta of {kinds}"
        if kinds
        else _MADE_OF[name]
        if name in _MADE_OF
        else _CLIENT
        if hasattr(value, "attribute_map")
        else "; its model_dump() may be one"
        if hasattr(value, "model_dump")
        else "; yaml.safe_load(file) makes one"
        if hasattr(value, "read")
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
        hint = (
            "; give its items"
            if hasattr(values, "items") and (not isinstance(values, dict) or "items" in values)
            else ""
            if not isinstance(values, dict)
            else "; give [it]"
            if values.keys() & {"kind", "metadata", "clusterName", "status"}
            else '; give [{"clusterName": NAME, "status": {…}}]'
            if plural == "statuses"
            else "; give a list of its values"
        )
        raise WorkloadError(f"{plural} are a list of objects, not {type(values).__name__}{hint}")
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
