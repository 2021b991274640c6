"""Containers that an operator adds to the pods of a workload: the annotation `added-containers`."""

from collections.abc import Mapping, Sequence

from karta_interpreter.errors import InterpretationError, QueryError
from karta_interpreter.k8s.values import JSON, Object, type_name
from karta_interpreter.karta.annotations import AddedContainers
from karta_interpreter.karta.definition import Component, Definition

_LISTS = ("initContainers", "containers")
_NONE: Mapping[str, list[JSON]] = {}


def with_added(
    definition: Definition, component: Component, obj: Object, templates: Sequence[Object | None]
) -> Sequence[Object | None]:
    """The pod templates of a component with the containers that its operator adds, which come last.

    Raises InterpretationError when the expression fails or does not give lists of containers.
    """
    for each in definition.annotations.added:
        if each.component == component.name and (lists := _lists(definition, each, obj)):
            return [template and _extended(template, lists) for template in templates]
    return templates


def _lists(definition: Definition, added: AddedContainers, obj: Object) -> Mapping[str, list[JSON]]:
    where = f"definition {definition.name}, annotation added-containers, component {added.component}"
    try:
        value = added.query.first(obj)
    except QueryError as error:
        raise InterpretationError(f"{where}: {error}") from error
    if value is None:
        return _NONE
    if type(value) is not dict:
        raise InterpretationError(f"{where}: gives {type_name(value)} where an object with lists of containers belongs")
    for field, containers in value.items():
        if field not in _LISTS or type(containers) not in (list, type(None)):
            raise InterpretationError(f"{where}: gives {field}; there are the lists {' and '.join(_LISTS)}")
    return {field: containers for field, containers in value.items() if containers}


def _extended(template: Object, lists: Mapping[str, list[JSON]]) -> Object:
    spec = {**template["spec"]}
    for field, added in lists.items():
        own = spec.get(field)
        if own is None or type(own) is list:  # what is no list is told of where containers are read
            spec[field] = [*own, *added] if own else added
    return {**template, "spec": spec}
