"""The number of units of each instance of a component."""

import re
from typing import NamedTuple

from karta_interpreter.base.k8s import JSON, MOST_REPLICAS, Object, type_name
from karta_interpreter.definitions.karta import ComponentRules, Definition
from karta_interpreter.engine.evaluation.evaluation import UNNAMED, aligned
from karta_interpreter.languages.jq import Query

# int() raises ValueError for more than 4,300 digits. The value comes from a user, and no count has a hundred digits.
_INTEGER = re.compile(r"[+-]?[0-9]{1,100}")
_LIKE_A_NUMBER = re.compile(r"[-+0-9.eE ]{0,32}")


class Scale(NamedTuple):
    """The counts of one instance as its object gives them. None stands for an absent count."""

    replicas: int | None
    minimum: int | None
    maximum: int | None

    @property
    def effective(self) -> int:
        """The replicas, else the minimum, else 1."""
        if self.replicas is not None:
            return self.replicas
        return 1 if self.minimum is None else self.minimum


def replica_counts(component: ComponentRules, obj: Object, ids: tuple[str, ...]) -> list[int]:
    """Return the effective replicas of each instance. The bounds are read only if they matter."""
    replicas = _counts(component, "replicasPath", component.replicas, obj, ids)
    if component.min_replicas is None or None not in replicas:
        return [1 if count is None else count for count in replicas]
    minimum = _counts(component, "minReplicasPath", component.min_replicas, obj, ids)
    return [Scale(count, least, None).effective for count, least in zip(replicas, minimum, strict=True)]


def unit_count(definition: Definition, unit: Query, obj: Object) -> int:
    """Return the number of units of an object, by the annotation of its definition."""
    (count,) = _counts(definition.root, "replicasPath", unit, obj, UNNAMED)
    return 1 if count is None else count


def scales(component: ComponentRules, obj: Object, ids: tuple[str, ...]) -> list[Scale]:
    """Return the scale of each instance. Raises InterpretationError if results and ids do not match."""
    replicas = _counts(component, "replicasPath", component.replicas, obj, ids)
    minimum = _counts(component, "minReplicasPath", component.min_replicas, obj, ids)
    maximum = _counts(component, "maxReplicasPath", component.max_replicas, obj, ids)
    return list(map(Scale, replicas, minimum, maximum))


def _counts(
    component: ComponentRules, field: str, query: Query | None, obj: Object, ids: tuple[str, ...]
) -> list[int | None]:
    """Return the count of each instance by one field. Only the bounds may be missing for all instances."""
    if query is None:
        return [None] * len(ids)
    # The usual value in one line, because counts are read for every request. `_count` gives the same result.
    return [
        value if type(value) is int and 0 <= value <= MOST_REPLICAS else _count(query, value)
        for value in aligned(component, query, obj, ids, may_lack=field != "replicasPath")
    ]


def _count(query: Query, value: JSON) -> int | None:
    if value is None:
        return None
    number: int | None = None
    if isinstance(value, str):  # read as by Go's ParseInt
        number = int(value) if _INTEGER.fullmatch(value) else None
    elif isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        # Floor division of infinity and NaN gives NaN, which equals nothing. int() would raise for them.
        number = int(value)
    if number is None:
        rounded = ": round it by `(…) | ceil`" if type(value) is float and "/" in query.text.replace("//", "") else ""
        raise query.unusable(f"gives {_shown(value)}, which is not a whole number{rounded}")
    if number < 0:
        raise query.unusable(f"gives {_shown(value)}; a number of replicas is not negative")
    if number > MOST_REPLICAS:
        raise query.unusable(f"gives {_shown(value)}, more than the largest count, {MOST_REPLICAS}")
    return number


def _shown(value: JSON) -> str:
    """Return a value for a message. Logs repeat messages, so only text that looks like a number is shown."""
    is_shown = _LIKE_A_NUMBER.fullmatch(value) if isinstance(value, str) else type(value) in (int, float)
    return repr(value) if is_shown else type_name(value)
