"""Writing through an expression: the path of each output, and how to change the output there.

Values and paths come from one compiler, `karta_interpreter.jq.inprocess`: for an input with an origin it writes the
Python for the origin beside that for the value. An expression is compiled twice, without and with origins: most calls
need none, and over the catalogue's expressions a trace takes 2.4 times as long as the values alone. `origins` has the
functions that the written Python calls, this module the paths.
"""

from typing import Final, NamedTuple

from karta_interpreter.errors import InterpretationError, QueryWriteError
from karta_interpreter.jq.inprocess.operators import multiply
from karta_interpreter.jq.inprocess.values import Number, equal, less, number_text, to_number, truthy
from karta_interpreter.k8s.edit import get, set_value
from karta_interpreter.k8s.values import JSON, Path, field_path

_TEXTS: Final = (("metadata", "annotations"), ("metadata", "labels"))
"""Objects in Kubernetes of which all values are text."""


def denotes(value: JSON, number: int) -> bool:
    """Whether a value is a number, or the text of it as annotations have it.

    >>> denotes(3, 3), denotes("3", 3), denotes("three", 3)
    (True, True, False)
    """
    return equal(value, number) or value == str(number)


class Location(NamedTuple):
    """A path whose value, changed in a known way, is an output of an expression.

    The output is ``min(cap, max(floor, value * factor))``, with ``default`` for a value that is null, false or
    absent, and a text read as a number if ``numeral``. ``floor`` and ``cap`` are in units of the output.
    """

    path: Path
    default: JSON = None
    factor: int = 1
    floor: Number | None = None
    cap: Number | None = None
    numeral: bool = False

    @property
    def is_unchanged(self) -> bool:
        """Whether the output is the value at the path or its default, as it is."""
        return self.factor == 1 and self.floor is None and self.cap is None and not self.numeral

    @property
    def is_plain(self) -> bool:
        """Whether the output is just the value at the path."""
        return self.default is None and self.is_unchanged

    def raw(self, document: JSON) -> JSON:
        """The value at the path, None where there is none."""
        return get(document, self.path)

    def read(self, document: JSON) -> JSON:
        """What the expression gives for the value at the path.

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

    def write(self, document: JSON, number: int) -> JSON:
        """A new document for which the expression gives ``number``; the same one where it already does.

        A number that the path has as text, or has to have so, is written as text. Raises QueryWriteError when no
        value at this path gives that number.

        >>> Location(("replicas",), factor=4).write({"replicas": 2}, 12)
        {'replicas': 3}
        >>> Location(("replicas",), default="1").write({}, 3)
        {'replicas': '3'}
        """
        if denotes(self.read(document), number):
            return document
        if problem := self._problem(number):
            raise QueryWriteError(f"{field_path(self.path)} cannot be set to give {number}: {problem}")
        # Where only the floor or the cap gives the number, the value is one below or above it.
        value = -(-number // self.factor) if number == self.cap else number // self.factor
        return self._set(document, value)

    def write_default(self, document: JSON) -> JSON:
        """A new document with the default at the path, where its parent is there and has no value; else the same one.

        The expression gives what it gave before.

        >>> Location(("spec", "replicas"), default=1).write_default({"spec": {}})
        {'spec': {'replicas': 1}}
        >>> Location(("spec", "replicas"), default=1).write_default({})
        {}
        """
        is_unset = self.raw(document) is None and get(document, self.path[:-1]) is not None
        return self._set(document, self.default) if is_unset and self.default is not None else document

    def scaled(self, factor: int) -> "Location":
        """The location of the output times ``factor``, which is not negative."""
        if factor == 1:
            return self
        floor = None if self.floor is None else self.floor * factor
        cap = None if self.cap is None else self.cap * factor
        return Location(self.path, self.default, self.factor * factor, floor, cap, self.numeral)

    def capped(self, cap: Number) -> "Location":
        """The location of the smaller one of the output and ``cap``."""
        cap = cap if self.cap is None else min(cap, self.cap)
        return Location(self.path, self.default, self.factor, self.floor, cap, self.numeral)

    def raised(self, floor: Number) -> "Location":
        """The location of the larger one of the output and ``floor``."""
        cap = None if self.cap is None else max(floor, self.cap)
        floor = floor if self.floor is None else max(floor, self.floor)
        return Location(self.path, self.default, self.factor, floor, cap, self.numeral)

    def _set(self, document: JSON, value: JSON) -> JSON:
        try:
            return set_value(document, self.path, str(value) if self._holds_text(document) else value)
        except InterpretationError as error:
            raise QueryWriteError(str(error)) from error

    def _problem(self, number: int) -> str:
        """Why a number cannot be written; empty when it can."""
        if not self.path:
            return "it is the whole object"
        if self.cap is not None and number > self.cap:
            return f"the object allows at most {number_text(self.cap)}"
        if self.floor is not None and number < self.floor:
            return f"the object allows at least {number_text(self.floor)}"
        if self.factor == 0:
            return "it is multiplied by 0"
        if number % self.factor and number not in (self.floor, self.cap):
            return f"it is not a multiple of {self.factor}"
        return ""

    def _holds_text(self, document: JSON) -> bool:
        """Whether the path holds text: its value or its default is text, or API servers accept only text there."""
        value = self.raw(document)
        known = value if truthy(value) else self.default
        return isinstance(known, str) or self.path[-3:-1] in _TEXTS
