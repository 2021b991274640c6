"""Finds the constructs and functions of an expression that are not plain, by the size of their outputs."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.base.findings import Span
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.compiled import costs
from karta_interpreter.languages.jq.compiled.functions import Argument, function_of
from karta_interpreter.languages.jq.compiled.singles import Singles, repeats_pieces
from karta_interpreter.languages.jq.syntax.traversal import is_merge

NOT_HERE: Final = "does not run in this process"
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


class Reason(Struct, frozen=True, gc=False):
    """Why an expression is rejected or not plain: the position of a construct, and the text to write instead."""

    span: Span
    message: str
    hint: str = ""

    @staticmethod
    def in_order(reasons: Iterable["Reason"]) -> tuple["Reason", ...]:
        """Each reason once, in the order of the text: a key that is also read is in the tree twice."""
        return tuple(sorted(dict.fromkeys(reasons), key=lambda reason: reason.span.start))


def find_notes(node: ast.Node, variables: frozenset[str]) -> tuple[tuple[Reason, ...], int]:
    """Return why an expression is not plain, and the steps that it may take for each element of its input.

    ``variables`` count as a part of the input. There are 0 steps if the time does not depend on the input.
    """
    meter = _Meter(variables)
    growth = meter.measure(node)
    return Reason.in_order(meter.notes), 0 if growth.cheap else growth.work


class _Meter:
    """Measures nodes. If a node is not plain, the meter notes that and goes on as if it were."""

    def __init__(self, variables: frozenset[str]) -> None:
        self.notes: list[Reason] = []
        self._variables = variables
        self._repeated = False

    def measure(self, node: ast.Node, *, repeated: bool = False) -> costs.Growth:
        """Return how a node grows its input. ``repeated`` is set if the node runs for each of many inputs."""
        before, self._repeated = self._repeated, self._repeated or repeated
        growth = self._growth(node)
        self._repeated = before
        if growth.size > costs.SIZE_LIMIT:
            return self._note(node, f"can make its input more than {costs.SIZE_LIMIT} times as large")
        if growth.work > costs.WORK_LIMIT:
            return self._note(node, f"can take more than {costs.WORK_LIMIT} steps for each element of its input")
        return growth

    def _growth(self, node: ast.Node) -> costs.Growth:  # noqa: C901, PLR0911, PLR0912 - one case for each construct
        match node:
            case ast.Identity():
                return costs.INPUT
            case ast.Literal(value):
                return costs.text(value) if isinstance(value, str) else costs.CONSTANT
            case ast.Index():
                return self._index(node)
            case ast.Pipe(left, right):
                growth = self.measure(left)
                return costs.piped(growth, self.measure(right, repeated=growth.count is None))
            case ast.FunctionCall():
                return self._call(node)
            case ast.Iterate(target):
                growth = self.measure(target)
                match target:
                    case ast.Slice(_, None, ast.Literal(int() as most)) if most > 0 and growth.count is not None:
                        work = growth.work + growth.size
                        return replace(growth, count=growth.count * most, work=work, cheap=False)
                return costs.piped(growth, costs.ELEMENTS)
            case ast.Alternative(left, right):
                return costs.chosen(self._all([left, right]))
            case ast.Binary():
                return self._binary(node)
            case ast.Object(entries):
                growth = self._combine(
                    node, self._all([inner for entry in entries for inner in (entry.key, entry.value)])
                )
                return replace(growth, size=growth.size + growth.outputs)
            case ast.If():
                return self._choice(node)
            case ast.Array(body):
                return costs.collected(self.measure(body)) if body else costs.CONSTANT
            case ast.Variable(name) if name in self._variables:
                # It outputs all of its value for every input.
                reason = "is read once for every output of what stands before it"
                return self._note(node, reason) if self._repeated else costs.INPUT
            case ast.Slice(target, start, stop):
                growth, keys = self.measure(target), self._all([bound for bound in (start, stop) if bound])
                return replace(self._reach(node, growth, keys), cheap=False, small=growth.small)
            case ast.Comma(left, right):
                return costs.joined(self._all([left, right]))
            case ast.Negate(body):
                growth = self.measure(body)
                return replace(growth, size=growth.outputs, small=True)
            case ast.Try(body, None):
                return self.measure(body)
            case ast.Text(_, None):
                return self._text(node)
        return self._note(node, NOT_HERE)

    def _all(self, nodes: Iterable[ast.Node]) -> list[costs.Growth]:
        return list(map(self.measure, nodes))

    def _text(self, node: ast.Text) -> costs.Growth:
        singles = Singles()
        repeats = repeats_pieces(node, singles)

        def piece(part: str | ast.Node) -> costs.Growth:
            if isinstance(part, str):
                return costs.text(part)
            return (costs.repeated if repeats and part in singles else costs.written)(self.measure(part))

        return self._combine(node, list(map(piece, node.parts)))

    def _index(self, node: ast.Index) -> costs.Growth:
        target, key = self.measure(node.target), self.measure(node.key)
        if not isinstance(node.key, ast.Literal):
            return replace(self._reach(node, target, [key]), small=target.small)
        # A piece of a text is no larger than the text.
        pieces = costs.PIECES if isinstance(node.target, ast.FunctionCall) and node.target.name == "split" else 1
        return replace(target, size=target.size // pieces, work=target.work + 1)

    def _binary(self, node: ast.Binary) -> costs.Growth:
        is_light = node.operator in _LIGHT_OPERATORS and not is_merge(node)
        growth = self._combine(node, self._all([node.left, node.right]), paths_are_light=is_light)
        if is_light or _is_number(node.left) or _is_number(node.right):
            return replace(growth, size=growth.outputs, small=True)
        if node.operator in _COMPARISONS:
            return replace(growth, size=growth.outputs, cheap=growth.is_light, small=True)
        pieces = costs.PIECES if node.operator == "/" and not growth.small else 1  # a string may be split
        return replace(growth, size=growth.size * pieces, cheap=growth.is_light)

    def _choice(self, node: ast.If) -> costs.Growth:
        conditions = self._all([condition for condition, _ in node.branches])
        branches = self._all([*(then for _, then in node.branches), node.otherwise or ast.Identity()])
        result = replace(costs.chosen(branches), work=max(branch.work for branch in branches))
        if any(condition.count is None for condition in conditions):
            self._combine(node, [*conditions, result])
        return costs.conditional(conditions, result)

    def _call(self, node: ast.FunctionCall) -> costs.Growth:
        function = function_of(node)
        kinds = function.arguments if function else [Argument.EACH] * len(node.arguments)
        pairs = list(zip(node.arguments, kinds, strict=True))
        growths = [
            self.measure(argument, repeated=kind in (Argument.EACH, Argument.SINGLE)) for argument, kind in pairs
        ]
        problem = next(filter(None, (_problem(argument, kind) for argument, kind in pairs)), "")
        growth = NOT_HERE if function is None else problem or function.cost(node, growths)
        return growth if isinstance(growth, costs.Growth) else self._note(node, growth)

    def _combine(
        self, node: ast.Node, operands: Sequence[costs.Growth], *, paths_are_light: bool = False
    ) -> costs.Growth:
        """Return how all combinations of some operands grow the input."""
        if reason := costs.clash(operands, paths_are_light=paths_are_light):
            return self._note(node, reason)
        return costs.combined(operands)

    def _reach(self, node: ast.Node, target: costs.Growth, keys: Sequence[costs.Growth]) -> costs.Growth:
        """Return how taking a part of a target grows the input. The output contains nothing of the keys."""
        keys = [replace(key, size=0, yields=key.outputs) for key in keys]
        return self._combine(node, [target, *keys], paths_are_light=target.count is None)

    def _note(self, node: ast.Node, reason: str) -> costs.Growth:
        self.notes.append(Reason(node.span, f"`{_name(node)}` {reason}"))
        return costs.INPUT


def _problem(argument: ast.Node, kind: Argument) -> str:
    """Return why an argument is not of its kind, or an empty text if it is."""
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


def _is_number(node: ast.Node) -> bool:
    return isinstance(node, ast.Literal) and isinstance(node.value, int | float)


def _name(node: ast.Node) -> str:
    match node:
        case ast.Binary(operator):
            return operator
        case ast.FunctionCall(name):
            return name
        case ast.Format(name) | ast.Text(format=str() as name):
            return f"@{name}"
        case ast.Variable(name):
            return f"${name}"
        case _:
            return _NAMES[type(node)]
