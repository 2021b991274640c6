"""Lua for the constructs of an expression: the second back end of the syntax tree, beside the Python of `jq.compiled`.

An output is a Lua expression; a generator becomes a loop around what is done with its outputs. The `traced` emitter
writes beside an output the place that it is read from. ExportError names what Lua cannot express.
"""

from collections.abc import Callable, Sequence
from typing import Final

from karta_interpreter.export.lua_text import bare, key_text, quoted
from karta_interpreter.export.places import Places
from karta_interpreter.export.results import Results
from karta_interpreter.export.traits import (
    comparison,
    equality,
    field_text,
    is_boolean,
    is_present,
    literal,
    numbers_of,
    singular,
    unsupported,
)
from karta_interpreter.export.writer import Sink, Use, Value
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.compiled.singles import Singles, repeats_pieces
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.precedence import split_path
from karta_interpreter.languages.jq.syntax.traversal import is_merge, terms_of

_NIL: Final = Value("nil")
_ARITHMETIC: Final = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
_ORDERS: Final = {
    "<": "less({0}, {1})",
    ">": "less({1}, {0})",
    "<=": "not less({1}, {0})",
    ">=": "not less({0}, {1})",
}
_COUNTS: Final = {"add": "sum_of_counts({0})", "max": "extreme_count({0}, 1)", "min": "extreme_count({0}, -1)"}

Share = Callable[[Node, bool], str | None]
"""The function of a part of an expression that the script has more than once; with places, if these are followed."""


class Emitter(Places):
    """Writes expressions as Lua."""

    def __init__(self, taken: set[str] | None = None, *, traced: bool = False, share: Share | None = None) -> None:
        super().__init__(taken, traced=traced)
        self.singles = Singles()
        self._share = share
        self.results = Results()

    def each(self, node: Node, here: Value, sink: Sink) -> None:  # noqa: C901, PLR0912 - one case for each construct
        """Write what is done with every output of an expression for the input ``here``."""
        if node in self.singles:
            sink.write(self.value(node, here))
            return
        function = self._shared(node, here)
        if function:
            self.outputs_of(function, here, sink)
            return
        match node:
            case ast.Index(target, ast.Literal(str())):
                target, names = split_path(node)
                self.each(target, here, Sink(lambda whole: sink.write(self.field(whole, names)), sink.short))
            case ast.Index(target, key):
                self._pairs(target, key, here, lambda whole, of: sink.write(self.item(whole, of)))
            case ast.Iterate(target):
                self.each(target, here, Sink(lambda whole: self.loop(whole, sink, hint=singular(target))))
            case ast.Pipe(left, ast.Try(ast.Iterate(ast.Identity()), None)) if not self.follows(here):
                name = singular(left)
                self.each(left, here, Sink(lambda whole: self.loop(whole, sink, hint=name, call="each({}, true)")))
            case ast.Pipe(left, right):
                self.each(left, here, Sink(lambda output: self.each(right, self.entered(output, left), sink)))
            case ast.Comma():
                self._comma(node, here, sink)
            case ast.Alternative():
                self.alternatives(node, here, sink)
            case ast.If(branches, otherwise):
                self.choices(branches, otherwise or ast.Identity(), here, sink)
            case ast.Try(body, None):
                self.tried(body, here, sink)
            case ast.Object():
                self._objects(node, here, sink)
            case ast.Text(_, None):
                self._texts(node, here, sink)
            case ast.Call():
                self.call(node, here, sink)
            case ast.Binary(operator, left, right) if operator not in ("and", "or"):
                self._pairs(left, right, here, lambda a, b: sink.write(self._binary(node, a, b)))
            case _:
                raise unsupported(node, "it has several outputs where a script has one")

    def value(self, node: Node, here: Value) -> Value:
        """Write what an expression with one output needs, and return that."""
        function = self._shared(node, here)
        return self.output_of(function, here) if function else self._written(node, here)

    def _shared(self, node: Node, here: Value) -> str | None:
        return self._share(node, self.follows(here)) if self._share else None

    def _written(self, node: Node, here: Value) -> Value:  # noqa: C901, PLR0911, PLR0912 - one case for each construct
        """Write an expression with one output in place."""
        match node:
            case ast.Identity():
                return here
            case ast.Literal(content):
                return Value(literal(content))
            case ast.Index(target, ast.Literal(str())):
                target, names = split_path(node)
                return self.field(self.value(target, here), names)
            case ast.Index(target, key):
                return self.item(self.value(target, here), self.value(key, here))
            case ast.Slice(target, start, stop):
                bounds = [self.value(bound, here).text if bound else "nil" for bound in (start, stop)]
                return Value(f"slice({self.value(target, here).text}, {', '.join(bounds)})")
            case ast.Pipe(ast.Array() as left, ast.Call("length", ())):
                return Value(f"#{self.bind(self.value(left, here), 'found').text}")
            case ast.Pipe(ast.Array(body), ast.Call("max" | "min" as name, ())) if numbers := numbers_of(body):
                return Value(f"math.{name}({', '.join(self.value(number, here).text for number in numbers)})")
            case ast.Pipe(left, ast.Call(name)) if node in self.results.counts:
                return Value(_COUNTS[name].format(self.value(left, here).text))
            case ast.Pipe(left, right):
                return self.value(right, self.entered(self.value(left, here), left))
            case ast.Alternative():
                return self.alternative(node, here)
            case ast.Binary("and" | "or"):
                return Value(self.condition(node, here))
            case ast.Binary(_, left, right):
                return self._binary(node, self.value(left, here), self.value(right, here))
            case ast.Negate(body):
                return Value(f"negate({self.value(body, here).text})")
            case ast.If(branches, otherwise):
                return self.choice(branches, otherwise or ast.Identity(), here)
            case ast.Array(body):
                return Value("{}", "nil") if body is None else self.collected(body, here)
            case ast.Object(entries):
                fields = [self._field(node, entry, here, self.value(entry.value, here)) for entry in entries]
                return Value(f"{{{', '.join(fields)}}}")
            case ast.Text(parts, None):
                return Value(" .. ".join(self._piece(part, here) for part in parts) or '""')
            case ast.Call():
                return self.result(node, here)
            case ast.Variable(name):
                raise unsupported(node, f"${name} is another object, which a script cannot read")
        raise unsupported(node, "a script has no form for it")

    def condition(self, node: Node, here: Value) -> str:
        """A Lua condition for an expression with one output; a boolean, which has no place."""
        here = Value(here.text)
        function = self._shared(node, here)
        if function:
            return f"{function}({here.text})"
        match node:
            case ast.Binary("and" | "or" as operator, left, right) if left in self.singles and right in self.singles:
                own = self._truth(left, here)
                if isinstance(left, ast.Binary) and left.operator == operator:
                    own = bare(own)
                with self.aside() as lines:
                    other = self._truth(right, here)
                if not lines:
                    return f"({own} {operator} {other})"
                result = self.new("holds")
                self.line(f"local {result} = {bare(own)}")
                with self.when(result if operator == "and" else f"not {result}"):
                    self.insert(lines)
                    self.assign(result, other)
                return result
            case ast.Call("not", ()):
                return f"not {here.text}"
        if isinstance(node, ast.Binary) and node.operator in ("and", "or"):
            raise unsupported(node, "a side of it has several outputs")
        return self.value(node, here).text

    def _truth(self, node: Node, here: Value) -> str:
        text = self.condition(node, here)
        return text if is_boolean(node) else f"(not not {text})"

    def asked(self, node: Node, here: Value, use: Use) -> None:
        """Write what is done with each output of a condition."""
        if node in self.singles:
            use(Value(self.condition(node, here)))
        else:
            self.each(node, Value(here.text), Sink(use))

    def insert(self, lines: Sequence[str]) -> None:
        """Write lines that were written aside, one level deeper."""
        self.lines += [f"  {line}" for line in lines]

    def _pairs(self, left: Node, right: Node, here: Value, use: "Callable[[Value, Value], None]") -> None:
        self.each(right, here, Sink(lambda other: self.each(left, here, Sink(lambda own: use(own, other)))))

    def _comma(self, node: Node, here: Value, sink: Sink) -> None:
        if not sink.short:
            self.stream(node, here, sink)
            return
        for term in terms_of(node):
            with self.block("do"):
                self.each(term, here, sink)

    def stream(self, node: Node, here: Value, sink: Sink) -> None:
        """Collect the outputs, and write a loop over them."""
        if not self.follows(here) and all(term in self.singles for term in terms_of(node)):
            self.loop(self.collected(node, here), sink)
            return
        found, origins = self.collection(here)
        self.each(node, here, Sink(lambda output: self.append(found, output, origins=origins), short=True))
        self.again(found, origins, sink)

    def collected(self, body: Node, here: Value) -> Value:
        """A list of all outputs."""
        terms = terms_of(body)
        if all(term in self.singles for term in terms):
            values = [self.value(term, here) for term in terms]
            texts = ", ".join(value.text for value in values)
            text = f"{{{texts}}}" if all(map(is_present, terms)) else f"list({texts})"
            if not any(self.follows(value) for value in values):
                return Value(text)
            origins = ", ".join(value.origin or "nil" for value in values)
            return Value(self.bind(Value(text), "values").text, f"parts({len(values)}, {origins})")
        found, origins = self.collection(here)
        for term in terms:

            def keep(output: Value, term: Node = term) -> None:
                self.append(found, output, term, origins)

            self.each(term, here, Sink(keep, short=True))
        return Value(found, f"{{parts = {origins}}}" if origins else None)

    def _binary(self, node: ast.Binary, left: Value, right: Value) -> Value:
        operator = node.operator
        if operator in ("==", "!="):
            return Value(equality(operator, node, left.text, right.text))
        if operator in _ORDERS and (text := comparison(operator, node, left.text, right.text)):
            return Value(text)
        if operator in _ORDERS:
            return Value(_ORDERS[operator].format(left.text, right.text))
        if operator not in _ARITHMETIC:
            raise unsupported(node, f"{operator} has no form in a script")
        function = "merge" if is_merge(node) else _ARITHMETIC[operator]
        if function != "multiply" or not (self.follows(left) or self.follows(right)):
            return Value(f"{function}({left.text}, {right.text})")
        left, right = self.bind(left), self.bind(right)
        ways = [
            f"times({origin}, {factor})"
            for origin, factor in ((left.origin, right.text), (right.origin, left.text))
            if origin not in (None, "nil")
        ]
        return Value(self.bind(Value(f"multiply({left.text}, {right.text})"), "product").text, f"({' or '.join(ways)})")

    def _objects(self, node: ast.Object, here: Value, sink: Sink, done: tuple[str, ...] = ()) -> None:
        if len(done) == len(node.entries):
            sink.write(Value(f"{{{', '.join(done)}}}"))
            return
        entry = node.entries[len(done)]

        def use(value: Value) -> None:
            self._objects(node, here, sink, (*done, self._field(node, entry, here, self.bind(value))))

        self.each(entry.value, here, Sink(use))

    def _field(self, node: ast.Object, entry: ast.Entry, here: Value, value: Value) -> str:
        text = value.text if node in self.results.objects else field_text(entry.value, value)
        return f"{self._key(entry.key, here)} = {text}"

    def _key(self, node: Node, here: Value) -> str:
        if isinstance(node, ast.Literal) and isinstance(node.value, str):
            return key_text(node.value)
        return f"[key_of({self.value(node, here).text})]"

    def _texts(self, node: ast.Text, here: Value, sink: Sink) -> None:
        convert = "short_text" if repeats_pieces(node, self.singles) else "to_text"

        def spell(parts: Sequence[str | Node], after: list[str]) -> None:
            while parts and (isinstance(parts[-1], str) or parts[-1] in self.singles):
                parts, after = parts[:-1], [self._piece(parts[-1], here, convert), *after]
            match parts:
                case [*before, Node() as last]:

                    def use(output: Value) -> None:
                        spell(before, [self.bind(Value(f"to_text({output.text})"), "piece").text, *after])

                    self.each(last, here, Sink(use))
                case _:
                    sink.write(Value(" .. ".join(after)))

        spell(node.parts, [])

    def _piece(self, part: str | Node, here: Value, convert: str = "to_text") -> str:
        return quoted(part) if isinstance(part, str) else f"{convert}({self.value(part, here).text})"

    def call(self, node: ast.Call, here: Value, sink: Sink) -> None:
        """Write a call with any number of outputs; in `functions`."""
        raise NotImplementedError

    def result(self, node: ast.Call, here: Value) -> Value:
        """Write a call with one output; in `functions`."""
        raise NotImplementedError

    def alternative(self, node: ast.Alternative, here: Value) -> Value:
        """Write ``left // right`` of single values; in `branches`, as all below."""
        raise NotImplementedError

    def alternatives(self, node: ast.Alternative, here: Value, sink: Sink) -> None:
        """Write ``left // right`` with any number of outputs."""
        raise NotImplementedError

    def choice(self, branches: Sequence[tuple[Node, Node]], otherwise: Node, here: Value) -> Value:
        """Write a condition between single values."""
        raise NotImplementedError

    def choices(self, branches: Sequence[tuple[Node, Node]], otherwise: Node, here: Value, sink: Sink) -> None:
        """Write a condition with any number of outputs."""
        raise NotImplementedError

    def tried(self, body: Node, here: Value, sink: Sink) -> None:
        """Write an expression whose errors are passed over."""
        raise NotImplementedError
