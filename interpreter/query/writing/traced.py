"""A value on its way through an expression, together with its origin."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from interpreter.k8s.values import JSON
from interpreter.query.plain.access import elements, field, item, position
from interpreter.query.plain.arithmetic import multiply
from interpreter.query.plain.collection import greatest, keys, least
from interpreter.query.plain.strings import to_number
from interpreter.query.plain.values import Number, is_number, normal
from interpreter.query.writing.location import Location

_NO_PARTS: Final[Mapping[Any, Any]] = MappingProxyType({})


class Traced(NamedTuple):
    """A value, the location it can be written through, and the origins of the parts of a new array or object."""

    value: JSON
    location: Location | None = None
    parts: "Mapping[str | int, Traced]" = _NO_PARTS

    def step(self, key: JSON) -> "Traced":
        """``.[key]``: a part of a place is a place."""
        value = item(self.value, key)
        name = _name(self.value, key)
        if name is None:
            return Traced(value)
        if name in self.parts:
            return self.parts[name]
        return Traced(value, self.location and _inside(self.location, (name,), value))

    def field(self, names: tuple[str, ...]) -> "Traced":
        """``.a.b.c``, all steps at once."""
        here = self
        if self.parts:
            for name in names:
                here = here.step(name)
            return here
        value = self.value
        for name in names:
            value = value.get(name) if type(value) is dict else field(value, name)
        return Traced(value, self.location and _inside(self.location, names, value))

    def elements(self) -> "Iterator[Traced]":
        """``.[]`` of an array or object."""
        values, location = elements(self.value), self.location
        if self.parts:
            return map(self.step, keys(self.value))
        if location is None or not location.is_unchanged:
            return map(Traced, values)
        names = range(len(values)) if isinstance(self.value, list) else sorted(self.value)
        path, has_default = location.path, location.default is not None
        return (
            Traced(value, Location((*path, name), value if has_default else None))
            for name, value in zip(names, values, strict=True)
        )

    def times(self, other: "Traced") -> "Traced":
        """``self * other``: the left one is written to, the other one stays a known factor."""
        product = multiply(self.value, other.value)
        for source, factor in ((self.location, other.value), (other.location, self.value)):
            if source is not None and (known := _factor(factor)) is not None:
                return Traced(product, source.scaled(known))
        return Traced(product)

    def least(self) -> "Traced":
        """``min``: the leftmost element with an origin is written to, the others limit it."""
        value = least(self.value)
        location, others = self._first_location()
        if location is None or not all(map(is_number, others)):
            return Traced(value)
        return Traced(value, location.capped(min(others)) if others else location)

    def greatest(self) -> "Traced":
        """``max``: the leftmost element with an origin is written to, the others limit it."""
        value = greatest(self.value)
        location, others = self._first_location()
        limits = [other for other in others if other is not None]
        if location is None or not all(map(is_number, limits)):
            return Traced(value)
        return Traced(value, location.raised(max(limits)) if limits else location)

    def instead_of(self, missing: "Traced") -> "Traced":
        """``missing // self`` where the left side is null or false: writing there makes it true.

        So of several places without a value that share a default, as in ``.a // .b // 1``, the first one is written.
        """
        place = missing.location
        if place is None or not place.is_plain or self.parts:
            return self
        if self.location and self.location.default is None:  # a value is there, or nothing but a place
            return self
        if self.value is None and missing.value is not None:
            return self
        return Traced(self.value, Location(place.path, self.value))

    def number(self) -> "Traced":
        """``tonumber``: what is written may be text."""
        return Traced(to_number(self.value), self.location and self.location._replace(numeral=True))

    def _first_location(self) -> tuple[Location | None, list[JSON]]:
        """The first location among the parts, and the values of all the others."""
        for index, part in self.parts.items():
            if part.location is not None:
                return part.location, [other for key, other in enumerate(self.value) if key != index]
        return None, []


def new_array(elements: list[Traced]) -> Traced:
    """``[...]`` of values with origins."""
    return Traced([element.value for element in elements], None, dict(enumerate(elements)))


def new_entry(key: JSON, field: Traced) -> Traced:
    """One ``{key, value}`` of ``to_entries``."""
    return Traced({"key": key, "value": field.value}, None, {"value": field})


def _name(container: JSON, key: JSON) -> str | int | None:
    """The key as a step of a path; None for a slice and for an element that cannot be."""
    if isinstance(key, str):
        return key
    if not is_number(key):
        return None
    if isinstance(container, list) and key < 0:
        return position(container, key)
    return int(key) if key >= 0 else None


def _inside(location: Location, names: tuple[str | int, ...], value: JSON) -> Location | None:
    """The location of a part, if the whole is used as it is or as its default."""
    if not location.is_unchanged:
        return None
    return Location(location.path + names, None if location.default is None else value)


def _factor(value: Number) -> int | None:
    """A factor that a location can have; None for fractions and negative numbers."""
    known = normal(value)
    return known if isinstance(known, int) and known >= 0 else None
