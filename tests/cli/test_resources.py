"""Resources of an API server, by the names that kubectl takes."""

from typing import Any

import pytest

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.cli.draft_evidence import resource_of
from karta_interpreter.cli.program import Problem
from karta_interpreter.definitions.sources.api_server import ApiServer

_JOBS = {"name": "jobs", "singularName": "job", "kind": "Job", "namespaced": True, "shortNames": ["jb"]}
_MACHINES = {"name": "machines", "singularName": "", "kind": "Machine", "namespaced": False}
_STATUS = {"name": "jobs/status", "singularName": "", "kind": "Job", "namespaced": True}


def _group(name: str, *versions: str) -> dict[str, Any]:
    found = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": found, "preferredVersion": found[0]}


class _Server(ApiServer):
    """An API server in memory: a group with two versions, one that is not available, and what is read."""

    url = "https://member.test"

    def __init__(self) -> None:
        super().__init__("config")
        self.objects: dict[str, Any] = {
            "/api/v1": {"resources": [{"name": "pods", "singularName": "pod", "kind": "Pod", "namespaced": True}]},
            "/apis": {"groups": [_group("metrics.io", "v1"), _group("example.io", "v1", "v2")]},
            "/apis/example.io/v1": {"resources": [_STATUS, _JOBS, _MACHINES]},
            "/apis/example.io/v2": {"resources": [_JOBS]},
        }

    async def get(self, path: str) -> dict[str, Any]:
        if path == "/apis/metrics.io/v1":
            raise ClusterError("metrics.io is not available", status=503)
        if path not in self.objects:
            raise ClusterError(f"{path}: not found", status=404, reason="NotFound")
        found: dict[str, Any] = self.objects[path]
        return found


@pytest.mark.parametrize(
    ("text", "version", "name"),
    [
        pytest.param("job", "example.io/v1", "jobs", id="singular, in the preferred version"),
        pytest.param("jobs", "example.io/v1", "jobs", id="plural"),
        pytest.param("JOB", "example.io/v1", "jobs", id="kind"),
        pytest.param("jb", "example.io/v1", "jobs", id="short name"),
        pytest.param("jobs.example.io", "example.io/v1", "jobs", id="with its group"),
        pytest.param("jobs.v2.example.io", "example.io/v2", "jobs", id="with version and group"),
        pytest.param("machines.example.io", "example.io/v1", "machines", id="without a singular name"),
        pytest.param("pods", "v1", "pods", id="of the core group"),
    ],
)
async def test_resource_is_named_as_in_kubectl(text: str, version: str, name: str) -> None:
    api_version, resource = await resource_of(_Server(), text)

    assert (api_version, resource["name"]) == (version, name)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        pytest.param("wheels.example.io", Problem, "https://member.test has no resource wheels.example.io", id="none"),
        pytest.param("wheel", ClusterError, "metrics.io is not available", id="none, perhaps of an API that is away"),
    ],
)
async def test_resource_that_is_not_there_is_an_error(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        await resource_of(_Server(), text)
