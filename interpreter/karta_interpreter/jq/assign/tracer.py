"""Python for the outputs of an expression and, beside each, for the path that it is read from."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, Self, TypeAlias

from karta_interpreter.jq.assign.origins import ORIGINS, Origin
from karta_interpreter.jq.inprocess.choices import is_integer
from karta_interpreter.jq.inprocess.compiler import RUNTIME
from karta_interpreter.jq.inprocess.emitter import Emitter, Singles
from karta_interpreter.jq.inprocess.functions import FUNCTIONS
from karta_interpreter.jq.inprocess.operators import MOST_ELEMENTS
from karta_interpreter.jq.inprocess.writer import INPUT, Module, Sink, is_name, truth, untruth
from karta_interpreter.jq.syntax import Alternative, Node
from karta_interpreter.k8s.values import JSON

Trace: TypeAlias = Callable[[JSON], list[tuple[JSON, Origin]]]

_KNOWN: Final[dict[str, Any]] = RUNTIME | ORIGINS

_ORIGIN: Final = "o"
"""The parameter for the origin of the input."""

_LONGEST: Final = 1000
"""How long an origin may be as it is written; Python nests no more than 200 parentheses."""

_LIMITS: Final = {"max": "raised", "min": "lowered"}


class OriginText(NamedTuple):
    """Python for the origin of a value; ``path`` has the steps of one that is known to be just a place."""

    text: str
    path: tuple[str, ...] | None = None

    @property
    def is_short(self) -> bool:
        """Whether it may be written repeatedly."""
        return self.path is not None or is_name(self.text) or self is NOWHERE


NOWHERE: Final = OriginText("None")


def place(*path: str) -> OriginText:
    """The origin of the value at a path, of which each step is an atom."""
    steps = f"{path[0]}," if len(path) == 1 else ", ".join(path)
    return OriginText(f"Location(({steps}))", path)


class Tracer(Emitter):
    """Writes Python for the origin of a value beside the value, only where the origin is used.

    An origin belongs to the variable that has the value. Conditions, and functions
    that return new values, are written without origins.
    """

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self._origins: dict[str, OriginText] = {}
        self._follows = False

    def traced(self, origin: OriginText, write: Callable[[Self], None], *, generates: bool = False) -> str:
        """The name of another function, for an input of that origin; each output comes with its own."""

        def write_traced(writer: Self) -> None:
            writer.follow(origin)
            write(writer)

        return self.function(write_traced, generates=generates)

    def follow(self, origin: OriginText) -> None:
        """Write origins from here on; that of the input is known."""
        self._follows = True
        self._origins[INPUT] = origin

    @property
    def parameters(self) -> str:
        """The parameters of the function; a place that is known is none of them."""
        return f"{INPUT}, {_ORIGIN}" if self._origin(INPUT).text == _ORIGIN else INPUT

    def handed(self, output: str) -> str:
        """An output leaves its function together with its origin."""
        return f"({output}, {self._origin(output).text})" if self._follows else output

    def called(self, write: Callable[[Self], None], here: str) -> str:
        """So it comes out of another one."""
        if not self._follows:
            return super().called(write, here)
        output, origin = self.new(), self.new()
        self.line(f"{output}, {origin} = {self._call(write, here, generates=False)}")
        return self._with(output, OriginText(origin))

    def streamed(self, write: Callable[[Self], None], here: str, sink: Sink) -> None:
        """So does each of many."""
        if not self._follows:
            super().streamed(write, here, sink)
            return
        output, origin = self.new(), self.new()
        with self.block(f"for {output}, {origin} in {self._call(write, here, generates=True)}:"):
            sink.write(self._with(output, OriginText(origin)))

    def condition(self, node: Node, here: str) -> str:
        """The values that a condition reads need no origins."""
        before, self._follows = self._follows, False
        text = super().condition(node, here)
        self._follows = before
        return text

    def bind(self, expression: str) -> str:
        """A variable for an atom has its origin."""
        return self._with(super().bind(expression), self._origin(expression))

    def own(self, atom: str, here: str) -> str:
        """The left side of `//` keeps its value: that separates its origin from that of the right side."""
        return self.bind(atom) if self._follows else super().own(atom, here)

    def assign(self, name: str, output: str) -> None:
        """With each output the variable gets its origin, in a variable beside it."""
        super().assign(name, output)
        if self._follows:
            known = self._origin(name)
            origin = self.new() if known is NOWHERE else known.text
            self._origins[name] = OriginText(origin)
            super().assign(origin, self._origin(output).text)

    def entered(self, output: str) -> str:
        """The origin of an input is written for everything that is made of it, so it has to be short."""
        return self._with(output, self._short(self._origin(output)))

    def elements(self, whole: str, sink: Sink, function: str = "present_elements") -> None:
        """An element is inside of the whole, by its index or key."""
        whole = self.named(whole)
        origin = self._short(self._origin(whole))
        if origin is NOWHERE:
            super().elements(whole, sink, function)
            return
        name, element = self.new(), self.new()
        few = f"enumerate({whole}) if type({whole}) is list and len({whole}) <= {MOST_ELEMENTS}"
        with self.block(f"for {name}, {element} in {few} else entries({whole}, {function}({whole})):"):
            sink.write(self._with(element, self._short(_inside(origin, (name,), element))))

    def field(self, whole: str, names: tuple[str, ...]) -> str:
        """A field is inside of the whole."""
        value = super().field(whole, names)
        return self._with(value, _inside(self._origin(whole), tuple(map(self.module.constant, names)), value))

    def item(self, whole: str, key: str) -> str:
        """So is an element; of a key that is not known yet it takes a look at the whole."""
        value, origin = super().item(whole, key), self._origin(whole)
        if origin is NOWHERE or (is_integer(key) and key[0] != "-"):
            return self._with(value, _inside(origin, (key,), value))
        return self._with(value, OriginText(f"step({origin.text}, {whole}, {key}, {value})"))

    def chosen(self, result: str, left: str, right: str) -> str:
        """Where the left side is null or false the origin may still be that: writing there makes it true."""
        missing, origin = self._short(self._origin(left)), self._origin(right)
        if missing is NOWHERE and origin is NOWHERE:
            return result
        other = f"instead({missing.text}, {origin.text}, {left}, {result})"
        own = self.bind(result) if result == right else result
        return self._with(own, OriginText(f"({other} if {untruth(left)} else {missing.text})"))

    def first_or_others(self, node: Alternative, here: str, sink: Sink) -> None:
        """What is null or false is remembered: where it is one value, writing there makes it true."""
        if not self._follows:
            super().first_or_others(node, here, sink)
            return
        missing = self.bind("[]")

        def write(output: str) -> None:
            output = self.named(output)
            with self.block(f"if {truth(output)}:"):
                self.line(f"{missing} = None")
                sink.write(output)
            with self.block(f"elif {missing} is not None:"):
                self.line(f"{missing}.append({self.handed(output)})")

        self.each(node.left, here, Sink(write))
        with self.block(f"if {missing} is not None:"):
            left, origin = self.new(), self.new()
            self.line(f"{left}, {origin} = alone({missing})")
            self.others(node.right, self._with(left, OriginText(origin)), here, sink)

    def computed(self, operator: str, left: str, right: str) -> str:
        """A product is written through its leftmost factor that is a place."""
        result = super().computed(operator, left, right)
        ways = [
            f"times({origin.text}, {factor})"
            for origin, factor in ((self._origin(left), right), (self._origin(right), left))
            if operator == "*" and origin is not NOWHERE
        ]
        return self._with(result, OriginText(f"({' or '.join(ways)})")) if ways else result

    def bounded(self, name: str, own: str, bound: str, *, is_optional: bool) -> str:
        """A bounded value is written through the leftmost one that is a place."""
        result = super().bounded(name, own, bound, is_optional=is_optional)
        first, second, limit = self._origin(own), self._origin(bound), _LIMITS[name]
        if first is NOWHERE and second is NOWHERE:
            return result
        others = f"({bound},) if {truth(bound)} else ()" if is_optional else f"({bound},)"
        if second is NOWHERE or first.path is not None:
            return self._with(result, OriginText(f"{limit}({first.text}, {others})"))
        theirs = f"{limit}({second.text}, ({own},))" + (f" if {truth(bound)} else None" if is_optional else "")
        origin = self.new()
        ours = f"{limit}({origin}, {others}) if type({origin} := {first.text}) is Location"
        return self._with(result, OriginText(f"({ours} else {theirs})"))

    def applied(self, name: str, here: str) -> str:
        """Some functions hand on what they are given."""
        result, origin = super().applied(name, here), self._origin(here)
        source = FUNCTIONS[name, 0].origin
        if origin is NOWHERE or source is None:
            return result
        return self._with(result, OriginText(source.format(origin=origin.text, here=here, result=result)))

    def array(self, outputs: list[str]) -> str:
        """Beside an array there is one of the origins of its elements."""
        array = super().array(outputs)
        if not self._follows:
            return array
        return self._with(
            array, OriginText(super().bind(f"[{', '.join([self._origin(each).text for each in outputs])}]"))
        )

    def append(self, array: str, output: str) -> None:
        """Each further output brings its own."""
        super().append(array, output)
        if self._follows:
            super().append(self._origin(array).text, self._origin(output).text)

    def _origin(self, atom: str) -> OriginText:
        return self._origins.get(atom, NOWHERE) if self._follows else NOWHERE

    def _with(self, atom: str, origin: OriginText) -> str:
        """A variable, from here on of that origin."""
        if origin is not NOWHERE:
            self._origins[atom] = origin if len(origin.text) <= _LONGEST else OriginText(super().bind(origin.text))
        return atom

    def _short(self, origin: OriginText) -> OriginText:
        """The same origin, to be written repeatedly."""
        return origin if origin.is_short else OriginText(super().bind(origin.text))

    def _call(self, write: Callable[[Self], None], here: str, *, generates: bool) -> str:
        name = self.traced(OriginText(_ORIGIN), write, generates=generates)
        return f"{name}({here}, {self._origin(here).text})"


def _inside(origin: OriginText, names: tuple[str, ...], value: str) -> OriginText:
    """The origin of a value that is a part of another."""
    if origin is NOWHERE:
        return NOWHERE
    if origin.path is not None:
        return place(*origin.path, *names)
    return OriginText(f"inside({origin.text}, ({', '.join(names)},), {value})")


def compile_trace(node: Node) -> Trace:
    """Compile a plain expression to a function that gives all outputs for an object, each with its origin in that.

    Only constructs that hand a value on are followed; what every other one computes has no origin. It raises
    QueryLimitError for more than 999 outputs.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> compile_trace(parse(".a, 1"))({"a": 2})
    [(2, Location(path=('a',), default=None, factor=1, floor=None, cap=None, numeral=False)), (1, None)]
    """
    module, name = _written(node)
    trace: Trace = module.functions()[name]
    return trace


def source(node: Node) -> str:
    """The Python that `compile_trace` makes of an expression.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> print(source(parse(".n // 1")))
    def f1(v):
        t1 = v.get('n') if type(v) is dict else None if v is None else field(v, 'n')
        t2 = t1
        if t2 is None or t2 is False:
            t2 = 1
        return [(t2, (instead(Location(('n',)), None, t1, t2) if t1 is None or t1 is False else Location(('n',))))]
    """
    return _written(node)[0].source()


def _written(node: Node) -> tuple[Module, str]:
    module = Module(_KNOWN, Singles())
    return module, Tracer(module).traced(place(), lambda writer: writer.return_list(node))
