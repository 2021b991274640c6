"""Lines of Lua, and the variables in them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from karta_interpreter.export.library import LIBRARY
from karta_interpreter.export.lua_text import RESERVED_WORDS, TEXT, bare, is_literal, is_name, lua_name

_KEYWORDS: Final = RESERVED_WORDS | frozenset(
    [
        "assert",
        "error",
        "ipairs",
        "kube",
        "math",
        "next",
        "os",
        "pairs",
        "pcall",
        "print",
        "require",
        "select",
        "string",
        "table",
        "tonumber",
        "tostring",
        "type",
        "unpack",
        "obj",
        "desired",
        "observed",
        "items",
        "replicas",
        "result",
    ]
)
_MOST_VARIABLES: Final = 60
"""The variables that a function may have at once; Lua's limit is 200, and calls need some places, too."""
_FIELD: Final = re.compile(rf"get\(\w+(?:, {TEXT.pattern})+\)")


class Value(NamedTuple):
    """A Lua expression, and one for the place that its value is read from; None without such a place."""

    text: str
    origin: str | None = None

    @property
    def is_simple(self) -> bool:
        """Whether the expression is a name or a literal, which may be written twice."""
        return is_name(self.text) or self.text in ("nil", "true", "false") or is_literal(self.text)


Use = Callable[[Value], None]


class Sink(NamedTuple):
    """Writes what is done with an output; ``short``: it may be written several times."""

    write: Use
    short: bool = False


class Writer:
    """Writes the body of one function."""

    def __init__(self, taken: set[str] | None = None) -> None:
        self.lines: list[str] = []
        self._fields: list[dict[str, str]] = [{}]
        self._taken = taken if taken is not None else set()
        self._depth = 0

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("  " * self._depth + text)

    @contextmanager
    def block(self, head: str, end: str = "end", *, keep: bool = False) -> Iterator[None]:
        """Write a block; nothing at all where it stays empty, unless it is to be kept."""
        size = len(self.lines)
        self.line(head)
        self._depth += 1
        self._fields.append({})
        yield
        self._fields.pop()
        self._depth -= 1
        inner = self.lines[size + 1 :]
        if not inner and end == "end" and not keep:
            self.lines.pop()
        # A block without variables is needless: it only bounds how many of them a function has at once.
        elif head == "do" and not any(line.startswith("  " * (self._depth + 1) + "local ") for line in inner):
            self.lines[size:] = [line[2:] for line in inner]
        else:
            self.line(end)

    @contextmanager
    def when(self, condition: str, *, keep: bool = False) -> Iterator[None]:
        """Write a block for what holds under a condition."""
        with self.block(f"if {bare(condition)} then", keep=keep):
            yield

    def otherwise(self) -> None:
        """Write the ``else`` of the open block."""
        self._depth -= 1
        self.line("else")
        self._depth += 1
        self._fields[-1] = {}

    def new(self, hint: str = "value") -> str:
        """A name for a local variable that this function does not have yet."""
        name = lua_name(hint)
        found, number = name, 2
        while found in self._taken or found in _KEYWORDS or found in LIBRARY:
            found, number = f"{name}_{number}", number + 1
        self._taken.add(found)
        return found

    def bind(self, value: Value, hint: str = "value") -> Value:
        """The value by a name; a field that has a name in an open block keeps it."""
        if value.is_simple:
            return value
        # Only those of open blocks: a variable of one that has ended is out of scope.
        for known in self._fields:
            if value.text in known:
                return Value(known[value.text], value.origin)
        name = self.new(hint)
        if _FIELD.fullmatch(value.text):
            self._fields[-1][value.text] = name
        self.line(f"local {name} = {bare(value.text)}")
        return Value(name, value.origin)

    def assign(self, name: str, text: str) -> None:
        """Write a value to a variable that is there.

        Karmada's Lua (gopher-lua 1.1.1) leaves the variable as it is for ``variable = f(x) and y`` where ``f(x)`` is
        false; a new variable gets the right value.
        """
        if " and " in text:
            value = self.new("value")
            self.line(f"local {value} = {bare(text)}")
            text = value
        self.line(f"{name} = {bare(text)}")

    @contextmanager
    def aside(self) -> Iterator[list[str]]:
        """Collect lines without writing them."""
        before, self.lines = self.lines, []
        self._fields.append({})
        yield self.lines
        self._fields.pop()
        self.lines = before


def flattened(lines: Sequence[str]) -> list[str]:
    """Return the lines of a function without ``do`` blocks, which only keep its variables below Lua's limit.

    >>> flattened(["f()", "do", "  local a = 1", "end"])
    ['f()', 'local a = 1']
    """
    if sum(line.lstrip().startswith("local ") for line in lines) > _MOST_VARIABLES:
        return list(lines)
    found, ends = list[str](), list[str]()
    for line in lines:
        if line.lstrip() == "do":
            ends.append(f"{line[: -len('do')]}end")
        elif ends and line == ends[-1]:
            ends.pop()
        else:
            found.append(line[2 * len(ends) :])
    return found
