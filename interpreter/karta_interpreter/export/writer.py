"""Lines of Lua, and the names in them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from karta_interpreter.export.library import LIBRARY

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[A-Z]")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_WORDS_OF_LUA: Final = frozenset(
    [
        "and",
        "break",
        "do",
        "else",
        "elseif",
        "end",
        "false",
        "for",
        "function",
        "goto",
        "if",
        "in",
        "local",
        "nil",
        "not",
        "or",
        "repeat",
        "return",
        "then",
        "true",
        "until",
        "while",
    ]
)
_KEYWORDS: Final = _WORDS_OF_LUA | frozenset(
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
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\000"}
_LONGEST_NAME: Final = 40
_LONGEST_TABLE: Final = 90
_MOST_VARIABLES: Final = 60
"""The variables that a function may have at once; Lua's limit is 200, and calls need some places, too."""
_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_OPERAND: Final = re.compile(r"\w+(?:\((?:[^()]|\([^()]*\))*\))?")
_FIELD: Final = re.compile(rf"get\(\w+(?:, {_TEXT.pattern})+\)")
_COMPARED: Final = re.compile(rf"({_OPERAND.pattern}) ([=~]=) ({_OPERAND.pattern}|{_TEXT.pattern})")


class Value(NamedTuple):
    """A Lua expression, and one for the place that its value is read from; None without such a place."""

    text: str
    origin: str | None = None

    @property
    def is_simple(self) -> bool:
        """Whether the expression is a name or a literal, which may be written twice."""
        return is_name(self.text) or self.text in ("nil", "true", "false") or _is_literal(self.text)


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


def is_name(text: str) -> bool:
    """Whether a Lua expression is a variable."""
    return _NAME.fullmatch(text) is not None


def _is_literal(text: str) -> bool:
    return re.fullmatch(r'-?[0-9.]+|"(?:[^"\\]|\\.)*"', text) is not None


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


def bare(text: str) -> str:
    """Return a Lua expression without its outer parentheses.

    >>> bare("(a or b)"), bare("(a) or (b)")
    ('a or b', '(a) or (b)')
    """
    return text[1:-1] if _is_wrapped(text) else text


def _is_wrapped(text: str) -> bool:
    depth = 0
    # Parentheses inside of texts do not count.
    for place, char in enumerate(_TEXT.sub(lambda found: "x" * len(found[0]), text)):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[0] == "(" and place == len(text) - 1
    return False


def negated(text: str) -> str:
    """Return the condition that holds where another one does not.

    >>> negated("a == 1"), negated("not is_list(a)"), negated("a or b"), negated("equal(a, b)")
    ('a ~= 1', 'is_list(a)', 'not (a or b)', 'not equal(a, b)')
    """
    comparison = _COMPARED.fullmatch(text)
    if comparison:
        return f"{comparison[1]} {'~=' if comparison[2] == '==' else '=='} {comparison[3]}"
    if text.startswith("not ") and _OPERAND.fullmatch(text, len("not ")):
        return text.removeprefix("not ")
    return f"not {text}" if _OPERAND.fullmatch(text) or _is_wrapped(text) else f"not ({text})"


def quoted(text: str) -> str:
    r"""A text as a Lua literal.

    >>> print(quoted('a "b"'), quoted("\x001"))
    "a \"b\"" "\0001"
    """
    return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"'


def key_text(name: str) -> str:
    """A key as a table has it.

    >>> key_text("name"), key_text("app.kubernetes.io/name")
    ('name', '["app.kubernetes.io/name"]')
    """
    return name if is_key(name) else f"[{quoted(name)}]"


def is_key(name: str) -> bool:
    """Whether a key of a table can be written as a name."""
    return is_name(name) and name.isascii() and name not in _WORDS_OF_LUA


def lua_name(text: str) -> str:
    """A text as a Lua name.

    >>> lua_name("RayJob-worker"), lua_name("3")
    ('ray_job_worker', 'value_3')
    """
    name = "_".join(word.lower() for word in _WORDS.findall(text))[:_LONGEST_NAME].strip("_") or "value"
    return name if name[0].isalpha() else f"value_{name}"


def table_of(parts: Sequence[str]) -> str:
    """Return a table of some parts, each on a line of its own where one line were long.

    >>> table_of(["1", "2"])
    '{1, 2}'
    """
    line = f"{{{', '.join(parts)}}}"
    return line if len(line) <= _LONGEST_TABLE else "".join(["{\n", *(f"  {part},\n" for part in parts), "}"])


def laid_out(lines: Sequence[str]) -> str:
    r"""Return a text of statements; the further lines of each are as deep as its first one.

    >>> print(laid_out(["f()", "  g({\n  1,\n})"]))
    f()
      g({
        1,
      })
    """
    return "\n".join(line.replace("\n", f"\n{line[: len(line) - len(line.lstrip())]}") for line in lines)
