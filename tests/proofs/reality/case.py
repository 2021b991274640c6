"""Cases as their files have them."""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.api import Object

_FIELDS = {
    *("name", "object", "steps", "before", "health", "settle", "components", "rejected", "replicas", "switch"),
    *("since", "races"),
}
_SETTLE = 3.0


@dataclass(frozen=True)
class Case:
    """One object, and what happens to it.

    ``health`` has expectations by state where those of the family are wrong. ``settle`` is for how many seconds nothing
    must change before a state is judged. ``components`` are those whose pods are compared, empty for all. ``replicas``
    are those that the scheduler assigns at first, None for all. ``rejected`` is for objects that the product
    and the member reject: the member at creation, or its controller by making no pods.
    ``switch`` is the path of the switch that suspends it. ``since`` is the release of Kubernetes that it needs, in
    numbers, and is empty for all. ``races`` are the steps after which the state depends on which program is first.
    """

    name: str
    controller: Controller
    object: Object
    steps: tuple[str, ...]
    before: tuple[Object, ...]
    health: Mapping[str, bool]
    settle: float
    components: frozenset[str]
    replicas: int | None
    rejected: bool
    switch: str
    since: tuple[int, ...]
    races: frozenset[str]

    @classmethod
    def of(cls, controller: Controller, entry: Object) -> "Case":
        """Read an entry of a file of cases; raises ValueError for a field that is unknown or missing."""
        unknown = (entry.keys() - _FIELDS) | (set(entry.get("races", ())) - set(entry.get("steps", ())))
        missing = {"name", "object", "steps"} - entry.keys()
        if unknown or missing:
            raise ValueError(f"case {entry.get('name')}: unknown {sorted(unknown)}, missing {sorted(missing)}")
        thing = copy.deepcopy(entry["object"])
        thing.setdefault("metadata", {}).setdefault("name", "it")
        thing["metadata"]["namespace"] = f"t-{entry['name']}"
        return cls(
            entry["name"],
            controller,
            thing,
            tuple(entry["steps"]),
            tuple(entry.get("before", ())),
            entry.get("health", {}),
            entry.get("settle", _SETTLE),
            frozenset(entry.get("components", ())),
            entry.get("replicas"),
            entry.get("rejected", False),
            entry.get("switch", controller.kind(thing).switch),
            numbers(entry.get("since", "")),
            frozenset(entry.get("races", ())),
        )

    @cached_property
    def kind(self) -> Kind:
        """Its kind."""
        return self.controller.kind(self.object)

    @property
    def racing(self) -> frozenset[str]:
        """The names of the states that are not compared with recorded ones."""
        return frozenset(state_name(self, *step) for step in enumerate(self.steps, 1) if step[1] in self.races)

    @property
    def namespace(self) -> str:
        """The namespace that it has for itself."""
        return f"t-{self.name}"


def state_name(case: Case, number: int, step: str) -> str:
    """Return the name of the state after a step."""
    return f"{case.name}.{number}-{step.partition(' ')[0]}"


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release such as ``v1.37.2``, to compare it with others."""
    return tuple(map(int, re.findall(r"\d+", release)))


def read_cases(controller: Controller) -> list[Case]:
    """Return the cases of a controller."""
    return [Case.of(controller, entry) for entry in _read(controller.cases)]


def _read(path: Path) -> Any:
    # The same loader written in C: the cases are read whenever tests are collected.
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
