"""Running a plain expression while keeping track of where each output comes from.

Only constructs that hand a value on are followed; every other one is computed as usual, and its outputs have no
origin. The values are the same as those of `interpreter.query.plain.compilation`.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import singledispatch
from itertools import islice
from typing import Final, TypeAlias

from interpreter.errors import QueryEvaluationError, QueryLimitError, QueryReferenceError
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
    Node,
    Pipe,
    Try,
)
from interpreter.query.plain.collection import keys
from interpreter.query.plain.compilation import compile_plain
from interpreter.query.plain.filters import Many
from interpreter.query.plain.functions import SELECTIONS
from interpreter.query.plain.values import kind, truthy
from interpreter.query.writing.traced import Traced, new_array, new_entry

Trace: TypeAlias = Callable[[Traced], Iterable[Traced]]


@singledispatch
def compile_trace(node: Node) -> Trace:
    """Compile a plain expression to a function that gives its outputs with their origins."""
    return _untraced(compile_plain(node).many)


def _untraced(several: Many) -> Trace:
    return lambda here: map(Traced, several(here.value))


@compile_trace.register
def _(_node: Identity) -> Trace:
    return lambda here: (here,)


@compile_trace.register
def _(node: Index) -> Trace:
    target, keys = compile_trace(node.target), compile_plain(node.key).many

    def trace(here: Traced) -> Iterator[Traced]:
        for key in keys(here.value):
            for whole in target(here):
                yield whole.step(key)

    return trace


@compile_trace.register
def _(node: Iterate) -> Trace:
    target = compile_trace(node.target)

    def trace(here: Traced) -> Iterator[Traced]:
        for whole in target(here):
            if whole.value is not None:
                yield from whole.elements()

    return trace


@compile_trace.register
def _(node: Pipe) -> Trace:
    return _piped(compile_trace(node.left), compile_trace(node.right))


def _piped(left: Trace, right: Trace) -> Trace:
    def trace(here: Traced) -> Iterator[Traced]:
        for between in left(here):
            yield from right(between)

    return trace


@compile_trace.register
def _(node: Comma) -> Trace:
    left, right = compile_trace(node.left), compile_trace(node.right)

    def trace(here: Traced) -> Iterator[Traced]:
        yield from left(here)
        yield from right(here)

    return trace


@compile_trace.register
def _(node: Alternative) -> Trace:
    left, right = compile_trace(node.left), compile_trace(node.right)

    def trace(here: Traced) -> Iterator[Traced]:
        missing: list[Traced] = []
        found = False
        for output in left(here):
            if truthy(output.value):
                found = True
                yield output
            else:
                missing.append(output)
        if not found:
            alone = missing[0] if len(missing) == 1 else Traced(None)
            yield from (output.instead_of(alone) for output in right(here))

    return trace


@compile_trace.register
def _(node: Binary) -> Trace:
    if node.operator != "*":
        return _untraced(compile_plain(node).many)
    left, right = compile_trace(node.left), compile_trace(node.right)

    def trace(here: Traced) -> Iterator[Traced]:
        for factor in right(here):
            for output in left(here):
                yield output.times(factor)

    return trace


@compile_trace.register
def _(node: If) -> Trace:
    result = compile_trace(node.otherwise or Identity())
    for condition, then in reversed(node.branches):
        result = _chosen(compile_plain(condition).many, compile_trace(then), result)
    return result


def _chosen(condition: Many, then: Trace, otherwise: Trace) -> Trace:
    def trace(here: Traced) -> Iterator[Traced]:
        for answer in condition(here.value):
            yield from (then if truthy(answer) else otherwise)(here)

    return trace


@compile_trace.register
def _(node: Try) -> Trace:
    body = compile_trace(node.body)

    def trace(here: Traced) -> Iterator[Traced]:
        try:
            yield from body(here)
        except (QueryLimitError, QueryReferenceError):
            raise
        except QueryEvaluationError:
            return

    return trace


@compile_trace.register
def _(node: Array) -> Trace:
    body = compile_trace(node.body) if node.body else lambda _: ()
    return lambda here: (new_array(list(body(here))),)


@compile_trace.register
def _(node: Call) -> Trace:
    match node.name, node.arguments:
        case "select", (condition,):
            return _chosen(compile_plain(condition).many, lambda here: (here,), lambda _: ())
        case "map", (body,):
            each = _piped(Traced.elements, compile_trace(body))
            return lambda here: (new_array(list(each(here))),)
        case "first", (source,):
            several = compile_trace(source)
            return lambda here: islice(several(here), 1)
        case "last", (source,):
            several = compile_trace(source)
            return lambda here: deque(several(here), maxlen=1)
        case name, () if name in _FOLLOWED:
            followed = _FOLLOWED[name]
            return lambda here: (followed(here),)
        case name, () if name in SELECTIONS:
            kinds = SELECTIONS[name]
            return lambda here: (here,) if kind(here.value) in kinds else ()
    return _untraced(compile_plain(node).many)


def _entries(here: Traced) -> Traced:
    """``to_entries``: each value keeps its origin."""
    return new_array([new_entry(key, here.step(key)) for key in keys(here.value)])


_FOLLOWED: Final[dict[str, Callable[[Traced], Traced]]] = {
    "first": lambda here: here.step(0),
    "last": lambda here: here.step(-1),
    "max": Traced.greatest,
    "min": Traced.least,
    "to_entries": _entries,
    "tonumber": Traced.number,
}
"""Functions without arguments that hand on what they are given."""
