"""Running a plain expression while keeping track of where each output comes from.

Only constructs that hand a value on are followed; every other one is computed as usual, and its outputs have no
origin. The values are the same as those of `interpreter.query.plain.compilation`, and so is the way in which they are
put together: one where there is always one, else many.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import singledispatch
from itertools import chain, islice
from typing import Final, NamedTuple, TypeAlias

from interpreter.errors import QueryEvaluationError, QueryLimitError, QueryReferenceError
from interpreter.query.grammar.steps import split_path
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
    Node,
    Pipe,
    Try,
)
from interpreter.query.plain.collection import keys
from interpreter.query.plain.compilation import compile_many, compile_one
from interpreter.query.plain.functions import SELECTIONS
from interpreter.query.plain.values import is_number, kind, normal, truthy
from interpreter.query.writing.traced import Traced, new_array, new_entry

Trace: TypeAlias = Callable[[Traced], Iterable[Traced]]


def compile_trace(node: Node) -> Trace:
    """Compile a plain expression to a function that gives its outputs with their origins."""
    return _tracer(node).many


class _Tracer(NamedTuple):
    """What runs an expression.

    ``many`` gives the outputs for an input in order. ``one`` is there for an expression that never gives more or less
    than one, ``terms`` for one that is a list of others: ``a, b, c``.
    """

    many: Trace
    one: Callable[[Traced], Traced] | None = None
    terms: "tuple[_Tracer, ...]" = ()


def _single(one: Callable[[Traced], Traced]) -> _Tracer:
    return _Tracer(lambda here: (one(here),), one)


_IDENTITY: Final = _single(lambda here: here)
_EMPTY: Final = _Tracer(lambda _: ())


@singledispatch
def _tracer(node: Node) -> _Tracer:
    return _untraced(node)


def _untraced(node: Node) -> _Tracer:
    if one := compile_one(node):
        return _single(lambda here: Traced(one(here.value)))
    several = compile_many(node)
    return _Tracer(lambda here: map(Traced, several(here.value)))


@_tracer.register
def _(_node: Identity) -> _Tracer:
    return _IDENTITY


@_tracer.register
def _(node: Literal) -> _Tracer:
    constant = Traced(normal(node.value) if is_number(node.value) else node.value)
    return _single(lambda _: constant)


@_tracer.register
def _(node: Index) -> _Tracer:
    whole, names = split_path(node)
    if names:
        return _piped(_tracer(whole), _single(lambda here: here.field(names)))
    target, several = _tracer(node.target).many, compile_many(node.key)
    return _Tracer(lambda here: (whole.step(key) for key in several(here.value) for whole in target(here)))


@_tracer.register
def _(node: Iterate) -> _Tracer:
    each = _Tracer(lambda here: () if here.value is None else here.elements())
    return _piped(_tracer(node.target), each)


@_tracer.register
def _(node: Pipe) -> _Tracer:
    return _piped(_tracer(node.left), _tracer(node.right))


def _piped(left: _Tracer, right: _Tracer) -> _Tracer:
    if left is _IDENTITY or right is _IDENTITY:
        return right if left is _IDENTITY else left
    before, after, each = left.one, right.one, right.many
    if before and after:
        return _single(lambda here: after(before(here)))
    if before:
        return _Tracer(lambda here: each(before(here)))
    several = left.many
    if after:
        return _Tracer(lambda here: map(after, several(here)))
    return _Tracer(lambda here: chain.from_iterable(map(each, several(here))))


@_tracer.register
def _(node: Comma) -> _Tracer:
    left, right = _tracer(node.left), _tracer(node.right)
    terms = (*(left.terms or (left,)), *(right.terms or (right,)))
    several = [term.many for term in terms]
    return _Tracer(lambda here: (output for term in several for output in term(here)), None, terms)


@_tracer.register
def _(node: Alternative) -> _Tracer:
    left, right = _tracer(node.left), _tracer(node.right)
    ours, otherwise = left.one, right.many
    if ours and (other := right.one):

        def one(here: Traced) -> Traced:
            output = ours(here)
            return other(here).instead_of(output) if _is_missing(output) else output

        return _single(one)
    if ours:

        def optional(here: Traced) -> Iterable[Traced]:
            output = ours(here)
            return (each.instead_of(output) for each in otherwise(here)) if _is_missing(output) else (output,)

        return _Tracer(optional)

    def many(here: Traced) -> Iterator[Traced]:
        missing: list[Traced] = []
        found = False
        for output in left.many(here):
            if _is_missing(output):
                missing.append(output)
            else:
                found = True
                yield output
        if not found:
            alone = missing[0] if len(missing) == 1 else Traced(None)
            yield from (output.instead_of(alone) for output in otherwise(here))

    return _Tracer(many)


def _is_missing(output: Traced) -> bool:
    return output.value is None or output.value is False


@_tracer.register
def _(node: Binary) -> _Tracer:
    if node.operator != "*":
        return _untraced(node)
    left, right = _tracer(node.left), _tracer(node.right)
    if (first := left.one) and (second := right.one):

        def one(here: Traced) -> Traced:
            factor = second(here)
            return first(here).times(factor)

        return _single(one)
    return _Tracer(lambda here: (output.times(factor) for factor in right.many(here) for output in left.many(here)))


@_tracer.register
def _(node: If) -> _Tracer:
    result = _tracer(node.otherwise or Identity())
    for condition, then in reversed(node.branches):
        result = _chosen(condition, _tracer(then), result)
    return result


def _chosen(condition: Node, then: _Tracer, otherwise: _Tracer) -> _Tracer:
    asked = compile_one(condition)
    if asked and (yes := then.one) and (no := otherwise.one):
        return _single(lambda here: (yes if truthy(asked(here.value)) else no)(here))
    some, others = then.many, otherwise.many
    if asked:
        return _Tracer(lambda here: (some if truthy(asked(here.value)) else others)(here))
    answers = compile_many(condition)
    return _Tracer(
        lambda here: (each for answer in answers(here.value) for each in (some if truthy(answer) else others)(here))
    )


@_tracer.register
def _(node: Try) -> _Tracer:
    body = _tracer(node.body).many

    def many(here: Traced) -> Iterator[Traced]:
        try:
            yield from body(here)
        except (QueryLimitError, QueryReferenceError):
            raise
        except QueryEvaluationError:
            return

    return _Tracer(many)


@_tracer.register
def _(node: Array) -> _Tracer:
    body = _tracer(node.body) if node.body else _EMPTY
    terms = [term.many for term in body.terms or (body,)]

    def one(here: Traced) -> Traced:
        found: list[Traced] = []
        for term in terms:
            found += term(here)
        return new_array(found)

    return _single(one)


@_tracer.register
def _(node: Call) -> _Tracer:
    match node.name, node.arguments:
        case "select", (condition,):
            return _chosen(condition, _IDENTITY, _EMPTY)
        case "map", (body,):
            each = _piped(_Tracer(Traced.elements), _tracer(body)).many
            return _single(lambda here: new_array(list(each(here))))
        case "first", (source,):
            several = _tracer(source).many
            return _Tracer(lambda here: islice(several(here), 1))
        case "last", (source,):
            several = _tracer(source).many
            return _Tracer(lambda here: deque(several(here), maxlen=1))
        case name, () if name in _FOLLOWED:
            return _single(_FOLLOWED[name])
        case name, () if name in SELECTIONS:
            kinds = SELECTIONS[name]
            return _Tracer(lambda here: (here,) if kind(here.value) in kinds else ())
    return _untraced(node)


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
