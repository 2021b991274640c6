"""Writing the lines of one Python function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, Self

from karta_interpreter.jq.plain.code.module import Module

INPUT: Final = "v"
"""The parameter of every function: the input of the expression that it runs."""


class Sink(NamedTuple):
    """What is done with each output: ``write`` writes Python for it. ``short`` if that may be written repeatedly."""

    write: Callable[[str], None]
    short: bool = False


class Writer:
    """Lines of Python, and names for values in them.

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

        An output is the input itself, or nobody else has its variable.
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


def is_name(atom: str) -> bool:
    """Whether an atom is a variable or a named constant."""
    return atom.isidentifier() and atom[0].islower()


def truth(atom: str) -> str:
    """Python that says whether a value is true to jq."""
    return f"{atom} is not None and {atom} is not False"


def untruth(atom: str) -> str:
    """Python that says whether a value is null or false."""
    return f"{atom} is None or {atom} is False"
