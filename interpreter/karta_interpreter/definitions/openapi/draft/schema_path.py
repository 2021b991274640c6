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
class SchemaPath:
    """The steps from an object to a part of it."""

    steps: tuple[Step, ...] = ()

    def __truediv__(self, step: Step) -> "SchemaPath":
        return SchemaPath((*self.steps, step))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields on the way."""
        return tuple(step for step in self.steps if isinstance(step, str))

    @property
    def has_instances(self) -> bool:
        """Whether there may be several of it in one object."""
        return any(isinstance(step, Entries) for step in self.steps)

    @property
    def to_first(self) -> "SchemaPath":
        """The way to an entry of the first list or map."""
        return SchemaPath(self.steps[: len(self.steps) - len(self.after_first.steps)])

    @property
    def after_first(self) -> "SchemaPath":
        """The rest of the way, as seen from an entry of the first list or map."""
        return SchemaPath(tuple(dropwhile(lambda step: isinstance(step, str), self.steps))[1:])

    @property
    def jq(self) -> str:
        """The expression that reads it.

        >>> SchemaPath(("spec", "groups", Entries(key="name"), "pod-template")).jq
        '.spec.groups[]["pod-template"]'
        >>> SchemaPath((Entries(), "pod-template")).jq
        '.[]["pod-template"]'
        """
        return _path("".join(_step(step) for step in self.steps))

    @property
    def ids(self) -> str:
        r"""The expression that reads the id of each instance; those of lists within lists are put together.

        >>> SchemaPath(("spec", "groups", Entries(key="name"), "template")).ids
        '.spec.groups[].name'
        >>> SchemaPath(("spec", "roles", Entries(is_map=True), "template")).ids
        '.spec.roles // {} | keys[]'
        >>> SchemaPath(("spec", "sets", Entries(key="id"), "roles", Entries(is_map=True))).ids
        '.spec.sets[] | "\\(.id)-\\(.roles // {} | keys[])"'
        """
        return _ids(self.steps)


def _step(step: Step) -> str:
    if isinstance(step, Entries):
        return "[]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{json.dumps(step)}]"


def _path(steps: str) -> str:
    """Return steps as a path; without a dot before it, a bracket would begin a list."""
    return steps if steps.startswith(".") else f".{steps}"


def _ids(steps: tuple[Step, ...]) -> str:
    at, entries = next((at, step) for at, step in enumerate(steps) if isinstance(step, Entries))
    way, rest = _path("".join(map(_step, steps[:at]))), steps[at + 1 :]
    empty = "{}" if entries.is_map else "[]"
    if not any(isinstance(step, Entries) for step in rest):
        if entries.key is None:
            return f"{way} // {empty} | keys[]" if entries.is_map else f"{way} // {empty} | keys[] | tostring"
        return f"{way}[]{_step(entries.key)}"
    if entries.key is None:
        return f'{way} // {empty} | to_entries[] | "\\(.key)-\\({_ids(("value", *rest))})"'
    return f'{way}[] | "\\({_path(_step(entries.key))})-\\({_ids(rest)})"'
