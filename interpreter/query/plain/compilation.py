"""Plain expressions, compiled to closures and run in this process.

The results are libjq's, with these differences. The first one is on purpose, some follow gojq, which definitions
are written for, and the others keep the work of an expression bounded by its input:

- ``.[]`` over null gives nothing instead of an error: a control plane holds objects without defaults.
- Objects are read and printed in the order of their keys (gojq).
- Computed numbers are normalised: 1.0 is 1, -0 is 0, integers beyond 2**53 are rounded to a double (gojq), and
  they are printed in gojq's format. A number that is only passed on stays as it is.
- A result beyond the range of a double is an error: JSON has no infinity. ``tonumber`` reads no ``nan``.
- ``*`` multiplies numbers only, without repeating strings and merging objects.
- ``.[array]`` does not search; ``flatten(depth)``, ``abs`` and ``reverse`` refuse inputs of a wrong type that
  libjq lets through by chance.
- ``test`` reads its pattern as RE2 does (gojq); see `interpreter.query.plain.regex`.
- Arrays and objects of more than 10,000 elements are not iterated over, ``contains`` makes at most 10,000
  comparisons, and ``test`` reads at most 4096 characters.
"""

from functools import singledispatch
from typing import Final

from interpreter.query.grammar.syntax import (
    Alternative,
    Array,
    Binary,
    Call,
    Comma,
    Identity,
    If,
    Index,
    Iterate,
    Literal,
    Negate,
    Node,
    Object,
    Pipe,
    Slice,
    Text,
    Try,
    Variable,
)
from interpreter.query.plain import filters, functions
from interpreter.query.plain.access import fields, item, part, present_elements, slices
from interpreter.query.plain.arithmetic import OPERATORS
from interpreter.query.plain.filters import IDENTITY, Filter, constant, pipe, single
from interpreter.query.plain.given import given
from interpreter.query.plain.strings import matches
from interpreter.query.plain.values import is_number, normal

_ITERATION: Final = Filter(present_elements)


@singledispatch
def compile_plain(node: Node) -> Filter:
    """Compile an expression that vetting calls plain; ValueError for any other.

    >>> from interpreter.query.grammar.parser import parse
    >>> list(compile_plain(parse(".a[] | .b // 1")).many({"a": [{"b": 2}, {}]}))
    [2, 1]
    """
    raise ValueError(f"{type(node).__name__} is not plain")


@compile_plain.register
def _(_node: Identity) -> Filter:
    return IDENTITY


@compile_plain.register
def _(node: Literal) -> Filter:
    return constant(normal(node.value) if is_number(node.value) else node.value)


@compile_plain.register
def _(node: Index) -> Filter:
    match node.key:
        case Literal(str()):
            target, names = split_path(node)
            return pipe(compile_plain(target), fields(names))
        case Literal(key):
            return pipe(compile_plain(node.target), single(lambda value: item(value, key)))
        case key:
            return filters.binary(item, compile_plain(node.target), compile_plain(key))


@compile_plain.register
def _(node: Variable) -> Filter:
    return single(lambda _: given(node.name))


def split_path(node: Node) -> tuple[Node, tuple[str, ...]]:
    """What the fields at the end of a path are fields of, and their names."""
    names: tuple[str, ...] = ()
    while isinstance(node, Index) and isinstance(node.key, Literal) and isinstance(node.key.value, str):
        names = (node.key.value, *names)
        node = node.target
    return node, names


@compile_plain.register
def _(node: Slice) -> Filter:
    target = compile_plain(node.target)
    match node.start, node.stop:
        case ((None | Literal() as start), (None | Literal() as stop)):
            low, high = start and start.value, stop and stop.value
            return pipe(target, single(lambda value: part(value, low, high)))
        case start, stop:
            return slices(target, *(compile_plain(bound or Literal(None)) for bound in (start, stop)))


@compile_plain.register
def _(node: Iterate) -> Filter:
    return pipe(compile_plain(node.target), _ITERATION)


@compile_plain.register
def _(node: Pipe) -> Filter:
    return pipe(compile_plain(node.left), compile_plain(node.right))


@compile_plain.register
def _(node: Comma) -> Filter:
    return filters.comma(compile_plain(node.left), compile_plain(node.right))


@compile_plain.register
def _(node: Alternative) -> Filter:
    return filters.alternative(compile_plain(node.left), compile_plain(node.right))


@compile_plain.register
def _(node: Binary) -> Filter:
    left, right = compile_plain(node.left), compile_plain(node.right)
    if node.operator in ("and", "or"):
        return filters.logic(conjunction=node.operator == "and", left=left, right=right)
    return filters.binary(OPERATORS[node.operator], left, right)


@compile_plain.register
def _(node: Negate) -> Filter:
    return filters.negated(compile_plain(node.body))


@compile_plain.register
def _(node: If) -> Filter:
    result = IDENTITY if node.otherwise is None else compile_plain(node.otherwise)
    for condition, then in reversed(node.branches):
        result = filters.conditional(compile_plain(condition), compile_plain(then), result)
    return result


@compile_plain.register
def _(node: Try) -> Filter:
    if node.handler is not None:
        raise ValueError("a handler is not plain")
    return filters.attempt(compile_plain(node.body))


@compile_plain.register
def _(node: Array) -> Filter:
    return constant([]) if node.body is None else filters.collect(compile_plain(node.body))


@compile_plain.register
def _(node: Object) -> Filter:
    entries = [(compile_plain(entry.key), compile_plain(entry.value)) for entry in node.entries]
    return filters.construct(entries)


@compile_plain.register
def _(node: Text) -> Filter:
    if node.format is not None:
        raise ValueError("a format is not plain")
    parts = [constant(piece) if isinstance(piece, str) else compile_plain(piece) for piece in node.parts]
    return filters.text(parts)


@compile_plain.register
def _(node: Call) -> Filter:
    match node.name, node.arguments:
        case "error", (Literal(str() as message),):
            return filters.failure(message)
        case "test", (Literal(str() as pattern),):
            return single(lambda value: matches(value, pattern, ""))
        case "test", (Literal(str() as pattern), Literal(None | str() as flags)):
            return single(lambda value: matches(value, pattern, flags or ""))
        case name, () if name in functions.VALUES:
            return single(functions.VALUES[name])
        case name, (argument,) if name in functions.ARGUMENTS:
            return filters.binary(functions.ARGUMENTS[name], IDENTITY, compile_plain(argument))
        case name, arguments if (name, len(arguments)) in functions.FILTERS:
            return functions.FILTERS[name, len(arguments)](*map(compile_plain, arguments))
    raise ValueError(f"{node.name}/{len(node.arguments)} is not plain")
