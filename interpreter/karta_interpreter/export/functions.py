"""Lua for calls of jq's functions; a function that is not here has no form in a script."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from karta_interpreter.export.branches import Branches
from karta_interpreter.export.lua_text import bare, negated, quoted
from karta_interpreter.export.patterns import lua_pattern
from karta_interpreter.export.traits import literal, unsupported
from karta_interpreter.export.writer import Sink, Value
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.traversal import terms_of

_OF_INPUT: Final = {
    "add": "total",
    "all": "all_of",
    "any": "any_of",
    "ascii_downcase": "ascii_downcase",
    "ceil": "math.ceil(number({0}))",
    "first": "item({0}, 0)",
    "floor": "math.floor(number({0}))",
    "from_entries": "from_entries",
    "keys": "keys_of",
    "last": "item({0}, -1)",
    "length": "length",
    "ltrim": "trimmed({0}, true, false)",
    "max": "extreme({0}, 1)",
    "min": "extreme({0}, -1)",
    "not": "not {0}",
    "reverse": "reversed",
    "rtrim": "trimmed({0}, false, true)",
    "sort": "sort_by({0}, itself)",
    "to_entries": "to_entries",
    "tonumber": "to_number",
    "tojson": "to_json",
    "tostring": "to_text",
    "trim": "trimmed({0}, true, true)",
    "type": "type_name",
    "unique": "unique_by({0}, itself)",
}
_OF_VALUES: Final = {
    "contains": "contains",
    "endswith": "ends_with",
    "getpath": "at_path",
    "has": "has",
    "join": "join",
    "ltrimstr": "without_prefix",
    "rtrimstr": "without_suffix",
    "split": "split",
    "startswith": "starts_with",
}
_BY_KEY: Final = {"group_by": "group_by", "sort_by": "sort_by", "unique_by": "unique_by"}
_TYPES: Final = {
    "arrays": "is_list({0})",
    "booleans": 'type({0}) == "boolean"',
    "nulls": "{0} == nil",
    "numbers": 'type({0}) == "number"',
    "objects": "is_object({0})",
    "strings": 'type({0}) == "string"',
    "values": "{0} ~= nil",
}
_ORIGINS: Final = {
    "first": "step({origin}, {here}, 0, {result})",
    "last": "step({origin}, {here}, -1, {result})",
    "max": "limited_by({origin}, {here}, false)",
    "min": "limited_by({origin}, {here}, true)",
    "to_entries": "entry_origins({origin}, {here})",
    "tonumber": "numeral({origin})",
}
"""Where the output of a function is read from."""

_Write: TypeAlias = Callable[["Functions", ast.Call, Value, Sink], None]


class Functions(Branches):
    """Writes any expression that a script can have."""

    def call(self, node: ast.Call, here: Value, sink: Sink) -> None:
        """Write a call with any number of outputs."""
        key = node.name, len(node.arguments)
        if node.name in _TYPES and not node.arguments:
            here = self.bind(here)
            with self.when(_TYPES[node.name].format(here.text)):
                sink.write(here)
        elif node.name in _OF_VALUES and len(node.arguments) == 1:
            name = _OF_VALUES[node.name]
            self.each(
                node.arguments[0], here, Sink(lambda each: sink.write(Value(f"{name}({here.text}, {each.text})")))
            )
        elif key in _WRITTEN:
            _WRITTEN[key](self, node, here, sink)
        else:
            sink.write(self.result(node, here))

    def result(self, node: ast.Call, here: Value) -> Value:
        """Write a call with one output."""
        arity = len(node.arguments)
        if arity == 0 and node.name in _OF_INPUT:
            return self._of_input(node.name, here)
        if arity == 1 and node.name in _OF_VALUES:
            return Value(f"{_OF_VALUES[node.name]}({here.text}, {self.value(node.arguments[0], here).text})")
        if arity == 1 and node.name in _BY_KEY:
            return Value(f"{_BY_KEY[node.name]}({here.text}, {self.function(node.arguments[0])})")
        if (node.name, arity) in _RESULTS:
            return _RESULTS[node.name, arity](self, node, here)
        if (node.name, arity) in _WRITTEN:
            found: list[Value] = []
            _WRITTEN[node.name, arity](self, node, here, Sink(found.append))
            return found[0]
        raise unsupported(node, f"{node.name} has no form in a script")

    def _of_input(self, name: str, here: Value) -> Value:
        form = _OF_INPUT[name]
        if not self.follows(here) or name not in _ORIGINS:
            return Value(form.format(here.text) if "{" in form else f"{form}({here.text})")
        here = self.bind(here)
        result = self.bind(Value(form.format(here.text) if "{" in form else f"{form}({here.text})"), name)
        origin = _ORIGINS[name].format(origin=here.origin, here=here.text, result=result.text)
        return Value(result.text, self.bind(Value(origin), "origin").text)

    def function(self, body: Node) -> str:
        """A Lua function that returns a list of all outputs of an expression for its argument."""
        name = self.new("element")
        with self.aside() as lines:
            found = self.collected(body, Value(name))
            self.line(f"return {found.text}")
        if len(lines) == 1:
            return f"function({name}) {lines[0].strip()} end"
        function = self.new("key")
        with self.block(f"local function {function}({name})"):
            self.insert(lines)
        return function


def _select(emitter: Functions, node: ast.Call, here: Value, sink: Sink) -> None:
    here = emitter.bind(here)

    def choose(condition: Value) -> None:
        with emitter.when(condition.text):
            sink.write(here)

    emitter.asked(node.arguments[0], here, choose)


def _first(emitter: Functions, node: ast.Call, here: Value, sink: Sink) -> None:
    _one_of(emitter, node.arguments[0], here, sink, "break_at_first")


def _last(emitter: Functions, node: ast.Call, here: Value, sink: Sink) -> None:
    _one_of(emitter, node.arguments[0], here, sink, "")


def _one_of(emitter: Functions, source: Node, here: Value, sink: Sink, mode: str) -> None:
    """The first or the last output of an expression, if it has any."""
    if source in emitter.singles:
        sink.write(emitter.value(source, here))
        return
    found, is_found = emitter.new("found"), emitter.new("is_found")
    origin = emitter.new("origin") if emitter.traced else ""
    emitter.line(f"local {found}, {is_found}{f', {origin}' if origin else ''}")

    def keep(output: Value) -> None:
        with emitter.block(f"if not {is_found} then" if mode else "do"):
            emitter.assign(found, output.text)
            emitter.line(f"{is_found} = true")
            if origin:
                emitter.assign(origin, output.origin or "nil")

    emitter.each(source, here, Sink(keep, short=True))
    with emitter.when(is_found):
        sink.write(Value(found, origin or None))


def _nothing(_emitter: Functions, _node: ast.Call, _here: Value, _sink: Sink) -> None:
    """``empty`` has no output."""


def _error(emitter: Functions, node: ast.Call, _here: Value, sink: Sink) -> None:
    match node.arguments:
        case (ast.Literal(str() as message),):
            emitter.line(f"error({quoted(message)}, 0)")
            sink.write(Value("nil"))
        case _:
            raise unsupported(node, "its message is computed")


def _quantified(emitter: Functions, node: ast.Call, here: Value) -> Value:
    """``any`` and ``all`` with a condition; the condition is not asked any more once the answer is known."""
    *source, condition = node.arguments
    is_any = node.name == "any"
    found = Value(emitter.new(node.name))
    emitter.line(f"local {found.text} = {'false' if is_any else 'true'}")
    is_one_loop = not source and condition in emitter.singles

    def ask(element: Value) -> None:
        element = emitter.bind(element)
        if is_one_loop:
            emitter.asked(condition, element, decide)
            return
        with emitter.when(found.text if not is_any else f"not {found.text}"):
            emitter.asked(condition, element, decide)

    def decide(answer: Value) -> None:
        with emitter.when(answer.text if is_any else negated(bare(answer.text))):
            emitter.line(f"{found.text} = {'true' if is_any else 'false'}")
            if is_one_loop:
                emitter.line("break")

    if source:
        emitter.each(source[0], here, Sink(ask))
    else:
        emitter.loop(here, Sink(ask), call="elements({})")
    return found


def _among(emitter: Functions, node: ast.Call, here: Value) -> Value:
    terms = terms_of(node.arguments[0])
    here = emitter.bind(here)
    if all(isinstance(term, ast.Literal) for term in terms):
        known = [f"{here.text} == {literal(term.value)}" for term in terms if isinstance(term, ast.Literal)]
        return Value(f"({' or '.join(known)})")
    found = Value(emitter.new("found"))
    emitter.line(f"local {found.text} = false")

    def ask(candidate: Value) -> None:
        emitter.line(f"{found.text} = {found.text} or equal({here.text}, {candidate.text})")

    emitter.each(node.arguments[0], here, Sink(ask, short=True))
    return found


def _is_empty(emitter: Functions, node: ast.Call, here: Value) -> Value:
    found = Value(emitter.new("is_nothing"))
    emitter.line(f"local {found.text} = true")
    emitter.each(node.arguments[0], here, Sink(lambda _: emitter.line(f"{found.text} = false"), short=True))
    return found


def _sum(emitter: Functions, node: ast.Call, here: Value) -> Value:
    return Value(f"total({emitter.collected(node.arguments[0], here).text})")


def _map(emitter: Functions, node: ast.Call, here: Value) -> Value:
    found = emitter.bind(Value("{}"), "found")
    body = node.arguments[0]
    keep = Sink(lambda output: emitter.append(found.text, output, body), short=True)
    emitter.loop(here, Sink(lambda element: emitter.each(body, element, keep)), call="elements({})")
    return found


def _test(_: Functions, node: ast.Call, here: Value) -> Value:
    match node.arguments:
        case (ast.Literal(str() as pattern),):
            found = lua_pattern(pattern)
            if found is not None:
                return Value(f"(string.find(text_of({here.text}), {quoted(found)}) ~= nil)")
    raise unsupported(node, "Lua has no regular expressions, and this one is not a pattern of Lua")


_WRITTEN: Final[Mapping[tuple[str, int], _Write]] = {
    ("select", 1): _select,
    ("first", 1): _first,
    ("last", 1): _last,
    ("empty", 0): _nothing,
    ("error", 1): _error,
}
_RESULTS: Final[Mapping[tuple[str, int], Callable[[Functions, ast.Call, Value], Value]]] = {
    ("any", 1): _quantified,
    ("any", 2): _quantified,
    ("all", 1): _quantified,
    ("all", 2): _quantified,
    ("IN", 1): _among,
    ("isempty", 1): _is_empty,
    ("add", 1): _sum,
    ("map", 1): _map,
    ("test", 1): _test,
}
