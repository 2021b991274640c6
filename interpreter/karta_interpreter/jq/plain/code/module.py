"""The Python functions that an expression becomes."""

from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any, Final

from karta_interpreter.jq.plain.code.runtime import RUNTIME
from karta_interpreter.jq.plain.code.single import Singles

Write = Callable[[str], list[str]]
"""Gives the lines of a function with that name."""

_EXACT: Final = 2**53


class Module:
    """Functions that call each other, with the constants that they share.

    ``known`` is what they may name beside their own.
    """

    def __init__(self, known: Mapping[str, Any] = RUNTIME) -> None:
        self.singles = Singles()
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

        >>> module = Module()
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


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
