"""Python for conditions, and for the constructs that choose by them."""

import re
from collections.abc import Callable
from typing import Final

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.inprocess.writer import DEEPEST, Sink, Writer, is_empty, is_name, truth, untruth
from karta_interpreter.jq.syntax import Node


class Choices(Writer):
    """Writes conditions, and the constructs that choose by them."""

    def condition(self, node: Node, here: str) -> str:
        """Write what an expression with one output needs, and return Python that is true if that is true to jq."""
        if self.depth >= DEEPEST:
            return truth(self.named(self.value(node, here)))
        before, self.origins = self.origins, {}  # what a condition reads needs no origins
        self.depth += 1
        text = self._condition(node, here)
        self.depth -= 1
        self.origins = before
        return text

    def _condition(self, node: Node, here: str) -> str:
        match node:
            case ast.Binary("and" | "or"):
                return self._decided(node, here)
            case ast.Binary(operator, left, right) if is_comparison(operator):
                other = self.value(right, here)
                return comparison(operator, self.named(self.value(left, here)), other)
            case ast.Pipe(left, right) if left in self.module.singles:
                return self.condition(right, self.value(left, here))
            case ast.Call("not", ()):
                return untruth(self.named(here))
        return truth(self.named(self.value(node, here)))

    def logic(self, node: ast.Binary, here: str, sink: Sink) -> None:
        """``left and right`` or ``left or right``; the left one runs first and may decide alone."""
        if node in self.module.singles:
            sink.write(self._decided(node, here))
            return
        right = ast.Pipe(node.right, ast.Pipe(ast.Call("not"), ast.Call("not")))  # whether it is true
        then, other = (right, ast.Literal(False)) if node.operator == "and" else (ast.Literal(True), right)
        self.conditional(ast.If(((node.left, then),), other), here, sink)

    def _decided(self, node: ast.Binary, here: str) -> str:
        """``and`` or ``or`` of two expressions with one output; a variable that holds a boolean."""
        own = self.condition(node.left, here)
        result = own if is_name(own) else self.bind(own)
        with self.block(f"if {result}:" if node.operator == "and" else f"if not {result}:"):
            self.line(f"{result} = {self.condition(node.right, here)}")
        return result

    def alternative(self, node: ast.Alternative, here: str, sink: Sink) -> None:
        """``left // right``: the true outputs of ``left``, or ``right`` when there is none.

        Errors of ``left`` are errors, and a generator on the left falls back once, not per element.
        """
        if node in self.module.singles:
            left = self.entered(self.named(self.value(node.left, here)))
            result = self.new()
            self.line(f"{result} = {left}")
            with self.block(f"if {untruth(result)}:"):
                right = self.value(node.right, here)
                self.line(f"{result} = {right}")
            sink.write(self._chosen(result, left, right))
        elif is_empty(node.right):
            self.each(node.left, here, Sink(lambda output: self._present(output, sink)))
        elif not sink.short:
            self.stream(node, here, sink)
        else:
            self._first_or_others(node, here, sink)

    def _chosen(self, result: str, left: str, right: str) -> str:
        """An output of ``left // right``; where the left side is null or false, writing there makes it true."""
        if not {left, right} & self.origins.keys():
            return result
        other = f"instead({self.origin(left)}, {self.origin(right)}, {left}, {result})"
        return self.located(result, f"({other} if {untruth(left)} else {self.origin(left)})")

    def _present(self, output: str, sink: Sink) -> None:
        output = self.named(output)
        with self.block(f"if {truth(output)}:"):
            sink.write(output)

    def _first_or_others(self, node: ast.Alternative, here: str, sink: Sink) -> None:
        """Write ``left // right`` for a left side with any number of outputs; one that is missing may be written."""
        is_traced, missing = here in self.origins, self.bind("[]")

        def write(output: str) -> None:
            output = self.named(output)
            with self.block(f"if {truth(output)}:"):
                self.line(f"{missing} = None")
                sink.write(output)
            if is_traced:
                with self.block(f"elif {missing} is not None:"):
                    self.line(f"{missing}.append(({output}, {self.origin(output)}))")

        self.each(node.left, here, Sink(write))
        with self.block(f"if {missing} is not None:"):
            if not is_traced:
                self.each(node.right, here, sink)
                return
            left = self.variable(here)
            self.line(f"{left}, {self.origin(left)} = alone({missing})")
            choose = Sink(lambda right: sink.write(self._chosen(self.bind(right), left, right)), sink.short)
            self.each(node.right, here, choose)

    def conditional(self, node: ast.If, here: str, sink: Sink) -> None:
        """``if condition then ... else ... end``, once for every output of the condition."""
        (condition, then), *others = node.branches
        other = self._else(others, node.otherwise or ast.Identity())
        if node in self.module.singles:
            result = self.variable(here)
            with self.block(f"if {self.condition(condition, here)}:"):
                self.assign(result, self.value(then, here))
            with self.block("else:"):
                self.assign(result, self.value(other, here))
            sink.write(result)
        elif not (sink.short or is_empty(then) or is_empty(other)):
            self.stream(node, here, sink)
        else:

            def write(text: str) -> None:
                with self.block(f"if {text}:"):
                    self.each(then, here, sink)
                if not is_empty(other):
                    with self.block("else:"):
                        self.each(other, here, sink)

            self.asked(condition, here, write)

    def _else(self, branches: list[tuple[Node, Node]], otherwise: Node) -> Node:
        """Turn ``elif`` into an ``if`` inside of ``else``."""
        for branch in reversed(branches):
            otherwise = ast.If((branch,), otherwise)
            # From the inside out: there may be more of them than Python can recurse.
            _ = otherwise in self.module.singles
        return otherwise

    def asked(self, condition: Node, here: str, use: Callable[[str], None]) -> None:
        """Write what is done with every output of a condition, as Python that is true if the output is."""
        if condition in self.module.singles:
            use(self.condition(condition, here))
        else:
            self.each(condition, here, Sink(lambda output: use(truth(self.named(output)))))

    def attempt(self, node: ast.Try, here: str, sink: Sink) -> None:
        """``try body``: its outputs up to the first error that can be caught; limits and missing references cannot."""
        match node.body:
            case _ if node.handler is not None:
                raise ValueError("a handler is not plain")
            case ast.Iterate(ast.Identity()):
                self.elements(here, sink, "optional_elements")
            case body if body in self.module.singles:
                self._tried(lambda: self.bind(self.value(body, here)), sink)
            case body:
                self.streamed(lambda writer: writer.produce_tried(body), here, sink)

    def produce_tried(self, body: Node) -> None:
        """Write the body of a generator of all outputs up to the first error."""
        self._tried(lambda: self.produce(body), None)

    def _tried(self, write: Callable[[], str | None], sink: Sink | None) -> None:
        with self.block("try:"):
            output = write()
        with self.block("except UNCAUGHT:"):
            self.line("raise")
        with self.block("except QueryEvaluationError:"):
            pass
        if sink is not None and output is not None:
            with self.block("else:"):
                sink.write(output)


_EXACT: Final = 2**53
_SAFE: Final = 2**52
_INTEGER: Final = re.compile(r"-?[0-9]{1,15}")
MERGE: Final = "merge"
"""The operator of a product of objects."""

_FUNCTIONS: Final = {"+": "add", "-": "subtract", "*": "multiply", MERGE: "merge", "/": "divide", "%": "modulo"}
_ORDERS: Final = {
    "<": "less({left}, {right})",
    ">": "less({right}, {left})",
    "<=": "not less({right}, {left})",
    ">=": "not less({left}, {right})",
}


def is_comparison(operator: str) -> bool:
    """Whether the result of an operator is a boolean for all operands."""
    return operator in ("==", "!=") or operator in _ORDERS


def arithmetic(operator: str, left: str, right: str, result: str) -> str:
    """Python for ``left operator right``; ``result`` is the variable that will hold it."""
    general = f"{_FUNCTIONS[operator]}({left}, {right})"
    variables = [atom for atom in (left, right) if not is_integer(atom)]
    integers = "".join(f"type({atom}) is int and " for atom in variables)
    # `type(...) is int` leaves out booleans, with which Python would compute.
    if operator == "*":
        return f"{result} if {integers}-{_EXACT} <= ({result} := {left} * {right}) <= {_EXACT} else {general}"
    if operator in ("+", "-") and len(variables) == 1:
        # Where the result is that small both operands are; a larger one would have been rounded before.
        return f"{result} if {integers}-{_SAFE} < ({result} := {left} {operator} {right}) < {_SAFE} else {general}"
    return general


def comparison(operator: str, left: str, right: str) -> str:
    """Python for a comparison; the left side has a name, or both are named or literals."""
    if operator in _ORDERS:
        general = _ORDERS[operator].format(left=left, right=right)
        return f"{left} {operator} {right} if type({left}) is int else {general}" if is_integer(right) else general
    if operator == "==":
        return _equality(left, right)
    return f"not ({_equality(left, right)})"


def _equality(left: str, right: str) -> str:
    # Each is one object; `==` would find that 1 is true.
    if right in ("None", "True", "False"):
        return f"{left} is {right}"
    if is_text(right):
        return f"{left} == {right}"
    if right in ("[]", "{}"):
        return f"type({left}) is {'list' if right == '[]' else 'dict'} and not {left}"
    general = f"equal({left}, {right})"
    return f"{left} == {right} if type({left}) is int else {general}" if is_integer(right) else general


def is_integer(atom: str) -> bool:
    """Whether an atom is a small integer as it is written."""
    return _INTEGER.fullmatch(atom) is not None


def is_text(atom: str) -> bool:
    """Whether an atom is a text as it is written."""
    return atom[0] in "'\""
