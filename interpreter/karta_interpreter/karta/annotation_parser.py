"""Parses the annotations of a Karta: one function for each, which takes its text and returns its value.

A function leaves out what is unusable; the text gets an error for it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from karta_interpreter.errors import InterpretationError, QuerySyntaxError
from karta_interpreter.jq import Query, parse
from karta_interpreter.jq.syntax import Identity, Index, Iterate, Literal, Node
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, type_name
from karta_interpreter.karta.annotation_text import AnnotationText
from karta_interpreter.karta.annotations import (
    OPERATIONS,
    AddedContainers,
    AggregateRule,
    ExtraDependency,
    MadeClaims,
    MorePods,
    PathPattern,
)
from karta_interpreter.karta.model import ComponentDefinition, Karta, ScaleDefinition
from karta_interpreter.karta.status_rules import Status
from karta_interpreter.lua.reading import read_scripts
from karta_interpreter.lua.script import Scripts
from karta_interpreter.suggestion import did_you_mean, hints

Needed: TypeAlias = ExtraDependency | MorePods | MadeClaims

_PROJECT_AND_VERSION = re.compile(r"\S.* v?[0-9][\w.+-]*")
_DEPENDENCY_FIELDS: Final = ("apiVersion", "kind", "name", "namespace")
_SINGLE_FIELDS: Final[Mapping[str, Callable[[Query], Needed]]] = {"pods": MorePods, "claims": MadeClaims}
"""Fields that make an entry of ``dependencies`` alone."""


def parse_elastic(annotation: AnnotationText) -> tuple[str, ...]:
    """Return the names of the elastic components."""
    components = {each.name: each for _, each in annotation.karta.spec.structure_definition.components}
    names = annotation.names("component", components)
    for name in names:
        _check_elastic(annotation, components[name])
    return names


def _check_elastic(annotation: AnnotationText, component: ComponentDefinition) -> None:
    scale = component.scale_definition or ScaleDefinition()
    if component.spec_definition is None:
        hint = "name the component that has the pods"
        annotation.error(f'the component "{component.name}" has no pods', hint)
    elif scale.replicas_path is None and scale.min_replicas_path is None:
        message = f'the component "{component.name}" has no number of replicas to change'
        annotation.error(message, "add scaleDefinition.replicasPath to it")


def parse_operations(annotation: AnnotationText) -> frozenset[str]:
    """Return the names of the operations."""
    return frozenset(annotation.names("operation", OPERATIONS))


def parse_health(annotation: AnnotationText) -> Query | None:
    """Return the expression."""
    return annotation.query(annotation.text)


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
    for field, needed in _SINGLE_FIELDS.items():
        if field in entry:
            query = annotation.query(entry[field])
            if query is not None:
                yield needed(query)
            return
    name = annotation.query(entry["name"])
    namespace = annotation.query(entry["namespace"]) if "namespace" in entry else None
    if name is not None:
        yield ExtraDependency(entry["apiVersion"], entry["kind"], name, namespace)


def _dependency_problems(entry: JSON) -> Iterator[tuple[str, str]]:
    """Yield message and hint for each fault of an entry."""
    if not isinstance(entry, dict):
        yield f"must be an object, not {type_name(entry)}", ""
        return
    single = next((field for field in _SINGLE_FIELDS if field in entry), None)
    known = _DEPENDENCY_FIELDS if single is None else (single,)
    for field in entry:
        if single is not None and field in (*_DEPENDENCY_FIELDS, *_SINGLE_FIELDS) and field != single:
            yield f"{field} does not go with {single}", "write two entries"
        elif field not in known:
            yield f"there is no field {field}", did_you_mean(field, (*_DEPENDENCY_FIELDS, *_SINGLE_FIELDS))
    for field in known:
        if field not in entry and field != "namespace":
            yield f"the field {field} is missing", ""
        elif not isinstance(entry.get(field, ""), str):
            yield f"{field} must be a string, not {type_name(entry[field])}", ""
    api_version, kind = entry.get("apiVersion"), entry.get("kind")
    if isinstance(api_version, str) and isinstance(kind, str):
        try:
            GVK.parse(api_version, kind)
        except InterpretationError as err:
            yield str(err), ""


def parse_added_containers(annotation: AnnotationText) -> tuple[AddedContainers, ...]:
    """Return the expressions of ``added-containers`` by component."""
    return tuple(_added_containers(annotation))


def _added_containers(annotation: AnnotationText) -> Iterator[AddedContainers]:
    components = annotation.karta.spec.structure_definition.components
    known = dict.fromkeys(each.name for _, each in components if each.spec_definition)
    hint = hints(known)
    for component, text in annotation.yaml(dict).items():
        if component not in known:
            annotation.error(f'there is no component "{component}" that has pods', hint(str(component)))
        elif not isinstance(text, str):
            annotation.error(f"{component}: {type_name(text)} where an expression belongs")
        elif query := annotation.query(text):
            yield AddedContainers(component, query)


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
    return MappingProxyType(rules)


def _pattern(annotation: AnnotationText, text: str) -> PathPattern | None:
    try:
        pattern = _steps(parse(text))
    except QuerySyntaxError:
        pattern = None
    if pattern is None or pattern[:1] != ("status",) or not pattern[1:]:
        hint = "write it like .status.active or .status.jobs[].active"
        annotation.error(f"`{text}` is not a path below .status", hint)
        return None
    return pattern


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
    return MappingProxyType(outcomes)


def _final_conditions(karta: Karta) -> list[str]:
    """Return the types of the conditions that mean, when they are true, that the workload has completed or failed."""
    status = karta.spec.structure_definition.root_component.status_definition
    if status is None:
        return []
    matchers = (*status.status_mappings.completed, *status.status_mappings.failed)
    conditions = (condition for matcher in matchers for condition in matcher.by_conditions)
    return [condition.type for condition in conditions if condition.status == "True"]


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
