"""Lua for what chooses between expressions: alternatives, conditions, and errors that are passed over."""

import re
from collections.abc import Sequence

from karta_interpreter.export.emitter import Emitter
from karta_interpreter.export.lua_text import bare, negated, quoted
from karta_interpreter.export.traits import (
    hint_of,
    inside,
    is_truthy,
    singular_name,
)
from karta_interpreter.export.writer import Sink, Value
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.precedence import split_path


class Branches(Emitter):
    """Writes the constructs that choose between expressions."""

    def alternative(self, node: ast.Alternative, here: Value) -> Value:
        """Write ``left // right`` of single values, and return the value."""
        left = self.value(node.left, here)
        with self.aside() as lines:
            right = self.value(node.right, here)
        follows = self.follows(left) or self.follows(right)
        if not lines and not follows:
            return Value(f"({left.text} or {right.text})")
        name = hint_of(node.left)
        if not lines and (right.is_simple or right.text == "{}"):
            result, origin = self.new(name), self.new("origin")
            other = f", {right.origin}" if self.follows(right) else ""
            self.line(f"local {result}, {origin} = either({left.text}, {left.origin or 'nil'}, {right.text}{other})")
            return Value(result, origin)
        if follows:
            left = self.bind(left, name)
        result = self.new(name)
        missing = self.named_origin(left) if follows else ""
        origin = self.new("origin") if follows else ""
        names, values = (f"{result}, {origin}", f"{left.text}, {missing}") if follows else (result, left.text)
        self.line(f"local {names} = {values}")
        with self.when(f"not {result}"):
            self.insert(lines)
            self.assign(result, right.text)
            if follows:
                self.line(f"{origin} = default_origin({missing}, {right.origin or 'nil'}, {left.text}, {result})")
        return Value(result, origin or None)

    def alternatives(self, node: ast.Alternative, here: Value, sink: Sink) -> None:
        """Write ``left // right`` with any number of outputs."""

        def there(output: Value) -> None:
            output = self.bind(output, hint_of(node.left))
            with self.when(output.text):
                sink.write(output)

        if node.right == ast.Call("empty"):
            self.each(node.left, here, Sink(there, sink.short))
        elif not sink.short or self.follows(here):
            self._first_or_others(node, here, sink)
        elif node.left in self.singles:
            left = self.bind(self.value(node.left, here), hint_of(node.left))
            with self.when(left.text):
                sink.write(left)
                self.otherwise()
                self.each(node.right, here, sink)
        else:
            self._first_or_others(node, here, sink)

    def _first_or_others(self, node: ast.Alternative, here: Value, sink: Sink) -> None:
        """``left // right`` for a left side with any number of outputs: collected, with their places."""
        found, origins = self.collection(here)
        missing = self.bind(Value("{}"), "missing").text if origins else ""

        def keep(output: Value) -> None:
            output = self.bind(output, hint_of(node.left))
            with self.when(output.text):
                self.append(found, output, origins=origins)
                if missing:
                    self.otherwise()
                    self.line(f"append({missing}, list({output.text}, {output.origin or 'nil'}))")

        def other(output: Value) -> None:
            if missing:
                output = self.bind(output)
                value, origin = f"only_element({missing}, 1)", f"only_element({missing}, 2)"
                origin = f"default_origin({origin}, {output.origin or 'nil'}, {value}, {output.text})"
                output = Value(output.text, origin)
            self.append(found, output, node.right, origins)

        self.each(node.left, here, Sink(keep, short=True))
        with self.when(f"#{found} == 0"):
            self.each(node.right, here, Sink(other, short=True))
        self.again(found, origins, sink)

    def choice(self, branches: Sequence[tuple[Node, Node]], otherwise: Node, here: Value) -> Value:
        """``if`` with one output."""
        (asked, then), *rest = branches
        other = ast.If(tuple(rest), otherwise) if rest else otherwise
        condition = self.condition(asked, here)
        with self.aside() as lines:
            first = self.value(then, here)
        with self.aside() as others:
            second = self.value(other, here)
        follows = self.follows(first) or self.follows(second)
        if not lines and not others and not follows and is_truthy(then):
            return Value(f"({condition} and {first.text} or {second.text})")
        result = self.new(hint_of(then))
        origin = self.new("origin") if follows else ""
        self.line(f"local {result}{f', {origin}' if origin else ''}")
        if not lines and _is_nil(first):
            with self.when(negated(bare(condition))):
                self._assign(others, result, origin, second)
            return Value(result, origin or None)
        with self.when(condition, keep=True):
            self._assign(lines, result, origin, first)
            if others or not _is_nil(second):
                self.otherwise()
                self._assign(others, result, origin, second)
        return Value(result, origin or None)

    def _assign(self, lines: Sequence[str], result: str, origin: str, value: Value) -> None:
        """Write the lines of a value, and assign it to a variable that is nil."""
        self.insert(lines)
        if value.text != "nil":
            self.assign(result, value.text)
        if origin and value.origin not in (None, "nil"):
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
                with self.when(condition.text):
                    self.each(then, here, sink)
                return
            if then == empty:
                with self.when(negated(bare(condition.text))):
                    self.each(other, here, sink)
                return
            with self.when(condition.text, keep=True):
                self.each(then, here, sink)
                self.otherwise()
                self.each(other, here, sink)

        self.asked(asked, here, choose)

    def tried(self, body: Node, here: Value, sink: Sink) -> None:
        """Write an expression whose errors are passed over."""
        match body:
            case ast.Index(ast.Identity(), ast.Literal(str())):
                here = self.bind(here)
                with self.when(f"{here.text} == nil or is_object({here.text})"):
                    sink.write(self.value(body, here))
            case ast.Iterate(target) if split_path(target)[0] == ast.Identity():
                keys = split_path(target)[1]
                whole = self.bind(here)
                if keys:
                    names = ", ".join(map(quoted, keys))
                    found = self.bind(Value(f"peek({here.text}, {names})"), keys[-1]).text
                    whole = Value(found, inside(here.origin, found, names) if self.follows(here) else None)
                name = keys[-1] if keys else re.sub(r"_\d+$", "", whole.text)
                self.loop(whole, sink, hint=singular_name(name), call="each({}, true)")
            case _:
                self._caught(body, here, sink)

    def _caught(self, body: Node, here: Value, sink: Sink) -> None:
        found, origins = self.new("found"), ""
        if self.follows(here):
            origins = self.bind(Value("{}"), "origins").text
        with self.block(f"local {found} = tried(function({found})", "end)"):
            self.each(body, here, Sink(lambda output: self.append(found, output, origins=origins), short=True))
        self.again(found, origins, sink)


def _is_nil(value: Value) -> bool:
    return value.text == "nil" and value.origin in (None, "nil")
