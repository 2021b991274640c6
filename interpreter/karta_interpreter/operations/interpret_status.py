"""InterpretStatus: what of a live object's status Karmada keeps and later aggregates."""

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s.fields import annotation, generation
from karta_interpreter.k8s.projection import Projection
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Definition

TEMPLATE_GENERATION = "resourcetemplate.karmada.io/generation"
"""The annotation in which Karmada tells a member's object the generation of its template."""


def interpret_status(definition: Definition, obj: Object) -> dict[str, JSON]:
    """Return the object's status, ``{}`` when it has none.

    A status with ``observedGeneration`` also gets the two fields from which AggregateStatus sees that a member
    has caught up with the template, as Karmada's native interpreter does (``native/reflectstatus.go``):
    ``generation`` of the object and ``resourceTemplateGeneration``. One that is about another object is left out.
    """
    status = obj.get("status")
    if status is None:
        return {}
    if not isinstance(status, dict):
        raise InterpretationError(f"status must be an object, but is a {type(status).__name__}")
    if "observedGeneration" not in status:
        return status
    if not definition.annotations.observes_generation:
        return {field: value for field, value in status.items() if field != "observedGeneration"}
    bookkeeping: dict[str, JSON] = {}
    current = generation(obj)
    if current is not None:
        bookkeeping["generation"] = current
    template_generation = annotation(obj, TEMPLATE_GENERATION)
    if template_generation is not None:
        bookkeeping["resourceTemplateGeneration"] = _as_generation(template_generation)
    return {**status, **bookkeeping}


def status_reads(_: Definition, projection: Projection) -> None:
    """Mark what InterpretStatus reads of an object."""
    projection.take("status", "metadata.generation")
    projection.at("metadata", "annotations", TEMPLATE_GENERATION).take_all()


def _as_generation(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InterpretationError(f"annotation {TEMPLATE_GENERATION} must be a number, but is {text!r}") from error
