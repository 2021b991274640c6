"""Reading and writing values as Go types, as ``encoding/json`` does.

A field may be spelled in any case. Several spellings of it are read one after the other. Unknown fields are left out.
An empty table inside a value does not count: Karmada deletes it before it reads, since an empty list and an empty
object are the same in Lua (``convertEmptySliceToEmptyStructPartly`` of ``luavm/lua_convert.go``).

The types are declared in ``types.txt``. msgspec reads values that need no change, many times faster than `_read`.
"""

from abc import ABCMeta
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import zip_longest
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import msgspec

from karta_interpreter.base.k8s import JSON, NewObject
from karta_interpreter.languages.lua.empty_tables import restore_empty_tables
from karta_interpreter.languages.lua.gotypes.scalars import SCALARS, MismatchError, mismatch

_T = TypeVar("_T")


class Field(NamedTuple):
    """A field of a struct.

    ``always``: it is written even when it is empty: its tag has no ``omitempty``.
    """

    name: str
    type: str
    always: bool


@cache
def declarations() -> Mapping[str, tuple[Field, ...]]:
    """Return the fields of every struct, by its name.

    >>> declarations()["NodeSelector"]
    (Field(name='nodeSelectorTerms', type='[]NodeSelectorTerm', always=True),)
    """
    text = Path(__file__).with_name("types.txt").read_text(encoding="utf-8").replace("\n  ", " ")
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {
        struct: tuple(
            Field(name.removesuffix("!"), go_type, name.endswith("!"))
            for name, go_type in (field.split(":") for field in fields)
        )
        for struct, *fields in lines
    }


def decode(go_type: str, value: JSON) -> JSON:
    """Return a value with the fields of the type, under their own names.

    A value that needs no change is returned itself.

    Raises MismatchError for the first field that does not fit.

    >>> decode("[]Component", [{"Name": "worker", "replicas": 2, "replicaRequirements": {}, "color": "blue"}])
    [{'name': 'worker', 'replicas': 2}]
    """
    value = restore_empty_tables(value)
    try:
        _convert(go_type, value)
    except msgspec.ValidationError:
        return _read(go_type, value)
    return value


def rewrite(go_type: str, value: JSON) -> JSON:
    """Return the value that Go writes after reading one as the type. Raise MismatchError.

    >>> rewrite("[]Component", [{"Name": "worker", "replicas": 2, "replicaRequirements": {}, "color": "blue"}])
    [{'name': 'worker', 'replicas': 2}]
    """
    value = restore_empty_tables(value)
    try:
        return encode(go_type, value)
    except msgspec.ValidationError:
        return encode(go_type, _read(go_type, value))


def encode(go_type: str, value: JSON) -> JSON:
    """Return the value that Go writes for a result of `decode`: fields in their order, empty ones left out.

    >>> encode("Component", {"name": "worker", "replicaRequirements": {"nodeClaim": {"nodeSelector": {}}}})
    {'name': 'worker', 'replicas': 0, 'replicaRequirements': {'nodeClaim': {}}}
    """
    return msgspec.to_builtins(_convert(go_type, value))


def _convert(go_type: str, value: JSON) -> Any:  # noqa: ANN401 - a struct, or a list or mapping of some
    """Return msgspec's copy of a value that Go writes unchanged. Raise msgspec.ValidationError for any other value."""
    return msgspec.convert(value, _type(go_type), dec_hook=_kept)  # type: ignore[arg-type]


class _Scalar(ABCMeta):
    """A type of values that only a function of `SCALARS` can judge."""

    # msgspec checks the result of `dec_hook` with it, and `dec_hook` has judged already.
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


# Typed: 1, 1.0 and true are equal keys, but different values to Go.
@lru_cache(4096, typed=True)
def _kept(kind: type, value: JSON) -> JSON:
    """Return a scalar that Go writes as it is. msgspec turns ValueError and TypeError into a ValidationError."""
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
    """Return the value of a missing field: msgspec leaves it out again, unless a factory has made it."""
    zero = _ZEROS.get(field.type)
    if field.always:
        return msgspec.field(default_factory=lambda: zero)
    return {} if field.type.startswith("map") else [] if field.type.startswith("[]") else zero


def _read(go_type: str, value: JSON) -> JSON:
    """Read a value that has to be changed or is wrong: most need neither, so that time does not matter here."""
    name = go_type.removeprefix("*")
    if name in SCALARS:
        return SCALARS[name](value)
    if name.startswith("[]"):
        element = name.removeprefix("[]")
        return [_within(index, "", element, item) for index, item in enumerate(_expect(list, value, name))]
    mapping = _expect(dict, value, name)
    if name.startswith("map[string]"):
        return {key: _within(key, "", name.removeprefix("map[string]"), item) for key, item in mapping.items()}
    # Fields in their order. If a field has another spelling, all by their bytes, as Karmada does.
    fields = {field.name: field.type for field in declarations()[name]}
    folded = {_fold(field): field for field in fields}
    is_spelled_otherwise = any(key not in fields and _fold(key) in folded for key in mapping)
    result: NewObject = {}
    for key, item in sorted(mapping.items()) if is_spelled_otherwise else mapping.items():
        if field := folded.get(_fold(key)):
            result = _over({field: _within(field, name, fields[field], item)}, result)
    return result


def _expect(kind: type[_T], value: JSON, go_type: str) -> _T:
    if isinstance(value, kind):
        return value
    raise mismatch(value, go_type)


def _within(step: str | int, struct: str, go_type: str, item: JSON) -> JSON:
    try:
        return _read(go_type, item)
    except MismatchError as err:
        err.within(step, struct)
        raise


def _over(value: JSON, earlier: JSON) -> JSON:
    """Return a value read over an earlier value. It keeps the earlier parts that it does not have itself."""
    if isinstance(value, dict) and isinstance(earlier, dict):
        return earlier | {key: _over(item, earlier.get(key)) for key, item in value.items()}
    if type(value) is list and type(earlier) is list:
        return [_over(item, before) for item, before in zip_longest(value, earlier[: len(value)])]
    return value


def _fold(name: str) -> str:
    """Return a name without its case. The long s is Go's only other spelling of a letter, and ``lower`` keeps it."""
    return name.lower().replace("\u017f", "s")
