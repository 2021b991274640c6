"""Lua for the constructs of an expression: the second back end of the syntax tree, after the Python of `jq.compiled`.

An output is a Lua expression. A generator becomes a loop around the statements that use its outputs. The `traced`
emitter also writes the place that an output is read from. ExportError names the construct that Lua cannot express.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from karta_interpreter.definitions.karta.expressions import is_boolean
from karta_interpreter.export.lua import (
    EMPTY,
    NIL,
    ONE,
    TRUE,
    ZERO,
    AnonymousFunction,
    Assignment,
    Constant,
    Expression,
    IfStatement,
    Indexing,
    Length,
    Local,
    LocalFunction,
    Name,
    Not,
    Return,
    Statement,
    Table,
    call,
    inside,
    is_place,
    list_of,
    negated,
    operation,
    path_in,
    table,
    text,
)
from karta_interpreter.export.lua_body import LuaBody, Value
from karta_interpreter.export.traits import (
    hint_of,
    is_present,
    is_truthy,
    literal,
    singular,
    singular_name,
    unsupported,
)
from karta_interpreter.languages.jq import (
    OutputSink,
    Singles,
    is_merge,
    repeats_pieces,
    split_path,
    syntax as ast,
    terms_of,
)

_EMPTY_CALL: Final = ast.FunctionCall("empty")
_ARITHMETIC: Final = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
_ORDERS: Final = frozenset({"<", ">", "<=", ">="})
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}

Share = Callable[[ast.Node, bool], str | None]
"""The function of a part that the script contains more than once, with places if they are followed."""

FunctionForm: TypeAlias = "Callable[[Emitter, ast.FunctionCall, Value, OutputSink[Value]], None]"
"""Writes the use of the outputs of a function of jq."""

_Entry: TypeAlias = tuple[Expression | None, Expression]


class Emitter(LuaBody):
    """Writes expressions as Lua. ``traced``: with the places of the values.

    ``forms`` are the functions that scripts can call, by name and number of arguments.
    """

    def __init__(
        self,
        forms: Mapping[tuple[str, int], FunctionForm],
        taken: set[str] | None = None,
        *,
        traced: bool = False,
        share: Share | None = None,
    ) -> None:
        super().__init__(taken)
        self._forms = forms
        self.traced = traced
        self.singles = Singles()
        self._share = share

    # Expressions

    def each(self, node: ast.Node, dot: Value, sink: OutputSink[Value]) -> None:  # noqa: C901, PLR0912 - one case for each construct
        """Write the use of every output of an expression for the input ``dot``."""
        if node in self.singles:
            sink.write(self.value(node, dot))
            return
        function = self._shared(node, dot)
        if function:
            self._outputs_of(function, dot, sink)
            return
        match node:
            case ast.Index(target, ast.Literal(str())):
                target, names = split_path(node)
                self.each(target, dot, OutputSink(lambda whole: sink.write(self._field(whole, names)), sink.short))
            case ast.Index(target, key):
                self._pairs(target, key, dot, lambda whole, of: sink.write(self._item(whole, of)))
            case ast.Iterate(target):
                self.each(target, dot, OutputSink(lambda whole: self.loop(whole, sink, hint=singular(target))))
            case ast.Pipe(left, ast.Try(ast.Iterate(ast.Identity()), None)) if not self.follows(dot):
                name = singular(left)
                self.each(left, dot, OutputSink(lambda whole: self.loop(whole, sink, hint=name, is_tolerant=True)))
            case ast.Pipe(left, right):
                self.each(left, dot, OutputSink(lambda output: self.each(right, self._entered(output, left), sink)))
            case ast.Comma() if sink.short:
                for term in terms_of(node):
                    with self.apart():
                        self.each(term, dot, sink)
            case ast.Comma():
                self._stream(node, dot, sink)
            case ast.Alternative():
                self._alternatives(node, dot, sink)
            case ast.If(branches, otherwise):
                self._choices(branches, otherwise or ast.Identity(), dot, sink)
            case ast.Try(body, None):
                self._tried(body, dot, sink)
            case ast.Object():
                self._objects(node, dot, sink)
            case ast.Text(_, None):
                self._texts(node, dot, sink)
            case ast.FunctionCall():
                self._call(node, dot, sink)
            case ast.Binary(operator, left, right) if operator not in ("and", "or"):
                self._pairs(left, right, dot, lambda a, b: sink.write(self._binary(node, a, b)))
            case _:
                raise unsupported(node, "it has several outputs where a script has one")

    def value(self, node: ast.Node, dot: Value) -> Value:
        """Write the statements that an expression with one output needs, and return the output."""
        function = self._shared(node, dot)
        if not function:
            return self._written(node, dot)
        if not self.follows(dot):
            return Value(call(function, dot.code))
        return Value(*self.locals(("value", "origin"), call(function, dot.code, dot.origin or NIL)))

    def code(self, node: ast.Node, dot: Value) -> Expression:
        """As `value`, without its place."""
        return self.value(node, dot).code

    def _shared(self, node: ast.Node, dot: Value) -> str | None:
        return self._share(node, self.follows(dot)) if self._share else None

    def _written(self, node: ast.Node, dot: Value) -> Value:  # noqa: C901, PLR0911, PLR0912 - one case for each construct
        """Write an expression with one output in place."""
        match node:
            case ast.Identity():
                return dot
            case ast.Literal(content):
                return Value(literal(content))
            case ast.Index(target, ast.Literal(str())):
                target, names = split_path(node)
                return self._field(self.value(target, dot), names)
            case ast.Index(target, key):
                return self._item(self.value(target, dot), self.value(key, dot))
            case ast.Slice(target, start, stop):
                bounds = [self.code(bound, dot) if bound else NIL for bound in (start, stop)]
                return Value(call("slice", self.code(target, dot), *bounds))
            case ast.Pipe(ast.Array() as left, ast.FunctionCall("length", ())):
                return Value(Length(self.bound(self.code(left, dot), "found")))
            case ast.Pipe(left, right):
                return self.value(right, self._entered(self.value(left, dot), left))
            case ast.Alternative():
                return self._alternative(node, dot)
            case ast.Binary("and" | "or"):
                return Value(self.condition(node, dot))
            case ast.Binary(_, left, right):
                return self._binary(node, self.value(left, dot), self.value(right, dot))
            case ast.Negate(body):
                return Value(call("negate", self.code(body, dot)))
            case ast.If(branches, otherwise):
                return self._choice(branches, otherwise or ast.Identity(), dot)
            case ast.Array(body):
                return Value(EMPTY, NIL) if body is None else self.collected(body, dot)
            case ast.Object(entries):
                fields = [self._entry(entry, dot, self.value(entry.value, dot)) for entry in entries]
                return Value(Table(tuple(fields)))
            case ast.Text(parts, None):
                return Value(operation("..", *(self._piece(piece, dot) for piece in parts)) if parts else text(""))
            case ast.FunctionCall():
                outputs: list[Value] = []
                self._call(node, dot, OutputSink(outputs.append))
                return outputs[0]
            case ast.Variable(name):
                raise unsupported(node, f"${name} is another object, which a script cannot read")
        raise unsupported(node, "a script has no form for it")

    def condition(self, node: ast.Node, dot: Value) -> Expression:
        """Return a Lua condition for an expression with one output. It is a boolean, which does not have a place."""
        dot = Value(dot.code)
        function = self._shared(node, dot)
        if function:
            return call(function, dot.code)
        match node:
            case ast.Binary("and" | "or" as operator, left, right) if left in self.singles and right in self.singles:
                own = self._truth(left, dot)
                with self.aside() as lines:
                    other = self._truth(right, dot)
                if not lines:
                    return operation(operator, own, other)
                result = self.local("holds", own)
                with self.when(result if operator == "and" else Not(result)):
                    self.write(*lines)
                    self.assign(result, other)
                return result
            case ast.FunctionCall("not", ()):
                return Not(dot.code)
        if isinstance(node, ast.Binary) and node.operator in ("and", "or"):
            raise unsupported(node, "a side of it has several outputs")
        return self.code(node, dot)

    def _truth(self, node: ast.Node, dot: Value) -> Expression:
        condition = self.condition(node, dot)
        return condition if is_boolean(node) else Not(Not(condition))

    def asked(self, node: ast.Node, dot: Value, use: Callable[[Expression], None]) -> None:
        """Write the use of each output of a condition."""
        self.each(node, Value(dot.code), OutputSink(lambda output: use(output.code)))

    def _pairs(self, left: ast.Node, right: ast.Node, dot: Value, use: Callable[[Value, Value], None]) -> None:
        self.each(right, dot, OutputSink(lambda other: self.each(left, dot, OutputSink(lambda own: use(own, other)))))

    def _stream(self, node: ast.Node, dot: Value, sink: OutputSink[Value]) -> None:
        """Collect the outputs, and write a loop over them."""
        if not self.follows(dot) and all(term in self.singles for term in terms_of(node)):
            self.loop(self.collected(node, dot), sink)
            return
        outputs, origins = self._collection(dot)
        self.each(node, dot, OutputSink(lambda output: self.append(outputs, output, origins=origins), short=True))
        self._again(outputs, origins, sink)

    def collected(self, body: ast.Node, dot: Value) -> Value:
        """Return a list of all outputs."""
        terms = terms_of(body)
        if all(term in self.singles for term in terms):
            values = [self.value(term, dot) for term in terms]
            codes = [value.code for value in values]
            code = list_of(codes) if all(map(is_present, terms)) else call("list", *codes)
            if not any(self.follows(value) for value in values):
                return Value(code)
            origins = [value.origin or NIL for value in values]
            return Value(self.bound(code, "values"), call("parts", Constant(str(len(values))), *origins))
        outputs, origins_of_outputs = self._collection(dot)
        for term in terms:
            keep = partial(self.append, outputs, node=term, origins=origins_of_outputs)
            self.each(term, dot, OutputSink(keep, short=True))
        return Value(outputs, table(parts=origins_of_outputs) if origins_of_outputs else None)

    def _binary(self, node: ast.Binary, left: Value, right: Value) -> Value:
        operator = node.operator
        if operator in ("==", "!="):
            return Value(_equality(operator, node, left.code, right.code))
        if operator in _ORDERS:
            return Value(_order(operator, node, left.code, right.code))
        if operator not in _ARITHMETIC:
            raise unsupported(node, f"{operator} has no form in a script")
        function = "merge" if is_merge(node) else _ARITHMETIC[operator]
        if function != "multiply" or not (self.follows(left) or self.follows(right)):
            return Value(call(function, left.code, right.code))
        left, right = self.bind(left), self.bind(right)
        origins = [
            call("times", origin, factor)
            for origin, factor in ((left.origin, right.code), (right.origin, left.code))
            if origin not in (None, NIL)
        ]
        return Value(self.bound(call("multiply", left.code, right.code), "product"), operation("or", *origins))

    def _objects(self, node: ast.Object, dot: Value, sink: OutputSink[Value], done: tuple[_Entry, ...] = ()) -> None:
        if len(done) == len(node.entries):
            sink.write(Value(Table(done)))
            return
        entry = node.entries[len(done)]

        def use(value: Value) -> None:
            self._objects(node, dot, sink, (*done, self._entry(entry, dot, self.bind(value))))

        self.each(entry.value, dot, OutputSink(use))

    def _entry(self, entry: ast.Entry, dot: Value, value: Value) -> _Entry:
        code = value.code if is_present(entry.value) else call("or_null", value.code)
        if isinstance(entry.key, ast.Literal) and isinstance(entry.key.value, str):
            return text(entry.key.value), code
        return call("key_of", self.code(entry.key, dot)), code

    def _texts(self, node: ast.Text, dot: Value, sink: OutputSink[Value]) -> None:
        convert = "short_text" if repeats_pieces(node, self.singles) else "to_text"

        def spell(pieces: Sequence[str | ast.Node], after: list[Expression]) -> None:
            while pieces and (isinstance(pieces[-1], str) or pieces[-1] in self.singles):
                pieces, after = pieces[:-1], [self._piece(pieces[-1], dot, convert), *after]
            match pieces:
                case [*before, ast.Node() as last]:

                    def use(output: Value) -> None:
                        spell(before, [self.bound(call("to_text", output.code), "piece"), *after])

                    self.each(last, dot, OutputSink(use))
                case _:
                    sink.write(Value(operation("..", *after)))

        spell(node.parts, [])

    def _piece(self, piece: str | ast.Node, dot: Value, convert: str = "to_text") -> Expression:
        return text(piece) if isinstance(piece, str) else call(convert, self.code(piece, dot))

    # What chooses between expressions

    def _alternative(self, node: ast.Alternative, dot: Value) -> Value:
        """Write ``left // right`` of single values."""
        left = self.value(node.left, dot)
        with self.aside() as lines:
            right = self.value(node.right, dot)
        follows = self.follows(left) or self.follows(right)
        if not lines and not follows:
            return Value(operation("or", left.code, right.code))
        name = hint_of(node.left)
        if not lines and (isinstance(right.code, Name | Constant) or right.code == EMPTY):
            default_origin = [right.origin] if right.origin and self.follows(right) else []
            either = call("either", left.code, left.origin or NIL, right.code, *default_origin)
            return Value(*self.locals((name, "origin"), either))
        if follows:
            left = self.bind(left, name)
        missing = [self._named_origin(left)] if follows else []
        result, *origins = self.locals((name, *("origin" for _ in missing)), left.code, *missing)
        with self.when(Not(result)):
            self.write(*lines)
            self.assign(result, right.code)
            for origin, before in zip(origins, missing, strict=True):
                filled = call("default_origin", before, right.origin or NIL, left.code, result)
                self.write(Assignment((origin,), (filled,)))
        return Value(result, *origins)

    def _alternatives(self, node: ast.Alternative, dot: Value, sink: OutputSink[Value]) -> None:
        """Write ``left // right`` with any number of outputs."""

        def there(output: Value) -> None:
            output = self.bind(output, hint_of(node.left))
            with self.when(output.code):
                sink.write(output)

        if node.right == _EMPTY_CALL:
            self.each(node.left, dot, OutputSink(there, sink.short))
        elif not sink.short or self.follows(dot) or node.left not in self.singles:
            self._first_or_others(node, dot, sink)
        else:
            left = self.bind(self.value(node.left, dot), hint_of(node.left))
            with self.aside() as then:
                sink.write(left)
            with self.aside() as otherwise:
                self.each(node.right, dot, sink)
            self.write(IfStatement(left.code, tuple(then), tuple(otherwise)))

    def _first_or_others(self, node: ast.Alternative, dot: Value, sink: OutputSink[Value]) -> None:
        """Write ``left // right`` for a left side with any number of outputs: collected, with their places."""
        outputs, origins = self._collection(dot)
        missing = self.local("missing", EMPTY) if origins else None

        def keep(output: Value) -> None:
            output = self.bind(output, hint_of(node.left))
            with self.aside() as then:
                self.append(outputs, output, origins=origins)
            gone = call("list", output.code, output.origin or NIL)
            self.write(IfStatement(output.code, tuple(then), (call("append", missing, gone),) if missing else ()))

        def other(output: Value) -> None:
            if missing:
                output = self.bind(output)
                value, origin = (call("only_element", missing, Constant(which)) for which in ("1", "2"))
                origin = call("default_origin", origin, output.origin or NIL, value, output.code)
                output = Value(output.code, origin)
            self.append(outputs, output, node.right, origins)

        self.each(node.left, dot, OutputSink(keep, short=True))
        with self.when(operation("==", Length(outputs), ZERO)):
            self.each(node.right, dot, OutputSink(other, short=True))
        self._again(outputs, origins, sink)

    def _choice(self, branches: Sequence[ast.Branch], otherwise: ast.Node, dot: Value) -> Value:
        test, then, other = _first_branch(branches, otherwise)
        condition = self.condition(test, dot)
        with self.aside() as lines:
            first = self.value(then, dot)
        with self.aside() as others:
            second = self.value(other, dot)
        follows = self.follows(first) or self.follows(second)
        if not lines and not others and not follows and is_truthy(then):
            return Value(operation("or", operation("and", condition, first.code), second.code))
        names = self.locals((hint_of(then), "origin") if follows else (hint_of(then),))
        if not lines and _is_nil(first):
            with self.when(negated(condition)):
                self._assign(others, names, second)
            return Value(*names)
        with self.aside() as held:
            self._assign(lines, names, first)
        with self.aside() as failed:
            if others or not _is_nil(second):
                self._assign(others, names, second)
        self.write(IfStatement(condition, tuple(held), tuple(failed)))
        return Value(*names)

    def _assign(self, lines: Sequence[Statement], names: Sequence[Name], value: Value) -> None:
        """Write the statements of a value, and assign it to variables that are nil."""
        self.write(*lines)
        for name, code in zip(names, value, strict=False):
            if code is not None and code != NIL:
                self.assign(name, code)

    def _choices(
        self, branches: Sequence[ast.Branch], otherwise: ast.Node, dot: Value, sink: OutputSink[Value]
    ) -> None:
        """Write ``if`` with any number of outputs."""
        test, then, other = _first_branch(branches, otherwise)
        if not sink.short and _EMPTY_CALL not in (then, other):
            self._stream(ast.If(((test, then),), other), dot, sink)
            return

        def choose(condition: Expression) -> None:
            with self.aside() as held:
                self.each(then, dot, sink)
            with self.aside() as failed:
                self.each(other, dot, sink)
            if then == _EMPTY_CALL:
                condition, held, failed = negated(condition), failed, []
            self.write(IfStatement(condition, tuple(held), tuple(failed)))

        self.asked(test, dot, choose)

    def _tried(self, body: ast.Node, dot: Value, sink: OutputSink[Value]) -> None:
        match body:
            case ast.Index(ast.Identity(), ast.Literal(str())):
                dot = self.bind(dot)
                with self.when(operation("or", operation("==", dot.code, NIL), call("is_object", dot.code))):
                    sink.write(self.value(body, dot))
            case ast.Iterate(target) if split_path(target)[0] == ast.Identity():
                names = split_path(target)[1]
                whole = self.bind(dot)
                name = names[-1] if names else ""
                if names:
                    keys = [*map(text, names)]
                    field = self.bound(call("peek", dot.code, *keys), name)
                    whole = Value(field, inside(dot.origin, field, keys) if self.follows(dot) else None)
                elif isinstance(whole.code, Name):
                    name = re.sub(r"_\d+$", "", whole.code.text)
                self.loop(whole, sink, hint=singular_name(name), is_tolerant=True)
            case _:
                outputs = Name(self.new("found"))
                origins = self.local("origins", EMPTY) if self.follows(dot) else None
                caught = OutputSink[Value](lambda output: self.append(outputs, output, origins=origins), short=True)
                with self.aside() as lines:
                    self.each(body, dot, caught)
                self.write(Local((outputs.text,), (call("tried", AnonymousFunction((outputs.text,), tuple(lines))),)))
                self._again(outputs, origins, sink)

    # Places

    def follows(self, value: Value) -> bool:
        """Return whether the place of a value is known and wanted."""
        return self.traced and value.origin not in (None, NIL)

    def _field(self, whole: Value, names: Sequence[str]) -> Value:
        keys = [*map(text, names)]
        code = path_in(whole.code, keys)
        if not self.follows(whole):
            return Value(code)
        if is_place(whole.origin):
            return Value(code, inside(whole.origin, code, keys))
        bound = self.bound(code, names[-1])
        return Value(bound, inside(whole.origin, bound, keys))

    def _item(self, whole: Value, key: Value) -> Value:
        if not self.follows(whole):
            return Value(call("item", whole.code, key.code))
        whole = self.bind(whole)
        element = self.bound(call("item", whole.code, key.code), "item")
        return Value(element, call("step", whole.origin or NIL, whole.code, key.code, element))

    def loop(
        self,
        whole: Value,
        sink: OutputSink[Value],
        *,
        hint: str = "element",
        by: str = "each",
        is_tolerant: bool = False,
    ) -> None:
        """Write a loop over the elements of a value, which a call of the library gives one by one."""
        element = Name(self.new(hint))
        elements = call(by, whole.code, *([TRUE] if is_tolerant else []))
        if not self.follows(whole):
            with self.loop_over(("_", element.text), elements):
                sink.write(Value(element))
            return
        key = Name(self.new("index"))
        with self.loop_over((key.text, element.text), elements):
            sink.write(Value(element, inside(whole.origin, element, [key])))

    def _entered(self, output: Value, node: ast.Node) -> Value:
        """Return the output of an expression by a name, as the input of the next one."""
        bound = self.bind(output, hint_of(node))
        return Value(bound.code, self._named_origin(bound)) if self.follows(bound) else bound

    def _named_origin(self, value: Value) -> Expression:
        """Return the origin of a value by a name, or unchanged if it may be written twice."""
        if not self.follows(value) or value.origin is None:
            return NIL
        return value.origin if is_place(value.origin) else self.bound(value.origin, "origin")

    def append(self, outputs: Name, output: Value, node: ast.Node | None = None, origins: Name | None = None) -> None:
        """Write that a list has another element. ``origins``: the variable with the origins of all elements."""
        if origins and output.origin and self.follows(output):
            self.write(call("append_from", outputs, output.code, origins, output.origin))
        elif node is not None and is_present(node):
            self.write(Assignment((Indexing(outputs, operation("+", Length(outputs), ONE)),), (output.code,)))
        else:
            self.write(call("append", outputs, output.code))

    def _collection(self, dot: Value) -> tuple[Name, Name | None]:
        """Write an empty list, and one for the origins of its elements if the places of ``dot`` are followed."""
        if not self.follows(dot):
            return self.local("found", EMPTY), None
        outputs, origins = self.locals(("found", "origins"), EMPTY, EMPTY)
        return outputs, origins

    def _again(self, outputs: Name, origins: Expression | None, sink: OutputSink[Value]) -> None:
        element = Name(self.new("each_found"))
        index = Name(self.new("index") if origins else "_")
        with self.loop_over((index.text, element.text), call("each", outputs)):
            sink.write(Value(element, Indexing(origins, index) if origins else None))

    def _outputs_of(self, function: str, dot: Value, sink: OutputSink[Value]) -> None:
        if not self.follows(dot):
            self.loop(Value(call(function, dot.code)), sink)
            return
        outputs, origins = self.locals(("found", "origins"), call(function, dot.code, dot.origin or NIL))
        self._again(outputs, Indexing(origins, text("parts")), sink)

    # Calls of jq's functions

    def _call(self, node: ast.FunctionCall, dot: Value, sink: OutputSink[Value]) -> None:
        form = self._forms.get((node.name, len(node.arguments)))
        if form is None:
            raise unsupported(node, f"{node.name} has no form in a script")
        form(self, node, dot, sink)

    def function(self, body: ast.Node) -> Expression:
        """Return a Lua function that returns a list of all outputs of an expression for its argument."""
        name = self.new("element")
        with self.aside() as lines:
            self.write(Return((self.collected(body, Value(Name(name))).code,)))
        if len(lines) == 1:
            return AnonymousFunction((name,), tuple(lines))
        function = self.new("key")
        self.write(LocalFunction(function, (name,), tuple(lines)))
        return Name(function)


def _first_branch(branches: Sequence[ast.Branch], otherwise: ast.Node) -> tuple[ast.Node, ast.Node, ast.Node]:
    """Return the first condition, its result, and all other branches as one expression."""
    (test, then), *others = branches
    return test, then, ast.If(tuple(others), otherwise) if others else otherwise


def _is_nil(value: Value) -> bool:
    return value.code == NIL and value.origin in (None, NIL)


def _equality(operator: str, node: ast.Binary, left: Expression, right: Expression) -> Expression:
    operands = (node.left, node.right)
    is_equal = operator == "=="
    comparison: Expression = call("equal", left, right)
    if any(isinstance(side, ast.Literal | ast.Text) for side in operands):
        comparison = operation("==", left, right)
    for side, code in zip(operands, (right, left), strict=True):
        if side in (ast.Array(None), ast.Object(())):
            comparison = call("is_empty", code)
    return comparison if is_equal else negated(comparison)


def _order(operator: str, node: ast.Binary, left: Expression, right: Expression) -> Expression:
    """Return a comparison by jq's order. Among numbers Lua has the same order."""
    for side, other, number, means in (
        (node.right, left, right, operator),
        (node.left, right, left, _MIRRORED[operator]),
    ):
        if isinstance(side, ast.Literal) and type(side.value) in (int, float):
            if isinstance(other, Length):
                return operation(means, other, number)
            comparison = call("is_above" if means in (">", "<=") else "is_below", other, number)
            return Not(comparison) if "=" in means else comparison
    less = call("less", left, right) if operator in ("<", ">=") else call("less", right, left)
    return Not(less) if "=" in operator else less
