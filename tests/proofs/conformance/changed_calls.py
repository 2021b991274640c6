"""Calls that no suite has: those of the suites, with objects and statuses that are changed in a few random places."""

from collections.abc import Callable, Iterable, Iterator
from zlib import crc32

from msgspec import structs

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.engine.operations import Call
from tests.proofs.conformance.mutation import mutate


def changed_calls(calls: Iterable[Call], seed: str, copies: int) -> Iterator[Call]:
    """Yield changed copies of calls, which depend on the seed alone.

    An object keeps its kind, by which Karmada finds the script, and stays an object.
    """
    for position, call in enumerate(calls):
        for number in range(copies):
            yield _changed(call, crc32(f"{seed} {position} {number}".encode()))


def _changed(call: Call, seed: int) -> Call:
    def change(value: JSON, place: int) -> JSON:
        changed = mutate(value, seed + place)
        return changed | {name: value[name] for name in ("apiVersion", "kind") if name in value}

    # The status of a member is changed last, behind both objects.
    items = [
        structs.replace(item, status=change({"status": item.status}, at).get("status"))
        for at, item in enumerate(call.items, 2)
    ]
    observed = None if call.observed is None else change(call.observed, 1)
    return structs.replace(call, object=change(call.object, 0), observed=observed, items=tuple(items))


def each_value(call: Call, made: Callable[[JSON], JSON]) -> Call:
    """A call with other objects and statuses in the place of its own."""
    items = tuple(structs.replace(item, status=made({"status": item.status}).get("status")) for item in call.items)
    observed = None if call.observed is None else made(call.observed)
    return structs.replace(call, object=made(call.object), observed=observed, items=items)


def without_nulls(value: JSON) -> JSON:
    """A value without the fields and the elements that are null.

    >>> without_nulls({"a": None, "b": [1, None]})
    {'b': [1]}
    """
    return _without(value, lambda part: part is None)


def without_empty(value: JSON) -> JSON:
    """A value without its empty objects and lists, and without what is empty without them.

    >>> without_empty({"a": [[]], "b": [{}, 1]})
    {'b': [1]}
    """
    return _without(value, lambda part: part in ({}, []))


def with_exact_numbers(value: JSON) -> JSON:
    """A value with a small number in the place of each that Lua cannot tell from its neighbours.

    >>> with_exact_numbers({"a": 2**53, "b": 3})
    {'a': 1000000, 'b': 3}
    """
    if isinstance(value, dict):
        return {key: with_exact_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [with_exact_numbers(part) for part in value]
    return _EXACT if isinstance(value, (int, float)) and abs(value) >= _LARGE else value


def _without(value: JSON, is_gone: Callable[[JSON], bool]) -> JSON:
    if isinstance(value, dict):
        kept = {key: _without(part, is_gone) for key, part in value.items()}
        return {key: part for key, part in kept.items() if not is_gone(part)}
    if isinstance(value, list):
        parts = [_without(part, is_gone) for part in value]
        return [part for part in parts if not is_gone(part)]
    return value


_LARGE = 2**53
_EXACT = 1_000_000
