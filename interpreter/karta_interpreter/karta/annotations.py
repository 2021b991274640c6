"""What Karmada needs and the Karta schema cannot say: annotations under ``karta-interpreter.io/``.

================  =====================================================================================
``elastic``       the components that take part when Karmada changes the number of replicas,
                  separated by commas: ``worker``
``retain``        fields that belong to the member cluster: jq paths, one per line or a YAML list;
                  behind ``//`` what a member means that has none, ``.spec.suspend // false``;
                  ``{unset: path, by: key, if: condition, value: jq}`` where the template has no value;
                  ``{quantities: path}`` to write equal ones as the member does
``queue-labels``  the labels that give an object to a queue of the member, separated by commas, or
                  ``none``; ``kueue.x-k8s.io/queue-name`` without the annotation
``dependencies``  objects to bring along: a YAML list of ``{apiVersion, kind, name, namespace}``,
                  the last two jq expressions, ``namespace`` optional; of ``{pods: jq}``, more pod
                  templates; and ``{claims: jq}``, names of volumes for which claims are made
``added-containers``
                  containers that the operator adds to the pods of a component: a YAML mapping of
                  component to a jq expression, which gives an object with the lists ``containers``
                  and ``initContainers``, or nothing
``aggregate``     how a status field of several clusters becomes one: a YAML mapping of path to
                  rule (see `AggregateRule`), ``.status.active: sum``
``outcomes``      conditions that end the workload for good, each with the one that announces it: a
                  YAML mapping, ``Failed: FailureTarget``
``health``        a jq expression that is true when the workload is healthy
``healthy-statuses``
                  the statuses that count as healthy, separated by commas: ``Running, Completed``
``operations``    the only operations to answer for this kind, separated by commas:
                  ``InterpretStatus, InterpretHealth``
``lua``           Lua scripts that answer instead of the definition: a YAML mapping as in
                  ``spec.customizations`` of Karmada's ResourceInterpreterCustomization,
                  ``healthInterpretation: {luaScript: ...}``
``written-from``  the project and the version that the definition was written from: ``KubeRay 1.4``
================  =====================================================================================
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from karta_interpreter.jq import Query
from karta_interpreter.karta.status_rules import Status
from karta_interpreter.lua.script import Scripts

PREFIX = "karta-interpreter.io/"

NAMES = (
    "elastic",
    "retain",
    "queue-labels",
    "dependencies",
    "added-containers",
    "aggregate",
    "outcomes",
    "health",
    "healthy-statuses",
    "operations",
    "lua",
    "written-from",
)
"""Every annotation there is, without the prefix."""

DEFAULT_QUEUE_LABELS = ("kueue.x-k8s.io/queue-name",)
"""The label of Kueue's queues (``QueueLabel`` in its ``pkg/controller/constants``)."""

OPERATIONS = (
    "InterpretReplica",
    "InterpretComponent",
    "ReviseReplica",
    "Retain",
    "AggregateStatus",
    "InterpretStatus",
    "InterpretHealth",
    "InterpretDependency",
)
"""The operations of Karmada's resource interpreter (`pkg/apis/config/v1alpha1`)."""


class AggregateRule(StrEnum):
    """How one status field of several clusters becomes one value.

    ``counter`` is a sum that never falls below what the template has; ``max`` and ``min`` compare numbers, quantities
    and Go durations; ``worst`` is the value of the cluster that is worst off; ``union`` has the keys of all objects,
    with the values of the worst cluster that has them; ``omit`` takes nothing from the members, what the template has
    stays; ``drop`` also removes what the template has.
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
    """Objects that a workload needs beside those its pods name.

    ``name`` may yield several names; ``namespace`` is that of the workload when it is None.
    """

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
    """A place that belongs to the member cluster.

    ``absent`` is what a member means that has none, None for nothing; or the template ``drops`` its own then.
    """

    place: Query
    absent: str | float | bool | None = None
    drops: bool = False

    def __str__(self) -> str:
        default = "" if self.absent is None else f" // {json.dumps(self.absent)}"
        return f"{self.place.text}{' // empty' if self.drops else default}"


@dataclass(frozen=True, slots=True)
class Unset:
    """A place that belongs to the member cluster where the template has no value.

    ``by`` tells the elements of lists apart, of which both objects' are wanted; ``condition`` is what the member's
    value or element has to meet; ``value`` is written in its place.
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
    """A place with quantities: those that are equal to the member's are written as the member writes them."""

    place: Query

    def __str__(self) -> str:
        return f"quantities {self.place.text}"


@dataclass(frozen=True, slots=True)
class Annotations:
    """The annotations of one definition, parsed; None and empty mean that it does not say."""

    elastic: tuple[str, ...] | None = None
    retain: tuple[Retained | Unset | Respelled, ...] = ()
    queue_labels: tuple[str, ...] = DEFAULT_QUEUE_LABELS
    dependencies: tuple[ExtraDependency | MorePods | MadeClaims, ...] = ()
    added: tuple[AddedContainers, ...] = ()
    aggregate: Mapping[PathPattern, AggregateRule] = field(default_factory=lambda: MappingProxyType({}))
    outcomes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    health: Query | None = None
    healthy_statuses: frozenset[Status] | None = None
    operations: frozenset[str] | None = None
    lua: Scripts = field(default_factory=Scripts)
    written_from: str = ""

    @property
    def observes_generation(self) -> bool:
        """Whether ``observedGeneration`` in a status is about the object itself: one that is omitted is not."""
        return self.aggregate.get(("status", "observedGeneration")) is not AggregateRule.OMIT
