"""The GitHub action and the hooks of pre-commit: their own commands, run on real files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from karta_interpreter.cli.program import program
from tests.support.rows import rows

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
EXAMPLES = "docs/examples"
WORKFLOWS = [ROOT / "action.yml", *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]
PINNED = r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9.]+"


def _step(commands: Path, name: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("name") == name]
    assert step["env"].keys() >= variables.keys()
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **dict.fromkeys(step["env"], ""), "PATH": path, **variables}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False)


@rows(
    ("variables", "code", "shown"),
    [
        pytest.param({"KARTA_PATHS": f"{EXAMPLES}/trainjob.yaml"}, 0, "", id="a good definition"),
        pytest.param({"KARTA_PATHS": f"{EXAMPLES}/trainjob.yaml {EXAMPLES}/trainjob-broken.yaml"}, 1,
            "::error file=docs/examples/trainjob-broken.yaml,line=6,", id="several files"),
        pytest.param({"KARTA_PATHS": f"{EXAMPLES}/trainjob-typo.yaml", "KARTA_CRDS": f"{EXAMPLES}/trainjob-crd.yaml"},
            1, "title=crd-unknown-field::", id="a CRD"),
        pytest.param({"KARTA_PATHS": "--version"}, 2, "", id="a path that looks like an option"),
        pytest.param({"KARTA_PATHS": f"{EXAMPLES}/trainjob.yaml", "KARTA_CRDS": "--strict"}, 2, "", id="such a CRD"),
    ],
)  # fmt: skip
def test_action_shows_findings_at_their_lines(commands: Path, variables: dict[str, str], code: int, shown: str) -> None:
    result = _step(commands, "Validate", **variables)

    assert (result.returncode, shown in result.stdout) == (code, True), result.stderr


def test_action_runs_suites(commands: Path) -> None:
    result = _step(commands, "Test", KARTA_SUITES="kartas/batch")

    assert (result.returncode, "0 failed" in result.stderr) == (0, True), result.stderr


@pytest.mark.parametrize(
    ("paths", "code", "shown"),
    [
        pytest.param("kartas/apps/v1/Deployment", 0, "Deployment apps/v1 1 5 0 1", id="a definition that agrees"),
        pytest.param(
            "kartas/apps/v1 kartas/ray.io/v1", 1, "all 2 RayClusters: requirements: ", id="several, one differs"
        ),
    ],
)
def test_action_compares_definitions_with_saved_member(commands: Path, paths: str, code: int, shown: str) -> None:
    result = _step(commands, "Verify", KARTA_PATHS=paths, KARTA_EVIDENCE=f"{EXAMPLES}/member")

    assert shown in " ".join(result.stdout.split())
    assert result.returncode == code, result.stderr


def test_variable_of_action_is_an_input() -> None:
    used = {value for step in ACTION["runs"]["steps"] for value in step.get("env", {}).values()}
    assert used == {f"${{{{ inputs.{name} }}}}" for name in ("path", "crd", "strict", "suites", "evidence")}


def test_action_installs_its_own_checkout() -> None:
    [install] = [step["run"] for step in ACTION["runs"]["steps"] if step.get("name") == "Install"]
    assert re.findall(r"^install (.*)", install, re.MULTILINE) == [
        "--require-hashes -r requirements/run.txt -r requirements/build.txt",
        "--no-build-isolation --no-deps .",
    ]
    assert 'cd "$GITHUB_ACTION_PATH"' in install


@rows("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    for used in re.findall(r"uses: (.*)", path.read_text()):
        assert used.startswith("./") or re.fullmatch(PINNED, used), used


@pytest.mark.parametrize("name", HOOKS)
def test_hook_runs_an_existing_command(name: str) -> None:
    installed, command, *_ = HOOKS[name]["entry"].split()
    assert Path(sys.executable).with_name(installed).exists()
    result = CliRunner().invoke(program, [command, "--help"])
    assert (result.exit_code, HOOKS[name]["language"]) == (0, "python")
