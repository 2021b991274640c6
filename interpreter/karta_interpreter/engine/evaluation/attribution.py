"""Finds the component, instance and replica of a workload that a pod belongs to.

The caller must know from the owners that the pods belong to the workload. Selectors only separate its components.
Source: `pkg/instructions/pod.go` of the Karta project.
"""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from karta_interpreter.base.errors import ComponentNotFoundError, QueryError, WorkloadError
from karta_interpreter.base.k8s import JSON, Object, get, label, type_name
from karta_interpreter.definitions.karta import ComponentRules, Definition, PodQuery
from karta_interpreter.engine.evaluation.evaluation import instance_ids
from karta_interpreter.languages.jq import normal, quoted
from karta_interpreter.languages.lua.go_numbers import shortest


@dataclass(frozen=True, slots=True)
class Attribution:
    """The place of a pod in a workload.

    ``instance`` is "" for a component without named instances. ``replica`` is None if neither the component nor an
    owner has a `replicaSelector`, or the pod does not have the selector's key.
    """

    component: str
    instance: str = ""
    replica: str | None = None


def attributing(definition: Definition, obj: Object) -> Callable[[Object], Attribution]:
    """Return a function from a pod to its place, which reads the instances of the object once.

    It raises ComponentNotFoundError as `component_of` and `instance_of`.
    """
    ids = dict[str, Collection[str]]()

    def attribute(pod: Object) -> Attribution:
        component = component_of(definition, pod)
        if component.name not in ids:
            ids[component.name] = dict.fromkeys(instance_ids(component, obj))
        instance, maker = instance_of(component, ids[component.name], pod), replica_maker(definition, component.name)
        return Attribution(component.name, instance, None if maker is None else extract_replica_key(maker, pod))

    return attribute


def attribute_all(definition: Definition, obj: Object, pods: Iterable[Object]) -> tuple[Attribution, ...]:
    """Return the place of each pod. Raises one WorkloadError that names every pod without a place."""
    attribute, attributions, failures = attributing(definition, obj), list[Attribution](), list[str]()
    for pod in pods:
        try:
            attributions.append(attribute(pod))
        except WorkloadError as err:
            failures.append(str(err))
    if failures:
        raise WorkloadError("\n".join(failures))
    return tuple(attributions)


def component_of(definition: Definition, pod: Object) -> ComponentRules:
    """Return the first component with a matching selector, or the only one with pods.

    Raises ComponentNotFoundError.
    """
    leaves = definition.leaves
    if len(leaves) == 1:
        # As upstream in `InferPodComponent`: the only component needs no selector, and its selector is not evaluated.
        return leaves[0]
    for leaf in leaves:
        if matches_component_type(leaf, pod):
            return leaf
    names = ", ".join(leaf.name for leaf in leaves) or "there are none"
    raise ComponentNotFoundError(
        f"definition {definition.name}: pod {pod_name(pod)} is of none of the components that have pods ({names}): "
        "is it one of another workload?"
    )


def instance_of(component: ComponentRules, ids: Collection[str], pod: Object) -> str:
    """Return the instance of a pod, "" for one without a name. Raises ComponentNotFoundError for an unknown one."""
    if component.instance_ids is None:
        return ""
    if component.selector.instance_id is None and len(ids) != 1:
        raise ComponentNotFoundError(
            f"{component}: the definition has no componentInstanceSelector, so pods cannot be told apart by instance"
        )
    key = next(iter(ids)) if component.selector.instance_id is None else instance_key(component, pod)
    if key is None or key not in ids:
        message = f"pod {pod_name(pod)} is of the instance {key!r}; the object has {', '.join(ids) or 'none'}"
        raise ComponentNotFoundError(f"{component}: {message}")
    return key


def instance_key(component: ComponentRules, pod: Object) -> str | None:
    """Return the instance that a pod names, whether the object has it or not. None if it names none."""
    path = component.selector.instance_id
    return None if path is None else _key(component, "idPath", path, pod)


def replica_maker(definition: Definition, component: str) -> ComponentRules | None:
    """Return the component that makes the replicas: the nearest one upwards with a `replicaSelector`."""
    lineage = definition.lineage(component)
    return next((ancestor for ancestor in lineage if ancestor.selector.replica_key is not None), None)


def matches_component_type(component: ComponentRules, pod: Object) -> bool:
    """Return whether a pod is recognised as one of a component. It never is without `componentTypeSelector`.

    The pod must have all of `matchLabels`, and `keyPath` must give `value` or, without a value, anything but null. As
    in Karta's library, ``KEYPATH == value`` is evaluated as one expression. For a path like ``.a // .b`` without
    parentheses this compares only ``.b``.
    """
    selector = component.selector.component_type
    if selector is None or any(label(pod, name) != value for name, value in selector.labels.items()):
        return False
    if selector.key is None:
        return bool(selector.labels)
    if selector.value is None:
        return any(answer is not None for answer in _ask(component, "keyPath", selector.key, pod))
    # The path may end in a comment, and the line break ends it.
    comparison = PodQuery(f"{selector.key.text}\n== {json.dumps(selector.value)}")
    return any(answer is True for answer in _ask(component, "keyPath", comparison, pod))


def extract_replica_key(component: ComponentRules, pod: Object) -> str | None:
    """Return the replica of a pod, or None if the pod names none: components may run without replicas."""
    path, field = component.selector.replica_key, "replicaSelector.keyPath"
    if path is None or all(value in (None, "") for value in _ask(component, field, path, pod)):
        return None
    return _key(component, field, path, pod)


def extract_group_keys(component: ComponentRules, paths: Iterable[PodQuery], pod: Object) -> tuple[str, ...]:
    """Return the keys of a pod by `groupByKeyPaths`, one for each path."""
    return tuple([_key(component, "groupByKeyPaths", path, pod) for path in paths])


def passes_filters(component: ComponentRules, filters: Iterable[PodQuery], pod: Object) -> bool:
    """Return whether every filter gives true for a pod. Any other result counts as false."""
    return all(_single(component, "filters", condition, pod) is True for condition in filters)


def pod_name(pod: Object) -> str:
    """Return the name of a pod for a message.

    >>> pod_name({"metadata": {"name": "web-0", "generateName": "web-"}}), pod_name({})
    ('web-0', '(unnamed)')
    """
    return str(get(pod, ("metadata", "name")) or get(pod, ("metadata", "generateName")) or "(unnamed)")


def _key(component: ComponentRules, field: str, path: PodQuery, pod: Object) -> str:
    value = _single(component, field, path, pod)
    if isinstance(value, dict | list):
        raise _failure(component, field, path, pod, f"gives {type_name(value)}; a key is a text, number or boolean")
    # Karta's library formats keys with Go's %v, which writes a float64 of the object differently from an int that jq
    # computes.
    return go_text(value, of_object=isinstance(value, int) and _is_read(path, pod))


def _single(component: ComponentRules, field: str, path: PodQuery, pod: Object) -> JSON:
    results = _ask(component, field, path, pod)
    if len(results) != 1:
        raise _failure(component, field, path, pod, f"gives {len(results)} results where one belongs")
    value = results[0]
    if value in (None, ""):
        said = f"gives {json.dumps(value)}, which says nothing: is it a pod of another workload?"
        raise _failure(component, field, path, pod, said)
    return value


def _ask(component: ComponentRules, field: str, path: PodQuery, pod: Object) -> list[JSON]:
    try:
        return path.query.evaluate(pod)
    except QueryError as err:
        raise _failure(component, field, path, pod, err.reason) from err


def _is_read(path: PodQuery, pod: Object) -> bool:
    """Return whether the answer is a value of the pod, not computed by the expression."""
    try:
        (location,) = path.query.locate_each(pod)
    except QueryError:
        return False
    return location is not None and location.is_plain


def _failure(component: ComponentRules, field: str, path: PodQuery, pod: Object, reason: str) -> WorkloadError:
    return WorkloadError(f"{component}, {field} `{quoted(path.text)}`, pod {pod_name(pod)}: {reason}")


def go_text(value: str | bool | float, *, of_object: bool = True) -> str:
    """Return a text, boolean or number as Go writes it.

    Go reads every number of an object as a floating-point number, and writes large ones with an exponent. Whole numbers
    that jq computes are integers and are written as they are.

    >>> go_text(8080), go_text(1000000), go_text(1000000, of_object=False), go_text(True)
    ('8080', '1e+06', '1000000', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) or (isinstance(value, int) and not of_object):
        return str(value)
    return shortest(normal(value))
