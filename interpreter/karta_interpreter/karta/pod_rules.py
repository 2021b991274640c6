"""How pods are attributed to components, and which of them start together: compiled `podSelector` and `gangScheduling`.

No request of Karmada asks about pods, so each of these expressions is compiled when it is first asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from karta_interpreter.jq import Query

_KEPT = 1024

_compiled = lru_cache(maxsize=_KEPT)(Query.compile)


@dataclass(frozen=True, slots=True)
class PodQuery:
    """An expression about a pod.

    >>> PodQuery(".metadata.name").query.evaluate({"metadata": {"name": "web-0"}})
    ['web-0']
    """

    text: str

    @property
    def query(self) -> Query:
        """The expression, ready to use; raises QueryError where `Query.compile` does."""
        return _compiled(self.text)


@dataclass(frozen=True, slots=True)
class TypeSelector:
    """How a pod is recognised as one of a component: by all of the labels, and by the key where there is one.

    The key has to give ``value``, or anything but null where that is None.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    key: PodQuery | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class PodSelector:
    """How the pods of a component are recognised, and their instance and replica."""

    component_type: TypeSelector | None = None
    instance_id: PodQuery | None = None
    replica_key: PodQuery | None = None


@dataclass(frozen=True, slots=True)
class Topology:
    """The levels of a topology that pods should, or must, have in common; "" where there is none."""

    name: str
    preferred_level: str
    required_level: str


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A component in a group: its pods that pass all filters, divided by the keys."""

    component: str
    group_by: tuple[PodQuery, ...] = ()
    filters: tuple[PodQuery, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyedGroup:
    """One of `podGroups`: as many groups of pods as there are different keys."""

    name: str
    members: tuple[GroupMember, ...]


@dataclass(frozen=True, slots=True)
class GroupPart:
    """A component whose pods are a subgroup."""

    component: str
    topology: Topology | None = None


@dataclass(frozen=True, slots=True)
class WholeGroup:
    """`podGroup`: all pods of the workload, in subgroups where there are any."""

    name: str
    parts: tuple[GroupPart, ...] = ()
    topology: Topology | None = None


@dataclass(frozen=True, slots=True)
class GangScheduling:
    """Which pods start together; ``whole`` is the newer form, and the one that counts where both are given."""

    keyed: tuple[KeyedGroup, ...] = ()
    whole: WholeGroup | None = None
