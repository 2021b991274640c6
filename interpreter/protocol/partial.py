"""Reading those parts of a JSON object that somebody looks at, and skipping the others.

What is read is what orjson would make of it. What is skipped is checked to be JSON, but not looked at: a number in it
may be larger than any double, and nesting deeper than orjson allows.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypedDict, Union

import msgspec
import orjson

from interpreter.k8s.extent import Extent
from interpreter.k8s.values import JSON

Read: TypeAlias = Callable[[bytes], JSON]
"""Reads a text; raises one of `UNREAD` when that is to be done in full, and perhaps cannot be done."""

UNREAD: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, orjson.JSONEncodeError)

_MOST: Final = 2**16
"""Bytes that are read of a text, written again; answering takes longer the more it is."""

_SCALARS: Final = (int, float, str, bool, None)


def partial_reader(extent: Extent) -> Read:
    """Return what reads an object as far as the extent goes; objects in it have only the fields that it names.

    >>> extent = Extent()
    >>> extent.at("spec", "replicas").take()
    >>> partial_reader(extent)(b'{"kind": "Job", "spec": {"replicas": 1, "template": {}}}')
    {'spec': {'replicas': 1}}
    """
    decoder = msgspec.json.Decoder(_object_type(extent))

    def read(text: bytes) -> JSON:
        text.decode()  # msgspec does not look whether what it skips is UTF-8
        value = decoder.decode(text)
        # This fails on integers that orjson would have read as doubles: it has no larger ones.
        if len(orjson.dumps(value)) > _MOST:
            raise msgspec.ValidationError("what is read is too large")
        return value

    return read


def _type(extent: Extent) -> Any:  # noqa: ANN401 - a type
    if extent.is_whole:
        return Any
    elements = _type(extent.elements) if extent.elements and not extent.fields else Any
    return Union[(_object_type(extent), list[elements], *_SCALARS)]  # type: ignore[valid-type]  # made at run time


def _object_type(extent: Extent) -> Any:  # noqa: ANN401 - a type
    if extent.elements and not extent.fields:
        return dict[str, _type(extent.elements)]  # type: ignore[misc]  # made at run time
    if extent.elements or extent.is_whole:
        return dict[str, Any]
    # The functional form takes names that are no identifiers.
    fields = {name: _type(below) for name, below in extent.fields.items()}
    return TypedDict("_Known", fields, total=False)  # type: ignore[operator]  # made at run time
