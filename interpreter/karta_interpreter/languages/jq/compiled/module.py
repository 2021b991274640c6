"""The functions of one expression: their text, their constants, and how Python loads them."""

from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any, TypeAlias

from karta_interpreter.languages.jq.compiled.singles import Singles
from karta_interpreter.languages.jq.compiled.values import EXACT

Write: TypeAlias = Callable[[str], list[str]]
"""Returns the lines of a function with that name."""


class Module:
    """Functions that call each other, with the constants that they share."""

    def __init__(self) -> None:
        self.singles = Singles()
        self._constants: dict[str, Any] = {}
        self._count = 0
        self._unwritten: list[tuple[str, Write]] = []

    def function(self, write: Write) -> str:
        """Return the name of a new function, which is written after all earlier functions.

        So a deep expression does not make the code that writes it recurse as deep.
        """
        self._count += 1
        name = f"f{self._count}"
        self._unwritten.append((name, write))
        return name

    def constant(self, value: object) -> str:
        r"""Return Python for a value that comes from an expression, and so may be any text.

        Texts and small numbers are spelled out, in ASCII. Other values get a name.

        >>> module = Module()
        >>> module.constant("it's"), module.constant("é"), module.constant(None), module.constant(0.5)
        ('"it\'s"', "'\\xe9'", 'None', 'c0')
        """
        if value is None or value is True or value is False:
            return str(value)
        if type(value) is str or (type(value) is int and -EXACT < value < EXACT):
            return ascii(value)
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name

    def source(self) -> str:
        """Return the text of all functions."""
        return "\n".join(self.texts())

    def texts(self) -> Iterator[str]:
        """Yield the text of each function."""
        while self._unwritten:
            name, write = self._unwritten.pop()
            yield "\n".join(write(name))

    def functions(self, namespace: Mapping[str, Any]) -> Mapping[str, Callable[..., Any]]:
        """Return the functions by their names.

        ``namespace`` holds the names that they may use in addition to each other.
        """
        # No builtins: an expression has no use for any but those that its code names.
        space: dict[str, Any] = {"__builtins__": {}}
        for text in self.texts():  # one by one, because no other thread runs while one is compiled
            code = compile(text, "<expression>", "exec", dont_inherit=True)
            space |= {name: namespace[name] for name in _names(code) if name in namespace}
            exec(code, space)  # noqa: S102 - the text is made here. The expression contributes only constants to it
        space.update(self._constants)
        return space


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
