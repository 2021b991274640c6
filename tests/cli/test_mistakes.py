"""Mistakes that an author makes: the message to each shows where it is, what it is and what to do."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from tests.support.rows import few_rows

pytestmark = pytest.mark.catalogue
Run = Callable[..., Result]

_HERE = Path(__file__).parent
_SEARCH = _HERE.parents[1] / "docs" / "examples" / "search"
_DATABASE = _HERE / "database"
_FILES = {
    "search": {
        "crd": _SEARCH / "crd.yaml",
        "karta": _SEARCH / "karta" / "karta.yaml",
        "object": _SEARCH / "logs.yaml",
        "suite": _SEARCH / "karta" / "testdata" / "replicas.yaml",
    },
    "database": {name: _DATABASE / f"{name}.yaml" for name in ("crd", "karta", "object", "suite")},
}
_PLACES = {"crd": "crd.yaml", "object": "object.yaml", "karta": "kind/karta.yaml", "suite": "kind/testdata/suite.yaml"}
_RIGHT = ("validate", "tree", "interpret", "test")
"""The commands that say nothing about the files as they are."""


_COMMANDS: dict[str, str] = yaml.safe_load((_HERE / "mistaken-commands.yaml").read_text())
_MISTAKES = yaml.safe_load((_HERE / "mistakes.yaml").read_text())


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write the files of a kind into the current folder, in one of them a text replaced by another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kind" / "testdata").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.yaml").write_text(_FILES["search"]["object"].read_text().replace("logs", "metrics"))
    (tmp_path / "empty.yaml").touch()
    (tmp_path / "latin.yaml").write_bytes("name: é".encode("latin-1"))

    def write(kind: str, changed: str = "", right: str = "", wrong: str = "") -> None:
        for name, file in _FILES[kind].items():
            text = file.read_text()
            if name == changed:
                assert right in text
                text = text.replace(right, wrong, 1)
            (tmp_path / _PLACES[name]).write_text(text)

    return write


def _ask(run: Run, command: str) -> Result:
    return run(*shlex.split(_COMMANDS[command]), env={"COLUMNS": "200", "NO_COLOR": "1"})


def test_there_are_some_for_every_command_and_each_has_a_reason() -> None:
    assert len({mistake["reason"] for mistake in _MISTAKES}) == len(_MISTAKES)
    commands = {mistake[kind] for mistake in _MISTAKES for kind in _FILES if kind in mistake}
    assert commands == _COMMANDS.keys()


@pytest.mark.parametrize("kind", [*_FILES])
def test_without_a_mistake_there_is_no_message(kind: str, run: Run, write: Callable[..., None]) -> None:
    write(kind)
    for command in _RIGHT:
        result = _ask(run, command)
        assert result.exit_code == 0, result.output
        assert not [word for word in ("warning:", "error:", "warning [", "1 failed") if word in result.output]


@few_rows("mistake", [pytest.param(each, id=each["reason"]) for each in _MISTAKES])
def test_message_shows_place_reason_and_hint(mistake: dict[str, str], run: Run, write: Callable[..., None]) -> None:
    (kind,) = _FILES.keys() & mistake
    (changed,) = _PLACES.keys() & mistake
    write(kind, changed, *mistake[changed])

    result = _ask(run, mistake[kind])

    lines = result.output.splitlines()
    # A hint has its own line below the message and the two lines that show the expression.
    messages = ["\n".join(lines[start : start + 4]) for start in range(len(lines))]
    assert any(all(part in message for part in mistake["message"]) for message in messages), result.output
