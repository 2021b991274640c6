"""ReviseComponents, the inverse of InterpretComponent: writes counts to the fields that they are read from.

Karmada stores the components of each cluster in a binding, ``spec.clusters[].components``.
"""

from collections.abc import Mapping, Sequence

from karta_interpreter.base.errors import (
    ComponentNotFoundError,
    InterpretationError,
    PathNotWritableError,
    QueryWriteError,
    WorkloadError,
    WriteVerificationError,
)
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import MOST_REPLICAS, Object, field_path
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import ScaleLocation, scale_locations
from karta_interpreter.engine.operations.apportion import ScaleTarget, scale_targets, why_fixed
from karta_interpreter.engine.operations.call import TargetComponent


def revise_components(definition: Definition, obj: Object, components: Sequence[TargetComponent]) -> Object:
    """Return the object with these components, which are all of its components, each once.

    With the components that it has it is returned unchanged. Raises InterpretationError.
    """
    scales, counts = _scales(definition, obj), dict(components)
    names = [name for name, _ in components]
    if double := [name for name in counts if names.count(name) > 1]:
        raise InterpretationError(f"definition {definition.name}: {', '.join(double)} is named more than once")
    if missing := [name for name in scales if name not in counts]:
        message = f"{', '.join(missing)} has no count; name all components"
        raise InterpretationError(f"definition {definition.name}: {message}")
    if counts == {name: scale.pod_set.replicas for name, scale in scales.items()}:
        return obj
    try:
        return _revised(definition, obj, scales, counts)
    except WorkloadError as error:
        raise InterpretationError(str(error)) from error


def set_components(definition: Definition, obj: Object, counts: Mapping[str, int]) -> Object:
    """Return the object with these counts of components, and the present counts of all other components.

    InterpretComponent gives the names, and then gives these counts. If nothing changes, the same object is returned.
    However, a default that a named component leaves to its API is written, as in ReviseReplica.
    """
    return _revised(definition, obj, _scales(definition, obj), counts)


def _scales(definition: Definition, obj: Object) -> dict[str, ScaleLocation]:
    return {scale.pod_set.name: scale for scale in scale_locations(definition, obj)}


def _revised(
    definition: Definition, obj: Object, scales: Mapping[str, ScaleLocation], counts: Mapping[str, int]
) -> Object:
    for name, count in counts.items():
        if name not in scales:
            instances = [other for other, scale in scales.items() if scale.places.component.name == name]
            hint = did_you_mean(str(name), scales) if scales else "the object has none"
            if instances:
                hint = f"it has the instances {', '.join(instances[:5])}: give these"
            raise ComponentNotFoundError(f'definition {definition.name}: there is no component "{name}"; {hint}')
        if type(count) is not int or not 0 <= count <= MOST_REPLICAS:
            message = f"the replicas of {name} must be a whole number from 0 to {MOST_REPLICAS}, not {count!r}"
            raise WorkloadError(f"definition {definition.name}: {message}")
    present = {name: scale.pod_set.replicas for name, scale in scales.items()}
    changed = {name for name, count in counts.items() if count != present[name]}
    if changed and definition.annotations.is_indivisible:
        reason = "its definition does not let the workload be divided (karta-interpreter.io/elastic: none)"
        raise PathNotWritableError(f"{_cannot(definition, min(changed), counts)}: {reason}")
    targets = scale_targets(scales.values(), frozenset(counts))
    for name in sorted(changed - {name for target in targets for name in target.pod_sets}):
        raise PathNotWritableError(f"{_cannot(definition, name, counts)}: {why_fixed(scales[name].places.component)}")
    revised = obj
    for target in targets:
        revised = _written(definition, target, counts, changed, revised)
    _check(definition, targets, {**present, **counts}, revised)
    return revised


def _check(
    definition: Definition, targets: Sequence[ScaleTarget], expected: Mapping[str, int], revised: Object
) -> None:
    """Raise for another count than the expected one: components may share a field, or one count depend on another."""
    actual = {name: scale.pod_set.replicas for name, scale in _scales(definition, revised).items()}
    for name in {**expected, **actual}:
        if actual.get(name) == expected.get(name):
            continue
        shared = next((target for target in targets if name in target.pod_sets), None)
        location = shared and shared.scales[0].count
        why = ""
        if shared and location:
            why = f": {field_path(location.path)} counts {' and '.join(shared.pod_sets)}"
        message = f"{name} would become {actual.get(name)}, not {expected.get(name)}{why}; nothing was changed"
        raise WriteVerificationError(f"definition {definition.name}: {message}")


def _written(
    definition: Definition, target: ScaleTarget, counts: Mapping[str, int], changed: set[str], obj: Object
) -> Object:
    for scale in target.scales:
        name, location = scale.pod_set.name, scale.count
        if name in changed and location is not None and location.factor:
            units, remainder = divmod(counts[name], location.factor)
            if remainder or not target.least <= units <= target.most:
                reason = f"its count changes in steps of {location.factor}" if remainder else str(target)
                raise PathNotWritableError(f"{_cannot(definition, name, counts)}: {reason}")
            try:
                return target.write(obj, units)
            except QueryWriteError as error:
                raise PathNotWritableError(f"{_cannot(definition, name, counts)}: {error}") from error
    return target.write_default(obj, target.units)


def _cannot(definition: Definition, name: str, counts: Mapping[str, int]) -> str:
    return f"definition {definition.name}: cannot set {name} to {counts[name]}"
