"""The configuration of dependabot names every place that has dependencies."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.support.rows import rows

ROOT = Path(__file__).parents[2]
UPDATES = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]
MANIFESTS = {
    "docker": "deploy/Containerfile",
    "gomod": "tests/**/go.mod",
    "npm": "interpreter/*/package.json",
    "pip": "requirements/*.txt",
}


def folders(ecosystem: str) -> Iterator[Path]:
    """The folders that are updated; a ``*`` stands for every folder in one."""
    for update in UPDATES:
        if update["package-ecosystem"] == ecosystem:
            for directory in update.get("directories", [update.get("directory")]):
                yield from (ROOT.glob(directory.strip("/")) if directory.strip("/") else [ROOT])


@rows("ecosystem", MANIFESTS)
def test_places_of_dependencies_are_named(ecosystem: str) -> None:
    assert {path.parent for path in ROOT.glob(MANIFESTS[ecosystem])} <= {*folders(ecosystem)}


def test_kinds_of_dependency_are_updated() -> None:
    assert {update["package-ecosystem"] for update in UPDATES} == {"github-actions", *MANIFESTS}
