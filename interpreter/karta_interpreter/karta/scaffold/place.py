"""A path in the objects of a kind, and the jq that reads it."""

import json
import re
from dataclasses import dataclass
from itertools import dropwhile

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Entries:
    """A step to each entry of a map, or of a list whose entries differ in ``key`` (None for one without names)."""

    is_map: bool = False
    key: str | None = None


Step = str | Entries


@dataclass(frozen=True, slots=True)
class Place:
    """The steps from an object to a part of it."""

    steps: tuple[Step, ...] = ()

    def __truediv__(self, step: Step) -> "Place":
        return Place((*self.steps, step))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields on the way."""
        return tuple(step for step in self.steps if isinstance(step, str))

    @property
    def has_instances(self) -> bool:
        """Whether there may be several of it in one object."""
        return any(isinstance(step, Entries) for step in self.steps)

    @property
    def to_first(self) -> "Place":
        """The way to an entry of the first list or map."""
        return Place(self.steps[: len(self.steps) - len(self.after_first.steps)])

    @property
    def after_first(self) -> "Place":
        """The rest of the way, as seen from an entry of the first list or map."""
        return Place(tuple(dropwhile(lambda step: isinstance(step, str), self.steps))[1:])

    @property
    def jq(self) -> str:
        """The expression that reads it.

        >>> Place(("spec", "groups", Entries(key="name"), "pod-template")).jq
        '.spec.groups[]["pod-template"]'
        >>> Place((Entries(), "pod-template")).jq
        '.[]["pod-template"]'
        """
        return _path("".join(_step(step) for step in self.steps))

    @property
    def ids(self) -> str:
        r"""The expression that reads the id of each instance; those of lists within lists are put together.

        >>> Place(("spec", "groups", Entries(key="name"), "template")).ids
        '.spec.groups[].name'
        >>> Place(("spec", "roles", Entries(is_map=True), "template")).ids
        '.spec.roles // {} | keys[]'
        >>> Place(("spec", "sets", Entries(key="id"), "roles", Entries(is_map=True))).ids
        '.spec.sets[] | .id as $a | .roles // {} | keys[] | "\\($a)-\\(.)"'
        """
        found: list[tuple[str, Entries]] = []
        way = ""
        for step in self.steps:
            if isinstance(step, Entries):
                found.append((_path(way), step))
            way = "" if isinstance(step, Entries) else way + _step(step)
        *outer, last = found
        # Letters suffice: `pods` looks for pods in four lists within each other at most.
        levels = [_level(*level, chr(ord("a") + index)) for index, level in enumerate(outer)]
        together = "".join(f"\\(${chr(ord('a') + index)})-" for index in range(len(outer)))
        return " | ".join([*levels, _ids(*last), *([f'"{together}\\(.)"'] if outer else [])])


def _step(step: Step) -> str:
    if isinstance(step, Entries):
        return "[]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{json.dumps(step)}]"


def _path(steps: str) -> str:
    """Return steps as a path; without a dot before it, a bracket would begin a list."""
    return steps if steps.startswith(".") else f".{steps}"


def _level(way: str, entries: Entries, letter: str) -> str:
    if entries.is_map:
        return f"{way} // {{}} | to_entries[] | .key as ${letter} | .value"
    if entries.key is None:
        return f"{way} // [] | keys[] as ${letter} | .[${letter}]"
    return f"{way}[] | {_path(_step(entries.key))} as ${letter}"


def _ids(way: str, entries: Entries) -> str:
    if entries.is_map:
        return f"{way} // {{}} | keys[]"
    if entries.key is None:
        return f"{way} // [] | keys[] | tostring"
    return f"{way}[]{_step(entries.key)}"
