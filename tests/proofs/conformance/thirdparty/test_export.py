"""``python -m tests.proofs.conformance.thirdparty``: the folders that it writes, and what it drops."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from karta_interpreter.cli.program import program
from tests.proofs.conformance.thirdparty.__main__ import command
from tests.support.karta import karta_text

Run = Callable[..., Result]

_SUITE = """\
name: running
operation: InterpretHealth
observedObj: {apiVersion: example.io/v1, kind: Job, status: {phase: Running}}
output: {healthy: true}
---
name: of another kind
operation: ReviseReplica
desiredObj: {apiVersion: example.io/v1, kind: List, spec: {replicas: 4}}
inputReplicas: 2
output: {revised: {}}
---
name: below zero
operation: InterpretReplica
desiredObj: {apiVersion: example.io/v1, kind: Job, spec: {replicas: -4}}
output: {error: negative}
"""


@pytest.fixture
def run() -> Run:
    return lambda *arguments: CliRunner().invoke(command, arguments)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a definition and its suite."""
    (tmp_path / "karta.yaml").write_text(karta_text())
    (tmp_path / "testdata").mkdir()
    (tmp_path / "testdata" / "suite.yaml").write_text(_SUITE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_thirdparty_folder_passes_its_own_suite(run: Run, files: Path) -> None:
    result = run("-f", "karta.yaml", "--output-dir", "out")

    folder = files / "out" / "example.io" / "v1" / "Job"
    assert result.exit_code == 0, result.output
    assert result.stderr == (
        "example.io/v1, Kind=Job, InterpretReplica: below zero: "
        "left out: Karmada's format has no call that has to fail\n1 folder, 1 case; 0 rejected\n"
    )
    customization = yaml.safe_load((folder / "customizations.yaml").read_text())
    assert customization["spec"]["target"] == {"apiVersion": "example.io/v1", "kind": "Job"}
    assert [file.name for file in (folder / "testdata").iterdir()] == ["interprethealth-test.yaml"]
    tested = CliRunner().invoke(program, ["test", str(folder)])
    assert (tested.exit_code, tested.stderr) == (0, "1 kind, 1 case: 1 passed, 0 failed\n")


def test_thirdparty_kind_without_group_is_rejected(run: Run, files: Path) -> None:
    result = run("Pod", "--output-dir", "out")

    assert result.exit_code == 1
    assert result.stderr.endswith("the core group has no name\n0 folders, 0 cases; 1 rejected\n")
    assert not [*(files / "out").iterdir()]


def test_thirdparty_suite_that_cannot_be_read_is_an_error(run: Run, files: Path) -> None:
    (files / "testdata" / "suite.yaml").write_text("name: a")
    result = run("-f", "karta.yaml", "--output-dir", "out")

    assert result.exit_code == 1
    assert str(result.exception).startswith('testdata/suite.yaml:1: case "a": there is no operation')


_TREE = """\
name: of Karmada
operation: InterpretHealth
observedObj: {apiVersion: example.io/v1, kind: Job, status: {phase: Running}}
output: {healthy: %s}
"""
_SCRIPTS = """\
spec: {customizations: {replicaRevision: {luaScript: a}, healthInterpretation: {luaScript: b}}}
"""


@pytest.fixture
def tree(files: Path) -> Path:
    folder = files / "out" / "example.io" / "v1" / "Job"
    (folder / "testdata").mkdir(parents=True)
    (folder / "customizations.yaml").write_text(_SCRIPTS)
    (folder / "testdata" / "old.yaml").write_text(_TREE % "true")
    return folder


_EXPORT = ("-f", "karta.yaml", "--output-dir", "out")


def test_thirdparty_export_over_tree_keeps_cases_that_pass(run: Run, tree: Path) -> None:
    result = run(*_EXPORT)

    assert result.stderr.endswith("1 folder, 2 cases; 0 rejected\n")
    (file,) = (tree / "testdata").iterdir()
    assert file.name == "interprethealth-test.yaml"
    assert [case["name"] for case in yaml.safe_load_all(file.read_text())] == ["running", "of Karmada"]


def test_thirdparty_export_over_tree_names_what_it_drops(run: Run, tree: Path) -> None:
    (tree / "testdata" / "old.yaml").write_text(f"{_TREE % 'false'}---\n{{name: odd, operation: Retain}}\n")
    result = run(*_EXPORT)

    assert "InterpretHealth: of Karmada: dropped: the script answers otherwise: healthy" in result.stderr
    assert "case 1: dropped: " in result.stderr
    assert "1 folder, 1 case" in result.stderr
    assert [file.name for file in (tree / "testdata").iterdir()] == ["interprethealth-test.yaml"]


def test_thirdparty_export_over_tree_names_scripts_that_are_gone(run: Run, tree: Path) -> None:
    (tree / "customizations.yaml").write_text(_SCRIPTS.replace("replicaRevision", "componentResource"))
    result = run(*_EXPORT)

    script = "InterpretComponent, script: dropped: the exported customization has no script for it"
    assert script in result.stderr


def test_thirdparty_export_over_its_own_output_changes_nothing(run: Run, tree: Path) -> None:
    run(*_EXPORT)
    first = {file: file.read_text() for file in tree.rglob("*.yaml")}
    run(*_EXPORT)
    assert {file: file.read_text() for file in tree.rglob("*.yaml")} == first


def test_thirdparty_export_leaves_testdata_of_another_program(run: Run, tree: Path) -> None:
    (tree / "customizations.yaml").unlink()
    run(*_EXPORT)
    assert (tree / "testdata" / "old.yaml").read_text() == _TREE % "true"


def test_thirdparty_kind_with_components_has_replicas_for_the_other_state_of_the_gate(run: Run, files: Path) -> None:
    run("FlinkDeployment", "--output-dir", "out")
    folder = files / "out" / "flink.apache.org" / "v1beta1" / "FlinkDeployment"
    scripts = yaml.safe_load((folder / "customizations.yaml").read_text())["spec"]["customizations"]
    assert {"componentResource", "replicaResource"} <= scripts.keys()
    assert "replicaRevision" not in scripts
