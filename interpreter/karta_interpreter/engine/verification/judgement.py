"""The result of a comparison."""

from enum import StrEnum
from typing import NamedTuple

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.definition import Definition, Fragments


class Verdict(StrEnum):
    """Whether an answer agrees with the member. ``UNJUDGED`` comes with the reason."""

    OK = "ok"
    DIFFERS = "differs"
    UNJUDGED = "unjudged"


class Question(StrEnum):
    """What is compared. Most are operations."""

    COUNTS = "InterpretReplica"
    REQUIREMENTS = "requirements"
    HEALTH = "InterpretHealth"
    DEPENDENCIES = "InterpretDependency"
    RETAIN = "Retain"
    STATUS = "AggregateStatus"
    CRD = "CRD"


class Judgement(NamedTuple):
    """The result of one comparison.

    ``reason`` is the same for all objects with the same cause. ``detail`` has what only concerns this object. ``field``
    is the part of the definition that a difference is about, ``fix`` a line or a step that ends it.
    """

    question: Question
    verdict: Verdict = Verdict.OK
    reason: str = ""
    detail: str = ""
    field: str = ""
    fix: str = ""

    def to_json(self) -> dict[str, JSON]:
        """Return the judgement for machines, without empty fields."""
        return {name: str(value) for name, value in self._asdict().items() if value}


def component_field(definition: Definition, component: str, *names: str) -> str:
    """Return the place of a component in its Karta, or of a field below it."""
    position = [each.name for each in definition.components].index(component)
    place = "rootComponent" if not position else f"childComponents[{position - 1}]"
    return ".".join(("spec.structureDefinition", place, *names))


def pod_field(definition: Definition, component: str, *wanted: str) -> str:
    """Return the field with a component's pods: the first wanted piece, if the definition has its pods in pieces."""
    found = definition.component(component)
    names = list(found.pod_queries) if found else []
    name = next((each for each in wanted if each in names), names[0] if names else "")
    pieces = ["fragmentedPodSpecDefinition"] if found and isinstance(found.pods, Fragments) else []
    return component_field(definition, component, "specDefinition", *pieces, name)
