"""Reading a value as a Go type, as ``encoding/json`` does.

A field may be spelled in any case, and several spellings of it are read one after the other; unknown fields are left
out. An empty table inside a value is no value: Karmada deletes it before it reads, since an empty list and an empty
object are the same in Lua (``convertEmptySliceToEmptyStructPartly`` of ``luavm/lua_convert.go``).
"""

from collections.abc import Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.gotypes.scalars import PLAIN, SCALARS, TEXTS, MismatchError, Reader, mismatch


class Field(NamedTuple):
    """A field of a struct.

    ``always``: it is written even when it is empty: its tag has no ``omitempty``.
    """

    name: str
    type: str
    always: bool

    @property
    def is_pointer(self) -> bool:
        """Whether an empty value differs from none."""
        return self.type.startswith("*")


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
        declared[name] = (*declared.get(name, ()), *(_field(word) for word in words))
    return declared


def _field(word: str) -> Field:
    name, go_type = word.split(":")
    return Field(name.removesuffix("!"), go_type, name.endswith("!"))


_TABLES = (dict, list)
_NOTHING = object()


def decode(go_type: str, value: JSON) -> JSON:
    """A value with the fields of the type, under their own names; what needs no change is shared.

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
    fields = {field.name: _reader(field.type) for field in declarations()[name]}
    plain = {field.name: PLAIN[field.type] for field in declarations()[name] if field.type in PLAIN}
    folded = {_fold(field): field for field in fields}

    def read(value: JSON) -> JSON:
        if type(value) is not dict:
            raise mismatch(value, name)
        result = value
        key = ""
        try:
            for key, item in value.items():
                if type(item) is plain.get(key):
                    continue
                read_field = fields.get(key)
                if read_field is None and _fold(key) in folded:
                    break
                one = read_field(item) if read_field and (item or type(item) not in _TABLES) else _NOTHING
                if one is not item:
                    result = _changed(value, result, key, one)
            else:
                return result
        except MismatchError as err:
            err.within(key, name)
            raise
        return _read_spelled(value, folded, read)

    return read


def _read_spelled(value: dict[str, JSON], folded: Mapping[str, str], read: Reader) -> JSON:
    """Read fields that may have several spellings, one after the other as Karmada has them: by their bytes."""
    result: dict[str, JSON] = {}
    for key, item in sorted(value.items()):
        field = folded.get(_fold(key))
        if field:
            result = _over(read({field: item}), result)
    return result


def _changed(value: JSON, result: JSON, key: str | int, item: JSON) -> JSON:
    """The result so far with another item, or without it; it is a copy of the value from the first change on."""
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


def _list(go_type: str, element_type: str) -> Reader:
    plain, read_element = PLAIN.get(element_type), _reader(element_type)

    def read(value: JSON) -> JSON:
        if type(value) is not list:
            raise mismatch(value, go_type)
        if plain and {plain}.issuperset(map(type, value)):
            return value
        elements = value if all(value) else [item for item in value if item or type(item) not in _TABLES]
        result = elements
        index = 0
        try:
            for index, item in enumerate(elements):
                one = read_element(item)
                if one is not item:
                    result = _changed(elements, result, index, one)
        except MismatchError as err:
            err.within(index)
            raise
        return result

    return read


def _map(go_type: str, value_type: str) -> Reader:
    plain, read_value = PLAIN.get(value_type), _reader(value_type)
    read_text = TEXTS.get(value_type, read_value)

    def read(value: JSON) -> JSON:
        if type(value) is not dict:
            raise mismatch(value, go_type)
        if plain and {plain}.issuperset(map(type, value.values())):
            return value
        result: JSON = value
        key, one = "", _NOTHING
        try:
            for key, item in value.items():
                if type(item) is str:
                    one = read_text(item)
                elif item or type(item) not in _TABLES:
                    one = read_value(item)
                else:
                    one = _NOTHING
                if one is not item and one != item:
                    result = _changed(value, result, key, one)
        except MismatchError as err:
            err.within(key)
            raise
        return result

    return read
