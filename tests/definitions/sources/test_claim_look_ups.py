"""The templates of claims and the classes of devices on an API server, which has them in one version or another."""

import asyncio
from pathlib import Path

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import Call, Operation, Options, interpret
from tests.definitions.sources.running import FAST, RunningCluster, running_cluster
from tests.definitions.sources.scripted_api import ScriptedApi, status
from tests.support.waiting import HANG

pytestmark = pytest.mark.catalogue

BY_CLASS = Options(device_classes=("auto",))
REQUESTS = {
    "v1": [{"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": 2}}],
    "v1beta1": [{"name": "gpu", "deviceClassName": "gpu", "count": 2}],
}
_POD = {"containers": [{"name": "a"}], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]}
JOB: Object = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "ml"},
    "spec": {"template": {"spec": _POD}},
}


def _api(version: str) -> ScriptedApi:
    group = f"resource.k8s.io/{version}"
    api = ScriptedApi(kinds={group: ["ResourceClaimTemplate", "DeviceClass"]})
    for path, name, spec, metadata in (
        ("resourceclaimtemplate", "gpus", {"spec": {"devices": {"requests": REQUESTS[version]}}}, {"namespace": "ml"}),
        ("deviceclass", "gpu", {"extendedResourceName": "example.com/gpu"}, {}),
    ):
        api.collections[f"/apis/{group}/{path}"] = {}
        api.put(f"/apis/{group}/{path}", name, spec, **metadata)
    return api


async def _amounts(running: RunningCluster) -> Object:
    """Return the requests of the Job, once they are known."""
    entry = find_in_catalogue(GVK("batch", "v1", "Job"))
    assert entry is not None
    call = Call(Operation.INTERPRET_REPLICA, JOB)
    async with asyncio.timeout(HANG):
        while True:
            try:
                answer = interpret(entry.definition, call, BY_CLASS, reader=running.store.reader)
            except InterpretationError as error:  # nothing is answered before it is known
                if "cannot be looked up" not in str(error):
                    raise
                await asyncio.sleep(FAST.first)
            else:
                requires: Object = answer["requires"] or {}
                amounts: Object = requires.get("resourceRequest") or {}
                return amounts


@pytest.mark.parametrize("version", [*REQUESTS])
async def test_claims_are_looked_up_in_the_version_that_is_served(tmp_path: Path, version: str) -> None:
    async with running_cluster(tmp_path, _api(version), looked_up=BY_CLASS.looked_up) as running:
        assert await _amounts(running) == {"example.com/gpu": "2"}
        assert not running.store.reference_gaps(), "other versions are not missed"


async def test_templates_that_may_not_be_read_count_nothing(tmp_path: Path) -> None:
    api = _api("v1")
    for verb in ("get", "watch"):
        api.on(verb, "/apis/resource.k8s.io/v1/resourceclaimtemplate", status(403, "Forbidden"), times=10_000)
    async with running_cluster(tmp_path, api, looked_up=BY_CLASS.looked_up) as running:
        assert await _amounts(running) == {}


async def test_nothing_is_read_without_the_setting(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, _api("v1")) as running:
        await running.is_synced()
        await asyncio.sleep(4 * FAST.longest)
        assert not [path for path in running.api.paths if "resource.k8s.io/v1/" in path], (
            "only the versions are asked for"
        )
