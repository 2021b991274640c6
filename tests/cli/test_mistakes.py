"""Mistakes that an author makes: the message to each shows where it is, what it is and what to do."""

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
_COMMANDS = {
    "validate": ("validate", "kind/karta.yaml", "--crd", "crd.yaml"),
    "tree": ("tree", "-f", "kind/karta.yaml", "--object", "object.yaml"),
    "interpret": ("interpret", "-f", "kind/karta.yaml", "--object", "object.yaml"),
    "test": ("test", "kind"),
}
_MISTAKEN_FILES = {
    "interpret by the object": ("interpret", "-f", "object.yaml", "--object", "object.yaml"),
    "interpret by the CRD": ("interpret", "-f", "crd.yaml", "--object", "object.yaml"),
    "interpret the definition": ("interpret", "kind/karta.yaml"),
    "interpret the CRD": ("interpret", "crd.yaml"),
    "list the object": ("catalogue", "list", "-f", "object.yaml"),
    "refer to nothing": ("interpret", "object.yaml", "-f", "kind/karta.yaml", "--reference-file", "empty.yaml"),
    "query the object": ("query", "object.yaml", ".spec"),
    "export the definition": ("export", "customization", "kind/karta.yaml"),
    "interpret by the catalogue": ("interpret", "object.yaml"),
    "list a folder of objects": ("catalogue", "list", "--kartas", "object.yaml"),
    "interpret by no file": ("interpret", "object.yaml", "-f", "empty"),
    "interpret alone": ("interpret", "object.yaml", "-f", "kind/karta.yaml"),
    "compare with nothing": ("diff", "--from", "kind", "--to", "empty.yaml", "object.yaml"),
    "export into a file": ("export", "customization", "-f", "kind/karta.yaml", "--output-dir", "object.yaml"),
    "trust an empty file": (
        *("export", "webhook-configuration", "-f", "kind", "--url", "https://a.example", "--ca-file", "empty.yaml"),
    ),
    "write the example again": ("create", "example", "kind"),
    "retain of another": (
        *("interpret", "-f", "kind/karta.yaml", "--desired-file", "object.yaml", "--object", "other.yaml"),
    ),
    "draft from the object as a CRD": ("create", "karta", "--crd", "object.yaml"),
    "ask two operations": ("interpret", "object.yaml", "-f", "kind", "--operation", "InterpretReplica,Retain"),
    "show a group": ("catalogue", "show", "ray.io"),
    "show another version": ("catalogue", "show", "ray.io/v1beta1/RayJob"),
    "interpret no object": ("interpret", "-f", "object.yaml"),
    "serve for no days": ("serve", "--certificate-days", "0"),
    "remove by another name": ("unregister", "--name", "Karta_X"),
    "refer to the object": ("interpret", "-f", "kind/karta.yaml", "object.yaml", "--reference-file", "other.yaml"),
    "serve without a group": ("serve", "--without", "apps/*"),
    "register kinds of a group": ("export", "webhook-configuration", "--kinds", "ray.io/RayJob"),
    "merge a binding": ("interpret", "other.yaml", "-f", "kind", "--status-file", "object.yaml"),
    "interpret a suite": ("interpret", "kind/testdata/suite.yaml", "-f", "kind/karta.yaml"),
    "count for nothing": (
        *("interpret", "object.yaml", "-f", "kind", "--operation", "InterpretReplica", "--desired-replica", "3"),
    ),
    "interpret latin-1": ("interpret", "latin.yaml", "-f", "kind"),
    "query a list": ("query", ".items[].spec", "object.yaml"),
    "validate other files": ("validate", "empty"),
    "merge a list": ("interpret", "other.yaml", "-f", "kind", "--status-file", "object.yaml"),
    "interpret a folder": ("interpret", "kind", "-f", "kind/karta.yaml"),
    "test the definition": ("test", "kind/karta.yaml"),
    "test the object": ("test", "object.yaml"),
    "serve a misspelled kind": ("serve", "--kinds", "RayCluter"),
    "verify a member and a folder": ("verify", "--kubeconfig", "config", "kind"),
    "draw twice": ("tree", "object.yaml", "--object", "other.yaml"),
    "examine by the definition": ("doctor", "--kubeconfig", "kind/karta.yaml"),
    "compare other kinds": ("diff", "--from", "RayCluster", "--to", "RayJob", "object.yaml"),
    "revise a component": ("interpret", "object.yaml", "-f", "kind", "--components", "node-set=3"),
    "replay nothing": ("replay", "empty"),
}
"""Commands that are given another file than the one that they need."""

_PLAIN_COMMANDS = {
    "validate alone": ("validate", "kind/karta.yaml"),
    "revise": ("interpret", "object.yaml", "-f", "kind", "--operation", "ReviseReplica", "--desired-replica", "12"),
    "draft cases into a file": ("create", "suite", "-f", "kind", "object.yaml", "--output-dir", "cases.yaml"),
    "draft cases": ("create", "suite", "-f", "kind/karta.yaml", "object.yaml"),
}
"""Commands without the file that would show the mistake at once."""

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
    return run(*(_COMMANDS | _MISTAKEN_FILES | _PLAIN_COMMANDS)[command], env={"COLUMNS": "200", "NO_COLOR": "1"})


def test_there_are_some_for_every_command_and_each_has_a_reason() -> None:
    assert len({mistake["reason"] for mistake in _MISTAKES}) == len(_MISTAKES)
    commands = {mistake[kind] for mistake in _MISTAKES for kind in _FILES if kind in mistake}
    assert commands == {*_COMMANDS, *_MISTAKEN_FILES, *_PLAIN_COMMANDS}


@pytest.mark.parametrize("kind", [*_FILES])
def test_without_a_mistake_there_is_no_message(kind: str, run: Run, write: Callable[..., None]) -> None:
    write(kind)
    for command in _COMMANDS:
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
