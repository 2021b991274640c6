"""All rules that Karta's own admission webhook enforces. Each violation is a finding.

Source: the validator of the Karta project (`pkg/api/runai/v1alpha1/validation.go`). Upstream stops at the first
duplicate name and looks for cycles only in a sound tree. This module checks everything.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from karta_interpreter.base.findings import Finding, did_you_mean, error, hints
from karta_interpreter.base.k8s import Path
from karta_interpreter.definitions.karta import model
from karta_interpreter.definitions.karta.definition import LabelOperator
from karta_interpreter.definitions.karta.schema_types import REFERENCES

Hint: TypeAlias = Callable[[str], str]
_LONGEST: Final = 253, 63, 63

Components: TypeAlias = Sequence[tuple[Path, model.ComponentDefinition]]


def validate(karta: model.Karta) -> Iterator[Finding]:
    """Yield every violation of Karta's structural rules. Its rules on jq are in `expressions`."""
    components = karta.spec.structure_definition.components
    names = dict.fromkeys(component.name for _, component in components)
    hint = hints(names)
    for index, name in repeated(component.name for _, component in components):
        if name:
            message, path = f'the component name "{name}" is not unique', (*components[index][0], "name")
            yield error(
                "component-name-not-unique", path, message, "other fields name components by it; give each its own"
            )
    yield from _root(*components[0])
    yield from _owners(components, names, hint)
    for path, component in components:
        yield from _component(path, component)
        yield from _selector((*path, "podSelector"), component, component.pod_selector or model.PodSelector())
    yield from _pod_group_members(karta, names, hint)
    yield from _references(karta.spec.structure_definition.references)


def repeated(keys: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the repeated keys, each with its index."""
    seen: set[str] = set()
    for index, key in enumerate(keys):
        if key in seen:
            yield index, key
        seen.add(key)


def _root(path: Path, root: model.ComponentDefinition) -> Iterator[Finding]:
    kind = root.kind
    if kind is None or not (kind.version and kind.kind and (kind.group or kind.kind == "Pod")):
        message = "the root component must have its full kind: group, version and kind"
        hint = "the group may be empty for the kind Pod only"
        yield error("root-kind-incomplete", (*path, "kind"), message, hint)
    elif "*" in (kind.group, kind.version, kind.kind):
        # Karta's own validator lets it pass. Registered, it would take every other kind away from Karmada.
        message = "the root component must be of one kind: `*` stands for none"
        yield error("root-kind-wildcard", (*path, "kind"), message, "write a Karta for each kind")
    elif any(len(name) > most for name, most in zip((kind.group, kind.version, kind.kind), _LONGEST, strict=True)):
        message = "the root component must have a kind that Kubernetes allows"
        hint = "a group has at most 253 characters, a version and a kind have 63"
        yield error("root-kind-too-long", (*path, "kind"), message, hint)
    if root.owner_ref is not None:
        message = "the root component cannot have an owner"
        yield error("root-has-owner", (*path, "ownerRef"), message, "remove ownerRef")
    if root.status_definition is None:
        message = "the root component must have a status definition"
        yield error("root-without-status", path, message, "add statusDefinition with statusMappings")


def _owners(components: Components, names: Container[str], hint: Hint) -> Iterator[Finding]:
    for path, child in components[1:]:
        if not child.owner_ref:
            message = f'the child component "{child.name}" has no owner'
            yield error("child-without-owner", path, message, "add ownerRef with the name of its parent component")
        elif child.owner_ref not in names:
            message = f'the child component "{child.name}" has an owner that does not exist: "{child.owner_ref}"'
            yield error("owner-not-found", (*path, "ownerRef"), message, hint(child.owner_ref))
    first: dict[str, tuple[Path, model.ComponentDefinition]] = {}
    for component_path, component in components:
        first.setdefault(component.name, (component_path, component))
    # A component without a name owns nothing: an empty ownerRef is a separate finding.
    levels, own_themselves = _levels({name: component.owner_ref for name, (_, component) in first.items() if name})
    for path, component in first.values():
        if levels.get(component.name) == _MOST_LEVELS + 1:  # not each component below it
            message = f'the component "{component.name}" has more than {_MOST_LEVELS} levels of owners above it'
            yield error("owners-too-deep", (*path, "ownerRef"), message, "name an owner that is nearer to the root")
        if component.name in own_themselves:
            message = f'the component "{component.name}" is its own owner, directly or through others'
            cure = "the owners of every component must lead to the root"
            yield error("ownership-cycle", (*path, "ownerRef"), message, cure)


_MOST_LEVELS: Final = 100
"""Functions that walk the component tree recurse, and so do JSON encoders, with two levels for each component."""


def _levels(owners: Mapping[str, str | None]) -> tuple[dict[str, int], set[str]]:
    """Return how many owners each component has above it, and the components that own themselves. Visit names once."""
    levels: dict[str, int] = {}
    own_themselves: set[str] = set()
    for start in owners:
        lineage: list[str] = []
        name: str | None = start
        while name is not None and name in owners and name not in levels:
            levels[name] = 0  # also ends a cycle
            lineage.append(name)
            name = owners[name]
        if name in lineage:
            own_themselves.update(lineage[lineage.index(name) :])
        above = -1 if name is None or name not in owners else levels[name]
        levels |= {owner: above + distance for distance, owner in enumerate(reversed(lineage), start=1)}
    return levels, own_themselves


def _component(path: Path, component: model.ComponentDefinition) -> Iterator[Finding]:
    if not component.name:
        yield error("component-name-empty", (*path, "name"), "the component name is empty", "give it a name")
    spec = component.spec_definition
    ways = spec and (spec.pod_template_spec_path, spec.pod_spec_path, spec.fragmented_pod_spec_definition)
    if ways and sum(option is not None for option in ways) > 1:
        message = f'the component "{component.name}" has several pod definitions'
        hint = "keep one of podTemplateSpecPath, podSpecPath and fragmentedPodSpecDefinition"
        yield error("several-pod-definitions", (*path, "specDefinition"), message, hint)


def _selector(path: Path, component: model.ComponentDefinition, selector: model.PodSelector) -> Iterator[Finding]:
    has, kind, ids = f'the component "{component.name}" has', selector.component_type, component.instance_id_path
    at = (*path, "componentTypeSelector")
    if kind is not None and not kind.key and not kind.labels:
        message = f"{has} a type selector with neither keyPath nor matchLabels"
        yield error("type-selector-empty", at, message, "say by which label or field its pods are recognised")
    if kind is not None and kind.value is not None and not kind.key:
        message = f"{has} a type selector value without keyPath"
        hint = "add keyPath, the place of the value in a pod"
        yield error("type-selector-value-without-key", (*at, "value"), message, hint)
    if ids is not None and selector.instance_id is None:
        message = f"{has} an instance id path but no instance selector for its pods"
        hint = "add podSelector.componentInstanceSelector.idPath"
        yield error("instance-selector-missing", (*path[:-1], "instanceIdPath"), message, hint)
    if ids is None and selector.instance_id is not None:
        message = f"{has} an instance selector for its pods but no instance id path"
        yield error("instance-id-path-missing", (*path, "componentInstanceSelector"), message, "add instanceIdPath")


def _pod_group_members(karta: model.Karta, names: Container[str], hint: Hint) -> Iterator[Finding]:
    at = ("spec", "optimizationInstructions", "gangScheduling", "podGroups")
    for group_index, group in enumerate(karta.spec.gang.pod_groups):
        for index, member in enumerate(group.members):
            if member.component not in names:
                path = (*at, group_index, "members", index, "componentName")
                message = f'the pod group member "{member.component}" is not a component'
                yield error("pod-group-member-not-found", path, message, hint(member.component))


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = ("ENV", "__loc__")  # variables of jq's own


def _references(references: Sequence[model.ResourceReference]) -> Iterator[Finding]:
    for index, name in repeated(reference.name for reference in references):
        message = f'the reference "{name}" is there twice'
        yield error("reference-not-unique", (*REFERENCES, index, "name"), message, "give each a name of its own")
    for index, reference in enumerate(references):
        path, name = (*REFERENCES, index), reference.name
        if not _NAME.fullmatch(name) or name in _TAKEN:
            hint = "letters, digits and underscores, as in trainingRuntime"
            yield error("reference-name", (*path, "name"), f'"{name}" is not the name of a variable', hint)
        if not reference.gvk.version or not reference.gvk.kind:
            message = f'the reference "{name}" has no full kind'
            yield error("reference-kind-incomplete", (*path, "gvk"), message, "write group, version and kind")
        yield from _ways(path, reference)


def _ways(path: Path, reference: model.ResourceReference) -> Iterator[Finding]:
    if (reference.lookup is None) == (reference.list is None):
        written = "neither lookup nor list" if reference.lookup is None else "both lookup and list"
        hint = "lookup reads objects by their names, list those with certain labels"
        yield error("reference-without-way", path, f'the reference "{reference.name}" has {written}', hint)
    if reference.list is not None:
        yield from _list((*path, "list"), reference.list)


def _list(path: Path, listed: model.ListReference) -> Iterator[Finding]:
    if not listed.match_labels and not listed.match_expressions:
        message = "it lists every object of the kind: there are neither matchLabels nor matchExpressions"
        yield error("reference-without-labels", path, message, "say by which labels its objects are known")
    for key, value in listed.match_labels.items():
        yield from _value((*path, "matchLabels", key), value)
    for index, rule in enumerate(listed.match_expressions):
        yield from _requirement((*path, "matchExpressions", index), rule)


def _requirement(path: Path, rule: model.LabelRequirement) -> Iterator[Finding]:
    if rule.operator not in list(LabelOperator):
        message = f"there is no operator {rule.operator}"
        yield error("reference-operator", (*path, "operator"), message, did_you_mean(rule.operator, LabelOperator))
    elif bool(rule.values) != (rule.operator in (LabelOperator.IN, LabelOperator.NOT_IN)):
        needs = "takes no values" if rule.values else "needs values"
        yield error("reference-operator", (*path, "values"), f"the operator {rule.operator} {needs}")
    for index, value in enumerate(rule.values):
        yield from _value((*path, "values", index), value)


def _value(path: Path, value: model.LabelValue) -> Iterator[Finding]:
    if (value.value is None) == (value.expression is None):
        written = "neither value nor expression" if value.value is None else "both value and expression"
        yield error("reference-label-value", path, f"there is {written}", "write one of them")
