from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from tests.support.rows import rows

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _files(files: Path) -> None:
    del files


def test_components_prints_object_with_counts(run: Run) -> None:
    result = run("interpret", "-f", "karta.yaml", "job.yaml", "--components", "main=7")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = yaml.safe_load(Path("job.yaml").read_text())
    expected["spec"]["replicas"] = 7
    assert yaml.safe_load(result.stdout) == expected


@rows(
    ("arguments", "code", "message"),
    [
        pytest.param(["--components", "mian=7"], 1, 'there is no component "mian"; did you mean main?', id="unknown"),
        pytest.param(["--components", "main"], 2, "'main' is not NAME=COUNT, as worker=8,head=1", id="no count"),
        pytest.param(["--components", "main=1,main=2"], 2, "'main=2' is named twice", id="twice"),
    ],
)
def test_components_refused_with_reason(run: Run, arguments: list[str], code: int, message: str) -> None:
    result = run("interpret", "-f", "karta.yaml", "job.yaml", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_revise_components_prints_results_as_karmadactl(run: Run) -> None:
    result = run(
        "interpret", "-f", "karta.yaml", "job.yaml", "--operation", "ReviseComponents", "--components", "main=7"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert yaml.safe_load(result.stdout)["spec"]["replicas"] == 7
    assert "# [1/1] revised:" in result.stdout


def test_script_of_component_revision_answers(run: Run) -> None:
    script = (
        "function ReviseComponents(obj, components)\n  obj.spec.replicas = components[1].replicas\n  return obj\nend"
    )
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "mine"},
        "spec": {
            "target": {key: yaml.safe_load(Path("job.yaml").read_text())[key] for key in ("apiVersion", "kind")},
            "customizations": {"componentRevision": {"luaScript": script}},
        },
    }
    Path("mine.yaml").write_text(yaml.safe_dump(customization))
    assert run("validate", "mine.yaml").exit_code == 0
    arguments = ("--operation", "ReviseComponents", "--components", "whatever=6")
    result = run("interpret", "-f", "karta.yaml", "--override", "mine.yaml", "job.yaml", *arguments)
    assert yaml.safe_load(result.stdout)["spec"]["replicas"] == 6


@rows("kind", ["apps/v1", "apps.kruise.io/v1beta1", "apps.kruise.io/v1alpha1"])
def test_components_refuse_a_count_that_is_a_status(run: Run, kind: str) -> None:
    template = {"spec": {"containers": [{"name": "main"}]}}
    daemon = {"apiVersion": kind, "kind": "DaemonSet", "metadata": {"name": "logs"}, "spec": {"template": template}}
    Path("daemon.yaml").write_text(yaml.safe_dump({**daemon, "status": {"desiredNumberScheduled": 3}}))
    result = run("interpret", "daemon.yaml", "--components", "daemonset=8")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "its count follows from status.desiredNumberScheduled" in result.stderr
