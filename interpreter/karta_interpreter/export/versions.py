"""The versions of a kind: tools for GitOps have one health check for all of them."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from karta_interpreter.base.errors import ExportError
from karta_interpreter.definitions.karta.definition import Definition

Check = TypeVar("Check")


def by_kind(definitions: Iterable[Definition]) -> list[Sequence[Definition]]:
    """Return definitions, those with the same group and kind together."""
    kinds: dict[tuple[str, str], list[Definition]] = {}
    for each in definitions:
        kinds.setdefault((each.gvk.group, each.gvk.kind), []).append(each)
    return list(kinds.values())


def checks_by_version(versions: Sequence[Definition], export: Callable[[Definition], Check]) -> dict[str, Check]:
    """Return the check of each definition by its ``apiVersion``; an ExportError names the version of several."""
    checks = {}
    for definition in versions:
        name = definition.gvk.api_version
        try:
            checks[name] = export(definition)
        except ExportError as error:
            if len(versions) == 1:
                raise
            raise ExportError(f"{name}: {error}") from error
    return checks
