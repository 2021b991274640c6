"""Data of the package: reasons for differences from Karmada's scripts, and the list of the catalogue."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from docs.tools.facts import BundledScript, FactsError, bundled_scripts
from karta_interpreter.base.k8s import Object
from karta_interpreter.cli.catalogue import SUMMARIES
from karta_interpreter.cli.render import to_json
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.comparison.known import KNOWN_FILE
from karta_interpreter.engine.registered.description import summarize

REASONS = Path(__file__).parents[1] / "bundled-scripts.yaml"


def pages() -> dict[Path, str]:
    """Return the file by its path."""
    known: dict[str, dict[str, Object]] = {}
    for (kind, operation), reason in sorted(_reasons().items()):
        known.setdefault(kind, {})[operation] = reason.model_dump(mode="json")
    entries = sorted(load_catalogue().entries, key=lambda entry: entry.definition.gvk)
    return {KNOWN_FILE: to_json(known), SUMMARIES: to_json([summarize(entry) for entry in entries])}


def reasons() -> Mapping[tuple[str, str], str]:
    """Return the reason for each kind and operation: those of one kind are in its facts.

    Raises FactsError if there are two.
    """
    return {pair: known.reason for pair, known in _reasons().items()}


def _reasons() -> Mapping[tuple[str, str], BundledScript]:
    found: dict[tuple[str, str], BundledScript] = {}
    for kind, operation, reason in (*_shared(), *bundled_scripts()):
        if (kind, operation) in found:
            raise FactsError(f"{kind} {operation} has two reasons: one in its facts, and one in {REASONS.name}")
        found[kind, operation] = reason
    return found


def _shared() -> Iterator[tuple[str, str, BundledScript]]:
    entries: list[dict[str, Any]] = yaml.safe_load(REASONS.read_text(encoding="utf-8"))
    for entry in entries:
        for kind in entry["kinds"]:
            known = BundledScript(reason=entry["reason"], fields=entry.get("fields", ()))
            yield kind, entry["operation"], known
