"""Programs that are built from a source tree."""

import json
from pathlib import Path

import pytest

from tests.proofs.reality.programs import Change, Program, overlay
from tests.proofs.rig.toolchain import BuildError

_CHANGE = Change("main.go", "old", "new")
_PROGRAM = Program("x", "", "v1", "./", repository="owner/name", folder="cmd", changes=(_CHANGE,))


def _tree(folder: Path, text: str) -> Path:
    file = folder / "owner+name" / "cmd" / "main.go"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_changes_leave_the_source_tree_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM", str(tmp_path))
    file = _tree(tmp_path, "an old text")
    named = overlay(tmp_path / "overlay", _PROGRAM)
    ((changed, instead),) = json.loads(named.read_text(encoding="utf-8"))["Replace"].items()
    assert (Path(changed), file.read_text()) == (file, "an old text")
    assert Path(instead).read_text(encoding="utf-8") == "an new text"


def test_change_that_no_longer_fits_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM", str(tmp_path))
    _tree(tmp_path, "another text")
    with pytest.raises(BuildError, match=r"main\.go lacks 'old'"):
        overlay(tmp_path / "overlay", _PROGRAM)


@pytest.mark.parametrize("named", [None, "empty"], ids=["without a folder", "without the tree"])
def test_operator_without_a_source_tree_cannot_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    if named:
        monkeypatch.setenv("FROM", str(tmp_path / named))
    else:
        monkeypatch.delenv("FROM", raising=False)
    assert not _PROGRAM.exists
    with pytest.raises(BuildError, match="has no source of owner/name: name a folder of source trees by FROM"):
        _PROGRAM.source()


def test_changes_make_another_binary() -> None:
    other = Program("x", "", "v1", "./", repository="owner/name", changes=(Change("main.go", "old", "newer"),))
    assert other.binary != _PROGRAM.binary
