"""The functions of jq in Lua: what an `Emitter` writes for each."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from karta_interpreter.export.emitter import Emitter, FunctionForm
from karta_interpreter.export.lua import (
    EMPTY,
    FALSE,
    MINUS_ONE,
    NIL,
    ONE,
    TRUE,
    ZERO,
    Assignment,
    BreakStatement,
    Expression,
    LuaCall,
    Name,
    Not,
    call,
    negated,
    operation,
    text,
)
from karta_interpreter.export.lua_body import Value
from karta_interpreter.export.traits import literal, lua_pattern, unsupported
from karta_interpreter.languages.jq import OutputSink, syntax as ast, terms_of

_Form: TypeAlias = Callable[[Expression], Expression]


def _select(emitter: Emitter, node: ast.FunctionCall, dot: Value, sink: OutputSink[Value]) -> None:
    dot = emitter.bind(dot)

    def choose(condition: Expression) -> None:
        with emitter.when(condition):
            sink.write(dot)

    emitter.asked(node.arguments[0], dot, choose)


def _one_of(emitter: Emitter, node: ast.FunctionCall, dot: Value, sink: OutputSink[Value]) -> None:
    """Write the use of the first or the last output of an expression, if it has any."""
    (source,) = node.arguments
    if source in emitter.singles:
        sink.write(emitter.value(source, dot))
        return
    result, is_found, *origins = emitter.locals(("found", "is_found", *(("origin",) if emitter.traced else ())))

    def keep(output: Value) -> None:
        with emitter.when(Not(is_found)) if node.name == "first" else emitter.apart():
            emitter.assign(result, output.code)
            emitter.write(Assignment((is_found,), (TRUE,)))
            for origin in origins:
                emitter.assign(origin, output.origin or NIL)

    emitter.each(source, dot, OutputSink(keep, short=True))
    with emitter.when(is_found):
        sink.write(Value(result, *origins))


def _error(emitter: Emitter, node: ast.FunctionCall, _here: Value, sink: OutputSink[Value]) -> None:
    match node.arguments:
        case (ast.Literal(str() as message),):
            emitter.write(call("error", text(message), ZERO))
            sink.write(Value(NIL))
        case _:
            raise unsupported(node, "its message is computed")


def _quantified(emitter: Emitter, node: ast.FunctionCall, dot: Value) -> Expression:
    """Write ``any`` and ``all`` with a condition. The condition is not evaluated again once the answer is known."""
    *source, condition = node.arguments
    is_any = node.name == "any"
    result = emitter.local(node.name, FALSE if is_any else TRUE)
    is_one_loop = not source and condition in emitter.singles

    def ask(element: Value) -> None:
        element = emitter.bind(element)
        if is_one_loop:
            emitter.asked(condition, element, decide)
            return
        with emitter.when(Not(result) if is_any else result):
            emitter.asked(condition, element, decide)

    def decide(answer: Expression) -> None:
        with emitter.when(answer if is_any else negated(answer)):
            emitter.write(
                Assignment((result,), (TRUE if is_any else FALSE,)), *([BreakStatement()] if is_one_loop else [])
            )

    if source:
        emitter.each(source[0], dot, OutputSink(ask))
    else:
        emitter.loop(dot, OutputSink(ask), by="elements")
    return result


def _among(emitter: Emitter, node: ast.FunctionCall, dot: Value) -> Expression:
    terms = terms_of(node.arguments[0])
    dot = emitter.bind(dot)
    if all(isinstance(term, ast.Literal) for term in terms):
        values = [literal(term.value) for term in terms if isinstance(term, ast.Literal)]
        return operation("or", *(operation("==", dot.code, value) for value in values))
    is_among = emitter.local("found", FALSE)

    def ask(candidate: Value) -> None:
        emitter.write(Assignment((is_among,), (operation("or", is_among, call("equal", dot.code, candidate.code)),)))

    emitter.each(node.arguments[0], dot, OutputSink(ask, short=True))
    return is_among


def _is_empty(emitter: Emitter, node: ast.FunctionCall, dot: Value) -> Expression:
    is_nothing = emitter.local("is_nothing", TRUE)
    emitter.each(
        node.arguments[0], dot, OutputSink(lambda _: emitter.write(Assignment((is_nothing,), (FALSE,))), short=True)
    )
    return is_nothing


def _map(emitter: Emitter, node: ast.FunctionCall, dot: Value) -> Expression:
    outputs = emitter.local("found", EMPTY)
    body = node.arguments[0]
    keep = OutputSink[Value](lambda output: emitter.append(outputs, output, body), short=True)
    emitter.loop(dot, OutputSink(lambda element: emitter.each(body, element, keep)), by="elements")
    return outputs


def _test(_: Emitter, node: ast.FunctionCall, dot: Value) -> Expression:
    match node.arguments:
        case (ast.Literal(str() as pattern),):
            translated = lua_pattern(pattern)
            if translated is not None:
                return operation("~=", call("string.find", call("text_of", dot.code), text(translated)), NIL)
    raise unsupported(node, "Lua has no regular expressions, and this one is not a pattern of Lua")


def _function_of(function: str, *more: Expression) -> _Form:
    return lambda dot: call(function, dot, *more)


def _is_type(name: str) -> _Form:
    return lambda dot: operation("==", call("type", dot), text(name))


def _of_input(
    form: _Form, origin: Callable[[Expression, Expression, Expression], LuaCall] | None = None
) -> FunctionForm:
    """Return a function of the input. ``origin``: the place that its output is read from."""

    def write(emitter: Emitter, node: ast.FunctionCall, dot: Value, sink: OutputSink[Value]) -> None:
        if origin is None or not emitter.follows(dot):
            sink.write(Value(form(dot.code)))
            return
        dot = emitter.bind(dot)
        result = emitter.bound(form(dot.code), node.name)
        sink.write(Value(result, emitter.bound(origin(dot.origin or NIL, dot.code, result), "origin")))

    return write


def _of_values(function: str) -> FunctionForm:
    """Return a function of the input and of each value of its argument."""

    def write(emitter: Emitter, node: ast.FunctionCall, dot: Value, sink: OutputSink[Value]) -> None:
        use = OutputSink[Value](lambda value: sink.write(Value(call(function, dot.code, value.code))))
        emitter.each(node.arguments[0], dot, use)

    return write


def _of_type(form: _Form) -> FunctionForm:
    """Return a function with its input as the output, if that is of a type."""

    def write(emitter: Emitter, _: ast.FunctionCall, dot: Value, sink: OutputSink[Value]) -> None:
        dot = emitter.bind(dot)
        with emitter.when(form(dot.code)):
            sink.write(dot)

    return write


def _computed(form: Callable[[Emitter, ast.FunctionCall, Value], Expression]) -> FunctionForm:
    """Return a function with one output, which has no place."""
    return lambda emitter, node, dot, sink: sink.write(Value(form(emitter, node, dot)))


_BY_KEY: Final = _computed(lambda emitter, node, dot: call(node.name, dot.code, emitter.function(node.arguments[0])))
FORMS: Final[Mapping[tuple[str, int], FunctionForm]] = {
    ("add", 0): _of_input(_function_of("total")),
    ("add", 1): _computed(lambda emitter, node, dot: call("total", emitter.collected(node.arguments[0], dot).code)),
    ("all", 0): _of_input(_function_of("all_of")),
    ("all", 1): _computed(_quantified),
    ("all", 2): _computed(_quantified),
    ("any", 0): _of_input(_function_of("any_of")),
    ("any", 1): _computed(_quantified),
    ("any", 2): _computed(_quantified),
    ("arrays", 0): _of_type(_function_of("is_list")),
    ("ascii_downcase", 0): _of_input(_function_of("ascii_downcase")),
    ("booleans", 0): _of_type(_is_type("boolean")),
    ("ceil", 0): _of_input(lambda dot: call("math.ceil", call("number", dot))),
    ("contains", 1): _of_values("contains"),
    ("empty", 0): lambda *_: None,
    ("endswith", 1): _of_values("ends_with"),
    ("error", 1): _error,
    ("first", 0): _of_input(
        _function_of("item", ZERO), lambda origin, dot, result: call("step", origin, dot, ZERO, result)
    ),
    ("first", 1): _one_of,
    ("floor", 0): _of_input(lambda dot: call("math.floor", call("number", dot))),
    ("from_entries", 0): _of_input(_function_of("from_entries")),
    ("getpath", 1): _of_values("at_path"),
    ("group_by", 1): _BY_KEY,
    ("has", 1): _of_values("has"),
    ("IN", 1): _computed(_among),
    ("isempty", 1): _computed(_is_empty),
    ("join", 1): _of_values("join"),
    ("keys", 0): _of_input(_function_of("keys_of")),
    ("last", 0): _of_input(
        _function_of("item", MINUS_ONE), lambda origin, dot, result: call("step", origin, dot, MINUS_ONE, result)
    ),
    ("last", 1): _one_of,
    ("length", 0): _of_input(_function_of("length")),
    ("ltrim", 0): _of_input(_function_of("trimmed", TRUE, FALSE)),
    ("ltrimstr", 1): _of_values("without_prefix"),
    ("map", 1): _computed(_map),
    ("max", 0): _of_input(_function_of("extreme", ONE), lambda origin, dot, _: call("limited_by", origin, dot, FALSE)),
    ("min", 0): _of_input(
        _function_of("extreme", MINUS_ONE), lambda origin, dot, _: call("limited_by", origin, dot, TRUE)
    ),
    ("not", 0): _of_input(Not),
    ("nulls", 0): _of_type(lambda dot: operation("==", dot, NIL)),
    ("numbers", 0): _of_type(_is_type("number")),
    ("objects", 0): _of_type(_function_of("is_object")),
    ("reverse", 0): _of_input(_function_of("reversed")),
    ("rtrim", 0): _of_input(_function_of("trimmed", FALSE, TRUE)),
    ("rtrimstr", 1): _of_values("without_suffix"),
    ("select", 1): _select,
    ("sort", 0): _of_input(_function_of("sort_by", Name("itself"))),
    ("sort_by", 1): _BY_KEY,
    ("split", 1): _of_values("split"),
    ("startswith", 1): _of_values("starts_with"),
    ("strings", 0): _of_type(_is_type("string")),
    ("test", 1): _computed(_test),
    ("to_entries", 0): _of_input(_function_of("to_entries"), lambda origin, dot, _: call("entry_origins", origin, dot)),
    ("tojson", 0): _of_input(_function_of("to_json")),
    ("tonumber", 0): _of_input(_function_of("to_number"), lambda origin, *_: call("numeral", origin)),
    ("tostring", 0): _of_input(_function_of("to_text")),
    ("trim", 0): _of_input(_function_of("trimmed", TRUE, TRUE)),
    ("type", 0): _of_input(_function_of("type_name")),
    ("unique", 0): _of_input(_function_of("unique_by", Name("itself"))),
    ("unique_by", 1): _BY_KEY,
    ("values", 0): _of_type(lambda dot: operation("~=", dot, NIL)),
}
"""The functions that scripts can call, by name and number of arguments."""
