"""Reading a value as a Go type, as ``encoding/json`` does.

The exact name of a field is preferred, another spelling of its case is taken as well, unknown fields are left
out. An empty table inside a value is no value: Karmada deletes it before it reads, since Lua cannot tell an empty
list from an empty object (``convertEmptySliceToEmptyStructPartly`` of ``luavm/lua_convert.go``).
"""

from collections.abc import Mapping
from functools import cache

from interpreter.k8s.values import JSON
from interpreter.lua.typed.declarations import declarations
from interpreter.lua.typed.mismatch import MismatchError, mismatch
from interpreter.lua.typed.scalars import PLAIN, SCALARS, Reader

_TABLES = (dict, list)


def decode(go_type: str, value: JSON) -> JSON:
    """A value with the fields of the type, under their own names.

    Raises MismatchError for the first field that does not fit.

    >>> decode("[]Component", [{"Name": "worker", "replicas": 2, "replicaRequirements": {}, "color": "blue"}])
    [{'name': 'worker', 'replicas': 2}]
    """
    return _reader(go_type)(value)


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
    fields = {field.name: (field.name, PLAIN.get(field.type), _reader(field.type)) for field in declarations()[name]}
    folded = {_fold(field): field for field in fields}

    def read(value: JSON) -> JSON:
        if type(value) is not dict:
            raise mismatch(value, name)
        result: dict[str, JSON] = {}
        field = ""
        try:
            for key, item in value.items():
                entry = fields.get(key)
                if entry is None:
                    if _fold(key) in folded:
                        break
                    continue
                field, plain, read_field = entry
                if type(item) is plain:
                    result[field] = item
                elif item or type(item) not in _TABLES:
                    result[field] = read_field(item)
            else:
                return result
        except MismatchError as err:
            err.within(field, name)
            raise
        return read(_respelled(value, folded))

    return read


def _respelled(value: dict[str, JSON], folded: Mapping[str, str]) -> dict[str, JSON]:
    """A value with its fields under their own names.

    Where several keys name one field the last one counts, in the order of their bytes in which Karmada has them.
    """
    return {folded[_fold(key)]: item for key, item in sorted(value.items()) if _fold(key) in folded}


def _fold(name: str) -> str:
    """A name without its case; the long s is Go's one other spelling of a letter that ``lower`` leaves alone."""
    return name.lower().replace("\u017f", "s")


def _list(go_type: str, element_type: str) -> Reader:
    plain, read_element = PLAIN.get(element_type), _reader(element_type)

    def read(value: JSON) -> JSON:
        if type(value) is not list:
            raise mismatch(value, go_type)
        elements = [item for item in value if item or type(item) not in _TABLES]
        if plain and {plain}.issuperset(map(type, elements)):
            return elements
        index = 0
        try:
            for index, item in enumerate(elements):
                elements[index] = read_element(item)
        except MismatchError as err:
            err.within(index)
            raise
        return elements

    return read


def _map(go_type: str, value_type: str) -> Reader:
    plain, read_value = PLAIN.get(value_type), _reader(value_type)

    def read(value: JSON) -> JSON:
        if type(value) is not dict:
            raise mismatch(value, go_type)
        entries = {key: item for key, item in value.items() if item or type(item) not in _TABLES}
        if plain and {plain}.issuperset(map(type, entries.values())):
            return entries
        key = ""
        try:
            for key, item in entries.items():
                entries[key] = read_value(item)
        except MismatchError as err:
            err.within(key)
            raise
        return entries

    return read
