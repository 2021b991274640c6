"""The rules of references, as Karta's design has them (`docs/design/references` of the Karta project)."""

import re
from collections.abc import Iterator, Sequence

from karta_interpreter.findings import Finding, error
from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.model import LabelRequirement, LabelValue, ListReference, ResourceReference
from karta_interpreter.karta.reference import LabelOperator
from karta_interpreter.suggestion import did_you_mean

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
