"""The result of a comparison."""

from enum import StrEnum
from typing import Final, NamedTuple

from karta_interpreter.base.k8s import NewObject
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.explain.reading import field_of, pod_queries


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


NO_PODS: Final = "it has no pods at present"
"""The reason why questions about pods are not judged, which all workloads of a new member have in common."""


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

    def to_json(self) -> NewObject:
        """Return the judgement for machines, without empty fields."""
        return {name: str(value) for name, value in self._asdict().items() if value}


def pod_field(definition: Definition, component: str, *wanted: str) -> str:
    """Return the field with a component's pods: the first wanted piece, if the definition has its pods in pieces."""
    owner = definition.component(component)
    fields = list(pod_queries(owner)) if owner else []
    pieces = (field for piece in wanted for field in fields if field.endswith(f".{piece}"))
    return field_of(definition, component, next(pieces, fields[0] if fields else "specDefinition"))
