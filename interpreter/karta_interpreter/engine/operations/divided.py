"""The numbers that are divided along with counts, such as a minimum of the pods or a partition of a roll-out."""

from collections.abc import Iterator
from typing import TypeAlias

from karta_interpreter.base.k8s import Object, Path, set_value
from karta_interpreter.definitions.karta import Definition, Divided

Share: TypeAlias = tuple[Divided, Path, int, str]
"""A number that goes along with a count: its rule, its path, the cluster's share, and how it comes about."""


def with_shares(definition: Definition, obj: Object, revised: Object) -> Object:
    """Return a revised object with the shares of the numbers that go along with its counts."""
    for _, path, share, _ in shares(definition, obj, revised):
        revised = set_value(revised, path, share)
    return revised


def shares(definition: Definition, obj: Object, revised: Object) -> Iterator[Share]:
    """Yield the numbers of an object whose counts are other ones in the revised object. Raises QueryError.

    Percentages and unset numbers follow the counts by themselves, and counts that are not numbers divide nothing.
    """
    for rule in definition.annotations.divided:
        values, before, after = rule.value.evaluate(obj), rule.of.evaluate(obj), rule.of.evaluate(revised)
        if not len(values) == len(before) == len(after):
            raise rule.of.unusable(f"gives {len(before)} where {len(values)} belong, one for each value")
        places = rule.value.locate_each(obj)
        for value, place, count, new_count in zip(values, places, before, after, strict=True):
            is_divided = count != new_count and all(type(number) is int for number in (value, count, new_count))
            if place is not None and is_divided and value > 0 and count > 0:
                share = rule.share(value, count, new_count)
                yield rule, place.path, share, f"{value} of {count} are {share} of {new_count}"
