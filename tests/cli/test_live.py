"""Workloads that are read from an API server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.definitions.sources.api_server import ApiServer

Run = Callable[..., Result]

_JOBS = {"name": "jobs", "singularName": "job", "kind": "Job", "namespaced": True, "shortNames": ["jb"]}
_MACHINES = {"name": "machines", "singularName": "", "kind": "Machine", "namespaced": False}
_STATUS = {"name": "jobs/status", "singularName": "", "kind": "Job", "namespaced": True}


def _group(name: str, *versions: str) -> dict[str, Any]:
    found = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": found, "preferredVersion": found[0]}


class _Server(ApiServer):
    """An API server in memory: a group with two versions, one that is not available, and what is read."""

    url = "https://member.test"

    def __init__(self, workload: dict[str, Any]) -> None:
        super().__init__("config")
        self.namespace = "team"
        self.objects: dict[str, Any] = {
            "/api/v1": {"resources": [{"name": "pods", "singularName": "pod", "kind": "Pod", "namespaced": True}]},
            "/apis": {"groups": [_group("metrics.io", "v1"), _group("example.io", "v1", "v2")]},
            "/apis/example.io/v1": {"resources": [_STATUS, _JOBS, _MACHINES]},
            "/apis/example.io/v2": {"resources": [_JOBS]},
            "/apis/example.io/v1/namespaces/team/jobs/demo": workload,
            "/apis/example.io/v1/namespaces/ml/jobs/demo": workload | {"metadata": {"name": "of ml"}},
            "/apis/example.io/v2/namespaces/team/jobs/demo": workload | {"metadata": {"name": "of v2"}},
            "/apis/example.io/v1/machines/m": workload | {"metadata": {"name": "of no namespace"}},
        }

    async def get(self, path: str) -> dict[str, Any]:
        if path == "/apis/metrics.io/v1":
            raise ClusterError("metrics.io is not available", status=503)
        if path not in self.objects:
            raise ClusterError(f"{path}: not found", status=404, reason="NotFound")
        found: dict[str, Any] = self.objects[path]
        return found


@pytest.fixture(autouse=True)
def asked(files: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The kubeconfigs and contexts that were connected to."""
    connected: list[tuple[Any, ...]] = []
    server = _Server(yaml.safe_load((files / "job.yaml").read_text()))

    def of(*connection: Any) -> ApiServer:
        connected.append(connection)
        return server

    monkeypatch.setattr(ApiServer, "of", of)
    return connected


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        pytest.param(("job/demo",), "team/demo", id="singular, in the namespace of the context"),
        pytest.param(("jobs/demo",), "team/demo", id="plural"),
        pytest.param(("JOB/demo",), "team/demo", id="kind"),
        pytest.param(("jb/demo",), "team/demo", id="short name"),
        pytest.param(("jobs.example.io/demo",), "team/demo", id="with its group"),
        pytest.param(("job/demo", "-n", "ml"), "of ml", id="another namespace"),
        pytest.param(("machines.example.io/m",), "of no namespace", id="without a namespace"),
    ],
)
def test_workload_is_named_as_in_kubectl(run: Run, arguments: tuple[str, ...], name: str) -> None:
    result = run("tree", *arguments, "-f", "karta.yaml")

    assert (result.exit_code, result.stdout) == (0, f"Job {name}: Running, 3 pods, cpu 2, memory 8Gi each\n")


def test_version_may_be_named(run: Run) -> None:
    result = run("interpret", "jobs.v2.example.io/demo", "-f", "karta.yaml", "-o", "json")

    assert '"name": "of v2"' in result.stdout


def test_live_object_is_the_observed_one(run: Run, asked: list[tuple[Any, ...]]) -> None:
    live = run("interpret", "job/demo", "-f", "karta.yaml", "--kubeconfig", "member.config", "--context", "member1")
    both = run("interpret", "job/demo", "-f", "karta.yaml", "--desired-file", "desired.yaml", "--operation", "Retain")

    assert live.stdout == run("interpret", "--observed-file", "job.yaml", "-f", "karta.yaml").stdout
    assert both.stdout.startswith("---\n# [1/1] retained:\n")
    assert asked == [(Path("member.config"), "member1"), (None, None)]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(("job/gone",), 1, "https://member.test has no Job gone in namespace team", id="no object"),
        pytest.param(("machines.example.io/x",), 1, "https://member.test has no Machine x", id="none of no namespace"),
        pytest.param(
            ("wheels.example.io/x",), 1, "https://member.test has no resource wheels.example.io", id="no kind"
        ),
        pytest.param(("wheel/x",), 1, "metrics.io is not available", id="no kind, perhaps of an API that is away"),
        pytest.param(("job",), 2, "job: give a file that exists, or RESOURCE/NAME, such as rayjob/demo", id="no name"),
        pytest.param(("job/demo", "--object", "job.yaml"), 2, "give job/demo or --", id="two workloads"),
    ],
)
@pytest.mark.parametrize("command", ["interpret", "tree"])
def test_unreadable_live_object_is_an_error(
    run: Run, command: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = run(command, *arguments, "-f", "karta.yaml")

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_context_of_the_environment_is_not_for_files(run: Run, files: Path) -> None:
    environment = {"KARTA_INTERPRETER_CONTEXT": "member1", "KARTA_INTERPRETER_KUBECONFIG": "none"}

    result = run("tree", "-f", str(files / "karta.yaml"), str(files / "job.yaml"), env=environment)

    assert (result.exit_code, result.stderr) == (0, "")
