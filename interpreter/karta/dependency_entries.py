"""What may be wrong with an entry of the annotation `dependencies`."""

from collections.abc import Iterator

from interpreter.errors import InterpretationError
from interpreter.k8s.gvk import GVK
from interpreter.k8s.values import JSON, type_name
from interpreter.suggestion import did_you_mean

_FIELDS = ("apiVersion", "kind", "name", "namespace")


def dependency_problems(entry: JSON) -> Iterator[tuple[str, str]]:
    """The message and the hint for each thing that is wrong with an entry.

    >>> [message for message, _ in dependency_problems({"apiVersion": "v1", "kind": "Secret"})]
    ['the field name is missing']
    """
    if not isinstance(entry, dict):
        yield f"must be an object, not {type_name(entry)}", ""
        return
    for field in entry:
        if field not in _FIELDS:
            yield f"there is no field {field}", did_you_mean(field, _FIELDS)
    for field in _FIELDS:
        if field not in entry and field != "namespace":
            yield f"the field {field} is missing", ""
        elif not isinstance(entry.get(field, ""), str):
            yield f"{field} must be a string, not {type_name(entry[field])}", ""
    api_version, kind = entry.get("apiVersion"), entry.get("kind")
    if isinstance(api_version, str) and isinstance(kind, str):
        yield from _kind_problems(api_version, kind)


def _kind_problems(api_version: str, kind: str) -> Iterator[tuple[str, str]]:
    try:
        GVK.parse(api_version, kind)
    except InterpretationError as err:
        yield str(err), ""
