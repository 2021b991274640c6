"""The objects that differ in one field that a member refuses to change, as the facts of a kind have it."""

import itertools
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from docs.tools.facts import Immutable, ImmutableField, facts_of
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from tests.catalogue.entries import entries

_STEP = re.compile(r'\.?([\w-]+)|\["([^"]+)"\]|(\[\])')


class Refused(NamedTuple):
    """A template that a member refuses, because it has another value in one field."""

    definition: Definition
    field: ImmutableField
    template: Object
    member: Object

    @property
    def name(self) -> str:
        """The kind and the field."""
        return f"{self.definition.gvk}: {self.field.field}"


def refused() -> Iterator[Refused]:
    """Yield a pair of objects for each immutable field of all kinds."""
    for entry in entries():
        assert entry.definition
        known = facts_of(entry.definition.gvk).immutable or Immutable()
        for field in known.fields:
            member, template = (_made(entry.definition, field, value) for value in field.values)
            yield Refused(entry.definition, field, template, member)


def steps_of(field: str) -> list[str]:
    """Return the steps of a path, with "[]" for all elements of a list.

    >>> steps_of('.spec.jobs[].labels["a.io/b"]')
    ['spec', 'jobs', '[]', 'labels', 'a.io/b']
    """
    return [next(filter(None, step)) for step in _STEP.findall(field)]


def values_at(obj: JSON, steps: list[str]) -> list[JSON]:
    """Return the values at a path, one for each element of its lists, None where there is none."""
    values: list[Any] = [obj]
    for step in steps:
        if step == "[]":
            values = [element for value in values for element in value or ()]
        else:
            values = [value.get(step) if isinstance(value, dict) else None for value in values]
    return values


def _made(definition: Definition, field: ImmutableField, value: JSON) -> Object:
    obj: Any = deepcopy({**field.base})
    obj |= definition.gvk.type_meta | {"metadata": {"name": "it", "namespace": "n", **obj.get("metadata", {})}}
    steps = steps_of(field.field)
    owners: list[Any] = [obj]
    for step, following in itertools.pairwise(steps):
        if step != "[]":
            empty: Any = [{}] if following == "[]" else {}
            owners = [owner.setdefault(step, deepcopy(empty)) for owner in owners]
        else:
            owners = [element for owner in owners for element in owner]
    for owner in owners:
        owner[steps[-1]] = deepcopy(value)
    result: Object = obj
    return result
