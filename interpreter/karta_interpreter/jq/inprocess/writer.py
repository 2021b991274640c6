"""Writing Python: the lines of a function, and the module of the functions that an expression becomes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

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


def is_name(atom: str) -> bool:
    """Whether an atom is a variable or a named constant."""
    return atom.isidentifier() and atom[0].islower()


def truth(atom: str) -> str:
    """Python that is true if a value is true to jq."""
    return f"{atom} is not None and {atom} is not False"


def untruth(atom: str) -> str:
    """Python that is true if a value is null or false."""
    return f"{atom} is None or {atom} is False"
