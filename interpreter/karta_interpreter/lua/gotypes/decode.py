"""Reading a value as a Go type, as ``encoding/json`` does.

A field may be spelled in any case, and several spellings of it are read one after the other; unknown fields are left
out. An empty table inside a value is no value: Karmada deletes it before it reads, since an empty list and an empty
object are the same in Lua (``convertEmptySliceToEmptyStructPartly`` of ``luavm/lua_convert.go``).
"""

from collections.abc import Mapping
from functools import cache
from itertools import zip_longest

import msgspec

from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.empties import mend_empties
from karta_interpreter.lua.gotypes.scalars import SCALARS, MismatchError, Reader, mismatch
from karta_interpreter.lua.gotypes.structs import convert, declarations, encode

_NOTHING = object()


def decode(go_type: str, value: JSON) -> JSON:
    """A value with the fields of the type, under their own names; what needs no change is shared.

    Raises MismatchError for the first field that does not fit.

    >>> decode("[]Component", [{"Name": "worker", "replicas": 2, "replicaRequirements": {}, "color": "blue"}])
    [{'name': 'worker', 'replicas': 2}]
    """
    value = mend_empties(value)
    try:
        convert(go_type, value)
    except msgspec.ValidationError:
        return _reader(go_type)(value)
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
        return encode(go_type, _reader(go_type)(value))


@cache
def _reader(go_type: str) -> Reader:
    pointed = go_type.removeprefix("*")
    if pointed in SCALARS:
        return SCALARS[pointed]
    if pointed.startswith("[]"):
        return _list(pointed, pointed.removeprefix("[]"))
    if pointed.startswith("map[string]"):
        return _map(pointed, pointed.removeprefix("map[string]"))
    return _struct(pointed)


def _struct(name: str) -> Reader:
    fields = {field.name: _reader(field.type) for field in declarations()[name]}
    folded = {_fold(field): field for field in fields}

    def read(value: JSON) -> JSON:
        if type(value) is not dict:
            raise mismatch(value, name)
        if any(key not in fields and _fold(key) in folded for key in value):
            return _read_spelled(value, folded, read)
        result = value
        for key, item in value.items():
            one = _within(key, name, fields[key], item) if key in fields else _NOTHING
            result = _changed(value, result, key, one)
        return result

    return read


def _within(step: str | int, struct: str, read: Reader, item: JSON) -> JSON:
    try:
        return read(item)
    except MismatchError as err:
        err.within(step, struct)
        raise


def _read_spelled(value: dict[str, JSON], folded: Mapping[str, str], read: Reader) -> JSON:
    """Read fields that may have several spellings, one after the other as Karmada has them: by their bytes."""
    result: dict[str, JSON] = {}
    for key, item in sorted(value.items()):
        field = folded.get(_fold(key))
        if field:
            result = _over(read({field: item}), result)
    return result


def _list(go_type: str, element_type: str) -> Reader:
    read_element = _reader(element_type)

    def read(value: JSON) -> JSON:
        if type(value) is not list:
            raise mismatch(value, go_type)
        result = value
        for index, item in enumerate(value):
            result = _changed(value, result, index, _within(index, "", read_element, item))
        return result

    return read


def _map(go_type: str, value_type: str) -> Reader:
    read_value = _reader(value_type)

    def read(value: JSON) -> JSON:
        if type(value) is not dict:
            raise mismatch(value, go_type)
        result = value
        for key, item in value.items():
            result = _changed(value, result, key, _within(key, "", read_value, item))
        return result

    return read


def _changed(value: JSON, result: JSON, key: str | int, item: JSON) -> JSON:
    """The result so far with another item, or without it; it is a copy of the value from the first change on."""
    if item is value[key] or item == value[key]:
        return result
    if result is value:
        result = value.copy()
    if item is _NOTHING:
        del result[key]
    else:
        result[key] = item
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
