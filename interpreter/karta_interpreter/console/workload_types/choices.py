"""The categories and the priorities that a workload type can have, from the settings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from karta_interpreter.console.workload_types.models import Category, Priority
from karta_interpreter.errors import ServeError

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Choices:
    """Categories and priorities by id; an id is the name in lower case, so that it can be the value of a label."""

    categories: Mapping[str, Category]
    priorities: Mapping[str, Priority]

    @classmethod
    def of(cls, categories: Sequence[str], priorities: Sequence[str]) -> Self:
        """Read the settings; raises ServeError.

        >>> Choices.of(["Train"], ["high=125", "low=40"]).priorities["low"].value
        40
        """
        named = {name.lower(): Category(id=_id(name), name=name) for name in categories}
        valued = [_priority(text) for text in priorities]
        sorted_by_value = sorted(valued, key=lambda each: (each.value, each.id))
        if not named or not valued:
            raise ServeError("the workload types API needs a category and a priority")
        if len(named) < len(categories) or len({each.id for each in valued}) < len(valued):
            raise ServeError("each of --types-category and --types-priority needs a name of its own")
        return cls(named, {each.id: each for each in sorted_by_value})


def _id(name: str) -> str:
    if not _NAME.fullmatch(name):
        rule = "write letters, digits and - that begin and end with a letter or a digit"
        raise ServeError(f'"{name}" is no name of a category or priority: {rule}')
    return name.lower()


def _priority(text: str) -> Priority:
    name, _, value = text.partition("=")
    if not re.fullmatch(r"-?[0-9]{1,9}", value):
        raise ServeError(f'--types-priority "{text}": write NAME=VALUE, with a whole number')
    return Priority(id=_id(name), name=name, value=int(value))
