"""Which parts of its input a plain expression reads, and at which of them it may be written.

Both analyses are conservative: a construct other than a path, a choice or a condition counts as reading all of its
input, and it is unknown where it may be written. Both take a time that is linear in the expression's length: if choices
multiply, all of their outputs count as read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from karta_interpreter.base.k8s import Projection
from karta_interpreter.languages.jq import syntax as ast
from karta_interpreter.languages.jq.compiled.functions import Code, function_of
from karta_interpreter.languages.jq.syntax.precedence import split_path
from karta_interpreter.languages.jq.syntax.traversal import variables_in

Projections: TypeAlias = tuple[Projection, ...]

# The most parts of the input that one expression is followed through. Beyond that they count as read whole.
_MOST_OUTPUTS: Final = 32


def project(node: ast.Node, inputs: Projections) -> Projections:
    """Mark the parts that an expression reads to compute its outputs.

    Return the parts that are outputs, unless computed.

    The caller marks the use of the outputs. Parts of variables are marked by the ``variables`` of the first input.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> from karta_interpreter.base.k8s.projection import Projection
    >>> root = Projection()
    >>> [output] = project(parse(".spec.groups[] | select(.on) | .name"), (root,))
    >>> sorted(root.at("spec", "groups").each().fields), output is root.at("spec", "groups").each().at("name")
    (['name', 'on'], True)
    """
    return _Reader(inputs[0].variables if inputs else {}).project(node, inputs)


class _Reader(NamedTuple):
    """Follows an expression, with the projections of the variables of which it matters what is read."""

    variables: Mapping[str, Projection]

    def project(self, node: ast.Node, inputs: Projections) -> Projections:  # noqa: C901, PLR0911, PLR0912 - one case each
        match node:
            case ast.Index(_, ast.Literal(str())):
                target, names = split_path(node)
                return tuple([projection.at(*names) for projection in self.project(target, inputs)])
            case ast.Identity():
                return inputs
            case ast.Pipe(left, right):
                return self.project(right, self.project(left, inputs))
            case ast.Literal() | ast.Array(None):
                return ()
            case ast.Variable(name):
                return (self.variables[name],) if name in self.variables else ()
            case ast.Comma(left, right) | ast.Alternative(left, right):
                return _choices((self.project(left, inputs), self.project(right, inputs)))
            case ast.Index(target, ast.Literal(int())):
                return _elements(self.project(target, inputs))
            case ast.Index(target, key):
                return mark_all(self.project(target, inputs) + self.project(key, inputs))
            case ast.Iterate(target):
                return tuple(projection.each() for projection in self.project(target, inputs))
            case ast.Binary("==" | "!=", operand, ast.Literal(None)) | ast.Binary(
                "==" | "!=", ast.Literal(None), operand
            ):
                # Whether a value is null does not depend on its parts, either.
                self.project(operand, inputs)
                return ()
            case ast.Binary("+" | "*", left, right):
                # A field of merged objects, or an element of joined lists, is one of either operand.
                return _choices((self.project(left, inputs), self.project(right, inputs)))
            case ast.Binary(operator, left, right):
                operands = self.project(left, inputs) + self.project(right, inputs)
                # Whether a value is true does not depend on its parts.
                return () if operator in ("and", "or") else mark_all(operands)
            case ast.If(branches, otherwise):
                for condition, _ in branches:
                    self.project(condition, inputs)
                outputs = [self.project(then, inputs) for _, then in branches]
                return _choices((*outputs, inputs if otherwise is None else self.project(otherwise, inputs)))
            case ast.Try(body, None):
                return self.project(body, inputs)
            case ast.Array(ast.Node() as body):
                return (Built({}, self.project(body, inputs)),)
            case ast.Object(entries):
                return (self._object(entries, inputs),)
            case ast.Text(parts, None):
                return mark_all(
                    projection
                    for piece in parts
                    if isinstance(piece, ast.Node)
                    for projection in self.project(piece, inputs)
                )
            case ast.Bind(source, (ast.VariablePattern(name),), body):
                bound = _joined(self.project(source, inputs))
                return _Reader({**self.variables, name: bound}).project(body, inputs)
            case ast.FunctionCall(("add" | "first" | "last"), ()):
                return _elements(inputs)
            case ast.FunctionCall("to_entries", ()):
                return (Built({}, (Built({"key": (), "value": _elements(inputs)}, ()),)),)
            case ast.FunctionCall("length", ()) if all(isinstance(part, Built) for part in inputs):
                return ()
            case ast.FunctionCall() if function := function_of(node):
                return self._called(node, function.code, inputs)
        return self._whole(node, inputs)

    def _object(self, entries: Sequence[ast.Entry], inputs: Projections) -> Projection:
        named = dict[str, Projections]()
        others: Projections = ()
        for entry in entries:
            value = self.project(entry.value, inputs)
            if isinstance(entry.key, ast.Literal):
                named[str(entry.key.value)] = value
            else:
                mark_all(self.project(entry.key, inputs))
                others += value
        return Built(named, others)

    def _called(
        self, node: ast.FunctionCall, code: Code | tuple[str, ...] | Callable[..., ast.Node], inputs: Projections
    ) -> Projections:
        arguments = node.arguments
        match code:
            case Code.FIRST | Code.LAST:
                return self.project(arguments[0], inputs)
            case Code.IS_EMPTY:
                self.project(arguments[0], inputs)
            case Code.MAP:
                return (Built({}, self.project(arguments[0], _elements(inputs))),)
            case Code.ANY | Code.ALL:
                *source, condition = arguments
                self.project(condition, self.project(source[0], inputs) if source else _elements(inputs))
            case Code.TYPE | Code.NOT | Code.NOTHING | Code.ERROR:
                return ()
            case Code():
                return self._whole(node, inputs)
            case tuple():
                return inputs
            case body:
                return self.project(body(*arguments), inputs)
        return ()

    def _whole(self, node: ast.Node, inputs: Projections) -> Projections:
        """Mark all of the input, and of the variables in an expression."""
        if self.variables:
            for name in variables_in(node) & self.variables.keys():
                self.variables[name].mark()
        return mark_all(inputs)


class Built(Projection):
    """An object or a list that an expression builds. What is read of it is read of the parts that it is built of."""

    __slots__ = ("_named", "_others")

    def __init__(self, named: Mapping[str, Projections], others: Projections) -> None:
        """Take the parts of the fields with known names, and those that may have any name or index."""
        super().__init__()
        self._named, self._others = named, others

    def at(self, *names: str) -> Projection:
        """Return what is at a path of fields."""
        part: Projection = self
        for name in names:
            part = part.part(name) if isinstance(part, Built) else part.at(name)
        return part

    def part(self, name: str) -> Projection:
        """Return what a field is built of."""
        return _joined((*self._named.get(name, ()), *self._others))

    def each(self) -> Projection:
        """Return what all fields or elements are built of."""
        return _joined((*chain.from_iterable(self._named.values()), *self._others))

    def mark(self) -> None:
        """Mark all parts as read."""
        mark_all((*chain.from_iterable(self._named.values()), *self._others))


class _Joined(Projection):
    """A value that may be one of several parts. What is read of it is read of each."""

    __slots__ = ("_parts",)

    def __init__(self, parts: Projections) -> None:
        super().__init__()
        self._parts = parts

    def at(self, *names: str) -> Projection:
        """Return what is at a path of fields."""
        return _joined(tuple(part.at(*names) for part in self._parts))

    def each(self) -> Projection:
        """Return what every element is one of."""
        return _joined(tuple(part.each() for part in self._parts))

    def mark(self) -> None:
        """Mark all parts as read."""
        mark_all(self._parts)


def _joined(parts: Projections) -> Projection:
    return parts[0] if len(parts) == 1 else _Joined(parts)


def _choices(groups: Iterable[Projections]) -> Projections:
    """Return the different parts that the outputs of some expressions are."""
    projections = tuple(dict.fromkeys(chain.from_iterable(groups)))
    return projections if len(projections) <= _MOST_OUTPUTS else mark_all(projections)


def mark_all(projections: Iterable[Projection]) -> Projections:
    """Mark all of some parts as read. Values computed from them are not part of the input."""
    for projection in projections:
        projection.mark()
    return ()


def _elements(projections: Projections) -> Projections:
    return tuple(projection.each() for projection in projections)


_NOTHING: Final = ast.FunctionCall("empty")


def sources(node: ast.Node) -> ast.Node | None:
    """Return an expression for the values at all paths that ``node`` may be written through, and perhaps at others.

    Returns None if the expression does not show them, as for every function that is not named here. That is always
    right.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> from karta_interpreter.languages.jq.syntax.printer import render
    >>> found = sources(parse(".groups[] | (.replicas // 1) * .hosts"))
    >>> found and render(found)
    '.groups[] | .replicas, empty, .hosts'
    """
    match node:
        case _ if _is_path(node):
            return node
        case ast.Literal() | ast.FunctionCall("empty"):
            return _NOTHING
        case ast.Comma(left, right) | ast.Alternative(left, right) | ast.Binary("*", left, right):
            first, last = sources(left), sources(right)
            return ast.Comma(first, last) if first and last else None
        case ast.Array(ast.Node() as body) | ast.Pipe(body, ast.FunctionCall("max" | "min" | "tonumber", ())):
            return sources(body)
        case ast.Pipe(left, right) if _is_path(left):
            last = sources(right)
            return last and ast.Pipe(left, last)
        case ast.If(branches, otherwise):
            conditional = [(condition, sources(then)) for condition, then in branches]
            writable = tuple((condition, source) for condition, source in conditional if source)
            last = sources(otherwise or ast.Identity())
            return ast.If(writable, last) if last and len(writable) == len(conditional) else None
    return None


def _is_path(node: ast.Node) -> bool:
    """Return whether all outputs are values at paths, and not computed."""
    match node:
        case ast.Identity() | ast.FunctionCall("select", (_,)):
            return True
        case ast.Index(target, _) | ast.Iterate(target):
            return _is_path(target)
        case ast.Pipe(left, right):
            return _is_path(left) and _is_path(right)
    return False
