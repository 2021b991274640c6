"""Reduces the values of one field to one, by the rule that a definition names."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache, reduce
from math import inf
from operator import add

from karta_interpreter.base.errors import InterpretationError, QuantityError
from karta_interpreter.base.k8s import JSON, MOST_REPLICAS, Quantity, parse_duration, type_name
from karta_interpreter.definitions.karta import AggregateRule
from karta_interpreter.engine.operations.status_bounds import LARGEST_NUMBER, LEAST_NUMBER

WORST_FIRST = frozenset({AggregateRule.WORST, AggregateRule.UNION})
"""The rules that take the values of the worst clusters first."""


def reduce_values(rule: AggregateRule, values: Sequence[JSON]) -> JSON:
    """Return the one value that the rule makes of one or more, in the order of cluster names or `WORST_FIRST`.

    Rules that compute ignore empty text, and return None without another value. For `FIRST` and `WORST` it is the last
    choice.

    >>> reduce_values(AggregateRule.SUM, ["500m", "1500m", ""])
    '2'
    """
    if rule not in _COMPUTATIONS:
        return _SELECTIONS[rule](values)
    values = [value for value in values if value != ""]
    reduced: JSON = _COMPUTATIONS[rule](values) if values else None
    if type(reduced) in (int, float) and not LEAST_NUMBER <= reduced <= LARGEST_NUMBER:
        raise InterpretationError("the number has more than 64 bits")
    return reduced


def total(numbers: Sequence[JSON]) -> JSON:
    """Return the sum of some numbers. The largest int32 stands for "unlimited" in Kubernetes, and stays unchanged.

    Raises InterpretationError for a sum that is too large for an int64.

    >>> total([1, 2]), total([2147483647, 2147483647])
    (3, 2147483647)
    """
    if MOST_REPLICAS in numbers:
        return MOST_REPLICAS
    try:
        amount: int | float = sum(numbers)
    except OverflowError:
        amount = inf
    if not LEAST_NUMBER <= amount <= LARGEST_NUMBER:
        raise InterpretationError("the sum is too large for a number")
    return amount


def is_time(value: JSON) -> bool:
    """Return whether a value is an RFC 3339 time, as Kubernetes writes them."""
    # Every text of a status is tested. The cache keeps only texts that can be times, not a thousand long messages.
    return isinstance(value, str) and len(value) <= _LONGEST_TIME and _time(value) is not None


def is_start(field: str) -> bool:
    """Return whether a field of that name is a start time, such as ``startTime``."""
    return field.lower().startswith("start")


def is_end(field: str) -> bool:
    """Return whether a field of that name is an end time, such as ``completionTime``."""
    return field.lower().startswith(("complet", "finish", "end", "terminat"))


def is_generation(field: str) -> bool:
    """Return whether a field of that name is a generation. Every cluster counts its own."""
    return field.endswith(("generation", "Generation"))


def earliest(values: Sequence[JSON]) -> JSON:
    """Return the earliest of some times, as written."""
    return min(values, key=_time_or_raise)


def latest(values: Sequence[JSON]) -> JSON:
    """Return the latest of some times, as written."""
    return max(values, key=_time_or_raise)


def reduce_times(field: str, values: Sequence[JSON], *, is_complete: bool) -> JSON:
    """Return the time of all clusters: the first start, the last end if all have one, or the last of other times."""
    if is_end(field) and not is_complete:
        return None
    return earliest(values) if is_start(field) else latest(values)


_LONGEST_TIME = len("2026-01-01T00:00:00.123456789+00:00")


@lru_cache(maxsize=1024)
def _time(text: str) -> datetime | None:
    if len(text) < len("2026-01-01T00:00:00Z") or text[10] != "T":
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.replace(tzinfo=time.tzinfo or UTC)


def _misfit(value: JSON, what: str) -> InterpretationError:
    """Return the error about a value. It omits the value because messages and logs repeat no content of an object."""
    return InterpretationError(f"{type_name(value)} is {what}")


def _time_or_raise(value: JSON) -> datetime:
    time = _time(value) if isinstance(value, str) and len(value) <= _LONGEST_TIME else None
    if time is None:
        raise _misfit(value, "not a time such as 2026-01-31T12:00:00Z")
    return time


def is_number(value: JSON) -> bool:
    """Return whether a value is a JSON number. A boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _quantity(value: JSON) -> Quantity:
    if not isinstance(value, str) and not is_number(value):
        raise _misfit(value, "neither a number nor a quantity")
    try:
        return Quantity.parse(value)
    except QuantityError as error:
        raise _misfit(value, "not a quantity such as 100m, 1.5 or 2Gi") from error


def _amount(value: JSON) -> Quantity:
    """Return a number, a quantity or a Go duration (in seconds) as a comparable amount.

    Go ends every duration that it prints with ``s``, and no quantity ends with ``s``: ``5m`` is five thousandths.
    """
    seconds = parse_duration(value) if isinstance(value, str) and value.endswith("s") else None
    return _quantity(value) if seconds is None else Quantity(seconds)


def falls(before: JSON, now: JSON) -> bool:
    """Return whether a counter, a number or a quantity, would fall or disappear.

    >>> falls(5, 3), falls("2Gi", "900Mi"), falls("2Gi", None), falls("hash", None)
    (True, True, True, False)
    """
    if is_number(before):
        return now is None or (is_number(now) and bool(now < before))
    if not isinstance(before, str) or not isinstance(now, str | None):
        return False
    try:
        least = _amount(before)
        return not now or _amount(now) < least
    except InterpretationError:
        return False


def _sum(values: Sequence[JSON]) -> JSON:
    return total(values) if all(map(is_number, values)) else str(reduce(add, map(_quantity, values)))


def _all(values: Sequence[JSON], kind: type, otherwise: str) -> Sequence[JSON]:
    for value in values:
        if not isinstance(value, kind):
            raise _misfit(value, otherwise)
    return values


_COMPUTATIONS: dict[AggregateRule, Callable[[Sequence[JSON]], JSON]] = {
    AggregateRule.SUM: _sum,
    AggregateRule.COUNTER: _sum,
    AggregateRule.MAX: lambda values: max(values, key=_amount),
    AggregateRule.MIN: lambda values: min(values, key=_amount),
    AggregateRule.LATEST: latest,
    AggregateRule.EARLIEST: earliest,
}
_SELECTIONS: dict[AggregateRule, Callable[[Sequence[JSON]], JSON]] = {
    AggregateRule.ANY: lambda values: any(_all(values, bool, "neither true nor false")),
    AggregateRule.ALL: lambda values: all(_all(values, bool, "neither true nor false")),
    # Go writes a missing text as an empty one.
    **dict.fromkeys(
        (AggregateRule.FIRST, AggregateRule.WORST),
        lambda values: next((value for value in values if value != ""), values[0]),
    ),
    # Written in reverse, so that the worst cluster's value of a key stays.
    AggregateRule.UNION: lambda values: {
        key: value[key] for value in reversed(_all(values, dict, "not an object")) for key in value
    },
    AggregateRule.CONCAT: lambda values: [element for value in _all(values, list, "not a list") for element in value],
    AggregateRule.OMIT: lambda _: None,
    AggregateRule.DROP: lambda _: None,
}
