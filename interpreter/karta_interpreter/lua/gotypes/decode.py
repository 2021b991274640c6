"""Reading a value as a Go type, as ``encoding/json`` does.

A field may be spelled in any case, and several spellings of it are read one after the other; unknown fields are left
out. An empty table inside a value is no value: Karmada deletes it before it reads, since an empty list and an empty
object are the same in Lua (``convertEmptySliceToEmptyStructPartly`` of ``luavm/lua_convert.go``).
"""

from itertools import zip_longest
from typing import TypeVar

import msgspec

from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.empties import mend_empties
from karta_interpreter.lua.gotypes.scalars import SCALARS, MismatchError, mismatch
from karta_interpreter.lua.gotypes.structs import convert, declarations, encode

T = TypeVar("T")


def decode(go_type: str, value: JSON) -> JSON:
    """A value with the fields of the type, under their own names; one that needs no change is given back itself.

    Raises MismatchError for the first field that does not fit.

    >>> decode("[]Component", [{"Name": "worker", "replicas": 2, "replicaRequirements": {}, "color": "blue"}])
    [{'name': 'worker', 'replicas': 2}]
    """
    value = mend_empties(value)
    try:
        convert(go_type, value)
    except msgspec.ValidationError:
        return _read(go_type, value)
    return value


def rewrite(go_type: str, value: JSON) -> JSON:
    """What Go writes for a value that it has read as the type; raises MismatchError.

    >>> rewrite("[]Component", [{"Name": "worker", "replicas": 2, "replicaRequirements": {}, "color": "blue"}])
    [{'name': 'worker', 'replicas': 2}]
    """
    value = mend_empties(value)
    try:
        return encode(go_type, value)
    except msgspec.ValidationError:
        return encode(go_type, _read(go_type, value))


def _read(go_type: str, value: JSON) -> JSON:
    """Read a value that has to be changed or is wrong: most need neither, so that time does not matter here."""
    name = go_type.removeprefix("*")
    if name in SCALARS:
        return SCALARS[name](value)
    if name.startswith("[]"):
        element = name.removeprefix("[]")
        return [_within(index, "", element, item) for index, item in enumerate(_expect(list, value, name))]
    found = _expect(dict, value, name)
    if name.startswith("map[string]"):
        return {key: _within(key, "", name.removeprefix("map[string]"), item) for key, item in found.items()}
    return _read_struct(name, found)


def _expect(kind: type[T], value: JSON, go_type: str) -> T:
    if isinstance(value, kind):
        return value
    raise mismatch(value, go_type)


def _within(step: str | int, struct: str, go_type: str, item: JSON) -> JSON:
    try:
        return _read(go_type, item)
    except MismatchError as err:
        err.within(step, struct)
        raise


def _read_struct(name: str, value: dict[str, JSON]) -> JSON:
    """Read fields in their order, but where one has another spelling all by their bytes, as Karmada has them."""
    fields = {field.name: field.type for field in declarations()[name]}
    folded = {_fold(field): field for field in fields}
    is_spelled_otherwise = any(key not in fields and _fold(key) in folded for key in value)
    result: dict[str, JSON] = {}
    for key, item in sorted(value.items()) if is_spelled_otherwise else value.items():
        if field := folded.get(_fold(key)):
            result = _over({field: _within(field, name, fields[field], item)}, result)
    return result


def _over(value: JSON, earlier: JSON) -> JSON:
    """A value read into what another one was read into before: it leaves what it does not have."""
    if isinstance(value, dict) and isinstance(earlier, dict):
        return earlier | {key: _over(item, earlier.get(key)) for key, item in value.items()}
    if type(value) is list and type(earlier) is list:
        return [_over(item, before) for item, before in zip_longest(value, earlier[: len(value)])]
    return value


def _fold(name: str) -> str:
    """A name without its case; the long s is Go's one other spelling of a letter that ``lower`` leaves alone."""
    return name.lower().replace("\u017f", "s")
