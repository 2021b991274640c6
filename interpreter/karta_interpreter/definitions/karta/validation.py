"""All rules that Karta's own admission webhook enforces. Each violation is a finding, an error only without an answer.

Source: the validator of the Karta project (`pkg/api/runai/v1alpha1/validation.go`). Upstream stops at the first
duplicate name and looks for cycles only in a sound tree. This module checks everything.
"""

import re
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias, TypeVar

from karta_interpreter.base.findings import Finding, hints, warning
from karta_interpreter.base.k8s import Path
from karta_interpreter.base.k8s.request_path import WORD_OF_KIND
from karta_interpreter.definitions.karta import model
from karta_interpreter.definitions.karta.identity import REFERENCES, STRUCTURE
from karta_interpreter.definitions.karta.rules import REFUSED, violation

Hint: TypeAlias = Callable[[str], str]
_GANG: Final = ("spec", "optimizationInstructions", "gangScheduling")
_Key = TypeVar("_Key", bound=Hashable)

Components: TypeAlias = Sequence[tuple[Path, model.ComponentDefinition]]


def validate(karta: model.KartaResource) -> Iterator[Finding]:
    """Yield every violation of Karta's structural rules. Its rules on jq are in `expressions`."""
    components = karta.spec.structure_definition.components
    names = dict.fromkeys(component.name for _, component in components)
    hint = hints(names)
    for index, name in repeated(component.name for _, component in components):
        yield violation("component-name-not-unique", (*components[index][0], "name"), name=name)
    yield from _root(*components[0])
    yield from _owners(components, names, hint)
    for path, component in components:
        spec = component.spec_definition
        if spec is not None:
            forms = (spec.pod_template_spec_path, spec.pod_spec_path, spec.fragmented_pod_spec_definition)
            if len(forms) - forms.count(None) > 1:
                yield violation("several-pod-definitions", (*path, "specDefinition"), name=component.name)
        yield from _selector(path, component, component.pod_selector or model.PodSelector())
    yield from _keyed_lists(karta, names, hint)
    yield from _references(karta.spec.structure_definition.references)


def repeated(keys: Iterable[_Key]) -> Iterator[tuple[int, _Key]]:
    """Yield the repeated keys, each with its index."""
    earlier: set[_Key] = set()
    for index, key in enumerate(keys):
        if key in earlier:
            yield index, key
        earlier.add(key)


# Names as Kubernetes has them. Registered, `*` would take every other kind away from Karmada.
_GROUP: Final = re.compile(r"([a-z0-9][-a-z0-9.]{0,252})?")
_WORD: Final = re.compile(WORD_OF_KIND)


def _root(path: Path, root: model.ComponentDefinition) -> Iterator[Finding]:
    kind, at = root.kind, (*path, "kind")
    if kind is None or not (
        _GROUP.fullmatch(kind.group) and _WORD.fullmatch(kind.version) and _WORD.fullmatch(kind.kind)
    ):
        yield violation("root-kind-incomplete", at)
    elif not kind.group and kind.kind != "Pod":
        yield warning("root-kind-incomplete", at, f"{REFUSED}: no kind but Pod may be without a group")
    if root.owner_ref is not None:
        yield violation("root-has-owner", (*path, "ownerRef"))
    if root.status_definition is None:
        yield violation("root-without-status", path)


def _owners(components: Components, names: Container[str], hint: Hint) -> Iterator[Finding]:
    for path, child in components[1:]:
        owner = child.owner_ref
        if not owner:
            yield violation("child-without-owner", path, name=child.name)
        elif owner not in names:
            at = (*path, "ownerRef")
            yield violation("owner-not-found", at, name=child.name, owner_ref=owner, hint=hint(owner))
    owners = {component.name: component.owner_ref for _, component in reversed(components[1:])}
    owners[components[0][1].name] = None
    for path, component in components[1:]:
        above, owner = dict[str, None](), owners[component.name]
        while owner and owner in owners and owner not in above and len(above) <= model.MOST_LEVELS + 1:
            above[owner], owner = None, owners[owner]
        if len(above) == model.MOST_LEVELS + 1:  # not each component below it
            yield violation("owners-too-deep", (*path, "ownerRef"), name=component.name, most=model.MOST_LEVELS)
        if component.name in above:
            yield violation("ownership-cycle", (*path, "ownerRef"), name=component.name)


def _selector(path: Path, component: model.ComponentDefinition, selector: model.PodSelector) -> Iterator[Finding]:
    kind, ids, name = selector.component_type, component.instance_id_path, component.name
    at = (*path, "podSelector", "componentTypeSelector")
    if kind is not None and not (kind.key or kind.labels):
        yield violation("type-selector-empty", at, name=name)
    if kind is not None and kind.value is not None and not kind.key:
        yield violation("type-selector-value-without-key", (*at, "value"), name=name)
    instances = (*path, "podSelector", "componentInstanceSelector")
    if ids is not None and selector.instance_id is None:
        yield violation("instance-selector-missing", (*path, "instanceIdPath"), name=name)
    if ids is None and selector.instance_id is not None:
        yield violation("instance-id-path-missing", instances, name=name)
    if kind is not None and kind.value is not None and kind.key == selector.instance_id is not None:
        yield violation("instance-id-is-type", (*instances, "idPath"), name=name)


def _keyed_lists(karta: model.KartaResource, names: Container[str], hint: Hint) -> Iterator[Finding]:
    """Check the lists that the API server keys by a field: it rejects a second entry with the same key."""
    structure, gang = karta.spec.structure_definition, karta.spec.gang
    kinds = [child_kind.kind for child_kind in structure.additional_child_kinds]
    yield from _repeated_keys((*STRUCTURE, "additionalChildKinds"), "kind", kinds)
    yield from _repeated_keys((*_GANG, "podGroups"), "name", [group.name for group in gang.pod_groups])
    podless = {
        component.name
        for _, component in structure.components
        if component.spec_definition is None and component.pod_selector is None
    }
    for number, group in enumerate(gang.pod_groups):
        path = (*_GANG, "podGroups", number, "members")
        members = [member.component for member in group.members]
        yield from _named("pod-group-member-not-found", path, members, names, podless, hint)
    if gang.pod_group is not None:
        at = (*_GANG, "podGroup", "subGroups")
        sub_groups = [sub_group.component for sub_group in gang.pod_group.sub_groups]
        yield from _named("sub-group-not-found", at, sub_groups, names, podless, hint)


def _named(
    rule: str, path: Path, components: Sequence[str], names: Container[str], podless: Container[str], hint: Hint
) -> Iterator[Finding]:
    """Check a list of names of components, none of which may be there twice."""
    yield from _repeated_keys(path, "componentName", components)
    for index, name in enumerate(components):
        at = (*path, index, "componentName")
        if name not in names:
            yield violation(rule, at, component=name, hint=hint(name))
        elif name in podless:
            yield violation("pod-group-member-without-pods", at, component=name)


def _repeated_keys(path: Path, field: str, keys: Sequence[str]) -> Iterator[Finding]:
    for index, key in repeated(keys):
        yield violation("repeated-list-key", (*path, index, field), field=field, key=key)


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = ("ENV", "__loc__")  # variables of jq's own


def _references(references: Sequence[model.ResourceReference]) -> Iterator[Finding]:
    for index, name in repeated(reference.name for reference in references):
        yield violation("reference-not-unique", (*REFERENCES, index, "name"), name=name)
    for index, reference in enumerate(references):
        path, name = (*REFERENCES, index), reference.name
        if not _NAME.fullmatch(name) or name in _TAKEN:
            yield violation("reference-name", (*path, "name"), name=name)
        listed = reference.list
        if listed is not None and not listed.match_labels and not listed.match_expressions:
            yield violation("reference-without-labels", (*path, "list"))
