"""What Karmada needs in addition to Karta's schema: the values of annotations, and the text that they are parsed from.

`annotation_records` has the record of each annotation, with its parser.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.findings import Finding, error, hints, warning
from karta_interpreter.base.k8s.manifest import SWITCHES, Document, Mark, read_documents
from karta_interpreter.base.k8s.values import JSON, Path, type_name
from karta_interpreter.definitions.karta.expressions import check_expression
from karta_interpreter.definitions.karta.model import Karta
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.lua.script import Scripts
from karta_interpreter.languages.lua.source_map import SourcePosition, position_in, split_lines

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


@dataclass(frozen=True, slots=True)
class AnnotationText:
    """The text of one annotation; ``parsed`` has the values of those with earlier records, by their fields.

    ``documents`` has the positions of the parts of the text, once it is read. Findings name a part by its path: keys
    and indexes of YAML, and an item or a line by its text.
    """

    name: str
    text: str
    karta: Karta
    parsed: Mapping[str, Any]
    findings: list[Finding] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The path of the annotation in the Karta."""
        return annotation_path(self.name)

    def error(self, message: str, hint: str = "", at: Path = ()) -> None:
        """Add an error about this annotation."""
        self.report(error(f"annotation-{self.name}", self.path, message, hint), at)

    def warn(self, message: str, hint: str, rule: str = "", at: Path = ()) -> None:
        """Add a warning about this annotation."""
        self.report(warning(rule or f"annotation-{self.name}", self.path, message, hint), at)

    def report(self, finding: Finding, at: Path) -> None:
        """Add a finding about a part of the text, with the line that has it."""
        if at and self.documents:
            placed = SourcePosition(self.documents[0], (), split_lines(self.text)).locate(replace(finding, path=at))
            finding = replace(finding, inside=(placed.line, placed.column))
        self.findings.append(finding)

    def items(self) -> list[str]:
        """Return the items of a list that is separated by commas."""
        return self.parts(r"([^,\s](?:[^,]*[^,\s])?)")

    def parts(self, pattern: str) -> list[str]:
        """Return what the first group of a pattern finds in the text."""
        found = [(match[1].rstrip(), match.start(1)) for match in re.finditer(pattern, self.text, re.MULTILINE)]
        places = {part: Mark(*position_in(self.text, start)) for part, start in reversed(found)}
        self.documents[:] = [Document(None, self.name, 0, 1, Mark(1, 1, parts={**places}))]
        return [part for part, _ in found]

    def names(self, noun: str, known: Collection[str]) -> tuple[str, ...]:
        """Return the known names of a list that is separated by commas, each once; any other is an error."""
        names = self.items()
        if not names:
            self.error(f"names no {noun}", "remove the annotation, or name one")
        hint = hints(known)
        for name in names:
            if name not in known:
                self.error(f'there is no {noun} "{name}"', hint(name), (name,))
        return tuple(dict.fromkeys(name for name in names if name in known))

    def yaml(self, expected: type) -> JSON:
        """Return the YAML value of the text; an empty one, and an error, when it is unusable."""
        empty = expected()
        try:
            # No annotation has booleans, and editors read YAML 1.2, where these words are text.
            documents = read_documents(self.text, self.name, SWITCHES)
        except ManifestError as err:
            message = f"is not YAML: {err} (line {err.line}, column {err.column} of the annotation)"
            found = error(f"annotation-{self.name}", self.path, message, unquoted_path(self.text, err))
            self.findings.append(replace(found, inside=(err.line, err.column)))
            return empty
        self.documents[:] = documents
        value = documents[0].value if len(documents) == 1 else None
        if not isinstance(value, expected):
            actual = f"{len(documents)} documents" if len(documents) > 1 else type_name(value)
            self.error(f"must be {type_name(empty)} in YAML or JSON, not {actual}")
            return empty
        return value

    def query(self, text: str, *at: str | int) -> Query | None:
        """Compile an expression about the workload, a part of the text; None, and an error, when it is unusable."""
        variables = self.karta.spec.structure_definition.reference_names
        usable, findings = check_expression(self.path, text, variables)
        for finding in findings:
            self.report(finding, at)
        return None if usable is None else Query.compile(text, variables, self.karta.name)


_PATH_BEFORE_BRACKET = re.compile(r"(?:^|[\s,:({\[|])\.[^\s,\[\]{}\"']*$")


def unquoted_path(text: str, err: ManifestError) -> str:
    """Return a hint for YAML text that fails at the bracket of a jq path without quotes, "" for any other error.

    >>> unquoted_path("- {pods: .spec.jobs[].template}", ManifestError("", line=1, column=20))
    'a jq path with [ ] needs quotes'
    """
    line = (text.splitlines()[err.line - 1 : err.line] or [""])[0]
    before, bracket = line[: err.column - 1], line[err.column - 1 : err.column]
    is_path = bracket == "[" and _PATH_BEFORE_BRACKET.search(before)
    return "a jq path with [ ] needs quotes" if is_path else ""
