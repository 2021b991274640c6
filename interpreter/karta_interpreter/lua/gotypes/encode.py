"""Writing a value of a Go type, as ``encoding/json`` does: fields in their order, empty ones left out."""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.gotypes.decode import declarations
from karta_interpreter.lua.gotypes.scalars import SCALARS

_Writer: TypeAlias = Callable[[JSON], JSON]
_ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0}


def encode(go_type: str, value: JSON) -> JSON:
    """What Go writes for a value that `decode` gave.

    >>> encode("Component", {"name": "worker", "replicaRequirements": {"nodeClaim": {"nodeSelector": {}}}})
    {'name': 'worker', 'replicas': 0, 'replicaRequirements': {'nodeClaim': {}}}
    """
    write = _writer(go_type)
    return write(value) if write else value


@cache
def _writer(go_type: str) -> _Writer | None:
    """What writes a value of the type, None for one that is written as it is."""
    pointed = go_type.removeprefix("*")
    if pointed in SCALARS:
        return None
    if pointed.startswith("[]"):
        return _list(_writer(pointed.removeprefix("[]")))
    if pointed.startswith("map[string]"):
        return _map(_writer(pointed.removeprefix("map[string]")))
    return _struct(pointed)


def _list(write: _Writer | None) -> _Writer | None:
    return (lambda value: [write(element) for element in value]) if write else None


def _map(write: _Writer | None) -> _Writer | None:
    return (lambda value: {key: write(item) for key, item in value.items()}) if write else None


def _struct(name: str) -> _Writer:
    fields = [
        (field.name, _writer(field.type), field.always or field.is_pointer, field.always, _ZEROS.get(field.type))
        for field in declarations()[name]
    ]

    def write(value: JSON) -> JSON:
        result: dict[str, JSON] = {}
        for field, write_field, even_empty, always, zero in fields:
            if field in value:
                item = value[field]
                if item or even_empty:
                    result[field] = write_field(item) if write_field else item
            elif always:
                result[field] = zero
        return result

    return write
