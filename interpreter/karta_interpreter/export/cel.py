"""jq in CEL (Common Expression Language), as far as health checks need it: paths, defaults, comparisons, conditions.

Each expression has one value here, because CEL has no streams. An expression that may have several values is written
only if a list takes them all: in ``[...]``, ``any`` and ``all``. An absent field is null in jq. CEL reads it as an
optional (``status.?phase.orValue(null)``), and fails if the first field of the object is missing.
"""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from karta_interpreter.base.errors import ExportError
from karta_interpreter.export.traits import unsupported
from karta_interpreter.languages.jq import OutputKind, Singles, render, result_of, syntax as ast, terms_of

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = "as break const continue else false for function if import in let loop namespace null package return true var"
_RESERVED = frozenset([*_WORDS.split(), "void", "while"])

# How strongly the outermost operator of a text binds.
CHOICE, OR, AND, COMPARISON, SUM, NOT, ATOM = range(7)

_ELEMENTS = ("e", "f", "g")
_QUANTIFIERS = {"any": "exists", "all": "all"}
# Functions with literals as arguments, by name and number of arguments.
_CALLS = {
    ("ascii_downcase", 0): "{}.lowerAscii()",
    ("contains", 1): "{}.contains({})",
    ("endswith", 1): "{}.endsWith({})",
    ("split", 1): "{}.split({})",
    ("startswith", 1): "{}.startsWith({})",
    ("test", 1): "{}.matches({})",
}
_OPERATORS = {"and": "&&", "or": "||"}
_RESULTS = {bool: OutputKind.BOOLEAN, int: OutputKind.NUMBER, float: OutputKind.NUMBER}


class Cel(NamedTuple):
    """A text in CEL."""

    text: str
    binds: int = ATOM
    """The strength of its outermost operator."""
    result: OutputKind = OutputKind.ANY
    """The kind of its value, if that is a number or a boolean in any case."""
    optional: str = ""
    """The same value before its default, if it has one."""
    default: str = ""
    """That default, if it is a literal."""
    elements: str = ""
    """The list to iterate over, if that is not the value itself: CEL has no elements of null."""

    def within(self, binds: int) -> str:
        """Return the text as an operand of an operator of that strength."""
        return self.text if self.binds > binds else f"({self.text})"


OBJECT = Cel("")
"""The object itself. Its fields are variables of CEL."""


def cel(node: ast.Node, dot: Cel = OBJECT) -> Cel:
    """Return the value of an expression for an input in CEL. Raises ExportError if CEL cannot express it.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> cel(parse('.status.conditions | any(.[]?; .type == "Ready")')).text
    "status.?conditions.orValue([]).exists(e, e.?type.orValue(null) == 'Ready')"
    """
    return _CelWriter().value(node, dot)


class _CelWriter(NamedTuple):
    """Writes expressions inside of so many lists."""

    depth: int = 0

    def value(self, node: ast.Node, dot: Cel) -> Cel:  # noqa: C901, PLR0911, PLR0912 - one case for each construct
        """Return the one value of an expression."""
        match node:
            case ast.Identity() if dot.text:
                return dot
            case ast.Literal(value):
                return Cel(literal(value), result=_RESULTS.get(type(value), OutputKind.ANY))
            case ast.Object(()):
                return Cel("{}")
            case ast.Array(body):
                return Cel(self._list(body, dot))
            case ast.Index(target, ast.Literal(str(key))):
                return _field(dot if target == ast.Identity() else self.value(target, dot), key)
            case ast.Pipe(left, right):
                return self.value(right, self.value(left, dot))
            case ast.Alternative(left, right):
                return self._alternative(node, self.value(left, dot), self.value(right, dot))
            case ast.Binary("and" | "or" as operator, left, right):
                return joined(_OPERATORS[operator], [truth(self.value(side, dot)) for side in (left, right)])
            case ast.Binary("==" | "!=" as operator, ast.Binary("-", left, right), ast.Array(None)):
                element, whole = _ELEMENTS[self.depth], _as_list(self.value(right, dot))
                contained = f"{_as_list(self.value(left, dot))}.all({element}, {element} in {whole})"
                return Cel(contained if operator == "==" else f"!{contained}", NOT, OutputKind.BOOLEAN)
            case ast.Binary("<" | "<=" | ">" | ">=" as operator, left, right):
                return _ordered(node, operator, self.value(left, dot), self.value(right, dot))
            case ast.Binary("==" | "!=" as operator, left, right) if _is_literal(right):
                return is_one(self.value(left, dot), [self.value(right, dot).text], operator)
            case ast.Binary("==" | "!=" as operator, left, right):
                return _comparison(self.value(left, dot), operator, self.value(right, dot).within(COMPARISON))
            case ast.Binary("+" | "-" as operator, left, right):
                first, second = self.value(left, dot), self.value(right, dot)
                if first.result is second.result is OutputKind.NUMBER:
                    return Cel(f"{first.within(SUM)} {operator} {second.within(SUM)}", SUM, OutputKind.NUMBER)
            case ast.If(branches, otherwise) if otherwise:
                choice = self.value(otherwise, dot)
                for condition, then in reversed(branches):
                    choice = _choice(truth(self.value(condition, dot)), self.value(then, dot), choice)
                return choice
            case ast.FunctionCall():
                return self._call(node, dot)
        raise _unsupported(node)

    def _alternative(self, node: ast.Alternative, first: Cel, second: Cel) -> Cel:
        if first.optional and _is_literal(node.right) and node.right != ast.Literal(None):
            text = f"{first.optional}.orValue({second.text})"
            return Cel(text, result=second.result, optional=first.optional, default=second.text)
        if isinstance(node.right, ast.Array):
            raise _unsupported(node)
        choice = _choice(Cel(f"{first.within(COMPARISON)} in [null, false]", COMPARISON), second, first)
        return choice._replace(result=second.result) if second.result is OutputKind.NUMBER else choice

    def _call(self, node: ast.FunctionCall, dot: Cel) -> Cel:
        match node.name, node.arguments:
            case (("any" | "all" as name), (source, condition)):
                return self._quantified(name, self._elements(source, dot), condition)
            case _ if dot == OBJECT:
                pass
            case (("any" | "all" as name), (condition,)):
                return self._quantified(name, _as_list(dot), condition)
            case "not", ():
                return negation(truth(dot))
            case "length", ():
                return Cel(f"size({_as_list(dot)})", result=OutputKind.NUMBER)
            case "IN", (choices,) if all(map(_is_literal, terms_of(choices))):
                return is_one(dot, [self.value(choice, dot).text for choice in terms_of(choices)])
            case "IN", (choices,):
                return _comparison(dot, "in", self._list(choices, dot))
            case name, arguments if all(isinstance(argument, ast.Literal) for argument in arguments):
                if written := _CALLS.get((name, len(arguments))):
                    texts = [self.value(argument, dot).text for argument in arguments]
                    return Cel(written.format(dot.within(NOT), *texts), result=result_of(node))
        raise _unsupported(node)

    def _quantified(self, name: str, elements: str, condition: ast.Node) -> Cel:
        return Cel(self._loop(elements, _QUANTIFIERS[name], condition), result=OutputKind.BOOLEAN)

    def _loop(self, elements: str, macro: str, body: ast.Node) -> str:
        if self.depth == len(_ELEMENTS):
            raise ExportError("there are lists in lists in lists in lists")
        name = _ELEMENTS[self.depth]
        inner = _CelWriter(self.depth + 1).value(body, Cel(name))
        return f"{elements}.{macro}({name}, {inner.text if macro == 'map' else truth(inner).text})"

    def _list(self, body: ast.Node | None, dot: Cel) -> str:
        terms = terms_of(body) if body else []
        if body and all(term in Singles() for term in terms):
            return f"[{', '.join(self.value(term, dot).text for term in terms)}]"
        return self._elements(body, dot) if body else "[]"

    def _elements(self, node: ast.Node, dot: Cel) -> str:
        """Return the list of all values of an expression that begins with an iteration."""
        match node:
            case ast.Try(body, None):
                return self._elements(body, dot)
            case ast.Iterate(target):
                return _as_list(self.value(target, dot))
            case ast.Pipe(left, ast.Pipe(middle, right)):
                return self._elements(ast.Pipe(ast.Pipe(left, middle), right), dot)
            case ast.Pipe(left, right) if left in Singles():
                return self._elements(right, self.value(left, dot))
            case ast.Pipe(left, ast.FunctionCall("select", (condition,))):
                return self._loop(self._elements(left, dot), "filter", condition)
            case ast.Pipe(left, right):
                return self._loop(self._elements(left, dot), "map", right)
            case ast.Index(target, ast.Literal(str()) as key):
                return self._loop(self._elements(target, dot), "map", ast.Index(ast.Identity(), key))
        raise _unsupported(node)


def _field(whole: Cel, key: str) -> Cel:
    if whole == OBJECT:
        if not _is_name(key):
            raise ExportError(f'the field "{key}" is not a name in CEL')
        return Cel(key)
    before = whole.optional if whole.optional and not whole.default else whole.within(NOT)
    optional = f"{before}.?{key}" if _is_name(key) else f"{before}[?{literal(key)}]"
    return Cel(f"{optional}.orValue(null)", optional=optional)


def _choice(condition: Cel, then: Cel, otherwise: Cel) -> Cel:
    text = f"{condition.within(CHOICE)} ? {then.within(CHOICE)} : {otherwise.within(CHOICE)}"
    elements = f"({condition.within(CHOICE)} ? {_as_list(then)} : {_as_list(otherwise)})"
    return Cel(text, CHOICE, then.result if then.result is otherwise.result else OutputKind.ANY, elements=elements)


def _comparison(first: Cel, operator: str, second: str) -> Cel:
    return Cel(f"{first.within(COMPARISON)} {operator} {second}", COMPARISON, OutputKind.BOOLEAN)


def _ordered(node: ast.Node, operator: str, first: Cel, second: Cel) -> Cel:
    """Compare numbers, and fields that are numbers or absent: CEL does not order null, which jq has first."""
    if operator.startswith(">"):
        first, second = second, first
    less = operator.replace(">", "<")
    comparison = _comparison(first, less, second.within(COMPARISON))
    guards = [(first, "==", "||"), (second, "!=", "&&")]
    for side, relation, joint in guards if less == "<" else reversed(guards):
        if side.result is not OutputKind.NUMBER:
            if not side.optional:
                raise unsupported(node, "CEL orders only numbers, and fields that hold them")
            comparison = joined(joint, [_comparison(side, relation, "null"), comparison])
    return comparison


def is_one(value: Cel, choices: Sequence[str], operator: str = "==") -> Cel:
    """Return whether a value is one of some literals, or with ``!=`` whether it is none of them.

    jq treats a null like an absent field. To CEL a null is a value, and does not take a default.
    """
    if value.default and value.result is not OutputKind.BOOLEAN:
        choices = ["null", *choices] if value.default in choices else choices
        value = Cel(f"{value.optional}.orValue(null)")
    if len(choices) == 1:
        return _comparison(value, operator, choices[0])
    comparison = _comparison(value, "in", f"[{', '.join(choices)}]")
    return comparison if operator == "==" else negation(comparison)


def _as_list(value: Cel) -> str:
    if value.text == literal(None):
        return "[]"
    return (
        f"{value.optional}.orValue([])" if value.optional and not value.default else value.elements or value.within(NOT)
    )


def _unsupported(node: ast.Node) -> ExportError:
    return ExportError(f"`{render(node)}` cannot be written in CEL")


def _is_literal(node: ast.Node) -> bool:
    return isinstance(node, ast.Literal) or node == ast.Array(None)


def truth(value: Cel) -> Cel:
    """Return whether jq takes a value for true: everything but null and false."""
    if value.result is OutputKind.BOOLEAN:
        return value
    return Cel(f"!({value.text} in [null, false])", NOT, OutputKind.BOOLEAN)


def negation(value: Cel) -> Cel:
    """Return the opposite of a truth value."""
    return Cel(f"!{value.within(NOT - 1)}", NOT, OutputKind.BOOLEAN)


def joined(operator: str, operands: Sequence[Cel]) -> Cel:
    """Return the conjunction or disjunction of truth values, or its neutral value if there are none.

    >>> joined("||", [Cel("a"), Cel("b && c", AND)]).text
    'a || (b && c)'
    """
    if not operands:
        return Cel("true" if operator == "&&" else "false", result=OutputKind.BOOLEAN)
    if len(operands) == 1:
        return operands[0]
    level = AND if operator == "&&" else OR
    # CEL reads && before ||, but parentheses spare readers the thought.
    text = f" {operator} ".join(operand.text if operand.binds == level else operand.within(AND) for operand in operands)
    return Cel(text, level, OutputKind.BOOLEAN)


def literal(value: object) -> str:
    """Return a JSON value without lists and objects in CEL.

    >>> literal("ready"), literal(1), literal(None)
    ("'ready'", '1', 'null')
    """
    if not isinstance(value, str):
        return json.dumps(value)
    # Not in ASCII: JSON writes a character beyond 16 bits as two escapes, which CEL rejects.
    return "'" + json.dumps(value, ensure_ascii=False)[1:-1].replace("'", "\\'").replace('\\"', '"') + "'"


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text not in _RESERVED
