"""The record of a function that runs in process. All that the compiler and the analyses know of it stands there."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeAlias

from karta_interpreter.jq.inprocess.costs import Cost
from karta_interpreter.jq.inprocess.writer import Sink
from karta_interpreter.jq.syntax import Call

if TYPE_CHECKING:
    from karta_interpreter.jq.inprocess.emitter import Emitter

Write: TypeAlias = Callable[["Emitter", Call, str, Sink], None]
"""Writes the Python of a call for an input, and of what is done with each output."""


class Argument(Enum):
    """What an argument has to be, and how often it runs."""

    ONCE = auto()
    """Any expression; runs once for the input of the call."""
    EACH = auto()
    """Any expression; runs for each element, or for each output of another argument."""
    PATTERN = auto()
    """Any expression that gives regular expressions; runs once."""
    SINGLE = auto()
    """An expression with exactly one output; runs for each match."""
    FLAGS = auto()
    """A literal text with the flags of a regular expression, or null."""
    TEXT = auto()
    """A literal text."""


class Outputs(Enum):
    """How many outputs a call has, unless it fails."""

    ONE = auto()
    EACH = auto()
    """One for each combination of outputs of its arguments, at most."""
    ANY = auto()


class Reads(Enum):
    """What a call reads of its input, and which parts of that its outputs are; mostly none."""

    ALL = auto()
    """All of it, to compute new values."""
    NOTHING = auto()
    """Its type at most."""
    SELF = auto()
    """The input is the output, if there is one. Arguments are conditions."""
    FIRST = auto()
    """What the argument reads; the outputs are among its outputs."""
    PRESENCE = auto()
    """What the argument reads to have outputs."""
    OUTPUTS = auto()
    """All outputs of the argument, to compute a new value."""
    ELEMENTS = auto()
    """All outputs of the argument for each element, to put them into a new value."""
    TRUTH = auto()
    """Whether the last argument is true for each element, or for each output of the first."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of jq.

    ``implementation`` is the Python function that the written code calls as `called`; None if the code of the call
    needs none. ``origin`` is Python for where the output is read from, with ``{origin}`` and ``{here}`` of the input
    and ``{result}``; None if there is no such place, or if ``write`` hands on values that have origins of their own.
    """

    name: str
    arguments: tuple[Argument, ...]
    outputs: Outputs
    implementation: Callable[..., Any] | None
    cost: Cost
    reads: Reads
    origin: str | None
    write: Write

    @property
    def key(self) -> tuple[str, int]:
        """Name and number of arguments."""
        return self.name, len(self.arguments)


def called(name: str, arity: int) -> str:
    """The name of an implementation in the Python of an expression."""
    return f"jq_{name}_{arity}"
