"""Texts of Lua: names, literals, conditions, tables."""

import re
from collections.abc import Sequence
from typing import Final

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[A-Z]")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
RESERVED_WORDS: Final = frozenset(
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
"""The reserved words of Lua 5.1, and `goto`, which gopher-lua has as well."""
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\000"}
_LONGEST_NAME: Final = 40
_LONGEST_TABLE: Final = 90
TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
"""A text in double quotes."""
_OPERAND: Final = re.compile(r"\w+(?:\((?:[^()]|\([^()]*\))*\))?")
_COMPARED: Final = re.compile(rf"({_OPERAND.pattern}) ([=~]=) ({_OPERAND.pattern}|{TEXT.pattern})")


def is_name(text: str) -> bool:
    """Whether a Lua expression is a variable."""
    return _NAME.fullmatch(text) is not None


def is_literal(text: str) -> bool:
    """Whether a Lua expression is a number or a text."""
    return re.fullmatch(rf"-?[0-9.]+|{TEXT.pattern}", text) is not None


def bare(text: str) -> str:
    """Return a Lua expression without its outer parentheses.

    >>> bare("(a or b)"), bare("(a) or (b)")
    ('a or b', '(a) or (b)')
    """
    return text[1:-1] if _is_wrapped(text) else text


def _is_wrapped(text: str) -> bool:
    depth = 0
    # Parentheses inside of texts do not count.
    for place, char in enumerate(TEXT.sub(lambda found: "x" * len(found[0]), text)):
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
    return is_name(name) and name.isascii() and name not in RESERVED_WORDS


def lua_name(text: str) -> str:
    """A text as a Lua name.

    >>> lua_name("RayJob-worker"), lua_name("3")
    ('ray_job_worker', 'value_3')
    """
    name = "_".join(word.lower() for word in _PARTS.findall(text))[:_LONGEST_NAME].strip("_") or "value"
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
