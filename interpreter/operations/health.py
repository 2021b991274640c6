"""InterpretHealth: does the workload do what it should in this cluster?"""

from interpreter.errors import InterpretationError, QueryError
from interpreter.k8s.metadata import generation
from interpreter.k8s.values import Object
from interpreter.karta.definition import Definition
from interpreter.karta.status import Status, match_status
from interpreter.operations.generation import observed_generation
from interpreter.query import Query

_UNHEALTHY = frozenset({Status.FAILED, Status.DEGRADED})
_HEALTHY = frozenset({Status.RUNNING, Status.COMPLETED, Status.SUSPENDED})


def interpret_health(definition: Definition, obj: Object) -> bool:
    """Return whether a live object is healthy.

    A status that its controller wrote for an older generation says nothing about the present one: unhealthy. The
    ``health`` annotation, where a definition has it, decides the rest. Otherwise a Failed or Degraded status makes
    it unhealthy; Running, Completed or Suspended make it healthy; anything else (starting, unknown) does not.
    """
    if is_stale(obj):
        return False
    if definition.annotations.health is not None:
        return _verdict(definition, definition.annotations.health, obj)
    matched = match_status(definition, obj).matched
    return _UNHEALTHY.isdisjoint(matched) and not _HEALTHY.isdisjoint(matched)


def is_stale(obj: Object) -> bool:
    """Tell whether the controller wrote the status for an older generation of the object."""
    observed, current = observed_generation(obj.get("status")), generation(obj)
    return observed is not None and current is not None and observed < current


def _verdict(definition: Definition, health: Query, obj: Object) -> bool:
    try:
        verdict = health.first(obj)
    except QueryError as error:
        raise InterpretationError(f"definition {definition.name}, annotation health: {error}") from error
    if not isinstance(verdict, bool):
        raise InterpretationError(
            f"definition {definition.name}, annotation health: `{health.text}` must yield true or false"
        )
    return verdict
