"""The form of the catalogue that is read sooner than its texts: what it holds, and when it counts."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.catalogue import catalogue_files
from karta_interpreter.definitions.sources import compiled_catalogue, files
from karta_interpreter.definitions.sources.files import find_in_catalogue

KINDS = ("RayJob", "SeldonDeployment", "VirtualMachine")
"""Kinds with several versions, with scripts, and with references."""
PATHS = [path for path in catalogue_files() if path.parent.name in KINDS]
Damage = Callable[[Path], object]


@pytest.fixture
def form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file with some kinds, in use until the end of the test."""
    form = tmp_path / "catalogue.bin"
    monkeypatch.setattr(compiled_catalogue, "FORM", form)
    monkeypatch.setattr(files, "catalogue_files", lambda: PATHS)
    files.compile_catalogue()
    _as_new_process()
    yield form
    _as_new_process()


def _as_new_process() -> None:
    compiled_catalogue._places.cache_clear()  # noqa: SLF001 - of another file
    compiled_catalogue._say_damaged.cache_clear()  # noqa: SLF001 - as above


def test_it_has_the_definitions_of_its_texts(form: Path) -> None:
    assert form.is_file()
    for path in PATHS:
        assert compiled_catalogue.read_definitions(path) == files._from_text(path).entries  # noqa: SLF001 - of no form


def test_one_kind_is_read_from_it(form: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert form.is_file()
    monkeypatch.setattr(files, "_from_text", pytest.fail)

    entry = find_in_catalogue(GVK("kubevirt.io", "v1", "VirtualMachine"))

    assert entry
    assert entry.definition.references


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(Path.unlink, id="there is none"),
        pytest.param(lambda form: form.write_bytes(b""), id="it is empty"),
        pytest.param(lambda form: form.write_bytes(b"\x80\x05garbage"), id="it is something else"),
        pytest.param(lambda form: form.write_bytes(form.read_bytes()[:-9]), id="its end is missing"),
        pytest.param(Path.mkdir, id="it is a folder"),
    ],
)
def test_texts_are_read_without_a_whole_one(form: Path, damage: Damage) -> None:
    if damage is Path.mkdir:
        form.unlink()
    damage(form)
    _as_new_process()

    assert compiled_catalogue.read_definitions(PATHS[-1]) is None
    assert files._layer(PATHS).entries  # noqa: SLF001 - the catalogue, of fewer files


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda byte: byte ^ 1, id="a bit that flips"),
        pytest.param(lambda byte: byte + 1 & 255, id="the next number"),
        pytest.param(lambda _: 0, id="a hole"),
        pytest.param(lambda _: ord("."), id="the end of a pickle"),
    ],
)
def test_damage_changes_no_definition_without_a_word(
    form: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[int], int]
) -> None:
    """A changed byte once made a Deployment answer 1 replica instead of 3."""
    whole = form.read_bytes()
    texts = {path: compiled_catalogue.read_definitions(path) for path in PATHS}
    places = [*range(80), *range(80, len(whole), len(whole) // 60)]
    for place in places:
        if damage(whole[place]) == whole[place]:
            continue
        form.write_bytes(whole[:place] + bytes([damage(whole[place])]) + whole[place + 1 :])
        _as_new_process()
        caplog.clear()
        found = {path: compiled_catalogue.read_definitions(path) for path in PATHS}
        assert len(caplog.records) == 1, f"byte {place}: said once"
        assert all(found[path] in (None, texts[path]) for path in PATHS), f"byte {place}"
        assert None in found.values()


def test_that_of_another_program_does_not_count(form: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert form.is_file()
    monkeypatch.setattr(compiled_catalogue, "_program", lambda: b"another")
    assert compiled_catalogue.read_definitions(PATHS[0]) is None


def test_that_of_another_text_does_not_count(form: Path, tmp_path: Path) -> None:
    assert form.is_file()
    changed = tmp_path / "karta.yaml"
    changed.write_bytes(PATHS[0].read_bytes() + b"# changed\n")
    assert compiled_catalogue.read_definitions(changed) is None


def test_texts_have_the_path_where_they_are(form: Path, tmp_path: Path) -> None:
    assert str(PATHS[0].parents[4]).encode() not in form.read_bytes()
    moved = tmp_path / "karta.yaml"
    moved.write_bytes(PATHS[0].read_bytes())

    entries = compiled_catalogue.read_definitions(moved)

    assert entries
    assert {entry.definition.source for entry in entries} == {str(moved)}


def test_equal_texts_make_equal_files(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from karta_interpreter.definitions.sources import compiled_catalogue, files\n"
        "compiled_catalogue.FORM, files.catalogue_files = Path(sys.argv[1]), lambda: map(Path, sys.argv[2:])\n"
        "files.compile_catalogue()\n"
    )
    made = [tmp_path / "one.bin", tmp_path / "other.bin"]
    for form in made:
        command = [sys.executable, "-c", program, str(form), *map(str, PATHS)]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": "0"})
    assert made[0].read_bytes() == made[1].read_bytes()
