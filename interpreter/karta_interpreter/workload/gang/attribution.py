"""Which component, instance and replica of a workload a pod belongs to.

The pods must be known to be the workload's, by their owners; selectors separate its components and nothing
else. Source: `pkg/instructions/pod.go` of the Karta project.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from karta_interpreter.errors import ComponentNotFoundError, QueryError, WorkloadError
from karta_interpreter.jq.inprocess.values import normal
from karta_interpreter.k8s.fields import label
from karta_interpreter.k8s.values import JSON, Object, type_name
from karta_interpreter.karta.definition import Component, Definition
from karta_interpreter.karta.evaluation import UNNAMED, instance_ids
from karta_interpreter.karta.schema_types import PodQuery
from karta_interpreter.workload.document import check_json


def matches_component_type(component: Component, pod: Object) -> bool:
    """Whether a pod is recognised as one of a component, as it never is without `componentTypeSelector`.

    The pod has all of `matchLabels`, and `keyPath` gives `value` or, where there is no value, anything but null.
    As in Karta's library ``KEYPATH == value`` is asked as one expression: of a path like ``.a // .b`` without
    parentheses it compares ``.b`` alone.
    """
    selector = component.selector.component_type
    if selector is None or any(label(pod, name) != value for name, value in selector.labels.items()):
        return False
    if selector.key is None:
        return bool(selector.labels)
    if selector.value is None:
        return any(found is not None for found in _ask(component, "keyPath", selector.key, pod))
    # The line break ends a comment that the path may end in.
    comparison = PodQuery(f"{selector.key.text}\n== {json.dumps(selector.value)}")
    return any(found is True for found in _ask(component, "keyPath", comparison, pod))


def extract_instance_id(component: Component, pod: Object) -> str | None:
    """Return the instance of a pod, None without `componentInstanceSelector`."""
    path = component.selector.instance_id
    return None if path is None else _key(component, "idPath", path, pod)


def extract_replica_key(component: Component, pod: Object) -> str | None:
    """Return the replica of a pod, None without `replicaSelector`."""
    path = component.selector.replica_key
    return None if path is None else _key(component, "replicaSelector.keyPath", path, pod)


def has_replica_key(component: Component, pod: Object) -> bool:
    """Return whether a pod names its replica; those of a component that may run without replicas need not."""
    path = component.selector.replica_key
    if path is None:
        return False
    return any(value not in (None, "") for value in _ask(component, "replicaSelector.keyPath", path, pod))


def extract_group_keys(component: Component, paths: Iterable[PodQuery], pod: Object) -> tuple[str, ...]:
    """What `groupByKeyPaths` give for a pod, one key for each path."""
    return tuple([_key(component, "groupByKeyPaths", path, pod) for path in paths])


def passes_filters(component: Component, filters: Iterable[PodQuery], pod: Object) -> bool:
    """Whether every filter gives true for a pod; anything else that a filter gives is not."""
    return all(_single(component, "filters", each, pod) is True for each in filters)


def pod_name(pod: Object) -> str:
    """What to call a pod in a message.

    >>> pod_name({"metadata": {"name": "web-0"}}), pod_name({})
    ('web-0', '(unnamed)')
    """
    metadata = pod.get("metadata")
    name = metadata.get("name") or metadata.get("generateName") if isinstance(metadata, dict) else None
    return str(name or "(unnamed)")


def _key(component: Component, field: str, path: PodQuery, pod: Object) -> str:
    """A single answer as text."""
    value = _single(component, field, path, pod)
    if isinstance(value, dict | list):
        raise _failure(component, field, path, pod, f"gives {type_name(value)}; a key is a text, number or boolean")
    return go_text(value, of_object=isinstance(value, int) and _is_read(path, pod))


def _single(component: Component, field: str, path: PodQuery, pod: Object) -> JSON:
    """The one answer that there must be, neither null nor empty."""
    results = _ask(component, field, path, pod)
    if len(results) != 1:
        raise _failure(component, field, path, pod, f"gives {len(results)} results where one belongs")
    if results[0] is None or results[0] == "":
        raise _failure(component, field, path, pod, f"gives {json.dumps(results[0])}, which says nothing")
    return results[0]


def _ask(component: Component, field: str, path: PodQuery, pod: Object) -> list[JSON]:
    try:
        return path.query.evaluate(pod)
    except QueryError as err:
        raise _failure(component, field, path, pod, str(err).removeprefix(f"{path.text}: ")) from err


def _is_read(path: PodQuery, pod: Object) -> bool:
    """Whether the answer is a value of the pod and not one that the expression computes."""
    try:
        (location,) = path.query.locate_each(pod)
    except QueryError:
        return False
    return location is not None and location.is_plain


def _failure(component: Component, field: str, path: PodQuery, pod: Object, reason: str) -> WorkloadError:
    where = f"definition {component.definition}, component {component.name}, {field} `{path.text}`"
    return WorkloadError(f"{where}, pod {pod_name(pod)}: {reason}")


_FIXED = range(-4, 6)
"""The powers of ten of the first digit for which Go writes no exponent (`%g` with the shortest digits)."""


def go_text(value: str | bool | float, *, of_object: bool = True) -> str:
    """A text, boolean or number as Go writes it.

    Every number of an object is a floating-point number to Go, and large ones get an exponent; whole numbers that
    jq computes are integers, written as they are.

    >>> go_text(8080), go_text(1000000), go_text(1000000, of_object=False), go_text(True)
    ('8080', '1e+06', '1000000', 'true')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not of_object:
        return str(value)
    return _shortest(Decimal(repr(float(normal(value)))).normalize())


def _shortest(number: Decimal) -> str:
    if number.adjusted() in _FIXED:
        return f"{number:f}"
    mantissa, exponent = f"{number:e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"


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
