"""Whether there are pods to change."""

from collections.abc import Iterable

from karta_interpreter.errors import PathNotWritableError
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Component, Fragments
from karta_interpreter.karta.instances import instance_ids
from karta_interpreter.karta.templates import templates
from karta_interpreter.workload.reading import named


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
