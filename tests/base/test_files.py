"""Files that take the places of others, together or not at all."""

from pathlib import Path

import pytest

from karta_interpreter.base.files import NewFiles, replace_file


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_files_take_their_places_together(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with NewFiles() as new:
        for name in "ab":
            with new.open(tmp_path / name) as file:
                file.write(b"new")
            assert (tmp_path / "a").read_text() == "old"
    assert _texts(tmp_path) == {"a": "new", "b": "new"}


def test_failed_block_changes_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")

    def fail() -> None:
        with NewFiles() as new, new.open(tmp_path / "a") as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert _texts(tmp_path) == {"a": "old"}


def test_half_a_file_of_another_process_takes_no_place(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def write_beside_another() -> None:
        with NewFiles() as new, new.open(path) as file:
            file.write(b"new")
            (tmp_path / ".a.tmp").unlink()
            (tmp_path / ".a.tmp").write_text("ha")

    with pytest.raises(FileExistsError, match="another process"):
        write_beside_another()
    assert path.read_text() == "old"


def test_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").write_text("untouched")
    replace_file(tmp_path / "a", b"new")
    assert _texts(tmp_path) == {"a": "new", "b": "untouched"}
    assert not (tmp_path / "a").is_symlink()
