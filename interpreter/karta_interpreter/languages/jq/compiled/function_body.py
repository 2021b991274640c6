"""The body of one function in the Python of an expression: its lines, its variables and the origins of their values."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Generic, NamedTuple, Self, TypeAlias, TypeVar

from karta_interpreter.languages.jq.compiled import operators
from karta_interpreter.languages.jq.compiled.atoms import is_integer, is_name
from karta_interpreter.languages.jq.compiled.module import Module

Origin: TypeAlias = str | tuple[str, ...] | None
"""Python for the path that a value is read from: an expression, or each step of a path that is known."""

Code = TypeVar("Code")

INPUT: Final = "v"
"""The parameter of every function: the input of the expression that it runs."""

# The parameter for the origin of the input, in a function with origins of its outputs.
_ORIGIN: Final = "o"

# The most characters of an origin in the code. Python nests at most 200 parentheses.
_LONGEST: Final = 1000


class OutputSink(NamedTuple, Generic[Code]):
    """Writes the code for each output, in any language. ``short``: it may be written several times."""

    write: Callable[[Code], None]
    short: bool = False


def written(origin: Origin) -> str:
    """Return Python for an origin."""
    if isinstance(origin, tuple):
        return f"Location(({''.join(f'{step}, ' for step in origin)}))"
    return origin or "None"


class FunctionBody:
    """Writes lines, and remembers the origin of each variable with a value that is read from the input.

    That is so if the input has an origin.
    """

    def __init__(self, module: Module, origin: Origin = None) -> None:
        self.module = module
        self.lines: list[str] = []
        self.origins: dict[str, str | tuple[str, ...]] = {} if origin is None else {INPUT: origin}
        self._is_traced = origin is not None
        self._indent = "    "
        self._variables = 0

    def function(self, write: Callable[[Self], None], *, generates: bool = False, origin: Origin = None) -> str:
        """Return the name of another function of one input, with the body that ``write`` writes.

        For an input with an origin, every output comes with its own.
        """

        def lines(name: str) -> list[str]:
            code = type(self)(self.module, origin)
            if generates:
                code.line("if 0: yield")  # makes it a generator, even one without any output
            write(code)
            parameters = f"{INPUT}, {_ORIGIN}" if origin == _ORIGIN else INPUT
            return [f"def {name}({parameters}):", *code.lines]

        return self.module.function(lines)

    def handed(self, output: str) -> str:
        """Return Python for an output that leaves its function."""
        return f"({output}, {self.origin(output)})" if self._is_traced else output

    def field(self, whole: str, names: tuple[str, ...]) -> str:
        """Write ``whole.a.b.c``, and return an atom for it."""
        keys, value = tuple(map(self.module.constant, names)), whole
        for key in keys:
            value = self.named(value)
            lookup = f"{value}.get({key}) if type({value}) is dict"
            value = self.bind(f"{lookup} else no_field({value}, {key})")
        return self.inside(whole, keys, value)

    def item(self, whole: str, key: str) -> str:
        """Write ``whole[key]``, and return an atom for it."""
        whole = self.named(whole)
        # In place, without a call: these two need no test of the index.
        shortcut = f"{whole}[{key}] if type({whole}) is list and {whole} else " if key in ("0", "-1") else ""
        value = self.bind(f"{shortcut}item({whole}, {key})")
        if is_integer(key) and key[0] != "-":
            return self.inside(whole, (key,), value)
        is_known = whole in self.origins
        return self.located(value, f"step({self.origin(whole)}, {whole}, {key}, {value})" if is_known else None)

    def inside(self, whole: str, names: tuple[str, ...], part: str) -> str:
        """Return a variable for a part of another. Its origin is inside of the other's."""
        match self.origins.get(whole):
            case str() as origin:
                return self.located(part, f"inside({origin}, ({', '.join(names)},), {part})")
            case tuple() as path:
                return self.located(part, (*path, *names))
        return part

    def elements(self, whole: str, sink: OutputSink[str], function: str = "present_elements") -> None:
        """Write a loop over the elements of a value, mostly a list. ``function`` is called for any other value."""
        whole = self.entered(self.named(whole))
        is_few = f"type({whole}) is list and len({whole}) <= {operators.MOST_ELEMENTS}"
        if whole not in self.origins:
            self.loop(f"{whole} if {is_few} else {function}({whole})", sink)
            return
        name, element = self.new(), self.new()
        pairs = f"enumerate({whole}) if {is_few} else entries({whole}, {function}({whole}))"
        with self.block(f"for {name}, {element} in {pairs}:"):
            sink.write(self.entered(self.inside(whole, (name,), element)))

    def array(self, outputs: list[str], dot: str) -> str:
        """Return a variable for an array of outputs for ``dot``. Other outputs may be appended to it."""
        array = self.variable(dot)
        self.assign(array, f"[{', '.join(outputs)}]", f"[{', '.join(map(self.origin, outputs))}]")
        return array

    def append(self, array: str, output: str) -> None:
        """Write that an array has another output in it."""
        self.line(f"{array}.append({output})")
        if array in self.origins:
            self.line(f"{self.origins[array]}.append({self.origin(output)})")

    def tried(self, write: Callable[[], str | None], sink: OutputSink[str] | None) -> None:
        """Write code that runs up to the first error that can be caught, and the sink for its output."""
        with self.block("try:"):
            output = write()
        with self.block("except UNCAUGHT:"):
            self.line("raise")
        with self.block("except QueryEvaluationError:"):
            pass
        if sink is not None and output is not None:
            with self.block("else:"):
                sink.write(output)

    def streamed(self, write: Callable[[Self], None], dot: str, sink: OutputSink[str]) -> None:
        """Write a loop over the outputs of another function."""
        output = self.variable(dot)
        with self.block(f"for {self._target(output)} in {self._invocation(write, dot, generates=True)}:"):
            sink.write(output)

    def called(self, write: Callable[[Self], None], dot: str) -> str:
        """Write a call of another function with one output, and return an atom for that."""
        output = self.variable(dot)
        self.line(f"{self._target(output)} = {self._invocation(write, dot)}")
        return output

    def _invocation(self, write: Callable[[Self], None], dot: str, *, generates: bool = False) -> str:
        if dot not in self.origins:
            return f"{self.function(write, generates=generates)}({dot})"
        return f"{self.function(write, generates=generates, origin=_ORIGIN)}({dot}, {self.origin(dot)})"

    def _target(self, output: str) -> str:
        return f"{output}, {self.origins[output]}" if output in self.origins else output

    def loop(self, iterable: str, sink: OutputSink[str]) -> None:
        """Write a loop over the values of a Python expression."""
        name = self.new()
        with self.block(f"for {name} in {iterable}:"):
            sink.write(name)

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

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append(self._indent + text)

    def new(self) -> str:
        """Return a variable that was not there before."""
        self._variables += 1
        return f"t{self._variables}"

    def bind(self, expression: str) -> str:
        """Return a new variable with the value of a Python expression, computed here. An atom keeps its origin."""
        name = self.new()
        self.line(f"{name} = {expression}")
        return self.located(name, self.origins.get(expression))

    def named(self, atom: str) -> str:
        """Return the same value in a variable."""
        return atom if is_name(atom) else self.bind(atom)

    def variable(self, dot: str) -> str:
        """Return a new variable for outputs, and one for their origins if the input ``dot`` has an origin."""
        name = self.new()
        return self.located(name, self.new()) if dot in self.origins else name

    def assign(self, name: str, output: str, origin: str = "") -> None:
        """Assign an output to such a variable."""
        self.line(f"{name} = {output}")
        if name in self.origins:
            self.line(f"{self.origins[name]} = {origin or self.origin(output)}")

    def located(self, atom: str, origin: Origin) -> str:
        """Return a variable, from here on of that origin, which is computed where it is used."""
        if origin is not None:
            self.origins[atom] = origin if len(written(origin)) <= _LONGEST else self.bind(written(origin))
        return atom

    def entered(self, atom: str) -> str:
        """Return an output that becomes an input: its origin, which is written repeatedly, is computed here and now."""
        match self.origins.get(atom):
            case str() as origin if not is_name(origin):
                self.origins[atom] = self.bind(origin)
        return atom

    def origin(self, atom: str) -> str:
        """Return Python for the origin of an atom."""
        return written(self.origins.get(atom))
