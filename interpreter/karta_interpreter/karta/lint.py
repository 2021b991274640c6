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


def lint(karta: Karta, parsed: Sequence[Parsed], elastic: Sequence[str] | None) -> Iterator[Finding]:
    """Yield what is suspicious in a definition.

    ``parsed`` are its usable expressions, ``elastic`` the components that its annotation names, None without it.
    """
    components = karta.spec.structure_definition.components
    for path, component in components:
        yield from _pods(path, component)
        yield from _selectors(path, component)
        yield from _suspend(path, component)
    for path, child in components[1:]:
        yield from _child(path, child)
    yield from _leaves(components)
    yield from lint_status(karta.spec.structure_definition.root_component)
    yield from lint_expressions(karta, parsed, elastic)
    yield from _list_keys(karta)
    yield from _sub_groups(karta)


def _makes_replicas(component: ComponentDefinition) -> bool:
    selector = component.pod_selector
    return selector is not None and selector.replica_selector is not None


def _pods(path: Path, component: ComponentDefinition) -> Iterator[Finding]:
    spec, scale = component.spec_definition, component.scale_definition
    # The count of a component that replicates others is the number of gangs.
    if scale is not None and spec is None and not _makes_replicas(component):
        yield warning(
            "scale-without-pods",
            (*path, "scaleDefinition"),
            f'the component "{component.name}" has a scale but no pods, so its scale is not used',
            "only components with a specDefinition are counted, and replicas of one with a replicaSelector",
        )
    if scale is not None and not scale.model_fields_set:
        yield warning("scale-empty", (*path, "scaleDefinition"), "the scale definition has no path", "remove it")
    if spec is None:
        return
    fragments = spec.fragmented_pod_spec_definition
    if fragments is not None and not fragments.model_fields_set:
        at = (*path, "specDefinition", "fragmentedPodSpecDefinition")
        yield warning("fragments-empty", at, "the fragmented pod spec definition has no path", "name a piece")
    if spec.metadata_path is not None and spec.pod_spec_path is None:
        yield warning(
            "metadata-path-unused",
            (*path, "specDefinition", "metadataPath"),
            "metadataPath is used beside podSpecPath only",
            "remove it, or name the pod spec by podSpecPath",
        )


def _selectors(path: Path, component: ComponentDefinition) -> Iterator[Finding]:
    selector = (component.pod_selector or PodSelector()).component_type
    if selector and selector.value is not None and "//" in (selector.key or ""):
        yield warning(
            "selector-alternative",
            (*path, "podSelector", "componentTypeSelector", "keyPath"),
            "keyPath is compared as `KEYPATH == value`, in which `//` applies to the comparison",
            "put the expression in parentheses",
        )


def _suspend(path: Path, component: ComponentDefinition) -> Iterator[Finding]:
    definition = component.suspend_definition
    if definition is None:
        return
    at = (*path, "suspendDefinition")
    yield from _actions((*at, "suspendActions"), definition.suspend_actions)
    yield from _actions((*at, "resumeActions"), definition.resume_actions)


def _actions(path: Path, actions: Iterable[SuspendAction]) -> Iterator[Finding]:
    for index, action in enumerate(actions):
        try:
            action_value(action)
        except ValueError:
            shown = str(action.value)[:_LONGEST_VALUE]
            yield error(
                "suspend-value-not-json",
                (*path, index, "value"),
                f"the value is not JSON: {shown}",
                f"a string needs quotes of its own: '\"{shown}\"'",
            )


def _child(path: Path, child: ComponentDefinition) -> Iterator[Finding]:
    if child.kind is not None and not (child.kind.version and child.kind.kind):
        yield warning("child-kind-incomplete", (*path, "kind"), "the kind has no version or no kind", "complete it")
    if child.status_definition is not None:
        yield warning(
            "child-status-unused",
            (*path, "statusDefinition"),
            "only the root's status definition is used",
            "move it to the root component, or remove it",
        )
    if child.suspend_definition is not None:
        yield warning(
            "child-suspends",
            (*path, "suspendDefinition"),
            "tools that suspend a workload through its root alone leave out the actions of a child",
            "put every action on the root component",
        )


def _leaves(components: Sequence[tuple[Path, ComponentDefinition]]) -> Iterator[Finding]:
    leaves = [(path, leaf) for path, leaf in components if leaf.spec_definition is not None]
    if not leaves:
        yield warning(
            "no-pods",
            components[0][0],
            "no component has a pod definition, so nothing of this kind can be counted",
            "add a specDefinition to the component that has the pods",
        )
    for path, leaf in leaves if len(leaves) > 1 else ():
        if leaf.pod_selector is None or leaf.pod_selector.component_type is None:
            yield warning(
                "type-selector-missing",
                path,
                f'the pods of the component "{leaf.name}" cannot be told from those of other components',
                "add podSelector.componentTypeSelector",
            )


def _list_keys(karta: Karta) -> Iterator[Finding]:
    """The lists that the API server keys by a field: it rejects a second entry with the same key."""
    kinds = karta.spec.structure_definition.additional_child_kinds
    at = ("spec", "structureDefinition", "additionalChildKinds")
    yield from _repeated(at, "kind", [kind.kind for kind in kinds])
    gang = karta.spec.gang
    yield from _repeated((*_GANG, "podGroups"), "name", [group.name for group in gang.keyed])
    for index, group in enumerate(gang.keyed):
        members = [member.component for member in group.members]
        yield from _repeated((*_GANG, "podGroups", index, "members"), "componentName", members)
    if gang.whole is not None:
        members = [part.component for part in gang.whole.parts]
        yield from _repeated((*_GANG, "podGroup", "subGroups"), "componentName", members)


def _repeated(path: Path, field: str, keys: list[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, key in enumerate(keys):
        if key in seen:
            yield warning(
                "repeated-list-key",
                (*path, index, field),
                f'a second entry has the {field} "{key}", which the API server rejects',
                "keep one of them",
            )
        seen.add(key)


def _sub_groups(karta: Karta) -> Iterator[Finding]:
    group = karta.spec.gang.whole
    names = dict.fromkeys(component.name for _, component in karta.spec.structure_definition.components)
    hint = hints(names)
    for index, sub_group in enumerate(group.parts if group else ()):
        if sub_group.component not in names:
            yield warning(
                "sub-group-not-found",
                (*_GANG, "podGroup", "subGroups", index, "componentName"),
                f'the subgroup "{sub_group.component}" is not a component',
                hint(sub_group.component),
            )


_AT = ("spec", "structureDefinition", "rootComponent", "statusDefinition")


def lint_status(root: ComponentDefinition) -> Iterator[Finding]:
    """Everything suspicious in the status definition of the root component."""
    definition = root.status_definition
    if definition is None:
        return
    matchers = list(_matchers(definition))
    if not matchers:
        at = (*_AT, "statusMappings")
        yield warning("status-mappings-empty", at, "no status is ever matched", "add a mapping, at least running")
    for path, matcher in matchers:
        yield from _matcher(path, matcher, definition)


def _matchers(definition: StatusDefinition) -> Iterator[tuple[Path, StatusMatcher]]:
    for status in MATCHING_ORDER:
        for index, matcher in enumerate(getattr(definition.status_mappings, status.lower())):
            yield (*_AT, "statusMappings", status.lower(), index), matcher


def _matcher(path: Path, matcher: StatusMatcher, definition: StatusDefinition) -> Iterator[Finding]:
    if not (matcher.by_phase or matcher.by_conditions or matcher.by_expression):
        yield warning("matcher-empty", path, "a matcher without any test always matches", "remove it")
    if matcher.by_phase and definition.phase_definition is None:
        yield warning(
            "phase-definition-missing",
            (*path, "byPhase"),
            "byPhase never matches without a phaseDefinition",
            "add phaseDefinition.path to the status definition",
        )
    if matcher.by_conditions and definition.conditions_definition is None:
        yield warning(
            "conditions-definition-missing",
            (*path, "byConditions"),
            "byConditions never matches without a conditionsDefinition",
            "add conditionsDefinition.path to the status definition",
        )
    for index, condition in enumerate(matcher.by_conditions):
        if not condition.status and not condition.reason:
            yield warning(
                "condition-without-status",
                (*path, "byConditions", index),
                f'the condition "{condition.type}" matches whatever its status is, "False" as well',
                'add status: "True"',
            )
