"""Lua that follows from which place of the object a value is read."""

from collections.abc import Sequence

from karta_interpreter.export.lua_text import quoted
from karta_interpreter.export.traits import hint_of, inside, is_place, is_present, joined_path
from karta_interpreter.export.writer import Sink, Value, Writer
from karta_interpreter.languages.jq.syntax import Node


class Places(Writer):
    """Writes accesses; ``traced``: with the places of the values."""

    def __init__(self, taken: set[str] | None = None, *, traced: bool = False) -> None:
        super().__init__(taken)
        self.traced = traced

    def follows(self, value: Value) -> bool:
        """Whether the place of a value is known and wanted."""
        return self.traced and value.origin not in (None, "nil")

    def field(self, whole: Value, names: Sequence[str]) -> Value:
        """``whole.a.b.c``."""
        keys = ", ".join(map(quoted, names))
        text = joined_path(whole.text, keys)
        if not self.follows(whole):
            return Value(text)
        if is_place(whole.origin):
            return Value(text, inside(whole.origin, "", keys))
        found = self.bind(Value(text), names[-1])
        return Value(found.text, inside(whole.origin, found.text, keys))

    def item(self, whole: Value, key: Value) -> Value:
        """``whole[key]`` for a computed key."""
        if not self.follows(whole):
            return Value(f"item({whole.text}, {key.text})")
        whole = self.bind(whole)
        found = self.bind(Value(f"item({whole.text}, {key.text})"), "item")
        return Value(found.text, f"step({whole.origin}, {whole.text}, {key.text}, {found.text})")

    def loop(self, whole: Value, sink: Sink, *, hint: str = "element", call: str = "each({})") -> None:
        """Write a loop over the elements of a value, which a call of the library gives one by one."""
        element = self.new(hint)
        elements = call.format(whole.text)
        if not self.follows(whole):
            with self.block(f"for _, {element} in {elements} do"):
                sink.write(Value(element))
            return
        key = self.new("index")
        with self.block(f"for {key}, {element} in {elements} do"):
            sink.write(Value(element, inside(whole.origin, element, key)))

    def entered(self, output: Value, node: Node) -> Value:
        """The output of an expression by a name, as the input of the next one."""
        bound = self.bind(output, hint_of(node))
        if self.follows(bound) and not is_place(bound.origin):
            return Value(bound.text, self.named_origin(bound))
        return bound

    def named_origin(self, value: Value) -> str:
        """The origin of a value by a name, or as it is where it may be written twice."""
        if not self.follows(value):
            return "nil"
        origin = value.origin or "nil"
        if is_place(origin) or origin.isidentifier():
            return origin
        return self.bind(Value(origin), "origin").text

    def append(self, found: str, output: Value, node: Node | None = None, origins: str = "") -> None:
        """Write that a list has another element; ``origins``: the variable with the origins of all elements."""
        if origins and self.follows(output):
            self.line(f"append_from({found}, {output.text}, {origins}, {output.origin})")
        elif node is not None and is_present(node):
            self.line(f"{found}[#{found} + 1] = {output.text}")
        else:
            self.line(f"append({found}, {output.text})")

    def collection(self, here: Value) -> tuple[str, str]:
        """Write an empty list, and one for the origins of its elements if the places of ``here`` are followed."""
        if not self.follows(here):
            return self.bind(Value("{}"), "found").text, ""
        found, origins = self.new("found"), self.new("origins")
        self.line(f"local {found}, {origins} = {{}}, {{}}")
        return found, origins

    def again(self, found: str, origins: str, sink: Sink) -> None:
        """Write a loop over collected outputs."""
        element, index = self.new("each_found"), self.new("index") if origins else "_"
        with self.block(f"for {index}, {element} in each({found}) do"):
            sink.write(Value(element, f"{origins}[{index}]" if origins else None))

    def output_of(self, function: str, here: Value) -> Value:
        """Write a call of a function with one output."""
        if not self.follows(here):
            return Value(f"{function}({here.text})")
        found, origin = self.new(), self.new("origin")
        self.line(f"local {found}, {origin} = {function}({here.text}, {here.origin})")
        return Value(found, origin)

    def outputs_of(self, function: str, here: Value, sink: Sink) -> None:
        """Write a loop over the outputs of a function."""
        if not self.follows(here):
            self.loop(Value(f"{function}({here.text})"), sink)
            return
        found, origins = self.new("found"), self.new("origins")
        self.line(f"local {found}, {origins} = {function}({here.text}, {here.origin})")
        self.again(found, f"{origins}.parts", sink)
