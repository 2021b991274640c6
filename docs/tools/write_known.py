"""Data of the package: reasons for differences from Karmada's scripts, and the list of the catalogue."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from karta_interpreter.cli.catalogue import SUMMARIES
from karta_interpreter.cli.changes import KNOWN_FILE
from karta_interpreter.cli.render import to_json
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.registered.description import summarize

REASONS = Path(__file__).parents[1] / "bundled-scripts.yaml"


def pages() -> dict[Path, str]:
    """Return the file by its path."""
    known: dict[str, dict[str, str]] = {}
    for (kind, operation), reason in read_reasons(REASONS.read_text(encoding="utf-8")).items():
        known.setdefault(kind, {})[operation] = reason
    entries = sorted(load_catalogue().entries, key=lambda entry: entry.definition.gvk)
    return {KNOWN_FILE: to_json(known), SUMMARIES: to_json([summarize(entry) for entry in entries])}


def read_reasons(text: str) -> Mapping[tuple[str, str], str]:
    """Return the reason for each kind and operation. An entry names one kind or several.

    >>> read_reasons("- {kinds: [ray.io/v1 RayCluster], operation: InterpretHealth, reason: It is older.}")
    {('ray.io/v1 RayCluster', 'InterpretHealth'): 'It is older.'}
    """
    entries: list[dict[str, Any]] = yaml.safe_load(text)
    reasons: dict[tuple[str, str], str] = {}
    for entry in entries:
        for kind in entry["kinds"]:
            reasons[kind, entry["operation"]] = entry["reason"]
    return reasons
