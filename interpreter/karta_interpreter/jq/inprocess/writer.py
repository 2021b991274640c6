"""Writing Python: the lines of one function."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple, Self, TypeAlias

from karta_interpreter.jq.bounded.child import MOST_RESULTS
from karta_interpreter.jq.inprocess.operators import MOST_ELEMENTS
from karta_interpreter.jq.syntax import Call, Identity, Literal, Node
from karta_interpreter.jq.syntax.traversal import terms_of

if TYPE_CHECKING:
    from karta_interpreter.jq.inprocess.compiler import Module

INPUT: Final = "v"
"""The parameter of every function: the input of the expression that it runs."""

_ORIGIN: Final = "o"
"""The parameter for the origin of the input, in a function whose outputs have origins."""

_LONGEST: Final = 1000
"""How long an origin may be as it is written; Python nests no more than 200 parentheses."""

Origin: TypeAlias = str | tuple[str, ...] | None
"""Python for the path that a value is read from: an expression, or each step of a path that is known."""


class Sink(NamedTuple):
    """The code for each output: ``write`` writes Python for it. ``short`` if that may be written repeatedly."""

    write: Callable[[str], None]
    short: bool = False


DEEPEST: Final = 16
"""How many constructs are written inside of each other in one function; Python takes 20 loops and 100 levels."""


class Writer(ABC):
    """Writes what happens with every output of an expression, at the place where it is computed.

    ``a | b`` is ``a`` with ``b`` written where its outputs are: loops inside of loops. A construct that would have to
    write the same twice becomes a generator of its own, and so does what is nested too deep.
    An *atom* is Python for a value that takes no time: the name of a variable or a constant.
    Where the input has an origin, variables with a value that is read from it have theirs, in ``origins``.
    """

    def __init__(self, module: "Module", origin: Origin = None) -> None:
        self.module = module
        self.lines: list[str] = []
        self.depth = 0
        self.origins: dict[str, str | tuple[str, ...]] = {} if origin is None else {INPUT: origin}
        self._is_traced = origin is not None
        self._indent = "    "
        self._variables = 0

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append(self._indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write lines inside of a statement."""
        self.line(head)
        size = len(self.lines)
        self._indent += "    "
        yield
        if len(self.lines) == size:
            self.line("pass")
        self._indent = self._indent[:-4]

    def new(self) -> str:
        """A variable that was not there before."""
        self._variables += 1
        return f"t{self._variables}"

    def bind(self, expression: str) -> str:
        """A new variable with the value of a Python expression, computed here and now; an atom keeps its origin."""
        name = self.new()
        self.line(f"{name} = {expression}")
        return self.located(name, self.origins.get(expression))

    def named(self, atom: str) -> str:
        """The same value in a variable."""
        return atom if is_name(atom) else self.bind(atom)

    def located(self, atom: str, origin: Origin) -> str:
        """A variable, from here on of that origin, which is computed where it is used."""
        if origin is not None:
            self.origins[atom] = origin if len(written(origin)) <= _LONGEST else self.bind(written(origin))
        return atom

    def entered(self, atom: str) -> str:
        """An output that becomes an input: its origin, which is written repeatedly, is computed here and now."""
        match self.origins.get(atom):
            case str() as origin if not is_name(origin):
                self.origins[atom] = self.bind(origin)
        return atom

    def origin(self, atom: str) -> str:
        """Python for the origin of an atom."""
        return written(self.origins.get(atom))

    def variable(self, here: str) -> str:
        """A new variable for outputs, and one for their origins where the input ``here`` has an origin."""
        name = self.new()
        return self.located(name, self.new()) if here in self.origins else name

    def assign(self, name: str, output: str, origin: str = "") -> None:
        """Assign an output to such a variable."""
        self.line(f"{name} = {output}")
        if name in self.origins:
            self.line(f"{self.origins[name]} = {origin or self.origin(output)}")

    def function(self, write: Callable[[Self], None], *, generates: bool = False, origin: Origin = None) -> str:
        """The name of another function of one input, with the body that ``write`` writes.

        For an input with an origin, every output comes with its own.
        """

        def lines(name: str) -> list[str]:
            writer = type(self)(self.module, origin)
            if generates:
                writer.line("if 0: yield")  # what makes it a generator, even one without any output
            write(writer)
            parameters = f"{INPUT}, {_ORIGIN}" if origin == _ORIGIN else INPUT
            return [f"def {name}({parameters}):", *writer.lines]

        return self.module.function(lines)

    def handed(self, output: str) -> str:
        """Python for an output that leaves its function."""
        return f"({output}, {self.origin(output)})" if self._is_traced else output

    @abstractmethod
    def construct(self, node: Node, here: str, sink: Sink) -> None:
        """Write Python for a node and its outputs; the parts of the node are written by `each` and `value`."""

    def each(self, node: Node, here: str, sink: Sink) -> None:
        """Write Python that runs an expression for the input ``here`` and runs the sink for every output.

        Where there is always one output, the code of the sink follows at the same level.
        """
        if is_empty(node):
            return
        if node in self.module.singles:
            sink.write(self.value(node, here))
        elif self.depth >= DEEPEST:
            self.stream(node, here, sink)
        else:
            self.depth += 1
            self.construct(node, here, sink)
            self.depth -= 1

    def value(self, node: Node, here: str) -> str:
        """Write Python that runs an expression with one output, and return an atom for that."""
        if self.depth >= DEEPEST and not isinstance(node, Identity | Literal):
            return self.called(lambda writer: writer.give(node), here)
        found: list[str] = []
        self.depth += 1
        self.construct(node, here, Sink(found.append))
        self.depth -= 1
        (atom,) = found
        return atom

    def stream(self, node: Node, here: str, sink: Sink) -> None:
        """Write a loop over the outputs of an expression that is a function of its own."""
        self.streamed(lambda writer: writer.produce(node), here, sink)

    def called(self, write: Callable[[Self], None], here: str) -> str:
        """Write a call of another function with one output, and return an atom for that."""
        output = self.variable(here)
        self.line(f"{self._target(output)} = {self._call(write, here)}")
        return output

    def streamed(self, write: Callable[[Self], None], here: str, sink: Sink) -> None:
        """Write a loop over the outputs of another function."""
        output = self.variable(here)
        with self.block(f"for {self._target(output)} in {self._call(write, here, generates=True)}:"):
            sink.write(output)

    def _target(self, output: str) -> str:
        return f"{output}, {self.origins[output]}" if output in self.origins else output

    def _call(self, write: Callable[[Self], None], here: str, *, generates: bool = False) -> str:
        if here not in self.origins:
            return f"{self.function(write, generates=generates)}({here})"
        return f"{self.function(write, generates=generates, origin=_ORIGIN)}({here}, {self.origin(here)})"

    def elements(self, whole: str, sink: Sink, function: str = "present_elements") -> None:
        """Write a loop over the elements of a value, mostly of a list; ``function`` is called for any other value."""
        whole = self.entered(self.named(whole))
        is_few = f"type({whole}) is list and len({whole}) <= {MOST_ELEMENTS}"
        if whole not in self.origins:
            self.loop(f"{whole} if {is_few} else {function}({whole})", sink)
            return
        name, element = self.new(), self.new()
        pairs = f"enumerate({whole}) if {is_few} else entries({whole}, {function}({whole}))"
        with self.block(f"for {name}, {element} in {pairs}:"):
            sink.write(self.entered(self.inside(whole, (name,), element)))

    def inside(self, whole: str, names: tuple[str, ...], part: str) -> str:
        """A variable for a part of another; its origin is inside of the other's."""
        match self.origins.get(whole):
            case str() as origin:
                return self.located(part, f"inside({origin}, ({', '.join(names)},), {part})")
            case tuple() as path:
                return self.located(part, (*path, *names))
        return part

    def loop(self, iterable: str, sink: Sink) -> None:
        """Write a loop over the values of a Python expression."""
        name = self.new()
        with self.block(f"for {name} in {iterable}:"):
            sink.write(name)

    def generator(self, node: Node) -> str:
        """The name of a function that yields all outputs of an expression."""
        return self.function(lambda writer: writer.produce(node), generates=True)

    def produce(self, node: Node) -> None:
        """Write the body of a generator of all outputs."""
        self.each(node, INPUT, Sink(lambda output: self.line(f"yield {self.handed(output)}"), short=True))

    def give(self, node: Node) -> None:
        """Write the body of a function that returns the one output."""
        self.line(f"return {self.handed(self.value(node, INPUT))}")

    def return_list(self, node: Node) -> None:
        """Write the body of a function that returns a list of all outputs, and fails if there are too many."""
        if node in self.module.singles:
            self.line(f"return [{self.handed(self.value(node, INPUT))}]")
            return
        outputs = self.bind("[]")

        def write(atom: str) -> None:
            self.line(f"{outputs}.append({self.handed(atom)})")
            self.line(f"if len({outputs}) > {MOST_RESULTS}: too_many()")

        self.each(node, INPUT, Sink(write, short=True))
        self.line(f"return {outputs}")

    def collected(self, node: Node, here: str) -> str:
        """Write Python that makes an array of all outputs, and return its name."""
        terms = terms_of(node)
        first = list(takewhile(self.module.singles.__contains__, terms))
        array = self.array([self.value(term, here) for term in first], here)
        for term in terms[len(first) :]:
            self.each(term, here, Sink(lambda output: self.append(array, output), short=True))
        return array

    def array(self, outputs: list[str], here: str) -> str:
        """A variable for an array of outputs for ``here``, to which others may be appended."""
        array = self.variable(here)
        self.assign(array, f"[{', '.join(outputs)}]", f"[{', '.join(map(self.origin, outputs))}]")
        return array

    def append(self, array: str, output: str) -> None:
        """Write that an array has another output in it."""
        self.line(f"{array}.append({output})")
        if array in self.origins:
            self.line(f"{self.origins[array]}.append({self.origin(output)})")


def is_empty(node: Node) -> bool:
    """Whether an expression never has an output."""
    return isinstance(node, Call) and node.name == "empty" and not node.arguments


def is_name(atom: str) -> bool:
    """Whether an atom is a variable or a named constant."""
    return atom.isidentifier() and atom[0].islower()


def written(origin: Origin) -> str:
    """Python for an origin."""
    if isinstance(origin, tuple):
        return f"Location(({''.join(f'{step}, ' for step in origin)}))"
    return origin or "None"


def truth(atom: str) -> str:
    """Python that is true if a value is true to jq."""
    return f"{atom} is not None and {atom} is not False"


def untruth(atom: str) -> str:
    """Python that is true if a value is null or false."""
    return f"{atom} is None or {atom} is False"
