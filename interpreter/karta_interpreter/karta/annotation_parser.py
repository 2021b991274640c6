"""Parses the annotations of a Karta: one function for each, which leaves out what is unusable and adds an error."""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from karta_interpreter.errors import InterpretationError, ManifestError, QuerySyntaxError
from karta_interpreter.findings import Finding, error, warning
from karta_interpreter.jq import Query, parse
from karta_interpreter.jq.syntax import Identity, Index, Iterate, Literal
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.manifest import read_documents
from karta_interpreter.k8s.values import JSON, Path, type_name
from karta_interpreter.karta import annotations as values
from karta_interpreter.karta.annotations import OPERATIONS, PREFIX, AggregateRule, PathPattern
from karta_interpreter.karta.expressions import judge
from karta_interpreter.karta.model import Karta
from karta_interpreter.karta.status_rules import Status
from karta_interpreter.lua.reading import read_scripts
from karta_interpreter.lua.script import Scripts
from karta_interpreter.suggestion import did_you_mean, hints


def annotation_path(name: str) -> Path:
    """Return the path of an annotation in a Karta."""
    return ("metadata", "annotations", PREFIX + name)


@dataclass(frozen=True, slots=True)
class AnnotationText:
    """The text of one annotation; ``parsed`` has the values of those with earlier records, by their fields."""

    name: str
    text: str
    karta: Karta
    parsed: Mapping[str, Any]
    findings: list[Finding] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The path of the annotation in the Karta."""
        return annotation_path(self.name)

    def error(self, message: str, hint: str = "") -> None:
        """Add an error about this annotation."""
        self.findings.append(error(f"annotation-{self.name}", self.path, message, hint))

    def warn(self, message: str, hint: str, rule: str = "") -> None:
        """Add a warning about this annotation."""
        self.findings.append(warning(rule or f"annotation-{self.name}", self.path, message, hint))

    def items(self) -> list[str]:
        """Return the items of a list that is separated by commas."""
        return [item.strip() for item in self.text.split(",") if item.strip()]

    def names(self, noun: str, known: Collection[str]) -> tuple[str, ...]:
        """Return the known names of a list that is separated by commas, each once; any other is an error."""
        names = self.items()
        if not names:
            self.error(f"names no {noun}", "remove the annotation, or name one")
        hint = hints(known)
        for name in names:
            if name not in known:
                self.error(f'there is no {noun} "{name}"', hint(name))
        return tuple(dict.fromkeys(name for name in names if name in known))

    def yaml(self, expected: type) -> JSON:
        """Return the YAML value of the text; an empty one, and an error, when it is unusable."""
        empty = expected()
        try:
            documents = read_documents(self.text, self.name)
        except ManifestError as err:
            message = f"is not YAML: {err} (line {err.line}, column {err.column} of the annotation)"
            found = error(f"annotation-{self.name}", self.path, message, unquoted_path(self.text, err))
            self.findings.append(replace(found, inside=(err.line, err.column)))
            return empty
        value = documents[0].value if len(documents) == 1 else None
        if not isinstance(value, expected):
            self.error(f"must be {type_name(empty)} in YAML or JSON, not {type_name(value)}")
            return empty
        return value

    def query(self, text: str) -> Query | None:
        """Compile an expression about the workload; None, and an error, when it is unusable."""
        variables = self.karta.spec.structure_definition.reference_names
        usable, findings = judge(self.path, text, variables)
        self.findings.extend(findings)
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


Needed: TypeAlias = values.ExtraDependency | values.MorePods | values.MadeClaims

_PROJECT_AND_VERSION = re.compile(r"\S.* v?[0-9][\w.+-]*")
_DEPENDENCY_FIELDS: Final = ("apiVersion", "kind", "name", "namespace")
_SINGLE_FIELDS: Final = ("pods", "claims")
"""Fields that make an entry of ``dependencies`` alone."""
_EXPRESSIONS: Final = ("name", "namespace", *_SINGLE_FIELDS)


def parse_elastic(annotation: AnnotationText) -> tuple[str, ...]:
    """Return the names of the elastic components, and of instances: ``component/instance``."""
    components = {each.name: each for _, each in annotation.karta.spec.structure_definition.components}
    parts = {item: item.partition("/")[0] for item in annotation.items() if _is_instance(item, components)}
    names = annotation.names("component", {**components, **parts})
    for name in dict.fromkeys(parts.get(name, name) for name in names):
        scale = components[name].scale_definition
        if components[name].spec_definition is None:
            annotation.error(f'the component "{name}" has no pods', "name the component that has the pods")
        elif scale is None or (scale.replicas_path is None and scale.min_replicas_path is None):
            message = f'the component "{name}" has no number of replicas to change'
            annotation.error(message, "add scaleDefinition.replicasPath to it")
    for name, component in parts.items():
        if components[component].instance_id_path is None:
            annotation.error(f'{name}: the component "{component}" has no instanceIdPath', f"write {component}")
    return names


def _is_instance(item: str, components: Collection[str]) -> bool:
    component, _, instance = item.partition("/")
    return item not in components and component in components and bool(instance)


def parse_healthy_statuses(annotation: AnnotationText) -> frozenset[Status]:
    """Return the statuses, which have no effect beside the annotation ``health``."""
    names = annotation.names("status", list(Status))
    if "health" in annotation.parsed:
        annotation.warn("has no effect: the annotation health decides", "remove one of the two")
    return frozenset(map(Status, names))


def parse_dependencies(annotation: AnnotationText) -> tuple[Needed, ...]:
    """Return the entries of ``dependencies``."""
    entries = enumerate(annotation.yaml(list))
    return tuple(needed for index, entry in entries for needed in _dependency(annotation, index, entry))


def _dependency(annotation: AnnotationText, index: int, entry: JSON) -> Iterator[Needed]:
    problems = list(_dependency_problems(entry))
    for message, hint in problems:
        annotation.error(f"entry {index}: {message}", hint)
    if problems:
        return
    queries = {field: annotation.query(entry[field]) for field in _EXPRESSIONS if field in entry}
    match queries:
        case {"pods": Query() as pods}:
            yield values.MorePods(pods)
        case {"claims": Query() as claims}:
            yield values.MadeClaims(claims)
        case {"name": Query() as name}:
            yield values.ExtraDependency(entry["apiVersion"], entry["kind"], name, queries.get("namespace"))


def _dependency_problems(entry: JSON) -> Iterator[tuple[str, str]]:
    """Yield message and hint for each fault of an entry."""
    if not isinstance(entry, dict):
        yield f"must be an object, not {type_name(entry)}", ""
        return
    single = next((name for name in _SINGLE_FIELDS if name in entry), None)
    known = _DEPENDENCY_FIELDS if single is None else (single,)
    for name in entry:
        if single is not None and name in (*_DEPENDENCY_FIELDS, *_SINGLE_FIELDS) and name != single:
            yield f"{name} does not go with {single}", "write two entries"
        elif name not in known:
            yield f"there is no field {name}", did_you_mean(name, (*_DEPENDENCY_FIELDS, *_SINGLE_FIELDS))
    for name in known:
        if name not in entry and name != "namespace":
            yield f"the field {name} is missing", ""
        elif not isinstance(entry.get(name, ""), str):
            yield f"{name} must be a string, not {type_name(entry[name])}", ""
    api_version, kind = entry.get("apiVersion"), entry.get("kind")
    if isinstance(api_version, str) and isinstance(kind, str):
        try:
            GVK.parse(api_version, kind)
        except InterpretationError as err:
            yield str(err), ""


def parse_added_containers(annotation: AnnotationText) -> tuple[values.AddedContainers, ...]:
    """Return the expressions of ``added-containers`` by component."""
    added: list[values.AddedContainers] = []
    components = annotation.karta.spec.structure_definition.components
    known = dict.fromkeys(each.name for _, each in components if each.spec_definition)
    hint = hints(known)
    for component, text in annotation.yaml(dict).items():
        if component not in known:
            annotation.error(f'there is no component "{component}" that has pods', hint(str(component)))
        elif not isinstance(text, str):
            annotation.error(f"{component}: {type_name(text)} where an expression belongs")
        elif query := annotation.query(text):
            added.append(values.AddedContainers(component, query))
    return tuple(added)


def parse_aggregate(annotation: AnnotationText) -> Mapping[PathPattern, AggregateRule]:
    """Return the rules by the path of the status field."""
    rules: dict[PathPattern, AggregateRule] = {}
    for text, name in annotation.yaml(dict).items():
        pattern = _pattern(annotation, text)
        if name not in list(AggregateRule):
            annotation.error(f"{text}: there is no rule {name}", did_you_mean(str(name), AggregateRule))
        elif name == AggregateRule.COUNTER and pattern is not None and None in pattern:
            annotation.error(f"{text}: a counter is one number, not one of a list", "write sum")
        elif pattern is not None:
            rules[pattern] = AggregateRule(name)
    return rules


def _pattern(annotation: AnnotationText, text: str) -> PathPattern | None:
    pattern: PathPattern = ()
    with suppress(QuerySyntaxError):
        node = parse(text)
        while isinstance(node, Index | Iterate):
            match node:
                case Index(target, Literal(str(key))):
                    node, pattern = target, (key, *pattern)
                case Iterate(target):
                    node, pattern = target, (None, *pattern)
                case _:
                    break
        if isinstance(node, Identity) and pattern[:1] == ("status",) and pattern[1:]:
            return pattern
    annotation.error(f"`{text}` is not a path below .status", "write it like .status.active or .status.jobs[].active")
    return None


def parse_outcomes(annotation: AnnotationText) -> Mapping[str, str]:
    """Return the final conditions, each with the condition that announces it."""
    outcomes: dict[str, str] = {}
    ends = _final_conditions(annotation.karta)
    for condition, announcement in annotation.yaml(dict).items():
        unmapped = [name for name in (condition, announcement) if name not in ends]
        for name in unmapped:
            hint = f'map {{type: {name}, status: "True"}} to one of them'
            annotation.error(f"no status mapping makes {name} completed or failed", hint)
        if condition == announcement:
            annotation.error(f"{condition} cannot announce itself", "name the condition that comes before it")
        elif not unmapped:
            outcomes[condition] = announcement
    return outcomes


def _final_conditions(karta: Karta) -> list[str]:
    """Return the types of the conditions that mean, when they are true, that the workload has completed or failed."""
    status = karta.spec.structure_definition.root_component.status_definition
    if status is None:
        return []
    matchers = (*status.status_mappings.completed, *status.status_mappings.failed)
    return [each.type for matcher in matchers for each in matcher.by_conditions if each.status == "True"]


def parse_lua(annotation: AnnotationText) -> Scripts:
    """Return the scripts of those operations that the annotation ``operations`` allows."""
    customizations = annotation.yaml(dict)
    if annotation.findings:
        return Scripts()
    reading = read_scripts(customizations, annotation.karta.name, annotation.path)
    annotation.findings.extend(reading.findings)
    allowed = annotation.parsed.get("operations", OPERATIONS)
    for operation in sorted(reading.scripts.operations.difference(allowed)):
        message = f"the script for {operation} is not run: the annotation operations leaves it out"
        annotation.warn(message, "name the operation there, or remove the script")
    return Scripts(script for script in reading.scripts if script.operation in allowed)


def parse_written_from(annotation: AnnotationText) -> str:
    """Return the project and its version."""
    text = annotation.text.strip()
    if _PROJECT_AND_VERSION.fullmatch(text):
        return text
    annotation.error(f'"{text}" is not a project and a version', "write it like KubeRay 1.4")
    return ""
