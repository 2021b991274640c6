"""Writing through an expression: the path of each output, and how to change the output there.

Values and paths come from one compiler, `karta_interpreter.languages.jq.compiled`: for an input with an origin it
writes Python for the origin next to Python for the value. An expression is compiled twice, without and with origins:
most calls need none, and over the catalogue's expressions a trace takes 2.4 times as long as just the values.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from karta_interpreter.base.errors import InterpretationError, QueryWriteError
from karta_interpreter.base.k8s import JSON, Path, field_path, get, set_value
from karta_interpreter.languages.jq.bounded.libjq import MOST_RESULTS
from karta_interpreter.languages.jq.compiled.collection import keys
from karta_interpreter.languages.jq.compiled.compiler import RUNTIME, by_name, compiled
from karta_interpreter.languages.jq.compiled.operators import multiply, position
from karta_interpreter.languages.jq.compiled.values import (
    Number,
    equal,
    is_number,
    less,
    normal,
    number_text,
    to_number,
    truthy,
)
from karta_interpreter.languages.jq.syntax import Node

# Objects in Kubernetes that contain only text values.
_TEXTS: Final = (("metadata", "annotations"), ("metadata", "labels"))


class Location(NamedTuple):
    """A path with a value that, changed in a known way, is an output of an expression.

    The output is ``min(cap, max(floor, value * factor))``.
    """

    path: Path
    default: JSON = None
    """The output for a value that is null, false or absent."""
    factor: int = 1
    floor: Number | None = None
    """In units of the output, like ``cap``."""
    cap: Number | None = None
    numeral: bool = False
    """Whether a text is read as a number."""

    @property
    def is_unchanged(self) -> bool:
        """Whether the output is the value at the path or its default, as it is."""
        return self.factor == 1 and self.floor is None and self.cap is None and not self.numeral

    @property
    def is_plain(self) -> bool:
        """Whether the output is just the value at the path."""
        return self.default is None and self.is_unchanged

    def raw(self, document: JSON) -> JSON:
        """Return the value at the path, or None if there is none."""
        return get(document, self.path)

    def read(self, document: JSON) -> JSON:
        """Return the output of the expression for the value at the path.

        >>> Location(("replicas",), default=1, factor=4, cap=10).read({"replicas": 2})
        8
        """
        value = self.raw(document)
        if not truthy(value) and self.default is not None:
            value = self.default
        if self.numeral:
            value = to_number(value)
        if self.factor != 1 and value is not None:  # null is below every floor, and multiplied by nothing then
            value = multiply(value, self.factor)
        if self.floor is not None and less(value, self.floor):
            value = self.floor
        if self.cap is not None and less(self.cap, value):
            value = self.cap
        return value

    def write(self, document: JSON, number: int, of: str = "") -> JSON:
        """Return a new document with the output ``number``, or the same document if it already has that output.

        An error names the unit (``of``).

        A number is written as text if the path has it as text or requires text. Raises QueryWriteError if no value at
        this path has that output.

        >>> Location(("replicas",), factor=4).write({"replicas": 2}, 12)
        {'replicas': 3}
        >>> Location(("replicas",), default="1").write({}, 3)
        {'replicas': '3'}
        """
        present = self.read(document)
        if equal(present, number) or present == str(number):  # annotations have it as text
            return document
        if problem := self._problem(number):
            raise QueryWriteError(f"{field_path(self.path)} cannot be set to give {number}{of}: {problem}")
        # Where only the floor or the cap gives the number, the value is one below or above it.
        value = -(-number // self.factor) if number == self.cap else number // self.factor
        return self._set(document, value)

    def write_default(self, document: JSON, value: JSON) -> JSON:
        """Return a document with what counts by default at the path if the parent exists and has no value there.

        Otherwise it returns the same document. The output stays the same. A default that other fields raise from 0 may
        be no number to write.

        >>> Location(("spec", "replicas"), default=1).write_default({"spec": {}}, 1)
        {'spec': {'replicas': 1}}
        >>> Location(("spec", "replicas"), default=1).write_default({}, 1)
        {}
        """
        is_unset = self.raw(document) is None and get(document, self.path[:-1]) is not None
        is_number = self.default is not None and (value or self.floor is None)
        return self._set(document, value) if is_unset and is_number else document

    def scaled(self, factor: int) -> "Location":
        """Return the location of the output times ``factor``, which is not negative."""
        floor = None if self.floor is None else self.floor * factor
        cap = None if self.cap is None else self.cap * factor
        return Location(self.path, self.default, self.factor * factor, floor, cap, self.numeral)

    def capped(self, cap: Number) -> "Location":
        """Return the location of the smaller one of the output and ``cap``."""
        cap = cap if self.cap is None else min(cap, self.cap)
        return Location(self.path, self.default, self.factor, self.floor, cap, self.numeral)

    def raised(self, floor: Number) -> "Location":
        """Return the location of the larger one of the output and ``floor``."""
        # The floor is applied last: it raises a value again that the cap made smaller.
        cap = None if self.cap is None else max(floor, self.cap)
        floor = floor if self.floor is None else max(floor, self.floor)
        return Location(self.path, self.default, self.factor, floor, cap, self.numeral)

    def _set(self, document: JSON, value: JSON) -> JSON:
        # API servers accept only text at some paths.
        current = own if truthy(own := self.raw(document)) else self.default
        holds_text = isinstance(current, str) or self.path[-3:-1] in _TEXTS
        try:
            return set_value(document, self.path, str(value) if holds_text else value)
        except InterpretationError as error:
            raise QueryWriteError(str(error)) from error

    def _problem(self, number: int) -> str:
        """Return why a number cannot be written, or an empty text if it can."""
        if not self.path:
            return "it is the whole object"
        if self.cap is not None and number > self.cap:
            return f"the object allows at most {number_text(self.cap)}"
        if self.floor is not None and number < self.floor:
            return f"the object allows at least {number_text(self.floor)}"
        if self.factor == 0:
            return "it is multiplied by 0"
        if number % self.factor and number not in (self.floor, self.cap):
            return f"it is not a multiple of {self.factor}, and each 1 there gives {self.factor}"
        return ""


Origin: TypeAlias = "Location | list[Origin] | dict[str | int, Origin] | None"
"""The location that a value can be written through, or the origins of the parts of a new array or object."""


Trace: TypeAlias = Callable[[JSON], list[tuple[JSON, Origin]]]


def inside(origin: Origin, names: tuple[str | int, ...], value: JSON) -> Origin:
    """Return the origin of ``value``, which is at these names.

    A part of a place is a place, as it is or as its default.
    """
    while names and isinstance(origin, list | dict):
        name, names = names[0], names[1:]
        if isinstance(origin, dict):
            origin = origin.get(name)
        else:
            origin = origin[name] if isinstance(name, int) and name < len(origin) else None
    if not names:
        return origin
    if not isinstance(origin, Location) or not origin.is_unchanged:
        return None
    return Location(origin.path + names, None if origin.default is None else value)


def step(origin: Origin, whole: JSON, key: JSON, value: JSON) -> Origin:
    """Return the origin of ``value``, which is ``whole[key]``. Slices and impossible elements have no origin."""
    if isinstance(key, str):
        return inside(origin, (key,), value)
    if not is_number(key):
        return None
    if key >= 0:
        return inside(origin, (int(normal(key)),), value)
    index = position(whole, key) if isinstance(whole, list) else None
    return None if index is None else inside(origin, (index,), value)


def entries(whole: JSON, elements: Sequence[JSON]) -> Iterator[tuple[str | int, JSON]]:
    """Yield the names of elements with the elements. There may be fewer than in the whole."""
    return zip(sorted(whole) if isinstance(whole, dict) else range(len(elements)), elements, strict=False)


def entry_origins(origin: Origin, whole: JSON) -> list[Origin]:
    """``to_entries``: each value keeps its origin."""
    return [{"value": inside(origin, (key,), whole[key])} for key in keys(whole)]


def instead(missing: Origin, origin: Origin, left: JSON, right: JSON) -> Origin:
    """Return the origin of ``left // right`` if the left side, ``missing``, is null or false.

    Writing there makes it true. So of several places without a value that share a default, as in ``.a // .b // 1``, the
    first one is written.
    """
    if not isinstance(missing, Location) or not missing.is_plain or (origin and not isinstance(origin, Location)):
        return origin
    if isinstance(origin, Location) and origin.default is None:  # a value is there, or nothing but a place
        return origin
    return origin if right is None and left is not None else Location(missing.path, right)


def alone(missing: list[tuple[JSON, Origin]]) -> tuple[JSON, Origin]:
    """Return the missing value if there is exactly one. Several do not share a place."""
    return missing[0] if len(missing) == 1 else (None, None)


def times(origin: Origin, factor: JSON) -> Location | None:
    """Return the origin of a product with a known factor, a whole number that is not negative."""
    number = normal(factor)
    return origin.scaled(number) if isinstance(origin, Location) and isinstance(number, int) and number >= 0 else None


def lowered(origin: Origin, values: Sequence[JSON]) -> Location | None:
    """Return the origin of the least of a value and others, which limit it."""
    if not isinstance(origin, Location) or not all(map(is_number, values)):
        return None
    return origin.capped(min(values)) if values else origin


def raised(origin: Origin, values: Sequence[JSON]) -> Location | None:
    """Return the origin of the largest of a value and others that limit it. Null does not limit it."""
    limits = [other for other in values if other is not None]
    if not isinstance(origin, Location) or not all(map(is_number, limits)):
        return None
    return origin.raised(max(limits)) if limits else origin


def leftmost(origins: Origin, values: list[JSON]) -> tuple[Location | None, list[JSON]]:
    """Return the first location among the elements of an array, and the values of all the others."""
    for index, origin in enumerate(origins if isinstance(origins, list) else ()):
        if isinstance(origin, Location):
            return origin, values[:index] + values[index + 1 :]
    return None, []


def numeral(origin: Origin) -> Location | None:
    """Return the origin of a number that may be text there."""
    return origin._replace(numeral=True) if isinstance(origin, Location) else None


_KNOWN: Final = {
    **RUNTIME,
    **by_name(Location, alone, entries, entry_origins, enumerate, inside, instead),
    **by_name(leftmost, lowered, numeral, raised, step, times),
}


def compile_trace(node: Node, most: int = MOST_RESULTS) -> Trace:
    """Compile a plain expression to a function that returns all outputs for an object, each with its origin there.

    Only constructs that hand a value on are followed. The outputs of every other construct have no origin. The function
    raises QueryLimitError for more than ``most`` outputs.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> compile_trace(parse(".a, 1"))({"a": 2})
    [(2, Location(path=('a',), default=None, factor=1, floor=None, cap=None, numeral=False)), (1, None)]
    """
    return compiled(lambda writer: writer.return_list(node, most), _KNOWN, ())
