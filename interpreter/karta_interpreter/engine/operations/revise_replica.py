"""ReviseReplica: write a number of pods so that InterpretReplica then reads exactly that number."""

from collections.abc import Iterator, Sequence
from functools import reduce
from textwrap import shorten

from karta_interpreter.base.errors import InterpretationError, QueryError
from karta_interpreter.base.k8s import Object
from karta_interpreter.base.k8s.projection import Projection
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import (
    ScaleLocation,
    leaves_count_unset,
    pod_set_reads,
    scale_locations,
    total_replicas,
)
from karta_interpreter.engine.operations.apportion import ScaleTarget, scale_targets, share
from karta_interpreter.languages.jq import take_outputs

_ADVICE = (
    "Karmada can place it undivided: a spread constraint with maxGroups 1 runs the whole of it in one cluster, "
    "replicaSchedulingType Duplicated runs the whole of it in every cluster"
)
_LONGEST = 120
"""The most characters of an expression that a message repeats."""


def revise_replica(definition: Definition, obj: Object, replicas: int) -> Object:
    """Return the object with a total of ``replicas`` pods, or the object itself if it has that many already.

    The elastic pod sets share the pods that the others leave, in proportion to their present counts. A number that
    cannot be reached is an error with the reason, never a number near it. A default that equals the number is written,
    because Retain keeps the member's count if the template has none.
    """
    scales = scale_locations(definition, obj)
    is_reached = replicas == sum(scale.pod_set.replicas for scale in scales)
    if is_reached and not leaves_count_unset(definition, obj):
        return obj
    targets = scale_targets(scales, elastic_pod_sets(definition, scales))
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
        reason = f"the object would then have {reached} by {_expressions(definition, targets)}"
        raise _cannot(definition, replicas, reason)
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
    left = replicas - sum(scale.pod_set.replicas for scale in fixed)
    counts = share(left, targets) if left >= 0 else None
    if counts is None:
        raise _cannot(definition, replicas, "; ".join(map(str, (*targets, *_descriptions(definition, fixed)))))
    return counts


def _expressions(definition: Definition, targets: Sequence[ScaleTarget]) -> str:
    """Return the expressions that count the pods to be changed."""
    moved = {scale.pod_set.component for target in targets for scale in target.scales}
    counts = {
        component.name: component.replicas or component.min_replicas
        for component in definition.components
        if component.name in moved
    }
    return ", ".join(f"`{_shortened(count.text)}` of {name}" for name, count in counts.items() if count)


def _shortened(text: str) -> str:
    return shorten(text, _LONGEST, placeholder=" …")


def _nothing_elastic(definition: Definition, fixed: Sequence[ScaleLocation]) -> str:
    if not fixed:
        return "the object has no pod template"
    if definition.annotations.is_indivisible:
        pods = sum(scale.pod_set.replicas for scale in fixed)
        return f"it has {pods}, and its definition does not let them be divided (karta-interpreter.io/elastic: none)"
    written = sorted({scale.pod_set.component for scale in fixed if scale.replicas or scale.minimum})
    hint = (
        "name the components that may change in the annotation "
        f"karta-interpreter.io/elastic (there are: {', '.join(written)})"
    )
    return "; ".join([*_descriptions(definition, fixed), *([hint] if written else ())])


def _descriptions(definition: Definition, fixed: Sequence[ScaleLocation]) -> Iterator[str]:
    counts = {component.name: component.replicas or component.min_replicas for component in definition.components}
    for scale in fixed:
        count = counts[scale.pod_set.component]
        stays = f"{scale.pod_set.name} stays at {scale.pod_set.replicas}"
        if scale.count is not None or count is None:
            yield stays
        else:
            yield f"{stays}, for its count `{_shortened(count.text)}` is not a field to write"


def _cannot(definition: Definition, replicas: int, reason: str) -> InterpretationError:
    return InterpretationError(f"definition {definition.name}: cannot set {replicas} replicas: {reason}; {_ADVICE}")
