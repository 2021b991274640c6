import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _files(files: Path, karta: Callable[..., str]) -> None:
    (files / "list.yaml").write_text(karta("List").replace("path: .status.phase", 'path: ".status.phases[0]"'))
    (files / "broken.yaml").write_text(karta().replace("replicasPath: ", "replicasPath: )"))


def test_definition_becomes_patch_of_kustomization(run: Run) -> None:
    result = run("export", "flux-health", "-f", "karta.yaml")

    assert result.exit_code == 0
    assert yaml.safe_load(result.stdout) == {
        "spec": {
            "healthCheckExprs": [
                {
                    "apiVersion": "example.io/v1",
                    "kind": "Job",
                    "current": "status.?phase.orValue(null) == 'Running'",
                    "failed": "status.?phase.orValue(null) == 'Failed'",
                }
            ]
        }
    }
    assert result.stderr == "1 health check, 0 of 1 rejected\n"


def test_kinds_of_the_catalogue_are_named_as_elsewhere(run: Run) -> None:
    result = run("export", "flux-health", "nimcache", "ray.io/v1/RayCluster", "-o", "json")

    exported = json.loads(result.stdout)["spec"]["healthCheckExprs"]
    assert [each["kind"] for each in exported] == ["NIMCache", "RayCluster"]


def test_rejected_definition_is_an_error(run: Run) -> None:
    result = run("export", "flux-health", "-f", "karta.yaml", "-f", "list.yaml")

    assert result.exit_code == 1
    assert result.stdout.count("apiVersion") == 1
    assert result.stderr.startswith("example.io/v1, Kind=List: phaseDefinition.path: `.status.phases[0]`")
    assert result.stderr.endswith("\n1 health check, 1 of 2 rejected\n")


def test_catalogue_kind_has_one_check_for_all_versions(run: Run) -> None:
    result = run("export", "flux-health")

    checks = yaml.safe_load(result.stdout)["spec"]["healthCheckExprs"]
    kinds = [(each["apiVersion"].partition("/")[0], each["kind"]) for each in checks]
    assert result.exit_code == 0
    assert len(kinds) > 25
    assert len(kinds) == len(set(kinds)), "Flux rejects a Kustomization with two checks for a kind"
    assert ("kubeflow.org", "MPIJob") in kinds
    assert "MPIJob" not in result.stderr
    one = run("export", "flux-health", "kubeflow.org/v2beta1/MPIJob")
    assert (one.exit_code, one.stdout.count("kubeflow.org/")) == (0, 1), "a version that is named counts alone"


def test_rejected_version_rejects_its_kind(run: Run, files: Path) -> None:
    older = (files / "list.yaml").read_text().replace("version: v1", "version: v1beta1")
    (files / "older.yaml").write_text(older.replace('".status.phases[0]"', ".status.phase"))

    result = run("export", "flux-health", "-f", "list.yaml", "-f", "older.yaml")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith("\n0 health checks, 2 of 2 rejected\n")
    reason = "example.io/v1: phaseDefinition.path: `.status.phases[0]`"
    assert result.stderr.count(reason) == 2, "the reason has the version to leave out"
    assert run("export", "flux-health", "-f", "older.yaml").exit_code == 0


def test_kinds_that_the_tool_judges_itself_are_left_out_unless_named(run: Run) -> None:
    everything, named = run("export", "flux-health"), run("export", "flux-health", "Deployment")

    line = next(line for line in everything.stderr.splitlines() if line.startswith("left out"))
    assert everything.exit_code == 0
    assert line.startswith(
        "left out, as Flux with kstatus 1.2.3 judges them itself; name a KIND to export its check: v1/Pod, "
    )
    assert "apps/v1/Deployment" in line
    assert ("kind: Deployment" in everything.stdout, "kind: Deployment" in named.stdout) == (False, True)
    assert named.stderr == "1 health check, 0 of 1 rejected\n"


def test_check_lists_every_definition(run: Run) -> None:
    result = run("export", "flux-health", "--check", "-f", "karta.yaml", "-f", "list.yaml")

    header, job, other = result.stdout.splitlines()
    assert header.split() == ["APIVERSION", "KIND", "FLUX-HEALTH"]
    assert job.split() == ["example.io/v1", "Job", "exported"]
    assert other.split()[:3] == ["example.io/v1", "List", "phaseDefinition.path:"]


@rows(
    ("arguments", "code", "message"),
    [
        pytest.param(["RayClster"], 2, "there is no definition for RayClster; did you mean RayCluster?", id="a typo"),
        pytest.param(["-f", "none.yaml"], 2, "none.yaml: No such file or directory", id="no file"),
        pytest.param(["-f", "broken.yaml"], 1, "broken.yaml: there is no definition in it", id="with errors"),
        pytest.param(["Other", "-f", "karta.yaml"], 2, "there is no definition for Other", id="not in the file"),
    ],
)
def test_bad_input_prints_nothing(run: Run, arguments: list[str], code: int, message: str) -> None:
    result = run("export", "flux-health", *arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
