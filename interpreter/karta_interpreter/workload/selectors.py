"""The selectors, group keys and filters of a definition, evaluated for a pod.

Source: `PodQuerier` in `pkg/resource/pod_querier.go` of the Karta project.
"""

import json
from collections.abc import Iterable
from decimal import Decimal

from karta_interpreter.errors import QueryError, WorkloadError
from karta_interpreter.jq.inprocess.values import normal
from karta_interpreter.k8s.fields import label
from karta_interpreter.k8s.values import JSON, Object, type_name
from karta_interpreter.karta.definition import Component
from karta_interpreter.karta.pod_rules import PodQuery


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
