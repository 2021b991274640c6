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
- ``.[array]`` does not search. ``flatten(depth)``, ``abs`` and ``reverse`` refuse inputs of a wrong type that libjq
  lets through by chance.
- Regular expressions are RE2's (gojq). See `karta_interpreter.languages.jq.compiled.regex`. ``sub`` takes null for an
  empty text.
- Arrays and objects of more than 10,000 elements are not iterated over, and ``contains`` makes at most 10,000
  comparisons.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from types import CodeType
from typing import Any, Final, NamedTuple, Self, TypeAlias

from karta_interpreter.base.errors import QueryEvaluationError, QueryLimitError, QueryReferenceError
from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.bounded.libjq import MOST_RESULTS
from karta_interpreter.languages.jq.compiled import operators
from karta_interpreter.languages.jq.compiled.functions import FUNCTIONS, Code, function_of
from karta_interpreter.languages.jq.compiled.regex import RegexCall, computed_pattern
from karta_interpreter.languages.jq.compiled.singles import Singles, repeats_pieces
from karta_interpreter.languages.jq.compiled.values import equal, is_number, less, normal, to_text
from karta_interpreter.languages.jq.compiled.variables import value_of
from karta_interpreter.languages.jq.syntax.precedence import split_path
from karta_interpreter.languages.jq.syntax.traversal import is_merge, terms_of

One: TypeAlias = Callable[[JSON], JSON]
Outputs: TypeAlias = Callable[[JSON], list[JSON]]

Origin: TypeAlias = str | tuple[str, ...] | None
"""Python for the path that a value is read from: an expression, or each step of a path that is known."""


def compile_one(node: ast.Node) -> One | None:
    """Compile a plain expression to a function that returns its only output.

    Returns None if the expression may have several outputs or none. Raises ValueError for an expression that is not
    plain.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> compile_one(parse(".a[]")), (compile_one(parse(".a")) or print)({"a": 1})
    (None, 1)
    """
    return compiled(lambda code: code.give(node)) if node in Singles() else None


def compile_list(node: ast.Node) -> Outputs:
    """Compile a plain expression to a function that returns a list of all outputs.

    That raises QueryLimitError for more than 999. Raises ValueError for an expression that is not plain.
    """
    outputs: Outputs = compiled(lambda code: code.return_list(node))
    return outputs


def source(node: ast.Node, origin: Origin = None) -> str:
    """Return the Python that `compile_list` makes of an expression.

    In ``compile_trace`` the origin of the input is ``()``.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> print(source(parse(".groups[] | select(.on) | .replicas // 1")))
    def f1(v):
        t1 = []
        t2 = v.get('groups') if type(v) is dict else None if v is None else no_field(v, 'groups')
        for t3 in t2 if type(t2) is list and len(t2) <= 10000 else present_elements(t2):
            t4 = t3.get('on') if type(t3) is dict else None if t3 is None else no_field(t3, 'on')
            if t4 is not None and t4 is not False:
                t5 = t3.get('replicas') if type(t3) is dict else None if t3 is None else no_field(t3, 'replicas')
                t6 = t5
                if t6 is None or t6 is False:
                    t6 = 1
                t1.append(t6)
                if len(t1) > 999: too_many()
        return t1
    """
    module = Module()
    PythonCode(module).function(lambda code: code.return_list(node), origin=origin)
    return module.source()


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

INPUT: Final = "v"
"""The parameter of every function: the input of the expression that it runs."""

_ORIGIN: Final = "o"
"""The parameter for the origin of the input, in a function with origins of its outputs."""

_LONGEST: Final = 1000
"""The most characters of an origin in the code. Python nests at most 200 parentheses."""

_DEEPEST: Final = 16
"""The most constructs nested in one function. Python takes 20 loops and 100 levels."""

_TYPES: Final = {
    "null": "{0} is None",
    "boolean": "{0} is True or {0} is False",
    "number": "type({0}) is int or type({0}) is float",
    "string": "type({0}) is str",
    "array": "type({0}) is list",
    "object": "type({0}) is dict",
}

Write: TypeAlias = Callable[[str], list[str]]
"""Returns the lines of a function with that name."""


class Module:
    """Functions that call each other, with the constants that they share."""

    def __init__(self) -> None:
        self.singles = Singles()
        self._constants: dict[str, Any] = {}
        self._count = 0
        self._unwritten: list[tuple[str, Write]] = []

    def function(self, write: Write) -> str:
        """Return the name of a new function, which is written after all earlier functions.

        So a deep expression does not make the code that writes it recurse as deep.
        """
        self._count += 1
        name = f"f{self._count}"
        self._unwritten.append((name, write))
        return name

    def constant(self, value: object) -> str:
        r"""Return Python for a value that comes from an expression, and so may be any text.

        Texts and small numbers are spelled out, in ASCII. Other values get a name.

        >>> module = Module()
        >>> module.constant("it's"), module.constant("é"), module.constant(None), module.constant(0.5)
        ('"it\'s"', "'\\xe9'", 'None', 'c0')
        """
        if value is None or value is True or value is False:
            return str(value)
        if type(value) is str or (type(value) is int and -_EXACT < value < _EXACT):
            return ascii(value)
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name

    def source(self) -> str:
        """Return the text of all functions."""
        lines: list[str] = []
        while self._unwritten:
            name, write = self._unwritten.pop()
            lines += write(name)
        return "\n".join(lines)

    def functions(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return the functions by their names.

        ``known`` holds the names that they may use in addition to each other.
        """
        code = compile(self.source(), "<expression>", "exec", dont_inherit=True)
        # No builtins: an expression has no use for any but those that its code names.
        names = {name: known[name] for name in _names(code) if name in known}
        space: dict[str, Any] = {"__builtins__": {}, **names, **self._constants}
        exec(code, space)  # noqa: S102 - the text is made here. The expression contributes only constants to it
        return space


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def compiled(write: Callable[["PythonCode"], None], known: Mapping[str, Any] = RUNTIME, origin: Origin = None) -> Any:  # noqa: ANN401 - any function
    """Return the function with the body that ``write`` writes, for an input with this origin."""
    module = Module()
    name = PythonCode(module).function(write, origin=origin)
    return module.functions(known)[name]


class Sink(NamedTuple):
    """The code for each output: ``write`` writes Python for it. ``short`` if that may be written repeatedly."""

    write: Callable[[str], None]
    short: bool = False


class PythonCode:
    """Writes what happens with every output of an expression, at the place where it is computed.

    ``a | b`` is ``a`` with ``b`` written at each of its outputs: loops inside of loops. A construct that would have to
    write the same code twice becomes a generator of its own. So does one that is nested too deep. An *atom* is Python
    for a value that takes no time: the name of a variable or a constant. If the input has an origin, ``origins`` has
    the origin of each variable with a value read from the input.
    """

    def __init__(self, module: Module, origin: Origin = None) -> None:
        self.module = module
        self.lines: list[str] = []
        self.depth = 0
        self.origins: dict[str, str | tuple[str, ...]] = {} if origin is None else {INPUT: origin}
        self._is_traced = origin is not None
        self._indent = "    "
        self._variables = 0

    def return_list(self, node: ast.Node) -> None:
        """Write the body of a function that returns a list of all outputs, and fails if there are too many."""
        if node in self.module.singles:
            self.line(f"return [{self.handed(self.value(node, INPUT))}]")
            return
        outputs = self.bind("[]")

        def write(atom: str) -> None:
            self.line(f"{outputs}.append({self.handed(atom)})")
            self.line(f"if len({outputs}) > {MOST_RESULTS}: too_many()")

        self.each(node, INPUT, Sink(write, short=True))
        self.line(f"return {outputs}")

    def give(self, node: ast.Node) -> None:
        """Write the body of a function that returns the one output."""
        self.line(f"return {self.handed(self.value(node, INPUT))}")

    def produce(self, node: ast.Node) -> None:
        """Write the body of a generator of all outputs."""
        self.each(node, INPUT, Sink(lambda output: self.line(f"yield {self.handed(output)}"), short=True))

    def function(self, write: Callable[[Self], None], *, generates: bool = False, origin: Origin = None) -> str:
        """Return the name of another function of one input, with the body that ``write`` writes.

        For an input with an origin, every output comes with its own.
        """

        def lines(name: str) -> list[str]:
            code = type(self)(self.module, origin)
            if generates:
                code.line("if 0: yield")  # makes it a generator, even one without any output
            write(code)
            parameters = f"{INPUT}, {_ORIGIN}" if origin == _ORIGIN else INPUT
            return [f"def {name}({parameters}):", *code.lines]

        return self.module.function(lines)

    def handed(self, output: str) -> str:
        """Return Python for an output that leaves its function."""
        return f"({output}, {self.origin(output)})" if self._is_traced else output

    def each(self, node: ast.Node, here: str, sink: Sink) -> None:
        """Write Python that runs an expression for the input ``here`` and runs the sink for every output.

        Where there is always one output, the code of the sink follows at the same level.
        """
        if is_empty(node):
            return
        if node in self.module.singles:
            sink.write(self.value(node, here))
        elif self.depth >= _DEEPEST:
            self.stream(node, here, sink)
        else:
            self.depth += 1
            self.construct(node, here, sink)
            self.depth -= 1

    def value(self, node: ast.Node, here: str) -> str:
        """Write Python that runs an expression with one output, and return an atom for that."""
        if self.depth >= _DEEPEST and not isinstance(node, ast.Identity | ast.Literal):
            return self.called(lambda code: code.give(node), here)
        atoms: list[str] = []
        self.depth += 1
        self.construct(node, here, Sink(atoms.append))
        self.depth -= 1
        (atom,) = atoms
        return atom

    def construct(self, node: ast.Node, here: str, sink: Sink) -> None:  # noqa: C901, PLR0912 - one case for each construct
        """Write Python for a node and its outputs. Raise ValueError for a node that is not plain."""
        match node:
            case ast.Identity():
                sink.write(here)
            case ast.Literal(value):
                sink.write(self.module.constant(normal(value) if is_number(value) else value))
            case ast.Variable(name):
                sink.write(self.bind(f"value_of({self.module.constant(name)})"))
            case ast.Index():
                self._index(node, here, sink)
            case ast.Slice():
                self._slice(node, here, sink)
            case ast.Iterate(target):
                self.each(target, here, Sink(lambda whole: self.elements(whole, sink)))
            case ast.Pipe():
                self._pipe(node, here, sink)
            case ast.Comma():
                self._comma(node, here, sink)
            case ast.Array(body):
                sink.write("[]" if body is None else self._collected(body, here))
            case ast.Object():
                self._object(node, here, sink)
            case ast.Text():
                self._text(node, here, sink)
            case ast.Binary("and" | "or"):
                self._logic(node, here, sink)
            case ast.Binary():
                self._binary(node, here, sink)
            case ast.Negate(body):
                self.each(body, here, Sink(lambda output: sink.write(self.bind(f"negate({output})"))))
            case ast.Alternative():
                self._alternative(node, here, sink)
            case ast.If():
                self._conditional(node, here, sink)
            case ast.Try():
                self._attempt(node, here, sink)
            case ast.FunctionCall():
                self._call(node, here, sink)
            case _:
                raise ValueError(f"{type(node).__name__} is not plain")

    def _index(self, node: ast.Index, here: str, sink: Sink) -> None:
        match node.key:
            case ast.Literal(str()):
                target, names = split_path(node)
                self.each(target, here, Sink(lambda whole: sink.write(self.field(whole, names))))
            case key:
                self._pairs(node.target, key, here, lambda whole, of: sink.write(self.item(whole, of)))

    def field(self, whole: str, names: tuple[str, ...]) -> str:
        """Write ``whole.a.b.c``, and return an atom for it."""
        keys, value = tuple(map(self.module.constant, names)), whole
        for key in keys:
            value = self.named(value)
            lookup = f"{value}.get({key}) if type({value}) is dict"
            value = self.bind(f"{lookup} else None if {value} is None else no_field({value}, {key})")
        return self.inside(whole, keys, value)

    def item(self, whole: str, key: str) -> str:
        """Write ``whole[key]``, and return an atom for it."""
        whole = self.named(whole)
        # In place, without a call: these two need no test of the index.
        shortcut = f"{whole}[{key}] if type({whole}) is list and {whole} else " if key in ("0", "-1") else ""
        value = self.bind(f"{shortcut}item({whole}, {key})")
        if is_integer(key) and key[0] != "-":
            return self.inside(whole, (key,), value)
        is_known = whole in self.origins
        return self.located(value, f"step({self.origin(whole)}, {whole}, {key}, {value})" if is_known else None)

    def inside(self, whole: str, names: tuple[str, ...], part: str) -> str:
        """Return a variable for a part of another. Its origin is inside of the other's."""
        match self.origins.get(whole):
            case str() as origin:
                return self.located(part, f"inside({origin}, ({', '.join(names)},), {part})")
            case tuple() as path:
                return self.located(part, (*path, *names))
        return part

    def elements(self, whole: str, sink: Sink, function: str = "present_elements") -> None:
        """Write a loop over the elements of a value, mostly a list. ``function`` is called for any other value."""
        whole = self.entered(self.named(whole))
        is_few = f"type({whole}) is list and len({whole}) <= {operators.MOST_ELEMENTS}"
        if whole not in self.origins:
            self.loop(f"{whole} if {is_few} else {function}({whole})", sink)
            return
        name, element = self.new(), self.new()
        pairs = f"enumerate({whole}) if {is_few} else entries({whole}, {function}({whole}))"
        with self.block(f"for {name}, {element} in {pairs}:"):
            sink.write(self.entered(self.inside(whole, (name,), element)))

    def _slice(self, node: ast.Slice, here: str, sink: Sink) -> None:
        def cut(low: str, high: str) -> None:
            self.each(node.target, here, Sink(lambda whole: sink.write(self.bind(f"part({whole}, {low}, {high})"))))

        start, stop = node.start or ast.Literal(None), node.stop or ast.Literal(None)
        self.each(start, here, Sink(lambda low: self.each(stop, here, Sink(lambda high: cut(low, high)))))

    def _pairs(self, left: ast.Node, right: ast.Node, here: str, use: Callable[[str, str], None]) -> None:
        """Write the use of all pairs of outputs. The right outputs are the outer loop."""
        self.each(right, here, Sink(lambda other: self.each(left, here, Sink(lambda own: use(own, other)))))

    def _pipe(self, node: ast.Node, here: str, sink: Sink) -> None:
        while isinstance(node, ast.Pipe) and node.left in self.module.singles:
            here, node = self.entered(self.value(node.left, here)), node.right
        if isinstance(node, ast.Pipe):
            right = node.right
            self.each(node.left, here, Sink(lambda output: self.each(right, self.entered(output), sink)))
        else:
            self.each(node, here, sink)

    def _comma(self, node: ast.Comma, here: str, sink: Sink) -> None:
        terms = terms_of(node)
        if sink.short:
            for term in terms:
                self.each(term, here, sink)
        elif all(isinstance(term, ast.Literal) for term in terms):
            self.loop(f"({', '.join([self.value(term, here) for term in terms])})", sink)
        else:
            self.stream(node, here, sink)

    def _collected(self, node: ast.Node, here: str) -> str:
        """Write Python that makes an array of all outputs, and return its name."""
        terms = terms_of(node)
        first = list(takewhile(self.module.singles.__contains__, terms))
        array = self.array([self.value(term, here) for term in first], here)
        for term in terms[len(first) :]:
            self.each(term, here, Sink(lambda output: self.append(array, output), short=True))
        return array

    def array(self, outputs: list[str], here: str) -> str:
        """Return a variable for an array of outputs for ``here``. Other outputs may be appended to it."""
        array = self.variable(here)
        self.assign(array, f"[{', '.join(outputs)}]", f"[{', '.join(map(self.origin, outputs))}]")
        return array

    def append(self, array: str, output: str) -> None:
        """Write that an array has another output in it."""
        self.line(f"{array}.append({output})")
        if array in self.origins:
            self.line(f"{self.origins[array]}.append({self.origin(output)})")

    def _object(self, node: ast.Object, here: str, sink: Sink) -> None:
        if node in self.module.singles:
            fields = [f"{self._key(entry.key, here)}: {self.value(entry.value, here)}" for entry in node.entries]
            sink.write(self.bind(f"{{{', '.join(fields)}}}") if fields else "{}")
            return
        entries = [f"({self.generator(entry.key)}, {self.generator(entry.value)}), " for entry in node.entries]
        self.loop(f"objects(({''.join(entries)}), {here})", sink)

    def _key(self, node: ast.Node, here: str) -> str:
        key = self.value(node, here)
        return key if is_text(key) else self.bind(f"key_of({key})")

    def _text(self, node: ast.Text, here: str, sink: Sink) -> None:
        if node.format is not None:
            raise ValueError("a format is not plain")
        singles = self.module.singles
        convert = "short_text" if repeats_pieces(node, singles) else "to_text"
        if sum(isinstance(piece, ast.Node) and piece not in singles for piece in node.parts) > 1:
            nodes = [ast.Literal(piece) if isinstance(piece, str) else piece for piece in node.parts]
            made = [f"({self.generator(piece)}, {convert if piece in singles else 'to_text'}), " for piece in nodes]
            self.loop(f"texts(({''.join(made)}), {here})", sink)
            return

        def spell(parts: Sequence[str | ast.Node], after: list[str]) -> None:
            while parts and (isinstance(parts[-1], str) or parts[-1] in singles):
                parts, after = parts[:-1], [self._piece(parts[-1], here, convert), *after]
            match parts:
                case [*before, ast.Node() as last]:

                    def use(output: str) -> None:
                        spell(before, [self.bind(f"to_text({output})"), *after])

                    self.each(last, here, Sink(use))
                case _:
                    sink.write(self.bind(f"''.join(({''.join(f'{piece}, ' for piece in after)}))"))

        spell(node.parts, [])

    def _piece(self, part: str | ast.Node, here: str, convert: str) -> str:
        if isinstance(part, str):
            return self.module.constant(part)
        return self.bind(f"{convert}({self.value(part, here)})")

    def _binary(self, node: ast.Binary, here: str, sink: Sink) -> None:
        operator = MERGE if is_merge(node) else node.operator

        def write(own: str, other: str) -> None:
            if is_comparison(operator):
                sink.write(self.bind(comparison(operator, self.named(own), other)))
            else:
                sink.write(self.computed(operator, own, other))

        self._pairs(node.left, node.right, here, write)

    def computed(self, operator: str, left: str, right: str) -> str:
        """Write ``left + right`` or the like, and return an atom for it."""
        result = self.new()
        self.line(f"{result} = {arithmetic(operator, left, right, result)}")
        factors = ((left, right), (right, left)) if operator == "*" else ()
        ways = [f"times({self.origin(own)}, {factor})" for own, factor in factors if own in self.origins]
        return self.located(result, f"({' or '.join(ways)})" if ways else None)

    def condition(self, node: ast.Node, here: str) -> str:
        """Write the code for an expression with one output.

        Return Python that is true if jq takes the output as true.
        """
        if self.depth >= _DEEPEST:
            return truth(self.named(self.value(node, here)))
        before, self.origins = self.origins, {}  # a condition reads without origins
        self.depth += 1
        text = self._condition(node, here)
        self.depth -= 1
        self.origins = before
        return text

    def _condition(self, node: ast.Node, here: str) -> str:
        match node:
            case ast.Binary("and" | "or"):
                return self._decided(node, here)
            case ast.Binary(operator, left, right) if is_comparison(operator):
                other = self.value(right, here)
                return comparison(operator, self.named(self.value(left, here)), other)
            case ast.Pipe(left, right) if left in self.module.singles:
                return self.condition(right, self.value(left, here))
            case ast.FunctionCall("not", ()):
                return untruth(self.named(here))
        return truth(self.named(self.value(node, here)))

    def _logic(self, node: ast.Binary, here: str, sink: Sink) -> None:
        """``left and right`` or ``left or right``. The left side runs first and may decide the result."""
        if node in self.module.singles:
            sink.write(self._decided(node, here))
            return
        right = ast.Pipe(node.right, ast.Pipe(ast.FunctionCall("not"), ast.FunctionCall("not")))  # whether it is true
        then, other = (right, ast.Literal(False)) if node.operator == "and" else (ast.Literal(True), right)
        self._conditional(ast.If(((node.left, then),), other), here, sink)

    def _decided(self, node: ast.Binary, here: str) -> str:
        """Return a variable with the boolean result of ``and`` or ``or`` of two expressions with one output."""
        own = self.condition(node.left, here)
        result = own if is_name(own) else self.bind(own)
        with self.block(f"if {result}:" if node.operator == "and" else f"if not {result}:"):
            self.line(f"{result} = {self.condition(node.right, here)}")
        return result

    def _alternative(self, node: ast.Alternative, here: str, sink: Sink) -> None:
        """``left // right``: the true outputs of ``left``, or ``right`` if there is none.

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
        """Return an output of ``left // right``. If the left side is null or false, writing there makes it true."""
        if not {left, right} & self.origins.keys():
            return result
        other = f"instead({self.origin(left)}, {self.origin(right)}, {left}, {result})"
        return self.located(result, f"({other} if {untruth(left)} else {self.origin(left)})")

    def _present(self, output: str, sink: Sink) -> None:
        output = self.named(output)
        with self.block(f"if {truth(output)}:"):
            sink.write(output)

    def _first_or_others(self, node: ast.Alternative, here: str, sink: Sink) -> None:
        """Write ``left // right`` for a left side with any number of outputs.

        A single missing output may be written.
        """
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

    def _conditional(self, node: ast.If, here: str, sink: Sink) -> None:
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

            self._asked(condition, here, write)

    def _else(self, branches: list[tuple[ast.Node, ast.Node]], otherwise: ast.Node) -> ast.Node:
        """Turn ``elif`` into an ``if`` inside of ``else``."""
        for branch in reversed(branches):
            otherwise = ast.If((branch,), otherwise)
            # From the inside out: there may be more of them than Python can recurse.
            _ = otherwise in self.module.singles
        return otherwise

    def _asked(self, condition: ast.Node, here: str, use: Callable[[str], None]) -> None:
        """Write the use of every output of a condition, as Python that is true if the output is."""
        if condition in self.module.singles:
            use(self.condition(condition, here))
        else:
            self.each(condition, here, Sink(lambda output: use(truth(self.named(output)))))

    def _attempt(self, node: ast.Try, here: str, sink: Sink) -> None:
        """``try body``: its outputs up to the first error that can be caught.

        Limits and missing references cannot be caught.
        """
        match node.body:
            case _ if node.handler is not None:
                raise ValueError("a handler is not plain")
            case ast.Iterate(ast.Identity()):
                self.elements(here, sink, "optional_elements")
            case body if body in self.module.singles:
                self.tried(lambda: self.bind(self.value(body, here)), sink)
            case body:
                self.streamed(lambda code: code.tried(lambda: code.produce(body), None), here, sink)

    def tried(self, write: Callable[[], str | None], sink: Sink | None) -> None:
        """Write code that runs up to the first error that can be caught, and the sink for its output."""
        with self.block("try:"):
            output = write()
        with self.block("except UNCAUGHT:"):
            self.line("raise")
        with self.block("except QueryEvaluationError:"):
            pass
        if sink is not None and output is not None:
            with self.block("else:"):
                sink.write(output)

    def _call(self, node: ast.FunctionCall, here: str, sink: Sink) -> None:  # noqa: C901, PLR0912 - one case for each code
        """Write a call of a function as its record has it."""
        function = function_of(node)
        if function is None:
            raise ValueError(f"{node.name}/{len(node.arguments)} is not plain")
        name, arguments = function.callee, node.arguments
        match function.code:
            case Code.INPUT:
                result = self.bind(f"{name}({here})")
                origin = function.origin if here in self.origins else None
                variables = {"origin": self.origin(here), "here": here, "result": result}
                sink.write(self.located(result, origin and origin.format(**variables)))
            case Code.VALUES:
                self.each(arguments[0], here, Sink(lambda value: sink.write(self.bind(f"{name}({here}, {value})"))))
            case Code.FILTER:
                sink.write(self.bind(f"{name}({here}, {self.generator(arguments[0])})"))
            case Code.REGEX:
                self._regex(node, name, here, lambda match: sink.write(self.bind(match)))
            case Code.MATCHES:
                self._regex(node, name, here, lambda match: self.loop(match, sink))
            case Code.NOTHING:
                pass
            case Code.NOT:
                sink.write(self.bind(untruth(self.named(here))))
            case Code.FIRST | Code.LAST if arguments[0] in self.module.singles:
                sink.write(self.value(arguments[0], here))
            case Code.FIRST:
                self._first(arguments[0], here, sink)
            case Code.LAST:
                self._last(arguments[0], here, sink)
            case Code.IS_EMPTY:
                first = self.function(lambda code: code.return_first(arguments[0]))
                sink.write(self.bind(f"{first}({here}) is NOTHING"))
            case Code.ERROR:
                self._error(arguments[0], sink)
            case Code.IN:
                self._membership(name, arguments[0], here, sink)
            case Code.ANY | Code.ALL as decided:
                decision = self.function(lambda code: code.return_decision(arguments, is_any=decided is Code.ANY))
                sink.write(self.bind(f"{decision}({here})"))
            case Code.MAP:
                self._map(arguments[0], here, sink)
            case tuple() as kinds:
                here = self.named(here)
                with self.block(f"if {' or '.join(_TYPES[kind] for kind in kinds).format(here)}:"):
                    sink.write(here)
            case body:
                self.construct(body(*arguments), here, sink)

    def _first(self, source: ast.Node, here: str, sink: Sink) -> None:
        """Write ``first(source)``, which stops at the first output."""
        output = self.called(lambda code: code.return_first(source), here)
        with self.block(f"if {output} is not NOTHING:"):
            sink.write(output)

    def return_first(self, source: ast.Node) -> None:
        """Write the body of a function that stops at the first output."""
        self.each(source, INPUT, Sink(lambda output: self.line(f"return {self.handed(output)}"), short=True))
        self.line(f"return {self.handed('NOTHING')}")

    def _last(self, source: ast.Node, here: str, sink: Sink) -> None:
        output = self.variable(here)
        self.assign(output, "NOTHING")
        self.each(source, here, Sink(lambda each: self.assign(output, each), short=True))
        with self.block(f"if {output} is not NOTHING:"):
            sink.write(output)

    def _error(self, message: ast.Node, sink: Sink) -> None:
        match message:
            case ast.Literal(str() as text):
                self.line(f"refuse({self.module.constant(text)})")
                # Never reached. But the use of an output has to be written, or a variable would have no value.
                sink.write("None")
            case _:
                raise ValueError("error with a computed message is not plain")

    def _membership(self, name: str, candidates: ast.Node, here: str, sink: Sink) -> None:
        """Write ``IN(candidates)``. A list of texts becomes one comparison."""
        terms = terms_of(candidates)
        texts = [term.value for term in terms if isinstance(term, ast.Literal) and isinstance(term.value, str)]
        if len(texts) == len(terms):
            values = "".join(f"{self.module.constant(text)}, " for text in texts)
            # Only a text equals a text, so Python compares as jq does.
            sink.write(self.bind(f"{here} in ({values})"))
        else:
            sink.write(self.bind(f"{name}({here}, {self.generator(candidates)}({here}))"))

    def _map(self, body: ast.Node, here: str, sink: Sink) -> None:
        """Write ``map(body)``. Here the elements of null are an error."""
        array = self.array([], here)
        append = Sink(lambda output: self.append(array, output), short=True)
        self.elements(here, Sink(lambda element: self.each(body, element, append)), "elements")
        sink.write(array)

    def return_decision(self, arguments: Sequence[ast.Node], *, is_any: bool) -> None:
        """Write the body of ``any`` or ``all`` with a condition, which ends at the first answer that decides."""
        *source, condition = arguments

        def decide(text: str) -> None:
            with self.block(f"if {text}:" if is_any else f"if not ({text}):"):
                self.line(f"return {is_any}")

        ask = Sink(lambda output: self._asked(condition, output, decide))
        if source:
            self.each(source[0], INPUT, ask)
        else:
            self.elements(INPUT, ask, "elements")
        self.line(f"return {not is_any}")

    def _regex(self, node: ast.FunctionCall, name: str, here: str, hand_on: Callable[[str], None]) -> None:
        """Write a call with a regular expression, which is compiled here if it is known."""
        call, constant = RegexCall.of(node), self.module.constant
        if call.flags is None:
            raise ValueError(f"{node.name} with computed flags is not plain")

        def found(pattern: str) -> None:
            replacement = f", {self.generator(call.replacement)}" if call.replacement else ""
            hand_on(f"{name}({here}, {pattern}{replacement})")

        if compiled := call.compiled():
            found(constant(compiled))
        else:
            computed = f"computed_pattern({{}}, {constant(call.flags)})"
            self.each(call.pattern, here, Sink(lambda pattern: found(self.bind(computed.format(pattern)))))

    def generator(self, node: ast.Node) -> str:
        """Return the name of a function that yields all outputs of an expression."""
        return self.function(lambda code: code.produce(node), generates=True)

    def stream(self, node: ast.Node, here: str, sink: Sink) -> None:
        """Write a loop over the outputs of an expression that is a function of its own."""
        self.streamed(lambda code: code.produce(node), here, sink)

    def streamed(self, write: Callable[[Self], None], here: str, sink: Sink) -> None:
        """Write a loop over the outputs of another function."""
        output = self.variable(here)
        with self.block(f"for {self._target(output)} in {self._invocation(write, here, generates=True)}:"):
            sink.write(output)

    def called(self, write: Callable[[Self], None], here: str) -> str:
        """Write a call of another function with one output, and return an atom for that."""
        output = self.variable(here)
        self.line(f"{self._target(output)} = {self._invocation(write, here)}")
        return output

    def _invocation(self, write: Callable[[Self], None], here: str, *, generates: bool = False) -> str:
        if here not in self.origins:
            return f"{self.function(write, generates=generates)}({here})"
        return f"{self.function(write, generates=generates, origin=_ORIGIN)}({here}, {self.origin(here)})"

    def _target(self, output: str) -> str:
        return f"{output}, {self.origins[output]}" if output in self.origins else output

    def loop(self, iterable: str, sink: Sink) -> None:
        """Write a loop over the values of a Python expression."""
        name = self.new()
        with self.block(f"for {name} in {iterable}:"):
            sink.write(name)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write lines inside of a statement."""
        self.line(head)
        size = len(self.lines)
        self._indent += "    "
        yield
        if len(self.lines) == size:
            self.line("pass")
        self._indent = self._indent[:-4]

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append(self._indent + text)

    def new(self) -> str:
        """Return a variable that was not there before."""
        self._variables += 1
        return f"t{self._variables}"

    def bind(self, expression: str) -> str:
        """Return a new variable with the value of a Python expression, computed here. An atom keeps its origin."""
        name = self.new()
        self.line(f"{name} = {expression}")
        return self.located(name, self.origins.get(expression))

    def named(self, atom: str) -> str:
        """Return the same value in a variable."""
        return atom if is_name(atom) else self.bind(atom)

    def variable(self, here: str) -> str:
        """Return a new variable for outputs, and one for their origins if the input ``here`` has an origin."""
        name = self.new()
        return self.located(name, self.new()) if here in self.origins else name

    def assign(self, name: str, output: str, origin: str = "") -> None:
        """Assign an output to such a variable."""
        self.line(f"{name} = {output}")
        if name in self.origins:
            self.line(f"{self.origins[name]} = {origin or self.origin(output)}")

    def located(self, atom: str, origin: Origin) -> str:
        """Return a variable, from here on of that origin, which is computed where it is used."""
        if origin is not None:
            self.origins[atom] = origin if len(written(origin)) <= _LONGEST else self.bind(written(origin))
        return atom

    def entered(self, atom: str) -> str:
        """Return an output that becomes an input: its origin, which is written repeatedly, is computed here and now."""
        match self.origins.get(atom):
            case str() as origin if not is_name(origin):
                self.origins[atom] = self.bind(origin)
        return atom

    def origin(self, atom: str) -> str:
        """Return Python for the origin of an atom."""
        return written(self.origins.get(atom))


def is_empty(node: ast.Node) -> bool:
    """Return whether an expression never has an output."""
    return isinstance(node, ast.FunctionCall) and node.name == "empty" and not node.arguments


def is_name(atom: str) -> bool:
    """Return whether an atom is a variable or a named constant."""
    return atom.isidentifier() and atom[0].islower()


def written(origin: Origin) -> str:
    """Return Python for an origin."""
    if isinstance(origin, tuple):
        return f"Location(({''.join(f'{step}, ' for step in origin)}))"
    return origin or "None"


def truth(atom: str) -> str:
    """Return Python that is true if a value is true to jq."""
    return f"{atom} is not None and {atom} is not False"


def untruth(atom: str) -> str:
    """Return Python that is true if a value is null or false."""
    return f"{atom} is None or {atom} is False"


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
    """Return whether the result of an operator is a boolean for all operands."""
    return operator in ("==", "!=") or operator in _ORDERS


def arithmetic(operator: str, left: str, right: str, result: str) -> str:
    """Return Python for ``left operator right``. ``result`` is the variable that will hold it."""
    general = f"{_FUNCTIONS[operator]}({left}, {right})"
    variables = [atom for atom in (left, right) if not is_integer(atom)]
    integers = "".join(f"type({atom}) is int and " for atom in variables)
    # `type(...) is int` excludes booleans. Python would compute with them.
    if operator == "*":
        return f"{result} if {integers}-{_EXACT} <= ({result} := {left} * {right}) <= {_EXACT} else {general}"
    if operator in ("+", "-") and len(variables) == 1:
        # If the result is that small, both operands are. A larger operand would have been rounded before.
        return f"{result} if {integers}-{_SAFE} < ({result} := {left} {operator} {right}) < {_SAFE} else {general}"
    return general


def comparison(operator: str, left: str, right: str) -> str:
    """Return Python for a comparison. The left side has a name, or both sides are named or literals."""
    if operator in _ORDERS:
        general = _ORDERS[operator].format(left=left, right=right)
        return f"{left} {operator} {right} if type({left}) is int else {general}" if is_integer(right) else general
    if operator == "==":
        return _equality(left, right)
    return f"not ({_equality(left, right)})"


def _equality(left: str, right: str) -> str:
    # Each of these is a single object. `==` would find that 1 is true.
    if right in ("None", "True", "False"):
        return f"{left} is {right}"
    if is_text(right):
        return f"{left} == {right}"
    if right in ("[]", "{}"):
        return f"type({left}) is {'list' if right == '[]' else 'dict'} and not {left}"
    general = f"equal({left}, {right})"
    return f"{left} == {right} if type({left}) is int else {general}" if is_integer(right) else general


def is_integer(atom: str) -> bool:
    """Return whether an atom is a small integer as it is written."""
    return _INTEGER.fullmatch(atom) is not None


def is_text(atom: str) -> bool:
    """Return whether an atom is a text as it is written."""
    return atom[0] in "'\""
