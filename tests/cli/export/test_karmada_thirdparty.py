from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

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


@pytest.fixture(autouse=True)
def _suite(files: Path) -> None:
    (files / "testdata").mkdir()
    (files / "testdata" / "suite.yaml").write_text(_SUITE)


def test_thirdparty_folder_passes_its_own_suite(run: Run, files: Path) -> None:
    result = run("export", "karmada-thirdparty", "-f", "karta.yaml", "--output-dir", "out")

    folder = files / "out" / "example.io" / "v1" / "Job"
    assert result.exit_code == 0, result.output
    assert result.stderr == (
        "example.io/v1, Kind=Job, InterpretReplica: below zero: "
        "left out: Karmada's format has no call that has to fail\n1 folder, 1 case; 0 rejected\n"
    )
    customization = yaml.safe_load((folder / "customizations.yaml").read_text())
    assert customization["spec"]["target"] == {"apiVersion": "example.io/v1", "kind": "Job"}
    assert [file.name for file in (folder / "testdata").iterdir()] == ["interprethealth-test.yaml"]
    tested = run("test", str(folder))
    assert (tested.exit_code, tested.stderr) == (0, "1 kind, 1 case: 1 passed, 0 failed\n")


def test_thirdparty_kind_without_group_is_rejected(run: Run, files: Path) -> None:
    result = run("export", "karmada-thirdparty", "Pod", "--output-dir", "out")

    assert result.exit_code == 1
    assert result.stderr.endswith("the core group has no name\n0 folders, 0 cases; 1 rejected\n")
    assert not [*(files / "out").iterdir()]


def test_thirdparty_suite_that_cannot_be_read_is_an_error(run: Run, files: Path) -> None:
    (files / "testdata" / "suite.yaml").write_text("name: a")
    result = run("export", "karmada-thirdparty", "-f", "karta.yaml", "--output-dir", "out")

    assert result.exit_code == 1
    assert result.stderr.startswith('error: testdata/suite.yaml:1: case "a": there is no operation')
