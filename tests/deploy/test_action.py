"""The GitHub action and the hooks of pre-commit: their own commands, run on real files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from karta_interpreter.cli.program import program

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
EXAMPLES = "docs/examples"


def _step(commands: Path, name: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("name") == name]
    assert step["env"].keys() >= variables.keys()
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **dict.fromkeys(step["env"], ""), "PATH": path, **variables}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("variables", "code", "shown"),
    [
        pytest.param({"KARTA_PATHS": f"{EXAMPLES}/trainjob.yaml"}, 0, "", id="a good definition"),
        pytest.param(
            {"KARTA_PATHS": f"{EXAMPLES}/trainjob.yaml {EXAMPLES}/trainjob-broken.yaml"},
            1,
            "::error file=docs/examples/trainjob-broken.yaml,line=6,",
            id="several files",
        ),
        pytest.param(
            {"KARTA_PATHS": f"{EXAMPLES}/trainjob-typo.yaml", "KARTA_CRDS": f"{EXAMPLES}/trainjob-crd.yaml"},
            1,
            "title=crd-unknown-field::",
            id="a CRD",
        ),
    ],
)
def test_the_action_shows_findings_at_their_lines(
    commands: Path, variables: dict[str, str], code: int, shown: str
) -> None:
    result = _step(commands, "Validate", **variables)

    assert (result.returncode, shown in result.stdout) == (code, True), result.stderr


def test_the_action_runs_suites(commands: Path) -> None:
    result = _step(commands, "Test", KARTA_SUITES="kartas/batch")

    assert (result.returncode, "0 failed" in result.stderr) == (0, True), result.stderr


def test_a_variable_of_the_action_is_an_input() -> None:
    used = {value for step in ACTION["runs"]["steps"] for value in step.get("env", {}).values()}
    assert used == {f"${{{{ inputs.{name} }}}}" for name in ("version", "path", "crd", "strict", "suites")}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_runs_a_command_that_exists(name: str) -> None:
    installed, command, *_ = HOOKS[name]["entry"].split()
    assert Path(sys.executable).with_name(installed).exists()
    result = CliRunner().invoke(program, [command, "--help"])
    assert (result.exit_code, HOOKS[name]["language"]) == (0, "python")
