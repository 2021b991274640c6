"""The instances of a component: one, or one for each instance id."""

from karta_interpreter.k8s.values import JSON, Object, type_name
from karta_interpreter.karta.definition import Component
from karta_interpreter.karta.evaluation import evaluate, failure

UNNAMED = ("",)
"""The ids of a component without `instanceIdPath`: a single instance, which has no id."""


def instance_ids(component: Component, obj: Object) -> tuple[str, ...]:
    """The id of every instance, in the order of the object.

    Ids must be strings, not empty and unique. (Karta's library lets the last of two equal ids win, which loses
    a part of the workload.)
    """
    query = component.instance_ids
    if query is None:
        return UNNAMED
    ids = evaluate(component, "instanceIdPath", query, obj)
    for index, value in enumerate(ids):
        if type(value) is not str or not value:
            raise failure(component, "instanceIdPath", query, _not_an_id(index, value))
    if len(set(ids)) < len(ids):
        raise failure(component, "instanceIdPath", query, _repeated(ids))
    return tuple(ids)


def positions(component: Component, obj: Object) -> tuple[str, ...]:
    """The numbers of the instances as text, in the place of ids where names do not matter and may be missing."""
    query = component.instance_ids
    if query is None:
        return UNNAMED
    return tuple(map(str, range(len(evaluate(component, "instanceIdPath", query, obj)))))


def _not_an_id(index: int, value: JSON) -> str:
    found = "an empty string" if value == "" else type_name(value)
    return f"result {index} is {found}; an instance id is a string that is not empty"


def _repeated(ids: list[str]) -> str:
    name = next(name for name in ids if ids.count(name) > 1)
    return f'two instances have the id "{name}"; ids must be unique'
