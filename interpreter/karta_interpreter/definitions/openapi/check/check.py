"""The findings about a definition that the OpenAPI schema of its CRD contradicts."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Final

from msgspec import structs

from karta_interpreter.base.errors import QuerySyntaxError
from karta_interpreter.base.findings import PLACES, Finding, Severity, Span, did_you_mean, error, warning
from karta_interpreter.base.k8s import ADDED_LISTS, JSON, Object, Path, get
from karta_interpreter.base.karmada import COUNTING_OPERATIONS, Operation
from karta_interpreter.definitions.karta import (
    MATCHING_ORDER,
    ROOT_KIND,
    ROOT_STATUS,
    AggregateRule,
    Immutable,
    ObjectQuery,
    PodQuery,
    Retained,
    annotation_path,
    field_text,
)
from karta_interpreter.definitions.karta.annotation_records import Annotations, parse_annotations
from karta_interpreter.definitions.karta.compile import action_value
from karta_interpreter.definitions.karta.model import ExpressionMatcher, KartaResource, StatusDefinition
from karta_interpreter.definitions.karta.schema_types import expressions_of
from karta_interpreter.definitions.openapi.check.coverage import Coverage
from karta_interpreter.definitions.openapi.check.expected import (
    BOOLEAN,
    CONTAINERS,
    EXPECTED,
    LIST,
    OBJECT,
    PART_OF_TEMPLATE,
    TEXT,
    Expected,
    hint,
)
from karta_interpreter.definitions.openapi.check.immutable import sent_fields
from karta_interpreter.definitions.openapi.check.outputs import listed_values, outputs
from karta_interpreter.definitions.openapi.check.shape import (
    NULL,
    POD,
    WRONG_TYPE,
    Shape,
    Shapes,
    TypeScope,
    literal,
)
from karta_interpreter.definitions.openapi.required import least_value, required_status
from karta_interpreter.definitions.openapi.schema import OPEN, CustomKind, Entries, SchemaPath, below
from karta_interpreter.languages.jq import parse, sources, syntax as ast
from karta_interpreter.languages.jq.syntax.traversal import parts_of


def check(karta: KartaResource, schema: Object, scale_path: str = "") -> list[Finding]:
    """Return the contradictions between a Karta and the OpenAPI schema of its kind, in the order of the definition.

    ``scale_path`` is the path of the scale subresource's count.

    Reading a field that is not in the schema is an error, since the API server removes such a field. It is a warning
    where a definition is of several releases of a project, or versions: another one may have the field. A text that the
    schema does not list is a warning, since older objects may have it.
    """
    annotations, _ = parse_annotations(karta)  # loading reports the faults
    checked = _followed(karta, annotations, schema, "the CRD")
    answered = [name for name in annotations.operations or Operation if not annotations.lua.of(name)]
    if not COUNTING_OPERATIONS.isdisjoint(answered):
        checked.unread(scale_path)
    if Operation.RETAIN in answered:
        checked.immutable(annotations)
    if Operation.REVISE_REPLICA in answered and not annotations.is_indivisible:
        checked.bounds(karta, annotations)
    projects = [source.strip().rpartition(" ")[0] for source in annotations.written_from.split(",")]
    findings = list[Finding]()
    is_of_several = projects.count(projects[0]) > 1 or annotations.other_versions
    for finding in checked.findings:
        if finding.rule == "crd-unknown-field" and is_of_several:
            findings.append(replace(finding, severity=Severity.WARNING))
        else:
            findings.append(finding)
    return findings


def places_read(karta: KartaResource, schema: Object) -> frozenset[str]:
    """Return the places of a schema that the expressions of a Karta read, and those on the way."""
    return _followed(karta, parse_annotations(karta)[0], schema, "the CRD").places


def known_contradictions(karta: KartaResource, kind: CustomKind | None) -> list[Finding]:
    """Return the contradictions between a Karta and the schema of its kind in the catalogue, as warnings.

    For any other kind they are those to the schema of pods.
    """
    schema, named = (kind.schema, f"the schema of {kind.crd}") if kind else ({OPEN: True}, "this kind")
    checked = _followed(karta, parse_annotations(karta)[0], schema, named)
    return [
        replace(finding, severity=Severity.WARNING)
        for finding in checked.findings
        if finding.rule in (WRONG_TYPE, "crd-unknown-field", "crd-unknown-value")
    ]


def _switched(karta: KartaResource) -> Iterator[tuple[Path, str, JSON]]:
    """Yield the path and the place of each value that suspends or resumes, and the value."""
    for path, component in karta.spec.structure_definition.components:
        for field, actions in component.suspend_definition or ():
            for index, action in enumerate(actions):
                with suppress(ValueError):  # a separate finding
                    at = (*path, "suspendDefinition", field.replace("_a", "A"), index, "value")
                    yield at, action.path, action_value(action)


def _followed(karta: KartaResource, annotations: Annotations, schema: Object, named: str) -> "_Checked":
    """Follow the expressions of a Karta through a schema, which the findings call ``named``."""
    checked = _Checked(schema, named)
    for path, text in expressions_of(karta.spec, ("spec",)):
        if isinstance(text, PodQuery):
            checked.expression(
                path, text, EXPECTED.get(str(path[-1]), EXPECTED.get(str(path[-2]))), inputs=(POD,), schema="a pod"
            )
        elif not isinstance(text, ObjectQuery):  # the schema of that object is not given
            checked.expression(path, text, EXPECTED.get(str(path[-1])))
    for path, at, value in _switched(karta):
        for shape in checked.quiet(at):
            checked.written(path, shape, value)
    status = karta.spec.structure_definition.root_component.status_definition
    if status is not None:
        checked.status(status)
    checked.annotations(annotations)
    checked.aggregation(annotations)
    _parsed.cache_clear()  # no tree outlives the check of its definition
    return checked


class _Checked:
    """One run over a definition. Collects ``findings``."""

    def __init__(self, schema: Object, named: str) -> None:
        self.findings: list[Finding] = []
        self._named = named
        self._coverage = Coverage()
        self._root = Shape(schema, ".", is_sure=True, place="$")

    @property
    def places(self) -> frozenset[str]:
        """The places that expressions have read, and those on the way."""
        return frozenset(self._coverage.given | self._coverage.reached)

    def expression(
        self,
        path: Path,
        text: str,
        expected: Expected | None = None,
        inputs: Shapes = (),
        schema: str = "",
    ) -> Shapes:
        """Follow an expression about the workload, or about ``inputs``, and compare its outputs with ``expected``."""
        node = _parsed(text)
        if node is None:
            return ()
        scope = TypeScope(schema=schema or self._named)
        shapes = outputs(node, inputs or (self._root,), scope)
        self._coverage.add(shapes, scope.visited)
        self.findings += [replace(contradiction, path=path, expression=text) for contradiction in scope.found]
        # After a contradiction the shapes are unknown, and another finding would be about the same mistake.
        if expected is not None and not scope.found:
            self._compare(path, text, shapes, expected, named=scope.schema)
        return shapes

    def _compare(
        self, path: Path, text: str, shapes: Shapes, expected: Expected, advice: str = "", named: str = ""
    ) -> None:
        """Report outputs if none is as expected, or of those that are to be true or false, if any is not."""
        noun, fits = expected
        # Null stands for an absent value, which is allowed in every field about pods and counts.
        typed = [shape for shape in shapes if shape != NULL]
        wrong = [shape for shape in typed if shape.is_known and not fits(shape)]
        if wrong and (expected == BOOLEAN or wrong == typed):
            shape = wrong[0]
            message = f"{shape.at or 'this'} is {shape.noun} in {named or self._named}, not {noun}"
            is_alone = (named or self._named) == "this kind" and expected != BOOLEAN
            near = (
                f"write the path of {noun}; a CRD, given {PLACES['crd']}, shows what there is"
                if is_alone
                else hint(self._root, shape, expected)
            )
            self._add(error("crd-wrong-type", path, message, advice or near), text, Span(0, len(text)))

    def _add(self, finding: Finding, text: str, span: Span = ast.NOWHERE) -> None:
        self.findings.append(replace(finding, expression=text, span=span if span.end else None))

    def written(self, path: Path, shape: Shape, value: JSON, advice: str = "") -> None:
        value_shape = literal(value)
        if value is not None and shape.is_known and not value_shape.types <= shape.types:
            message = f"{shape.at} is {shape.noun} in {self._named}, and the value is {value_shape.noun}"
            self.findings.append(error("crd-wrong-type", path, message, advice or _written_as(shape)))
        elif isinstance(value, str) and shape.values and value not in shape.values:
            message = f'{shape.at} is never "{value}" in the CRD'
            self.findings.append(error("crd-unknown-value", path, message, did_you_mean(value, shape.values)))

    def status(self, definition: StatusDefinition) -> None:
        """Compare phases and condition types with the texts that the schema lists."""
        phases, conditions = definition.phase_definition, definition.conditions_definition
        listed, types, statuses = [], [], []
        if phases is not None:
            shapes = self.quiet(phases.path)
            self._compare((*ROOT_STATUS, "phaseDefinition", "path"), phases.path, shapes, TEXT)
            listed = listed_values(shapes)
        if conditions is not None:
            names = (conditions.type_field_name, conditions.status_field_name)
            shapes = self.quiet(conditions.path)
            self._conditions((*ROOT_STATUS, "conditionsDefinition", "path"), conditions.path, shapes, names)
            entries = [*chain.from_iterable(shape.each() for shape in shapes)]
            types, statuses = (
                listed_values(tuple(chain.from_iterable(entry.field(name) or () for entry in entries)))
                for name in names
            )
        for status in MATCHING_ORDER:
            for index, matcher in enumerate(getattr(definition.status_mappings, status.lower())):
                path = (*ROOT_STATUS, "statusMappings", status.lower(), index)
                self._listed_only((*path, "byPhase"), "phase", matcher.by_phase, listed)
                if matcher.by_expression is not None and matcher.by_expression.expected_result != "null":
                    self._result((*path, "byExpression"), matcher.by_expression)
                for at, condition in enumerate(matcher.by_conditions):
                    condition_at = (*path, "byConditions", at)
                    self._listed_only((*condition_at, "type"), "condition", condition.type, types)
                    self._listed_only((*condition_at, "status"), "condition status", condition.status, statuses)

    def _result(self, path: Path, test: ExpressionMatcher) -> None:
        """Compare the text that a result should have with the schema of the result."""
        expected, shapes = test.expected_result, self.quiet(test.expression)
        self._listed_only((*path, "expectedResult"), "value", expected, listed_values(shapes))
        self._compare(
            (*path, "expression"),
            test.expression,
            shapes,
            # A value that the expression makes is not judged.
            (
                f'"{expected}"',
                lambda shape: (
                    not shape.at or any(re.fullmatch(_TEXTS.get(name, "(?s).*"), expected) for name in shape.types)
                ),
            ),
            "write expectedResult as jq prints the value: 7, true, Ready",
        )

    def quiet(self, text: str, scope: TypeScope | None = None) -> Shapes:
        """Return the outputs of an expression, without findings: `expression` reports them."""
        node = _parsed(text)
        return () if node is None else outputs(node, (self._root,), scope or TypeScope())

    def _conditions(self, path: Path, text: str, shapes: Shapes, names: tuple[str, str]) -> None:
        self._compare(path, text, shapes, LIST)
        for entry in (element for shape in shapes if "array" in shape.types for element in shape.each()):
            for name in filter(None, names):
                if "object" in entry.types and entry.field(name) is None:
                    message = f"a condition in {entry.at} has no field {name} in the CRD"
                    for_none = '; statusFieldName: "" is for none' if name == names[1] else ""
                    hint = f"{did_you_mean(name, entry.fields)}{for_none}"
                    self._add(error("crd-unknown-field", path, message, hint), text)

    def _listed_only(self, path: Path, noun: str, value: str, listed: list[str]) -> None:
        if value and listed and value not in listed:
            message = f'the CRD has no {noun} "{value}"'
            self.findings.append(warning("crd-unknown-value", path, message, did_you_mean(value, listed)))

    def annotations(self, annotations: Annotations) -> None:
        """Follow the expressions about the workload in annotations."""
        for query in annotations.queries():
            expected = _GIVEN.get((query.annotation, query.gives)) or _GIVEN.get(query.gives)
            inputs = outputs(query.of, (self._root,), TypeScope())
            if not inputs:
                continue
            shapes = self.expression(annotation_path(query.annotation), query.text, expected, inputs)
            for name in ADDED_LISTS if query.annotation == "added-containers" else ():
                lists = list[Shape]()
                for shape in shapes:
                    if "object" in shape.types:
                        parts = shape.field(name) or ()
                        lists += [structs.replace(part, at=part.at or name) for part in parts if part != NULL]
                hint = f"write {name}: [{{…}}]"
                self._compare(annotation_path(query.annotation), query.text, tuple(lists), LIST, hint)
        for state in annotations.state:
            self.expression(annotation_path("state"), field_text(state.status))
        for pattern, rule in annotations.aggregate.items():
            # A condition type is not a field of the list.
            is_type = rule is AggregateRule.ANY and pattern[1:-1] == ("conditions",)
            steps = pattern[:-1] if is_type else pattern
            text = SchemaPath(tuple(Entries() if step is None else step for step in steps)).jq
            shapes = self.expression(annotation_path("aggregate"), text)
            if rule in _AGGREGATED and not is_type:
                advice = "rules for any value: first, worst, omit, drop; conditions need none"
                self._compare(annotation_path("aggregate"), text, shapes, _AGGREGATED[rule], advice)

    def aggregation(self, annotations: Annotations) -> None:
        """Compare the values of required fields. Warn of required fields without an annotation."""
        for path, value in annotations.required_status.items():
            for shape in self.expression(annotation_path("required-status"), SchemaPath(path).jq):
                advice = f"write {json.dumps(least_value(shape.schema))}"
                self.written(annotation_path("required-status"), shape, value, advice)
        if annotations.operations is not None and "AggregateStatus" not in annotations.operations:
            return
        for field_path, value in required_status(below(self._root.schema, "status")):
            steps = field_path.names
            is_ruled = any(steps[:end] in annotations.aggregate for end in range(2, len(steps) + 1))
            # A required field of the status itself disappears with the last cluster, whatever its rule is.
            is_decided = is_ruled and len(steps) > _OF_STATUS
            given = annotations.required_status.items()
            is_given = any(
                steps[: len(whole)] == whole and get(least, steps[len(whole) :]) is not None for whole, least in given
            )
            if not is_decided and not is_given:
                from karta_interpreter.base.k8s.yaml_writer import to_yaml  # noqa: PLC0415 - few definitions need it

                field = field_path.jq
                needs = "has a default for" if "default" in below(self._root.schema, *steps) else "requires"
                message = f"the CRD {needs} {field}, and an aggregated status may lack it"
                advice = f"add `{to_yaml({field: value}).strip()}` to the annotation required-status"
                self.findings.append(
                    warning("crd-required-status", annotation_path("required-status"), message, advice)
                )

    def bounds(self, karta: KartaResource, annotations: Annotations) -> None:
        """Warn of a minimum in the schema below which ReviseReplica may write a count."""
        for path, component in karta.spec.structure_definition.components:
            scale = component.scale_definition
            is_elastic = annotations.elastic is None or annotations.is_elastic(component.name, "")
            if scale is None or not is_elastic:
                continue
            for field, text in (("replicasPath", scale.replicas_path), ("minReplicasPath", scale.min_replicas_path)):
                has_bound = field == "replicasPath" and scale.min_replicas_path is not None
                if text is not None and not has_bound:
                    self._bound((*path, "scaleDefinition", field), text)

    def _bound(self, path: Path, text: str) -> None:
        node = _parsed(text)
        written = node and sources(node)
        if node is None or written is None or any(part == _MAXIMUM for part in parts_of(node)):
            return
        for shape in outputs(written, (self._root,), TypeScope()):
            least = shape.schema.get("minimum")
            if isinstance(least, int | float) and least > 0:
                message = f"{shape.at} is at least {least} in the CRD, and ReviseReplica may write less"
                advice = f'add minReplicasPath: "{least}", or write [{text}, {least}] | max'
                self._add(warning("crd-bound", path, message, advice), text)

    def unread(self, scale_path: str) -> None:
        """Warn of pods in the schema, and of the count of its scale subresource, if no expression reads them."""
        hint = "read it, or write the reason in a comment that ignores crd-unread"
        for part in self._coverage.unread(self._root.schema, scale_path):
            message = f"no expression reads {part.path.jq}, {part.noun}"
            self.findings.append(warning("crd-unread", ROOT_KIND, message, hint))

    def immutable(self, annotations: Annotations) -> None:
        """Warn of fields that the CRD lets nobody change, and in which Retain sends the template's value."""
        kept = set[str]()
        for rule in annotations.retain:
            is_kept = (
                rule.is_final if isinstance(rule, Immutable) else isinstance(rule, Retained) and not rule.condition
            )
            if is_kept:
                kept.update(shape.place for shape in self.quiet(rule.place.text))
        for field in sent_fields(self._root.schema, kept):
            message = f"the CRD lets nobody change {field.jq}, and Retain sends another value of the template"
            advice = f"add `- fixed: {field.jq}` to the annotation retain"
            self.findings.append(warning("crd-immutable", annotation_path("retain"), message, advice))


_MAXIMUM: Final = ast.FunctionCall("max", ())

# The syntax trees that are kept: each expression of a definition is followed two or three times.
_EXPRESSIONS: Final = 256

_GIVEN: Final[Mapping[object, Expected]] = {
    str: TEXT,
    bool: BOOLEAN,
    dict: OBJECT,
    ("dependencies", dict): PART_OF_TEMPLATE,
    ("added-containers", dict): CONTAINERS,
}
_AMOUNT: Final = (
    "a number, a quantity or a duration",
    lambda shape: not shape.values and bool(shape.types & {"integer", "number", "string"}),
)
# The expected values that a rule combines into one.
_AGGREGATED: Final[Mapping[AggregateRule, Expected]] = {
    **dict.fromkeys(
        (AggregateRule.SUM, AggregateRule.COUNTER, AggregateRule.MAX, AggregateRule.MIN),
        _AMOUNT,
    ),
    **dict.fromkeys((AggregateRule.ANY, AggregateRule.ALL), BOOLEAN),
    **dict.fromkeys(
        (AggregateRule.LATEST, AggregateRule.EARLIEST),
        (
            "a time",
            lambda shape: (
                TEXT[1](shape) and not shape.values and shape.schema.get("format", "date-time") == "date-time"
            ),
        ),
    ),
    AggregateRule.UNION: OBJECT,
    AggregateRule.CONCAT: (
        "a list in which a key may stand twice",
        lambda shape: LIST[1](shape) and "x-kubernetes-list-map-keys" not in shape.schema,
    ),
}

# The steps to a field of the status.
_OF_STATUS: Final = 2
# The texts of values by their type, if not any.
_TEXTS: Final = {
    "integer": "-?[0-9]+",
    "boolean": "true|false",
    "object": r"(?s)\{.*",
    "array": r"(?s)\[.*",
}


def _written_as(shape: Shape) -> str:
    """Return a hint on how to write a value of a shape in a Karta, which has JSON in a string."""
    example = {"boolean": "true", "integer": "0", "number": "0"}.get(next(iter(shape.types)))
    if example is not None:
        return f'in YAML: value: "{example}"'
    if shape.types != {"string"}:
        return f"write JSON that is {shape.noun}"
    choice = f"; there are: {', '.join(shape.values)}" if shape.values else ""
    return f"a string has quotes of its own: value: '\"{(shape.values or ['text'])[0]}\"'{choice}"


@lru_cache(_EXPRESSIONS)
def _parsed(text: str) -> ast.Node | None:
    """Return the syntax tree of an expression, None if it does not parse, which is a separate finding."""
    try:
        return parse(text)
    except QuerySyntaxError:
        return None
