"""jq in CEL (Common Expression Language), as far as health checks need it: paths, defaults, comparisons, conditions.

Each expression has one value here, because CEL has no streams. An expression that may have several values is written
only if a list takes them all: in ``[...]``, ``any`` and ``all``. An absent field is null in jq. CEL reads it as an
optional (``status.?phase.orValue(null)``), and fails if the first field of the object is missing.
"""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from karta_interpreter.base.errors import ExportError
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.printer import render

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = "as break const continue else false for function if import in let loop namespace null package return true var"
_RESERVED = frozenset([*_WORDS.split(), "void", "while"])

# How strongly the outermost operator of a text binds.
CHOICE, OR, AND, COMPARISON, SUM, NOT, ATOM = range(7)

OBJECT = ""
"""The input that is the object itself. Its fields are variables of CEL."""

_ELEMENTS = ("e", "f", "g")
_TEXT_TESTS = {"startswith": "startsWith", "endswith": "endsWith", "contains": "contains", "test": "matches"}
_QUANTIFIERS = {"any": "exists", "all": "all"}


class Cel(NamedTuple):
    """A text in CEL."""

    text: str
    binds: int = ATOM
    """The strength of its outermost operator."""
    boolean: bool = False
    """Whether it is true or false."""
    optional: str = ""
    """The same value before its default, if it has one."""
    default: Node | None = None
    """That default, if it is a literal."""

    def within(self, binds: int) -> str:
        """Return the text as an operand of an operator of that strength."""
        return self.text if self.binds > binds else f"({self.text})"


def cel(node: Node, given: str = OBJECT) -> Cel:
    """Return the value of an expression for an input in CEL. Raises ExportError if CEL cannot express it.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> cel(parse('.status.conditions | any(.[]?; .type == "Ready")')).text
    "status.?conditions.orValue([]).exists(e, e.?type.orValue(null) == 'Ready')"
    """
    return _CelWriter(given, _ELEMENTS).value(node)


class _CelWriter(NamedTuple):
    """Writes expressions about one input. ``names`` are free for elements of lists."""

    given: str
    names: tuple[str, ...]

    def value(self, node: Node) -> Cel:
        """Return the one value of an expression."""
        match node:
            case ast.Identity() if self.given:
                return Cel(self.given)
            case ast.Literal(value):
                return Cel(literal(value), boolean=isinstance(value, bool))
            case ast.Index():
                return self._field(node)
            case ast.Alternative(left, right):
                return self._alternative(node, left, right)
            case ast.Binary(operator, left, right):
                return self._binary(node, operator, left, right)
            case ast.Pipe(left, right):
                return self._after(self.value(left))(right)
        return self._other(node)

    def _other(self, node: Node) -> Cel:
        match node:
            case ast.Object(()):
                return Cel("{}")
            case ast.Array():
                return Cel(self._list(node))
            case ast.If(branches, otherwise) if otherwise:
                return self._if(branches, otherwise)
            case ast.FunctionCall(name, arguments):
                return self._call(node, name, arguments)
        raise _unsupported(node)

    def _after(self, value: Cel) -> Callable[[Node], Cel]:
        """Return how to read an expression behind a pipe: its input is the value."""

        def read(node: Node) -> Cel:
            match node:
                case ast.FunctionCall("not", ()):
                    return negation(truth(value))
                case ast.FunctionCall("length", ()) if value.optional and value.default is None:
                    return Cel(f"size({value.optional}.orValue([]))")  # an absent value has the length 0
                case ast.FunctionCall(
                    "any" | "all" as name, (ast.Try(ast.Iterate(ast.Identity())), condition)
                ) | ast.FunctionCall("any" | "all" as name, (ast.Iterate(ast.Identity()), condition)):
                    return self._quantified(name, _as_list(value), condition)
                case ast.Pipe(left, right):
                    return self._after(self._after(value)(left))(right)
                case ast.FunctionCall("any" | "all" as name, (condition,)):
                    return self._quantified(name, _as_list(value), condition)
                case ast.FunctionCall("IN", (choices,)) if equal := self._among(value, _parts(choices)):
                    return equal
                case ast.Binary("and" | "or" as operator, left, right):
                    parts = [truth(self._after(value)(side)) for side in (left, right)]
                    return joined("&&" if operator == "and" else "||", parts)
            return _CelWriter(value.within(NOT), self.names).value(node)

        return read

    def _field(self, node: Node) -> Cel:
        keys: list[str] = []
        while isinstance(node, ast.Index) and isinstance(node.key, ast.Literal) and isinstance(node.key.value, str):
            keys.insert(0, node.key.value)
            node = node.target
        if not isinstance(node, ast.Identity):
            raise _unsupported(node)
        start = self.given
        if start == OBJECT:
            start = keys.pop(0)
            if not is_name(start):
                raise ExportError(f'the field "{start}" is not a name in CEL')
        if not keys:
            return Cel(start)
        optional = start + "".join(map(optional_field, keys))
        return Cel(f"{optional}.orValue(null)", optional=optional)

    def _alternative(self, node: Node, left: Node, right: Node) -> Cel:
        first, second = self.value(left), self.value(right)
        match right:
            case ast.Array(None) if first.optional:
                return Cel(f"{first.optional}.orValue([])", optional=first.optional, default=right)
            case ast.Array():
                raise _unsupported(node)
            case ast.Literal(value) if value is not None and first.optional:
                text = f"{first.optional}.orValue({second.text})"
                return Cel(text, boolean=isinstance(value, bool), optional=first.optional, default=right)
        return Cel(
            f"{first.within(COMPARISON)} in [null, false] ? {second.within(CHOICE)} : {first.within(CHOICE)}",
            CHOICE,
            boolean=first.boolean and second.boolean,
        )

    def _binary(self, node: Node, operator: str, left: Node, right: Node) -> Cel:
        if operator in ("and", "or"):
            parts = [truth(self.value(side)) for side in (left, right)]
            return joined("&&" if operator == "and" else "||", parts)
        if operator in ("<", "<=", ">", ">="):
            return self._ordered(node, operator, left, right)
        if operator in ("+", "-") and _is_number(left) and _is_number(right):
            return Cel(f"{self.value(left).within(SUM)} {operator} {self.value(right).within(SUM)}", SUM)
        if operator not in ("==", "!="):
            raise _unsupported(node)
        if equal := self._among(self.value(left), [right]):
            return equal if operator == "==" else negation(equal)
        first, second = (self.value(side).within(COMPARISON) for side in (left, right))
        return Cel(f"{first} {operator} {second}", COMPARISON, boolean=True)

    def _ordered(self, node: Node, operator: str, left: Node, right: Node) -> Cel:
        """Compare numbers, and fields that are numbers or absent: CEL does not order null, which jq has first."""
        if operator.startswith(">"):
            left, right = right, left
        less = operator.replace(">", "<")
        first, second = self.value(left), self.value(right)
        for side, value in ((left, first), (right, second)):
            if not _is_number(side) and not value.optional:
                raise ExportError(f"`{render(node)}`: CEL orders only numbers, and fields that hold them")
        result = Cel(f"{first.within(COMPARISON)} {less} {second.within(COMPARISON)}", COMPARISON, boolean=True)
        is_first = not _is_number(left) and Cel(f"{first.text} == null", COMPARISON, boolean=True)
        is_second = not _is_number(right) and Cel(f"{second.text} != null", COMPARISON, boolean=True)
        if less == "<=":
            result = joined("&&", [is_second, result]) if is_second else result
            return joined("||", [is_first, result]) if is_first else result
        result = joined("||", [is_first, result]) if is_first else result
        return joined("&&", [is_second, result]) if is_second else result

    def _among(self, value: Cel, choices: list[Node]) -> Cel | None:
        """Return whether a field with a default is one of some literals, or None for another value.

        jq treats a null like an absent field. To CEL a null is a value, and does not take a default.
        """
        if value.default is None or value.boolean or not all(map(_is_literal, choices)):
            return None
        texts = [self.value(choice).text for choice in choices]
        field = f"{value.optional}.orValue(null)"
        if value.default in choices:
            return Cel(f"{field} in [{', '.join(['null', *texts])}]", COMPARISON, boolean=True)
        if len(texts) == 1:
            return Cel(f"{field} == {texts[0]}", COMPARISON, boolean=True)
        return Cel(f"{field} in [{', '.join(texts)}]", COMPARISON, boolean=True)

    def _if(self, branches: tuple[tuple[Node, Node], ...], otherwise: Node) -> Cel:
        result = self.value(otherwise)
        for condition, then in reversed(branches):
            chosen = self.value(then)
            text = f"{truth(self.value(condition)).within(CHOICE)} ? {chosen.within(CHOICE)} : "
            result = Cel(text + result.within(CHOICE), CHOICE, boolean=chosen.boolean and result.boolean)
        return result

    def _call(self, node: Node, name: str, arguments: tuple[Node, ...]) -> Cel:
        match name, arguments:
            case "length", () if self.given:
                return Cel(f"size({self.given})")
            case "ascii_downcase", () if self.given:
                return Cel(f"{self.given}.lowerAscii()")
            case "not", () if self.given:
                return negation(truth(Cel(self.given)))
            case "IN", (choices,) if self.given:
                return Cel(f"{self.given} in {self._list(ast.Array(choices))}", COMPARISON, boolean=True)
            case (("any" | "all"), (source, condition)):
                return self._quantified(name, self._elements(source), condition)
        if name in _TEXT_TESTS and self.given and len(arguments) == 1 and isinstance(arguments[0], ast.Literal):
            return Cel(f"{self.given}.{_TEXT_TESTS[name]}({self.value(arguments[0]).text})", boolean=True)
        raise _unsupported(node)

    def _quantified(self, name: str, elements: str, condition: Node) -> Cel:
        element, inner = self._element()
        return Cel(f"{elements}.{_QUANTIFIERS[name]}({element}, {truth(inner.value(condition)).text})", boolean=True)

    def _list(self, node: ast.Array) -> str:
        if node.body is None:
            return "[]"
        if not _is_stream(node.body):
            return f"[{', '.join(self.value(part).text for part in _parts(node.body))}]"
        return self._elements(node.body)

    def _elements(self, node: Node) -> str:
        """Return the list of all values of an expression that begins with an iteration."""
        match node:
            case ast.Try(body, None):
                return self._elements(body)
            case ast.Iterate(target):
                return _as_list(self.value(target))
            case ast.Pipe(left, ast.Pipe(middle, right)):
                return self._elements(ast.Pipe(ast.Pipe(left, middle), right))
            case ast.Pipe(left, ast.Try(ast.Iterate(ast.Identity()))) | ast.Pipe(left, ast.Iterate(ast.Identity())):
                return _as_list(self.value(left))
            case ast.Pipe(left, ast.FunctionCall("select", (condition,))):
                return self._filtered(self._elements(left), condition)
            case ast.Pipe(left, right):
                element, inner = self._element()
                return f"{self._elements(left)}.map({element}, {inner.value(right).text})"
            case ast.Index(target, ast.Literal(str())) if _is_stream(target):
                element, inner = self._element()
                return (
                    f"{self._elements(target)}.map({element}, {inner.value(ast.Index(ast.Identity(), node.key)).text})"
                )
        raise _unsupported(node)

    def _filtered(self, elements: str, condition: Node) -> str:
        element, inner = self._element()
        return f"{elements}.filter({element}, {truth(inner.value(condition)).text})"

    def _element(self) -> "tuple[str, _CelWriter]":
        if not self.names:
            raise ExportError("there are lists in lists in lists in lists")
        name, *rest = self.names
        return name, _CelWriter(name, tuple(rest))


def _as_list(value: Cel) -> str:
    return f"{value.optional}.orValue([])" if value.optional else value.text


def _is_stream(node: Node) -> bool:
    match node:
        case ast.Iterate():
            return True
        case ast.Try(body) | ast.Index(body):
            return _is_stream(body)
        case ast.Pipe(left, right):
            return _is_stream(left) or _is_stream(right)
    return False


def _parts(node: Node) -> list[Node]:
    return [*_parts(node.left), *_parts(node.right)] if isinstance(node, ast.Comma) else [node]


def _is_literal(node: Node) -> bool:
    return isinstance(node, ast.Literal) or node == ast.Array(None)


def _is_number(node: Node) -> bool:
    match node:
        case ast.Literal(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.Alternative(_, right):
            return _is_number(right)
        case ast.Pipe(_, right):
            return _is_number(right)
        case ast.Binary("+" | "-", left, right):
            return _is_number(left) and _is_number(right)
        case ast.FunctionCall("length", ()):
            return True
    return False


def _unsupported(node: Node) -> ExportError:
    return ExportError(f"`{render(node)}` cannot be written in CEL")


def truth(value: Cel) -> Cel:
    """Return whether jq takes a value for true: everything but null and false."""
    return value if value.boolean else Cel(f"!({value.text} in [null, false])", NOT, boolean=True)


def negation(value: Cel) -> Cel:
    """Return the opposite of a truth value."""
    return Cel(f"!{value.within(NOT - 1)}", NOT, boolean=True)


def joined(operator: str, parts: list[Cel]) -> Cel:
    """Return the conjunction or disjunction of truth values, or its neutral value if there are none.

    >>> joined("||", [Cel("a"), Cel("b && c", AND)]).text
    'a || (b && c)'
    """
    if not parts:
        return Cel("true" if operator == "&&" else "false", boolean=True)
    if len(parts) == 1:
        return parts[0]
    # CEL reads && before ||, but parentheses spare readers the thought.
    return Cel(f" {operator} ".join(part.within(AND) for part in parts), AND if operator == "&&" else OR, boolean=True)


def literal(value: object) -> str:
    """Return a JSON value without objects in CEL.

    >>> literal(["ready", 1, None])
    "['ready', 1, null]"
    """
    if isinstance(value, str):
        # Not in ASCII: JSON writes a character beyond 16 bits as two escapes, which CEL rejects.
        return "'" + json.dumps(value, ensure_ascii=False)[1:-1].replace("'", "\\'").replace('\\"', '"') + "'"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return json.dumps(value)


def optional_field(key: str) -> str:
    """Return the access to a field that may be absent.

    >>> optional_field("phase"), optional_field("a-b")
    ('.?phase', "[?'a-b']")
    """
    return f".?{key}" if is_name(key) else f"[?{literal(key)}]"


def is_name(text: str) -> bool:
    """Return whether a text is an identifier of CEL."""
    return _NAME.fullmatch(text) is not None and text not in _RESERVED
