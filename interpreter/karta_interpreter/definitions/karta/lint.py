"""Warnings about definitions that can be used, but of which a part has no effect or another one than it seems to."""

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.findings import Finding, error, warning
from karta_interpreter.base.k8s import Object, Path, grouped
from karta_interpreter.base.karmada import COUNTING_OPERATIONS, Operation
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS, Annotations
from karta_interpreter.definitions.karta.annotations import Retained, annotation_path
from karta_interpreter.definitions.karta.compile import action_value
from karta_interpreter.definitions.karta.expression_text import ids_meant
from karta_interpreter.definitions.karta.expressions import (
    Parsed,
    compares_alternative,
    default_applied_last,
    fields_read,
    is_boolean,
    names_places,
    reads_object,
    selections,
    shared_default,
    takes_number,
    without_default,
)
from karta_interpreter.definitions.karta.identity import REFERENCES, ROOT, ROOT_STATUS
from karta_interpreter.definitions.karta.model import (
    ComponentDefinition,
    KartaResource,
    PodSelector,
    ScaleDefinition,
    StatusDefinition,
    StatusMatcher,
    StructureDefinition,
    SuspendDefinition,
)
from karta_interpreter.definitions.karta.rules import violation
from karta_interpreter.definitions.karta.schema_types import expressions_of
from karta_interpreter.definitions.karta.status_rules import AT_WORK, MATCHING_ORDER, Status
from karta_interpreter.languages.jq import Query, render, several

_LONGEST_VALUE = 80
_OTHER_OBJECT = {"podSelector", "gangScheduling", "namesExpression"}  # fields with expressions about another object
_FIELD = re.compile(r"\.(\w+)")
_REVISE = "ReviseReplica"
_COUNTING = COUNTING_OPERATIONS | {_REVISE}
_REPORTED = ((*ROOT_STATUS, "phaseDefinition", "path"), (*ROOT_STATUS, "conditionsDefinition", "path"))
# An object as an API server holds it before any controller has seen it.
_WITHOUT_STATUS: Object = {"metadata": {}, "spec": {}}


def lint(karta: KartaResource, parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    """Yield suspicious parts: in usable expressions, and in the components that ReviseReplica may change."""
    structure = karta.spec.structure_definition
    counted = {path for path, _ in structure.counted}
    for path, component in structure.components:
        is_replicator = component.pod_selector is not None and component.pod_selector.replica_selector is not None
        # The count of a component that replicates others is the number of gangs.
        if component.scale_definition is not None and not is_replicator and path not in counted:
            yield violation("scale-without-pods", (*path, "scaleDefinition"), name=component.name)
        if component.suspend_definition is not None:
            yield from _suspension((*path, "suspendDefinition"), component.suspend_definition)
    for path, child in structure.components[1:]:
        if child.status_definition is not None:
            yield violation("child-status-unused", (*path, "statusDefinition"))
    yield from _leaves(structure, annotations)
    yield from _unread(karta, annotations)
    yield from _replicas_of_groups(karta)
    if structure.root_component.status_definition is not None:
        yield from _status(structure.root_component.status_definition, parsed, annotations)
    yield from _expressions(structure, parsed, annotations)


def _replicas_of_groups(karta: KartaResource) -> Iterator[Finding]:
    keys = {key for group in karta.spec.gang.pod_groups for member in group.members for key in member.group_by}
    for path, component in karta.spec.structure_definition.components:
        is_counting = component.spec_definition is None and component.scale_definition
        if component.pod_selector and component.pod_selector.replica_key in keys and not is_counting:
            yield violation("replicas-not-counted", (*path, "podSelector", "replicaSelector"), name=component.name)


def _suspension(path: Path, definition: SuspendDefinition) -> Iterator[Finding]:
    lists = {"suspendActions": definition.suspend_actions, "resumeActions": definition.resume_actions}
    for field, actions in lists.items():
        for index, action in enumerate(actions):
            try:
                action_value(action)
            except ValueError:
                shown = str(action.value)[:_LONGEST_VALUE]
                yield violation("suspend-value-not-json", (*path, field, index, "value"), shown=shown)
    resumed = {str(action.path): str(action.value) for action in definition.resume_actions}
    for index, action in enumerate(definition.suspend_actions):
        text, value = str(action.path), str(action.value)
        if resumed.get(text, value) == value:
            yield violation("suspend-not-undone", (*path, "suspendActions", index), text=text)


def _leaves(structure: StructureDefinition, annotations: Annotations) -> Iterator[Finding]:
    leaves = structure.counted
    # A kind without pods, such as a source of manifests, leaves these operations out.
    if not leaves and not _COUNTING.isdisjoint(annotations.operations or _COUNTING):
        yield violation("no-pods", ROOT)
    by_selector: dict[Hashable, str] = {}
    for path, leaf in leaves if len(leaves) > 1 else ():
        kind = leaf.pod_selector.component_type if leaf.pod_selector else None
        if kind is None:
            yield violation("type-selector-missing", path, name=leaf.name)
            continue
        labels = frozenset(kind.labels.items())
        # A pod belongs to the first component that recognises it. A component without a value recognises any.
        first = by_selector.get((kind.key, None, labels))
        if first is None:
            first = by_selector.setdefault((kind.key, kind.value, labels), leaf.name)
        if first != leaf.name:
            yield violation("type-selector-repeated", (*path, "podSelector"), name=leaf.name, first=first)


def _unread(karta: KartaResource, annotations: Annotations) -> Iterator[Finding]:
    """Check for annotations that no operation reads, and references that no expression reads."""
    for annotation in ANNOTATIONS if annotations.operations else ():
        is_read = not annotation.read_by or not annotation.read_by.isdisjoint(annotations.operations or ())
        if annotation.name != "lua" and annotation.is_set(annotations) and not is_read:
            yield violation("unused-annotation", annotation_path(annotation.name))
    texts = [*(text for _, text in expressions_of(karta.spec, ())), *karta.annotations.values()]
    written = "\n".join(texts)
    for index, reference in enumerate(karta.spec.structure_definition.references):
        name = reference.name.removeprefix("$")
        if not re.search(rf"\${re.escape(name)}(?!\w)", written):
            yield violation("reference-unread", (*REFERENCES, index, "name"), name=name)


def _status(definition: StatusDefinition, parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    status_of: dict[StatusMatcher, Status] = {}
    by_path = {expression.path: expression for expression in parsed}
    for path in _REPORTED:
        expression = by_path.get(path)
        if expression is not None and several(expression.node):
            yield _about("several-results", expression)
    for expression in parsed:
        if expression.path[: len(ROOT_STATUS)] == ROOT_STATUS:
            yield from _failing(expression, expression.query)
    for status in MATCHING_ORDER:
        place = (*ROOT_STATUS, "statusMappings", status.lower())
        for index, matcher in enumerate(getattr(definition.status_mappings, status.lower())):
            yield from _matcher((*place, index), matcher, definition)
            if status_of.setdefault(matcher, status) is not status:
                yield _two_statuses((*place, index), matcher, status_of[matcher], status)
    asked = (annotations.operations or frozenset(Operation)) - annotations.lua.operations
    by_mappings = Operation.INTERPRET_HEALTH in asked and not (annotations.health or annotations.healthy_statuses)
    if by_mappings and AT_WORK.isdisjoint(status_of.values()):
        yield violation("never-healthy", (*ROOT_STATUS, "statusMappings"))


def _failing(expression: Parsed, query: Query) -> Iterator[Finding]:
    """Evaluate an expression about the status on an object without a status, as each workload is at first."""
    if query.variables or not query.is_plain:
        return
    try:
        query.evaluate(_WITHOUT_STATUS)
    except QueryEvaluationError as err:
        yield _about("absent-fails", expression, text=expression.text[:_LONGEST_VALUE], reason=err)


def _two_statuses(path: Path, matcher: StatusMatcher, *both: Status) -> Finding:
    message, hint = f"{matcher.by_phase or 'the same matcher'} means both {' and '.join(both)}", "keep it in one list"
    # A failed workload is never healthy, and Karmada evicts unhealthy ones.
    if matcher.by_phase and Status.FAILED in both and AT_WORK.intersection(both):
        return error("matcher-in-two-statuses", path, message, hint)
    return warning("matcher-in-two-statuses", path, message, f"{hint}, or add conditions that differ")


def _matcher(path: Path, matcher: StatusMatcher, definition: StatusDefinition) -> Iterator[Finding]:
    conditions = definition.conditions_definition
    if not (matcher.by_phase or matcher.by_conditions or matcher.by_expression):
        yield violation("matcher-empty", path)
    if matcher.by_phase and definition.phase_definition is None:
        lacking = "there is no phaseDefinition"
        yield violation("matcher-without-place", (*path, "byPhase"), field="byPhase", lacking=lacking)
    if matcher.by_conditions and conditions is None:
        lacking = "there is no conditionsDefinition"
        yield violation("matcher-without-place", (*path, "byConditions"), field="byConditions", lacking=lacking)
    has_status = conditions is None or conditions.status_field_name
    for index, condition in enumerate(matcher.by_conditions):
        at = (*path, "byConditions", index)
        if condition.status and not has_status:
            lacking = "statusFieldName is empty, so conditions have no status"
            yield violation("matcher-without-place", (*at, "status"), field="byConditions", lacking=lacking)
        if not condition.status and not condition.reason and has_status:
            yield violation("condition-without-status", at, type=condition.type)


def _expressions(
    structure: StructureDefinition, parsed: Sequence[Parsed], annotations: Annotations
) -> Iterator[Finding]:
    """Check for expressions that are allowed but do not give the answer that they seem to give."""
    yield from _values(parsed, annotations)
    # The path of the root component has one step less than the path of another one.
    by_component = grouped(
        (expression.path[: 3 if ROOT[2] in expression.path else 4], expression) for expression in parsed
    )
    changing = _changing(structure, annotations)
    retained = _retained(annotations)
    yield from _undivided(structure, changing, annotations)
    for path, component in structure.components:
        usable = {expression.path[len(path) :]: expression for expression in by_component.get(path, ())}
        ids = usable.get(("instanceIdPath",))
        for at, expression in usable.items():
            if at and at[0] in ("specDefinition", "scaleDefinition"):
                yield from _per_instance(component, expression, ids)
            if "podSelector" in at:
                yield from _selector(expression, component.pod_selector or PodSelector())
            if "suspendDefinition" in at and not names_places(expression.query):
                yield _about("suspend-path-not-writable", expression)
            if "suspendDefinition" in at and fields_read(expression.node) == {"status"}:
                yield _about("status-not-sent", expression, text=expression.text)
        for added in annotations.added_containers:
            if added.component == component.name:
                expression = Parsed(annotation_path("added-containers"), added.query.text, added.query.node)
                yield from _per_instance(component, expression, ids if added.each else None)
        yield from _retained_pods(component, usable, retained)
        # If nothing scales a component, its expression need not be writable.
        if component.name in changing:
            yield from _scale_places(component, changing[component.name], usable, retained)


def _retained(annotations: Annotations) -> frozenset[str]:
    """Return the paths that Retain always keeps of the member, as text and without their defaults."""
    texts = set()
    for rule in annotations.retain:
        if isinstance(rule, Retained) and rule.condition is None:
            texts.add(render(without_default(rule.place.node)))
    return frozenset(texts)


def _retained_pods(
    component: ComponentDefinition, usable: Mapping[Path, Parsed], retained: Collection[str]
) -> Iterator[Finding]:
    for field in ("podTemplateSpecPath", "podSpecPath"):
        expression = usable.get(("specDefinition", field))
        text = render(without_default(expression.node)) if expression else ""
        if text in retained:
            yield violation("retains-all", annotation_path("retain"), text=text, kept=f"all pods of {component.name}")


def _undivided(
    structure: StructureDefinition, changing: Mapping[str, bool], annotations: Annotations
) -> Iterator[Finding]:
    """Check for numbers that are divided along with a count, and name no count that ReviseReplica changes."""
    scales = [str(component.scale_definition) for _, component in structure.components if component.name in changing]
    counted = set(_FIELD.findall(" ".join(scales)))
    for rule in annotations.divided if changing else ():
        fields = _FIELD.findall(rule.of.text)
        if not fields or fields[-1] not in counted:
            yield violation("count-not-divided", annotation_path("divided"), text=rule.of.text)


def _values(parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    if health := annotations.health:
        expression = Parsed(annotation_path("health"), health.text, health.node)
        yield from _failing(expression, health)
        if several(health.node):
            yield _about("several-results", expression)
    for query in annotations.queries():
        yield from _precedence(Parsed(annotation_path(query.annotation), query.text, query.node))
    for expression in parsed:
        if not _OTHER_OBJECT.isdisjoint(expression.path):
            continue
        yield from _precedence(expression)
        if "scaleDefinition" in expression.path and fields_read(expression.node) == {"status"}:
            yield _about("count-from-status", expression)
        # A reference is about one object, unless it names several.
        if expression.path[: len(REFERENCES)] == REFERENCES and several(expression.node):
            yield _about("several-results", expression)


def _precedence(expression: Parsed) -> Iterator[Finding]:
    for operator in default_applied_last(expression.node, expression.text):
        yield _about("default-precedence", expression, text=expression.text[:_LONGEST_VALUE], operator=operator)


def _selector(expression: Parsed, selector: PodSelector) -> Iterator[Finding]:
    kind = selector.component_type
    if kind is None or kind.key != expression.text:
        return
    if kind.value is not None and compares_alternative(kind.key):
        yield violation("selector-alternative", expression.path)


def _per_instance(component: ComponentDefinition, expression: Parsed, ids: Parsed | None) -> Iterator[Finding]:
    """Check the expressions that give one result for each instance of a component."""
    if rewriting := shared_default(expression.node):
        yield _about("shared-default", expression, written=rewriting[0], better=rewriting[1])
    are_several = several(expression.node)
    if component.instance_id_path is None and are_several:
        yield _about("several-without-ids", expression, ids=ids_meant(expression.text))
    if ids is None:
        return
    if several(ids.node) != are_several:
        other = "may give one id" if are_several else "may give several ids"
        yield _about("ids-differ", expression, text=ids.text, other=other)
    elif selections(expression.node) != selections(ids.node):
        yield _about("ids-differ", expression, text=ids.text, other="selects other instances")


def _changing(structure: StructureDefinition, annotations: Annotations) -> Mapping[str, bool]:
    """Return the components that ReviseReplica may change, each with whether the definition names it for that.

    These are the components in the annotation ``elastic``, else the ones with bounds. Otherwise all with pods and a
    count, unless a script answers or the definition leaves the operation out.
    """
    if annotations.is_indivisible:
        return {}
    scales = {
        component.name: component.scale_definition for _, component in structure.counted if component.scale_definition
    }
    if annotations.elastic is None:
        named = [name for name, scale in scales.items() if scale.min_replicas_path or scale.max_replicas_path]
    else:
        named = [component.name for _, component in structure.components if annotations.is_elastic(component.name)]
    if named or _REVISE in annotations.lua.operations or _REVISE not in (annotations.operations or (_REVISE,)):
        return dict.fromkeys(named, True)
    return dict.fromkeys(scales, False)


def _scale_places(
    component: ComponentDefinition, is_named: bool, usable: Mapping[Path, Parsed], retained: Collection[str]
) -> Iterator[Finding]:
    """Check for components with a number of replicas that Karmada should change but cannot."""
    scale = component.scale_definition or ScaleDefinition()
    field = "replicasPath" if scale.replicas_path is not None else "minReplicasPath"
    expression = usable.get(("scaleDefinition", field))
    if expression is None or not (is_named or reads_object(expression.node)):
        return
    if (count := render(without_default(expression.node))) in retained:
        yield violation("count-retained", annotation_path("retain"), text=count, name=component.name)
    has_own_rule = is_boolean(expression.node) or shared_default(expression.node)
    if not has_own_rule and not takes_number(expression.query):
        is_elastic = "is elastic, but no" if is_named else "has a count that ReviseReplica cannot change: no"
        more = (
            ""
            if is_named
            else "; or name the components that may change in the annotation karta-interpreter.io/elastic"
        )
        yield _about("replicas-not-writable", expression, name=component.name, is_elastic=is_elastic, more=more)


def _about(rule: str, expression: Parsed, **words: object) -> Finding:
    return replace(violation(rule, expression.path, **words), expression=expression.text)
