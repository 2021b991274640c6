"""The declarations of Go types, and the same types for msgspec, which reads what needs no change much faster."""

from abc import ABCMeta
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.gotypes.scalars import SCALARS, MismatchError


class Field(NamedTuple):
    """A field of a struct.

    ``always``: it is written even when it is empty: its tag has no ``omitempty``.
    """

    name: str
    type: str
    always: bool


@cache
def declarations() -> Mapping[str, tuple[Field, ...]]:
    """The fields of every struct, by its name.

    >>> declarations()["NodeSelector"]
    (Field(name='nodeSelectorTerms', type='[]NodeSelectorTerm', always=True),)
    """
    text = Path(__file__).with_name("types.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    declared: dict[str, tuple[Field, ...]] = {}
    name = ""
    for line in lines:
        words = line.split()
        if not line.startswith(" "):
            name = words.pop(0)
        fields = (word.split(":") for word in words)
        declared[name] = (
            *declared.get(name, ()),
            *(Field(field.removesuffix("!"), go_type, field.endswith("!")) for field, go_type in fields),
        )
    return declared


def convert(go_type: str, value: JSON) -> Any:  # noqa: ANN401 - a struct, or a list or mapping of some
    """A value of the type that Go writes as it is, for msgspec; raises msgspec.ValidationError for any other value."""
    return msgspec.convert(value, _type(go_type), dec_hook=_kept)  # type: ignore[arg-type]


def encode(go_type: str, value: JSON) -> JSON:
    """What Go writes for a value that `decode` gave: fields in their order, empty ones left out.

    >>> encode("Component", {"name": "worker", "replicaRequirements": {"nodeClaim": {"nodeSelector": {}}}})
    {'name': 'worker', 'replicas': 0, 'replicaRequirements': {'nodeClaim': {}}}
    """
    return msgspec.to_builtins(convert(go_type, value))


class _Scalar(ABCMeta):
    """A type of values that only a function of `SCALARS` can judge."""

    def __instancecheck__(cls, _: object) -> bool:
        return True


_Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_TYPES: Final = {
    **{name: _Scalar(name, (), {}) for name in SCALARS},
    "string": str,
    "bool": bool,
    "int32": _Int32,
    "IntOrString": _Int32 | str,
    "any": Any,
}
_ZEROS: Final = {"string": "", "bool": False, "int32": 0, "int64": 0}


@lru_cache(4096, typed=True)
def _kept(kind: type, value: JSON) -> JSON:
    """A scalar that Go writes as it is; msgspec makes a ValidationError of ValueError and TypeError."""
    try:
        if SCALARS[kind.__name__](value) == value:
            return value
    except MismatchError as err:
        raise ValueError from err
    raise ValueError


@cache
def _type(go_type: str) -> Any:  # noqa: ANN401 - a type as msgspec takes it
    name = go_type.removeprefix("*")
    if name in _TYPES:
        return _TYPES[name]
    if name.startswith("[]"):
        return GenericAlias(list, (_type(name.removeprefix("[]")),))
    if name.startswith("map[string]"):
        return GenericAlias(dict, (str, _type(name.removeprefix("map[string]"))))
    fields = [(field.name, _type(field.type), _default(field)) for field in declarations()[name]]
    return msgspec.defstruct(name, fields, omit_defaults=True, forbid_unknown_fields=True, gc=False)


def _default(field: Field) -> Any:  # noqa: ANN401
    """What stands for a field that is missing: msgspec leaves it out again, unless a factory has made it."""
    zero = _ZEROS.get(field.type)
    if field.always:
        return msgspec.field(default_factory=lambda: zero)
    return {} if field.type.startswith("map") else [] if field.type.startswith("[]") else zero
