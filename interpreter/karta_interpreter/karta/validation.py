"""The rules that Karta's own admission webhook enforces, all of them, each violation a finding.

Source: the validator of the Karta project (`pkg/api/runai/v1alpha1/validation.go`). Upstream stops at the first
duplicate name and looks for cycles only in a sound tree; here everything is looked at.
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TypeAlias

from karta_interpreter.findings import Finding, error
from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.definition import LabelOperator
from karta_interpreter.karta.model import (
    ComponentDefinition,
    GroupVersionKind,
    Karta,
    LabelRequirement,
    LabelValue,
    ListReference,
    PodSelector,
    ResourceReference,
)
from karta_interpreter.suggestion import did_you_mean, hints

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
    selector = (component.pod_selector or PodSelector()).component_type
    if selector is None:
        return
    at = (*path, "podSelector", "componentTypeSelector")
    if not selector.key and not selector.labels:
        yield error(
            "type-selector-empty",
            at,
            f'the component "{component.name}" has a type selector with neither keyPath nor matchLabels',
            "say by which label or field its pods are recognised",
        )
    if selector.value is not None and not selector.key:
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
    for group_index, group in enumerate(karta.spec.gang.keyed):
        for index, member in enumerate(group.members):
            if member.component in names:
                continue
            yield error(
                "pod-group-member-not-found",
                (
                    *("spec", "optimizationInstructions", "gangScheduling", "podGroups", group_index),
                    *("members", index, "componentName"),
                ),
                f'the pod group member "{member.component}" is not a component',
                hint(member.component),
            )


_AT = ("spec", "structureDefinition", "references")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = ("ENV", "__loc__")
_WITH_VALUES = (LabelOperator.IN, LabelOperator.NOT_IN)


def validate_references(references: Sequence[ResourceReference]) -> Iterator[Finding]:
    """Every violation of the rules."""
    seen: set[str] = set()
    for index, reference in enumerate(references):
        path = (*_AT, index)
        yield from _name(path, reference.name)
        if reference.name in seen:
            message = f'the reference "{reference.name}" is there twice'
            yield error("reference-not-unique", (*path, "name"), message, "give each a name of its own")
        seen.add(reference.name)
        yield from _kind(path, reference)
        yield from _ways(path, reference)


def _name(path: Path, name: str) -> Iterator[Finding]:
    if not _NAME.fullmatch(name) or name in _TAKEN:
        hint = "letters, digits and underscores, as in trainingRuntime"
        yield error("reference-name", (*path, "name"), f'"{name}" is not the name of a variable', hint)


def _kind(path: Path, reference: ResourceReference) -> Iterator[Finding]:
    if not reference.gvk.version or not reference.gvk.kind:
        message = f'the reference "{reference.name}" has no full kind'
        yield error("reference-kind-incomplete", (*path, "gvk"), message, "write group, version and kind")


def _ways(path: Path, reference: ResourceReference) -> Iterator[Finding]:
    if (reference.lookup is None) == (reference.list is None):
        found = "neither lookup nor list" if reference.lookup is None else "both lookup and list"
        hint = "lookup reads one object by its name, list those with certain labels"
        yield error("reference-without-way", path, f'the reference "{reference.name}" has {found}', hint)
    if reference.list is not None:
        yield from _list((*path, "list"), reference.list)


def _list(path: Path, listed: ListReference) -> Iterator[Finding]:
    if not listed.match_labels and not listed.match_expressions:
        message = "it lists every object of the kind: there are neither matchLabels nor matchExpressions"
        yield error("reference-without-labels", path, message, "say by which labels its objects are known")
    for key, value in listed.match_labels.items():
        yield from _value((*path, "matchLabels", key), value)
    for index, rule in enumerate(listed.match_expressions):
        yield from _requirement((*path, "matchExpressions", index), rule)


def _requirement(path: Path, rule: LabelRequirement) -> Iterator[Finding]:
    if rule.operator not in list(LabelOperator):
        message = f"there is no operator {rule.operator}"
        yield error("reference-operator", (*path, "operator"), message, did_you_mean(rule.operator, LabelOperator))
    elif bool(rule.values) != (rule.operator in _WITH_VALUES):
        needs = "takes no values" if rule.values else "needs values"
        yield error("reference-operator", (*path, "values"), f"the operator {rule.operator} {needs}")
    for index, value in enumerate(rule.values):
        yield from _value((*path, "values", index), value)


def _value(path: Path, value: LabelValue) -> Iterator[Finding]:
    if (value.value is None) == (value.expression is None):
        found = "neither value nor expression" if value.value is None else "both value and expression"
        yield error("reference-label-value", path, f"there is {found}", "write one of them")
