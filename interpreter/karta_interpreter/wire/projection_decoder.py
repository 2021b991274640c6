"""Decodes the parts of a JSON object that an operation reads, and skips the others.

What is read is what orjson would make of it. What is skipped is checked to be JSON, but not looked at: a number in it
may be larger than any double, and nesting deeper than orjson allows.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeAlias, TypedDict, Union

import msgspec
import orjson
from msgspec.structs import astuple

from karta_interpreter.k8s.projection import Projection
from karta_interpreter.k8s.values import JSON

MOST_VALUES: Final = 12_000
"""Keys and values that a call can be about without keeping others waiting for long: some 30 ms if it is hostile."""


def values_in(text: bytes) -> int:
    """The number of keys and values, or more: strings may have what stands in front of a value.

    >>> values_in(b'{"a": [1, 2]}')
    5
    """
    return 1 + sum(map(text.count, (b",", b":", b"[", b"{")))


Read: TypeAlias = Callable[[bytes], tuple[JSON, ...]]
"""Reads a text; raises one of `UNREAD` when that is to be done in full, and perhaps cannot be done."""

UNREAD: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, orjson.JSONEncodeError)

_MOST: Final = 2**16
"""Bytes that are read of a text, written again; answering takes longer the more it is."""

_SURELY_FEW: Final = 2**15
"""As many bytes are never too much, whatever they are."""

_DISTRUST: Final = 15
"""After a text with more than that, so many others are taken to have more, too, if they are as long."""

_SCALARS: Final = (int, float, str, bool, None)


_TOO_MUCH: Final = "there is too much to read"

_Key: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
"""A patch cannot name what is below an empty key and holds all of that, so it has to be read in full."""


def partial_reader(projections: Mapping[str, Projection | None]) -> Read:
    """Return what reads an object that has these fields and no others, and gives their values in the same order.

    A value with a projection is an object, and objects in it have only the fields that the projection names. Any other
    value is read in full, and is None if it is missing.

    >>> projection = Projection()
    >>> projection.take("spec.replicas")
    >>> read = partial_reader({"object": projection, "replicas": None})
    >>> read(b'{"object": {"kind": "Job", "spec": {"replicas": 1, "template": {}}}}')
    ({'spec': {'replicas': 1}}, None)
    """
    fields = [(name, _object_type(part)) if part else (name, Any, None) for name, part in projections.items()]
    decoder = msgspec.json.Decoder(msgspec.defstruct("_Fields", fields, forbid_unknown_fields=True))
    too_long = distrust = 0

    def read(text: bytes) -> tuple[JSON, ...]:
        nonlocal too_long, distrust
        if distrust and len(text) >= too_long:
            distrust -= 1
            raise msgspec.ValidationError(_TOO_MUCH)
        if not text.isascii():
            text.decode()  # msgspec does not look whether what it skips is UTF-8
        values = astuple(decoder.decode(text))
        # This fails on integers that orjson would have read as doubles: it has no larger ones.
        if _is_much(orjson.dumps(values)):
            too_long, distrust = len(text), _DISTRUST
            raise msgspec.ValidationError(_TOO_MUCH)
        return values

    return read


def _is_much(written: bytes) -> bool:
    return len(written) > _MOST or (len(written) > _SURELY_FEW and values_in(written) > MOST_VALUES)


def _type(part: Projection) -> Any:  # noqa: ANN401 - a type
    if part.is_whole:
        return Any
    elements = _type(part.elements) if part.elements and not part.fields else Any
    return Union[(_object_type(part), list[elements], *_SCALARS)]  # type: ignore[valid-type]  # made at run time


def _object_type(part: Projection) -> Any:  # noqa: ANN401 - a type
    if part.elements and not part.fields:
        return dict[_Key, _type(part.elements)]  # type: ignore[misc]  # made at run time
    if part.elements or part.is_whole or "" in part.fields:
        return dict[str, Any]
    # The functional form takes names that are no identifiers.
    fields = {name: _type(below) for name, below in part.fields.items()}
    return TypedDict("_Known", fields, total=False)  # type: ignore[operator]  # made at run time
