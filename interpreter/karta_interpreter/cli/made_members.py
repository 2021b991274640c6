"""Members that ``diff`` makes for Retain: a plain object does not show what its cluster has changed."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from karta_interpreter.base.k8s import JSON, Object, get, set_value
from karta_interpreter.definitions.karta import Definition, Retained
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS
from karta_interpreter.languages.jq import Query

_MEMBER = "member"
_IDENTITIES = ("name", "type", "kind", "version", "id", "image")
"""Ends of fields that match elements of lists. Other values in them would make another object."""


class MadeMember(NamedTuple):
    """A template and the object of a member, which both have the ``title``."""

    title: str
    desired: Object
    observed: Object


def made_members(obj: Object, definitions: Iterable[Definition]) -> Iterator[MadeMember]:
    """Yield an object as template next to a member with another value at each place where a definition may keep one."""
    definitions = tuple(definitions)
    template = {field: value for field, value in obj.items() if field != "status"}
    member: Object = {**obj, "spec": _changed(obj.get("spec"))}
    for labels in ("labels", "annotations"):
        member = set_value(member, ("metadata", labels, f"{_MEMBER}.example.com/added"), _MEMBER)
    member = _filled(member, definitions)
    yield MadeMember("beside other values", template, member)
    yield MadeMember("with little in the template", {**template, "spec": _bare(template.get("spec"))}, member)
    queues = {name for definition in definitions if definition.suspend for name in definition.annotations.queue_labels}
    for name, value in ((RETAIN_REPLICAS, "true"), *((name, "queue") for name in sorted(queues))):
        labelled = set_value(template, ("metadata", "labels", name), value)
        yield MadeMember(f"with the label {name}", labelled, member)


def _changed(value: JSON, field: str = "") -> Any:  # noqa: ANN401 - JSON of the same shape
    """Return another value of the same type, in each field below as well."""
    match value:
        case dict():
            return {key: _changed(each, key) for key, each in value.items()}
        case list():
            return [_changed(each, field) if isinstance(each, dict | list) else each for each in value]
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str() if value and not field.lower().endswith(_IDENTITIES):
            # A quantity stays one.
            return f"1{value}" if value[0].isdigit() else f"{value}-{_MEMBER}"
    return value


def _bare(value: JSON) -> JSON:
    """Return a value without numbers, switches and maps of texts."""
    if isinstance(value, list):
        return [_bare(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _bare(each) for key, each in value.items() if not _may_be_unset(each)}


def _may_be_unset(value: JSON) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(isinstance(each, str) for each in value.values())
    return isinstance(value, int | float)


def _filled(member: Object, definitions: Iterable[Definition]) -> Object:
    """Return a member with a value wherever a definition keeps one, as far as there is an object for it."""
    for query, value in _kept(definitions):
        for path in query.known_paths(member):
            if not path or get(member, path) is not None:
                continue
            if isinstance(path[-1], str) and isinstance(get(member, path[:-1]), dict):
                member = set_value(member, path, value)
    return member


def _kept(definitions: Iterable[Definition]) -> Iterator[tuple[Query, JSON]]:
    for definition in definitions:
        yield from ((action.path, action.value) for action in definition.suspend)
        for rule in definition.annotations.retained:
            absent = rule.absent if isinstance(rule, Retained) else None
            yield rule.place, not absent if isinstance(absent, bool) else _MEMBER
