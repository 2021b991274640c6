"""Writing a value of a Go type, as ``encoding/json`` does: fields in their order, keys sorted, empty ones left out."""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from interpreter.k8s.values import JSON
from interpreter.lua.typed.declarations import declarations
from interpreter.lua.typed.scalars import SCALARS

_Writer: TypeAlias = Callable[[JSON], JSON]
_ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0}


def encode(go_type: str, value: JSON) -> JSON:
    """What Go writes for a value that `decode` gave.

    >>> encode("Component", {"name": "worker", "replicaRequirements": {"nodeClaim": {"nodeSelector": {}}}})
    {'name': 'worker', 'replicas': 0, 'replicaRequirements': {'nodeClaim': {}}}
    """
    return _writer(go_type)(value)


@cache
def _writer(go_type: str) -> _Writer:
    pointed = go_type.removeprefix("*")
    if pointed in SCALARS:
        return lambda value: value
    if pointed.startswith("[]"):
        write = _writer(pointed.removeprefix("[]"))
        return lambda value: [write(element) for element in value]
    if pointed.startswith("map[string]"):
        write = _writer(pointed.removeprefix("map[string]"))
        return lambda value: {key: write(value[key]) for key in sorted(value)}
    return _struct(pointed)


def _struct(name: str) -> _Writer:
    fields = [
        (field.name, _writer(field.type), field.always or field.is_pointer, field.always, _ZEROS.get(field.type))
        for field in declarations()[name]
    ]

    def write(value: JSON) -> JSON:
        result: dict[str, JSON] = {}
        for field, write_field, even_empty, always, zero in fields:
            if field not in value:
                if always:
                    result[field] = zero
            elif even_empty or value[field]:
                result[field] = write_field(value[field])
        return result

    return write
