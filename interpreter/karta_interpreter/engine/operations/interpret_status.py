"""InterpretStatus: the part of a live object's status that Karmada keeps and later aggregates."""

import re
from typing import Final

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, NewObject, Object, Projection, annotation, generation, type_name
from karta_interpreter.definitions.karta import Definition

TEMPLATE_GENERATION: Final = "resourcetemplate.karmada.io/generation"
"""The annotation of a member's object with the generation of its template."""

BOOKKEEPING: Final = ("generation", "resourceTemplateGeneration")
"""The fields that InterpretStatus adds for AggregateStatus. They are not part of a workload's status."""

# An int64, the type of generations in Kubernetes, has at most 19 digits.
_DIGITS = re.compile(r"[0-9]{1,19}")
_SIGNED = re.compile(r"[-+]?[0-9]{1,100}")


def interpret_status(definition: Definition, obj: Object) -> NewObject:
    """Return the object's status, or ``{}`` without one.

    A status with ``observedGeneration`` also gets two fields, as in Karmada's native interpreter
    (``native/reflectstatus.go``): ``generation`` of the object and ``resourceTemplateGeneration``. They tell
    AggregateStatus if a member has caught up with the template. An ``observedGeneration`` about another object is left
    out, unless the mappings read it. Then only the generation of the template is added: it tells what has reached the
    member. Where only later releases write ``observedGeneration``, a status without it gets that one, too.
    """
    status = obj.get("status")
    if status is None:
        return {}
    if not isinstance(status, dict):
        raise InterpretationError(f"status must be an object, but is {type_name(status)}")
    if "observedGeneration" not in status:
        if not status or not definition.annotations.observes_generation_later:
            return status
        delivered = _template_generation(obj)
        return status if delivered is None else {**status, "resourceTemplateGeneration": delivered}
    if not definition.keeps_generation:
        return {field: value for field, value in status.items() if field != "observedGeneration"}
    kept, current, of_template = {**status}, generation(obj), _template_generation(obj)
    if current is not None and definition.annotations.observes_generation:
        kept["generation"] = current
    if of_template is not None:
        kept["resourceTemplateGeneration"] = of_template
    return kept


def status_reads(_: Definition, projection: Projection) -> None:
    """Mark what InterpretStatus reads of an object."""
    projection.take("status", "metadata.generation")
    projection.at("metadata", "annotations", TEMPLATE_GENERATION).is_whole = True


def observed_generation(status: JSON) -> int | None:
    """Return the generation that a status was written for, or None without one.

    It is a number. A few kinds write the number as text (Argo Rollouts, which had a hash there before version 1.0).
    Other text is ignored.

    >>> observed_generation({"observedGeneration": 3}), observed_generation({"observedGeneration": "3"})
    (3, 3)
    """
    observed = status.get("observedGeneration") if isinstance(status, dict) else None
    if isinstance(observed, str) and _DIGITS.fullmatch(observed):
        return int(observed)
    return observed if type(observed) is int else None


def _template_generation(obj: Object) -> int | None:
    text = annotation(obj, TEMPLATE_GENERATION)
    if text is None:
        return None
    # Stricter than `int`, which also reads `1_0`, spaces and digits of other scripts. Karmada uses Go's ParseInt.
    number = int(text) if _SIGNED.fullmatch(text) else None
    if number is None or not -(2**63) <= number < 2**63:
        raise InterpretationError(f"annotation {TEMPLATE_GENERATION} must be a number of 64 bits")
    return number
