"""Containers that an operator adds together: one element of an added list stands for all of them."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeGuard

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, Counting, Object, pod_requirements

_MEMBERS: Final = "containers"
_RESOURCES: Final = "resources"


def ungrouped(field: str, containers: Sequence[JSON]) -> list[JSON]:
    """Return the containers of an added list with the members of each group in its place.

    A member has the amounts of its group where it has none of its own, and may be a group of containers. Init
    containers run one after the other. There the members run at the same time, so a last container requests what all of
    them request, and they request nothing.

    >>> group = {"resources": {"limits": {"cpu": 1}}, "containers": [{"name": "a"}, {"name": "b"}]}
    >>> ungrouped("containers", [group])[1]
    {'name': 'b', 'resources': {'limits': {'cpu': 1}}}
    >>> ungrouped("initContainers", [{"name": "both", "containers": [group]}])[2]
    {'name': 'both', 'resources': {'requests': {'cpu': '2'}}}
    """
    if field == _MEMBERS:
        return [each for container in containers for each in _leaves(container)]
    return [
        each
        for container in containers
        for each in (_at_the_same_time(container) if _is_group(container) else [container])
    ]


def _is_group(container: JSON) -> TypeGuard[Object]:
    return isinstance(container, dict) and isinstance(container.get(_MEMBERS), list)


def _leaves(container: JSON) -> Iterator[JSON]:
    for member in _members(container):
        yield from _members(member)


def _members(container: JSON) -> Iterator[JSON]:
    """Yield the members of a group, or a container itself."""
    if not _is_group(container):
        yield container
        return
    common = container.get(_RESOURCES)
    for member in container[_MEMBERS]:
        is_object = isinstance(member, dict)
        yield {**member, _RESOURCES: _merged(common, member.get(_RESOURCES))} if is_object and common else member


def _merged(common: JSON, own: JSON) -> JSON:
    """Return an object with the fields of another one that it lacks, at every depth."""
    if own is None:
        return common
    if not isinstance(common, dict) or not isinstance(own, dict):
        return own
    return {**common, **{name: _merged(common.get(name), value) for name, value in own.items()}}


def _at_the_same_time(group: Object) -> Iterator[JSON]:
    members = [*_leaves(group)]
    try:
        requirements = pod_requirements({"spec": {_MEMBERS: members}}, Counting.SCHEDULER).to_json() or {}
    except InterpretationError:  # which the reader of requests raises about the members
        yield from members
        return
    for member in members:
        yield {**member, _RESOURCES: None} if isinstance(member, dict) else member
    yield {"name": group.get("name"), _RESOURCES: {"requests": requirements.get("resourceRequest", {})}}
