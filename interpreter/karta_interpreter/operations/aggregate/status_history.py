"""Keeps the monotonic fields of the template's previous status: counters, starts, omitted fields."""

from collections.abc import Sequence

from karta_interpreter.errors import InterpretationError, QueryError
from karta_interpreter.k8s.edit import get, set_value
from karta_interpreter.k8s.fields import generation
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Definition
from karta_interpreter.karta.annotations import AggregateRule
from karta_interpreter.operations.aggregate.generation import agreed_generation
from karta_interpreter.operations.aggregate.reduce import is_end, is_number, is_start, is_time, latest
from karta_interpreter.operations.call import StatusItem


def continued(
    definition: Definition, template: Object, status: dict[str, JSON], items: Sequence[StatusItem]
) -> dict[str, JSON]:
    """Return a merged status as the one that follows the template's present status.

    Clusters come and go, and with them what they reported. Counters do not fall, omitted fields stay, and
    ``observedGeneration`` is put in the template's own terms. The start of a kind with outcomes stays until the
    template is suspended, as API servers demand of a Job; any other kind may start again, in another cluster or after
    a failed attempt.
    """
    before = template.get("status")
    known: Object = before if isinstance(before, dict) else {}
    status = _with_generation(status, known, template, items)
    if definition.annotations.outcomes:
        moved = {
            key: value for key, value in known.items() if is_start(key) and is_time(value) and status.get(key) != value
        }
        if moved and not is_suspended(definition, template):
            status = _with_starts(status, moved)
    return _with_known(definition, status, known)


def is_suspended(definition: Definition, template: Object) -> bool:
    """Return whether a template has everywhere the values that the definition writes to suspend it."""
    try:
        places = [(path, action.value) for action in definition.suspend for path in action.path.paths(template)]
    except QueryError as error:
        raise InterpretationError(f"definition {definition.name}, suspendActions: {error}") from error
    return bool(places) and all(get(template, path) == value for path, value in places)


def _with_generation(
    status: dict[str, JSON], known: Object, template: Object, items: Sequence[StatusItem]
) -> dict[str, JSON]:
    """A member counts its generations for itself; they mean nothing here."""
    others = {key: value for key, value in status.items() if key != "observedGeneration"}
    agreed = agreed_generation(items, generation(template))
    if agreed is not None:
        return {**others, "observedGeneration": agreed}
    if "observedGeneration" in known:
        return {**others, "observedGeneration": known["observedGeneration"]}
    return others


def _with_starts(status: dict[str, JSON], starts: Object) -> dict[str, JSON]:
    """API servers refuse a Job whose start moves or goes while it is to run, or that has ended before it."""
    ends = {key: value for key, value in status.items() if is_end(key) and is_time(value)}
    return {**status, **starts, **{key: latest([end, *starts.values()]) for key, end in ends.items()}}


def _with_known(definition: Definition, status: dict[str, JSON], known: Object) -> dict[str, JSON]:
    """Put back counters that would fall or go, a 0 too, and what no member decides."""
    for (_, *path), rule in definition.annotations.aggregate.items():
        place = tuple(step for step in path if step is not None)
        parent = get(status, place[:-1])
        if len(place) < len(path) or not (parent is None or isinstance(parent, dict)):
            continue
        value, now = get(known, place), get(status, place)
        falls = is_number(value) and (now is None or (is_number(now) and now < value))
        if value is not None and (rule is AggregateRule.OMIT or (rule is AggregateRule.COUNTER and falls)):
            status = set_value(status, place, value)
    return status
