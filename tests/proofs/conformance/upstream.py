"""The definitions of Workload-Map itself, read by our loader from a checkout of the user: nothing of them is here."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from karta_interpreter.base.findings import Severity
from karta_interpreter.definitions.karta.loading import KINDS_OF_DEFINITIONS, Loaded, load_documents

VARIABLE = "KARTA_SOURCE"
"""The environment variable with a checkout of github.com/dsx-ai-factory/workload-map, or of Karta before it."""


@dataclass(frozen=True)
class Upstream:
    """What became of the definitions of a checkout."""

    definitions: int
    problems: tuple[str, ...]


def checkout() -> Path | None:
    """Return the checkout, None where there is none."""
    path = os.environ.get(VARIABLE)
    return Path(path) if path else None


def load_all(root: Path) -> Upstream:
    """Load every definition in the folder ``docs`` of a checkout; to find none is a problem, too."""
    loaded = [each for path in sorted((root / "docs").rglob("*.yaml")) for each in _loaded(path)]
    problems = [
        f"{each.source}: {finding}"
        for each in loaded
        for finding in each.findings
        if finding.severity is Severity.ERROR
    ]
    return Upstream(len(loaded), tuple(problems or ([] if loaded else [f"{root / 'docs'} has no definitions"])))


def _loaded(path: Path) -> Iterator[Loaded]:
    text = path.read_text(encoding="utf-8")
    if any(f"kind: {kind}\n" in text for kind in KINDS_OF_DEFINITIONS):
        yield from load_documents(text, str(path))
