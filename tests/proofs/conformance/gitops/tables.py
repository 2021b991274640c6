"""Argo CD's own tables of health compared with the exported checks, for the kinds of the catalogue.

Each bundled script of Argo CD has a ``health_test.yaml`` with objects and their health, and the tests of gitops-engine
have objects for what it judges in Go. A check that is exported by the name of its kind replaces what passes these
tables, so it comes to the same health, or ``tables.yaml`` has the reason.
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.export.argocd_health import argocd_health
from tests.proofs.conformance.gitops.health import ask, kinds
from tests.proofs.conformance.reasons import Reasons

REASONS = Path(__file__).with_suffix(".yaml")
_ENGINE_ROW = re.compile(r'assertAppHealth\(t, "([^"]+)", HealthStatus(\w+)\)')


class Row(NamedTuple):
    """An object of a table and its health; ``name`` is the path of its file in the source."""

    name: str
    object: Object
    health: str


@dataclass
class Tally:
    """The rows that were compared by kind, and those that differ: ``NAME: HEALTH -> HEALTH``."""

    rows: Counter[str] = field(default_factory=Counter)
    differences: Reasons = field(default_factory=lambda: Reasons(REASONS))

    def __str__(self) -> str:
        return f"{len(self.rows)} kinds, {self.rows.total()} rows; {self.differences}"

    def failures(self) -> Iterator[str]:
        """Yield the differences without a reason, and the reasons that nothing needs any more."""
        if not self.rows:
            yield "no row of Argo CD's tables is about a kind of the catalogue: nothing was compared"
        yield from self.differences.failures()


def compare(program: Path, argocd: Path, engine: Path) -> Tally:
    """Ask Argo CD about each object of its tables, with the check of the object's kind in its ConfigMap."""
    checks = {
        versions[-1][0].gvk[::2]: argocd_health(*(definition for definition, _ in versions)) for versions in kinds()
    }
    # What is being deleted is Progressing before any check is asked (gitops-engine, pkg/health/health.go).
    rows = [row for row in [*_bundled(argocd, checks), *_engine(engine, checks)] if not _is_deleted(row.object)]
    asked = [(row, checks[GVK.of(row.object)[::2]]) for row in rows]
    lines = [json.dumps({"data": data, "object": row.object}, default=str) + "\n" for row, data in asked]
    tally = Tally()
    for (row, _), answer in zip(asked, ask(program, lines), strict=True):
        tally.rows[" ".join(GVK.of(row.object)[::2])] += 1
        if (health := answer.get("status", "error")) != row.health:
            message = answer.get("message") or answer.get("error", "")
            tally.differences.count(f"{row.name}: {row.health} -> {health}", message)
    return tally


def _bundled(argocd: Path, wanted: Container[tuple[str, str]]) -> Iterator[Row]:
    """Yield the rows for the scripts that Argo CD bundles."""
    folder = argocd / "resource_customizations"
    for table in sorted(folder.glob("*/*/health_test.yaml")):
        if (table.parent.parent.name, table.parent.name) in wanted:
            for test in _document(table)["tests"]:
                fields = {key.lower(): value for key, value in test.items()}  # as Go reads them
                file = table.parent / fields["inputpath"]
                yield Row(str(file.relative_to(folder)), _document(file), fields["healthstatus"].get("status", ""))


def _engine(engine: Path, wanted: Container[tuple[str, str]]) -> Iterator[Row]:
    """Yield the rows for the kinds that Argo CD judges in Go."""
    folder = engine / "pkg" / "health"
    for path, health in _ENGINE_ROW.findall((folder / "health_test.go").read_text()):
        row = Row(f"gitops-engine/{Path(path).name}", _document(folder / path), health)
        if GVK.of(row.object)[::2] in wanted:
            yield row


def _is_deleted(obj: Object) -> bool:
    return "deletionTimestamp" in obj.get("metadata", {})


def _document(file: Path) -> Any:
    return next(yaml.safe_load_all(file.read_text(encoding="utf-8")))  # some have a key twice, as Go's reader allows
