"""Python for calls of functions: a `Write` for each record of a function."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from karta_interpreter.jq.inprocess.regex import RegexCall
from karta_interpreter.jq.inprocess.writer import INPUT, Sink, untruth
from karta_interpreter.jq.syntax import Call, Literal, Node
from karta_interpreter.jq.syntax.traversal import terms_of

if TYPE_CHECKING:
    from karta_interpreter.jq.inprocess.emitter import Emitter

Write: TypeAlias = Callable[["Emitter", Call, str, Sink], None]
"""Writes the Python of a call for an input, and of what is done with each output."""


def called(name: str, arity: int) -> str:
    """The name of an implementation in the Python of an expression."""
    return f"jq_{name}_{arity}"


_TYPES: Final = {
    "null": "{0} is None",
    "boolean": "{0} is True or {0} is False",
    "number": "type({0}) is int or type({0}) is float",
    "string": "type({0}) is str",
    "array": "type({0}) is list",
    "object": "type({0}) is dict",
}


def of_input(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Call the implementation with the input."""
    sink.write(emitter.applied(node.name, here))


def of_values(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Call the implementation with the input and each output of the argument."""
    name = called(node.name, 1)
    emitter.each(node.arguments[0], here, Sink(lambda value: sink.write(emitter.bind(f"{name}({here}, {value})"))))


def of_filter(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Call the implementation with the input and the argument as a generator function."""
    sink.write(emitter.bind(f"{called(node.name, 1)}({here}, {emitter.generator(node.arguments[0])})"))


def of_type(*kinds: str) -> Write:
    """Hand on an input of some types."""
    condition = " or ".join(_TYPES[kind] for kind in kinds)

    def write(emitter: "Emitter", _node: Call, here: str, sink: Sink) -> None:
        here = emitter.named(here)
        with emitter.block(f"if {condition.format(here)}:"):
            sink.write(here)

    return write


def nothing(_emitter: "Emitter", _node: Call, _here: str, _sink: Sink) -> None:
    """Write no code, because there is no output."""


def negation(emitter: "Emitter", _node: Call, here: str, sink: Sink) -> None:
    """Write ``not``."""
    sink.write(emitter.bind(untruth(emitter.named(here))))


def defined(body: Callable[..., Node]) -> Write:
    """Write another expression, which is made of the arguments, in place of the call."""
    return lambda emitter, node, here, sink: emitter.construct(body(*node.arguments), here, sink)


def first(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Write ``first(source)``, which stops at the first output."""
    (source,) = node.arguments
    if source in emitter.module.singles:
        sink.write(emitter.value(source, here))
        return
    output = emitter.called(lambda other: _return_first(other, source), here)
    with emitter.block(f"if {output} is not NOTHING:"):
        sink.write(output)


def last(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Write ``last(source)``."""
    (source,) = node.arguments
    if source in emitter.module.singles:
        sink.write(emitter.value(source, here))
        return
    output = emitter.variable(here)
    emitter.assign(output, "NOTHING")
    emitter.each(source, here, Sink(lambda each: emitter.assign(output, each), short=True))
    with emitter.block(f"if {output} is not NOTHING:"):
        sink.write(output)


def emptiness(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Write ``isempty(source)``, which stops at the first output."""
    output = emitter.function(lambda other: _return_first(other, node.arguments[0]))
    sink.write(emitter.bind(f"{output}({here}) is NOTHING"))


def failure(emitter: "Emitter", node: Call, _here: str, sink: Sink) -> None:
    """Write ``error(message)``."""
    (message,) = node.arguments
    match message:
        case Literal(str() as text):
            emitter.line(f"refuse({emitter.module.constant(text)})")
            # Never reached; but what is done with an output has to be written, or a variable would have no value.
            sink.write("None")
        case _:
            raise ValueError("error with a computed message is not plain")


def membership(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Write ``IN(candidates)``; of a list of texts as one comparison."""
    (candidates,) = node.arguments
    terms = terms_of(candidates)
    texts = [term.value for term in terms if isinstance(term, Literal) and isinstance(term.value, str)]
    if len(texts) == len(terms):
        values = "".join(f"{emitter.module.constant(text)}, " for text in texts)
        # Nothing but a text equals a text, so Python's comparison is that of jq.
        sink.write(emitter.bind(f"{here} in ({values})"))
    else:
        sink.write(emitter.bind(f"{called('IN', 1)}({here}, {emitter.generator(candidates)}({here}))"))


def decision(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Write ``any`` or ``all`` with a condition, which end at the first answer that decides."""
    decider = emitter.function(lambda other: _return_decision(other, node))
    sink.write(emitter.bind(f"{decider}({here})"))


def mapping(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Write ``map(body)``; the elements of null are an error here."""
    array = emitter.array([], here)
    append = Sink(lambda output: emitter.append(array, output), short=True)
    emitter.elements(here, Sink(lambda element: emitter.each(node.arguments[0], element, append)), "elements")
    sink.write(array)


def result(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Write a call with a regular expression that has one output for each pattern."""
    _regex(emitter, node, here, lambda found: sink.write(emitter.bind(found)))


def matches(emitter: "Emitter", node: Call, here: str, sink: Sink) -> None:
    """Write a call with a regular expression that may have an output for each match."""
    _regex(emitter, node, here, lambda found: emitter.loop(found, sink))


def _regex(emitter: "Emitter", node: Call, here: str, hand_on: Callable[[str], None]) -> None:
    """Write a call with a regular expression, which is compiled here if it is known."""
    call, constant = RegexCall.of(node), emitter.module.constant
    if call.flags is None:
        raise ValueError(f"{node.name} with computed flags is not plain")

    def found(pattern: str) -> None:
        replacement = f", {emitter.generator(call.replacement)}" if call.replacement else ""
        hand_on(f"{called(node.name, len(node.arguments))}({here}, {pattern}{replacement})")

    if compiled := call.compiled():
        found(constant(compiled))
    else:
        computed = f"computed_pattern({{}}, {constant(call.flags)})"
        emitter.each(call.pattern, here, Sink(lambda pattern: found(emitter.bind(computed.format(pattern)))))


def _return_first(emitter: "Emitter", source: Node) -> None:
    """Write the body of a function that stops at the first output."""
    emitter.each(source, INPUT, Sink(lambda output: emitter.line(f"return {emitter.handed(output)}"), short=True))
    emitter.line(f"return {emitter.handed('NOTHING')}")


def _return_decision(emitter: "Emitter", node: Call) -> None:
    *source, condition = node.arguments
    is_any = node.name == "any"

    def write(atom: str) -> None:
        emitter.asked(condition, atom, decide)

    def decide(text: str) -> None:
        with emitter.block(f"if {text}:" if is_any else f"if not ({text}):"):
            emitter.line(f"return {is_any}")

    if source:
        emitter.each(source[0], INPUT, Sink(write))
    else:
        emitter.elements(INPUT, Sink(write), "elements")
    emitter.line(f"return {not is_any}")
