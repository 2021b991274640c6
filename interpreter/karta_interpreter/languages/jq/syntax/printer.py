"""Syntax trees back to text."""

import json
import re
from functools import partial

from msgspec import Struct

from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.syntax.precedence import UNCHAINED, Precedence, is_optional_step, level_of

_quoted = partial(json.dumps, ensure_ascii=False)
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_LENIENT_STEP = "if . == null then .[]? else .[] end"
# Nodes that absorb everything after their text, as the body of ``def``.
_ENCLOSING = ast.Bind | ast.Define | ast.Label


def render(node: ast.Node, *, lenient: bool = False) -> str:
    """Return the canonical text of a tree: ``parse(render(node)) == node`` for every tree that ``parse`` returns.

    It has as few parentheses as jq 1.7, jq 1.8 and gojq need to read it alike. The ``lenient`` text differs
    in one thing: iterating over null yields nothing instead of failing.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> render(parse('.["spec"]|(.replicas//(1))'))
    '.spec | .replicas // 1'
    """
    return _Printer(lenient=lenient).show(node)


class _Printer(Struct, frozen=True):
    lenient: bool

    def show(self, node: ast.Node | None, level: Precedence = Precedence.QUERY, *, last: bool | None = None) -> str:
        """Return the text of a node in a place that requires a level, or an empty text for no node.

        ``last`` means that the place is the end of its query. An enclosing node needs no parentheses there.
        """
        if node is None:
            return ""
        last = level is Precedence.QUERY if last is None else last
        if level_of(node) < level and not (last and isinstance(node, _ENCLOSING)):
            return f"({self.show(node)})"
        if isinstance(node, ast.Comma):
            left = self.show(node.left, Precedence.COMMA, last=False)
            return f"{left}, {self.show(node.right, Precedence.ALTERNATIVE, last=last)}"
        return self._term(node) or self._compound(node)

    def _term(self, node: ast.Node) -> str:  # noqa: C901, PLR0911, PLR0912 - one case for each construct
        """Return the text of a value, a step, a call or a construct in brackets, empty for anything else."""
        show = self.show
        match node:
            case ast.Identity():
                return "."
            case ast.RecursiveDescent():
                return ".."
            case ast.Literal(value):
                return _quoted(value)
            case ast.Format(name):
                return f"@{name}"
            case ast.Variable(name):
                return f"${name}"
            case ast.Break(name):
                return f"break ${name}"
            case ast.Text(parts, name):
                text = "".join(
                    _quoted(piece)[1:-1] if isinstance(piece, str) else f"\\({show(piece)})" for piece in parts
                )
                return f'@{name} "{text}"' if name else f'"{text}"'
            case ast.FunctionCall(name, arguments):
                return f"{name}({'; '.join(map(show, arguments))})" if arguments else name
            case ast.Index(target, ast.Literal(str() as name)) if _NAME.fullmatch(name):
                return f"{self._path(target)}.{name}"
            case ast.Index(target, key):
                return f"{self._path(target) or '.'}[{show(key)}]"
            case ast.Slice(target, start, stop):
                return f"{self._path(target) or '.'}[{show(start)}:{show(stop)}]"
            case ast.Iterate(ast.Identity()) if self.lenient:
                return _LENIENT_STEP
            case ast.Iterate(target):
                return f"({self._path(target)} | {_LENIENT_STEP})" if self.lenient else f"{self._path(target) or '.'}[]"
            case ast.Try(body, ast.Node() as handler):
                return f"try {show(body, Precedence.PREFIX)} catch {show(handler, Precedence.PREFIX)}"
            case ast.Try(ast.Iterate(ast.Identity())):
                return ".[]?"
            case ast.Try(ast.Index() | ast.Slice() | ast.Iterate() as step) if not is_optional_step(node):
                # In jq a `?` right behind a step covers neither the text before the step nor its key.
                return f"({show(step)})?"
            case ast.Try(body):
                return f"{show(body, Precedence.TERM)}?"
            case ast.Array(body):
                return f"[{show(body)}]"
            case ast.Object(entries):
                return f"{{{', '.join(map(self._entry, entries))}}}"
        return ""

    def _compound(self, node: ast.Node) -> str:  # noqa: C901, PLR0911 - one case for each construct
        """Return the text of an expression that joins others by operators or words."""
        show = self.show
        match node:
            case ast.If(branches, otherwise):
                tests = "el".join(f"if {show(test)} then {show(result)} " for test, result in branches)
                return f"{tests}else {show(otherwise)} end" if otherwise else f"{tests}end"
            case ast.Negate(body):
                return f"-{show(body, Precedence.PREFIX)}"
            case ast.Binary(operator) | ast.Assign(operator):
                return self._infix(node, operator)
            case ast.Alternative():
                return self._infix(node, "//")
            case ast.Pipe(left, right) if level_of(node) is Precedence.TERM:
                text = show(right)
                return self._path(left) + (text[1:] if text.startswith(".[") else text)
            case ast.Pipe(left, right):
                return f"{show(left, Precedence.COMMA)} | {show(right)}"
            case ast.Reduce(source, pattern, init, update):
                return f"reduce {self._bound(source, pattern)} ({show(init)}; {show(update)})"
            case ast.Foreach(source, pattern, init, update, extract):
                steps = "; ".join(show(step) for step in (init, update, extract) if step)
                return f"foreach {self._bound(source, pattern)} ({steps})"
            case ast.Bind(source, patterns, body):
                return f"{self._bound(source, *patterns)} | {show(body)}"
            case ast.Define(name, params, definition, body):
                head = f"{name}({'; '.join(params)})" if params else name
                return f"def {head}: {show(definition)}; {show(body)}"
            case ast.Label(name, body):
                return f"label ${name} | {show(body)}"
        raise TypeError(node)

    def _path(self, target: ast.Node) -> str:
        """Return the text before a suffix. It is empty for the identity, because the suffix has the dot."""
        if isinstance(target, ast.Identity):
            return ""
        text = self.show(target, Precedence.TERM)
        # `1.a` would begin with the number `1.`, and gojq takes `1.5.a` for one number.
        return f"({text})" if text[0].isdecimal() else text

    def _infix(self, node: ast.Alternative | ast.Assign | ast.Binary, operator: str) -> str:
        """Return the text of an operation.

        Only ``//`` chains to the right, assignments and comparisons do not chain at all.
        """
        own_level = level_of(node)
        leans_right = own_level is Precedence.ALTERNATIVE
        left = self.show(node.left, Precedence(own_level + 1) if leans_right or own_level in UNCHAINED else own_level)
        return f"{left} {operator} {self.show(node.right, own_level if leans_right else Precedence(own_level + 1))}"

    def _bound(self, source: ast.Node, *patterns: ast.Pattern) -> str:
        return f"{self.show(source, Precedence.TERM)} as {' ?// '.join(map(self._pattern, patterns))}"

    def _pattern(self, pattern: ast.Pattern) -> str:
        match pattern:
            case ast.VariablePattern(name):
                return f"${name}"
            case ast.ArrayPattern(elements):
                return f"[{', '.join(map(self._pattern, elements))}]"
            case ast.ObjectPattern(entries):
                return f"{{{', '.join(self._pattern_entry(key, value) for key, value in entries)}}}"

    def _pattern_entry(self, key: ast.Node | ast.VariablePattern, value: ast.Pattern) -> str:
        match key, value:
            case ast.Literal(name), ast.VariablePattern(variable) if name == variable:
                return f"${variable}"
        return f"{self._key(key) if isinstance(key, ast.Node) else self._pattern(key)}: {self._pattern(value)}"

    def _entry(self, entry: ast.Entry) -> str:
        match entry:
            case ast.Entry(ast.Variable(name), value) if name != "__loc__":
                return f"${name}: {self._value(value)}"
            case ast.Entry(ast.Literal(name), ast.Index(ast.Identity(), ast.Literal(str() as read))) if name == read:
                return self._key(entry.key)
            case ast.Entry(ast.Literal(name), ast.Variable(variable)) if name == variable:
                return f"${variable}"
        return f"{self._key(entry.key)}: {self._value(entry.value)}"

    def _key(self, key: ast.Node) -> str:
        match key:
            case ast.Literal(str() as name) if _NAME.fullmatch(name):
                return name
            case ast.Literal(str()) | ast.Text():
                return self.show(key)
        return f"({self.show(key)})"

    def _value(self, node: ast.Node) -> str:
        """Return the text of a value of an object, which may have pipes but no commas."""
        if isinstance(node, ast.Pipe) and level_of(node) is Precedence.QUERY:
            return f"{self.show(node.left, Precedence.ALTERNATIVE)} | {self._value(node.right)}"
        return self.show(node, Precedence.ALTERNATIVE)
