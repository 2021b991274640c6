"""What Karmada needs in addition to Karta's schema: the values of annotations.

`annotation_records` has the record of each annotation, with its parser.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from karta_interpreter.base.k8s.values import JSON, Path
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.lua.script import Scripts

PREFIX = "karta-interpreter.io/"

DEFAULT_QUEUE_LABELS = ("kueue.x-k8s.io/queue-name",)
"""The label of Kueue's queues (``QueueLabel`` in its ``pkg/controller/constants``)."""


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


ADDING_UP = frozenset({AggregateRule.SUM, AggregateRule.COUNTER})
OF_A_CLUSTER = frozenset({AggregateRule.FIRST, AggregateRule.WORST, AggregateRule.UNION, AggregateRule.DROP})
"""The rules by which a field has the value of one cluster, or goes: without clusters nothing is left of it."""

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
    """Containers that the operator adds to the pods of a component, as an expression about the workload gives them.

    ``each`` says that the expression may give several outputs: then it has one for each instance, else one for all.
    """

    component: str
    query: Query
    each: bool = False


@dataclass(frozen=True, slots=True)
class ExtraPodTemplates:
    """Parts of pod templates in addition to those of the definition's components: what they name is needed, too."""

    templates: Query


@dataclass(frozen=True, slots=True)
class ControllerClaims:
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
    """A path that belongs to the member cluster where the template has no value."""

    place: Query
    by: Query | None = None
    """The key of the elements of lists, which are merged."""
    condition: Query | None = None
    """Must be true for the member's value or element."""
    value: Query | None = None
    """Is written instead of the member's value."""

    def __str__(self) -> str:
        parts = {"by": self.by, "if": self.condition, "value": self.value}
        conditions = [f"{name} {query.text}" for name, query in parts.items() if query]
        return ", ".join([f"unset {self.place.text}", *conditions])


@dataclass(frozen=True, slots=True)
class KeepQuantityFormat:
    """A path with quantities: equal ones keep the member's spelling."""

    place: Query

    def __str__(self) -> str:
        return f"quantities {self.place.text}"


@dataclass(frozen=True, slots=True)
class PreservedState:
    """A field of the status that a new cluster gets as a label, and the fields of the spec that it makes of that.

    The fields belong to the member cluster where the template has no value.
    """

    status: Path
    label: str
    places: tuple[Unset, ...]

    @property
    def json_path(self) -> str:
        """The field as Karmada's `statePreservation` has it: below the status, a template of Kubernetes' JSONPath.

        >>> PreservedState(("status", "jobStatus", "jobId"), "", ()).json_path
        '{ .jobStatus.jobId }'
        """
        return f"{{ {field_text(self.status[1:])} }}"

    def __str__(self) -> str:
        places = " and ".join(f"`{each.place.text}`" for each in self.places)
        return f"the label {self.label}, which has `{field_text(self.status)}` of the cluster before, {places}"


@dataclass(frozen=True, slots=True)
class Annotations:
    """The parsed annotations of one definition; a field has its default where there is no annotation."""

    elastic: tuple[str, ...] | None = None
    retain: tuple[Retained | Unset | KeepQuantityFormat, ...] = ()
    state: tuple[PreservedState, ...] = ()
    queue_labels: tuple[str, ...] = DEFAULT_QUEUE_LABELS
    dependencies: tuple[ExtraDependency | ExtraPodTemplates | ControllerClaims, ...] = ()
    added_containers: tuple[AddedContainers, ...] = ()
    aggregate: Mapping[PathPattern, AggregateRule] = field(default_factory=dict)
    required_status: Mapping[tuple[str, ...], JSON] = field(default_factory=dict)
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
    def retained(self) -> tuple[Retained | Unset | KeepQuantityFormat, ...]:
        """The rules of ``retain``, and those for what members make of preserved state."""
        return (*self.retain, *(place for each in self.state for place in each.places))

    @property
    def is_indivisible(self) -> bool:
        """Whether ``elastic`` is ``none``: an object keeps the number of pods that it has."""
        return self.elastic == ()

    @property
    def observes_generation(self) -> bool:
        """Whether ``observedGeneration`` in a status is about the object itself: one that is omitted is not."""
        return self.aggregate.get(("status", "observedGeneration")) is not AggregateRule.OMIT


def field_text(path: Path) -> str:
    """Return a path of plain names in jq, which is one in JSONPath as well.

    >>> field_text(("status", "jobId"))
    '.status.jobId'
    """
    return "".join(f".{step}" for step in path)


def annotation_path(name: str) -> Path:
    """Return the path of an annotation in a Karta."""
    return ("metadata", "annotations", PREFIX + name)
