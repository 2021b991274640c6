from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from karta_interpreter.cli.program import program

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]
PREFIX = "resource.customizations.health."
_FIELD = "spec.structureDefinition.rootComponent.statusDefinition.phaseDefinition.path:"


@pytest.fixture(autouse=True)
def _files(files: Path, karta: Callable[..., str]) -> None:
    (files / "list.yaml").write_text(karta("List").replace("path: .status.phase", 'path: .status.a | test("a|b")'))
    (files / "broken.yaml").write_text(karta().replace("replicasPath: ", "replicasPath: )"))


def test_definition_becomes_patch_of_config_map(run: Run) -> None:
    result = run("export", "argocd-health", "-f", "karta.yaml")

    patch = yaml.safe_load(result.stdout)
    script = patch["data"].pop(f"{PREFIX}example.io_Job")
    assert result.exit_code == 0
    assert {key: patch[key] for key in ("apiVersion", "kind", "metadata")} == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm"},
    }
    assert script.startswith("-- The health of Job to Argo CD, made from the Karta ")
    assert 'if phase == "Failed" then\n    statuses.Failed = true' in script
    assert f"{PREFIX}example.io_Job: |" in result.stdout, "a script can be read"
    assert result.stderr == "1 health check, 0 of 1 rejected\n"


def test_rejected_definition_is_an_error(run: Run) -> None:
    result = run("export", "argocd-health", "-f", "karta.yaml", "-f", "list.yaml")

    assert result.exit_code == 1
    assert result.stdout.count(PREFIX) == 1
    assert result.stderr.startswith(f"example.io/v1, Kind=List: {_FIELD}")
    assert result.stderr.endswith("\n1 health check, 1 of 2 rejected\n")


@pytest.fixture(scope="module")
def everything() -> Result:
    """What is exported of the whole catalogue."""
    return CliRunner().invoke(program, ["export", "argocd-health"])


@pytest.mark.slow
def test_catalogue_kind_has_one_script_for_all_versions(run: Run, everything: Result) -> None:
    keys = [key for key in yaml.safe_load(everything.stdout)["data"] if key.startswith(PREFIX)]
    assert (everything.exit_code, len(keys)) == (0, len(set(keys)))
    assert f"{PREFIX}kubeflow.org_MPIJob" in keys
    assert " 0 of " in everything.stderr
    one = run("export", "argocd-health", "kubeflow.org/v2beta1/MPIJob")
    assert (one.exit_code, one.stdout.count("kubeflow.org/v")) == (0, 0), "a version that is named counts alone"


def test_kinds_that_the_tool_judges_itself_are_left_out_unless_named(run: Run, everything: Result) -> None:
    named = run("export", "argocd-health", "CloneSet")

    line = next(line for line in everything.stderr.splitlines() if line.startswith("left out"))
    assert everything.exit_code == 0
    assert line.startswith("left out, as Argo CD 3.2.1 judges them itself; name a KIND to export its check: v1/Pod, ")
    assert "apps.kruise.io/v1alpha1/CloneSet" in line
    assert (
        "resource.customizations.health.apps.kruise.io_CloneSet: |" in everything.stdout,
        "resource.customizations.health.apps.kruise.io_CloneSet: |" in named.stdout,
    ) == (False, True)
    assert named.stderr == "1 health check, 0 of 2 rejected\n", "one check for both versions"


def test_rejected_version_rejects_its_kind(run: Run, files: Path) -> None:
    older = (files / "list.yaml").read_text().replace("version: v1", "version: v1beta1")
    (files / "older.yaml").write_text(older.replace('.status.a | test("a|b")', ".status.phase"))

    result = run("export", "argocd-health", "-f", "list.yaml", "-f", "older.yaml")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith("\n0 health checks, 2 of 2 rejected\n")
    assert result.stderr.count(f"example.io/v1: {_FIELD}") == 2, "the reason has the version to leave out"
    assert run("export", "argocd-health", "-f", "older.yaml").exit_code == 0


def test_check_lists_every_definition(run: Run) -> None:
    result = run("export", "argocd-health", "--check", "-f", "karta.yaml", "-f", "list.yaml")

    header, job, other = result.stdout.splitlines()
    assert header.split() == ["APIVERSION", "KIND", "ARGOCD-HEALTH"]
    assert job.split() == ["example.io/v1", "Job", "exported"]
    assert other.split()[:3] == ["example.io/v1", "List", _FIELD]
