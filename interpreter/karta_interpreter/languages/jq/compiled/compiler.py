"""Plain expressions, compiled to Python and run in this process.

An expression becomes a function of its input. Paths become look-ups, `//`, `if`, `and` and `or` become the same in
Python, and a generator becomes a loop around the code that uses its outputs. Rare constructs, and constructs that
cannot be written in place, are called: functions of the other modules here, and generators for parts of the expression.
`source` shows the code.

The results are libjq's, with these differences. The first one is on purpose, some follow gojq, the dialect that
definitions are written in, and the others keep the work of an expression bounded by its input:

- ``.[]`` over null yields nothing instead of an error: a control plane holds objects without defaults.
- Objects are read and printed in the order of their keys (gojq).
- Computed numbers are normalised: 1.0 is 1, -0 is 0, integers beyond 2**53 are rounded to a double (gojq), and they are
  printed in gojq's format. A number that is only passed on stays as it is.
- A result beyond the range of a double is an error: JSON has no infinity. ``tonumber`` reads no ``nan``.
- ``*`` multiplies numbers only, without repeating strings and merging objects.
- ``.[array]`` does not search. ``reverse`` refuses inputs of a wrong type that libjq lets through by chance.
- Regular expressions are RE2's (gojq). See `karta_interpreter.languages.jq.compiled.regex`. ``sub`` takes null for an
  empty text.
- Arrays and objects of more than 10,000 elements are not iterated over, and ``contains`` makes at most 10,000
  comparisons.

Of expressions that are not plain, those with bindings and reductions have a trace, too. libjq computes their
outputs under its limits before.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, TypeAlias

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError, QueryReferenceError
from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.bounded.libjq import MOST_RESULTS
from karta_interpreter.languages.jq.compiled import operators
from karta_interpreter.languages.jq.compiled.atoms import (
    MERGE,
    arithmetic,
    comparison,
    is_comparison,
    is_name,
    is_text,
    truth,
    untruth,
)
from karta_interpreter.languages.jq.compiled.function_body import INPUT, FunctionBody, Origin, OutputSink
from karta_interpreter.languages.jq.compiled.functions import FUNCTIONS, Code, Function, function_of
from karta_interpreter.languages.jq.compiled.module import Module
from karta_interpreter.languages.jq.compiled.regex import RegexCall, computed_pattern
from karta_interpreter.languages.jq.compiled.singles import Singles, repeats_pieces
from karta_interpreter.languages.jq.compiled.values import equal, is_number, less, normal, to_text
from karta_interpreter.languages.jq.compiled.variables import value_of
from karta_interpreter.languages.jq.syntax.precedence import split_path
from karta_interpreter.languages.jq.syntax.traversal import is_merge, terms_of

One: TypeAlias = Callable[[JSON], JSON]
Outputs: TypeAlias = Callable[[JSON], list[JSON]]


def compile_one(node: ast.Node) -> One | None:
    """Compile a plain expression to a function that returns its only output.

    Returns None if the expression may have several outputs or none. Raises ValueError for an expression that is not
    plain.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> compile_one(parse(".a[]")), (compile_one(parse(".a")) or print)({"a": 1})
    (None, 1)
    """
    return compiled(lambda code: code.give(node)) if node in Singles() else None


def compile_list(node: ast.Node, most: int = MOST_RESULTS) -> Outputs:
    """Compile a plain expression to a function that returns a list of all outputs.

    That raises QueryLimitError for more than ``most``. Raises ValueError for an expression that is not plain.
    """
    return compiled(lambda code: code.return_list(node, most))


def source(node: ast.Node, origin: Origin = None) -> str:
    """Return the Python that `compile_list` makes of an expression.

    In ``compile_trace`` the origin of the input is ``()``.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> print(source(parse(".groups[] | select(.on) | .replicas // 1")))
    def f1(v):
        t1 = []
        t2 = v.get('groups') if type(v) is dict else no_field(v, 'groups')
        for t3 in t2 if type(t2) is list and len(t2) <= 10000 else present_elements(t2):
            t4 = t3.get('on') if type(t3) is dict else no_field(t3, 'on')
            if t4 is not None and t4 is not False:
                t5 = t3.get('replicas') if type(t3) is dict else no_field(t3, 'replicas')
                t6 = t5
                if t6 is None or t6 is False:
                    t6 = 1
                t1.append(t6)
                if len(t1) > 999: too_many(999)
        return t1
    """
    module = Module()
    PythonCode(module).function(lambda code: code.return_list(node), origin=origin)
    return module.source()


def _of_value(function: Function, dot: str, value: str) -> str:
    """Return the call of a function of the input and a value. A known prefix needs no call of ours."""
    call = f"{function.callee}({dot}, {value})"
    is_method = function.name in ("startswith", "endswith") and is_text(value)
    return f"{dot}.{function.name}({value}) if type({dot}) is str else {call}" if is_method else call


def by_name(*functions: Callable[..., Any]) -> dict[str, Any]:
    """Functions and types by their own names."""
    return {function.__name__: function for function in functions}


RUNTIME: Final[dict[str, Any]] = {
    **{function.callee: function.implementation for function in FUNCTIONS.values() if function.implementation},
    **by_name(dict, float, int, len, list, str, type, QueryEvaluationError),
    **by_name(operators.add, operators.subtract, operators.multiply, operators.divide, operators.modulo),
    **by_name(operators.no_field, operators.item, operators.merge, operators.negate, operators.part),
    **by_name(operators.elements, operators.present_elements, operators.optional_elements),
    **by_name(operators.key_of, operators.objects, operators.texts, operators.short_text),
    **by_name(operators.refuse, operators.too_many, equal, less, to_text, computed_pattern, value_of),
    "NOTHING": object(),
    "UNCAUGHT": (QueryLimitError, QueryReferenceError),
}
"""Functions of Python and of jq, by the names that they have in the Python of an expression."""

# The most constructs nested in one function. Python takes 20 loops and 100 levels.
_DEEPEST: Final = 16

_TYPES: Final = {
    "null": "{0} is None",
    "boolean": "{0} is True or {0} is False",
    "number": "type({0}) is int or type({0}) is float",
    "string": "type({0}) is str",
    "array": "type({0}) is list",
    "object": "type({0}) is dict",
}


def compiled(
    write: Callable[["PythonCode"], None], namespace: Mapping[str, Any] = RUNTIME, origin: Origin = None
) -> Callable[..., Any]:
    """Return the function with the body that ``write`` writes, for an input with this origin."""
    module = Module()
    name = PythonCode(module).function(write, origin=origin)
    return module.functions(namespace)[name]


class PythonCode(FunctionBody):
    """Writes what happens with every output of an expression, at the place where it is computed.

    ``a | b`` is ``a`` with ``b`` written at each of its outputs: loops inside of loops. A construct that would have to
    write the same code twice becomes a generator of its own. So does one that is nested too deep.
    """

    def __init__(self, module: Module, origin: Origin = None) -> None:
        super().__init__(module, origin)
        self.depth = 0
        self.scope: Mapping[str, str] = {}
        """The atoms of variables, "" for those that are bound in another function."""

    def return_list(self, node: ast.Node, most: int = MOST_RESULTS) -> None:
        """Write the body of a function that returns a list of all outputs, and fails for more than ``most``."""
        if node in self.module.singles:
            self.line(f"return [{self.handed(self.value(node, INPUT))}]")
            return
        outputs = self.bind("[]")

        def write(atom: str) -> None:
            self.line(f"{outputs}.append({self.handed(atom)})")
            self.line(f"if len({outputs}) > {most}: too_many({most})")

        self.each(node, INPUT, OutputSink(write, short=True))
        self.line(f"return {outputs}")

    def give(self, node: ast.Node) -> None:
        """Write the body of a function that returns the one output."""
        self.line(f"return {self.handed(self.value(node, INPUT))}")

    def produce(self, node: ast.Node) -> None:
        """Write the body of a generator of all outputs."""
        self.each(node, INPUT, OutputSink(lambda output: self.line(f"yield {self.handed(output)}"), short=True))

    def each(self, node: ast.Node, dot: str, sink: OutputSink[str]) -> None:
        """Write Python that runs an expression for the input ``dot`` and runs the sink for every output.

        Where there is always one output, the code of the sink follows at the same level.
        """
        if is_empty(node):
            return
        if node in self.module.singles:
            sink.write(self.value(node, dot))
        elif self.depth >= _DEEPEST:
            self.stream(node, dot, sink)
        else:
            self.depth += 1
            self.construct(node, dot, sink)
            self.depth -= 1

    def value(self, node: ast.Node, dot: str) -> str:
        """Write Python that runs an expression with one output, and return an atom for that."""
        if self.depth >= _DEEPEST and not isinstance(node, ast.Identity | ast.Literal):
            return self.called(lambda code: code.give(node), dot)
        atoms: list[str] = []
        self.depth += 1
        self.construct(node, dot, OutputSink(atoms.append))
        self.depth -= 1
        (atom,) = atoms
        return atom

    def construct(self, node: ast.Node, dot: str, sink: OutputSink[str]) -> None:  # noqa: C901, PLR0912, PLR0915 - one case for each construct
        """Write Python for a node and its outputs. Raise ValueError for a node that is not plain."""
        match node:
            case ast.Identity():
                sink.write(dot)
            case ast.Index(_, ast.Literal(str())):
                target, names = split_path(node)
                self.each(target, dot, OutputSink(lambda whole: sink.write(self.field(whole, names))))
            case ast.Pipe():
                self._pipe(node, dot, sink)
            case ast.FunctionCall():
                self._call(node, dot, sink)
            case ast.Literal(value):
                sink.write(self.module.constant(normal(value) if is_number(value) else value))
            case ast.Variable(name) if self.scope.get(name):
                sink.write(self.scope[name])
            case ast.Variable(name) if name not in self.scope:
                sink.write(self.bind(f"value_of({self.module.constant(name)})"))
            case ast.Index(target, key):
                self._pairs(target, key, dot, lambda whole, of: sink.write(self.item(whole, of)))
            case ast.Slice():
                self._slice(node, dot, sink)
            case ast.Iterate(target):
                self.each(target, dot, OutputSink(lambda whole: self.elements(whole, sink)))
            case ast.Comma() if sink.short:
                for term in terms_of(node):
                    self.each(term, dot, sink)
            case ast.Comma() if all(isinstance(term, ast.Literal) for term in terms_of(node)):
                self.loop(f"({', '.join([self.value(term, dot) for term in terms_of(node)])})", sink)
            case ast.Comma():
                self.stream(node, dot, sink)
            case ast.Array(body):
                sink.write("[]" if body is None else self._collected(body, dot))
            case ast.Object():
                self._object(node, dot, sink)
            case ast.Text():
                self._text(node, dot, sink)
            case ast.Binary("and" | "or"):
                self._logic(node, dot, sink)
            case ast.Binary():
                self._binary(node, dot, sink)
            case ast.Negate(body):
                self.each(body, dot, OutputSink(lambda output: sink.write(self.bind(f"negate({output})"))))
            case ast.Alternative():
                self._alternative(node, dot, sink)
            case ast.If():
                self._conditional(node, dot, sink)
            # The outputs up to the first error that can be caught: limits and missing references cannot.
            case ast.Try(ast.Iterate(ast.Identity()), None):
                self.elements(dot, sink, "optional_elements")
            case ast.Try(tried, None) if tried in self.module.singles:
                self.tried(lambda: self.bind(self.value(tried, dot)), sink)
            case ast.Try(tried, None):
                self.streamed(lambda code: code.tried(lambda: code.produce(tried), None), dot, sink)
            case ast.Bind(source, (ast.VariablePattern(name),), after):
                self.each(source, dot, OutputSink(lambda value: self._within(name, value, after, dot, sink)))
            case ast.Bind(source, (pattern,), after):
                for name, part in unfolded(pattern, ast.Variable(".")):
                    after = ast.Bind(part, (ast.VariablePattern(name),), after)
                self.each(ast.Bind(source, (ast.VariablePattern("."),), after), dot, sink)
            case ast.Reduce(_, ast.VariablePattern(name), init):
                self.each(init, dot, OutputSink(lambda first: self._reduced(name, first, node, dot, sink)))
            case _:
                raise ValueError(f"{type(node).__name__} is not plain")

    def function(self, write: Callable[["PythonCode"], None], *, generates: bool = False, origin: Origin = None) -> str:
        """Return the name of another function. It cannot reach the variables that are in scope here."""
        hidden = dict.fromkeys(self.scope, "")

        def scoped(code: "PythonCode") -> None:
            code.scope = hidden
            write(code)

        return super().function(scoped, generates=generates, origin=origin)

    def _within(self, name: str, value: str, node: ast.Node, dot: str, sink: OutputSink[str]) -> None:
        """Write an expression with one more variable. The sink has only those from here."""
        outer = self.scope
        inner = self.scope = {**outer, name: self.entered(value)}

        def leave(output: str) -> None:
            self.scope = outer
            sink.write(output)
            self.scope = inner

        self.each(node, dot, OutputSink(leave, sink.short))
        self.scope = outer

    def _reduced(self, name: str, first: str, node: ast.Reduce, dot: str, sink: OutputSink[str]) -> None:
        """Write a reduction for one output of its beginning. Of several outputs of an update the last one counts."""
        state, after = self.variable(dot), self.variable(dot)
        self.assign(state, first)
        last = OutputSink[str](lambda output: self.assign(after, output), short=True)

        def update(value: str) -> None:
            self.assign(after, "None")
            self._within(name, value, node.update, state, last)
            self.assign(state, after)

        self.each(node.source, dot, OutputSink(update))
        sink.write(state)

    def _slice(self, node: ast.Slice, dot: str, sink: OutputSink[str]) -> None:
        def cut(low: str, high: str) -> None:
            self.each(
                node.target, dot, OutputSink(lambda whole: sink.write(self.bind(f"part({whole}, {low}, {high})")))
            )

        start, stop = node.start or ast.Literal(None), node.stop or ast.Literal(None)
        self.each(start, dot, OutputSink(lambda low: self.each(stop, dot, OutputSink(lambda high: cut(low, high)))))

    def _pairs(self, left: ast.Node, right: ast.Node, dot: str, use: Callable[[str, str], None]) -> None:
        """Write the use of all pairs of outputs. The right outputs are the outer loop."""
        self.each(right, dot, OutputSink(lambda other: self.each(left, dot, OutputSink(lambda own: use(own, other)))))

    def _pipe(self, node: ast.Node, dot: str, sink: OutputSink[str]) -> None:
        while isinstance(node, ast.Pipe) and node.left in self.module.singles:
            dot, node = self.entered(self.value(node.left, dot)), node.right
        if isinstance(node, ast.Pipe):
            right = node.right
            self.each(node.left, dot, OutputSink(lambda output: self.each(right, self.entered(output), sink)))
        else:
            self.each(node, dot, sink)

    def _collected(self, node: ast.Node, dot: str) -> str:
        """Write Python that makes an array of all outputs, and return its name."""
        terms = terms_of(node)
        first = list(takewhile(self.module.singles.__contains__, terms))
        array = self.array([self.value(term, dot) for term in first], dot)
        for term in terms[len(first) :]:
            self.each(term, dot, OutputSink(lambda output: self.append(array, output), short=True))
        return array

    def _object(self, node: ast.Object, dot: str, sink: OutputSink[str]) -> None:
        if node in self.module.singles:
            fields = []
            for entry in node.entries:
                key = self.value(entry.key, dot)
                key = key if is_text(key) else self.bind(f"key_of({key})")
                fields.append(f"{key}: {self.value(entry.value, dot)}")
            sink.write(self.bind(f"{{{', '.join(fields)}}}") if fields else "{}")
            return
        entries = [f"({self.generator(entry.key)}, {self.generator(entry.value)}), " for entry in node.entries]
        self.loop(f"objects(({''.join(entries)}), {dot})", sink)

    def _text(self, node: ast.Text, dot: str, sink: OutputSink[str]) -> None:
        if node.format is not None:
            raise ValueError("a format is not plain")
        singles = self.module.singles
        convert = "short_text" if repeats_pieces(node, singles) else "to_text"
        if sum(isinstance(piece, ast.Node) and piece not in singles for piece in node.parts) > 1:
            nodes = [ast.Literal(piece) if isinstance(piece, str) else piece for piece in node.parts]
            made = [f"({self.generator(piece)}, {convert if piece in singles else 'to_text'}), " for piece in nodes]
            self.loop(f"texts(({''.join(made)}), {dot})", sink)
            return

        def spell(pieces: Sequence[str | ast.Node], after: list[str]) -> None:
            while pieces and (isinstance(pieces[-1], str) or pieces[-1] in singles):
                piece = pieces[-1]
                spelled = (
                    self.module.constant(piece)
                    if isinstance(piece, str)
                    else self.bind(f"{convert}({self.value(piece, dot)})")
                )
                pieces, after = pieces[:-1], [spelled, *after]
            match pieces:
                case [*before, ast.Node() as last]:

                    def use(output: str) -> None:
                        spell(before, [self.bind(f"to_text({output})"), *after])

                    self.each(last, dot, OutputSink(use))
                case _:
                    sink.write(self.bind(f"''.join(({''.join(f'{piece}, ' for piece in after)}))"))

        spell(node.parts, [])

    def _binary(self, node: ast.Binary, dot: str, sink: OutputSink[str]) -> None:
        operator = MERGE if is_merge(node) else node.operator

        def write(own: str, other: str) -> None:
            sink.write(
                self.bind(comparison(operator, self.named(own), other))
                if is_comparison(operator)
                else self.computed(operator, own, other)
            )

        self._pairs(node.left, node.right, dot, write)

    def computed(self, operator: str, left: str, right: str) -> str:
        """Write ``left + right`` or the like, and return an atom for it."""
        result = self.new()
        self.line(f"{result} = {arithmetic(operator, left, right, result)}")
        factors = ((left, right), (right, left)) if operator == "*" else ()
        origins = [f"times({self.origin(own)}, {factor})" for own, factor in factors if own in self.origins]
        return self.located(result, f"({' or '.join(origins)})" if origins else None)

    def condition(self, node: ast.Node, dot: str) -> str:
        """Write the code for an expression with one output.

        Return Python that is true if jq takes the output as true.
        """
        if self.depth >= _DEEPEST:
            return truth(self.named(self.value(node, dot)))
        before, self.origins = self.origins, {}  # a condition reads without origins
        self.depth += 1
        text = self._test(node, dot)
        self.depth -= 1
        self.origins = before
        return text

    def _test(self, node: ast.Node, dot: str) -> str:
        match node:
            case ast.Binary("and" | "or"):
                return self._decided(node, dot)
            case ast.Binary(operator, left, right) if is_comparison(operator):
                other = self.value(right, dot)
                return comparison(operator, self.named(self.value(left, dot)), other)
            case ast.Pipe(left, right) if left in self.module.singles:
                return self.condition(right, self.value(left, dot))
            case ast.FunctionCall("not", ()):
                return untruth(self.named(dot))
        return truth(self.named(self.value(node, dot)))

    def _logic(self, node: ast.Binary, dot: str, sink: OutputSink[str]) -> None:
        """``left and right`` or ``left or right``. The left side runs first and may decide the result."""
        if node in self.module.singles:
            sink.write(self._decided(node, dot))
            return
        right = ast.Pipe(node.right, ast.Pipe(ast.FunctionCall("not"), ast.FunctionCall("not")))  # whether it is true
        then, other = (right, ast.Literal(False)) if node.operator == "and" else (ast.Literal(True), right)
        self._conditional(ast.If(((node.left, then),), other), dot, sink)

    def _decided(self, node: ast.Binary, dot: str) -> str:
        """Return a variable with the boolean result of ``and`` or ``or`` of two expressions with one output."""
        left_condition = self.condition(node.left, dot)
        result = left_condition if is_name(left_condition) else self.bind(left_condition)
        with self.block(f"if {result}:" if node.operator == "and" else f"if not {result}:"):
            self.line(f"{result} = {self.condition(node.right, dot)}")
        return result

    def _alternative(self, node: ast.Alternative, dot: str, sink: OutputSink[str]) -> None:
        """``left // right``: the true outputs of ``left``, or ``right`` if there is none.

        Errors of ``left`` are errors, and a generator on the left falls back once, not per element.
        """
        if node in self.module.singles:
            left = self.entered(self.named(self.value(node.left, dot)))
            result = self.new()
            self.line(f"{result} = {left}")
            with self.block(f"if {untruth(result)}:"):
                right = self.value(node.right, dot)
                self.line(f"{result} = {right}")
            sink.write(self._chosen(result, left, right))
        elif is_empty(node.right):
            self.each(node.left, dot, OutputSink(lambda output: self._present(output, sink)))
        elif not sink.short:
            self.stream(node, dot, sink)
        else:
            self._first_or_others(node, dot, sink)

    def _chosen(self, result: str, left: str, right: str) -> str:
        """Return an output of ``left // right``. If the left side is null or false, writing there makes it true."""
        if not {left, right} & self.origins.keys():
            return result
        other = f"instead({self.origin(left)}, {self.origin(right)}, {left}, {result})"
        return self.located(result, f"({other} if {untruth(left)} else {self.origin(left)})")

    def _present(self, output: str, sink: OutputSink[str]) -> None:
        output = self.named(output)
        with self.block(f"if {truth(output)}:"):
            sink.write(output)

    def _first_or_others(self, node: ast.Alternative, dot: str, sink: OutputSink[str]) -> None:
        """Write ``left // right`` for a left side with any number of outputs.

        A single missing output may be written.
        """
        is_traced, missing = dot in self.origins, self.bind("[]")

        def write(output: str) -> None:
            output = self.named(output)
            with self.block(f"if {truth(output)}:"):
                self.line(f"{missing} = None")
                sink.write(output)
            if is_traced:
                with self.block(f"elif {missing} is not None:"):
                    self.line(f"{missing}.append(({output}, {self.origin(output)}))")

        self.each(node.left, dot, OutputSink(write))
        with self.block(f"if {missing} is not None:"):
            if not is_traced:
                self.each(node.right, dot, sink)
                return
            left = self.variable(dot)
            self.line(f"{left}, {self.origin(left)} = alone({missing})")
            choose = OutputSink[str](lambda right: sink.write(self._chosen(self.bind(right), left, right)), sink.short)
            self.each(node.right, dot, choose)

    def _conditional(self, node: ast.If, dot: str, sink: OutputSink[str]) -> None:
        """``if condition then ... else ... end``, once for every output of the condition."""
        (condition, then), *others = node.branches
        other = self._else(others, node.otherwise or ast.Identity())
        if node in self.module.singles:
            result = self.variable(dot)
            with self.block(f"if {self.condition(condition, dot)}:"):
                self.assign(result, self.value(then, dot))
            with self.block("else:"):
                self.assign(result, self.value(other, dot))
            sink.write(result)
        elif not (sink.short or is_empty(then) or is_empty(other)):
            self.stream(node, dot, sink)
        else:

            def write(text: str) -> None:
                with self.block(f"if {text}:"):
                    self.each(then, dot, sink)
                if not is_empty(other):
                    with self.block("else:"):
                        self.each(other, dot, sink)

            self._asked(condition, dot, write)

    def _else(self, branches: list[ast.Branch], otherwise: ast.Node) -> ast.Node:
        """Turn ``elif`` into an ``if`` inside of ``else``."""
        for branch in reversed(branches):
            otherwise = ast.If((branch,), otherwise)
            # From the inside out: there may be more of them than Python can recurse.
            _ = otherwise in self.module.singles
        return otherwise

    def _asked(self, condition: ast.Node, dot: str, use: Callable[[str], None]) -> None:
        """Write the use of every output of a condition, as Python that is true if the output is."""
        if condition in self.module.singles:
            use(self.condition(condition, dot))
        else:
            self.each(condition, dot, OutputSink(lambda output: use(truth(self.named(output)))))

    def _call(self, node: ast.FunctionCall, dot: str, sink: OutputSink[str]) -> None:  # noqa: C901, PLR0912 - one case for each code
        function = function_of(node)
        if function is None:
            raise ValueError(f"{node.name}/{len(node.arguments)} is not plain")
        name, arguments = function.callee, node.arguments
        match function.code:
            case Code.INPUT | Code.TYPE:
                result = self.bind(f"{name}({dot})")
                origin = function.origin if dot in self.origins else None
                variables = {"origin": self.origin(dot), "dot": dot, "result": result}
                sink.write(self.located(result, origin and origin.format(**variables)))
            case Code.VALUES:
                self.each(
                    arguments[0], dot, OutputSink(lambda value: sink.write(self.bind(_of_value(function, dot, value))))
                )
            case Code.FILTER:
                sink.write(self.bind(f"{name}({dot}, {self.generator(arguments[0])})"))
            case Code.REGEX:
                self._regex(node, name, dot, lambda match: sink.write(self.bind(match)))
            case Code.MATCHES:
                self._regex(node, name, dot, lambda match: self.loop(match, sink))
            case Code.NOTHING:
                pass
            case Code.NOT:
                sink.write(self.bind(untruth(self.named(dot))))
            case Code.FIRST | Code.LAST if arguments[0] in self.module.singles:
                sink.write(self.value(arguments[0], dot))
            case Code.FIRST:
                output = self.called(lambda code: code.return_first(arguments[0]), dot)
                with self.block(f"if {output} is not NOTHING:"):
                    sink.write(output)
            case Code.LAST:
                self._last(arguments[0], dot, sink)
            case Code.IS_EMPTY:
                first = self.function(lambda code: code.return_first(arguments[0]))
                sink.write(self.bind(f"{first}({dot}) is NOTHING"))
            case Code.ERROR:
                self._error(arguments[0], sink)
            case Code.IN:
                self._membership(name, arguments[0], dot, sink)
            case Code.ANY | Code.ALL as decided:
                decision = self.function(lambda code: code.return_decision(arguments, is_any=decided is Code.ANY))
                sink.write(self.bind(f"{decision}({dot})"))
            case Code.MAP:
                self._map(arguments[0], dot, sink)
            case tuple() as kinds:
                dot = self.named(dot)
                with self.block(f"if {' or '.join(_TYPES[kind] for kind in kinds).format(dot)}:"):
                    sink.write(dot)
            case body:
                self.construct(body(*arguments), dot, sink)

    def return_first(self, source: ast.Node) -> None:
        """Write the body of a function that stops at the first output."""
        self.each(source, INPUT, OutputSink(lambda output: self.line(f"return {self.handed(output)}"), short=True))
        self.line(f"return {self.handed('NOTHING')}")

    def _last(self, source: ast.Node, dot: str, sink: OutputSink[str]) -> None:
        output = self.variable(dot)
        self.assign(output, "NOTHING")
        self.each(source, dot, OutputSink(lambda value: self.assign(output, value), short=True))
        with self.block(f"if {output} is not NOTHING:"):
            sink.write(output)

    def _error(self, message: ast.Node, sink: OutputSink[str]) -> None:
        match message:
            case ast.Literal(str() as text):
                self.line(f"refuse({self.module.constant(text)})")
                # Never reached. But the use of an output has to be written, or a variable would have no value.
                sink.write("None")
            case _:
                raise ValueError("error with a computed message is not plain")

    def _membership(self, name: str, candidates: ast.Node, dot: str, sink: OutputSink[str]) -> None:
        """Write ``IN(candidates)``. A list of texts becomes one comparison."""
        terms = terms_of(candidates)
        texts = [term.value for term in terms if isinstance(term, ast.Literal) and isinstance(term.value, str)]
        if len(texts) == len(terms):
            values = "".join(f"{self.module.constant(text)}, " for text in texts)
            # Only a text equals a text, so Python compares as jq does.
            sink.write(self.bind(f"{dot} in ({values})"))
        else:
            sink.write(self.bind(f"{name}({dot}, {self.generator(candidates)}({dot}))"))

    def _map(self, body: ast.Node, dot: str, sink: OutputSink[str]) -> None:
        """Write ``map(body)``. Here the elements of null are an error."""
        array = self.array([], dot)
        append = OutputSink[str](lambda output: self.append(array, output), short=True)
        self.elements(dot, OutputSink(lambda element: self.each(body, element, append)), "elements")
        sink.write(array)

    def return_decision(self, arguments: Sequence[ast.Node], *, is_any: bool) -> None:
        """Write the body of ``any`` or ``all`` with a condition, which ends at the first answer that decides."""
        *source, condition = arguments

        def decide(text: str) -> None:
            with self.block(f"if {text}:" if is_any else f"if not ({text}):"):
                self.line(f"return {is_any}")

        ask = OutputSink[str](lambda output: self._asked(condition, output, decide))
        if source:
            self.each(source[0], INPUT, ask)
        else:
            self.elements(INPUT, ask, "elements")
        self.line(f"return {not is_any}")

    def _regex(self, node: ast.FunctionCall, name: str, dot: str, hand_on: Callable[[str], None]) -> None:
        """Write a call with a regular expression, which is compiled here if it is known."""
        call, constant = RegexCall.of(node), self.module.constant
        if call.flags is None:
            raise ValueError(f"{node.name} with computed flags is not plain")

        def found(pattern: str) -> None:
            replacement = f", {self.generator(call.replacement)}" if call.replacement else ""
            hand_on(f"{name}({dot}, {pattern}{replacement})")

        if compiled := call.compiled():
            found(constant(compiled))
        else:
            computed = f"computed_pattern({{}}, {constant(call.flags)})"
            self.each(call.pattern, dot, OutputSink(lambda pattern: found(self.bind(computed.format(pattern)))))

    def generator(self, node: ast.Node) -> str:
        """Return the name of a function that yields all outputs of an expression."""
        return self.function(lambda code: code.produce(node), generates=True)

    def stream(self, node: ast.Node, dot: str, sink: OutputSink[str]) -> None:
        """Write a loop over the outputs of an expression that is a function of its own."""
        self.streamed(lambda code: code.produce(node), dot, sink)


def is_empty(node: ast.Node) -> bool:
    """Return whether an expression never has an output."""
    return isinstance(node, ast.FunctionCall) and node.name == "empty" and not node.arguments


def unfolded(pattern: ast.Pattern, value: ast.Node) -> Iterator[tuple[str, ast.Node]]:
    """Yield the variables that a pattern binds, with what they are of a value.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> from karta_interpreter.languages.jq.syntax.printer import render
    >>> [(name, render(node)) for name, node in unfolded(parse(". as {a: [$b]} | $b").patterns[0], parse("$x"))]
    [('b', '$x.a[0]')]
    """
    if isinstance(pattern, ast.VariablePattern):
        yield pattern.name, value
        return
    entries = enumerate(pattern.elements) if isinstance(pattern, ast.ArrayPattern) else pattern.entries
    for key, part in entries:
        if isinstance(key, ast.VariablePattern):
            raise ValueError(f"${key.name} with a pattern is not plain")  # noqa: TRY004 - as of every other construct
        yield from unfolded(part, ast.Index(value, ast.Literal(key) if isinstance(key, int) else key))
