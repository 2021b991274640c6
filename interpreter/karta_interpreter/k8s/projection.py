"""The projection of a JSON value: the parts of it that a computation reads."""

from collections.abc import Iterable
from typing import Self


class Projection:
    """The parts that are read of one value. Its type, and whether it is there, count as read in any case.

    ``fields`` are read of an object, ``elements`` of a list or of an object's values; ``is_whole`` if all is read.

    >>> projection = Projection()
    >>> projection.take("spec.replicas", "spec.containers[].image")
    >>> projection.at("spec", "containers").each().fields["image"].is_whole
    True
    """

    __slots__ = ("elements", "fields", "is_whole")

    def __init__(self) -> None:
        self.fields: dict[str, Self] = {}
        self.elements: Self | None = None
        self.is_whole = False

    def at(self, *names: str) -> Self:
        """Return the part at a path of fields."""
        part = self
        for name in names:
            part = part.fields.setdefault(name, type(self)())
        return part

    def each(self) -> Self:
        """Return the part for every element of a list, or every value of an object."""
        if self.elements is None:
            self.elements = type(self)()
        return self.elements

    def take(self, *paths: str) -> None:
        """Read all of the values at these paths, each of which ends at a field."""
        for path in paths:
            *parents, last = path.split(".")
            part = self
            for step in parents:
                name = step.removesuffix("[]")
                part = part.at(name) if step == name else part.at(name).each()
            part.at(last).take_all()

    def take_all(self) -> None:
        """Read all of the value."""
        self.is_whole = True


def take_each(parts: Iterable[Projection]) -> None:
    """Read all of several values."""
    for part in parts:
        part.take_all()
