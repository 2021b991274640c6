"""What the keys of pod groups tell apart: components, their instances, or the replicas of one.

Keys and selectors are expressions, so they are tried: what a selector reads in a pod is overwritten, and a key that
then has another answer divides pods by it.
"""

from collections.abc import Iterable

from karta_interpreter.errors import InterpretationError, QueryError
from karta_interpreter.k8s.edit import set_value
from karta_interpreter.k8s.values import JSON, Object, Path
from karta_interpreter.karta.definition import Component
from karta_interpreter.karta.pod_rules import PodQuery

_OTHER = "another-one"

Keys = tuple[PodQuery, ...]


def divides_components(keys: Keys, component: Component, pod: Object) -> bool:
    """Whether pods of a component have other keys than pods of another one."""
    selector = component.selector.component_type
    if selector is None:
        return False
    labels: list[Path] = [("metadata", "labels", name) for name in selector.labels]
    return _changes(keys, labels, pod) or _divides(keys, selector.key, pod)


def divides_instances(keys: Keys, component: Component, pod: Object) -> bool:
    """Whether pods of one instance of a component have other keys than those of another instance."""
    return _divides(keys, component.selector.instance_id, pod)


def divides_replicas(keys: Keys, component: Component, pod: Object) -> bool:
    """Whether pods of one replica of a component have other keys than those of another replica."""
    return _divides(keys, component.selector.replica_key, pod)


def _divides(keys: Keys, selector: PodQuery | None, pod: Object) -> bool:
    if selector is None:
        return False
    try:
        locations = selector.query.locate_each(pod)
    except QueryError:
        locations = []
    places = [location.path for location in locations if location is not None]
    if places:
        return _changes(keys, places, pod)
    # What a computed selector reads is unknown; a key with the same text gives the same.
    return any(key.text == selector.text for key in keys)


def _changes(keys: Keys, places: Iterable[Path], pod: Object) -> bool:
    changed: JSON = pod
    try:
        for place in places:
            changed = set_value(changed, place, _OTHER)
    except InterpretationError:
        return False
    return any(_answer(key, changed) != _answer(key, pod) for key in keys)


def _answer(key: PodQuery, pod: JSON) -> list[JSON] | None:
    try:
        return key.query.evaluate(pod)
    except QueryError:
        return None
