"""The annotations of a Karta, read and judged."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from karta_interpreter.errors import ManifestError, QuerySyntaxError
from karta_interpreter.findings import Finding, Severity, error, warning
from karta_interpreter.jq import Query, parse
from karta_interpreter.jq.syntax import Identity, Index, Iterate, Literal, Node
from karta_interpreter.k8s.manifest import read_documents
from karta_interpreter.k8s.values import JSON, Path, type_name
from karta_interpreter.karta.annotations import (
    DEFAULT_QUEUE_LABELS,
    NAMES,
    OPERATIONS,
    PREFIX,
    AddedContainers,
    AggregateRule,
    Annotations,
    PathPattern,
)
from karta_interpreter.karta.dependency_parser import Needed, read_dependency
from karta_interpreter.karta.expressions import judge
from karta_interpreter.karta.model import ComponentDefinition, Karta, ScaleDefinition
from karta_interpreter.karta.retain_parser import Rule, read_queue_labels, read_retained
from karta_interpreter.karta.status_rules import Status
from karta_interpreter.lua.reading import read_scripts
from karta_interpreter.lua.script import Scripts
from karta_interpreter.suggestion import closest, did_you_mean, hints

T = TypeVar("T")

_PROJECT_AND_VERSION = re.compile(r"\S.* v?[0-9][\w.+-]*")


def parse_annotations(karta: Karta) -> tuple[Annotations, list[Finding]]:
    """The annotations of a Karta, and what is wrong with them.

    What is wrong is left out of the result; the findings have an error for it.
    """
    parser = _Parser(karta)
    return parser.annotations(), parser.findings


class _Parser:
    """One reading of one Karta's annotations; collects the findings."""

    def __init__(self, karta: Karta) -> None:
        self._karta = karta
        self._variables = karta.spec.structure_definition.reference_names
        self._texts = {
            key.removeprefix(PREFIX): text for key, text in karta.annotations.items() if key.startswith(PREFIX)
        }
        self.findings: list[Finding] = list(_unknown(self._texts))

    def annotations(self) -> Annotations:
        operations = self._operations()
        return Annotations(
            elastic=self._elastic(),
            retain=self._retain(),
            queue_labels=self._queue_labels(),
            dependencies=self._dependencies(),
            added=tuple(self._added()),
            aggregate=self._aggregate(),
            outcomes=self._outcomes(),
            health=self._health(),
            healthy_statuses=self._healthy_statuses(),
            operations=operations,
            lua=self._lua(operations),
            written_from=self._written_from(),
        )

    def _elastic(self) -> tuple[str, ...] | None:
        components = {component.name: component for _, component in self._karta.spec.structure_definition.components}
        names = self._names("elastic", "component", components)
        for name in names or ():
            self._check_elastic(components[name])
        return names

    def _check_elastic(self, component: ComponentDefinition) -> None:
        scale = component.scale_definition or ScaleDefinition()
        if component.spec_definition is None:
            hint = "name the component that has the pods"
            self._error("elastic", f'the component "{component.name}" has no pods', hint)
        elif scale.replicas_path is None and scale.min_replicas_path is None:
            message = f'the component "{component.name}" has no number of replicas to change'
            self._error("elastic", message, "add scaleDefinition.replicasPath to it")

    def _operations(self) -> frozenset[str] | None:
        names = self._names("operations", "operation", OPERATIONS)
        return None if names is None else frozenset(names)

    def _names(self, annotation: str, noun: str, known: Collection[str]) -> tuple[str, ...] | None:
        """The names of a comma separated list that are known; None when there is no such annotation."""
        if annotation not in self._texts:
            return None
        names = [name.strip() for name in self._texts[annotation].split(",") if name.strip()]
        if not names:
            self._error(annotation, f"names no {noun}", "remove the annotation, or name one")
        hint = hints(known)
        for name in names:
            if name not in known:
                self._error(annotation, f'there is no {noun} "{name}"', hint(name))
        return tuple(dict.fromkeys(name for name in names if name in known))

    def _retain(self) -> tuple[Rule, ...]:
        lines = [line.strip() for line in self._texts.get("retain", "").splitlines()]
        lines = [line for line in lines if line and not line.startswith("#")]
        is_yaml = bool(lines) and lines[0].startswith(("[", "-"))
        entries = self._yaml("retain", list) if is_yaml else lines
        compiled = partial(self._query, "retain")
        return self._usable(each for entry in entries for each in read_retained(entry, compiled))

    def _queue_labels(self) -> tuple[str, ...]:
        if "queue-labels" not in self._texts:
            return DEFAULT_QUEUE_LABELS
        labels, findings = read_queue_labels(self._texts["queue-labels"], self._karta)
        self.findings += findings
        return labels

    def _health(self) -> Query | None:
        text = self._texts.get("health")
        return None if text is None else self._query("health", text)

    def _healthy_statuses(self) -> frozenset[Status] | None:
        names = self._names("healthy-statuses", "status", list(Status))
        if names is not None and "health" in self._texts:
            message, hint = "has no effect: the annotation health decides", "remove one of the two"
            self.findings.append(warning("annotation-healthy-statuses", _path("healthy-statuses"), message, hint))
        return None if names is None else frozenset(map(Status, names))

    def _dependencies(self) -> tuple[Needed, ...]:
        entries = self._yaml("dependencies", list)
        compiled = partial(self._query, "dependencies")
        return self._usable(
            each for index, entry in enumerate(entries) for each in read_dependency(index, entry, compiled)
        )

    def _usable(self, found: Iterable[T | Finding]) -> tuple[T, ...]:
        """What was found but for the findings, which are collected in their order."""
        usable: list[T] = []
        for each in found:
            if isinstance(each, Finding):
                self.findings.append(each)
            else:
                usable.append(each)
        return tuple(usable)

    def _added(self) -> Iterator[AddedContainers]:
        components = self._karta.spec.structure_definition.components
        known = dict.fromkeys(each.name for _, each in components if each.spec_definition)
        hint = hints(known)
        for component, text in self._yaml("added-containers", dict).items():
            if component not in known:
                message = f'there is no component "{component}" that has pods'
                self._error("added-containers", message, hint(str(component)))
            elif not isinstance(text, str):
                self._error("added-containers", f"{component}: {type_name(text)} where an expression belongs")
            elif query := self._query("added-containers", text):
                yield AddedContainers(component, query)

    def _aggregate(self) -> Mapping[PathPattern, AggregateRule]:
        rules: dict[PathPattern, AggregateRule] = {}
        for text, name in self._yaml("aggregate", dict).items():
            pattern = self._pattern(text)
            if name not in list(AggregateRule):
                self._error("aggregate", f"{text}: there is no rule {name}", did_you_mean(str(name), AggregateRule))
            elif name == AggregateRule.COUNTER and pattern is not None and None in pattern:
                self._error("aggregate", f"{text}: a counter is one number, not one of a list", "write sum")
            elif pattern is not None:
                rules[pattern] = AggregateRule(name)
        return MappingProxyType(rules)

    def _outcomes(self) -> Mapping[str, str]:
        outcomes: dict[str, str] = {}
        ends = _ends(self._karta)
        for condition, announcement in self._yaml("outcomes", dict).items():
            unmapped = [name for name in (condition, announcement) if name not in ends]
            for name in unmapped:
                hint = f'map {{type: {name}, status: "True"}} to one of them'
                self._error("outcomes", f"no status mapping makes {name} completed or failed", hint)
            if condition == announcement:
                self._error(
                    "outcomes", f"{condition} cannot announce itself", "name the condition that comes before it"
                )
            elif not unmapped:
                outcomes[condition] = announcement
        return MappingProxyType(outcomes)

    def _pattern(self, text: str) -> PathPattern | None:
        try:
            pattern = _steps(parse(text))
        except QuerySyntaxError:
            pattern = None
        if pattern is None or pattern[:1] != ("status",) or not pattern[1:]:
            hint = "write it like .status.active or .status.jobs[].active"
            self._error("aggregate", f"`{text}` is not a path below .status", hint)
            return None
        return pattern

    def _lua(self, allowed: frozenset[str] | None) -> Scripts:
        """The scripts for operations that are answered at all."""
        if "lua" not in self._texts:
            return Scripts()
        known = len(self.findings)
        customizations = self._yaml("lua", dict)
        if len(self.findings) > known:
            return Scripts()
        reading = read_scripts(customizations, self._karta.name, _path("lua"))
        self.findings += reading.findings
        if allowed is None:
            return reading.scripts
        for operation in sorted(reading.scripts.operations - allowed):
            message = f"the script for {operation} is not run: the annotation operations leaves it out"
            hint = "name the operation there, or remove the script"
            self.findings.append(warning("annotation-lua", _path("lua"), message, hint))
        return Scripts(script for script in reading.scripts if script.operation in allowed)

    def _written_from(self) -> str:
        text = self._texts.get("written-from", "").strip()
        if "written-from" in self._texts and not _PROJECT_AND_VERSION.fullmatch(text):
            self._error("written-from", f'"{text}" is not a project and a version', "write it like KubeRay 1.4")
            return ""
        return text

    def _yaml(self, annotation: str, expected: type) -> JSON:
        """The value of a YAML annotation; an empty one when it is absent or unusable."""
        empty = expected()
        if annotation not in self._texts:
            return empty
        noun = type_name(empty)
        try:
            documents = read_documents(self._texts[annotation], annotation)
        except ManifestError as err:
            self._error(annotation, f"is not YAML: {err} (line {err.line}, column {err.column})")
            return empty
        value = documents[0].value if len(documents) == 1 else None
        if not isinstance(value, expected):
            self._error(annotation, f"must be {noun} in YAML or JSON, not {type_name(value)}")
            return empty
        return value

    def _query(self, annotation: str, text: str) -> Query | None:
        usable, findings = judge(_path(annotation), text, variables=self._variables)
        self.findings += findings
        return None if usable is None else Query.compile(text, self._variables, self._karta.name)

    def _error(self, annotation: str, message: str, hint: str = "") -> None:
        self.findings.append(error(f"annotation-{annotation}", _path(annotation), message, hint))


def _unknown(names: Iterable[str]) -> Iterator[Finding]:
    for name in names:
        if name not in NAMES:
            meant = closest(name, NAMES)
            severity = Severity.ERROR if meant else Severity.WARNING
            hint = f"did you mean {PREFIX}{meant}?" if meant else f"there are: {', '.join(NAMES)}"
            yield Finding(severity, "unknown-annotation", _path(name), f"there is no annotation {name}", hint)


def _ends(karta: Karta) -> list[str]:
    """The types of the conditions that mean, when they are true, that the workload has completed or failed."""
    status = karta.spec.structure_definition.root_component.status_definition
    if status is None:
        return []
    matchers = (*status.status_mappings.completed, *status.status_mappings.failed)
    conditions = (condition for matcher in matchers for condition in matcher.by_conditions)
    return [condition.type for condition in conditions if condition.status == "True"]


def _steps(node: Node) -> PathPattern | None:
    match node:
        case Identity():
            return ()
        case Index(target, Literal(str(key))):
            before = _steps(target)
            return None if before is None else (*before, key)
        case Iterate(target):
            before = _steps(target)
            return None if before is None else (*before, None)
    return None


def _path(annotation: str) -> Path:
    return ("metadata", "annotations", PREFIX + annotation)
