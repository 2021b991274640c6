"""Facts about expressions that their Lua depends on, and texts of Lua for them."""

from typing import Final

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.export.lua_text import bare, quoted
from karta_interpreter.export.writer import Value
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.compiled.functions import Result, result_of
from karta_interpreter.languages.jq.compiled.singles import Singles
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.printer import render
from karta_interpreter.languages.jq.syntax.traversal import terms_of

_LARGEST: Final = 2**53  # all numbers of Lua are float64
_ORDERS_OF_JQ: Final = ("<", ">", "<=", ">=")
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
COMPARISONS: Final = frozenset({"==", "!=", *_ORDERS_OF_JQ})
_EXTREMES: Final = (ast.Call("max"), ast.Call("min"))
_PRESENT: Final = (Result.BOOLEAN, Result.NUMBER, Result.TEXT, Result.TEXTS, Result.KEYS)


def field_text(node: Node, value: Value) -> str:
    """Return the text of an object's field in a table constructor."""
    return value.text if is_present(node) else f"or_null({value.text})"


def unsupported(node: Node, reason: str) -> ExportError:
    """The error about a part of an expression that a script cannot have."""
    return ExportError(f"`{render(node)}`: {reason}")


def literal(value: object) -> str:
    """A literal of jq as Lua."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | float() if abs(value) < _LARGEST:
            return str(int(value)) if value == int(value) else repr(value)
    raise ExportError(f"the number {value} has more digits than numbers of Lua")


def has_empty(value: JSON) -> bool:
    """Return whether a value has an empty object or list, which are the same in Lua.

    >>> has_empty({"a": [1, []]}), has_empty({"a": ""})
    (True, False)
    """
    if not isinstance(value, dict | list | tuple):
        return False
    return not value or any(map(has_empty, value.values() if isinstance(value, dict) else value))


def joined_path(whole: str, keys: str) -> str:
    """``get(whole, keys)``; a path inside of a path is one path."""
    if whole.startswith("get(") and whole.endswith(")") and whole.count("(") == 1:
        return f"{whole[:-1]}, {keys})"
    return f"get({whole}, {keys})"


def inside(origin: str | None, value: str, keys: str) -> str:
    """The place of a value at some keys of another place."""
    if is_place(origin):
        before = (origin or "")[len("at(") : -1]
        return f"at({before}, {keys})" if before else f"at({keys})"
    return f"inside({origin}, {value}, {keys})"


def is_place(origin: str | None) -> bool:
    """Return whether an origin is the text of a place."""
    return origin is not None and origin.startswith("at(")


def equality(operator: str, node: ast.Binary, left: str, right: str) -> str:
    """Return the Lua expression of a comparison for equality."""
    sides = (node.left, node.right)
    negated = "not " if operator == "!=" else ""
    for side, text in zip(sides, (right, left), strict=True):
        if side in (ast.Array(None), ast.Object(())):
            return f"{negated}is_empty({bare(text)})"
    for side, other, text in ((node.left, node.right, right), (node.right, node.left, left)):
        if isinstance(other, ast.Array) and text.isidentifier() and (values := _literals(side)):
            same = [f"{text}[{i}] == {value}" for i, value in enumerate(values, 1)]
            return f"{negated}({' and '.join([f'#{text} == {len(values)}', *same])})"
    if any(isinstance(side, ast.Literal | ast.Text) for side in sides):
        return f"{left} {'==' if operator == '==' else '~='} {right}"
    return f"{negated}equal({left}, {right})"


def _literals(node: Node) -> list[str]:
    """Return the texts of the elements of a list of literals; nothing for any other expression."""
    terms = terms_of(node.body) if isinstance(node, ast.Array) and node.body else []
    values = [term.value for term in terms if isinstance(term, ast.Literal) and term.value is not None]
    return [literal(value) for value in values] if len(values) == len(terms) else []


def comparison(operator: str, node: ast.Binary, left: str, right: str) -> str:
    """Return the Lua expression of an order between a value and a literal number; nothing for other sides."""
    for side, other, number, means in (
        (node.right, left, right, operator),
        (node.left, right, left, _MIRRORED[operator]),
    ):
        if isinstance(side, ast.Literal) and type(side.value) in (int, float):
            if other.startswith("#"):
                return f"{other} {means} {number}"
            function = "is_above" if means in (">", "<=") else "is_below"
            return f"{'not ' if '=' in means else ''}{function}({bare(other)}, {number})"
    return ""


def numbers_of(node: Node | None) -> list[Node]:
    """Return the elements of a list of literal numbers and differences, which with others cannot be compared.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> len(numbers_of(parse("0, .a - .b"))), numbers_of(parse("0, .a"))
    (2, [])
    """
    terms = terms_of(node) if node else []
    literals = [term for term in terms if isinstance(term, ast.Literal) and type(term.value) in (int, float)]
    differences = [term for term in terms if isinstance(term, ast.Binary) and term.operator == "-"]
    return terms if literals and len(literals) + len(differences) == len(terms) else []


def is_boolean(node: Node) -> bool:
    """Whether the output is always true or false."""
    match node:
        case ast.Binary(operator):
            return operator in COMPARISONS or operator in ("and", "or")
        case ast.Call():
            return result_of(node) is Result.BOOLEAN
        case ast.Pipe(_, right):
            return is_boolean(right)
        case ast.Literal(value):
            return isinstance(value, bool)
    return False


def is_present(node: Node) -> bool:
    """Whether no output is null."""
    match node:
        case ast.Literal(value):
            return value is not None
        case ast.Array() | ast.Object() | ast.Text() | ast.Negate():
            return True
        case ast.Alternative(left, right):
            return is_present(right) or right == ast.Call("empty") or is_present(left)
        case ast.Binary(operator):
            return operator not in {"+", "-"}
        case ast.Pipe(left, right):
            return is_present(right) or (right in _EXTREMES and _has_present(left))
        case ast.Call():
            return result_of(node) in _PRESENT
        case ast.If(branches, otherwise):
            return otherwise is not None and all(map(is_present, (otherwise, *(then for _, then in branches))))
    return False


def _has_present(node: Node) -> bool:
    """Whether a list has an element, and none that is null."""
    terms = terms_of(node.body) if isinstance(node, ast.Array) and node.body else []
    return any(term in Singles() for term in terms) and all(map(is_present, terms))


def is_truthy(node: Node) -> bool:
    """Whether no output is null or false."""
    match node:
        case ast.Literal(value):
            return value is not None and value is not False
        case ast.Array() | ast.Object() | ast.Text() | ast.Negate():
            return True
    return False


def hint_of(node: Node) -> str:
    """Return a name for the output of an expression."""
    match node:
        case ast.Index(_, ast.Literal(str(name))):
            return name
        case ast.Pipe(_, right):
            return hint_of(right)
        case ast.Alternative(left, _):
            return hint_of(left)
        case ast.Comma(left, _):
            return hint_of(left)
        case ast.If(((_, then), *_), otherwise):
            hint = hint_of(then)
            return hint if hint != "value" or otherwise is None else hint_of(otherwise)
        case ast.Iterate(target):
            return singular(target)
    return "value"


def singular(node: Node) -> str:
    """Return a name for an element of a list."""
    return singular_name(hint_of(node))


def singular_name(name: str) -> str:
    """Return a name for an element of a list with a name.

    >>> singular_name("jobs"), singular_name("class"), singular_name("data")
    ('job', 'each_class', 'each_data')
    """
    return name[:-1] if len(name) > len("ss") and name.endswith("s") and not name.endswith("ss") else f"each_{name}"
