"""InterpretHealth: does the workload do what it should in this cluster?"""

from dataclasses import replace

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, Object, Projection, generation, get, parts_of
from karta_interpreter.definitions.karta import AT_WORK, FAILING, TRANSITIONAL, Definition
from karta_interpreter.engine.evaluation import Status, StatusMatch, match_status, status_match_reads, with_rest
from karta_interpreter.engine.operations.interpret_status import observed_generation
from karta_interpreter.languages.jq import take_outputs

_WAITING_OR_AT_WORK = AT_WORK | TRANSITIONAL
_GENERATIONS = frozenset({"observedGeneration", "generation"})


def interpret_health(definition: Definition, obj: Object) -> bool:
    """Return whether a live object is healthy.

    An object is healthy if one of its statuses counts as healthy (`healthy_statuses`). Suspended prevails over all
    others, whether the status shows it or the object asks for it. Failed and Degraded prevail over the rest unless
    they count as healthy themselves. If the controller wrote the status for an older generation, the workload waits
    for its controller and counts as Initializing. A failure remains a failure.

    The ``health`` annotation replaces these rules for a status that is current. A stale status is unhealthy.

    Raises InterpretationError for a state that the definition does not know. An error moves nothing.
    """
    health = definition.annotations.health
    if health is None and definition.status is None:
        raise InterpretationError(f"definition {definition.name} has no status definition, so there is no health")
    if health is None:
        match, healthy = match_status(definition, obj), healthy_statuses(definition)
        status = match.matched[0]
        # Most objects have one status. If it counts, a wish to rest changes nothing, unless it takes Undefined's place.
        is_sure = len(match.matched) == 1 and status in healthy and status is not Status.UNDEFINED
        if is_sure and not is_stale(definition, obj):
            return True
        return _rests_or_counts(definition, obj, with_rest(definition, obj, match), healthy)
    if is_stale(definition, obj):
        return False
    verdict = health.first(obj)
    if verdict is None:
        raise health.mistyped(verdict)
    return bool(verdict)


def _rests_or_counts(definition: Definition, obj: Object, match: StatusMatch, healthy: frozenset[Status]) -> bool:
    """Return whether an object is healthy, of which the status alone does not say so. Rest comes first."""
    if Status.SUSPENDED in match.matched and Status.SUSPENDED in healthy:
        return True
    if is_stale(definition, obj):
        match = replace(match, matched=(*FAILING.intersection(match.matched), Status.INITIALIZING))
    elif Status.UNDEFINED in match.matched and Status.UNDEFINED not in healthy:
        _check_words(definition, match, obj)
    return not healthy.isdisjoint(match.matched) and (FAILING - healthy).isdisjoint(match.matched)


def _check_words(definition: Definition, match: StatusMatch, obj: Object) -> None:
    """Raise InterpretationError if an object without a status has a phase, or only conditions, that nothing names.

    A definition that names none leaves the answer to its expressions. So does one of a kind that serves, if they read a
    counter that the object has. No counter tells whether a workload that runs to completion has failed.
    """
    rules = definition.status
    if rules is None or not rules.words:  # expressions alone decide
        return
    has_statuses = rules.conditions is not None and rules.conditions.status_field
    types = [condition.type for condition in match.conditions if condition.status or not has_statuses]
    words = [match.phase] if match.phase else [*filter(None, types)]
    if not words or not rules.words.isdisjoint(words):
        return
    if rules.completes or not _has_counter(obj.get("status"), counted(definition)):
        raise InterpretationError(f"the definition does not know the state {', '.join(words):.200}")


def _has_counter(value: JSON, part: Projection | None) -> bool:
    """Return whether a part of a value has a number that is no generation."""
    if part is None or type(value) in (int, float):
        return part is not None
    for name, below in parts_of(value):
        inner = part if part.is_whole else part.fields.get(str(name), part.elements)
        if name not in _GENERATIONS and _has_counter(below, inner):
            return True
    return False


def counted(definition: Definition) -> Projection:
    """Return the parts of a status that mappings read. The numbers in it are counters."""
    projection = Projection()
    status_match_reads(definition, projection)
    return projection.at("status")


def health_reads(definition: Definition, projection: Projection) -> None:
    """Mark what InterpretHealth reads of an object."""
    projection.take("metadata.generation", "status.observedGeneration")
    if definition.annotations.health is None:
        status_match_reads(definition, projection)
        take_outputs(projection, definition.status.rest if definition.status else None)


def absent_status(obj: Object) -> str:
    """Return why an object has no status: it is new, or the status is in another part."""
    is_in_spec = isinstance(get(obj, ("spec", "status")), dict)
    return "the object has no status: is it spec.status, too far in?" if is_in_spec else "the object has no status yet"


def healthy_statuses(definition: Definition) -> frozenset[Status]:
    """Return the statuses that count as healthy: from the annotation ``healthy-statuses``, else by family.

    A workload that runs to completion may wait for a queue or for room, a workload that serves may not. A definition
    that maps ``completed`` runs to completion. Undefined counts for neither, because nothing works on an object without
    a status.
    """
    named, rules = definition.annotations.healthy_statuses, definition.status
    if named is not None:
        return named
    return _WAITING_OR_AT_WORK if rules is not None and rules.completes else AT_WORK


def is_stale(definition: Definition, obj: Object) -> bool:
    """Return whether the status of an object is of an older generation, and counts as such."""
    return is_behind(obj) and definition.may_be_stale


def is_behind(obj: Object) -> bool:
    """Return whether the controller wrote the status for an older generation of the object.

    A negative one comes from the CRDs of Flux, which give it to new objects. No controller has written it.
    """
    observed, current = observed_generation(obj.get("status")), generation(obj)
    return observed is not None and current is not None and 0 <= observed < current
