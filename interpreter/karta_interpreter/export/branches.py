"""Lua for what chooses between expressions: alternatives, conditions, and errors that are passed over."""

from collections.abc import Sequence

from karta_interpreter.export.emitter import Emitter
from karta_interpreter.export.traits import (
    hint_of,
    inside,
    is_truthy,
    singular,
)
from karta_interpreter.export.writer import Sink, Value, quoted
from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.precedence import split_path


class Branches(Emitter):
    """Writes the constructs that choose between expressions."""

    def alternative(self, node: ast.Alternative, here: Value) -> Value:
        """Write ``left // right`` of single values, and return the value."""
        left = self.value(node.left, here)
        if self._follows(left):
            left = self.bind(left)
        with self.aside() as lines:
            right = self.value(node.right, here)
        if not lines and not (self._follows(left) or self._follows(right)):
            return Value(f"({left.text} or {right.text})")
        result = self.new(hint_of(node.left))
        self.line(f"local {result} = {left.text}")
        if not (self._follows(left) or self._follows(right)):
            with self.block(f"if not {result} then"):
                self.insert(lines)
                self.assign(result, right.text)
            return Value(result)
        missing, origin = self._named_origin(left), self.new("origin")
        self.line(f"local {origin} = {missing}")
        with self.block(f"if not {left.text} then"):
            self.insert(lines)
            self.assign(result, right.text)
            self.line(f"{origin} = instead({missing}, {right.origin or 'nil'}, {left.text}, {result})")
        return Value(result, origin)

    def alternatives(self, node: ast.Alternative, here: Value, sink: Sink) -> None:
        """Write ``left // right`` with any number of outputs."""

        def there(output: Value) -> None:
            output = self.bind(output, hint_of(node.left))
            with self.block(f"if {output.text} then"):
                sink.write(output)

        if node.right == ast.Call("empty"):
            self.each(node.left, here, Sink(there, sink.short))
        elif not sink.short or self._follows(here):
            self._first_or_others(node, here, sink)
        elif node.left in self.singles:
            left = self.bind(self.value(node.left, here), hint_of(node.left))
            with self.block(f"if {left.text} then"):
                sink.write(left)
                self.otherwise()
                self.each(node.right, here, sink)
        else:
            self._first_or_others(node, here, sink)

    def _first_or_others(self, node: ast.Alternative, here: Value, sink: Sink) -> None:
        """``left // right`` for a left side with any number of outputs: collected, with their places."""
        found = self.bind(Value("{}"), "found").text
        origins = self.bind(Value("{}"), "origins").text
        missing = self.bind(Value("{}"), "missing").text

        def keep(output: Value) -> None:
            output = self.bind(output)
            with self.block(f"if {output.text} then"):
                self.line(f"{found}[#{found} + 1] = {output.text}")
                self.line(f"{origins}[#{found}] = {output.origin or 'nil'}")
                self.otherwise()
                self.line(f"append({missing}, list({output.text}, {output.origin or 'nil'}))")

        def other(output: Value) -> None:
            output = self.bind(output)
            self.append(found, output)
            self.line(
                f"{origins}[#{found}] = instead(alone({missing}, 2), {output.origin or 'nil'}, alone({missing}, 1), "
                f"{output.text})"
            )

        self.each(node.left, here, Sink(keep, short=True))
        with self.block(f"if #{found} == 0 then"):
            self.each(node.right, here, Sink(other, short=True))
        element, index = self.new("each_found"), self.new("index")
        with self.block(f"for {index}, {element} in each({found}) do"):
            sink.write(Value(element, f"{origins}[{index}]" if self._follows(here) else None))

    def choice(self, branches: Sequence[tuple[Node, Node]], otherwise: Node, here: Value) -> Value:
        """``if`` with one output."""
        (asked, then), *rest = branches
        other = ast.If(tuple(rest), otherwise) if rest else otherwise
        condition = self.condition(asked, here)
        with self.aside() as lines:
            first = self.value(then, here)
        with self.aside() as others:
            second = self.value(other, here)
        follows = self._follows(first) or self._follows(second)
        if not lines and not others and not follows and is_truthy(then):
            return Value(f"({condition} and {first.text} or {second.text})")
        result = self.new(hint_of(then))
        origin = self.new("origin") if follows else ""
        self.line(f"local {result}{f', {origin}' if origin else ''}")
        with self.block(f"if {condition} then"):
            self._assign(lines, result, origin, first)
            self.otherwise()
            self._assign(others, result, origin, second)
        return Value(result, origin or None)

    def _assign(self, lines: Sequence[str], result: str, origin: str, value: Value) -> None:
        self.insert(lines)
        self.assign(result, value.text)
        if origin:
            self.assign(origin, value.origin or "nil")

    def choices(self, branches: Sequence[tuple[Node, Node]], otherwise: Node, here: Value, sink: Sink) -> None:
        """Write a condition with any number of outputs."""
        (asked, then), *rest = branches
        other = ast.If(tuple(rest), otherwise) if rest else otherwise
        empty = ast.Call("empty")
        if not sink.short and empty not in (then, other):
            self.stream(ast.If(((asked, then),), other), here, sink)
            return

        def choose(condition: Value) -> None:
            if other == empty:
                with self.block(f"if {condition.text} then"):
                    self.each(then, here, sink)
                return
            if then == empty:
                with self.block(f"if not {condition.text} then"):
                    self.each(other, here, sink)
                return
            with self.block(f"if {condition.text} then", keep=True):
                self.each(then, here, sink)
                self.otherwise()
                self.each(other, here, sink)

        self.asked(asked, here, choose)

    def tried(self, body: Node, here: Value, sink: Sink) -> None:
        """Write an expression whose errors are passed over."""
        match body:
            case ast.Index(ast.Identity(), ast.Literal(str())):
                here = self.bind(here)
                with self.block(f"if {here.text} == nil or is_object({here.text}) then"):
                    sink.write(self.value(body, here))
            case ast.Iterate(target) if split_path(target)[0] == ast.Identity():
                keys = split_path(target)[1]
                whole = self.bind(here)
                if keys:
                    names = ", ".join(map(quoted, keys))
                    found = self.bind(Value(f"peek({here.text}, {names})"), keys[-1]).text
                    whole = Value(found, inside(here.origin, found, names) if self._follows(here) else None)
                self.loop(whole, sink, hint=singular(target), function="optional_elements")
            case _:
                self._caught(body, here, sink)

    def _caught(self, body: Node, here: Value, sink: Sink) -> None:
        found, element = self.new("found"), self.new("each_found")
        if self.traced:
            origins = self.new("origins")
            self.line(f"local {origins} = {{}}")
        with self.block(f"local {found} = tried(function({found})", "end)"):

            def keep(output: Value) -> None:
                self.append(found, output)
                if self.traced:
                    self.line(f"{origins}[#{found}] = {output.origin or 'nil'}")

            self.each(body, here, Sink(keep, short=True))
        index = self.new("index") if self.traced else "_"
        with self.block(f"for {index}, {element} in each({found}) do"):
            sink.write(Value(element, f"{origins}[{index}]" if self.traced else None))
