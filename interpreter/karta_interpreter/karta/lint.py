"""Warnings about definitions that Karta's admission webhook accepts, and that do not do what they seem to do."""

from collections.abc import Iterable, Iterator, Sequence

from karta_interpreter.findings import Finding, error, warning
from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.compile import action_value
from karta_interpreter.karta.expressions import Parsed
from karta_interpreter.karta.lint_expressions import lint_expressions
from karta_interpreter.karta.model import ComponentDefinition, Karta, PodSelector, SuspendAction
from karta_interpreter.karta.status_rules import MATCHING_ORDER, StatusDefinition, StatusMatcher
from karta_interpreter.suggestion import hints

_LONGEST_VALUE = 80
_GANG = ("spec", "optimizationInstructions", "gangScheduling")
_STATUS = ("spec", "structureDefinition", "rootComponent", "statusDefinition")


def lint(karta: Karta, parsed: Sequence[Parsed], elastic: Sequence[str] | None) -> Iterator[Finding]:
    """Yield what is suspicious in a definition.

    ``parsed`` are its usable expressions, ``elastic`` the components that its annotation names, None without it.
    """
    structure = karta.spec.structure_definition
    for path, component in structure.components:
        yield from _component(path, component, component.pod_selector or PodSelector())
    for path, child in structure.components[1:]:
        yield from _child(path, child)
    yield from _leaves(structure.components)
    if structure.root_component.status_definition is not None:
        yield from _status(structure.root_component.status_definition)
    yield from lint_expressions(karta, parsed, elastic)
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
        at, message = (*path, "specDefinition", "metadataPath"), "metadataPath is used beside podSpecPath only"
        yield warning("metadata-path-unused", at, message, "remove it, or name the pod spec by podSpecPath")
    if kind is not None and kind.value is not None and "//" in (kind.key or ""):
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


def _leaves(components: Sequence[tuple[Path, ComponentDefinition]]) -> Iterator[Finding]:
    leaves = [(path, leaf) for path, leaf in components if leaf.spec_definition is not None]
    if not leaves:
        message = "no component has a pod definition, so nothing of this kind can be counted"
        yield warning("no-pods", components[0][0], message, "add a specDefinition to the component that has the pods")
    for path, leaf in leaves if len(leaves) > 1 else ():
        if leaf.pod_selector is None or leaf.pod_selector.component_type is None:
            message = f'the pods of the component "{leaf.name}" cannot be told from those of other components'
            yield warning("type-selector-missing", path, message, "add podSelector.componentTypeSelector")


def _list_keys(karta: Karta) -> Iterator[Finding]:
    """The lists that the API server keys by a field: it rejects a second entry with the same key."""
    at = ("spec", "structureDefinition", "additionalChildKinds")
    yield from _repeated(at, "kind", (kind.kind for kind in karta.spec.structure_definition.additional_child_kinds))
    gang = karta.spec.gang
    yield from _repeated((*_GANG, "podGroups"), "name", (group.name for group in gang.keyed))
    for index, group in enumerate(gang.keyed):
        members = (*_GANG, "podGroups", index, "members")
        yield from _repeated(members, "componentName", (member.component for member in group.members))
    if gang.whole is not None:
        parts = (part.component for part in gang.whole.parts)
        yield from _repeated((*_GANG, "podGroup", "subGroups"), "componentName", parts)


def _repeated(path: Path, field: str, keys: Iterable[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, key in enumerate(keys):
        if key in seen:
            message = f'a second entry has the {field} "{key}", which the API server rejects'
            yield warning("repeated-list-key", (*path, index, field), message, "keep one of them")
        seen.add(key)


def _sub_groups(karta: Karta) -> Iterator[Finding]:
    names = dict.fromkeys(component.name for _, component in karta.spec.structure_definition.components)
    hint = hints(names)
    whole = karta.spec.gang.whole
    for index, part in enumerate(whole.parts if whole else ()):
        if part.component not in names:
            at = (*_GANG, "podGroup", "subGroups", index, "componentName")
            message = f'the subgroup "{part.component}" is not a component'
            yield warning("sub-group-not-found", at, message, hint(part.component))


def _status(definition: StatusDefinition) -> Iterator[Finding]:
    count = 0
    for status in MATCHING_ORDER:
        for index, matcher in enumerate(getattr(definition.status_mappings, status.lower())):
            count += 1
            yield from _matcher((*_STATUS, "statusMappings", status.lower(), index), matcher, definition)
    if not count:
        at, hint = (*_STATUS, "statusMappings"), "add a mapping, at least running"
        yield warning("status-mappings-empty", at, "no status is ever matched", hint)


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
    for index, condition in enumerate(matcher.by_conditions):
        if not condition.status and not condition.reason:
            message = f'the condition "{condition.type}" matches whatever its status is, "False" as well'
            yield warning("condition-without-status", (*path, "byConditions", index), message, 'add status: "True"')
