"""Data of the package: reasons for differences from Karmada's scripts, as on a page, and the list of the catalogue."""

import re
from collections.abc import Mapping
from pathlib import Path

from karta_interpreter.cli.catalogue import SUMMARIES
from karta_interpreter.cli.changes import KNOWN_FILE
from karta_interpreter.cli.render import to_json
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.registered.description import summarize

PAGE = Path(__file__).parents[1] / "developers" / "proofs.md"
_HEADING = "## Kartas and bundled scripts\n"
_ROW = re.compile(r"^\| (\S+ \w+(?:, \S+ \w+)*) \| (\w+) \| (.+) \|$", re.MULTILINE)


def pages() -> dict[Path, str]:
    """Return the file by its path."""
    known: dict[str, dict[str, str]] = {}
    for (kind, operation), reason in read_reasons(PAGE.read_text(encoding="utf-8")).items():
        known.setdefault(kind, {})[operation] = reason
    entries = sorted(load_catalogue().entries, key=lambda entry: entry.definition.gvk)
    return {KNOWN_FILE: to_json(known), SUMMARIES: to_json([summarize(entry) for entry in entries])}


def read_reasons(text: str) -> Mapping[tuple[str, str], str]:
    """Give the reason for each kind and operation in the page's table, whose rows name one kind or several.

    >>> read_reasons("| ray.io/v1 RayCluster | InterpretHealth | Older than the template is not healthy. |")
    {('ray.io/v1 RayCluster', 'InterpretHealth'): 'Older than the template is not healthy.'}
    """
    rows = _ROW.findall(text.rpartition(_HEADING)[2].partition("\n## ")[0])
    return {(kind, operation): reason for kinds, operation, reason in rows for kind in kinds.split(", ")}
