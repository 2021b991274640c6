"""Pod templates put together from the pieces that a `fragmentedPodSpecDefinition` names."""

from collections.abc import Mapping

from karta_interpreter.k8s.values import JSON, Object, type_name
from karta_interpreter.karta.definition import Component, Fragments
from karta_interpreter.karta.evaluation import aligned_or_absent, failure

_TYPES: Mapping[str, type] = {
    "schedulerNamePath": str,
    "labelsPath": dict,
    "annotationsPath": dict,
    "resourcesPath": dict,
    "resourceClaimsPath": list,
    "podAffinityPath": dict,
    "nodeAffinityPath": dict,
    "containersPath": list,
    "containerPath": dict,
    "priorityClassNamePath": str,
    "imagePath": str,
}
_NAMES: Mapping[type, str] = {dict: "an object", list: "a list", str: "a string"}

Pieces = dict[str, JSON]
"""The pieces of one instance that are there, by the name of their schema field."""


def assembled(component: Component, fragments: Fragments, obj: Object, ids: tuple[str, ...]) -> list[Object | None]:
    """One pod template per instance, None where no piece of it exists.

    Instances that an id names, and the root, exist even without a piece: their pods are all defaults.
    """
    pieces = _pieces(component, fragments, obj, ids)
    exists = component.instance_ids is not None or component.owner is None
    return [_template(component.name, found) if found or exists else None for found in pieces]


def _pieces(component: Component, fragments: Fragments, obj: Object, ids: tuple[str, ...]) -> list[Pieces]:
    found: list[Pieces] = [{} for _ in ids]
    for field, query in fragments.queries:
        for pieces, value in zip(found, aligned_or_absent(component, field, query, obj, ids), strict=True):
            if value is None:
                continue
            if type(value) is not _TYPES[field]:
                expected = _NAMES[_TYPES[field]]
                raise failure(component, field, query, f"gives {type_name(value)} where {expected} belongs")
            pieces[field] = value
    return found


def _template(name: str, pieces: Pieces) -> Object:
    spec = {
        "containers": _containers(name, pieces),
        "affinity": _present(podAffinity=pieces.get("podAffinityPath"), nodeAffinity=pieces.get("nodeAffinityPath")),
        "schedulerName": pieces.get("schedulerNamePath"),
        "priorityClassName": pieces.get("priorityClassNamePath"),
        "resourceClaims": pieces.get("resourceClaimsPath"),
    }
    metadata = _present(labels=pieces.get("labelsPath"), annotations=pieces.get("annotationsPath"))
    template: dict[str, JSON] = {"spec": _present(**spec)}
    return {"metadata": metadata, **template} if metadata else template


def _containers(name: str, pieces: Pieces) -> list[JSON]:
    """The containers of the pod: the listed ones and the single one.

    Image and resources complete the single container; without any container they make one up, which is named
    like the component.
    """
    listed: list[JSON] = pieces.get("containersPath", [])
    said = _present(image=pieces.get("imagePath"), resources=pieces.get("resourcesPath"))
    single = pieces.get("containerPath")
    if single is None:
        return listed if listed or not said else [{"name": name, **said}]
    if single in listed:
        return listed
    gaps = {field: value for field, value in said.items() if single.get(field) is None}
    return [*listed, {**single, **gaps}]


def _present(**fields: JSON) -> dict[str, JSON]:
    """The fields that have a value: neither null nor empty."""
    return {name: value for name, value in fields.items() if value}
