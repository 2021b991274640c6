"""Which component, instance and replica of a workload a pod belongs to.

The pods must be known to be the workload's, by their owners; selectors separate its components and nothing
else. Source: `pkg/instructions/pod.go` of the Karta project.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from karta_interpreter.errors import ComponentNotFoundError, WorkloadError
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Component, Definition
from karta_interpreter.karta.evaluation import UNNAMED, instance_ids
from karta_interpreter.workload.document import check_json
from karta_interpreter.workload.selectors import (
    extract_instance_id,
    extract_replica_key,
    has_replica_key,
    matches_component_type,
    pod_name,
)


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where a pod belongs.

    ``instance`` is "" for a component without instances that have names; ``replica`` is None where neither the
    component nor an owner of it has a `replicaSelector`, or the pod has no such key.
    """

    component: str
    instance: str = ""
    replica: str | None = None


def checked_pod(pod: Object) -> Object:
    """The pod, which has to be a dict of JSON values; raises WorkloadError."""
    if not isinstance(pod, dict):
        raise WorkloadError(f"a pod is a dict of JSON values, not {type(pod).__name__}")
    check_json(pod)
    return pod


def infer_component(definition: Definition, pod: Object) -> str:
    """The component that a pod is of: the first whose `componentTypeSelector` recognises it.

    A single component that has pods has them all, without being asked. Raises ComponentNotFoundError.
    """
    return _component(definition, pod).name


def infer_instance(definition: Definition, obj: Object, pod: Object) -> str:
    """The id of the instance that a pod is of, "" for a component whose instance has no name.

    Raises ComponentNotFoundError for a component that is not found, and for an instance that the object does not
    have, such as that of a pod which has outlived its entry.
    """
    return _instance(_component(definition, pod), obj, pod)


def attribute(definition: Definition, obj: Object, pod: Object) -> Attribution:
    """Where a pod belongs; raises as `infer_instance`."""
    component = _component(definition, pod)
    return Attribution(component.name, _instance(component, obj, pod), _replica(definition, component, pod))


def attribute_all(definition: Definition, obj: Object, pods: Iterable[Object]) -> tuple[Attribution, ...]:
    """Where each pod belongs; raises one WorkloadError that names every pod which belongs nowhere."""
    found: list[Attribution] = []
    failures: list[str] = []
    for pod in pods:
        try:
            found.append(attribute(definition, obj, pod))
        except WorkloadError as err:
            failures.append(str(err))
    if failures:
        raise WorkloadError("\n".join(failures))
    return tuple(found)


def replica_maker(definition: Definition, component: str) -> Component | None:
    """The component at whose level replicas are made: the nearest one upwards that has a `replicaSelector`."""
    lineage = definition.lineage(component)
    return next((each for each in lineage if each.selector.replica_key is not None), None)


def _component(definition: Definition, pod: Object) -> Component:
    leaves = definition.leaves
    if len(leaves) == 1:
        return leaves[0]
    found = next((leaf for leaf in leaves if matches_component_type(leaf, pod)), None)
    if found is not None:
        return found
    names = ", ".join(leaf.name for leaf in leaves) or "there are none"
    raise ComponentNotFoundError(
        f"definition {definition.name}: pod {pod_name(pod)} is of none of the components that have pods ({names})"
    )


def _instance(component: Component, obj: Object, pod: Object) -> str:
    ids = instance_ids(component, obj)
    if ids == UNNAMED:
        return ""
    said = extract_instance_id(component, pod)
    if said in ids:
        return said
    where = f"definition {component.definition}, component {component.name}"
    raise ComponentNotFoundError(
        f"{where}: pod {pod_name(pod)} is of the instance {said!r}; the object has {', '.join(ids) or 'none'}"
    )


def _replica(definition: Definition, component: Component, pod: Object) -> str | None:
    maker = replica_maker(definition, component.name)
    return extract_replica_key(maker, pod) if maker and has_replica_key(maker, pod) else None
