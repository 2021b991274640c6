"""Objects of a kind that nobody wrote: the shape of the objects in its suites, filled anew."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

_ABSENT, _NULL, _OTHER_NUMBER = 0.2, 0.05, 0.4
_IDENTITY = ("apiVersion", "kind", "metadata")


@dataclass
class Shape:
    """What stood at one place of some objects.

    Whole pods are taken as they are: what is in them is the same for every kind, and has tests of its own.
    """

    values: list[Any] = field(default_factory=list)
    fields: dict[str, Shape] = field(default_factory=dict)
    items: Shape | None = None

    @classmethod
    def of(cls, examples: Iterable[Any]) -> Shape:
        shape = cls()
        for example in examples:
            shape.learn(example)
        return shape

    def learn(self, example: Any) -> None:
        if isinstance(example, dict) and example and "containers" not in example:
            for name, value in example.items():
                self.fields.setdefault(name, Shape()).learn(value)
        elif isinstance(example, list) and example:
            self.items = self.items or Shape()
            for item in example:
                self.items.learn(item)
        elif example not in self.values:
            self.values.append(example)

    def make(self, chance: random.Random) -> Any:
        choices: list[Any] = [
            *self.values,
            *([self._object] if self.fields else ()),
            *([self._list] if self.items else ()),
        ]
        chosen = chance.choice(choices)
        if callable(chosen):
            return chosen(chance)
        if type(chosen) is int and chance.random() < _OTHER_NUMBER:
            return chance.randrange(7)
        return chosen

    def _object(self, chance: random.Random) -> Any:
        made = {}
        for name, shape in self.fields.items():
            fate = chance.random() + (1 if name in _IDENTITY else 0)
            if fate >= _ABSENT:
                made[name] = shape.make(chance)
            elif fate < _NULL:
                made[name] = None
        return made

    def _list(self, chance: random.Random) -> Any:
        assert self.items
        return [_named_apart(self.items.make(chance), index) for index in range(chance.randrange(4))]


def _named_apart(item: Any, index: int) -> Any:
    """Entries of a list are told apart by a name, wherever they have one."""
    if not isinstance(item, dict):
        return item
    names = [name for name in item if name.lower().endswith("name") and isinstance(item[name], str)]
    return {**item, **{name: f"{item[name]}-{index}" for name in names}}


def made(examples: Sequence[Any], number: int, seed: str) -> list[Any]:
    """So many values in the shape of the examples, the same for the same seed."""
    shape, chance = Shape.of(examples), random.Random(seed)  # noqa: S311 - the same objects every time
    return [shape.make(chance) for _ in range(number)] if examples else []
