"""The parts of a JSON value that are read; the others are skipped."""

from typing import Self


class Extent:
    """The parts that are looked at of one value; it is there, and of its own type, in any case.

    ``fields`` are looked at if it is an object, ``elements`` if it is iterated over; all there is when ``is_whole``.

    >>> extent = Extent()
    >>> extent.at("spec", "replicas").take()
    >>> extent.fields["spec"].fields["replicas"].is_whole
    True
    """

    __slots__ = ("elements", "fields", "is_whole")

    def __init__(self) -> None:
        self.fields: dict[str, Self] = {}
        self.elements: Self | None = None
        self.is_whole = False

    def at(self, *names: str) -> Self:
        """The value at a path of fields."""
        extent = self
        for name in names:
            extent = extent.fields.setdefault(name, type(self)())
        return extent

    def each(self) -> Self:
        """Any element of a list, or any value of an object."""
        if self.elements is None:
            self.elements = type(self)()
        return self.elements

    def take(self) -> None:
        """Look at everything."""
        self.is_whole = True
