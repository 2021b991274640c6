"""Syntax trees back to text."""

import json
import re
from dataclasses import dataclass
from functools import singledispatch

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.precedence import Level, is_enclosing, is_optional_step, level_of

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_LENIENT_STEP = "if . == null then .[]? else .[] end"


def render(node: Node, *, lenient: bool = False) -> str:
    """The canonical text of a tree: ``parse(render(node)) == node`` for every tree that ``parse`` gives.

    It has as few parentheses as jq 1.7, jq 1.8 and gojq need to read it alike. The ``lenient`` text differs
    in one thing: iterating over null yields nothing instead of failing.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> render(parse('.["spec"]|(.replicas//(1))'))
    '.spec | .replicas // 1'
    """
    return Printer(lenient=lenient).show(node)


@dataclass(frozen=True, slots=True)
class Printer:
    """Writes nodes into places."""

    lenient: bool

    def show(self, node: Node, level: Level = Level.QUERY, *, last: bool | None = None) -> str:
        """The text of a node in a place that requires a level.

        ``last`` means that the place is the end of its query, where an enclosing node needs no parentheses.
        """
        last = level is Level.QUERY if last is None else last
        if level_of(node) < level and not (last and is_enclosing(node)):
            return f"({self.show(node)})"
        if isinstance(node, ast.Comma):
            left = self.show(node.left, Level.COMMA, last=False)
            return f"{left}, {self.show(node.right, Level.ALTERNATIVE, last=last)}"
        return _write.dispatch(type(node))(node, self)  # one frame less than a call: trees may be deep

    def path(self, target: Node) -> str:
        """The text that a suffix follows; nothing for the identity, whose dot is that of the suffix."""
        if isinstance(target, ast.Identity):
            return ""
        text = self.show(target, Level.TERM)
        return f"({text})" if text.isdecimal() else text

    def value(self, node: Node) -> str:
        """The text of a value of an object, where pipes may stand but commas may not."""
        if isinstance(node, ast.Pipe) and level_of(node) is Level.QUERY:
            return f"{self.show(node.left, Level.ALTERNATIVE)} | {self.value(node.right)}"
        return self.show(node, Level.ALTERNATIVE)

    def infix(self, node: ast.Alternative | ast.Assign | ast.Binary, operator: str) -> str:
        """The text of an operation; only ``//`` may be chained to the right, assignments and comparisons not at all."""
        own = level_of(node)
        chains = own not in (Level.ALTERNATIVE, Level.ASSIGNMENT, Level.COMPARISON)
        left = self.show(node.left, own if chains else Level(own + 1))
        right = self.show(node.right, own if own is Level.ALTERNATIVE else Level(own + 1))
        return f"{left} {operator} {right}"

    def pattern(self, pattern: ast.Pattern) -> str:
        """The text of a destructuring pattern."""
        match pattern:
            case ast.VariablePattern(name):
                return f"${name}"
            case ast.ArrayPattern(elements):
                return f"[{', '.join(map(self.pattern, elements))}]"
            case ast.ObjectPattern(entries):
                return f"{{{', '.join(self._pattern_entry(key, value) for key, value in entries)}}}"

    def key(self, key: Node) -> str:
        """The text of a key, of an object or of a pattern."""
        match key:
            case ast.Literal(str() as name) if _NAME.fullmatch(name):
                return name
            case ast.Literal(str()) | ast.Text():
                return self.show(key)
            case _:
                return f"({self.show(key)})"

    def _pattern_entry(self, key: Node | ast.VariablePattern, value: ast.Pattern) -> str:
        match key, value:
            case ast.VariablePattern(), _:
                return f"{self.pattern(key)}: {self.pattern(value)}"
            case ast.Literal(name), ast.VariablePattern(variable) if name == variable:
                return f"${variable}"
            case _:
                return f"{self.key(key)}: {self.pattern(value)}"


@singledispatch
def _write(node: Node, printer: Printer) -> str:
    """The text of a node without parentheses around it."""
    message = f"{printer} cannot write {node}"
    raise TypeError(message)


@_write.register
def _(
    node: ast.Identity | ast.RecursiveDescent | ast.Literal | ast.Format | ast.Variable | ast.Break, _printer: Printer
) -> str:
    match node:
        case ast.Identity():
            return "."
        case ast.RecursiveDescent():
            return ".."
        case ast.Literal(value):
            return json.dumps(value, ensure_ascii=False)
        case ast.Format(name):
            return f"@{name}"
        case ast.Variable(name):
            return f"${name}"
        case ast.Break(name):
            return f"break ${name}"


@_write.register
def _(node: ast.Text, printer: Printer) -> str:
    parts = (_escaped(part) if isinstance(part, str) else f"\\({printer.show(part)})" for part in node.parts)
    text = f'"{"".join(parts)}"'
    return f"@{node.format} {text}" if node.format else text


@_write.register
def _(node: ast.Call, printer: Printer) -> str:
    arguments = "; ".join(map(printer.show, node.arguments))
    return f"{node.name}({arguments})" if arguments else node.name


@_write.register
def _(node: ast.Index, printer: Printer) -> str:
    path = printer.path(node.target)
    match node.key:
        case ast.Literal(str() as name) if _NAME.fullmatch(name):
            return f"{path}.{name}"
        case key:
            return f"{path or '.'}[{printer.show(key)}]"


@_write.register
def _(node: ast.Slice, printer: Printer) -> str:
    start, stop = (printer.show(bound) if bound else "" for bound in (node.start, node.stop))
    return f"{printer.path(node.target) or '.'}[{start}:{stop}]"


@_write.register
def _(node: ast.Iterate, printer: Printer) -> str:
    path = printer.path(node.target)
    if not printer.lenient:
        return f"{path or '.'}[]"
    return f"({path} | {_LENIENT_STEP})" if path else _LENIENT_STEP


@_write.register
def _(node: ast.Try, printer: Printer) -> str:
    match node:
        case ast.Try(body, Node() as handler):
            return f"try {printer.show(body, Level.PREFIX)} catch {printer.show(handler, Level.PREFIX)}"
        case ast.Try(ast.Iterate(ast.Identity())):
            return ".[]?"
        case ast.Try(ast.Index() | ast.Slice() | ast.Iterate() as step) if not is_optional_step(node):
            # To jq a `?` right behind a step covers neither what stands before that nor its key.
            return f"({printer.show(step)})?"
        case _:
            return f"{printer.show(node.body, Level.TERM)}?"


@_write.register
def _(node: ast.Array, printer: Printer) -> str:
    return f"[{printer.show(node.body) if node.body else ''}]"


@_write.register
def _(node: ast.Object, printer: Printer) -> str:
    entries = ", ".join(_entry(entry, printer) for entry in node.entries)
    return f"{{{entries}}}"


@_write.register
def _(node: ast.If, printer: Printer) -> str:
    branches = (f"if {printer.show(test)} then {printer.show(result)} " for test, result in node.branches)
    otherwise = f"else {printer.show(node.otherwise)} " if node.otherwise else ""
    return f"{'el'.join(branches)}{otherwise}end"


@_write.register
def _(node: ast.Reduce, printer: Printer) -> str:
    head = f"reduce {printer.show(node.source, Level.TERM)} as {printer.pattern(node.pattern)}"
    return f"{head} ({printer.show(node.init)}; {printer.show(node.update)})"


@_write.register
def _(node: ast.Foreach, printer: Printer) -> str:
    head = f"foreach {printer.show(node.source, Level.TERM)} as {printer.pattern(node.pattern)}"
    parts = (node.init, node.update, node.extract)
    return f"{head} ({'; '.join(printer.show(part) for part in parts if part)})"


@_write.register
def _(node: ast.Negate, printer: Printer) -> str:
    return f"-{printer.show(node.body, Level.PREFIX)}"


@_write.register
def _(node: ast.Binary | ast.Assign, printer: Printer) -> str:
    return printer.infix(node, node.operator)


@_write.register
def _(node: ast.Alternative, printer: Printer) -> str:
    return printer.infix(node, "//")


@_write.register
def _(node: ast.Pipe, printer: Printer) -> str:
    if level_of(node) is Level.TERM:
        step = printer.show(node.right)
        return printer.path(node.left) + (step[1:] if step.startswith(".[") else step)
    return f"{printer.show(node.left, Level.COMMA)} | {printer.show(node.right)}"


@_write.register
def _(node: ast.Bind, printer: Printer) -> str:
    patterns = " ?// ".join(map(printer.pattern, node.patterns))
    return f"{printer.show(node.source, Level.TERM)} as {patterns} | {printer.show(node.body)}"


@_write.register
def _(node: ast.Define, printer: Printer) -> str:
    params = f"({'; '.join(node.params)})" if node.params else ""
    return f"def {node.name}{params}: {printer.show(node.definition)}; {printer.show(node.body)}"


@_write.register
def _(node: ast.Label, printer: Printer) -> str:
    return f"label ${node.name} | {printer.show(node.body)}"


@_write.register
def _(node: ast.Import, printer: Printer) -> str:
    name = f" as {node.name}" if node.name else ""
    metadata = f" {printer.show(node.metadata)}" if node.metadata else ""
    path = json.dumps(node.path, ensure_ascii=False)
    return f"{'import' if node.name else 'include'} {path}{name}{metadata}; {printer.show(node.body)}"


def _entry(entry: ast.Entry, printer: Printer) -> str:
    key = printer.key(entry.key)
    match entry:
        case ast.Entry(ast.Variable(name)) if name != "__loc__":
            return f"${name}: {printer.value(entry.value)}"
        case ast.Entry(ast.Literal(str() as name), ast.Index(ast.Identity(), ast.Literal(str() as read))) if (
            name == read
        ):
            return key
        case ast.Entry(ast.Literal(name), ast.Variable(variable)) if name == variable:
            return f"${variable}"
        case _:
            return f"{key}: {printer.value(entry.value)}"


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
