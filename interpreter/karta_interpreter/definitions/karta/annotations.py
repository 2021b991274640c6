"""The parts of annotation values, which operations read.

`annotation_records` has the annotations with a record for each, and `annotation_parsers` a parser for each.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s import GVK, JSON, Object, Path, Projection, type_name
from karta_interpreter.base.karmada import Operation
from karta_interpreter.languages.jq import Query, mark_all, parse, project, syntax as ast

PREFIX = "karta-interpreter.io/"

WHOLE: Final = ast.Identity()
"""The expression of the whole workload."""
BOTH: Final = parse("{template: ., member: .}")
"""The expression of the template and the member's object, of which the workload is either."""


class AggregateRule(StrEnum):
    """How one status field of several clusters becomes one value.

    ``counter`` is a sum that never falls below the template's value. ``max`` and ``min`` compare numbers, quantities
    and Go durations. ``worst`` is the value of the cluster with the worst status. ``union`` has the keys of all
    objects, with the values of the worst cluster that has them. ``omit`` takes nothing from the members and keeps the
    template's value. ``drop`` also removes the template's value.
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
OF_NO_CLUSTER = frozenset({AggregateRule.OMIT, AggregateRule.DROP})
"""The rules that take nothing from the members."""
OF_TEMPLATE = frozenset({AggregateRule.OMIT, AggregateRule.COUNTER})
"""The rules by which the template's value can stay, whatever the members report."""
OF_A_CLUSTER = frozenset({AggregateRule.FIRST, AggregateRule.WORST, AggregateRule.UNION, AggregateRule.DROP})
"""The rules that take the value of one cluster, or remove the field: without clusters nothing is left of it."""

PathPattern = tuple[str | None, ...]
"""A path into an object. None stands for every element of a list: ``.status.jobs[].active`` is
``("status", "jobs", None, "active")``."""


@dataclass(frozen=True, slots=True)
class AnnotationQuery(Query):
    """An expression in the value of an annotation, with everything known about it.

    The projection of an operation, the check against a CRD and the registration use all expressions that
    `Annotations.queries` finds, in any annotation.
    """

    annotation: str = field(default="", compare=False)
    read_by: frozenset[Operation] = field(default=frozenset(), compare=False)
    gives: type = field(default=object, compare=False)
    """The type of its outputs. Null stands for nothing, and is always allowed."""
    of: ast.Node = field(default=WHOLE, compare=False, repr=False)
    """The parts of the workload that it is evaluated on, the whole by default."""
    reads: tuple[str, ...] = field(default=(), compare=False)
    """The paths that are read of its outputs. Without any, all are read."""

    def evaluate(self, value: JSON) -> list[JSON]:
        """Return all outputs for an input. An error names definition, annotation, expression and reason."""
        outputs = Query.evaluate(self, value)
        if self.gives is object:
            return outputs
        for output in outputs:
            if output is not None and type(output) is not self.gives:
                raise self.mistyped(output)
        return outputs

    def mistyped(self, output: JSON) -> QueryEvaluationError:
        """Return the error of an output with the wrong type."""
        return self.unusable(f"gives {type_name(output)} where {type_name(self.gives())} belongs")

    def take(self, projection: Projection) -> None:
        """Mark the parts of the workload that are read."""
        if self.of == BOTH:
            self._take_of_both(projection)
            return
        values = project(ast.Pipe(self.of, self.node), (projection,))
        for reads in values if self.reads else mark_all(values):
            reads.take(*self.reads)

    def _take_of_both(self, projection: Projection) -> None:
        both = Projection()
        both.fields = {"template": projection, "member": projection}
        mark_all(project(self.node, (both,)))
        if both.is_whole:
            projection.mark()


class ExtraDependency(Struct, frozen=True):
    """Objects that the workload needs, by their names or by label selectors. ``namespace`` is its own by default.

    ``versions`` are the kind in all API versions of several in which the API server may serve it, newest first.
    """

    api_version: str
    kind: str
    objects: AnnotationQuery
    namespace: AnnotationQuery | None = None
    versions: tuple[GVK, ...] = ()

    @property
    def by_labels(self) -> bool:
        """Whether ``objects`` gives label selectors instead of names."""
        return self.objects.gives is dict


class LaterField(Struct, frozen=True):
    """A field of the status that only later releases write, and what an older one has for it."""

    name: str
    older: AnnotationQuery


class AddedContainers(Struct, frozen=True):
    """Containers that the operator adds to the pods of a component, from an expression about the workload.

    With ``each`` the expression may give several outputs, one for each instance. Otherwise it gives one for all.
    """

    component: str
    query: AnnotationQuery
    each: bool = False


class OfDependencies(Struct, frozen=True):
    """An expression about what the workload needs: ``pods``, ``claims`` or ``parameters``.

    ``pods`` gives parts of pod templates in addition to the definition's components. The objects that they name are
    needed, too. ``claims`` gives the names of volumes that a controller replaces by its own claims: the objects they
    refer to are not needed. ``parameters`` gives an object with the values of parameters that names have in them.
    """

    form: str
    query: AnnotationQuery


class UnknownPart(Struct, frozen=True):
    """A part of the workload by which pods request what no answer has, and the reason."""

    place: AnnotationQuery
    reason: str


Needed: TypeAlias = ExtraDependency | OfDependencies


class Retained(Struct, frozen=True):
    """A path with the member's value. If the member has none, write ``absent``, or remove the field if ``drops``."""

    place: AnnotationQuery
    absent: str | float | bool | None = None
    drops: bool = False
    condition: AnnotationQuery | None = None
    """Holds for the member's object while the path belongs to the member."""

    def __str__(self) -> str:
        default = "" if self.absent is None else f" // {json.dumps(self.absent)}"
        path = f"{self.place.text}{' // empty' if self.drops else default}"
        return f"owned {path}, while {self.condition.text}" if self.condition else path


class Unset(Struct, frozen=True):
    """A path that belongs to the member cluster if the template has no value."""

    place: AnnotationQuery
    by: AnnotationQuery | None = None
    """The key of the elements of lists, which are merged."""
    condition: AnnotationQuery | None = None
    """Must be true for the member's value or element."""
    value: AnnotationQuery | None = None
    """Is written instead of the member's value."""

    def __str__(self) -> str:
        fields = {"by": self.by, "if": self.condition, "value": self.value}
        conditions = [f"{name} {query.text}" for name, query in fields.items() if query]
        return ", ".join([f"unset {self.place.text}", *conditions])


class RetainedCount(Struct, frozen=True):
    """A path with the member's value if the template leaves counts to the members, or has no count there."""

    place: AnnotationQuery

    def __str__(self) -> str:
        return f"replicas {self.place.text}"


class KeepQuantityFormat(Struct, frozen=True):
    """A path with quantities: equal ones keep the member's spelling."""

    place: AnnotationQuery

    def __str__(self) -> str:
        return f"quantities {self.place.text}"


class Once(Struct, frozen=True):
    """A list of texts that goes to the member once. The annotation ``note`` of the object says which one did."""

    place: AnnotationQuery
    path: Path
    note: str

    def __str__(self) -> str:
        return f"once {self.place.text}, noted in {self.note}"


class Immutable(Struct, frozen=True):
    """A path that no API server changes in an object that exists, neither on the control plane nor in the member.

    A ``changeable`` path is one below such a path that an API server changes, and an ``owned`` one is the member's only
    while the condition holds. The rule of a CRD, ``self == oldSelf``, makes a path ``fixed`` as long as both objects
    have it. A ``share`` of the replicas is a number that Karmada divides and the member's operator does not change.
    """

    place: AnnotationQuery
    condition: AnnotationQuery | None = None
    """Must be true for both objects, ``{template, member}``."""
    word: str = "immutable"

    @property
    def is_final(self) -> bool:
        """Whether the member refuses another value, whoever has written it."""
        return self.word in ("immutable", "fixed", "share")

    def __str__(self) -> str:
        path = f"{self.word} {self.place.text}"
        return f"{path}, if {self.condition.text}" if self.condition else path


RetainRule: TypeAlias = Retained | RetainedCount | Unset | KeepQuantityFormat | Once | Immutable


class Divided(Struct, frozen=True):
    """A number that goes along with a count: what a cluster has of the count, it gets of the number."""

    value: AnnotationQuery
    of: AnnotationQuery
    """The count, one for each value."""
    is_held: bool = False
    """The number of pods that a roll-out leaves as they are, not a minimum."""

    def share(self, value: int, whole: int, part: int) -> int:
        """Return what goes along with ``part`` of the ``whole`` count.

        The share is rounded up: a minimum of 0 limits nothing, and a roll-out may not replace more pods.
        But it may replace one of several pods of a cluster, unless all pods of the workload are held.

        >>> rule = Divided(AnnotationQuery.compile(".n"), AnnotationQuery.compile(".count"), is_held=True)
        >>> rule.share(9, 15, 10), rule.share(14, 15, 5), rule.share(2, 3, 1)
        (6, 4, 1)
        """
        share = -(-value * part // whole)
        return part - 1 if self.is_held and share >= part > 1 and value < whole else share


class Completion(Struct, frozen=True):
    """The number that is done, and the number that a workload is to do before it has completed."""

    done: AnnotationQuery
    of: AnnotationQuery

    def is_short(self, template: Object, statuses: Iterable[JSON]) -> bool:
        """Return whether the statuses of all clusters have done less than the template wants.

        The template's present status counts too: a cluster that has left has done its part. If a status lacks the
        number, nothing is known. Raises QueryEvaluationError if the wanted number cannot be read.
        """
        wanted, before, done = self.of.first(template), 0, 0
        with suppress(QueryEvaluationError):
            if type(present := self.done.first(template)) is int:
                before = present
            for status in statuses:
                if type(number := self.done.first({**template, "status": status})) is not int:
                    return False
                done += number
            return type(wanted) is int and max(done, before) < wanted
        return False


class PreservedState(Struct, frozen=True):
    """A field of the status that a new cluster gets as a label, and the fields of the spec that it sets from the label.

    The fields belong to the member cluster if the template has no value.
    """

    status: Path
    label: str
    places: tuple[Unset, ...]

    @property
    def json_path(self) -> str:
        """The field in the form of Karmada's `statePreservation`: Kubernetes JSONPath, relative to the status.

        >>> PreservedState(("status", "jobStatus", "jobId"), "", ()).json_path
        '{ .jobStatus.jobId }'
        """
        return f"{{ {field_text(self.status[1:])} }}"

    def __str__(self) -> str:
        places = " and ".join(f"`{rule.place.text}`" for rule in self.places)
        return f"the label {self.label}, which has `{field_text(self.status)}` of the cluster before, {places}"


def field_text(path: Path) -> str:
    """Return a path of plain names in jq, which is also valid in JSONPath.

    >>> field_text(("status", "jobId"))
    '.status.jobId'
    """
    return "".join(f".{step}" for step in path)


class FieldPlace(NamedTuple):
    """The field of a component that has an expression, or without a component the annotation, by its short name."""

    definition: str
    component: str
    field: str

    def __str__(self) -> str:
        owner = f"component {self.component}," if self.component else "annotation"
        return f"definition {self.definition}, {owner} {self.field}"


def annotation_path(name: str) -> Path:
    """Return the path of an annotation in a Karta."""
    return ("metadata", "annotations", PREFIX + name)
