"""Writing Python: the lines of a function, and the module of the functions that an expression becomes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import takewhile
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from karta_interpreter.jq.bounded.child import MOST_RESULTS
from karta_interpreter.jq.inprocess.operators import MOST_ELEMENTS
from karta_interpreter.jq.syntax import Call, Identity, Literal, Node
from karta_interpreter.jq.syntax.traversal import terms_of

if TYPE_CHECKING:
    from karta_interpreter.jq.inprocess.emitter import Singles

Write = Callable[[str], list[str]]
"""Gives the lines of a function with that name."""

_EXACT: Final = 2**53


class Module:
    """Functions that call each other, with the constants that they share.

    ``known`` is what they may name beside their own; ``singles`` are the nodes with exactly one output.
    """

    def __init__(self, known: Mapping[str, Any], singles: "Singles") -> None:
        self.singles = singles
        self._known = known
        self._constants: dict[str, Any] = {}
        self._count = 0
        self._unwritten: list[tuple[str, Write]] = []

    def function(self, write: Write) -> str:
        """The name of a new function, which is written when those before it are.

        So the depth of an expression is not the depth of what writes it.
        """
        self._count += 1
        name = f"f{self._count}"
        self._unwritten.append((name, write))
        return name

    def constant(self, value: object) -> str:
        r"""Python that gives a value: for what comes from an expression, and so may be any text.

        Texts and small numbers are spelled out, in ASCII, others get a name.

        >>> module = Module({}, {})
        >>> module.constant("it's"), module.constant("é"), module.constant(None), module.constant(0.5)
        ('"it\'s"', "'\\xe9'", 'None', 'c0')
        """
        if value is None or value is True or value is False:
            return str(value)
        if type(value) is str or (type(value) is int and -_EXACT < value < _EXACT):
            return ascii(value)
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name

    def source(self) -> str:
        """The text of all functions."""
        lines: list[str] = []
        while self._unwritten:
            name, write = self._unwritten.pop()
            lines += write(name)
        return "\n".join(lines)

    def functions(self) -> dict[str, Any]:
        """The functions by their names."""
        code = compile(self.source(), "<expression>", "exec", dont_inherit=True)
        # No builtins: an expression has no use for any but those that its code names.
        names = {name: self._known[name] for name in _names(code) if name in self._known}
        space: dict[str, Any] = {"__builtins__": {}, **names, **self._constants}
        exec(code, space)  # noqa: S102 - the text is made here; of the expression there are only constants in it
        return space


def by_name(*functions: Callable[..., Any]) -> dict[str, Any]:
    """Functions and types by their own names."""
    return {function.__name__: function for function in functions}


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


INPUT: Final = "v"
"""The parameter of every function: the input of the expression that it runs."""


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
    An *atom* is Python that gives a value and takes no time: the name of a variable or a constant.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.depth = 0
        self._indent = "    "
        self._variables = 0

    @property
    def parameters(self) -> str:
        """The parameters of the function."""
        return INPUT

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
        """A new variable with the value of a Python expression, computed here and now."""
        name = self.new()
        self.line(f"{name} = {expression}")
        return name

    def named(self, atom: str) -> str:
        """The same value in a variable."""
        return atom if is_name(atom) else self.bind(atom)

    def own(self, atom: str, here: str) -> str:
        """A variable for an output of an expression for ``here`` that may be given other values.

        An output is the input itself, or is in a variable of its own.
        """
        return atom if is_name(atom) and atom != here and atom[0] == "t" else self.bind(atom)

    def function(self, write: Callable[[Self], None], *, generates: bool = False) -> str:
        """The name of another function of one input, with the body that ``write`` writes."""

        def lines(name: str) -> list[str]:
            writer = type(self)(self.module)
            if generates:
                writer.line("if 0: yield")  # what makes it a generator, even one without any output
            write(writer)
            return [f"def {name}({writer.parameters}):", *writer.lines]

        return self.module.function(lines)

    def assign(self, name: str, output: str) -> None:
        """Give a variable another output."""
        self.line(f"{name} = {output}")

    def handed(self, output: str) -> str:
        """Python for an output that leaves its function."""
        return output

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
        return self.bind(f"{self.function(write)}({here})")

    def streamed(self, write: Callable[[Self], None], here: str, sink: Sink) -> None:
        """Write a loop over the outputs of another function."""
        self.loop(f"{self.function(write, generates=True)}({here})", sink)

    def elements(self, whole: str, sink: Sink, function: str = "present_elements") -> None:
        """Write a loop over the elements of a value, mostly of a list; ``function`` is called for any other value."""
        whole = self.named(whole)
        is_few = f"type({whole}) is list and len({whole}) <= {MOST_ELEMENTS}"
        self.loop(f"{whole} if {is_few} else {function}({whole})", sink)

    def loop(self, iterable: str, sink: Sink) -> None:
        """Write a loop over the values of a Python expression."""
        name = self.new()
        with self.block(f"for {name} in {iterable}:"):
            sink.write(name)

    def generator(self, node: Node) -> str:
        """The name of a function that gives all outputs of an expression, one by one."""
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
        array = self.array([self.value(term, here) for term in first])
        for term in terms[len(first) :]:
            self.each(term, here, Sink(lambda output: self.append(array, output), short=True))
        return array

    def array(self, outputs: list[str]) -> str:
        """A variable for an array of outputs, to which others may be appended."""
        return self.bind(f"[{', '.join(outputs)}]")

    def append(self, array: str, output: str) -> None:
        """Write that an array has another output in it."""
        self.line(f"{array}.append({output})")


def is_empty(node: Node) -> bool:
    """Whether an expression never has an output."""
    return isinstance(node, Call) and node.name == "empty" and not node.arguments


def is_name(atom: str) -> bool:
    """Whether an atom is a variable or a named constant."""
    return atom.isidentifier() and atom[0].islower()


def truth(atom: str) -> str:
    """Python that is true if a value is true to jq."""
    return f"{atom} is not None and {atom} is not False"


def untruth(atom: str) -> str:
    """Python that is true if a value is null or false."""
    return f"{atom} is None or {atom} is False"
