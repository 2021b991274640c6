from pathlib import Path

import pytest

from karta_interpreter.base.k8s.values import GVK, JSON
from karta_interpreter.definitions.karta import CORE, catalogue_files, catalogue_kinds, gvk_of
from karta_interpreter.definitions.karta.loading import load_documents
from karta_interpreter.definitions.sources.files import find_in_catalogue, load_catalogue
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.languages.lua import reading
from karta_interpreter.languages.lua.machine.worker import Job
from tests.support.examples import few


def test_definitions_are_in_folder_of_their_kind() -> None:
    layer = load_catalogue()
    places = [tuple(path.parts[-4:-1]) for path in catalogue_files()]

    own = [gvk for entry in layer.entries if (gvk := entry.definition.gvk) == gvk_of(entry.definition.manifest)]
    assert [(gvk.group or CORE, gvk.version, gvk.kind) for gvk in own] == places
    assert places


def test_kinds_of_files_are_those_that_definitions_serve() -> None:
    served = {entry.definition.gvk: entry.definition.source for entry in load_catalogue().entries}

    assert {gvk: str(path) for gvk, path in catalogue_kinds().items()} == served
    assert len(served) > len(catalogue_files())


def test_catalogue_has_no_quarantined_definition() -> None:
    assert [str(finding) for each in load_catalogue().quarantined for finding in each.findings] == []


@pytest.mark.sweep
def test_find_in_catalogue_reads_one_definition() -> None:
    for entry in few(load_catalogue().entries, "found"):
        found = find_in_catalogue(entry.definition.gvk)
        assert found is not None
        assert (found.definition.name, found.origin) == (entry.definition.name, "catalogue")


@pytest.mark.slow
@pytest.mark.sweep
def test_copies_in_a_folder_are_answered_like_the_catalogue(tmp_path: Path) -> None:
    for number, file in enumerate(few(catalogue_files(), "copies")):
        (tmp_path / f"{number}.yaml").write_bytes(file.read_bytes())

    copies = [entry for entry in Store([tmp_path]).load().entries.values() if entry.origin != "catalogue"]

    assert len({entry.origin for entry in copies}) == len([*tmp_path.iterdir()])
    assert [str(entry.definition.gvk) for entry in copies if entry.definition.steps] == []


def test_kind_without_definition_is_not_found() -> None:
    assert find_in_catalogue(GVK("..", "..", "..")) is None
    assert find_in_catalogue(GVK("*", "*", "*")) is None


def test_catalogue_starts_no_process_to_lint_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Job] = []

    def run_job(job: Job) -> JSON:
        asked.append(job)
        return []

    monkeypatch.setattr(reading, "run_job", run_job)
    scripted = GVK("machinelearning.seldon.io", "v1", "SeldonDeployment")
    found = find_in_catalogue(scripted)
    assert found is not None
    assert found.definition.scripts.operations
    assert asked == []
    (file,) = (
        path
        for path in catalogue_files()
        if path.parts[-4:-1] == ("machinelearning.seldon.io", "v1", "SeldonDeployment")
    )
    load_documents(file.read_text(), str(file))
    assert len(asked) == len(found.definition.scripts.operations), "a file of others is linted"
