"""The projection of a JSON value: the parts of it that a computation reads, and the decoder that reads no others.

Parts are decoded as orjson decodes them. Skipped parts are checked to be JSON, but numbers in them may be larger than
any double, and nesting deeper than orjson allows.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Annotated, Any, Final, TypeAlias, TypedDict, Union
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import astuple

from karta_interpreter.base.k8s.values import JSON, field_path

MOST_VALUES: Final = 12_000
"""Keys and values that one call may have in the server's own process: a hostile call of as many takes some 30 ms."""

Read: TypeAlias = Callable[[bytes], tuple[tuple[JSON, ...], bytes]]
"""Decodes a text. Returns the values, and the text of what was decoded.

Raises one of `UNREAD` for a text that has to be decoded as a whole, and is perhaps invalid.
"""

UNREAD: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError)

# The most bytes that the decoded parts may have when they are encoded again: the time of an answer grows with them.
_MOST: Final = 2**16

# Parts of this size have few enough values, whatever they are.
_SURELY_FEW: Final = 2**15

# The most parts of a projection: the decoder of as many takes 20 ms to make. The catalogue's largest has 630.
MOST_PARTS: Final = 1500

# The most directly nested lists or maps with elements that are read in part. Types double with each level.
_MOST_NESTED: Final = 3

_LARGE: Final = 2.0**63
_SCALARS: Final = (int, float, str, bool, None)

# Only the garbage collector frees a type. Readers of the catalogue have 8,900 parts, and share 1,300 types.
_TYPES: Final = WeakValueDictionary[str, Any]()
"""The types that readers use, by the text of their fields: a reference to types in it would keep these."""
_NUMBERS: Final = count()

# A patch cannot name a place below an empty key and replaces the whole object, so the object has to be read whole.
_Key: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class Projection:
    """The parts of a value that are read. Its type, and whether it is there, count as read in any case.

    ``fields`` are read of an object, ``elements`` of a list or of an object's values. ``is_whole`` is set if all is
    read, and ``is_raw`` too if few answers read it: `loaded` decodes such a value then. A value with too many parts is
    coarse: a part that would have one more is read whole instead.

    >>> projection = Projection()
    >>> projection.take("spec.replicas", "spec.containers[].image")
    >>> projection.at("spec", "containers").each().fields["image"].is_whole
    True
    """

    __slots__ = ("_room", "elements", "fields", "is_raw", "is_whole", "variables")

    def __init__(self, most: int = MOST_PARTS, room: list[int] | None = None) -> None:
        self.fields: dict[str, Projection] = {}
        self.elements: Projection | None = None
        self.is_whole = self.is_raw = False
        self.variables: dict[str, Projection] = {}
        """The projections of the values of variables, if what is read of them matters."""
        self._room = [most] if room is None else room
        """How many parts there may be besides, shared by all of them."""

    def at(self, *names: str) -> "Projection":
        """Return the part at a path of fields. If a value on the path is read whole, return that value."""
        current: Projection = self
        for name in names:
            below = current.fields.get(name)
            if below is None:
                below = current._below()
                if below is current:
                    break
                current.fields[name] = below
            current = below
        return current

    def each(self) -> "Projection":
        """Return the part for every element of a list, or every value of an object."""
        if self.elements is None:
            below = self._below()
            if below is self:
                return self
            self.elements = below
        return self.elements

    def _below(self) -> "Projection":
        """Return a new part, or this one if all below it is read anyway."""
        if not self.is_whole and not self._room[0]:
            self.is_whole = True
        if self.is_whole:
            return self
        self._room[0] -= 1
        return Projection(room=self._room)

    def mark(self) -> None:
        """Read all of the value."""
        self.is_whole = True

    def take(self, *paths: str) -> None:
        """Read all of the values at these paths. Each path ends at a field."""
        for path in paths:
            *parents, field = path.split(".")
            current: Projection = self
            for step in parents:
                name = step.removesuffix("[]")
                current = current.at(name) if step == name else current.at(name).each()
            current.at(field).mark()

    def paths(self, steps: int) -> list[str]:
        """Return the paths that are read, each cut to the given number of steps.

        >>> projection = Projection()
        >>> projection.take("spec.replicas", "spec.containers[].image")
        >>> projection.paths(4), projection.paths(1)
        (['spec.replicas', 'spec.containers[].image'], ['spec'])
        """
        named_projections = (
            [(field_path((name,)), projection) for name, projection in self.fields.items()] if steps else []
        )
        named_projections += [("[]", self.elements)] if steps and self.elements else []
        return [
            f"{name}{'.' if path[:1] not in ('', '[') else ''}{path}"
            for name, projection in named_projections
            for path in ([] if projection.is_whole else projection.paths(steps - 1)) or [""]
        ]


def count_values(text: bytes) -> int:
    """Return the number of keys and values, or more: the characters that precede a value are also counted in strings.

    >>> count_values(b'{"a": [1, 2]}')
    5
    """
    # In one pass: counting each character takes three times as long.
    return 1 + len(text) - len(text.translate(None, b",:[{"))


def reader(projections: Mapping[str, Projection | None], *, is_strict: bool = False) -> Read:
    """Return the decoder of an object that has these fields and no others, and returns their values in the same order.

    A value with a projection is an object, and objects in it have only the fields that the projection names. Any other
    value is read in full, and is None if it is missing. One that ``is_strict`` reads no number of more than 64 bits,
    and not all others.

    >>> projection = Projection()
    >>> projection.take("spec.replicas")
    >>> read = reader({"object": projection, "replicas": None})
    >>> read(b'{"object": {"kind": "Job", "spec": {"replicas": 1, "template": {}}}}')
    (({'spec': {'replicas': 1}}, None), b'[{"spec":{"replicas":1}},null]')
    """
    import orjson  # noqa: PLC0415 - the list of commands loads this room, and no reader

    fields = [
        (name, _object_type(projection, Any)) if projection else (name, Any, None)
        for name, projection in projections.items()
    ]
    decoder = msgspec.json.Decoder(
        _shared(fields, lambda: msgspec.defstruct("_Fields", fields, forbid_unknown_fields=True)),
        float_hook=_small if is_strict else None,
    )
    option = orjson.OPT_STRICT_INTEGER if is_strict else None  # 53 bits

    def read(text: bytes) -> tuple[tuple[JSON, ...], bytes]:
        if not text.isascii():
            text.decode()  # msgspec does not check that skipped text is UTF-8
        values = astuple(decoder.decode(text))
        # This is a TypeError for integers that orjson would have read as doubles: it has no larger ones.
        encoded = orjson.dumps(values, _left_out, option)
        if len(encoded) > _MOST or (len(encoded) > _SURELY_FEW and count_values(encoded) > MOST_VALUES):
            raise msgspec.ValidationError("the parts that are read are too large")
        return values, encoded

    return read


def _small(text: str) -> float:
    """Return a number in a value that is read whole. Raises ValidationError for one of more than 64 bits."""
    number = float(text)
    if abs(number) >= _LARGE:
        raise msgspec.ValidationError("a number is large")
    return number


def loaded(value: JSON) -> JSON:
    """Return a value that a reader may have left raw, or None if orjson cannot decode it.

    >>> loaded(msgspec.Raw(b"[1]")), loaded([1])
    ([1], [1])
    """
    import orjson  # noqa: PLC0415 - as in `reader`

    if not isinstance(value, msgspec.Raw):
        return value
    try:
        return orjson.loads(bytes(value))
    except orjson.JSONDecodeError:
        return None


def _left_out(value: object) -> None:
    """Encode a raw value as null: no expression walks it. Raises TypeError for any other value."""
    if not isinstance(value, msgspec.Raw):
        raise TypeError(type(value).__name__)


def _type(projection: Projection, nested: int = 0) -> Any:  # noqa: ANN401 - a type
    """Return the type of a part, which is ``nested`` in so many lists or maps without a field between."""
    if projection.is_whole or nested > _MOST_NESTED:
        return msgspec.Raw if projection.is_raw else Any
    elements = _type(projection.elements, nested + 1) if projection.elements and not projection.fields else Any
    return Union[(_object_type(projection, elements), list[elements], *_SCALARS)]  # type: ignore[valid-type]  # made at run time


def _object_type(projection: Projection, elements: Any) -> Any:  # noqa: ANN401 - types
    if projection.elements and not projection.fields:
        return dict[_Key, elements]  # made at run time
    if projection.elements or projection.is_whole or "" in projection.fields:
        return dict[str, Any]
    fields = {name: _type(below) for name, below in sorted(projection.fields.items())}
    # The functional form takes names that are not identifiers. By its number a type is known in the text of others.
    return _shared(
        [*fields.items()],
        lambda: TypedDict(f"_Known{next(_NUMBERS)}", fields, total=False),  # type: ignore[operator]  # made at run time
    )


def _shared(fields: Sequence[object], make: Callable[[], Any]) -> Any:  # noqa: ANN401 - a type
    """Return the type with these fields, which is made if there is none."""
    text = repr(fields)
    known = _TYPES.get(text)
    if known is None:
        known = _TYPES[text] = make()
    return known
