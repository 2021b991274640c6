"""The places of a schema that expressions read, and the parts that they leave unread, in groups."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.openapi.check.shape import Shape, Shapes
from karta_interpreter.definitions.openapi.relevance import RelevantPart, Sort, relevant
from karta_interpreter.definitions.openapi.schema import SchemaPath

_TOP: Final = 2
"""The steps to a field of the spec, the largest group."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The places that expressions read. What they give is read with everything below it."""

    given: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)
    """The places on the way to a value or to a given object, and all places above them."""
    omitted: set[str] = field(default_factory=set)
    """The places that are left out on purpose, each with everything below it."""

    def add(self, outputs: Shapes, visited: Iterable[Shape]) -> None:
        """Add what an expression gives, and the places on its way."""
        self.given.update(shape.place for shape in parts(outputs))
        for shape in visited:
            self.reached.update(_and_above(shape.place))

    def unread(self, schema: Object, scale_path: str) -> Iterator[tuple[SchemaPath, list[RelevantPart]]]:
        """Yield groups of parts that answers look like depending on, and that no expression reads."""
        left = {part.path: part for part in relevant(schema, scale_path) if not self._reads(part)}
        for group, paths in self.grouped(left).items():
            yield group, [left[path] for path in paths]

    def grouped(self, unread: Iterable[SchemaPath]) -> Mapping[SchemaPath, list[SchemaPath]]:
        """Return paths in groups, by the shortest beginning of a path that nothing read is below."""
        groups: dict[SchemaPath, list[SchemaPath]] = {}
        for path in unread:
            prefixes = (SchemaPath(path.steps[:length]) for length in range(_TOP, len(path.steps)))
            groups.setdefault(next((at for at in prefixes if not self._reaches(at)), path), []).append(path)
        return groups

    def _reads(self, part: RelevantPart) -> bool:
        texts = [f"${SchemaPath(part.key.steps[:length]).jq}" for length in range(1, len(part.key.steps) + 1)]
        # Pods that are given are read by the names of a pod's fields, which parts next to them do not have.
        above = set(texts[len(part.pods.steps) :])
        return bool(above & self.given or self.omitted.intersection(texts)) or self._reaches(part.key)

    def _reaches(self, path: SchemaPath) -> bool:
        """Return whether the path or a part of it is read."""
        return f"${path.jq}" in self.reached


def _and_above(place: str) -> Iterator[str]:
    """Yield a place, and the beginnings of its text that end before a step.

    >>> [*_and_above("$.spec.roles[].size")]
    ['$.spec.roles[].size', '$', '$.spec', '$.spec.roles', '$.spec.roles[]']
    """
    yield place
    yield from (place[:at] for at, char in enumerate(place) if char in ".[")


def parts(shapes: Shapes) -> Iterator[Shape]:
    """Yield shapes, and the shapes in values that an expression makes."""
    for shape in shapes:
        yield shape
        for inner in (shape.inner or (), *(shape.members or {}).values()):
            yield from parts(inner)


def unread_text(group: SchemaPath, unread_parts: Sequence[RelevantPart]) -> str:
    """Return what a group looks like, in words.

    >>> canary = SchemaPath(("spec", "canary"))
    >>> unread_text(canary, [RelevantPart(canary / "size", Sort.COUNT, canary / "size")])
    '.spec.canary, which has a count (.size)'
    """
    sorts = [sort for sort in Sort if sort in {part.sort for part in unread_parts}]
    words = " and ".join(filter(None, (", ".join(sorts[:-1]), sorts[-1])))
    paths = [part.path for part in unread_parts]
    if paths == [group]:
        return f"{group.jq}, which looks like {words}"
    return f"{group.jq}, which has {words} ({names_below(group, paths)})"


def names_below(group: SchemaPath, paths: Iterable[SchemaPath]) -> str:
    """Return paths in words, relative to their group."""
    return listed(path.jq.removeprefix(group.jq) or "itself" for path in paths)


def in_yaml(path: SchemaPath) -> str:
    r"""Return the expression of a path as a value in a mapping of YAML, where brackets need quotes.

    >>> in_yaml(SchemaPath(("spec", "size"))), in_yaml(SchemaPath(("spec", "pod-size")))
    ('.spec.size', '\'.spec["pod-size"]\'')
    """
    return f"'{path.jq}'" if "[" in path.jq else path.jq
