"""Compiled expressions and the ways in which jq puts them together.

Outputs are lazy: the next one is computed when it is asked for. So an error appears exactly where jq has it, and
``first(f)`` or ``any(f; g)`` never sees what comes later. Of two operands the right one is the outer loop.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from interpreter.errors import QueryEvaluationError, QueryLimitError, QueryRaisedError, QueryReferenceError
from interpreter.k8s.values import JSON, type_name
from interpreter.query.plain.arithmetic import negate as negative
from interpreter.query.plain.values import to_text, truthy

One: TypeAlias = Callable[[JSON], JSON]
Many: TypeAlias = Callable[[JSON], Iterable[JSON]]
Operator: TypeAlias = Callable[[JSON, JSON], JSON]


@dataclass(frozen=True, slots=True)
class Filter:
    """An expression ready to run.

    ``many`` gives the outputs for an input in order. Calling it may already run the first step, so it is called
    only when an output is wanted. ``one`` is there for an expression that never gives more or less than one,
    ``terms`` for one that is a list of others: ``a, b, c``.
    """

    many: Many
    one: One | None = None
    terms: tuple["Filter", ...] = ()


def single(one: One) -> Filter:
    """A filter with exactly one output for every input on which it does not fail."""
    return Filter(lambda value: (one(value),), one)


IDENTITY = single(lambda value: value)
EMPTY = Filter(lambda _: ())


def constant(result: JSON) -> Filter:
    """A filter that always gives the same output."""
    return single(lambda _: result)


def failure(message: str) -> Filter:
    """A filter that fails on every input, with the words of the definition's author."""

    def one(_: JSON) -> JSON:
        raise QueryRaisedError(message)

    return single(one)


def pipe(left: Filter, right: Filter) -> Filter:
    """``left | right``, every output of ``right`` for every one of ``left``."""
    if left is IDENTITY or right is IDENTITY:
        return right if left is IDENTITY else left
    before, after, each = left.one, right.one, right.many
    if before and after:
        return single(lambda value: after(before(value)))
    if before:
        return Filter(lambda value: each(before(value)))
    several = left.many
    if after:
        return Filter(lambda value: map(after, several(value)))
    return Filter(lambda value: chain.from_iterable(map(each, several(value))))


def comma(left: Filter, right: Filter) -> Filter:
    """``left, right``, one after the other."""
    terms = (*(left.terms or (left,)), *(right.terms or (right,)))
    several = [term.many for term in terms]

    def many(value: JSON) -> Iterator[JSON]:
        for term in several:
            yield from term(value)

    return Filter(many, terms=terms)


def alternative(left: Filter, right: Filter) -> Filter:
    """``left // right``: the true outputs of ``left``, or ``right`` when there is none.

    Errors of ``left`` are errors, and a generator on the left falls back once, not per element.
    """
    ours, otherwise = left.one, right.many
    if ours and (other := right.one):

        def one(value: JSON) -> JSON:
            result = ours(value)
            return other(value) if result is None or result is False else result

        return single(one)
    if ours:

        def optional(value: JSON) -> Iterable[JSON]:
            result = ours(value)
            return otherwise(value) if result is None or result is False else (result,)

        return Filter(optional)

    def many(value: JSON) -> Iterator[JSON]:
        found = False
        for result in left.many(value):
            if truthy(result):
                found = True
                yield result
        if not found:
            yield from otherwise(value)

    return Filter(many)


def binary(operator: Operator, left: Filter, right: Filter) -> Filter:
    """An operator, or a function of the input and one argument, on every pair of outputs."""
    if (first := left.one) and (second := right.one):

        def one(value: JSON) -> JSON:
            other = second(value)
            return operator(first(value), other)

        return single(one)

    def many(value: JSON) -> Iterator[JSON]:
        for other in right.many(value):
            for own in left.many(value):
                yield operator(own, other)

    return Filter(many)


def logic(*, conjunction: bool, left: Filter, right: Filter) -> Filter:
    """``left and right`` or ``left or right``; the left one is asked first and may decide alone."""
    if (first := left.one) and (second := right.one):

        def one(value: JSON) -> JSON:
            own = first(value)
            if (own is not None and own is not False) is not conjunction:
                return not conjunction
            other = second(value)
            return other is not None and other is not False

        return single(one)

    def many(value: JSON) -> Iterator[JSON]:
        for own in left.many(value):
            if truthy(own) is not conjunction:
                yield not conjunction
            else:
                yield from map(truthy, right.many(value))

    return Filter(many)


def conditional(condition: Filter, then: Filter, otherwise: Filter) -> Filter:
    """``if condition then ... else ... end``, once for every output of the condition."""
    asked = condition.one
    if asked and (yes := then.one) and (no := otherwise.one):

        def one(value: JSON) -> JSON:
            answer = asked(value)
            return no(value) if answer is None or answer is False else yes(value)

        return single(one)
    if asked:
        return Filter(lambda value: (then if truthy(asked(value)) else otherwise).many(value))

    def many(value: JSON) -> Iterator[JSON]:
        for answer in condition.many(value):
            yield from (then if truthy(answer) else otherwise).many(value)

    return Filter(many)


def attempt(body: Filter) -> Filter:
    """``try body``: its outputs up to the first error. A limit, or a reference without a value, cannot be caught."""

    def many(value: JSON) -> Iterator[JSON]:
        try:
            yield from body.many(value)
        except (QueryLimitError, QueryReferenceError):
            raise
        except QueryEvaluationError:
            return

    return Filter(many)


def collect(body: Filter) -> Filter:
    """``[body]``, an array of all outputs."""
    # Without a generator around the terms of a list: bounds are written as `[.a, .b] | min`, for each worker group.
    terms = [term.many for term in body.terms or (body,)]

    def one(value: JSON) -> JSON:
        found: list[JSON] = []
        for term in terms:
            found += term(value)
        return found

    return single(one)


def construct(entries: Sequence[tuple[Filter, Filter]]) -> Filter:
    """``{key: value, ...}``, one object for every combination of keys and values."""
    singles = [(key.one, value.one) for key, value in entries if key.one and value.one]
    if len(singles) == len(entries):
        return single(lambda value: {_key(key(value)): item(value) for key, item in singles})

    def many(value: JSON, index: int = 0) -> Iterator[JSON]:
        if index == len(entries):
            yield {}
            return
        keys, items = entries[index]
        for key in keys.many(value):
            for item in items.many(value):
                first = {_key(key): item}
                for rest in many(value, index + 1):
                    yield first | rest

    return Filter(many)


def text(parts: Sequence[Filter]) -> Filter:
    """A string with interpolations, whose pieces are ``parts``; the first one is the inner loop."""
    singles = [part.one for part in parts if part.one]
    if len(singles) == len(parts):
        return single(lambda value: "".join([to_text(part(value)) for part in singles]))
    whole = constant("")
    for part in parts:
        whole = binary(lambda before, piece: before + to_text(piece), whole, part)
    return whole


def negated(body: Filter) -> Filter:
    """``-body`` of every output."""
    return pipe(body, single(negative))


def _key(key: JSON) -> str:
    if isinstance(key, str):
        return key
    raise QueryEvaluationError(f"{type_name(key)} cannot be the key of an object")
