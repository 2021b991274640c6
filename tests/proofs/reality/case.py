"""Cases as their files have them."""

import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict

from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.api import Object


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release such as ``v1.37.2``, to compare it with others."""
    return tuple(map(int, re.findall(r"\d+", release)))


class Case(BaseModel):
    """One object, and what happens to it.

    ``health`` has expectations by state where those of the family are wrong. ``settle`` is for how many seconds nothing
    must change before a state is judged. ``components`` are those whose pods are compared, empty for all. ``replicas``
    are those that the scheduler assigns at first, None for all. ``rejected`` is for objects that the product
    and the member reject: the member at creation, or its controller by making no pods.
    ``switch`` is the path of the switch that suspends it. ``since`` is the release of Kubernetes that it needs, in
    numbers, and is empty for all. With ``keeps_images`` the kubelet starts no other image in a pod. ``races`` are the
    steps after which the state depends on which program is first. ``before`` is there at first, ``later`` has what the
    steps bring.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    controller: Controller
    name: str
    object: Object
    steps: tuple[str, ...]
    before: tuple[Object, ...] = ()
    later: tuple[Object, ...] = ()
    health: dict[str, bool] = {}
    settle: float = 3.0
    components: frozenset[str] = frozenset()
    replicas: int | None = None
    rejected: bool = False
    switch: str = ""
    since: Annotated[tuple[int, ...], BeforeValidator(numbers)] = ()
    keeps_images: bool = False
    races: frozenset[str] = frozenset()

    def model_post_init(self, _: Any, /) -> None:
        """Fill in what follows from the rest; raises ValueError for a race after a step that is not there."""
        if unknown := self.races - {*self.steps}:
            raise ValueError(f"case {self.name}: races after unknown steps {sorted(unknown)}")
        metadata = {"name": "it", **self.object.get("metadata", {}), "namespace": self.namespace}
        self.object = {**self.object, "metadata": metadata}
        self.switch = self.switch or self.kind.switch

    @cached_property
    def kind(self) -> Kind:
        return self.controller.kind(self.object)

    @property
    def racing(self) -> frozenset[str]:
        """The names of the states that are not compared with recorded ones."""
        return frozenset(state_name(self, *step) for step in enumerate(self.steps, 1) if step[1] in self.races)

    @property
    def namespace(self) -> str:
        return f"t-{self.name}"


def state_name(case: Case, number: int, step: str) -> str:
    return f"{case.name}.{number}-{step.partition(' ')[0]}"


def read_cases(controller: Controller) -> list[Case]:
    # The loader written in C: the cases are read whenever tests are collected.
    return [Case(controller=controller, **entry) for entry in _read(controller.cases)]


def _read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
