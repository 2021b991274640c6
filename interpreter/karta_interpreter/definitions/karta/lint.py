"""Warnings about definitions that Karta's admission webhook accepts, but that do not work as they seem to."""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from karta_interpreter.base.findings import Finding, closest, error, hints, warning
from karta_interpreter.base.k8s import Path
from karta_interpreter.base.karmada import COUNTING_OPERATIONS, Operation
from karta_interpreter.definitions.karta.annotation_records import Annotations
from karta_interpreter.definitions.karta.annotations import annotation_path
from karta_interpreter.definitions.karta.catalogue import catalogue_kinds
from karta_interpreter.definitions.karta.compile import action_value
from karta_interpreter.definitions.karta.expressions import (
    Parsed,
    compares_alternative,
    fields_read,
    is_boolean,
    misread_defaults,
    names_places,
    never_counts,
    open_choices,
    reads_object,
    selections,
    several,
    shared_default,
    takes_number,
    useless_defaults,
)
from karta_interpreter.definitions.karta.identity import REFERENCES, ROOT, ROOT_KIND, ROOT_STATUS, STRUCTURE, api_group
from karta_interpreter.definitions.karta.model import (
    ComponentDefinition,
    GroupVersionKind,
    KartaResource,
    PodSelector,
    ScaleDefinition,
    StatusDefinition,
    StatusMatcher,
    StructureDefinition,
    SuspendAction,
)
from karta_interpreter.definitions.karta.rules import violation
from karta_interpreter.definitions.karta.status_rules import MATCHING_ORDER, Status
from karta_interpreter.definitions.karta.validation import repeated

_LONGEST_VALUE = 80
_SPELLED = {"true": "True", "false": "False", "unknown": "Unknown"}
_LIST = re.compile(r"[.\w]+(?=\[\])|[.\w]+\.(?:initC|c)ontainers$")  # as one path of a definition shows it
# The least and the most replicas, by the names of their fields.
_SWAPPED = re.compile(r"[^/]*\.max[^./\n]*(//.*)?\n[^/]*\.min[^./\n]*(//.*)?", re.IGNORECASE)
_REVISE = "ReviseReplica"
_COUNTING = COUNTING_OPERATIONS | {_REVISE}
_REPORTED = ((*ROOT_STATUS, "phaseDefinition", "path"), (*ROOT_STATUS, "conditionsDefinition", "path"))
_GANG = ("spec", "optimizationInstructions", "gangScheduling")


def lint(karta: KartaResource, parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    """Yield suspicious parts: in usable expressions, and in the components that ReviseReplica may change."""
    structure = karta.spec.structure_definition
    counted = {path for path, _ in structure.counted}
    scales = (component.scale_definition or ScaleDefinition() for _, component in structure.components)
    counts = {str(scale.replicas_path).partition("//")[0].strip() for scale in scales}
    for path, component in structure.components:
        is_replicator = component.pod_selector is not None and component.pod_selector.replica_selector is not None
        # The count of a component that replicates others is the number of gangs.
        if component.scale_definition is not None and not is_replicator and path not in counted:
            yield violation("scale-without-pods", (*path, "scaleDefinition"), name=component.name)
        yield from _component(path, component, component.pod_selector or PodSelector(), counts)
    for path, child in structure.components[1:]:
        if child.kind is not None and not (child.kind.version and child.kind.kind):
            yield violation("child-kind-incomplete", (*path, "kind"))
        if child.status_definition is not None:
            yield violation("child-status-unused", (*path, "statusDefinition"))
        if child.suspend_definition is not None:
            yield violation("child-suspends", (*path, "suspendDefinition"))
    if structure.root_component.kind:
        yield from _kind(structure.root_component.kind)
    yield from _leaves(structure, annotations)
    if structure.root_component.status_definition is not None:
        yield from _status(structure.root_component.status_definition, parsed, annotations)
    yield from _expressions(structure, parsed, annotations)
    yield from _references(parsed)
    yield from _list_keys(karta)
    yield from _sub_groups(karta)


def _kind(root: GroupVersionKind) -> Iterator[Finding]:
    if root.kind[:1].islower():
        meant = root.kind.removesuffix("s").capitalize()
        yield violation("kind-of-resource", (*ROOT_KIND, "kind"), kind=root.kind, meant=meant)
    yield from (
        warning(
            "name-invalid",
            (*ROOT_KIND, field),
            f'"{name}" is not a name that Kubernetes accepts',
            "write lower-case letters, digits, - and .",
        )
        for field, name in (("group", root.group), ("version", root.version))
        if not re.fullmatch(r"[a-z0-9.*/-]*", name)
    )
    groups = sorted({gvk.group for gvk in catalogue_kinds() if gvk.kind == root.kind})
    # The group of a CRD has a dot, and that of Kartas has no kind of the catalogue.
    is_wrong = "." not in root.group or root.group == api_group()
    meant = closest(root.group, groups) or " or ".join(groups) * is_wrong
    if meant and root.group not in groups:
        yield violation("unknown-group", (*ROOT_KIND, "group"), kind=root.kind, group=root.group, meant=meant)


def _component(
    path: Path, component: ComponentDefinition, selector: PodSelector, counts: Collection[str]
) -> Iterator[Finding]:
    spec, scale, kind = component.spec_definition, component.scale_definition, selector.component_type
    if scale is not None and not scale.model_fields_set:
        yield violation("scale-empty", (*path, "scaleDefinition"))
    if scale is not None and _SWAPPED.fullmatch(f"{scale.min_replicas_path}\n{scale.max_replicas_path}"):
        yield violation("bounds-swapped", (*path, "scaleDefinition", "minReplicasPath"))
    fragments = spec and spec.fragmented_pod_spec_definition
    if fragments is not None and not fragments.model_fields_set:
        yield violation("fragments-empty", (*path, "specDefinition", "fragmentedPodSpecDefinition"))
    if spec is not None and spec.metadata_path is not None and spec.pod_spec_path is None:
        yield violation("metadata-path-unused", (*path, "specDefinition", "metadataPath"))
    if kind is not None and kind.value is not None and compares_alternative(kind.key):
        yield violation("selector-alternative", (*path, "podSelector", "componentTypeSelector", "keyPath"))
    if component.suspend_definition is not None:
        at = (*path, "suspendDefinition")
        yield from _actions((*at, "suspendActions"), component.suspend_definition.suspend_actions)
        yield from _actions((*at, "resumeActions"), component.suspend_definition.resume_actions)
        # A suspension that changes nothing, and a count that it loses.
        resumed = {str(action.path): str(action.value) for action in component.suspend_definition.resume_actions}
        for index, action in enumerate(component.suspend_definition.suspend_actions):
            place, text = (*at, "suspendActions", index), str(action.path)
            if resumed.get(text) == str(action.value):
                yield violation("suspend-is-resume", place, text=text)
            elif text not in resumed and text in counts:
                yield violation("suspend-count-lost", place, text=text)


def _actions(path: Path, actions: Iterable[SuspendAction]) -> Iterator[Finding]:
    for index, action in enumerate(actions):
        try:
            action_value(action)
        except ValueError:
            yield violation("suspend-value-not-json", (*path, index, "value"), shown=str(action.value)[:_LONGEST_VALUE])


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
        first = by_selector.get((kind.key, None, labels)) or by_selector.setdefault(
            (kind.key, kind.value, labels), leaf.name
        )
        if first != leaf.name:
            yield violation("type-selector-repeated", (*path, "podSelector"), name=leaf.name, first=first)


def _list_keys(karta: KartaResource) -> Iterator[Finding]:
    """Check the lists that the API server keys by a field: it rejects a second entry with the same key."""
    kinds, gang = karta.spec.structure_definition.additional_child_kinds, karta.spec.gang
    yield from _repeated((*STRUCTURE, "additionalChildKinds"), "kind", (child_kind.kind for child_kind in kinds))
    yield from _repeated((*_GANG, "podGroups"), "name", (group.name for group in gang.pod_groups))
    for index, group in enumerate(gang.pod_groups):
        members = (member.component for member in group.members)
        yield from _repeated((*_GANG, "podGroups", index, "members"), "componentName", members)
    component_names = (sub_group.component for sub_group in gang.pod_group.sub_groups) if gang.pod_group else ()
    yield from _repeated((*_GANG, "podGroup", "subGroups"), "componentName", component_names)


def _repeated(path: Path, field: str, keys: Iterable[str]) -> Iterator[Finding]:
    for index, key in repeated(keys):
        yield violation("repeated-list-key", (*path, index, field), field=field, key=key)


def _sub_groups(karta: KartaResource) -> Iterator[Finding]:
    names = dict.fromkeys(component.name for _, component in karta.spec.structure_definition.components)
    hint = hints(names)
    for index, sub_group in enumerate(karta.spec.gang.pod_group.sub_groups if karta.spec.gang.pod_group else ()):
        if sub_group.component not in names:
            yield violation(
                "sub-group-not-found",
                (*_GANG, "podGroup", "subGroups", index, "componentName"),
                component=sub_group.component,
                hint=hint(sub_group.component),
            )


def _status(definition: StatusDefinition, parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    status_of: dict[StatusMatcher, Status] = {}
    spellings: dict[str, tuple[str, Status]] = {}
    by_path = {expression.path: expression for expression in parsed}
    for expression in filter(None, map(by_path.get, _REPORTED)):
        if several(expression.node):
            yield _about("several-in-status", expression)
        elif (read := fields_read(expression.node)) and "status" not in read:
            yield _about("status-not-reported", expression, fields=" and ".join(sorted(read)))
    yield from (
        violation("path-misread", (*ROOT_STATUS, "conditionsDefinition"), written=name, better=name.strip(".[]"))
        for field, name in definition.conditions_definition or ()
        if field != "path" and name and name != name.strip(".[]")
    )
    for status in MATCHING_ORDER:
        for index, matcher in enumerate(getattr(definition.status_mappings, status.lower())):
            at = (*ROOT_STATUS, "statusMappings", status.lower(), index)
            yield from _matcher(at, matcher, definition, by_path.get((*at, "byExpression", "expression")))
            if status_of.setdefault(matcher, status) is not status:
                yield _two_statuses(at, matcher, status_of[matcher], status)
            first, first_status = spellings.setdefault(matcher.by_phase.lower(), (matcher.by_phase, status))
            if first != matcher.by_phase and first_status is not status:
                yield violation("phases-alike", (*at, "byPhase"), text=matcher.by_phase, first=first)
    if not status_of:
        yield violation("status-mappings-empty", (*ROOT_STATUS, "statusMappings"))
    asked = (annotations.operations or frozenset(Operation)) - annotations.lua.operations
    by_mappings = Operation.INTERPRET_HEALTH in asked and not (annotations.health or annotations.healthy_statuses)
    healthy = {Status.RUNNING, Status.COMPLETED, Status.SUSPENDED}
    if status_of and by_mappings and healthy.isdisjoint(status_of.values()):
        yield violation("never-healthy", (*ROOT_STATUS, "statusMappings"))


def _two_statuses(path: Path, matcher: StatusMatcher, *both: Status) -> Finding:
    message, hint = f"{matcher.by_phase or 'the same matcher'} means both {' and '.join(both)}", "keep it in one list"
    # A failed workload is never healthy, and Karmada evicts unhealthy ones.
    if matcher.by_phase and Status.FAILED in both and {Status.RUNNING, Status.COMPLETED, Status.SUSPENDED} & {*both}:
        return error("matcher-in-two-statuses", path, message, hint)
    return warning("matcher-in-two-statuses", path, message, f"{hint}, or add conditions that differ")


def _matcher(
    path: Path, matcher: StatusMatcher, definition: StatusDefinition, test: Parsed | None
) -> Iterator[Finding]:
    if not (matcher.by_phase or matcher.by_conditions or matcher.by_expression):
        yield violation("matcher-empty", path)
    for place, noun, text, better in _compared(matcher, test):
        if text != better:
            yield violation("matcher-never", (*path, *place), noun=noun, text=text, better=better)
    if re.search(r"\w[,|] *\w|[*!]", matcher.by_phase):
        yield violation("phases-in-one", (*path, "byPhase"), text=matcher.by_phase)
    if matcher.by_phase and definition.phase_definition is None:
        yield violation("phase-definition-missing", (*path, "byPhase"))
    if matcher.by_conditions and definition.conditions_definition is None:
        yield violation("conditions-definition-missing", (*path, "byConditions"))
    has_status = definition.conditions_definition is None or definition.conditions_definition.status_field_name
    for index, condition in enumerate(matcher.by_conditions):
        if condition.status and not has_status:
            yield violation("condition-status-unread", (*path, "byConditions", index, "status"), type=condition.type)
        if not condition.status and not condition.reason and has_status:
            yield violation("condition-without-status", (*path, "byConditions", index), type=condition.type)


def _compared(matcher: StatusMatcher, test: Parsed | None) -> Iterator[tuple[Path, str, str, str]]:
    """Yield the texts of a matcher: its path, what it is compared with, itself, and what it has to be to match ever."""
    yield ("byPhase",), "a phase", matcher.by_phase, matcher.by_phase and (matcher.by_phase.strip() or "PHASE")
    for index, condition in enumerate(matcher.by_conditions):
        at, status = ("byConditions", index), condition.status.strip()
        yield (*at, "type"), "the type of a condition", condition.type, condition.type.strip() or "Ready"
        yield (*at, "status"), "the status of a condition", condition.status, _SPELLED.get(status.lower(), status)
    if matcher.by_expression and test and is_boolean(test.node):
        expected = matcher.by_expression.expected_result
        yield (
            ("byExpression", "expectedResult"),
            "a comparison",
            expected,
            "false" if expected.lower() == "false" else "true",
        )


def _expressions(
    structure: StructureDefinition, parsed: Sequence[Parsed], annotations: Annotations
) -> Iterator[Finding]:
    """Check for expressions that are allowed but do not give the answer that they seem to give."""
    lists = {path for expression in parsed for path in _LIST.findall(expression.text)}
    for expression in parsed:
        yield from _values(expression, of_count="scaleDefinition" in expression.path)
        what = "a part of it" if expression.text.endswith(".metadata") else "a list" * (expression.text in lists)
        if what and expression.path[-1] in ("podTemplateSpecPath", "podSpecPath"):
            yield _about("list-for-pods", expression, text=expression.text, what=what)
    components = dict(structure.components)
    by_component = _by_component(parsed, components)
    changing = _changing(structure, annotations)
    for path, component in components.items():
        usable = {expression.path[len(path) :]: expression for expression in by_component[path]}
        for at, expression in usable.items():
            if at and at[0] in ("specDefinition", "scaleDefinition"):
                yield from _per_instance(component, expression, usable.get(("instanceIdPath",)))
            if "suspendDefinition" in at and not names_places(expression.query):
                yield _about("suspend-path-not-writable", expression)
            if "suspendDefinition" in at and fields_read(expression.node) == {"status"}:
                yield _about("status-not-sent", expression, text=expression.text)
        for added in (
            containers for containers in annotations.added_containers if containers.component == component.name
        ):
            expression = Parsed(annotation_path("added-containers"), added.query.text, added.query.node)
            yield from _per_instance(component, expression, usable.get(("instanceIdPath",)) if added.each else None)
        # If nothing scales a component, its expression need not be writable.
        if component.name in changing:
            yield from _scale_places(component, changing[component.name], usable)


def _values(expression: Parsed, *, of_count: bool) -> Iterator[Finding]:
    """Check where a value comes from, and which default replaces an absent value."""
    if of_count and fields_read(expression.node) == {"status"}:
        yield _about("count-from-status", expression)
    if of_count and never_counts(expression.node):
        yield _about("count-not-number", expression)
    for rule, written, better in misread_defaults(expression.node, of_count=of_count):
        yield _about(rule, expression, written=written, better=better)
    for written in useless_defaults(expression.node, of_count=of_count):
        yield _about("useless-default", expression, written=written, what="count" if of_count else "other value")
    for text in open_choices(expression.node):
        yield _about("choice-without-else", expression, text=text)


def _references(parsed: Iterable[Parsed]) -> Iterator[Finding]:
    for expression in parsed:
        is_one = expression.path[: len(REFERENCES)] == REFERENCES and expression.path[-1] != "namesExpression"
        # It is about one object, unless it names several.
        if is_one and several(expression.node):
            more = f", or look up a list of objects: `[{expression.text}]`" if "lookup" in expression.path else ""
            yield _about("several-in-reference", expression, more=more)


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
    if rewriting := shared_default(expression.node):
        yield _about("shared-default", expression, written=rewriting[0], better=rewriting[1])
    if component.instance_id_path is None and several(expression.node):
        yield _about("several-without-ids", expression)
    if ids is not None and several(ids.node) and not several(expression.node):
        yield _about("one-for-instances", expression, text=ids.text)
    elif ids is not None and several(expression.node) and not several(ids.node):
        yield _about("several-for-one-id", expression, text=ids.text)
    elif ids is not None and selections(expression.node) != selections(ids.node):
        yield _about("select-differs", expression, text=ids.text)


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
    named = (
        [name for name, scale in scales.items() if scale.min_replicas_path or scale.max_replicas_path]
        if annotations.elastic is None
        else [component.name for _, component in structure.components if annotations.is_elastic(component.name)]
    )
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
    has_own_rule = is_boolean(expression.node) or never_counts(expression.node) or shared_default(expression.node)
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
