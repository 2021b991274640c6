"""Whether there are pods to change."""

from collections.abc import Iterable

from interpreter.errors import PathNotWritableError
from interpreter.k8s.values import Object
from interpreter.karta.definition import Component, Fragments
from interpreter.karta.instances import instance_ids
from interpreter.karta.templates import templates
from interpreter.workload.reading import named


def check_pods_exist(component: Component, obj: Object, names: Iterable[str]) -> None:
    """Raise PathNotWritableError for an instance whose pods the object does not have.

    A change to them would bring half of them into being: a count without a template, a scheduler without
    containers. Pods given in pieces have no such half.
    """
    if component.pods is None or isinstance(component.pods, Fragments):
        return
    ids = instance_ids(component, obj)
    found = dict(zip(ids, templates(component, component.pods, obj, ids), strict=True))
    for name in names:
        if found[name] is None:
            instance = f" of {name}" if name else ""
            raise PathNotWritableError(f"{named(component)}: the workload has no pods{instance} to change")
