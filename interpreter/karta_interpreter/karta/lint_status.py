"""Status mappings that can never match, or match where they should not."""

from collections.abc import Iterator

from karta_interpreter.findings import Finding, warning
from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.model import ComponentDefinition, StatusDefinition, StatusMatcher
from karta_interpreter.karta.status_rules import MATCHING_ORDER

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
