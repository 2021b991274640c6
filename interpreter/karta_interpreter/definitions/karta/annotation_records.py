"""The facts that Karmada needs in addition to Karta's schema: the annotations, with a record and a parser for each.

Hints, schemas and pages are derived from the records. A parser leaves out unusable values, and adds an error for each.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, TypeAlias

from karta_interpreter.base.errors import InterpretationError, QuerySyntaxError
from karta_interpreter.base.findings import Finding, closest, did_you_mean, error, hints, warning
from karta_interpreter.base.k8s import DEPENDENCIES_READ, GVK, JSON, SELECTOR_FIELDS, Object, type_name
from karta_interpreter.base.karmada import SLOTS, Operation
from karta_interpreter.definitions.karta import annotations as values
from karta_interpreter.definitions.karta.annotation_text import AnnotationText
from karta_interpreter.definitions.karta.annotations import (
    PREFIX,
    WHOLE,
    AggregateRule,
    AnnotationQuery,
    PathPattern,
    RetainRule,
)
from karta_interpreter.definitions.karta.expressions import (
    fields_read,
    names_places,
    plain_path,
    split_default,
    whole_places,
)
from karta_interpreter.definitions.karta.model import KartaResource
from karta_interpreter.definitions.karta.rules import violation
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.languages.jq import most_outputs, owner_of, parse, queries_in, render, syntax as ast
from karta_interpreter.languages.lua.reading import read_scripts
from karta_interpreter.languages.lua.script import Scripts

_TEXT: Final[Object] = {"type": "string"}
_JQ: Final[Object] = {"type": "string", "format": "jq"}
_LINK: Final = re.compile(r"\[([^]]+)\]\([^)]+\)")

Needed: TypeAlias = values.ExtraDependency | values.OfDependencies | values.LeftOut

DEFAULT_QUEUE_LABELS = ("kueue.x-k8s.io/queue-name",)
"""The label of Kueue's queues (``QueueLabel`` in its ``pkg/controller/constants``)."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """The parsed annotations of one definition. A field without its annotation has its default."""

    elastic: tuple[str, ...] | None = None
    divided: tuple[values.Divided, ...] = ()
    retain: tuple[RetainRule, ...] = ()
    state: tuple[values.PreservedState, ...] = ()
    queue_labels: tuple[str, ...] = DEFAULT_QUEUE_LABELS
    dependencies: tuple[Needed, ...] = ()
    unread: tuple[values.LeftOut, ...] = ()
    added_containers: tuple[values.AddedContainers, ...] = ()
    aggregate: Mapping[PathPattern, AggregateRule] = field(default_factory=dict)
    required_status: Mapping[tuple[str, ...], JSON] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    health: AnnotationQuery | None = None
    healthy_statuses: frozenset[Status] | None = None
    operations: frozenset[str] | None = None
    lua: Scripts = field(default_factory=Scripts)
    written_from: str = ""

    def is_elastic(self, component: str, instance: str | None = None) -> bool:
        """Return whether ``elastic`` names a component or the instance. Without ``instance``, any instance counts.

        >>> found = Annotations(elastic=("head", "group/hot"))
        >>> found.is_elastic("group", "hot"), found.is_elastic("group", "cold"), found.is_elastic("group")
        (True, False, True)
        """
        named, prefix = self.elastic or (), f"{component}/"
        if component in named:
            return True
        return any(name.startswith(prefix) for name in named) if instance is None else prefix + instance in named

    def queries(self, operation: Operation | None = None) -> Iterator[AnnotationQuery]:
        """Yield the expressions in all values, or only the ones that the answer to an ``operation`` depends on."""
        queries = (query for query in queries_in(self) if isinstance(query, AnnotationQuery))
        return (query for query in queries if operation is None or operation in query.read_by)

    def of_dependencies(self, form: str) -> list[AnnotationQuery]:
        """Return the expressions of one form, such as ``pods``, in ``dependencies``."""
        return [
            entry.query
            for entry in self.dependencies
            if isinstance(entry, values.OfDependencies) and entry.form == form
        ]

    @property
    def retained(self) -> tuple[RetainRule, ...]:
        """The rules of ``retain``, and the rules for fields that members derive from preserved state."""
        return (*self.retain, *(rule for preserved in self.state for rule in preserved.places))

    @property
    def is_indivisible(self) -> bool:
        """Whether ``elastic`` is ``none``: an object keeps the number of pods that it has."""
        return self.elastic == ()

    @property
    def observes_generation(self) -> bool:
        """Whether ``observedGeneration`` in a status is about the object itself: an omitted one is not."""
        return self.aggregate.get(("status", "observedGeneration")) is not AggregateRule.OMIT


@dataclass(frozen=True, slots=True)
class NotExported:
    """The reason why no script can implement an annotation. The export rejects the operations that read it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation. Without defaults the type checker demands every part of a new annotation."""

    name: str
    """The name without the prefix."""
    schema: Object
    """The JSON Schema of the value: of the YAML for an object or a list, else of the text. A string of the format
    ``jq`` is an expression.
    """
    form: str
    """The value in words, in Markdown with links relative to ``docs/``."""
    description: str
    """The effect, in Markdown like ``form``."""
    example: str
    """A whole text."""
    parse: Callable[[AnnotationText], object]
    read_by: frozenset[Operation]
    """The operations with answers that depend on it."""
    exported: str | NotExported
    """Continues "an exported script", or is the reason why these operations have none."""

    @property
    def field(self) -> str:
        """The field of `Annotations` for the value that ``parse`` returns."""
        return self.name.replace("-", "_")

    def without(self, values: Annotations) -> Annotations:
        """Return the values without the value of this annotation."""
        return replace(values, **{self.field: getattr(Annotations(), self.field)})

    def is_set(self, values: Annotations) -> bool:
        """Return whether this annotation changes its value from the default."""
        return self.without(values) != values

    @property
    def property_schema(self) -> Object:
        """The JSON Schema of the annotation in ``metadata.annotations``, where every value is a string."""
        text = _LINK.sub(r"\1", f"{self.description[0].upper()}{self.description[1:]}. Value: {self.form}.")
        described = {"type": "string", "description": text, "examples": [self.example]}
        if self.schema.get("type") == "string":
            return {**self.schema, **described}
        return {**described, "contentMediaType": "application/yaml", "contentSchema": self.schema}


def _names_of(names: Iterable[str]) -> Object:
    """Return the schema of a list of known names that are separated by commas."""
    name = f"({'|'.join(names)})"
    return {"type": "string", "pattern": rf"^[\s,]*{name}(\s*,[\s,]*{name})*[\s,]*$"}


def _fields_of(*required: str, **fields: Object) -> Object:
    return {"type": "object", "properties": fields, "required": [*required], "additionalProperties": False}


def _list_of(*entries: Object) -> Object:
    return {"type": "array", "items": {"anyOf": [*entries]}}


def _mapping_to(value: Object) -> Object:
    return {"type": "object", "additionalProperties": value}


_PLAIN: Final[tuple[Object, ...]] = ({"type": "array", "items": {}}, {"type": "number"}, {"type": "boolean"})
_UNSET = {"unset": _JQ, "by": _JQ, "if": _JQ, "value": _JQ}
_OWNED = {"owned": _JQ, "while": _JQ}
_OMISSION: Final = _fields_of("omit", "reason", omit=_JQ, reason=_TEXT)
_OBJECTS = {"apiVersion": _TEXT, "kind": _TEXT, "namespace": _JQ}

Problem: TypeAlias = tuple[str, str, str]
"""Field, message and hint for a fault of an entry of a list."""

_PROJECT_AND_VERSION = r"[^\s,][^\n,]* v?[0-9][\w.+-]*"
_PROJECTS_AND_VERSIONS = re.compile(f"{_PROJECT_AND_VERSION}(, {_PROJECT_AND_VERSION})*")
_PLAIN_NAME = re.compile(r"[a-z0-9][-a-z0-9.]*")
# The value for an empty list in an annotation that takes names.
_NONE: Final = "none"
_DEPENDENCY_FIELDS: Final = ("apiVersion", "kind", "name", "namespace")
_NAMESPACED: Final = re.compile(r'"([-\w]+)/([-.\w]+)"')
CORE_KINDS: Final = (
    *("ConfigMap", "Endpoints", "Event", "LimitRange", "List", "Namespace", "Node", "PersistentVolume"),
    *("PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota", "Secret", "Service"),
    "ServiceAccount",
)
# Kinds that are often written in the plural, by their names in small letters.
_KINDS: Final = {
    kind.lower(): kind
    for kind in (
        "Secret",
        "ConfigMap",
        "ServiceAccount",
        "PersistentVolumeClaim",
        "Service",
        "Deployment",
        "Pod",
        "Job",
    )
}
# The fields of the other forms of an entry of ``dependencies``, by the first field of each form.
_FORMS: Final = {
    "pods": ("pods",),
    "claims": ("claims",),
    "parameters": ("parameters",),
    "omit": ("omit", "reason"),
    "labelSelector": ("apiVersion", "kind", "labelSelector", "namespace"),
}
_QUOTES: Final = "write it in quotes"
_OF_PODS: Final = tuple(f"spec.{path}" for path in DEPENDENCIES_READ)
_EXPRESSIONS: Final = ("name", "namespace", *_FORMS)


def parse_elastic(annotation: AnnotationText) -> tuple[str, ...]:
    """Return the names of the elastic components and instances (``component/instance``), empty for ``none``."""
    structure = annotation.karta.spec.structure_definition
    components = {by_name.name: by_name for _, by_name in structure.components}
    if annotation.items() == [_NONE] and _NONE not in components:
        return ()
    # A component name may contain a slash: then the whole item is meant, and no instance.
    split = {item: item.partition("/") for item in annotation.items() if item not in components}
    parts = {
        item: component for item, (component, _, instance) in split.items() if component in components and instance
    }
    names = annotation.names("component", {**components, **parts})
    counted = {component.name for _, component in structure.counted}
    for name in dict.fromkeys(parts.get(name, name) for name in names):
        scale = components[name].scale_definition
        if name not in counted:
            annotation.error(f'the component "{name}" has no pods', "name the component that has the pods")
        elif scale is None or (scale.replicas_path is None and scale.min_replicas_path is None):
            message = f'the component "{name}" has no number of replicas to change'
            annotation.error(message, "add scaleDefinition.replicasPath to it")
    for name, component in parts.items():
        if components[component].instance_id_path is None:
            annotation.error(f'{name}: the component "{component}" has no instanceIdPath', f"write {component}")
    return names


def parse_divided(annotation: AnnotationText) -> tuple[values.Divided, ...]:
    """Return the entries of ``divided``."""
    rules = []
    for index, entry in _entries(
        annotation, lambda entry: _field_problems(entry, (_form_of(entry, "held", "minimum"), "of"), _DIVIDED)
    ):
        name = _form_of(entry, "held", "minimum")
        value, of = annotation.query(entry[name], index, name), annotation.query(entry["of"], index, "of")
        if value is not None and of is not None:
            _check_place(annotation, value, index)
            rules.append(values.Divided(value, of, name == "held"))
    return tuple(rules)


_DIVIDED: Final = ("minimum", "held", "of")


def _form_of(entry: Object, form: str, other: str) -> str:
    """Return the form of an entry: the one whose field it has, or else the other."""
    return form if form in entry else other


def parse_healthy_statuses(annotation: AnnotationText) -> frozenset[Status]:
    """Return the statuses. With the annotation ``health`` they do not decide InterpretHealth."""
    names = annotation.names("status", list(Status))
    if "health" in annotation.parsed:
        annotation.warn(
            "does not decide InterpretHealth beside health; AggregateStatus and exports read it",
            "remove it unless the order of statuses should differ",
        )
    return frozenset(map(Status, names))


def parse_dependencies(annotation: AnnotationText) -> tuple[Needed, ...]:
    """Return the entries of ``dependencies``."""
    needed: list[Needed] = []
    for index, entry in _entries(annotation, _dependency_problems):
        queries = {field: _named(annotation, index, field, entry[field]) for field in _EXPRESSIONS if field in entry}
        match queries:
            case {"omit": AnnotationQuery() as omit}:  # only an explanation reads it
                needed.append(values.LeftOut(replace(omit, read_by=frozenset()), entry["reason"]))
            case {"name": AnnotationQuery() as objects} | {"labelSelector": AnnotationQuery() as objects}:
                namespace = queries.get("namespace")
                needed.append(values.ExtraDependency(entry["apiVersion"], entry["kind"], objects, namespace))
            case _:
                forms = ((form, query) for form, query in queries.items() if query and form in _FORMS)
                needed += [values.OfDependencies(form, query) for form, query in forms]
    return tuple(needed)


def parse_unread(annotation: AnnotationText) -> tuple[values.LeftOut, ...]:
    """Return the entries of ``unread``."""
    read: list[values.LeftOut] = []
    for index, entry in _entries(
        annotation, lambda entry: _field_problems(entry, (_form_of(entry, "unknown", "omit"), "reason"))
    ):
        form = _form_of(entry, "unknown", "omit")
        if place := annotation.query(entry[form], index, form):
            read.append(values.LeftOut(place, entry["reason"], form == "unknown"))
    return tuple(read)


def _entries(
    annotation: AnnotationText, problems_of: Callable[[Object], Iterable[Problem]]
) -> Iterator[tuple[int, Object]]:
    """Yield the valid objects of a list, each with its index. Any other entry is an error."""
    for index, entry in enumerate(annotation.yaml(list)):
        is_object = isinstance(entry, dict)
        problems = [*problems_of(entry)] if is_object else [("", f"must be an object, not {type_name(entry)}", "")]
        for name, message, hint in problems:
            annotation.error(f"entry {index}: {message}", hint, (index, name))
        if not problems:
            yield index, entry


def _field_problems(
    entry: Mapping[str, JSON], allowed: Collection[str], all_known: Collection[str] = (), optional: Collection[str] = ()
) -> Iterator[Problem]:
    for name, value in entry.items():
        if name not in allowed:
            yield name, f"there is no field {name}", did_you_mean(name, all_known or allowed)
        elif not isinstance(value, str):
            yield name, f"{name} must be a string, not {type_name(value)}", _QUOTES
    for name in (name for name in allowed if name not in entry and name not in optional):
        needed = (field for field in allowed if field not in optional)
        yield name, f"the field {name} is missing", f"write {{{', '.join(f'{field}: …' for field in needed)}}}"


def _named(annotation: AnnotationText, index: int, field: str, text: str) -> AnnotationQuery | None:
    gives = {"pods": dict, "labelSelector": dict, "parameters": dict, "omit": object}.get(field, str)
    reads = _OF_PODS if field == "pods" else ()
    before, query = len(annotation.findings), annotation.query(text, index, field, gives=gives, reads=reads)
    if field == "pods":
        _check_templates(annotation, index, query)
    if field == "name" and (parts := _NAMESPACED.fullmatch(text)):
        hint = f"""write namespace: '"{parts[1]}"', name: '"{parts[2]}"'"""
        annotation.error(f"entry {index}: a name has no `/`", hint, (index, field))
    # The fields of the selector that the expression makes, as far as its form shows them.
    made = query.node.entries if field == "labelSelector" and query and isinstance(query.node, ast.Object) else ()
    keys = {entry.key.value for entry in made if isinstance(entry.key, ast.Literal)}
    for name in (key for key in keys - SELECTOR_FIELDS if isinstance(key, str)):
        hint = "write {matchLabels: {…}} around the labels"
        annotation.error(f"entry {index}: a label selector has no field {name}", hint, (index, field))
    if query is None and _PLAIN_NAME.fullmatch(text):  # one finding, not one for each part of the name
        message, hint = f"{field} is jq, in which {text} is not a text", f"""write {field}: '"{text}"'"""
        annotation.findings[before:] = [replace(annotation.findings[before], message=message, hint=hint, span=None)]
    return query


def _check_templates(annotation: AnnotationText, index: int, query: AnnotationQuery | None) -> None:
    """Report an expression for pod templates that gives plain values, and warn of one that gives a spec."""
    match query.node if query else None:
        case ast.Literal(value) if value is not None:
            message = f"entry {index}: pods is jq that gives pod templates, not {type_name(value)}"
            annotation.error(message, "write a path, such as .spec.template", (index, "pods"))
        case ast.Index(target, ast.Literal("spec")) as path:
            around = render(target)
            message = f"entry {index}: pods takes pod templates, and `{render(path)}` is what a template has in spec"
            hint = "name the field that has the template" if around == "." else f"write {around}"
            annotation.warn(message, f"{hint}, or {{spec: …}} around a pod spec", at=(index, "pods"))


def _dependency_problems(entry: Object) -> Iterator[Problem]:
    form = next((name for name in _FORMS if name in entry), "")
    allowed, fields = _FORMS.get(form, _DEPENDENCY_FIELDS), (*_DEPENDENCY_FIELDS, *chain(*_FORMS.values()))
    others = [name for name in entry if form and name in fields and name not in allowed]
    for name in others:
        yield name, f"{name} does not go with {form}", "write two entries"
    own = {name: value for name, value in entry.items() if name not in others}
    yield from _field_problems(own, allowed, fields, optional=("namespace",))
    api_version, kind = entry.get("apiVersion"), entry.get("kind")
    if isinstance(api_version, str) and isinstance(kind, str):
        try:
            GVK.parse(api_version, kind)
        except InterpretationError as err:
            yield "apiVersion", str(err), ""
        singular = kind.removesuffix("s").capitalize() if kind[:1].islower() else kind
        if kind != (singular_kind := _KINDS.get(kind.lower().removesuffix("s"), singular)):
            yield (
                "kind",
                f"{kind} is the name of a resource, not a kind",
                f"write the kind as manifests do: {singular_kind}",
            )
        elif re.fullmatch(r"([a-z]+/)?v\w+", api_version) and (api_version == "v1") != (kind in CORE_KINDS):
            hint = did_you_mean(kind, CORE_KINDS) if api_version == "v1" else "write apiVersion: v1"
            yield "kind", f"{api_version} has no kind {kind}, which is of another group", hint


def parse_added_containers(annotation: AnnotationText) -> tuple[values.AddedContainers, ...]:
    """Return the expressions of ``added-containers`` by component."""
    added: list[values.AddedContainers] = []
    components = annotation.karta.spec.structure_definition.components
    with_pods = dict.fromkeys(
        component_of_kind.name for _, component_of_kind in components if component_of_kind.spec_definition
    )
    hint = hints(with_pods)
    for component, text in annotation.yaml(dict).items():
        if component not in with_pods:
            annotation.error(f'there is no component "{component}" that has pods', hint(component), (component,))
        elif not isinstance(text, str):
            annotation.error(f"{component}: {type_name(text)} where an expression belongs", _QUOTES, (component,))
        elif query := annotation.query(text, component, gives=dict):
            most = most_outputs(query.node, annotation.karta.spec.structure_definition.reference_names)
            added.append(values.AddedContainers(component, query, not query.is_plain or most not in (0, 1)))
    return tuple(added)


def parse_aggregate(annotation: AnnotationText) -> Mapping[PathPattern, AggregateRule]:
    """Return the rules by the path of the status field."""
    rules: dict[PathPattern, AggregateRule] = {}
    for text, name in annotation.yaml(dict).items():
        pattern = _pattern(annotation, text)
        if name not in list(AggregateRule):
            annotation.error(f"{text}: there is no rule {name}", did_you_mean(str(name), AggregateRule), (text,))
        elif name == AggregateRule.COUNTER and pattern is not None and None in pattern:
            annotation.error(f"{text}: a counter is one number, not one of a list", "write sum", (text,))
        elif pattern is not None:
            rules[pattern] = AggregateRule(name)
    return rules


def parse_required_status(annotation: AnnotationText) -> Mapping[tuple[str, ...], JSON]:
    """Return the values by the paths of the status fields, each object before its fields."""
    required: dict[tuple[str, ...], JSON] = {}
    for text, value in annotation.yaml(dict).items():
        pattern = _pattern(annotation, text) or ()
        path = tuple(step for step in pattern if step is not None)
        if len(path) < len(pattern) or value is None:
            hint = "elements of lists have all of their fields, and null is not a value"
            annotation.error(f"{text}: this cannot be required", hint)
        elif path:
            required[path] = value
    return dict(sorted(required.items(), key=lambda item: len(item[0])))


def _pattern(annotation: AnnotationText, text: str) -> PathPattern | None:
    pattern: PathPattern = ()
    with suppress(QuerySyntaxError):
        node = parse(text)
        while isinstance(node, ast.Index | ast.Iterate):
            match node:
                case ast.Index(target, ast.Literal(str(key))):
                    node, pattern = target, (key, *pattern)
                case ast.Iterate(target):
                    node, pattern = target, (None, *pattern)
                case _:
                    break
        if isinstance(node, ast.Identity) and pattern[:1] == ("status",) and pattern[1:]:
            return pattern
    annotation.error(
        f"`{text}` is not a path below .status", "write it like .status.active or .status.jobs[].active", (text,)
    )
    return None


def parse_outcomes(annotation: AnnotationText) -> Mapping[str, str]:
    """Return the final conditions, each with the condition that announces it."""
    outcomes: dict[str, str] = {}
    status = annotation.karta.spec.structure_definition.root_component.status_definition
    matchers = (*status.status_mappings.completed, *status.status_mappings.failed) if status else ()
    # The condition types that, if true, mean that the workload has completed or failed.
    ends = {condition.type for matcher in matchers for condition in matcher.by_conditions if condition.status == "True"}
    for condition, announcement in annotation.yaml(dict).items():
        unmapped = [name for name in (condition, announcement) if not isinstance(name, str) or name not in ends]
        for name in unmapped:
            hint = f'map {{type: {name}, status: "True"}} to one of them'
            annotation.error(f"no status mapping makes {name} completed or failed", hint, (condition,))
        if condition == announcement:
            hint = "name the condition that comes before it"
            annotation.error(f"{condition} cannot announce itself", hint, (condition,))
        elif not unmapped:
            outcomes[condition] = announcement
    return outcomes


def parse_lua(annotation: AnnotationText) -> Scripts:
    """Return the scripts of the operations that the annotation ``operations`` allows."""
    customizations = annotation.yaml(dict)
    # The text is not a mapping: one finding about it is enough.
    if annotation.findings:
        return Scripts()
    reading = read_scripts(customizations, annotation.karta.name, annotation.path)
    for finding in reading.findings:
        annotation.report(finding, finding.path[len(annotation.path) :])
    allowed = annotation.parsed.get("operations", SLOTS)
    for operation in sorted(reading.scripts.operations.difference(allowed)):
        message = f"the script for {operation} is not run: the annotation operations leaves it out"
        annotation.warn(message, "name the operation there, or remove the script", at=(SLOTS[operation].field,))
    return Scripts(script for script in reading.scripts if script.operation in allowed)


def parse_written_from(annotation: AnnotationText) -> str:
    """Return the projects and their versions."""
    text = annotation.text.strip()
    if _PROJECTS_AND_VERSIONS.fullmatch(text):
        return text
    annotation.error(
        f'"{text}" is not a project and a version', "write it like KubeRay 1.4, or KubeRay 1.4, Kueue 0.17"
    )
    return ""


# The fields of an entry of ``retain``, by the field that names the path.
_RULE_FIELDS: Final = {
    "unset": ("unset", "by", "if", "value"),
    "owned": ("owned", "while"),
    "replicas": ("replicas",),
    "quantities": ("quantities",),
    "once": ("once", "note"),
}
# A qualified name of Kubernetes (`IsQualifiedName`): a DNS subdomain of 253 characters at most, and a name of 63.
LABEL: Final = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", re.ASCII)


def parse_retain(annotation: AnnotationText) -> tuple[RetainRule, ...]:
    """Return the rules of ``retain``, which is a YAML list or has one path per line."""
    lines = annotation.parts(r"^[^\S\n]*([^\s#].*)$")
    # No jq path begins with a bracket or a dash: an array in jq is a new value and has no place.
    is_yaml = bool(lines) and lines[0].startswith(("[", "-"))
    rules: list[RetainRule] = []
    for at, entry in enumerate(annotation.yaml(list)) if is_yaml else zip(lines, lines, strict=True):
        if isinstance(entry, str):
            rules += _retained_path(annotation, entry, at)
        elif isinstance(entry, dict):
            rules += _retained_rule(annotation, entry, at)
        else:
            annotation.error(f"an entry is {type_name(entry)} where a jq path belongs", at=(at,))
    return tuple(rules)


def _retained_path(annotation: AnnotationText, entry: str, at: str | int) -> Iterator[RetainRule]:
    text, absent, drops = split_default(entry)
    query = annotation.query(text, at)
    if query is None:
        return
    _check_place(annotation, query, at)
    for whole in whole_places(query):
        kept = "the whole object" if whole == "." else f"all of {whole}"
        annotation.report(violation("retains-all", annotation.path, text=text, kept=kept), (at,))
    yield values.Retained(query, absent, drops)


def _rule_problems(entry: Mapping[str, JSON], key: str) -> Iterator[Problem]:
    if "path" in entry:
        yield "path", "there is no field path", f"write the path alone: - {entry['path']}"
    else:
        yield from _field_problems(entry, _RULE_FIELDS[key], optional=_RULE_FIELDS["unset"][1:])
    if "by" in entry and "value" in entry:
        yield "value", "by is for lists, and value for a single field", "write two entries"
    note = entry.get("note")
    if key == "once" and isinstance(note, str) and not LABEL.fullmatch(note):
        yield "note", f'"{note}" is not the name of an annotation', "write it like example.io/sent"


def _retained_rule(annotation: AnnotationText, entry: Mapping[str, JSON], at: str | int) -> Iterator[RetainRule]:
    key = next((key for key in ("once", "quantities", "replicas", "owned") if key in entry), "unset")
    problems = list(_rule_problems(entry, key))
    for name, message, hint in problems:
        annotation.error(message, hint, (at, name))
    if problems:
        return
    text, absent, drops = split_default(entry[key]) if key == "owned" else (entry[key], None, False)
    query = annotation.query(text, at, key)
    if query is None:
        return
    if key == "once":
        if path := plain_path(query.node):
            yield values.Once(query, path, entry["note"])
        else:
            annotation.error(f"`{query.text}` is not a path of plain names", "write it like .spec.names", (at, "once"))
        return
    _check_place(annotation, query, at)
    owner, element = owner_of(query.node), ast.Iterate(query.node) if "by" in entry else query.node
    inputs = {"by": element, "if": element, "value": owner or WHOLE, "while": WHOLE}
    queries = {field: annotation.query(entry[field], at, field, of=inputs[field]) for field in inputs.keys() & entry}
    if not all(queries.values()):
        return
    if key != "unset":
        if key == "owned":
            yield values.Retained(query, absent, drops, queries["while"])
        else:
            yield values.RetainedCount(query) if key == "replicas" else values.KeepQuantityFormat(query)
        return
    if "value" in entry and owner is None:
        message = f"`{query.text}` names several fields; a value is for one"
        annotation.error(message, "write an entry for each", (at,))
    yield values.Unset(query, queries.get("by"), queries.get("if"), queries.get("value"))


def _check_place(annotation: AnnotationText, query: AnnotationQuery, at: str | int) -> None:
    if not names_places(query):
        message = f"`{query.text}` computes a value; it names no place"
        annotation.error(message, "write a path, such as .spec.suspend", (at,))
    elif fields_read(query.node) == {"status"} and plain_path(query.node) != ("status",):
        annotation.report(violation("status-not-sent", annotation.path, text=query.text), (at,))


_STATE_FIELDS: Final = ("status", "label", "spec")
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)


def parse_state(annotation: AnnotationText) -> tuple[values.PreservedState, ...]:
    """Return the entries of ``state``."""
    states: list[values.PreservedState] = []
    for index, entry in _entries(annotation, _state_problems):
        path = _pattern(annotation, entry["status"])
        if path is None:
            continue
        if not all(step is not None and _PLAIN_KEY.fullmatch(step) for step in path):
            hint = "Karmada reads one value by JSONPath; write it like .status.job.id"
            annotation.error(f"`{entry['status']}` is not a path of plain names", hint, (index, "status"))
            continue
        texts = entry["spec"] if isinstance(entry["spec"], list) else [entry["spec"]]
        places = [annotation.query(text, index, "spec") for text in texts]
        for query in filter(None, places):
            _check_place(annotation, query, index)
        rules = tuple(values.Unset(query) for query in places if query)
        if len(rules) == len(texts):
            names = tuple(step for step in path if step is not None)
            states.append(values.PreservedState(names, entry["label"], rules))
    return tuple(states)


def _state_problems(entry: Object) -> Iterator[Problem]:
    paths = entry.get("spec")
    if isinstance(paths, list) and paths:  # each is like a single one
        entry = {**entry, "spec": next((path for path in paths if not isinstance(path, str)), "")}
    yield from _field_problems(entry, _STATE_FIELDS)
    label = entry.get("label")
    if isinstance(label, str) and not LABEL.fullmatch(label):
        yield "label", f'"{label}" is not the name of a label', "write it like example.io/replaced-job"


def parse_queue_labels(annotation: AnnotationText) -> tuple[str, ...]:
    """Return the labels of ``queue-labels``."""
    names = annotation.items()
    if names == [_NONE]:
        return ()
    wrong = [name for name in names if not LABEL.fullmatch(name) or name == _NONE]
    for name in wrong:
        annotation.error(f'"{name}" is not the name of a label', "write it like kueue.x-k8s.io/queue-name", (name,))
    if not names:
        annotation.error("names no label", f"name one, or write {_NONE}")
    elif not wrong and not any(
        component.suspend_definition for _, component in annotation.karta.spec.structure_definition.components
    ):
        annotation.warn("a queue has nothing to do with a kind that has no suspendDefinition", "remove the annotation")
    return tuple(dict.fromkeys(names))


ANNOTATIONS: Final = (
    Annotation(
        name="elastic",
        schema=_TEXT,
        form="names of components, or of instances as `component/instance`, comma separated, or `none`",
        description=(
            "the components and instances with pods that ReviseReplica may change. With `none` "
            "[the workload is not divided](operations.md#workloads-that-cannot-be-divided)"
        ),
        example="worker",
        parse=parse_elastic,
        read_by=frozenset({Operation.REVISE_REPLICA, Operation.REVISE_COMPONENTS}),
        exported="changes only the counts of these pods",
    ),
    Annotation(
        name="divided",
        schema=_list_of(_fields_of("minimum", "of", minimum=_JQ, of=_JQ), _fields_of("held", "of", held=_JQ, of=_JQ)),
        form=(
            "a YAML list of `{minimum: jq, of: jq}` and `{held: jq, of: jq}`: the path of a number, and a count that "
            "changes when replicas are divided. Of several values each has its own count"
        ),
        description=(
            "numbers that are [divided along](operations.md#numbers-that-are-divided-along) with a count: minimums, "
            "and the pods that a roll-out holds back"
        ),
        example="- {minimum: .spec.worker.quorum, of: .spec.worker.replicas // 1}\n",
        parse=parse_divided,
        read_by=frozenset({Operation.REVISE_REPLICA, Operation.REVISE_COMPONENTS}),
        exported="divides these numbers",
    ),
    Annotation(
        name="retain",
        schema={
            "anyOf": [
                _list_of(
                    _JQ,
                    _fields_of("unset", **_UNSET),
                    _fields_of("owned", "while", **_OWNED),
                    _fields_of("replicas", replicas=_JQ),
                    _fields_of("quantities", quantities=_JQ),
                    _fields_of("once", "note", once=_JQ, note=_TEXT),
                ),
                _TEXT,
            ]
        },
        form=(
            "a YAML list of jq paths, or one per line, and of "
            "[rules for fields that the template leaves unset](#what-belongs-to-a-member)"
        ),
        description="paths that belong to the member cluster",
        example=(
            "- .spec.seed\n"
            "- {unset: .spec.containers, by: .name, if: .injected}\n"
            "- {owned: .spec.disk, while: .status.restored}\n"
            "- replicas: .spec.roles[].replicas\n"
            "- quantities: .spec.resources\n"
            "- {once: .spec.podsToDelete, note: example.io/pods-to-delete}\n"
        ),
        parse=parse_retain,
        read_by=frozenset({Operation.RETAIN}),
        exported="keeps these values of the member",
    ),
    Annotation(
        name="state",
        schema=_list_of(
            _fields_of(
                *_STATE_FIELDS, status=_TEXT, label=_TEXT, spec={"anyOf": [_JQ, {"type": "array", "items": _JQ}]}
            )
        ),
        form=(
            "a YAML list of `{status, label, spec}`: a path such as `.status.job.id`, the name of a label, and one or "
            "several jq paths"
        ),
        description=(
            "[state that a failover preserves](health.md#state): Karmada passes the field of the status to a new "
            "cluster as the label, and a mutation there writes the fields of the spec. These fields belong to the "
            "member if the template leaves them unset"
        ),
        example="- {status: .status.run, label: example.io/replaced-run, spec: .spec.seed}\n",
        parse=parse_state,
        read_by=frozenset({Operation.RETAIN}),
        exported="keeps these fields of the member",
    ),
    Annotation(
        name="queue-labels",
        schema=_TEXT,
        form="names of labels, comma separated, or `none`. The default is `kueue.x-k8s.io/queue-name`",
        description=(
            "the labels of objects that [a queue of the member suspends and admits](operations.md#workloads-in-a-queue)"
        ),
        example="example.io/queue",
        parse=parse_queue_labels,
        read_by=frozenset({Operation.RETAIN}),
        exported="looks for these labels",
    ),
    Annotation(
        name="added-containers",
        schema=_mapping_to(_JQ),
        form=(
            "a YAML mapping of components to jq that gives `{containers: […], initContainers: […]}` or nothing, "
            "[once for all instances or once for each](#containers-that-an-operator-adds)"
        ),
        description=(
            "containers that the operator adds to the component's pods. They count in requests and dependencies. "
            "Changes of pods are still written to the template"
        ),
        example="worker: '{containers: [.spec.proxy | select(.)]}'\n",
        parse=parse_added_containers,
        read_by=frozenset({Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT, Operation.INTERPRET_DEPENDENCY}),
        exported="adds these containers to the pods",
    ),
    Annotation(
        name="dependencies",
        schema=_list_of(
            _fields_of("apiVersion", "kind", "name", **_OBJECTS, name=_JQ),
            _fields_of("apiVersion", "kind", "labelSelector", **_OBJECTS, labelSelector=_JQ),
            _fields_of("pods", pods=_JQ),
            _fields_of("claims", claims=_JQ),
            _fields_of("parameters", parameters=_JQ),
            _OMISSION,
        ),
        form=(
            "a YAML list of `{apiVersion, kind, name, namespace}`, where `name` and `namespace` are jq. An entry with "
            "`labelSelector` instead of `name` takes all objects of the kind with these labels: jq that gives a label "
            "selector. Other entries are `{pods: jq}` (more pod templates, or parts of them), `{claims: jq}` (names of "
            "volumes that the controller replaces by claims), `{parameters: jq}` (an object with the values of "
            "parameters in names: `{params: {user: …}}` for `{{params.user}}` and `$(params.user)`) and "
            "`{omit: jq, reason: text}` (fields with references that the workload does not need)"
        ),
        description="additional objects that the workload needs, and volumes and fields to ignore",
        example=(
            "- {apiVersion: v1, kind: ConfigMap, name: .spec.config, namespace: .spec.team}\n"
            "- {apiVersion: v1, kind: Service, labelSelector: '{matchLabels: {mill: .metadata.name}}'}\n"
            "- pods: .spec.sidecars[].template\n"
            "- claims: .spec.volumeClaimTemplates[].metadata.name\n"
            "- parameters: '{params: .spec.params}'\n"
            "- {omit: .spec.restoreFrom, reason: a backup is data of one cluster}\n"
        ),
        parse=parse_dependencies,
        read_by=frozenset({Operation.INTERPRET_DEPENDENCY}),
        exported="names these objects",
    ),
    Annotation(
        name="unread",
        schema=_list_of(_OMISSION, _fields_of("unknown", "reason", unknown=_JQ, reason=_TEXT)),
        form="a YAML list of `{omit: jq, reason: text}` and `{unknown: jq, reason: text}`",
        description=(
            "parts of the workload that no answer depends on, each with the reason, although they look like pods, "
            "requests, counts, claims, switches or selections of nodes. "
            "[The check of a CRD](authoring.md#paths-that-the-crd-does-not-have) does not name them or their "
            "references, and no warning their resources. If a workload has an `unknown` part, a warning says that its "
            "pods may request something else than the answer"
        ),
        example=(
            "- {omit: .spec.update.parallelism, reason: this many pods are replaced at once}\n"
            "- {unknown: .spec.podPatch, reason: a patch of the pods is text}\n"
        ),
        parse=parse_unread,
        read_by=frozenset(),
        exported="does not depend on it",
    ),
    Annotation(
        name="health",
        schema=_JQ,
        form="jq that yields true or false",
        description="replaces the status mapping for InterpretHealth",
        example=".status.ready == true",
        parse=lambda annotation: annotation.query(annotation.text, gives=bool),
        read_by=frozenset({Operation.INTERPRET_HEALTH}),
        exported="has the expression as a function",
    ),
    Annotation(
        name="healthy-statuses",
        schema=_names_of(Status),
        form="status names, comma separated: `Running, Completed`",
        description=(
            "the statuses that [count as healthy](health.md). The default is `Running`, `Completed` and `Suspended`. "
            "For kinds that run to completion (with a mapping of `completed`), the default also has `Initializing`, "
            "`Suspending` and `Resuming`"
        ),
        example="Running, Completed",
        parse=parse_healthy_statuses,
        read_by=frozenset({Operation.INTERPRET_HEALTH, Operation.AGGREGATE_STATUS}),
        exported="looks for these statuses",
    ),
    Annotation(
        name="aggregate",
        schema=_mapping_to({"enum": [str(rule) for rule in AggregateRule]}),
        form=(
            "a YAML mapping of paths such as `.status.pools[].peak` to `sum`, `counter` (a sum that never falls), "
            "`max`, `min`, `any`, `all`, `first`, `worst` (the value of the cluster with the worst status), `union` "
            "(the keys of all objects), `concat`, `latest`, `earliest`, `omit` (the template's value stays) or `drop` "
            "(the field is removed)"
        ),
        description=(
            "how the values of several clusters for a status field become one value. A path may also name a condition "
            'that its controller removes when it is not true (`.status.conditions["Paused"]: any`). An '
            "`observedGeneration` that is omitted is never compared with the object's generation"
        ),
        example=".status.active: sum\n.status.pools[].peak: max\n",
        parse=parse_aggregate,
        read_by=frozenset({Operation.AGGREGATE_STATUS, Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH}),
        exported="merges by these rules",
    ),
    Annotation(
        name="required-status",
        schema=_mapping_to({"anyOf": [_TEXT, {"type": "object", "additionalProperties": True}, *_PLAIN]}),
        form="a YAML mapping of paths such as `.status.driver` to values such as `{}`",
        description=(
            "the fields that [the CRD requires in a status](aggregate-status.md#what-the-crd-requires), each with the "
            "value to use if no cluster gives one. A field of an object is added only if the object is there"
        ),
        example=".status.driver: {}\n.status.driver.phase: Unknown\n",
        parse=parse_required_status,
        read_by=frozenset({Operation.AGGREGATE_STATUS}),
        exported="adds these fields",
    ),
    Annotation(
        name="outcomes",
        schema=_mapping_to(_TEXT),
        form=(
            "a YAML mapping from conditions that end the workload for good to the conditions that announce them: "
            "`Failed: FailureTarget`"
        ),
        description=(
            "when the workload has ended, [which the API server may check](aggregate-status.md#how-a-workload-ends)"
        ),
        example="Failed: FailureTarget\n",
        parse=parse_outcomes,
        read_by=frozenset({Operation.AGGREGATE_STATUS}),
        exported="looks for these conditions",
    ),
    Annotation(
        name="operations",
        schema=_names_of(Operation),
        form="operation names, comma separated",
        description="the only operations that are answered",
        example="InterpretStatus, InterpretHealth",
        parse=lambda annotation: frozenset(annotation.names("operation", list(Operation))),
        read_by=frozenset(Operation),
        exported="exists only for these operations",
    ),
    Annotation(
        name="lua",
        schema=_fields_of(**{slot.field: _mapping_to(_TEXT) for slot in SLOTS.values()}),
        form="a YAML mapping like `spec.customizations` of Karmada's ResourceInterpreterCustomization",
        description="[scripts](#scripts) that answer instead of the Karta",
        example="retention:\n  luaScript: function Retain(desired, observed) return desired end\n",
        parse=parse_lua,
        read_by=frozenset(Operation),
        exported="is the script of the annotation",
    ),
    Annotation(
        name="written-from",
        schema=_TEXT,
        form="a project and its version, or several: `KubeRay 1.4, Kueue 0.17`",
        description=(
            "what the definition was written from: the project whose API it is comes first. Every definition of "
            "[the catalogue](catalogue/README.md) has this annotation. [upstreams.md](catalogue/upstreams.md) lists "
            "them by project"
        ),
        example="KubeRay 1.4",
        parse=parse_written_from,
        read_by=frozenset(),
        exported="does not depend on it",
    ),
)
"""Every annotation, in the order of parsing: ``lua`` needs the value of ``operations``."""

NAMES: Final = tuple(annotation.name for annotation in ANNOTATIONS)


def parse_annotations(karta: KartaResource) -> tuple[Annotations, list[Finding]]:
    """Return the usable values of a Karta's annotations, and the findings about all of them."""
    texts = {key.removeprefix(PREFIX): text for key, text in karta.annotations.items() if key.startswith(PREFIX)}
    findings: list[Finding] = []
    for key in karta.annotations:
        prefix, _, name = key.rpartition("/")
        is_ours, suggestion = key.startswith(PREFIX), closest(name, NAMES)
        # One of our names with nearly our prefix, with none, or of Karta. Any other belongs to another program.
        is_near = (("karta" in prefix or not prefix) and name in NAMES) or closest(prefix, (PREFIX[:-1],))
        if name not in NAMES if is_ours else is_near and suggestion:
            hint = f"did you mean {PREFIX}{suggestion}?" if suggestion else f"there are: {', '.join(NAMES)}"
            # A typing error would leave the annotation without effect. Another name may come from a later release.
            report = error if suggestion and prefix else warning
            message = f"there is no annotation {key.removeprefix(PREFIX)}"
            findings.append(report("unknown-annotation", ("metadata", "annotations", key), message, hint))
    parsed: dict[str, Any] = {}
    for annotation in ANNOTATIONS:
        if annotation.name in texts:
            text = AnnotationText(annotation.name, texts[annotation.name], karta, parsed, annotation.read_by)
            parsed[annotation.field] = annotation.parse(text)
            findings += text.findings
    return Annotations(**parsed), findings
