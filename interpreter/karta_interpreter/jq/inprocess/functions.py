"""The functions that run in process, one record each: all that the compiler and the analyses know of them.

Their work grows with the size of their input, apart from sorting; none of them loops by itself. To add one, write its
record: the compiler, the analyses and the tests take it from `FUNCTIONS`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from karta_interpreter.errors import QueryEvaluationError
from karta_interpreter.jq.inprocess import calls, collection, costs, regex, values
from karta_interpreter.jq.inprocess.calls import Write
from karta_interpreter.jq.inprocess.costs import ANSWER, CONSTANT, ENTRIES, INPUT, PIECES, Cost, Growth
from karta_interpreter.jq.inprocess.operators import at_path, elements, item, split, total
from karta_interpreter.jq.syntax import Array, Call, Identity, If, Node, Pipe
from karta_interpreter.k8s.values import JSON, type_name


class Argument(Enum):
    """What an argument has to be, and how often it runs."""

    ONCE = auto()
    """Any expression; runs once for the input of the call."""
    EACH = auto()
    """Any expression; runs for each element, or for each output of another argument."""
    PATTERN = auto()
    """Any expression whose outputs are regular expressions; runs once."""
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


_SAME: Final = Growth()
_SPACE: Final = "".join(
    map(chr, (*range(9, 14), 32, 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288))
)
"""The white space of Unicode, as jq and gojq know it; Python's own also has the separators of ASCII."""

_LOWER: Final = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
"""Changes only the letters A to Z."""
_UPPER: Final = {lower: upper for upper, lower in _LOWER.items()}

_ONCE, _EACH, _PATTERN, _FLAGS = Argument.ONCE, Argument.EACH, Argument.PATTERN, Argument.FLAGS
_REPLACED: Final = (_PATTERN, Argument.SINGLE)


_CostOfOne: TypeAlias = Callable[[Growth], Growth | str]
"""The cost of a call that depends on that of its one argument."""


def _cost(known: Growth | Callable[..., Growth | str]) -> Cost:
    """The cost of a call that is known, or depends on those of its arguments alone."""
    return lambda _, arguments: known if isinstance(known, Growth) else known(*arguments)


def _of_input(name: str, implementation: Callable[[JSON], JSON], cost: Growth, origin: str | None) -> Function:
    """A function of the input alone, with one output."""
    return Function(name, (), Outputs.ONE, implementation, _cost(cost), Reads.ALL, origin, calls.of_input)


def _of_values(name: str, implementation: Callable[[JSON, JSON], JSON], cost: _CostOfOne) -> Function:
    """A function of the input and the value of one argument."""
    return Function(name, (_ONCE,), Outputs.EACH, implementation, _cost(cost), Reads.ALL, None, calls.of_values)


def _of_text(name: str, function: Callable[[str], str]) -> Function:
    """A function of a string alone, which returns one of the same size."""
    return _of_input(name, lambda value: function(values.text_of(name, value)), _SAME, None)


def _of_texts(name: str, function: Callable[[str, str], JSON], cost: _CostOfOne) -> Function:
    """A function of a string and the string that is the value of one argument."""
    return _of_values(name, lambda own, other: function(values.text_of(name, own), values.text_of(name, other)), cost)


def _of_type(name: str, cost: Growth, *kinds: str) -> Function:
    """A function that hands on an input of some types."""
    return Function(name, (), Outputs.ANY, None, _cost(cost), Reads.SELF, None, calls.of_type(*kinds))


def _by_key(name: str, implementation: Callable[[JSON, collection.Many], JSON], cost: _CostOfOne) -> Function:
    """A function that computes one value from the outputs of its argument for each element."""
    return Function(name, (_EACH,), Outputs.ONE, implementation, _cost(cost), Reads.ALL, None, calls.of_filter)


def _written(
    name: str,
    arguments: tuple[Argument, ...],
    outputs: Outputs,
    implementation: Callable[..., JSON] | None,
    cost: Growth | Callable[..., Growth | str],
    reads: Reads,
    write: Write,
) -> Function:
    """A function for which Python is written in place; the outputs that it hands on keep their origins."""
    return Function(name, arguments, outputs, implementation, _cost(cost), reads, None, write)


def _regex(
    name: str,
    arguments: tuple[Argument, ...],
    outputs: Outputs,
    implementation: Callable[..., Any],
    cost: Cost,
    write: Write,
) -> list[Function]:
    """A function of a regular expression, without and with flags."""
    each = (arguments, (*arguments, _FLAGS))
    return [Function(name, given, outputs, implementation, cost, Reads.ALL, None, write) for given in each]


def _of_number(name: str, function: Callable[[values.Number], values.Number]) -> Function:
    """A function of a number alone, which returns a number."""

    def implementation(value: JSON) -> values.Number:
        if values.is_number(value):
            return values.normal(function(values.normal(value)))
        raise QueryEvaluationError(f"{name} needs a number, not {type_name(value)}")

    return _of_input(name, implementation, CONSTANT, None)


def _rounded(number: values.Number) -> values.Number:
    """Halves go away from zero."""
    whole = math.floor(abs(number))
    return math.copysign(whole + (abs(number) - whole >= 0.5), number)  # noqa: PLR2004 - a half


def _selection(condition: Node) -> Node:
    return If(((condition, Identity()),), Call("empty"))


def _addition(terms: Node) -> Node:
    return Pipe(Array(terms), Call("add"))


def _entry_mapping(body: Node) -> Node:
    return Pipe(Pipe(Call("to_entries"), Call("map", (body,))), Call("from_entries"))


_ALL: Final = (
    # of the input
    _of_number("abs", abs),
    _of_input("add", lambda value: total(elements(value)), _SAME, None),
    _of_input("all", lambda value: all(map(values.truthy, elements(value))), ANSWER, None),
    _of_input("any", lambda value: any(map(values.truthy, elements(value))), ANSWER, None),
    _of_text("ascii_downcase", lambda text: text.translate(_LOWER)),
    _of_text("ascii_upcase", lambda text: text.translate(_UPPER)),
    _of_number("ceil", math.ceil),
    _of_number("fabs", abs),
    _of_input("first", lambda value: item(value, 0), INPUT, "step({origin}, {here}, 0, {result})"),
    _of_input("flatten", collection.flatten, _SAME, None),
    _of_number("floor", math.floor),
    _of_input("from_entries", collection.from_entries, _SAME, None),
    _of_input("keys", collection.keys, _SAME, None),
    _of_input("last", lambda value: item(value, -1), INPUT, "step({origin}, {here}, -1, {result})"),
    _of_input("length", collection.length, CONSTANT, None),
    _of_text("ltrim", lambda text: text.lstrip(_SPACE)),
    _of_input("max", collection.greatest, _SAME, "raised(*leftmost({origin}, {here}))"),
    _of_input("min", collection.least, _SAME, "lowered(*leftmost({origin}, {here}))"),
    _of_input("reverse", collection.reverse, _SAME, None),
    _of_number("round", _rounded),
    _of_text("rtrim", lambda text: text.rstrip(_SPACE)),
    _of_input("sort", collection.sort, _SAME, None),
    _of_input("to_entries", collection.to_entries, ENTRIES, "entry_origins({origin}, {here})"),
    _of_input("tojson", values.to_json, costs.written(INPUT), None),
    _of_input("tonumber", values.to_number, ANSWER, "numeral({origin})"),
    _of_input("tostring", values.to_text, costs.written(INPUT), None),
    _of_text("trim", lambda text: text.strip(_SPACE)),
    _of_input("unique", collection.unique, _SAME, None),
    _written("type", (), Outputs.ONE, values.kind, CONSTANT, Reads.NOTHING, calls.of_input),
    # of the input and of values
    _of_values("contains", collection.contains, costs.answer_to),
    _of_texts("endswith", str.endswith, costs.answer_to),
    _of_values("flatten", collection.flatten, costs.with_argument),
    _of_values("getpath", at_path, costs.with_argument),
    _of_values("has", collection.has, costs.key_test),
    _of_values("join", collection.join, costs.with_separator),
    _of_texts("ltrimstr", str.removeprefix, costs.with_argument),
    _of_texts("rtrimstr", str.removesuffix, costs.with_argument),
    _of_texts("split", split, lambda separator: costs.with_argument(separator, PIECES)),
    _of_texts("startswith", str.startswith, costs.answer_to),
    # by type
    _of_type("arrays", INPUT, "array"),
    _of_type("booleans", CONSTANT, "boolean"),
    _of_type("iterables", INPUT, "array", "object"),
    _of_type("nulls", CONSTANT, "null"),
    _of_type("numbers", CONSTANT, "number"),
    _of_type("objects", INPUT, "object"),
    _of_type("scalars", INPUT, "null", "boolean", "number", "string"),
    _of_type("strings", INPUT, "string"),
    _of_type("values", INPUT, "boolean", "number", "string", "array", "object"),
    # of each element
    _by_key("group_by", collection.group_by, lambda key: costs.per_element(key, 2)),
    _by_key("map_values", collection.map_values, lambda body: costs.per_element(body, body.size)),
    _by_key("max_by", collection.greatest_by, costs.per_element),
    _by_key("min_by", collection.least_by, costs.per_element),
    _by_key("sort_by", collection.sort_by, costs.per_element),
    _by_key("unique_by", collection.unique_by, costs.per_element),
    _written("map", (_EACH,), Outputs.ONE, None, costs.mapped, Reads.ELEMENTS, calls.mapping),
    _written("with_entries", (_EACH,), Outputs.ONE, None, costs.with_entries, Reads.ALL, calls.defined(_entry_mapping)),
    # of outputs
    _written("add", (_ONCE,), Outputs.ONE, None, costs.summed, Reads.OUTPUTS, calls.defined(_addition)),
    _written("all", (_EACH,), Outputs.ONE, None, costs.decided, Reads.TRUTH, calls.decision),
    _written("all", (_ONCE, _EACH), Outputs.ONE, None, costs.decided, Reads.TRUTH, calls.decision),
    _written("any", (_EACH,), Outputs.ONE, None, costs.decided, Reads.TRUTH, calls.decision),
    _written("any", (_ONCE, _EACH), Outputs.ONE, None, costs.decided, Reads.TRUTH, calls.decision),
    _written("first", (_ONCE,), Outputs.EACH, None, costs.one_of, Reads.FIRST, calls.first),
    _written("last", (_ONCE,), Outputs.EACH, None, costs.one_of, Reads.FIRST, calls.last),
    _written("IN", (_ONCE,), Outputs.ONE, collection.among, costs.among, Reads.ALL, calls.membership),
    _written("isempty", (_ONCE,), Outputs.ONE, None, costs.answered, Reads.PRESENCE, calls.emptiness),
    # choosing and failing
    _written("empty", (), Outputs.ANY, None, CONSTANT, Reads.NOTHING, calls.nothing),
    _written("error", (Argument.TEXT,), Outputs.ONE, None, CONSTANT, Reads.NOTHING, calls.failure),
    _written("not", (), Outputs.ONE, None, CONSTANT, Reads.NOTHING, calls.negation),
    _written("select", (_ONCE,), Outputs.ANY, None, costs.selected, Reads.SELF, calls.defined(_selection)),
    # of regular expressions
    *_regex("test", (_PATTERN,), Outputs.EACH, regex.test, costs.TEST, calls.result),
    *_regex("match", (_PATTERN,), Outputs.ANY, regex.match, costs.MATCH, calls.matches),
    *_regex("capture", (_PATTERN,), Outputs.ANY, regex.capture, costs.CAPTURE, calls.matches),
    *_regex("scan", (_PATTERN,), Outputs.ANY, regex.scan, costs.SCAN, calls.matches),
    *_regex("splits", (_PATTERN,), Outputs.ANY, regex.splits, costs.SPLITS, calls.matches),
    _regex("split", (_PATTERN,), Outputs.EACH, regex.split, costs.SPLIT, calls.result)[1],
    *_regex("sub", _REPLACED, Outputs.EACH, regex.replace, costs.SUB, calls.result),
    *_regex("gsub", _REPLACED, Outputs.EACH, regex.replace, costs.SUB, calls.result),
)

FUNCTIONS: Final = {function.key: function for function in _ALL}
"""By name and number of arguments."""
