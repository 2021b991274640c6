"""Facts about expressions of jq that their Lua depends on."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s import JSON
from karta_interpreter.definitions.karta.expressions import is_boolean
from karta_interpreter.export.lua import Constant, Expression, constant
from karta_interpreter.languages.jq import (
    OutputKind,
    children,
    parts_of,
    render,
    result_of,
    syntax as ast,
)

_LARGEST: Final = 2**53  # all numbers of Lua are float64
# The constructs of a part that is worth a function of its own.
_LEAST: Final = 5
_SMALL: Final = (ast.Identity, ast.Literal, ast.Index, ast.Iterate, ast.Comma, ast.Variable, ast.Text)
_KIND: Final = re.compile(r"[A-Z][a-z]\w+")
_LONGEST_NAME: Final = 30
_MAGIC: Final = "^$()%.[]*+-?"
# A part of a regular expression that Lua has as well.
_PIECE: Final = re.compile(r"(\^)|(\$)|(\[[A-Za-z0-9 ._-]+\]|\\[\[\].*+?$^()\\-]|[A-Za-z0-9 _/:@=,-])([*+?]?)")
_PRESENT: Final = (OutputKind.BOOLEAN, OutputKind.NUMBER, OutputKind.TEXT, OutputKind.TEXTS, OutputKind.KEYS)


def unsupported(node: ast.Node, reason: str) -> ExportError:
    """Return the error about a part of an expression that a script cannot have."""
    return ExportError(f"`{render(node)}`: {reason}")


def literal(value: JSON) -> Expression:
    """Return a literal of jq as Lua."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return constant(value)
    if abs(value) >= _LARGEST:
        raise ExportError(f"the number {value} has more digits than numbers of Lua")
    return Constant(str(int(value)) if value == int(value) else repr(value))


def has_empty(value: JSON) -> bool:
    """Return whether a value has an empty object or list, which are the same in Lua.

    >>> has_empty({"a": [1, []]}), has_empty({"a": ""})
    (True, False)
    """
    if not isinstance(value, dict | list | tuple):
        return False
    return not value or any(map(has_empty, value.values() if isinstance(value, dict) else value))


def is_present(node: ast.Node) -> bool:
    """Return whether no output is null."""
    match node:
        case ast.Literal(value):
            return value is not None
        case ast.Array() | ast.Object() | ast.Text() | ast.Negate():
            return True
        case ast.Alternative(left, right):
            return is_present(right) or right == ast.FunctionCall("empty") or is_present(left)
        case ast.Binary(operator):
            return operator not in {"+", "-"}
        case ast.Pipe(_, right):
            return is_present(right)
        case ast.FunctionCall():
            return result_of(node) in _PRESENT
        case ast.If(branches, otherwise):
            return otherwise is not None and all(map(is_present, (otherwise, *(then for _, then in branches))))
    return False


def is_truthy(node: ast.Node) -> bool:
    """Return whether no output is null or false."""
    is_true = isinstance(node, ast.Literal) and node.value is not None and node.value is not False
    return is_true or isinstance(node, ast.Array | ast.Object | ast.Text | ast.Negate)


def hint_of(node: ast.Node) -> str:
    """Return a name for the output of an expression."""
    match node:
        case ast.Index(_, ast.Literal(str(name))):
            return name
        case ast.Pipe(_, right):
            return hint_of(right)
        case ast.Alternative(left, _) | ast.Comma(left, _):
            return hint_of(left)
        case ast.If(((_, then), *_), otherwise):
            hint = hint_of(then)
            return hint if hint != "value" or otherwise is None else hint_of(otherwise)
        case ast.Iterate(target):
            return singular(target)
    return "value"


def singular(node: ast.Node) -> str:
    """Return a name for an element of a list."""
    return singular_name(hint_of(node))


def singular_name(name: str) -> str:
    """Return a name for an element of a list with a name.

    >>> singular_name("jobs"), singular_name("class"), singular_name("data")
    ('job', 'each_class', 'each_data')
    """
    return name[:-1] if len(name) > len("ss") and name.endswith("s") and not name.endswith("ss") else f"each_{name}"


def repeated(roots: Iterable[ast.Node]) -> frozenset[ast.Node]:
    """Return the parts that occur more than once in some expressions. Parts inside of such a part count once."""
    seen: set[ast.Node] = set()
    repeats: set[ast.Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if not is_large(node):
            waiting += children(node)
        elif node in seen:
            repeats.add(node)
        else:
            seen.add(node)
            waiting += children(node)
    return frozenset(repeats)


def is_large(node: ast.Node) -> bool:
    """Return whether a part is worth a function. This takes less time than its hash."""
    if isinstance(node, _SMALL):
        return False
    return len([*islice((child for child in parts_of(node) if not isinstance(child, _SMALL)), _LEAST)]) == _LEAST


def name_of(node: ast.Node, otherwise: str) -> str:
    """Return a name for the function of a part.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> name_of(parse('.kind == "Job" or .kind == "RayJob"'), "pods")
    'is Job or RayJob'
    >>> name_of(parse(".model // .sklearn"), "pods")  # not as the local variable for the field
    'model of'
    """
    if not is_boolean(node):
        hint = hint_of(node)
        return f"{otherwise} part" if hint == "value" else f"{hint} of"
    kinds = dict[str, None]()
    for child in parts_of(node):
        if isinstance(child, ast.Literal) and isinstance(child.value, str) and _KIND.fullmatch(child.value):
            kinds[child.value] = None
    name = ""
    for kind in kinds:
        longer = f"{name} or {kind}" if name else f"is {kind}"
        if len(longer) <= _LONGEST_NAME:
            name = longer
    return name or f"{otherwise} condition"


def lua_pattern(pattern: str) -> str | None:
    r"""Return a regular expression as a pattern of Lua, or None if Lua has no equal pattern.

    >>> lua_pattern("^[0-9.]+$"), lua_pattern("a|b"), lua_pattern(r"\\.")
    ('^[0-9.]+$', None, None)
    """
    pieces: list[str] = []
    place = 0
    while place < len(pattern):
        match: Any = _PIECE.match(pattern, place)
        if match is None or (match[1] and place) or (match[2] and match.end() < len(pattern)):
            return None
        if match[1] or match[2]:
            pieces.append(match[0])
        else:
            one = match[3]
            if one[0] == "\\":
                one = f"%{one[1]}"
            elif one[0] != "[" and one in _MAGIC:
                one = f"%{one}"
            pieces.append(one + match[4])
        place = match.end()
    return "".join(pieces)
