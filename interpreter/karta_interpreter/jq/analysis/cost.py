"""The size of the outputs of constructs and functions in a plain expression, relative to their input."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.inprocess.emitter import Singles
from karta_interpreter.jq.inprocess.functions import FUNCTIONS
from karta_interpreter.jq.inprocess.growth import (
    CONSTANT,
    ELEMENTS,
    INPUT,
    PIECES,
    SIZE_LIMIT,
    WORK_LIMIT,
    Growth,
    chosen,
    clash,
    collected,
    combined,
    conditional,
    joined,
    piped,
    text,
    written,
)
from karta_interpreter.jq.inprocess.record import Argument
from karta_interpreter.jq.syntax import Node, Span
from karta_interpreter.jq.syntax.traversal import is_merge

NOT_HERE: Final = "does not run in this process"
_REPEATED: Final = (Argument.EACH, Argument.SINGLE)
_LIGHT_OPERATORS: Final = frozenset(("*", "%", "and", "or"))
_COMPARISONS: Final = frozenset(("==", "!=", "<", "<=", ">", ">="))
_NAMES: Final = {
    ast.Alternative: "//",
    ast.Array: "[...]",
    ast.Bind: "as",
    ast.Break: "break",
    ast.Comma: ",",
    ast.Define: "def",
    ast.Foreach: "foreach",
    ast.If: "if",
    ast.Index: "[...]",
    ast.Iterate: "[]",
    ast.Label: "label",
    ast.Literal: '"..."',
    ast.Negate: "-",
    ast.Object: "{...}",
    ast.Pipe: "|",
    ast.Reduce: "reduce",
    ast.Slice: "[...:...]",
    ast.Text: '"..."',
    ast.Try: "catch",
}


class Note(Struct, frozen=True, gc=False):
    """A construct that keeps an expression from being plain: its text or name, its position, and the reason."""

    construct: str
    span: Span
    message: str


def find_notes(node: Node, variables: frozenset[str] = frozenset()) -> tuple[Note, ...]:
    """Return the reasons why an expression is not plain, in the order of the text; none if it is plain.

    ``variables`` are given beside the input, and count as a part of it.
    """
    meter = Meter(variables)
    meter.measure(node)
    return tuple(sorted(dict.fromkeys(meter.notes), key=lambda note: note.span.start))


class Meter:
    """Measures nodes; where one is not plain it notes so and goes on as if it were."""

    def __init__(self, variables: frozenset[str] = frozenset()) -> None:
        self.notes: list[Note] = []
        self._variables = variables
        self._repeated = False

    def measure(self, node: Node, *, repeated: bool = False) -> Growth:
        """What a node makes of its input; ``repeated`` if it runs for each of many inputs."""
        before, self._repeated = self._repeated, self._repeated or repeated
        growth = self._limited(node)
        self._repeated = before
        return growth

    def variable(self, node: ast.Variable) -> Growth:
        """What a variable gives: all of it for every input, so it is plain only where there is one."""
        if node.name not in self._variables:
            return self.outside(node)
        return self.note(node, "is read once for every output of what stands before it") if self._repeated else INPUT

    def _limited(self, node: Node) -> Growth:
        growth = _measure.dispatch(type(node))(node, self)
        if growth.size > SIZE_LIMIT:
            return self.note(node, f"can make its input more than {SIZE_LIMIT} times as large")
        if growth.work > WORK_LIMIT:
            return self.note(node, f"can take more than {WORK_LIMIT} steps for each element of its input")
        return growth

    def combine(self, node: Node, operands: Sequence[Growth], *, paths_are_light: bool = False) -> Growth:
        """What all combinations of some operands make of it."""
        if reason := clash(operands, paths_are_light=paths_are_light):
            return self.note(node, reason)
        return combined(operands)

    def reach(self, node: Node, target: Growth, keys: Sequence[Growth]) -> Growth:
        """What taking a part of a target makes of it; of a key nothing is left."""
        return self.combine(node, [target, *keys], paths_are_light=target.count is None)

    def outside(self, node: Node) -> Growth:
        """Note that a node is none of those that run in this process."""
        return self.note(node, NOT_HERE)

    def note(self, node: Node, reason: str) -> Growth:
        """Note why a node is not plain."""
        self.notes.append(Note(_name(node), node.span, f"`{_name(node)}` {reason}"))
        return INPUT


@singledispatch
def _measure(node: Node, meter: Meter) -> Growth:
    """What a node makes of its input; here, all those that no plain expression has."""
    return meter.outside(node)


@_measure.register
def _(_node: ast.Identity, _meter: Meter) -> Growth:
    return INPUT


@_measure.register
def _(node: ast.Literal, _meter: Meter) -> Growth:
    return text(node.value) if isinstance(node.value, str) else CONSTANT


@_measure.register
def _(node: ast.Index, meter: Meter) -> Growth:
    target, key = meter.measure(node.target), meter.measure(node.key)
    if isinstance(node.key, ast.Literal):
        # A piece of a text is no larger than the text.
        size = (
            target.size // PIECES if isinstance(node.target, ast.Call) and node.target.name == "split" else target.size
        )
        return replace(target, size=size, work=target.work + 1)
    return replace(meter.reach(node, target, [key]), small=target.small)


@_measure.register
def _(node: ast.Slice, meter: Meter) -> Growth:
    bounds = [bound for bound in (node.start, node.stop) if bound]
    target = meter.measure(node.target)
    return replace(meter.reach(node, target, list(map(meter.measure, bounds))), cheap=False, small=target.small)


@_measure.register
def _(node: ast.Iterate, meter: Meter) -> Growth:
    target = meter.measure(node.target)
    match node.target:
        case ast.Slice(_, None, ast.Literal(int() as most)) if most > 0 and target.count is not None:
            return replace(target, count=target.count * most, work=target.work + target.size, cheap=False)
    return piped(target, ELEMENTS)


@_measure.register
def _(node: ast.Variable, meter: Meter) -> Growth:
    return meter.variable(node)


@_measure.register
def _(node: ast.Pipe, meter: Meter) -> Growth:
    left = meter.measure(node.left)
    return piped(left, meter.measure(node.right, repeated=left.count is None))


@_measure.register
def _(node: ast.Comma, meter: Meter) -> Growth:
    return joined(list(map(meter.measure, [node.left, node.right])))


@_measure.register
def _(node: ast.Alternative, meter: Meter) -> Growth:
    return chosen(list(map(meter.measure, [node.left, node.right])))


@_measure.register
def _(node: ast.Binary, meter: Meter) -> Growth:
    operands = list(map(meter.measure, [node.left, node.right]))
    is_light = node.operator in _LIGHT_OPERATORS and not is_merge(node)
    growth = meter.combine(node, operands, paths_are_light=is_light)
    if is_light or _is_number(node.left) or _is_number(node.right):
        return replace(growth, size=growth.outputs, small=True)
    if node.operator in _COMPARISONS:
        return replace(growth, size=growth.outputs, cheap=growth.is_light, small=True)
    pieces = PIECES if node.operator == "/" and not growth.small else 1  # a string may be split
    return replace(growth, size=growth.size * pieces, cheap=growth.is_light)


@_measure.register
def _(node: ast.Negate, meter: Meter) -> Growth:
    body = meter.measure(node.body)
    return replace(body, size=body.outputs, small=True)


@_measure.register
def _(node: ast.If, meter: Meter) -> Growth:
    conditions = list(map(meter.measure, [condition for condition, _ in node.branches]))
    branches = list(map(meter.measure, [*(then for _, then in node.branches), node.otherwise or ast.Identity()]))
    result = replace(chosen(branches), work=max(branch.work for branch in branches))
    if any(condition.count is None for condition in conditions):
        meter.combine(node, [*conditions, result])
    return conditional(conditions, result)


@_measure.register
def _(node: ast.Try, meter: Meter) -> Growth:
    return meter.outside(node) if node.handler else meter.measure(node.body)


@_measure.register
def _(node: ast.Array, meter: Meter) -> Growth:
    return collected(meter.measure(node.body)) if node.body else CONSTANT


@_measure.register
def _(node: ast.Object, meter: Meter) -> Growth:
    operands = list(map(meter.measure, [part for entry in node.entries for part in (entry.key, entry.value)]))
    growth = meter.combine(node, operands)
    return replace(growth, size=growth.size + growth.outputs)


@_measure.register
def _(node: ast.Text, meter: Meter) -> Growth:
    if node.format:
        return meter.outside(node)
    parts = [text(part) if isinstance(part, str) else written(meter.measure(part)) for part in node.parts]
    return meter.combine(node, parts)


@_measure.register
def _(node: ast.Call, meter: Meter) -> Growth:
    function = FUNCTIONS.get((node.name, len(node.arguments)))
    kinds = function.arguments if function else [Argument.EACH] * len(node.arguments)
    pairs = list(zip(node.arguments, kinds, strict=True))
    growths = [meter.measure(argument, repeated=kind in _REPEATED) for argument, kind in pairs]
    problem = next(filter(None, (_problem(argument, kind) for argument, kind in pairs)), "")
    growth = NOT_HERE if function is None else problem or function.cost(node, growths)
    return growth if isinstance(growth, Growth) else meter.note(node, growth)


def _problem(argument: Node, kind: Argument) -> str:
    """Why an argument is not of its kind; empty if it is."""
    match kind, argument:
        case Argument.SINGLE, _ if argument not in Singles():
            return "has a replacement that may not have exactly one output"
        case (Argument.TEXT, ast.Literal(str())) | (Argument.FLAGS, ast.Literal(str() | None)):
            return ""
        case Argument.TEXT, _:
            return "has a message that is not a literal text"
        case Argument.FLAGS, _:
            return "has flags that are not a literal text"
    return ""


def _is_number(node: Node) -> bool:
    return isinstance(node, ast.Literal) and isinstance(node.value, int | float)


def _name(node: Node) -> str:
    """How a note names a node."""
    match node:
        case ast.Binary(operator):
            return operator
        case ast.Call(name):
            return name
        case ast.Format(name) | ast.Text(format=str() as name):
            return f"@{name}"
        case ast.Variable(name):
            return f"${name}"
        case _:
            return _NAMES[type(node)]
