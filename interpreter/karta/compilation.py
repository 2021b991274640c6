"""From a Karta without errors to its compiled definition."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass

from interpreter.errors import DefinitionError
from interpreter.findings import Finding
from interpreter.k8s.gvk import GVK
from interpreter.k8s.values import JSON
from interpreter.karta.annotations import Annotations
from interpreter.karta.definition import (
    Component,
    Definition,
    Fragments,
    PodDefinition,
    PodSpec,
    PodTemplate,
    SuspendAction,
)
from interpreter.karta.model import (
    ComponentDefinition,
    GroupVersionKind,
    Karta,
    ScaleDefinition,
    SpecDefinition,
    StatusDefinition,
    StatusMatcher,
)
from interpreter.karta.model import SuspendAction as WrittenAction
from interpreter.karta.notation import expressions
from interpreter.karta.status_rules import (
    MATCHING_ORDER,
    ConditionMatcher,
    ConditionsRule,
    Matcher,
    StatusRules,
)
from interpreter.query import Query


def compile_definition(
    karta: Karta, annotations: Annotations, source: str = "", findings: Sequence[Finding] = ()
) -> Definition:
    """The definition that a Karta describes; the Karta must have passed validation."""
    structure = karta.spec.structure_definition
    root = structure.root_component
    if root.kind is None:
        raise DefinitionError(f"definition {karta.name}: the root component has no kind")
    components = tuple(_component(karta.name, component) for _, component in structure.components)
    status = None if root.status_definition is None else _status(root.status_definition)
    return Definition(
        name=karta.name,
        gvk=_gvk(root.kind),
        components=components,
        status=status,
        annotations=annotations,
        source=source,
        uses_bounded=any(not query.is_plain for query in _queries((components, status, annotations))),
        findings=tuple(findings),
    )


def action_value(action: WrittenAction) -> JSON:
    """The JSON that a suspend action writes; raises ValueError when its text is not JSON."""
    if not isinstance(action.value, str):
        return action.value
    try:
        return json.loads(action.value, parse_constant=_refuse_constant)
    except RecursionError as err:
        raise ValueError("nested too deep") from err


def _refuse_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not JSON")


def _component(definition: str, written: ComponentDefinition) -> Component:
    scale = written.scale_definition or ScaleDefinition()
    suspension = written.suspend_definition
    return Component(
        definition=definition,
        name=written.name,
        gvk=None if written.kind is None else _gvk(written.kind),
        owner=written.owner_ref,
        pods=None if written.spec_definition is None else _pods(written.spec_definition),
        instance_ids=_query(written.instance_id_path),
        replicas=_query(scale.replicas_path),
        min_replicas=_query(scale.min_replicas_path),
        max_replicas=_query(scale.max_replicas_path),
        suspend=_actions(suspension.suspend_actions if suspension else ()),
        resume=_actions(suspension.resume_actions if suspension else ()),
    )


def _gvk(kind: GroupVersionKind) -> GVK:
    return GVK(kind.group, kind.version, kind.kind)


def _pods(spec: SpecDefinition) -> PodDefinition | None:
    if spec.pod_template_spec_path is not None:
        return PodTemplate(Query.compile(spec.pod_template_spec_path))
    if spec.pod_spec_path is not None:
        return PodSpec(Query.compile(spec.pod_spec_path), _query(spec.metadata_path))
    if spec.fragmented_pod_spec_definition is None:
        return None
    written = expressions(spec.fragmented_pod_spec_definition)
    return Fragments(tuple((str(field), Query.compile(text)) for (field,), text, _ in written))


def _actions(actions: Sequence[WrittenAction]) -> tuple[SuspendAction, ...]:
    return tuple(SuspendAction(Query.compile(action.path), action_value(action)) for action in actions)


def _query(text: str | None) -> Query | None:
    return None if text is None else Query.compile(text)


def _status(written: StatusDefinition) -> StatusRules:
    phase, conditions = written.phase_definition, written.conditions_definition
    mappings = ((status, getattr(written.status_mappings, status.lower())) for status in MATCHING_ORDER)
    return StatusRules(
        phase=None if phase is None else Query.compile(phase.path),
        conditions=None
        if conditions is None
        else ConditionsRule(
            Query.compile(conditions.path),
            conditions.type_field_name,
            conditions.status_field_name,
            conditions.message_field_name,
            conditions.reason_field_name,
        ),
        mappings=tuple((status, tuple(map(_matcher, matchers))) for status, matchers in mappings if matchers),
    )


def _matcher(written: StatusMatcher) -> Matcher:
    conditions = tuple(
        ConditionMatcher(condition.type, condition.status, condition.reason) for condition in written.by_conditions
    )
    expression = written.by_expression
    if expression is None:
        return Matcher(written.by_phase, conditions)
    return Matcher(written.by_phase, conditions, Query.compile(expression.expression), expression.expected_result)


def _queries(part: object) -> Iterator[Query]:
    if isinstance(part, Query):
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from _queries(item)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _queries(getattr(part, field.name))
