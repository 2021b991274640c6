"""Warnings about definitions that Karta's admission webhook accepts, but that do not work as they seem to."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from karta_interpreter.base.findings import Finding, error, hints, warning
from karta_interpreter.base.k8s import Path
from karta_interpreter.definitions.karta.annotation_records import Annotations
from karta_interpreter.definitions.karta.annotations import annotation_path
from karta_interpreter.definitions.karta.compile import action_value
from karta_interpreter.definitions.karta.expressions import (
    Parsed,
    compares_alternative,
    names_places,
    reads_object,
    selections,
    several,
    shared_default,
    takes_number,
    useless_defaults,
)
from karta_interpreter.definitions.karta.model import (
    ComponentDefinition,
    Karta,
    PodSelector,
    ScaleDefinition,
    StatusDefinition,
    StatusMatcher,
    SuspendAction,
)
from karta_interpreter.definitions.karta.schema_types import REFERENCES, ROOT_STATUS, STRUCTURE
from karta_interpreter.definitions.karta.status_rules import MATCHING_ORDER, Status
from karta_interpreter.definitions.karta.validation import repeated

_LONGEST_VALUE = 80
_REVISE = "ReviseReplica"
_COUNTING = frozenset({"InterpretReplica", "InterpretComponent", _REVISE})
_GANG = ("spec", "optimizationInstructions", "gangScheduling")


def lint(karta: Karta, parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    """Yield suspicious parts: in usable expressions, and in the components that ReviseReplica may change."""
    structure = karta.spec.structure_definition
    for path, component in structure.components:
        yield from _component(path, component, component.pod_selector or PodSelector())
    for path, child in structure.components[1:]:
        yield from _child(path, child)
    yield from _leaves(structure.components, annotations)
    if structure.root_component.status_definition is not None:
        yield from _status(structure.root_component.status_definition)
    yield from _expressions(dict(structure.components), parsed, annotations)
    yield from _references(parsed)
    yield from _list_keys(karta)
    yield from _sub_groups(karta)


def _component(path: Path, component: ComponentDefinition, selector: PodSelector) -> Iterator[Finding]:
    spec, scale, kind = component.spec_definition, component.scale_definition, selector.component_type
    # The count of a component that replicates others is the number of gangs.
    if scale is not None and spec is None and selector.replica_selector is None:
        message = f'the component "{component.name}" has a scale but no pods, so its scale is not used'
        hint = "only components with a specDefinition are counted, and replicas of one with a replicaSelector"
        yield warning("scale-without-pods", (*path, "scaleDefinition"), message, hint)
    if scale is not None and not scale.model_fields_set:
        yield warning("scale-empty", (*path, "scaleDefinition"), "the scale definition has no path", "remove it")
    fragments = spec and spec.fragmented_pod_spec_definition
    if fragments is not None and not fragments.model_fields_set:
        at = (*path, "specDefinition", "fragmentedPodSpecDefinition")
        yield warning("fragments-empty", at, "the fragmented pod spec definition has no path", "name a piece")
    if spec is not None and spec.metadata_path is not None and spec.pod_spec_path is None:
        at, message = (*path, "specDefinition", "metadataPath"), "metadataPath is used with podSpecPath only"
        yield warning("metadata-path-unused", at, message, "remove it, or name the pod spec by podSpecPath")
    if kind is not None and kind.value is not None and compares_alternative(kind.key):
        at = (*path, "podSelector", "componentTypeSelector", "keyPath")
        message = "keyPath is compared as `KEYPATH == value`, in which `//` applies to the comparison"
        yield warning("selector-alternative", at, message, "put the expression in parentheses")
    if component.suspend_definition is not None:
        at = (*path, "suspendDefinition")
        yield from _actions((*at, "suspendActions"), component.suspend_definition.suspend_actions)
        yield from _actions((*at, "resumeActions"), component.suspend_definition.resume_actions)


def _actions(path: Path, actions: Iterable[SuspendAction]) -> Iterator[Finding]:
    for index, action in enumerate(actions):
        try:
            action_value(action)
        except ValueError:
            shown = str(action.value)[:_LONGEST_VALUE]
            at, hint = (*path, index, "value"), f"a string needs quotes of its own: '\"{shown}\"'"
            yield error("suspend-value-not-json", at, f"the value is not JSON: {shown}", hint)


def _child(path: Path, child: ComponentDefinition) -> Iterator[Finding]:
    if child.kind is not None and not (child.kind.version and child.kind.kind):
        yield warning("child-kind-incomplete", (*path, "kind"), "the kind has no version or no kind", "complete it")
    if child.status_definition is not None:
        at, message = (*path, "statusDefinition"), "only the root's status definition is used"
        yield warning("child-status-unused", at, message, "move it to the root component, or remove it")
    if child.suspend_definition is not None:
        message = "tools that suspend a workload through its root alone leave out the actions of a child"
        hint = "put every action on the root component"
        yield warning("child-suspends", (*path, "suspendDefinition"), message, hint)


def _leaves(components: Sequence[tuple[Path, ComponentDefinition]], annotations: Annotations) -> Iterator[Finding]:
    leaves = [(path, leaf) for path, leaf in components if leaf.spec_definition is not None]
    # A kind without pods, such as a source of manifests, leaves these operations out.
    if not leaves and not _COUNTING.isdisjoint(annotations.operations or _COUNTING):
        message = "no component has a pod definition, so replicas of this kind cannot be counted"
        yield warning("no-pods", components[0][0], message, "add a specDefinition to the component that has the pods")
    by_selector: dict[Hashable, str] = {}
    for path, leaf in leaves if len(leaves) > 1 else ():
        kind = leaf.pod_selector.component_type if leaf.pod_selector else None
        if kind is None:
            message = f'the pods of the component "{leaf.name}" cannot be distinguished from those of other components'
            yield warning("type-selector-missing", path, message, "add podSelector.componentTypeSelector")
            continue
        labels = frozenset(kind.labels.items())
        # A pod belongs to the first component that recognises it. A component without a value recognises any.
        first = by_selector.get((kind.key, None, labels)) or by_selector.setdefault(
            (kind.key, kind.value, labels), leaf.name
        )
        if first != leaf.name:
            message = f'all pods that the component "{leaf.name}" recognises count as those of "{first}"'
            yield warning(
                "type-selector-repeated",
                (*path, "podSelector"),
                message,
                "select the pods of each by a value that no other has",
            )


def _list_keys(karta: Karta) -> Iterator[Finding]:
    """Check the lists that the API server keys by a field: it rejects a second entry with the same key."""
    kinds, gang = karta.spec.structure_definition.additional_child_kinds, karta.spec.gang
    yield from _repeated((*STRUCTURE, "additionalChildKinds"), "kind", (one.kind for one in kinds))
    yield from _repeated((*_GANG, "podGroups"), "name", (group.name for group in gang.pod_groups))
    for index, group in enumerate(gang.pod_groups):
        members = (member.component for member in group.members)
        yield from _repeated((*_GANG, "podGroups", index, "members"), "componentName", members)
    parts = (sub_group.component for sub_group in gang.pod_group.sub_groups) if gang.pod_group else ()
    yield from _repeated((*_GANG, "podGroup", "subGroups"), "componentName", parts)


def _repeated(path: Path, field: str, keys: Iterable[str]) -> Iterator[Finding]:
    for index, key in repeated(keys):
        message = f'a second entry has the {field} "{key}", which the API server rejects'
        yield warning("repeated-list-key", (*path, index, field), message, "keep one of them")


def _sub_groups(karta: Karta) -> Iterator[Finding]:
    names = dict.fromkeys(component.name for _, component in karta.spec.structure_definition.components)
    hint = hints(names)
    whole = karta.spec.gang.pod_group
    for index, sub_group in enumerate(whole.sub_groups if whole else ()):
        if sub_group.component not in names:
            at = (*_GANG, "podGroup", "subGroups", index, "componentName")
            message = f'the subgroup "{sub_group.component}" is not a component'
            yield warning("sub-group-not-found", at, message, hint(sub_group.component))


def _status(definition: StatusDefinition) -> Iterator[Finding]:
    status_of: dict[StatusMatcher, Status] = {}
    for status in MATCHING_ORDER:
        for index, matcher in enumerate(getattr(definition.status_mappings, status.lower())):
            at = (*ROOT_STATUS, "statusMappings", status.lower(), index)
            yield from _matcher(at, matcher, definition)
            if status_of.setdefault(matcher, status) is not status:
                yield _two_statuses(at, matcher, status_of[matcher], status)
    if not status_of:
        at, hint = (*ROOT_STATUS, "statusMappings"), "add a mapping, at least running"
        yield warning("status-mappings-empty", at, "no status is ever matched", hint)


def _two_statuses(path: Path, matcher: StatusMatcher, *both: Status) -> Finding:
    message, hint = f"{matcher.by_phase or 'the same matcher'} means both {' and '.join(both)}", "keep it in one list"
    # A failed workload is never healthy, and Karmada evicts unhealthy ones.
    if matcher.by_phase and Status.FAILED in both and {Status.RUNNING, Status.COMPLETED, Status.SUSPENDED} & {*both}:
        return error("matcher-in-two-statuses", path, message, hint)
    return warning("matcher-in-two-statuses", path, message, f"{hint}, or add conditions that differ")


def _matcher(path: Path, matcher: StatusMatcher, definition: StatusDefinition) -> Iterator[Finding]:
    if not (matcher.by_phase or matcher.by_conditions or matcher.by_expression):
        yield warning("matcher-empty", path, "a matcher without any test always matches", "remove it")
    if matcher.by_phase and definition.phase_definition is None:
        message = "byPhase never matches without a phaseDefinition"
        hint = "add phaseDefinition.path to the status definition"
        yield warning("phase-definition-missing", (*path, "byPhase"), message, hint)
    if matcher.by_conditions and definition.conditions_definition is None:
        message = "byConditions never matches without a conditionsDefinition"
        hint = "add conditionsDefinition.path to the status definition"
        yield warning("conditions-definition-missing", (*path, "byConditions"), message, hint)
    has_status = definition.conditions_definition is None or definition.conditions_definition.status_field_name
    for index, condition in enumerate(matcher.by_conditions):
        if condition.status and not has_status:
            yield warning(
                "condition-status-unread",
                (*path, "byConditions", index, "status"),
                f'the condition "{condition.type}" never matches: statusFieldName is empty, so it has no status',
                "remove status: the condition holds while it is there",
            )
        if not condition.status and not condition.reason and has_status:
            message = f'the condition "{condition.type}" matches whatever its status is, "False" as well'
            yield warning("condition-without-status", (*path, "byConditions", index), message, 'add status: "True"')


def _expressions(
    components: Mapping[Path, ComponentDefinition], parsed: Sequence[Parsed], annotations: Annotations
) -> Iterator[Finding]:
    """Check for expressions that are allowed but do not give the answer that they seem to give."""
    for expression in parsed:
        of_count = "scaleDefinition" in expression.path
        for written in useless_defaults(expression.node, of_count=of_count):
            message = f"`{written}` gives no {'count' if of_count else 'other value'} for a field that is unset"
            yield _warning("useless-default", expression, message, "write what the controller takes, or no default")
    by_component = _by_component(parsed, components)
    changing = _changing(components.values(), annotations)
    for path, component in components.items():
        usable = {expression.path[len(path) :]: expression for expression in by_component[path]}
        for at, expression in usable.items():
            if at and at[0] in ("specDefinition", "scaleDefinition"):
                yield from _per_instance(component, expression, usable.get(("instanceIdPath",)))
            if "suspendDefinition" in at and not names_places(expression.query):
                message = "the expression computes a value; nothing can be written there"
                yield _warning(
                    "suspend-path-not-writable", expression, message, "write a path, such as `.spec.suspend`"
                )
        for added in (
            containers for containers in annotations.added_containers if containers.component == component.name
        ):
            expression = Parsed(annotation_path("added-containers"), added.query.text, added.query.node)
            yield from _per_instance(component, expression, usable.get(("instanceIdPath",)) if added.each else None)
        # If nothing scales a component, its expression need not be writable.
        if component.name in changing:
            yield from _scale_places(component, changing[component.name], usable)


def _references(parsed: Iterable[Parsed]) -> Iterator[Finding]:
    """Check the expressions of references: each must give one value."""
    for expression in parsed:
        if expression.path[: len(REFERENCES)] == REFERENCES and several(expression.node):
            message = "the expression may give several results where one belongs, which is an error when it does"
            hint = "pick one result with `first(...)`"
            if "lookup" in expression.path:
                hint += f", or look up a list of objects: `[{expression.text}]`"
            yield _warning("several-in-reference", expression, message, hint)


def _by_component(parsed: Sequence[Parsed], paths: Collection[Path]) -> Mapping[Path, Sequence[Parsed]]:
    """Return the expressions of each component, in one pass: a definition may have thousands of components."""
    by_component: dict[Path, list[Parsed]] = {path: [] for path in paths}
    depths = {len(path) for path in paths}
    for expression in parsed:
        for depth in depths:
            if (path := expression.path[:depth]) in by_component:
                by_component[path].append(expression)
    return by_component


def _per_instance(component: ComponentDefinition, expression: Parsed, ids: Parsed | None) -> Iterator[Finding]:
    """Check the expressions that give one result for each instance of a component."""
    rewriting = shared_default(expression.node)
    if rewriting is not None:
        written, better = rewriting
        message = f"`{written}` drops every instance that leaves the value unset: the default is for the whole list"
        yield _warning("shared-default", expression, message, f"write `{better}`")
    if component.instance_id_path is None and several(expression.node):
        message = "the expression may give several results, but the component has no instanceIdPath to name them"
        hint = "add instanceIdPath, or pick one result with `first(...)`"
        yield _warning("several-without-ids", expression, message, hint)
    if ids is not None and several(ids.node) and not several(expression.node):
        message = f"the expression gives one result, and instanceIdPath `{ids.text}` may give several ids"
        yield _warning("one-for-instances", expression, message, "give one result for each id, in the same order")
    elif ids is not None and selections(expression.node) != selections(ids.node):
        message = f"its `select` is not that of instanceIdPath `{ids.text}`: results and ids are paired by position"
        yield _warning("select-differs", expression, message, "leave the same instances out of both, or none")


def _changing(components: Collection[ComponentDefinition], annotations: Annotations) -> Mapping[str, bool]:
    """Return the components that ReviseReplica may change, each with whether the definition names it for that.

    These are the components in the annotation ``elastic``, else the ones with bounds. Otherwise all with pods and a
    count, unless a script answers or the definition leaves the operation out.
    """
    if annotations.is_indivisible:
        return {}
    scales = {
        component.name: component.scale_definition
        for component in components
        if component.scale_definition and component.spec_definition
    }
    bounded = [name for name, scale in scales.items() if scale.min_replicas_path or scale.max_replicas_path]
    elastic = [component.name for component in components if annotations.is_elastic(component.name)]
    named = bounded if annotations.elastic is None else elastic
    if named or _REVISE in annotations.lua.operations or _REVISE not in (annotations.operations or (_REVISE,)):
        return dict.fromkeys(named, True)
    return dict.fromkeys(scales, False)


def _scale_places(component: ComponentDefinition, is_named: bool, usable: Mapping[Path, Parsed]) -> Iterator[Finding]:
    """Check for components with a number of replicas that Karmada should change but cannot."""
    scale = component.scale_definition or ScaleDefinition()
    field = "replicasPath" if scale.replicas_path is not None else "minReplicasPath"
    expression = usable.get(("scaleDefinition", field))
    if expression is None or not (is_named or reads_object(expression.node)):
        return
    if shared_default(expression.node) is None and not takes_number(expression.query):
        is_elastic = "is elastic, but no" if is_named else "has a count that ReviseReplica cannot change: no"
        message = f'the component "{component.name}" {is_elastic} number can be written through this expression'
        hint = "read the number from one place: `.spec.replicas // 1`, `.spec.groups[] | .replicas * .hosts`"
        if not is_named:
            hint += "; or name the components that may change in the annotation karta-interpreter.io/elastic"
        yield _warning("replicas-not-writable", expression, message, hint)


def _warning(rule: str, expression: Parsed, message: str, hint: str) -> Finding:
    return replace(warning(rule, expression.path, message, hint), expression=expression.text)
