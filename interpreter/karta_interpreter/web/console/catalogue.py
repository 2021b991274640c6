"""The kinds of a snapshot for the page: a row for each, and everything about one of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from karta_interpreter.base.errors import InterpretationError, SuiteError
from karta_interpreter.base.k8s import GVK, JSON, Object
from karta_interpreter.base.k8s.yaml_writer import to_ordered_yaml
from karta_interpreter.definitions.sources import ORIGIN, ServedDefinition, Snapshot
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.registered.description import describe, gate_text, summarize
from karta_interpreter.engine.registered.operations import find_served, operations_for
from karta_interpreter.engine.suites import Case, load_suite, without_server_fields

_COMPARISONS: Final[Mapping[str, list[Object]]] = json.loads(
    (Path(__file__).parent / "reality.json").read_text(encoding="utf-8")
)
# The operations with the first examples.
_FIRST: Final = {Operation.INTERPRET_REPLICA: 0, Operation.INTERPRET_COMPONENT: 1, Operation.INTERPRET_HEALTH: 2}
# How many kinds are kept with their examples. A page shows one at a time.
_KINDS: Final = 64

Suites: TypeAlias = tuple[tuple[Path, int], ...]
"""The files of suites, each with the time of its last change in nanoseconds."""


def rows(snapshot: Snapshot) -> list[Object]:
    """Return a row for each kind, sorted."""
    return [_row(snapshot.entries[gvk]) for gvk in snapshot.kinds()]


def _row(entry: ServedDefinition) -> Object:
    gated = operations_for(entry.definition, find_served(None, entry.definition.gvk), multiple_pod_templates=True)
    return {
        **summarize(entry),
        "operationsWithMultiplePodTemplatesScheduling": gated,
        "scripts": sorted(entry.definition.scripts.operations),
        "compared": sum(comparison["comparisons"] for comparison in compared(entry)),
    }


def compared(entry: ServedDefinition) -> list[Object]:
    """Return the comparisons of `make reality` with controllers, or none for a definition outside of the catalogue."""
    gvk = entry.definition.gvk
    return _COMPARISONS.get(f"{gvk.api_version} {gvk.kind}", []) if entry.origin == ORIGIN else []


def page(entry: ServedDefinition) -> Object:
    """Return everything about one kind: its description, its text, its examples and its comparisons."""
    description, suites = describe(entry), suites_next_to(entry.definition.source)
    return {
        **description,
        "gate": gate_text(description),
        "text": text_of(entry),
        "findings": [finding.to_json() for finding in entry.definition.findings],
        "compared": compared(entry),
        "examples": list(examples(entry.definition.gvk, suites)),
        "reports": list(reports(entry.definition.gvk, suites)),
    }


def text_of(entry: ServedDefinition) -> str:
    """Return a Karta of the catalogue as it was written, any other as YAML without the fields of a server.

    The text of mere scripts is empty.
    """
    definition = entry.definition
    if entry.origin == ORIGIN:
        return Path(definition.source).read_text(encoding="utf-8")
    return to_text(without_server_fields(definition.manifest)) if definition.has_karta else ""


@lru_cache(_KINDS)
def examples(gvk: GVK, suites: Suites) -> Sequence[Object]:
    """Return the cases of the golden suites of a kind, as texts for the editors."""
    found = sorted(cases(gvk, suites), key=lambda case: _FIRST.get(case.call.operation, len(_FIRST)))
    return tuple(map(_example, found))


def _example(case: Case) -> Object:
    call = case.call
    texts = {
        "object": call.object,
        "observed": call.observed,
        "items": [item.to_json() for item in call.items] or None,
        "references": list(case.references) or None,
    }
    return {
        "operation": str(call.operation),
        "name": case.name,
        "description": case.description,
        "replicas": call.replicas,
        **{name: "" if value is None else to_text(value) for name, value in texts.items()},
    }


@lru_cache(_KINDS)
def reports(gvk: GVK, suites: Suites) -> Sequence[Object]:
    """Return the statuses of a kind's examples, for the clusters of an aggregation. Each appears once, by its case."""
    names: dict[str, str] = {}
    for case in cases(gvk, suites):
        is_health = case.call.operation is Operation.INTERPRET_HEALTH
        statuses = [case.call.object.get("status")] if is_health else [item.status for item in case.call.items]
        for number, status in enumerate(statuses, start=1):
            if status:
                name = f"{case.name}, cluster {number}" if len(statuses) > 1 else case.name
                names.setdefault(to_text(status), name)
    return tuple({"name": name, "text": text} for text, name in names.items())


def suites_next_to(source: str | Path) -> Suites:
    """Return the suites about the definition in a file, each with the time of its last change."""
    paths = sorted((Path(source).parent / "testdata").glob("*.yaml"))
    return tuple((suite, suite.stat().st_mtime_ns) for suite in paths)


def cases(gvk: GVK, suites: Suites) -> Iterator[Case]:
    """Yield the cases of suites that can be read and are about a kind."""
    for suite, _ in suites:
        with suppress(SuiteError, InterpretationError):
            yield from (case for case in load_suite(suite) if GVK.of(case.call.object) == gvk)


def to_text(value: JSON) -> str:
    """Return a value as YAML, its keys in their own order."""
    if isinstance(value, list) and value and all("apiVersion" in item for item in value):
        return "---\n".join(map(to_text, value))
    return to_ordered_yaml(value)
