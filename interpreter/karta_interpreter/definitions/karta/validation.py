"""All rules that Karta's own admission webhook enforces. Each violation is a finding.

Source: the validator of the Karta project (`pkg/api/runai/v1alpha1/validation.go`). Upstream stops at the first
duplicate name and looks for cycles only in a sound tree. This module checks everything.
"""

import re
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias, TypeVar

from karta_interpreter.base.findings import Finding, did_you_mean, error, hints
from karta_interpreter.base.k8s import Path
from karta_interpreter.definitions.karta import model
from karta_interpreter.definitions.karta.definition import LabelOperator
from karta_interpreter.definitions.karta.identity import REFERENCES, STRUCTURE
from karta_interpreter.definitions.karta.rules import violation

Hint: TypeAlias = Callable[[str], str]
_LONGEST: Final = 253, 63, 63
_GANG: Final = ("spec", "optimizationInstructions", "gangScheduling")
_Key = TypeVar("_Key", bound=Hashable)

Components: TypeAlias = Sequence[tuple[Path, model.ComponentDefinition]]


def validate(karta: model.KartaResource) -> Iterator[Finding]:
    """Yield every violation of Karta's structural rules. Its rules on jq are in `expressions`."""
    components = karta.spec.structure_definition.components
    names = dict.fromkeys(component.name for _, component in components)
    hint = hints(names)
    yield from (
        violation("component-name-not-unique", (*components[index][0], "name"), name=name)
        for index, name in repeated(component.name for _, component in components)
        if name
    )
    yield from _root(*components[0])
    yield from _owners(components, names, hint)
    for path, component in components:
        if not component.name:
            yield violation("component-name-empty", (*path, "name"))
        spec = component.spec_definition
        options = spec and (spec.pod_template_spec_path, spec.pod_spec_path, spec.fragmented_pod_spec_definition)
        if options and sum(option is not None for option in options) > 1:
            yield violation("several-pod-definitions", (*path, "specDefinition"), name=component.name)
        yield from _selector((*path, "podSelector"), component, component.pod_selector or model.PodSelector())
    yield from _keyed_lists(karta, names, hint)
    yield from _references(karta.spec.structure_definition.references)


def repeated(keys: Iterable[_Key]) -> Iterator[tuple[int, _Key]]:
    """Yield the repeated keys, each with its index."""
    earlier: set[_Key] = set()
    for index, key in enumerate(keys):
        if key in earlier:
            yield index, key
        earlier.add(key)


def _root(path: Path, root: model.ComponentDefinition) -> Iterator[Finding]:
    kind = root.kind
    if kind is None or "/" in kind.group or not (kind.version and kind.kind and (kind.group or kind.kind == "Pod")):
        yield violation("root-kind-incomplete", (*path, "kind"))
    elif "*" in (kind.group, kind.version, kind.kind):
        # Karta's own validator lets it pass. Registered, it would take every other kind away from Karmada.
        yield violation("root-kind-wildcard", (*path, "kind"))
    elif any(len(name) > most for name, most in zip((kind.group, kind.version, kind.kind), _LONGEST, strict=True)):
        yield violation("root-kind-too-long", (*path, "kind"))
    if root.owner_ref is not None:
        yield violation("root-has-owner", (*path, "ownerRef"))
    if root.status_definition is None:
        yield violation("root-without-status", path)


def _owners(components: Components, names: Container[str], hint: Hint) -> Iterator[Finding]:
    for path, child in components[1:]:
        if not child.owner_ref:
            yield violation("child-without-owner", path, name=child.name)
        elif child.owner_ref not in names:
            yield violation(
                "owner-not-found",
                (*path, "ownerRef"),
                name=child.name,
                owner_ref=child.owner_ref,
                hint=hint(child.owner_ref),
            )
    owners = {component.name: component.owner_ref for _, component in reversed(components)}  # the first of a name
    for path, component in components:
        above, owner = dict[str, None](), owners[component.name]
        # A component without a name owns nothing: an empty ownerRef is a separate finding.
        while owner and owner in owners and owner not in above and len(above) <= _MOST_LEVELS + 1:
            above[owner], owner = None, owners[owner]
        if len(above) == _MOST_LEVELS + 1:  # not each component below it
            yield violation("owners-too-deep", (*path, "ownerRef"), name=component.name, most=_MOST_LEVELS)
        if component.name in above:
            yield violation("ownership-cycle", (*path, "ownerRef"), name=component.name)


# Functions that walk the component tree recurse, and so do JSON encoders, with two levels for each component.
_MOST_LEVELS: Final = 100


def _selector(path: Path, component: model.ComponentDefinition, selector: model.PodSelector) -> Iterator[Finding]:
    kind, ids, at = selector.component_type, component.instance_id_path, (*path, "componentTypeSelector")
    has_pod_ids = selector.instance_id is not None
    rules = {
        ("type-selector-empty", *at): kind and not (kind.key or kind.labels),
        ("type-selector-value-without-key", *at, "value"): kind and kind.value is not None and not kind.key,
        ("instance-selector-missing", *path[:-1], "instanceIdPath"): ids is not None and not has_pod_ids,
        ("instance-id-path-missing", *path, "componentInstanceSelector"): ids is None and has_pod_ids,
        ("instance-id-is-type", *path, "componentInstanceSelector", "idPath"): (
            kind and kind.value is not None and kind.key == selector.instance_id
        ),
    }
    yield from (
        violation(str(rule), tuple(at), name=component.name) for (rule, *at), is_broken in rules.items() if is_broken
    )


def _keyed_lists(karta: model.KartaResource, names: Container[str], hint: Hint) -> Iterator[Finding]:
    """Check the lists that the API server keys by a field: it rejects a second entry with the same key."""
    gang, sub_groups = karta.spec.gang, karta.spec.gang.pod_group.sub_groups if karta.spec.gang.pod_group else ()
    lists: dict[Path, tuple[str, list[str]]] = {
        (*STRUCTURE, "additionalChildKinds"): (
            "kind",
            [child_kind.kind for child_kind in karta.spec.structure_definition.additional_child_kinds],
        ),
        (*_GANG, "podGroups"): ("name", [group.name for group in gang.pod_groups]),
        (*_GANG, "podGroup", "subGroups"): ("componentName", [sub_group.component for sub_group in sub_groups]),
    }
    lists |= {
        (*_GANG, "podGroups", index, "members"): ("componentName", [member.component for member in group.members])
        for index, group in enumerate(gang.pod_groups)
    }
    members = [
        (member.component, (*_GANG, "podGroups", at, "members", index))
        for at, group in enumerate(gang.pod_groups)
        for index, member in enumerate(group.members)
        if not member.filters
    ]
    yield from (
        violation("pod-group-member-repeated", members[at][1], component=name)
        for at, name in repeated(name for name, _ in members)
        if lists[members[at][1][:-1]][1].count(name) == 1  # else it is a separate finding
    )
    yield from (
        violation("pod-group-empty", path) for path, (_, keys) in lists.items() if "members" in path and not keys
    )
    podless = {
        component.name
        for _, component in karta.spec.structure_definition.components
        if component.spec_definition is None and component.pod_selector is None
    }
    for path, (field, keys) in lists.items():
        yield from (
            violation("repeated-list-key", (*path, index, field), field=field, key=key) for index, key in repeated(keys)
        )
        for index, key in enumerate(keys):
            if field == "componentName" and key not in names:
                rule = "sub-group-not-found" if "subGroups" in path else "pod-group-member-not-found"
                yield violation(rule, (*path, index, field), component=key, hint=hint(key))
            elif field == "componentName" and key in podless:
                yield violation("pod-group-member-without-pods", (*path, index, field), component=key)


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = ("ENV", "__loc__")  # variables of jq's own


def _references(references: Sequence[model.ResourceReference]) -> Iterator[Finding]:
    yield from (
        violation("reference-not-unique", (*REFERENCES, index, "name"), name=name)
        for index, name in repeated(reference.name for reference in references)
    )
    for index, reference in enumerate(references):
        path, name = (*REFERENCES, index), reference.name
        if not _NAME.fullmatch(name) or name in _TAKEN:
            yield violation("reference-name", (*path, "name"), name=name)
        if not reference.gvk.version or not reference.gvk.kind:
            yield violation("reference-kind-incomplete", (*path, "gvk"), name=name)
        if (reference.lookup is None) == (reference.list is None):
            written = "neither lookup nor list" if reference.lookup is None else "both lookup and list"
            yield violation("reference-without-way", path, name=name, written=written)
        if reference.list is not None:
            yield from _list((*path, "list"), reference.list)


def _list(path: Path, listed: model.ListReference) -> Iterator[Finding]:
    if not listed.match_labels and not listed.match_expressions:
        yield violation("reference-without-labels", path)
    for key, value in listed.match_labels.items():
        yield from _value((*path, "matchLabels", key), value)
    for index, rule in enumerate(listed.match_expressions):
        at = (*path, "matchExpressions", index)
        if rule.operator not in list(LabelOperator):
            yield error(
                "reference-operator",
                (*at, "operator"),
                f"there is no operator {rule.operator}",
                did_you_mean(rule.operator, LabelOperator),
            )
        elif bool(rule.values) != (rule.operator in (LabelOperator.IN, LabelOperator.NOT_IN)):
            yield error(
                "reference-operator",
                (*at, "values"),
                f"the operator {rule.operator} {'takes no' if rule.values else 'needs'} values",
            )
        for number, value in enumerate(rule.values):
            yield from _value((*at, "values", number), value)


def _value(path: Path, value: model.LabelValue) -> Iterator[Finding]:
    if (value.value is None) == (value.expression is None):
        written = "neither value nor expression" if value.value is None else "both value and expression"
        yield violation("reference-label-value", path, written=written)
