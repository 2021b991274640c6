"""The definitions themselves: sound, at home, and quick."""

from pathlib import Path

from interpreter.karta.definition import Definition
from interpreter.karta.loading import Loaded


def test_no_findings(loaded: Loaded) -> None:
    assert [str(finding) for finding in loaded.findings] == []


def test_at_home_in_the_folder_of_its_kind(definition: Definition, folder: Path) -> None:
    gvk = definition.gvk
    assert folder.parts == (gvk.group, gvk.version, gvk.kind)


def test_named_after_its_kind(definition: Definition) -> None:
    gvk = definition.gvk
    assert definition.name == f"{gvk.group.replace('.', '-')}-{gvk.kind.lower()}-{gvk.version}"


def test_no_expression_leaves_the_process(definition: Definition) -> None:
    assert not definition.uses_bounded
