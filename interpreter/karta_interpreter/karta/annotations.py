"""The values of annotations: what Karmada needs beside the Karta schema. `annotation_records` has their records."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from karta_interpreter.jq import Query
from karta_interpreter.karta.status_rules import Status
from karta_interpreter.lua.script import SLOTS, Scripts

PREFIX = "karta-interpreter.io/"

DEFAULT_QUEUE_LABELS = ("kueue.x-k8s.io/queue-name",)
"""The label of Kueue's queues (``QueueLabel`` in its ``pkg/controller/constants``)."""

OPERATIONS = tuple(SLOTS)
"""The operations of Karmada's resource interpreter: each of them may have a script."""


class AggregateRule(StrEnum):
    """How one status field of several clusters becomes one value.

    ``counter`` is a sum that never falls below the template's value; ``max`` and ``min`` compare numbers, quantities
    and Go durations; ``worst`` is the value of the cluster with the worst status; ``union`` has the keys of all
    objects, with the values of the worst cluster that has them; ``omit`` takes nothing from the members and keeps the
    template's value; ``drop`` also removes the template's value.
    """

    SUM = "sum"
    COUNTER = "counter"
    MAX = "max"
    MIN = "min"
    ANY = "any"
    ALL = "all"
    FIRST = "first"
    WORST = "worst"
    UNION = "union"
    CONCAT = "concat"
    LATEST = "latest"
    EARLIEST = "earliest"
    OMIT = "omit"
    DROP = "drop"


PathPattern = tuple[str | None, ...]
"""A path into an object, None standing for every element of a list: ``.status.jobs[].active`` is
``("status", "jobs", None, "active")``."""


@dataclass(frozen=True, slots=True)
class ExtraDependency:
    """Objects that the workload needs, by their names; without ``namespace`` they are in that of the workload."""

    api_version: str
    kind: str
    name: Query
    namespace: Query | None = None


@dataclass(frozen=True, slots=True)
class AddedContainers:
    """Containers that the operator adds to all pods of a component, as an expression about the workload gives them."""

    component: str
    query: Query


@dataclass(frozen=True, slots=True)
class MorePods:
    """Parts of pod templates beside those of the definition's components: what they name is needed, too."""

    templates: Query


@dataclass(frozen=True, slots=True)
class MadeClaims:
    """Names of volumes that a controller replaces by claims that it makes: what they refer to is not needed."""

    volumes: Query


@dataclass(frozen=True, slots=True)
class Retained:
    """A path of the member's; without a value there ``absent`` is written, or nothing is left if it ``drops`` that."""

    place: Query
    absent: str | float | bool | None = None
    drops: bool = False

    def __str__(self) -> str:
        default = "" if self.absent is None else f" // {json.dumps(self.absent)}"
        return f"{self.place.text}{' // empty' if self.drops else default}"


@dataclass(frozen=True, slots=True)
class Unset:
    """A path that belongs to the member cluster where the template has no value.

    ``by`` is the key of the elements of lists, which are merged; ``condition`` must be true for the member's value or
    element; ``value`` is written instead of the member's value.
    """

    place: Query
    by: Query | None = None
    condition: Query | None = None
    value: Query | None = None

    def __str__(self) -> str:
        parts = {"by": self.by, "if": self.condition, "value": self.value}
        told = [f"{name} {query.text}" for name, query in parts.items() if query]
        return ", ".join([f"unset {self.place.text}", *told])


@dataclass(frozen=True, slots=True)
class Respelled:
    """A path with quantities: equal ones keep the member's spelling."""

    place: Query

    def __str__(self) -> str:
        return f"quantities {self.place.text}"


@dataclass(frozen=True, slots=True)
class Annotations:
    """The parsed annotations of one definition; a field has its default where there is no annotation."""

    elastic: tuple[str, ...] | None = None
    retain: tuple[Retained | Unset | Respelled, ...] = ()
    queue_labels: tuple[str, ...] = DEFAULT_QUEUE_LABELS
    dependencies: tuple[ExtraDependency | MorePods | MadeClaims, ...] = ()
    added_containers: tuple[AddedContainers, ...] = ()
    aggregate: Mapping[PathPattern, AggregateRule] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    health: Query | None = None
    healthy_statuses: frozenset[Status] | None = None
    operations: frozenset[str] | None = None
    lua: Scripts = field(default_factory=Scripts)
    written_from: str = ""

    def is_elastic(self, component: str, instance: str | None = None) -> bool:
        """Return whether ``elastic`` names a component or the instance; without one, whether it names any of them.

        >>> found = Annotations(elastic=("head", "group/hot"))
        >>> found.is_elastic("group", "hot"), found.is_elastic("group", "cold"), found.is_elastic("group")
        (True, False, True)
        """
        named, prefix = self.elastic or (), f"{component}/"
        if component in named:
            return True
        return any(name.startswith(prefix) for name in named) if instance is None else prefix + instance in named

    @property
    def observes_generation(self) -> bool:
        """Whether ``observedGeneration`` in a status is about the object itself: one that is omitted is not."""
        return self.aggregate.get(("status", "observedGeneration")) is not AggregateRule.OMIT
