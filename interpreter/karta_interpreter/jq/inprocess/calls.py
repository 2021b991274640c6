"""Python for calls of functions."""

from abc import ABC
from typing import Final

from karta_interpreter.jq.inprocess.choices import Choices
from karta_interpreter.jq.inprocess.flow import terms_of
from karta_interpreter.jq.inprocess.functions import ARGUMENTS, SELECTIONS, VALUES
from karta_interpreter.jq.inprocess.regex import LONGEST_KEPT, RegexCall
from karta_interpreter.jq.inprocess.writer import INPUT, Sink, untruth
from karta_interpreter.jq.syntax import Call, Identity, If, Literal, Node

_TYPES: Final = {
    "null": "{0} is None",
    "boolean": "{0} is True or {0} is False",
    "number": "type({0}) is int or type({0}) is float",
    "string": "type({0}) is str",
    "array": "type({0}) is list",
    "object": "type({0}) is dict",
}
_ORDERED: Final = frozenset(("group_by", "max_by", "min_by", "sort_by", "unique_by"))
_EMPTY: Final = Call("empty")


class Calls(Choices, ABC):
    """Writes calls: those of functions of values as calls in Python, those of filters as what they do."""

    def call(self, node: Call, here: str, sink: Sink) -> None:
        """Write a call; ValueError for a function that is not plain."""
        match node.name, node.arguments:
            case _ if (call := RegexCall.of(node)) and call.flags is not None:
                self._matched(call, here, sink)
            case "not", ():
                sink.write(self.bind(untruth(self.named(here))))
            case name, () if name in VALUES:
                sink.write(self.applied(name, here))
            case name, () if name in SELECTIONS:
                here = self.named(here)
                with self.block(f"if {' or '.join(_TYPES[kind] for kind in SELECTIONS[name]).format(here)}:"):
                    sink.write(here)
            case name, (argument,) if name in ARGUMENTS:
                self.each(argument, here, Sink(lambda value: sink.write(self.bind(f"jq_{name}_1({here}, {value})"))))
            case "select", (condition,):
                self.construct(If(((condition, Identity()),), _EMPTY), here, sink)
            case (("first" | "last"), (source,)):
                self._end(node.name, source, here, sink)
            case _:
                sink.write(self._answer(node, here))

    def _end(self, name: str, source: Node, here: str, sink: Sink) -> None:
        if source in self.module.singles:
            sink.write(self.value(source, here))
            return
        if name == "first":
            output = self.called(lambda writer: writer.return_first(source), here)
        else:
            output = self.new()
            self.assign(output, "NOTHING")
            self.each(source, here, Sink(lambda each: self.assign(output, each), short=True))
        with self.block(f"if {output} is not NOTHING:"):
            sink.write(output)

    def applied(self, name: str, here: str) -> str:
        """Write the call of a function of the input alone, and return an atom for its output."""
        return self.bind(f"jq_{name}({here})")

    def _answer(self, node: Call, here: str) -> str:
        """Write a call that has one output, and return an atom for that."""
        match node.name, node.arguments:
            case "error", (Literal(str() as message),):
                self.line(f"refuse({self.module.constant(message)})")
                return "None"
            case "IN", (candidates,):
                return self._among(candidates, here)
            case (("any" | "all"), (*source, condition)) if len(source) < 2:  # noqa: PLR2004 - one source, or elements
                return self._decide(node.name, source[0] if source else None, condition, here)
            case "isempty", (source,):
                first = self.function(lambda writer: writer.return_first(source))
                return self.bind(f"{first}({here}) is NOTHING")
            case name, (body,):
                return self._collection(name, body, here)
        raise ValueError(f"{node.name}/{len(node.arguments)} is not plain")

    def _collection(self, name: str, body: Node, here: str) -> str:
        """Write a call that makes something new of all outputs of an expression, or orders by them."""
        if name in _ORDERED:
            return self.bind(f"{name}({here}, {self.generator(body)})")
        match name:
            case "add":
                return self.bind(f"total({self.collected(body, here)})")
            case "map":
                return self._mapped(body, here)
            case "map_values":
                return self.bind(f"map_values({here}, {self.generator(body)})")
            case "with_entries":
                entries = self._mapped(body, self.bind(f"jq_to_entries({here})"))
                return self.bind(f"jq_from_entries({entries})")
        raise ValueError(f"{name}/1 is not plain")

    def return_first(self, source: Node) -> None:
        """Write the body of a function that stops at the first output."""
        self.each(source, INPUT, Sink(lambda output: self.line(f"return {self.handed(output)}"), short=True))
        self.line(f"return {self.handed('NOTHING')}")

    def _matched(self, call: RegexCall, here: str, sink: Sink) -> None:
        """Write a call with a regular expression, which is compiled here where it is known."""
        compiled = call.compiled()
        if compiled is None:
            computed = f"computed_pattern({{}}, {self.module.constant(call.flags)})"
            self.each(
                call.pattern,
                here,
                Sink(lambda pattern: self._found(call, here, self.bind(computed.format(pattern)), sink)),
            )
        elif call.name == "test":
            here, kept, found = self.named(here), *map(self.module.constant, (compiled.kept, compiled.found))
            is_short = f"type({here}) is str and len({here}) <= {LONGEST_KEPT}"
            sink.write(self.bind(f"{kept}({here}) if {is_short} else {found}({here})"))
        else:
            self._found(call, here, self.module.constant(compiled), sink)

    def _found(self, call: RegexCall, here: str, pattern: str, sink: Sink) -> None:
        if call.replacement is not None:
            sink.write(self.bind(f"regex_replace({here}, {pattern}, {self.generator(call.replacement)})"))
        elif call.name in ("test", "split"):
            sink.write(self.bind(f"regex_{call.name}({here}, {pattern})"))
        else:
            self.loop(f"regex_{call.name}({here}, {pattern})", sink)

    def _among(self, candidates: Node, here: str) -> str:
        texts = [term.value for term in terms_of(candidates) if isinstance(term, Literal)]
        if len(texts) == len(terms_of(candidates)) and all(isinstance(text, str) for text in texts):
            return self.bind(f"{here} in ({''.join(f'{self.module.constant(text)}, ' for text in texts)})")
        return self.bind(f"among({here}, {self.generator(candidates)}({here}))")

    def _decide(self, name: str, source: Node | None, condition: Node, here: str) -> str:
        decider = self.function(lambda writer: writer.return_decision(name, source, condition))
        return self.bind(f"{decider}({here})")

    def return_decision(self, name: str, source: Node | None, condition: Node) -> None:
        """Write the body of ``any`` or ``all``, which ends at the first answer that decides."""

        def write(atom: str) -> None:
            self.asked(condition, atom, decide)

        def decide(text: str) -> None:
            with self.block(f"if {text}:" if name == "any" else f"if not ({text}):"):
                self.line(f"return {name == 'any'}")

        if source is None:
            self.elements(INPUT, Sink(write), "elements")
        else:
            self.each(source, INPUT, Sink(write))
        self.line(f"return {name == 'all'}")

    def _mapped(self, body: Node, here: str) -> str:
        """``map(body)``; the elements of null are an error here."""
        array = self.array([])
        append = Sink(lambda output: self.append(array, output), short=True)
        self.elements(here, Sink(lambda element: self.each(body, element, append)), "elements")
        return array
