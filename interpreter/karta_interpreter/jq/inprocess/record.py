"""The record of a function that runs in process. All that the compiler and the analyses know of it stands there."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeAlias

from karta_interpreter.jq.inprocess.costs import Cost
from karta_interpreter.jq.inprocess.writer import Sink
from karta_interpreter.jq.syntax import Call, Node
from karta_interpreter.k8s.projection import Projection, take_each

if TYPE_CHECKING:
    from karta_interpreter.jq.inprocess.emitter import Emitter

Projections: TypeAlias = tuple[Projection, ...]
Reach: TypeAlias = Callable[[Node, Projections], Projections]
"""`karta_interpreter.jq.inprocess.reads.reach`, which marks what an argument reads."""

Reads: TypeAlias = Callable[[Reach, Sequence[Node], Projections], Projections]
"""Marks what a call with these arguments reads; returns the parts of the input that its outputs are."""

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


def reads_all(_reach: Reach, _arguments: Sequence[Node], inputs: Projections) -> Projections:
    """All of the input, to compute new values."""
    return taken(inputs)


def reads_nothing(_reach: Reach, _arguments: Sequence[Node], _inputs: Projections) -> Projections:
    """No part of the input: its type is known without."""
    return ()


def reads_output(_reach: Reach, _arguments: Sequence[Node], inputs: Projections) -> Projections:
    """The input is the output, if there is one."""
    return inputs


def reads_condition(reach: Reach, arguments: Sequence[Node], inputs: Projections) -> Projections:
    """``select(condition)``: the input is the output where the condition, which reads it, is true."""
    reach(arguments[0], inputs)
    return inputs


def reads_source(reach: Reach, arguments: Sequence[Node], inputs: Projections) -> Projections:
    """The outputs are among those of the argument."""
    return reach(arguments[0], inputs)


def reads_presence(reach: Reach, arguments: Sequence[Node], inputs: Projections) -> Projections:
    """Only whether the argument has outputs."""
    reach(arguments[0], inputs)
    return ()


def reads_outputs(reach: Reach, arguments: Sequence[Node], inputs: Projections) -> Projections:
    """All of the argument's outputs, to compute a new value."""
    return taken(reach(arguments[0], inputs))


def reads_elements(reach: Reach, arguments: Sequence[Node], inputs: Projections) -> Projections:
    """All of the argument's outputs for each element, to put them into a new value."""
    return reads_outputs(reach, arguments, _elements(inputs))


def reads_truth(reach: Reach, arguments: Sequence[Node], inputs: Projections) -> Projections:
    """``any`` and ``all``: whether the last argument is true for each element, or for each output of the first."""
    *source, condition = arguments
    reach(condition, reach(source[0], inputs) if source else _elements(inputs))
    return ()


def taken(parts: Iterable[Projection]) -> Projections:
    """Mark all of some parts as read. What is computed from them is no part of the input."""
    take_each(parts)
    return ()


def _elements(parts: Projections) -> Projections:
    return tuple(part.each() for part in parts)
