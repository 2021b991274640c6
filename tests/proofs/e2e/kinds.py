"""The kinds under test, which ``kinds.yaml`` describes, and their workloads."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jq
import yaml

from tests.proofs.rig.api import Object
from tests.proofs.rig.places import Place, at, put

Counts = tuple[int, ...]

_HERE = Path(__file__).parent
_FILE = yaml.safe_load((_HERE / "kinds.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Stage:
    """The template's counts, the pods or groups that they mean, and the counts of both members at weights of 2 to 1."""

    template: Counts
    pods: int
    member1: Counts
    member2: Counts

    @classmethod
    def of(cls, template: list[int], pods: int, *members: list[int]) -> "Stage":
        """Return the stage; without counts of members it is for a kind that is placed in one cluster."""
        member1, member2 = members or (template, template)
        return cls(tuple(template), pods, tuple(member1), tuple(member2))

    @property
    def members(self) -> Mapping[str, Counts]:
        return {"member1": self.member1, "member2": self.member2}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its workload, and what is to be seen of it."""

    api_version: str
    name: str
    counts: tuple[Place, ...]
    stages: tuple[Stage, Stage, Stage]
    requires: Mapping[str, str]
    suspend: Place
    switch: tuple[Any, Any]
    components: Mapping[str, int]
    conditions: Mapping[str, str]
    states: Mapping[str, str]
    all_run: str
    file: str
    """The name of its workload's file, where another kind has the same name."""
    stays: bool
    """Whether members refuse other counts of what runs."""
    in_processes: bool
    """Whether its answers are made in processes: a busy machine may start one later than Karmada waits."""

    @classmethod
    def of(cls, entry: Object) -> "Kind":
        """Read an entry of the file."""
        placed, up, down = (Stage.of(*stage) for stage in entry["stages"])
        running, suspended = entry.get("switch", (False, True))
        return cls(
            api_version=entry["apiVersion"],
            name=entry["name"],
            counts=tuple(map(_place, entry["counts"])),
            stages=(placed, up, down),
            requires=entry["requires"],
            suspend=_place(entry.get("suspend", "")),
            switch=(running, suspended),
            components=entry.get("components", {}),
            conditions=entry.get("conditions", {}),
            states=entry["states"],
            all_run=entry["whole"],
            file=entry.get("file", ""),
            stays=entry.get("stays", False),
            in_processes=entry.get("inProcesses", False),
        )

    @property
    def pods_of_replica(self) -> int:
        """How many pods a replica is, such as a group."""
        return sum(self.components.values()) // self.stages[0].pods or 1

    @property
    def title(self) -> str:
        """A name that no other kind has."""
        return self.file or self.name

    def workload(self, name: str) -> Object:
        return _read(self.title, name)

    def running(self, template: Counts) -> Counts:
        """Return the counts of what runs in one cluster once the template has others."""
        return self.stages[0].template if self.stays else template

    def counted(self, thing: Object) -> Counts:
        return tuple(at(thing, place) for place in self.counts)

    def scaled(self, thing: Object, counts: Counts) -> Object:
        for place, count in zip(self.counts, counts, strict=True):
            thing = put(thing, place, count)
        return thing

    def switched(self, thing: Object, *, suspended: bool) -> Object:
        switched: Object = put(thing, self.suspend, self.switch[suspended])
        return switched

    def is_switched(self, thing: Object, *, suspended: bool) -> bool:
        return bool(at(thing, self.suspend) == self.switch[suspended])

    def status(self, state: str, thing: Object) -> Object:
        return _evaluated(self.states[state], thing)

    def condition(self, state: str) -> Object:
        """Return the status that shows the condition of a state."""
        return {"conditions": [{"type": self.conditions[state], "status": "True"}]}

    def whole(self, things: list[Object]) -> Object:
        """Return what the template's status must show when all members run."""
        return _evaluated(self.all_run, things)


def training_runtime() -> Object:
    """Return what the TrainJob runs in."""
    return _read("TrainingRuntime")


def _read(title: str, name: str = "") -> Object:
    text = (_HERE / "workloads" / f"{title.lower()}.yaml").read_text(encoding="utf-8")
    loaded: Object = yaml.safe_load(text.replace("${name}", name))
    return loaded


def _evaluated(program: str, value: object) -> Object:
    found: Object = jq.compile(_FILE["prelude"] + program).input_value(value).first()
    return found


def _place(path: str) -> Place:
    return tuple(int(step) if step.isdigit() else step for step in path.split(".") if step)


KINDS = tuple(map(Kind.of, _FILE["divided"]))
WHOLE = tuple(map(Kind.of, _FILE["whole"]))


def kind_of(name: str) -> Kind:
    (found,) = (kind for kind in (*KINDS, *WHOLE) if kind.title == name)
    return found
