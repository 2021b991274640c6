"""The rules that Karta's own admission webhook enforces, all of them, each violation a finding.

Source: the validator of the Karta project (`pkg/api/runai/v1alpha1/validation.go`). Upstream stops at the first
duplicate name and looks for cycles only in a sound tree; here everything is looked at.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import TypeAlias

from karta_interpreter.findings import Finding, error
from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.model import ComponentDefinition, GroupVersionKind, Karta, PodSelector
from karta_interpreter.karta.reference_validation import validate_references
from karta_interpreter.suggestion import hints

Hint: TypeAlias = Callable[[str], str]


def validate(karta: Karta) -> Iterator[Finding]:
    """Every violation of Karta's structural rules; its rules on jq are in `expressions`."""
    components = karta.spec.structure_definition.components
    names = dict.fromkeys(component.name for _, component in components)
    hint = hints(names)
    yield from _unique_names(components)
    yield from _root(*components[0])
    for path, child in components[1:]:
        yield from _owner(path, child, names, hint)
    for path, component in components:
        yield from _component(path, component)
    yield from _cycles(components)
    yield from _pod_group_members(karta, names, hint)
    yield from validate_references(karta.spec.structure_definition.references)


def _unique_names(components: tuple[tuple[Path, ComponentDefinition], ...]) -> Iterator[Finding]:
    seen: set[str] = set()
    for path, component in components:
        if component.name and component.name in seen:
            yield error(
                "component-name-not-unique",
                (*path, "name"),
                f'the component name "{component.name}" is not unique',
                "other fields name components by it; give each its own",
            )
        seen.add(component.name)


def _root(path: Path, root: ComponentDefinition) -> Iterator[Finding]:
    if not _is_full(root.kind):
        yield error(
            "root-kind-incomplete",
            (*path, "kind"),
            "the root component must have its full kind: group, version and kind",
            "the group may be empty for the kind Pod only",
        )
    elif root.kind and "*" in (root.kind.group, root.kind.version, root.kind.kind):
        # Karta's own validator lets it pass; registered, it would take every other kind away from Karmada.
        yield error(
            "root-kind-wildcard",
            (*path, "kind"),
            "the root component must be of one kind: `*` stands for none",
            "write a Karta for each kind",
        )
    if root.owner_ref is not None:
        yield error(
            "root-has-owner",
            (*path, "ownerRef"),
            "the root component cannot have an owner",
            "remove ownerRef",
        )
    if root.status_definition is None:
        yield error(
            "root-without-status",
            path,
            "the root component must have a status definition",
            "add statusDefinition with statusMappings",
        )


def _is_full(kind: GroupVersionKind | None) -> bool:
    if kind is None or not kind.version or not kind.kind:
        return False
    return bool(kind.group) or kind.kind == "Pod"


def _owner(path: Path, child: ComponentDefinition, names: Container[str], hint: Hint) -> Iterator[Finding]:
    if not child.owner_ref:
        yield error(
            "child-without-owner",
            path,
            f'the child component "{child.name}" has no owner',
            "add ownerRef with the name of its parent component",
        )
    elif child.owner_ref not in names:
        yield error(
            "owner-not-found",
            (*path, "ownerRef"),
            f'the child component "{child.name}" has an owner that does not exist: "{child.owner_ref}"',
            hint(child.owner_ref),
        )


def _component(path: Path, component: ComponentDefinition) -> Iterator[Finding]:
    if not component.name:
        yield error("component-name-empty", (*path, "name"), "the component name is empty", "give it a name")
    spec = component.spec_definition
    if spec is not None:
        ways = (spec.pod_template_spec_path, spec.pod_spec_path, spec.fragmented_pod_spec_definition)
        if sum(way is not None for way in ways) > 1:
            yield error(
                "several-pod-definitions",
                (*path, "specDefinition"),
                f'the component "{component.name}" has several pod definitions',
                "keep one of podTemplateSpecPath, podSpecPath and fragmentedPodSpecDefinition",
            )
    yield from _type_selector(path, component)
    yield from _instances(path, component)


def _type_selector(path: Path, component: ComponentDefinition) -> Iterator[Finding]:
    selector = (component.pod_selector or PodSelector()).component_type_selector
    if selector is None:
        return
    at = (*path, "podSelector", "componentTypeSelector")
    if not selector.key_path and not selector.match_labels:
        yield error(
            "type-selector-empty",
            at,
            f'the component "{component.name}" has a type selector with neither keyPath nor matchLabels',
            "say by which label or field its pods are recognised",
        )
    if selector.value is not None and not selector.key_path:
        yield error(
            "type-selector-value-without-key",
            (*at, "value"),
            f'the component "{component.name}" has a type selector value without keyPath',
            "add keyPath, the place of the value in a pod",
        )


def _instances(path: Path, component: ComponentDefinition) -> Iterator[Finding]:
    selector = (component.pod_selector or PodSelector()).component_instance_selector
    if component.instance_id_path is not None and selector is None:
        yield error(
            "instance-selector-missing",
            (*path, "instanceIdPath"),
            f'the component "{component.name}" has an instance id path but no instance selector for its pods',
            "add podSelector.componentInstanceSelector.idPath",
        )
    if component.instance_id_path is None and selector is not None:
        yield error(
            "instance-id-path-missing",
            (*path, "podSelector", "componentInstanceSelector"),
            f'the component "{component.name}" has an instance selector for its pods but no instance id path',
            "add instanceIdPath",
        )


def _cycles(components: tuple[tuple[Path, ComponentDefinition], ...]) -> Iterator[Finding]:
    own_themselves = _in_cycles({component.name: component.owner_ref for _, component in components})
    for path, component in components:
        if component.name in own_themselves:
            yield error(
                "ownership-cycle",
                (*path, "ownerRef"),
                f'the component "{component.name}" is its own owner, directly or through others',
                "the owners of every component must lead to the root",
            )


def _in_cycles(owners: Mapping[str, str | None]) -> set[str]:
    """The names whose owners lead back to them; every name is passed once."""
    seen: set[str] = set()
    found: set[str] = set()
    for start in owners:
        way: list[str] = []
        name: str | None = start
        while name and name in owners and name not in seen:
            seen.add(name)
            way.append(name)
            name = owners[name]
        if name in way:
            found.update(way[way.index(name) :])
    return found


def _pod_group_members(karta: Karta, names: Container[str], hint: Hint) -> Iterator[Finding]:
    instructions = karta.spec.optimization_instructions
    gang = instructions and instructions.gang_scheduling
    for group_index, group in enumerate(gang.pod_groups if gang else ()):
        for index, member in enumerate(group.members):
            if member.component_name in names:
                continue
            yield error(
                "pod-group-member-not-found",
                (
                    *("spec", "optimizationInstructions", "gangScheduling", "podGroups", group_index),
                    *("members", index, "componentName"),
                ),
                f'the pod group member "{member.component_name}" is not a component',
                hint(member.component_name),
            )
