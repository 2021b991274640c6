"""From a Karta without errors to its compiled definition."""

import json
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import orjson

from karta_interpreter.base.findings import DefinitionError, Finding
from karta_interpreter.base.k8s import GVK, JSON, Object
from karta_interpreter.definitions.karta import definition, model, status_rules
from karta_interpreter.definitions.karta.annotation_records import Annotations
from karta_interpreter.definitions.karta.annotations import FieldPlace
from karta_interpreter.definitions.karta.expressions import fields_read
from karta_interpreter.definitions.karta.schema_types import expressions_of
from karta_interpreter.languages.jq import Query, Singles, queries_in, render

# How the text in a field becomes an expression that may read the definition's references.
_Compiled: TypeAlias = Callable[[str, str], Query]

# An expression takes about 0.2 ms on first use. The catalogue's largest definition has 85.
_MOST_QUERIES: Final = 300

# Long expressions take longer. The catalogue's largest definition has 22,000 characters of expressions.
_MOST_CHARACTERS: Final = 2**15


def compile_definition(
    karta: model.KartaResource, annotations: Annotations, source: str, findings: tuple[Finding, ...], manifest: Object
) -> definition.Definition:
    """Return the definition of a Karta that was loaded from ``manifest`` and has passed validation."""
    structure = karta.spec.structure_definition
    root = structure.root_component
    if root.kind is None:
        raise DefinitionError(f"definition {karta.name}: the root component has no kind")
    variables = structure.reference_names
    owners = _owners(structure)
    components = tuple(
        _component(karta.name, component, owners.get(component.name), variables)
        for _, component in structure.components
    )
    status = None
    if root.status_definition is not None:
        compiled = _compiler(karta.name, variables, root.name)
        status = _status(root.status_definition, compiled, _rest(components, compiled))
    references = tuple(_reference(karta.name, structure, index) for index in range(len(structure.references)))
    queries = list(queries_in((components, status, annotations, references)))
    characters = sum(len(query.text) for query in queries)
    # One for all definitions that differ in the values of references.
    queued = definition.Queued(components) if any(component.suspend for component in components) else None
    bindings = None
    if references:
        bindings = definition.Bindings(components=components, status=status, annotations=annotations)
    return definition.Definition(
        name=karta.name,
        gvk=_gvk(root.kind),
        components=components,
        status=status,
        annotations=annotations,
        source=source,
        # Selectors and pod groups hold texts about pods, no `Query`: none of Karmada's requests runs them.
        uses_bounded=any(not query.is_plain for query in queries),
        steps=sum(query.vetting.steps for query in queries),
        has_many_expressions=len(queries) > _MOST_QUERIES or characters > _MOST_CHARACTERS,
        findings=findings,
        manifest=manifest,
        scripts=annotations.lua,
        gang=karta.spec.gang,
        references=references,
        is_counted_by_status=_is_counted_by_status(components),
        _queued=queued,
        _bindings=bindings,
    )


def _is_counted_by_status(components: Sequence[definition.ComponentRules]) -> bool:
    """Return whether each component with pods has counts, and all counts are in the status."""
    for component in [component for component in components if component.pods is not None] or components[:1]:
        counts = [*queries_in((component.replicas, component.min_replicas, component.max_replicas))]
        if not counts or not all(fields_read(query.node) == {"status"} and not query.variables for query in counts):
            return False
    return True


def _compiler(owner: str, variables: frozenset[str] = frozenset(), component: str = "") -> _Compiled:
    # Without a component it is a reference, whose errors the resolver words.
    return lambda field, text: Query.compile(
        str(text), variables, owner, component and FieldPlace(owner, component, field)
    )


def action_value(action: model.SuspendAction) -> JSON:
    """Return the JSON that a suspend action writes. Raise ValueError if its text is not JSON."""
    # Python's own parser also reads NaN, infinity and half of a surrogate pair, which no API server accepts.
    if isinstance(action.value, str):
        return orjson.loads(action.value)
    return action.value


def _owners(structure: model.StructureDefinition) -> dict[str, str]:
    """Return the owner of each child. It is the root for a child whose owners do not lead there."""
    root = structure.root_component.name
    owners = {child.name: child.owner_ref or root for child in structure.child_components}
    for name, owner in owners.items():
        if owner not in owners:
            owners[name] = root
    for name, owner in owners.items():
        above, level = owner, 0
        while above not in (root, name) and level <= model.MOST_LEVELS:
            above, level = owners[above], level + 1
        if above != root:
            owners[name] = root
    return owners


def _component(
    definition_name: str, component: model.ComponentDefinition, owner: str | None, variables: frozenset[str]
) -> definition.ComponentRules:
    compiled = _compiler(definition_name, variables, component.name)
    scale = component.scale_definition or model.ScaleDefinition()
    suspend = resume = tuple[definition.SuspendWrite, ...]()
    if suspension := component.suspend_definition:
        suspend = _actions("suspendActions", suspension.suspend_actions, compiled)
        resume = _actions("resumeActions", suspension.resume_actions, compiled)
    return definition.ComponentRules(
        definition=definition_name,
        name=component.name,
        gvk=None if component.kind is None else _gvk(component.kind),
        owner=owner,
        pods=None if component.spec_definition is None else _pods(component.spec_definition, compiled),
        instance_ids=_query("instanceIdPath", component.instance_id_path, compiled),
        replicas=_query("replicasPath", scale.replicas_path, compiled),
        min_replicas=_query("minReplicasPath", scale.min_replicas_path, compiled),
        max_replicas=_query("maxReplicasPath", scale.max_replicas_path, compiled),
        suspend=suspend,
        resume=resume,
        selector=component.pod_selector or model.PodSelector(),
    )


def _gvk(kind: model.GroupVersionKind) -> GVK:
    return GVK(kind.group, kind.version, kind.kind)


def _pods(spec: model.SpecDefinition, compiled: _Compiled) -> definition.PodDefinition | None:
    if spec.pod_template_spec_path is not None:
        return definition.PodTemplate(compiled("podTemplateSpecPath", spec.pod_template_spec_path))
    if spec.pod_spec_path is not None:
        metadata = _query("metadataPath", spec.metadata_path, compiled)
        return definition.PodSpec(compiled("podSpecPath", spec.pod_spec_path), metadata)
    if spec.fragmented_pod_spec_definition is None:
        return None
    return definition.Fragments(
        tuple(
            (str(field), compiled(str(field), text))
            for (field,), text in expressions_of(spec.fragmented_pod_spec_definition)
        )
    )


def _actions(
    field: str, actions: Sequence[model.SuspendAction], compiled: _Compiled
) -> tuple[definition.SuspendWrite, ...]:
    writes = list[definition.SuspendWrite]()
    for at, action in enumerate(actions):
        value = action_value(action)
        writes.append(definition.SuspendWrite(compiled(f"{field}[{at}].path", action.path), value, json.dumps(value)))
    return tuple(writes)


def _query(field: str, text: str | None, compiled: _Compiled) -> Query | None:
    if text is None:
        return None
    return compiled(field, text)


def _rest(components: Sequence[definition.ComponentRules], compiled: _Compiled) -> Query | None:
    """Return the expression of whether all suspending values hold. A value of null asks for nothing."""
    writes = [write for component in components for write in component.suspend if write.value is not None]
    tests = [f"({render(write.path.node)} | . == {write.text})" for write in writes]
    if len(writes) == 1 and writes[0].path.node in Singles():
        return compiled("suspendActions", tests[0])
    return compiled("suspendActions", f"[{', '.join(tests)}] | . != [] and all") if tests else None


def _status(written: model.StatusDefinition, compiled: _Compiled, rest: Query | None) -> status_rules.StatusRules:
    phase, conditions = written.phase_definition, written.conditions_definition
    rule = None
    if conditions is not None:
        names = (conditions.type_field_name, conditions.status_field_name)
        more = (conditions.message_field_name, conditions.reason_field_name)
        rule = status_rules.ConditionsRule(compiled("conditionsDefinition.path", conditions.path), *names, *more)
    mappings = []
    for status in status_rules.MATCHING_ORDER:
        matchers = []
        for matcher in getattr(written.status_mappings, status.lower()):
            query, expected = None, ""
            if (by := matcher.by_expression) is not None:
                query, expected = compiled("byExpression", by.expression), by.expected_result
            matchers.append(status_rules.Matcher(matcher.by_phase, matcher.by_conditions, query, expected))
        if matchers:
            mappings.append((status, tuple(matchers)))
    return status_rules.StatusRules(
        phase=None if phase is None else compiled("phaseDefinition.path", phase.path),
        conditions=rule,
        mappings=tuple(mappings),
        completes=status_rules.Status.COMPLETED in dict(mappings),
        rest=rest,
    )


def _reference(owner: str, structure: model.StructureDefinition, index: int) -> definition.Reference:
    """Compile a reference. Its expressions are about the workload, and nameExpression reads the references before."""
    written, compiled = structure.references[index], _compiler(owner)
    namespace = _query("namespaceExpression", written.namespace_expression, compiled)
    gvk = _gvk(written.gvk)
    if written.lookup is not None:
        lookup = written.lookup
        before = frozenset(reference.name for reference in structure.references[:index])
        query = _compiler(owner, before)("nameExpression", lookup.name_expression)
        names = _query("namesExpression", lookup.names_expression, compiled)
        return definition.Reference(written.name, gvk, namespace, query, names, lookup.optional)
    listed = written.list or model.ListReference()
    rules = list[definition.LabelRule]()
    for key, value in listed.match_labels.items():
        rules.append(definition.LabelRule(key, definition.LabelOperator.IN, (_label(value, compiled),)))
    for rule in listed.match_expressions:
        labels = tuple(_label(value, compiled) for value in rule.values)
        rules.append(definition.LabelRule(rule.key, definition.LabelOperator(rule.operator), labels))
    return definition.Reference(written.name, gvk, namespace, labels=tuple(rules))


def _label(label: model.LabelValue, compiled: _Compiled) -> str | Query:
    return label.value or "" if label.expression is None else compiled("expression", label.expression)
