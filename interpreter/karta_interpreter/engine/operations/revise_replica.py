"""ReviseReplica: write a number of units or pods so that InterpretReplica then reads exactly that number."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain
from typing import TypeAlias

from karta_interpreter.base.errors import InterpretationError, QueryError
from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s import Object, Projection, field_path
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import (
    ScaleLocation,
    has_pod_sets,
    leaves_count_unset,
    pod_set_reads,
    scale_locations,
    total_replicas,
    unit_count,
)
from karta_interpreter.engine.operations.apportion import ScaleTarget, fields_read, scale_targets, share, why_fixed
from karta_interpreter.languages.jq import take_outputs

_ADVICE = (
    "Karmada can place it undivided: a spread constraint with maxGroups 1 runs the whole of it in one cluster, "
    "replicaSchedulingType Duplicated runs the whole of it in every cluster"
)

_Elastic: TypeAlias = Callable[[Definition, Sequence[ScaleLocation]], frozenset[str]]
"""Returns the names of the pod sets with a count that may change."""

_OLDER = (
    "the share is of an older number, or of pods that an older release counted: Karmada asks again when its scheduler "
    "has divided the new number"
)


def revise_replica(definition: Definition, obj: Object, replicas: int) -> Object:
    """Return the object with a share of its units or a total of pods, or the object itself if it has that many already.

    A share is never more than the whole: more units than the object has are a share of an older count, or of pods.
    """
    unit = definition.annotations.unit
    if unit is None:
        return _with_pods(definition, obj, replicas, elastic_pod_sets)
    has_pods = has_pod_sets(definition, obj)
    whole = unit_count(definition, unit, obj) if has_pods else 0
    if replicas > whole:
        reason = f"the object has {whole} units, and a share is never more"
        raise unit.unusable(f"cannot set {replicas} replicas: {reason}; {_OLDER}")
    return revise_units(definition, obj, replicas) if has_pods else obj


def revise_units(definition: Definition, obj: Object, units: int) -> Object:
    """Return the object with so many units. Raises InterpretationError if it cannot have them."""
    return _with_pods(
        definition.in_units or definition, obj, units, lambda _, scales: frozenset([scales[0].pod_set.name])
    )


def _with_pods(definition: Definition, obj: Object, replicas: int, elastic: _Elastic) -> Object:
    """Return the object with a total of pods.

    The elastic pod sets share the pods that the others leave, in proportion to their present counts. A number that
    cannot be reached is an error with the reason, never a number near it. A default that equals the number is written,
    because Retain keeps the member's count if the template has none.
    """
    scales = scale_locations(definition, obj)
    is_reached = replicas == sum(scale.pod_set.replicas for scale in scales)
    if is_reached and not leaves_count_unset(definition, obj):
        return obj
    targets = scale_targets(scales, elastic(definition, scales))
    if is_reached:
        return reduce(lambda revised, target: target.write_default(revised, target.units), targets, obj)
    moved = {name for target in targets for name in target.pod_sets}
    counts = _shared(definition, replicas, targets, [scale for scale in scales if scale.pod_set.name not in moved])
    revised = obj
    try:
        for target, count in zip(targets, counts, strict=True):
            revised = target.write(revised, count)
    except QueryError as error:
        raise _cannot(definition, replicas, str(error)) from error
    # Bounds in expressions and pod sets that share a field may give another number than was written.
    reached = total_replicas(definition, revised)
    if reached != replicas:
        written = chain.from_iterable(target.scales for target in targets)
        components = {scale.pod_set.component: scale.places.component for scale in written}
        counted = "; ".join(f"for {name}, {why_fixed(component)}" for name, component in components.items())
        raise _cannot(definition, replicas, f"the object would then have {reached}: {counted}")
    return revised


def revision_reads(definition: Definition, projection: Projection) -> None:
    """Mark what ReviseReplica reads of an object."""
    pod_set_reads(definition, projection)
    take_outputs(projection, *(component.max_replicas for component in definition.components))


def elastic_pod_sets(definition: Definition, scales: Sequence[ScaleLocation]) -> frozenset[str]:
    """Return the names of the pod sets with a count that may change.

    The ``elastic`` annotation names their components and instances (``none`` for none). Without it, a lone pod set is
    elastic, else the components with bounds, else the pod sets with more than one replica: a single master should stay
    alone.
    """
    annotations, sets = definition.annotations, [scale.pod_set for scale in scales]
    if annotations.elastic is not None:
        return frozenset(pods.name for pods in sets if annotations.is_elastic(pods.component, pods.instance))
    if len(scales) == 1:
        return frozenset({scales[0].pod_set.name})
    bounded = {
        component.name for component in definition.components if component.min_replicas or component.max_replicas
    }
    elastic = [scale.pod_set.name for scale in scales if scale.pod_set.component in bounded]
    return frozenset(elastic or (scale.pod_set.name for scale in scales if scale.pod_set.replicas > 1))


def _shared(
    definition: Definition, replicas: int, targets: Sequence[ScaleTarget], fixed: Sequence[ScaleLocation]
) -> Sequence[int]:
    if not targets:
        raise _cannot(definition, replicas, _nothing_elastic(definition, fixed))
    to_share = replicas - sum(scale.pod_set.replicas for scale in fixed)
    counts = share(to_share, targets) if to_share >= 0 else None
    if counts is None:
        raise _cannot(definition, replicas, "; ".join([*map(str, targets), *map(_description, fixed)]))
    return counts


def _nothing_elastic(definition: Definition, fixed: Sequence[ScaleLocation]) -> str:
    if not fixed:
        fields = fields_read(*(query for leaf in definition.leaves for query in leaf.pod_queries.values()))
        return f"the object has no pod template{fields and f' at {fields}'}"
    if definition.annotations.is_indivisible:
        pods = sum(scale.pod_set.replicas for scale in fixed)
        return f"it has {pods}, and its definition does not let them be divided (karta-interpreter.io/elastic: none)"
    writable = [scale.pod_set for scale in fixed if scale.count and scale.count.factor]
    names = set()
    for pod_set in writable:
        names.add(pod_set.component)
        if pod_set.instance:
            names.add(f"{pod_set.component}/{pod_set.instance}")
    reasons = [*map(_description, fixed)]
    if names:
        annotation = f"karta-interpreter.io/elastic (there are: {listed(sorted(names))})"
        reasons.append(f"name the components that may change in the annotation {annotation}")
    return "; ".join(reasons)


def _description(scale: ScaleLocation) -> str:
    location = scale.count
    reason = field_path(location.path) if location and location.factor else why_fixed(scale.places.component)
    return f"{scale.pod_set.name} stays at {scale.pod_set.replicas} ({reason})"


def _cannot(definition: Definition, replicas: int, reason: str) -> InterpretationError:
    return InterpretationError(f"definition {definition.name}: cannot set {replicas} replicas: {reason}; {_ADVICE}")
