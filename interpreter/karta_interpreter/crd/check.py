"""The findings about a definition that the OpenAPI schema of its CRD contradicts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from karta_interpreter.crd.outputs import Scope, listed_values, outputs
from karta_interpreter.crd.shape import NULL, Shape, Shapes
from karta_interpreter.errors import QuerySyntaxError
from karta_interpreter.findings import Finding, error, warning
from karta_interpreter.jq import parse
from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.syntax import NOWHERE, Node, Span
from karta_interpreter.jq.syntax.traversal import owner_of
from karta_interpreter.k8s.values import JSON, Object, Path
from karta_interpreter.karta import annotations as values
from karta_interpreter.karta.annotation_parser import annotation_path
from karta_interpreter.karta.annotation_records import parse_annotations
from karta_interpreter.karta.compile import action_value
from karta_interpreter.karta.model import ComponentDefinition, Karta, SuspendDefinition
from karta_interpreter.karta.schema_types import PodQuery, expressions
from karta_interpreter.karta.status_rules import MATCHING_ORDER, StatusDefinition
from karta_interpreter.suggestion import did_you_mean

_STATUS: Final = ("spec", "structureDefinition", "rootComponent", "statusDefinition")


def check(karta: Karta, schema: Object) -> list[Finding]:
    """Return what of a Karta the OpenAPI schema of its kind contradicts, in the order of the definition.

    An expression that reads a field which the schema does not have is an error, since the API server removes such a
    field. A text that the schema does not list is a warning, since older objects may have it.
    """
    checked = _Checked(schema)
    for path, text in expressions(karta.spec, ("spec",)):
        if not isinstance(text, PodQuery):
            checked.expression(path, text, _WANTED.get(str(path[-1])))
    for path, component in karta.spec.structure_definition.components:
        checked.component(path, component)
    status = karta.spec.structure_definition.root_component.status_definition
    if status is not None:
        checked.status(status)
    checked.annotations(parse_annotations(karta)[0])
    return checked.findings


_Wanted = tuple[str, Callable[[Shape], bool]]
"""What the outputs of an expression have to be, in words and as a test of a shape that is known."""


def _of(noun: str, *types: str) -> _Wanted:
    return noun, lambda shape: bool(shape.types.intersection(types))


def _is_pod_spec(shape: Shape) -> bool:
    return "object" in shape.types and bool(shape.field("containers"))


def _is_template(shape: Shape) -> bool:
    specs = shape.field("spec") if "object" in shape.types else None
    return bool(specs) and all(not spec.is_known or _is_pod_spec(spec) for spec in specs or ())


def _is_count(shape: Shape) -> bool:
    # The values of annotations and labels are strings, also those that are counts.
    return bool(shape.types & {"integer", "number"}) or ".metadata." in shape.at


_TEXT: Final = _of("a string", "string")
_OBJECT: Final = _of("an object", "object")
_LIST: Final = _of("a list", "array")
_WANTED: Final[Mapping[str, _Wanted]] = {
    "podTemplateSpecPath": ("a pod template, with spec.containers", _is_template),
    "podSpecPath": ("a pod spec, with containers", _is_pod_spec),
    **dict.fromkeys(("replicasPath", "minReplicasPath", "maxReplicasPath"), ("a number", _is_count)),
    **dict.fromkeys(("instanceIdPath", "schedulerNamePath", "priorityClassNamePath", "imagePath"), _TEXT),
    **dict.fromkeys(("nameExpression", "namespaceExpression"), _TEXT),
    **dict.fromkeys(("metadataPath", "labelsPath", "annotationsPath", "resourcesPath", "containerPath"), _OBJECT),
    **dict.fromkeys(("podAffinityPath", "nodeAffinityPath"), _OBJECT),
    **dict.fromkeys(("resourceClaimsPath", "containersPath"), _LIST),
}


class _Checked:
    """One run over a definition; adds its ``findings``."""

    def __init__(self, schema: Object) -> None:
        self.findings: list[Finding] = []
        self._root = Shape(schema, ".", is_sure=True)

    def expression(self, path: Path, text: str, wanted: _Wanted | None = None) -> Shapes:
        """Follow an expression about the workload, and compare its outputs with what is ``wanted``."""
        try:
            node = parse(text)
        except QuerySyntaxError:  # a finding of its own
            return ()
        scope = Scope()
        found = outputs(node, (self._root,), scope)
        for each in scope.found:
            finding = Finding(each.severity, each.rule, path, each.message, each.hint)
            self.findings.append(replace(finding, expression=text, span=each.span))
        if wanted is not None and not scope.found:
            self._compare(path, text, found, wanted)
        return found

    def _compare(self, path: Path, text: str, found: Shapes, wanted: _Wanted) -> None:
        noun, fits = wanted
        known = [shape for shape in found if shape != NULL]
        if known and all(shape.is_known and not fits(shape) for shape in known):
            shape = known[0]
            message = f"{shape.at or 'this'} is {shape.noun} in the CRD, not {noun}"
            hint = f"it has: {', '.join(shape.fields)}" if shape.fields else ""
            self._add(error("crd-wrong-type", path, message, hint), text, Span(0, len(text)))

    def _add(self, finding: Finding, text: str, span: Span = NOWHERE) -> None:
        self.findings.append(replace(finding, expression=text, span=span if span.end else None))

    def component(self, path: Path, component: ComponentDefinition) -> None:
        """Compare the parts of a component with each other."""
        if component.instance_id_path is not None:
            self._instance_ids((*path, "instanceIdPath"), component.instance_id_path)
        if (spec := component.spec_definition) is not None:
            pods = {"podTemplateSpecPath": spec.pod_template_spec_path, "podSpecPath": spec.pod_spec_path}
            for name, text in pods.items():
                if text is not None:
                    self._optional((*path, "specDefinition", name), text)
        if component.suspend_definition is not None:
            self._suspension((*path, "suspendDefinition"), component.suspend_definition)

    def _instance_ids(self, path: Path, text: str) -> None:
        node = parse(text)
        match _last(owner_of(node)), _last(node):
            case ast.Iterate(), ast.Index(_, ast.Literal(str() as field)):
                pass
            case _:
                return
        for shape in self._listed(node):
            keys = shape.schema.get("x-kubernetes-list-map-keys")
            if isinstance(keys, list) and keys and field not in keys:
                message = f"{shape.at} is keyed by {' and '.join(map(str, keys))} in the CRD, so .{field} may repeat"
                self._add(warning("crd-instance-id", path, message, "the id of an instance has to be unique"), text)

    def _listed(self, node: Node) -> Shapes:
        """Return the lists of whose entries an expression gives one field."""
        match owner_of(node):
            case ast.Iterate(target):
                return outputs(target, (self._root,), Scope())
            case ast.Pipe(left, right) if (inner := _last(right)) is right and isinstance(inner, ast.Iterate):
                return outputs(inner.target, outputs(left, (self._root,), Scope()), Scope())
        return ()

    def _optional(self, path: Path, text: str) -> None:
        """Warn of a template that may be absent in a part of the workload that cannot."""
        node = parse(text)
        owner, field = owner_of(node), _last(node)
        if owner is None or not isinstance(field, ast.Index):
            return
        for shape in outputs(owner, (self._root,), Scope()):
            for template in shape.field(str(getattr(field.key, "value", ""))) or ():
                if shape.is_sure and not template.is_sure:
                    message = f"the CRD does not require {template.at}; a workload without it has no pods here"
                    hint = "add `// {spec: {}}` if the operator makes the pods then"
                    self._add(warning("crd-optional-template", path, message, hint), text)

    def _suspension(self, path: Path, definition: SuspendDefinition) -> None:
        actions = {"suspendActions": definition.suspend_actions, "resumeActions": definition.resume_actions}
        for name, listed in actions.items():
            for index, action in enumerate(listed):
                try:
                    value = action_value(action)
                except ValueError:  # a finding of its own
                    continue
                for shape in outputs(parse(action.path), (self._root,), Scope()):
                    self._written((*path, name, index, "value"), shape, value)

    def _written(self, path: Path, shape: Shape, value: JSON) -> None:
        if value is not None and shape.is_known and _json_type(value) not in shape.types:
            noun = Shape({"type": _json_type(value)}).noun
            message = f"{shape.at} is {shape.noun} in the CRD, and the value is {noun}"
            self.findings.append(error("crd-wrong-type", path, message))
        elif isinstance(value, str) and shape.values and value not in shape.values:
            message = f'{shape.at} is never "{value}" in the CRD'
            self.findings.append(error("crd-unknown-value", path, message, did_you_mean(value, shape.values)))

    def status(self, definition: StatusDefinition) -> None:
        """Compare phases and condition types with those that the schema lists."""
        phases, conditions = definition.phase_definition, definition.conditions_definition
        listed = [] if phases is None else listed_values(self._quiet(phases.path))
        types: list[str] = []
        if phases is not None:
            self._wanted_of((*_STATUS, "phaseDefinition", "path"), phases.path, _TEXT)
        if conditions is not None:
            names = (conditions.type_field_name, conditions.status_field_name)
            found = self._quiet(conditions.path)
            self._conditions((*_STATUS, "conditionsDefinition", "path"), conditions.path, names)
            entries = [each for shape in found for each in shape.each()]
            types = listed_values(tuple(shape for each in entries for shape in each.field(names[0]) or ()))
        for status in MATCHING_ORDER:
            for index, matcher in enumerate(getattr(definition.status_mappings, status.lower())):
                path = (*_STATUS, "statusMappings", status.lower(), index)
                self._listed_only((*path, "byPhase"), "phase", matcher.by_phase, listed)
                for at, condition in enumerate(matcher.by_conditions):
                    self._listed_only((*path, "byConditions", at, "type"), "condition", condition.type, types)

    def _quiet(self, text: str) -> Shapes:
        return outputs(parse(text), (self._root,), Scope())

    def _wanted_of(self, path: Path, text: str, wanted: _Wanted) -> None:
        self._compare(path, text, self._quiet(text), wanted)

    def _conditions(self, path: Path, text: str, names: tuple[str, str]) -> None:
        self._wanted_of(path, text, _LIST)
        for entry in (each for shape in self._quiet(text) if "array" in shape.types for each in shape.each()):
            for name in names:
                if "object" in entry.types and entry.field(name) is None:
                    message = f"a condition in {entry.at} has no field {name} in the CRD"
                    self._add(error("crd-unknown-field", path, message, did_you_mean(name, entry.fields)), text)

    def _listed_only(self, path: Path, noun: str, value: str, listed: list[str]) -> None:
        if value and listed and value not in listed:
            message = f'the CRD has no {noun} "{value}"'
            self.findings.append(warning("crd-unknown-value", path, message, did_you_mean(value, listed)))

    def annotations(self, annotations: values.Annotations) -> None:
        """Follow the expressions about the workload in annotations."""
        if annotations.health is not None:
            self.expression(annotation_path("health"), annotations.health.text, _of("a boolean", "boolean"))
        for retained in annotations.retain:
            self.expression(annotation_path("retain"), retained.place.text)
        for added in annotations.added_containers:
            self.expression(annotation_path("added-containers"), added.query.text, _OBJECT)
        for pattern in annotations.aggregate:
            text = "".join("[]" if step is None else f".{step}" for step in pattern)
            self.expression(annotation_path("aggregate"), text)
        for needed in annotations.dependencies:
            for text in _texts(needed):
                self.expression(annotation_path("dependencies"), text)


def _texts(needed: values.ExtraDependency | values.MorePods | values.MadeClaims) -> Iterator[str]:
    match needed:
        case values.ExtraDependency(_, _, name, namespace):
            yield from (query.text for query in (name, namespace) if query is not None)
        case values.MorePods(query) | values.MadeClaims(query):
            yield query.text


def _last(node: Node | None) -> Node | None:
    """Return the part of an expression that makes its outputs."""
    while isinstance(node, ast.Pipe):
        node = node.right
    return node


def _json_type(value: JSON) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    names = {float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]
