"""Calls for kinds whose definitions refer to other objects."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any, NoReturn

import orjson
import pytest

from karta_interpreter.base.errors import QueryAbsentError
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta.reference_resolver import Known, LargeLookUpError
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering import calls, child_lane
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.settings import MIB
from tests.support.settling import settled
from tests.support.waiting import HANG

TRAINJOB = GVK("trainer.kubeflow.org", "v1alpha1", "TrainJob")
RUNTIME = GVK("trainer.kubeflow.org", "v1alpha1", "ClusterTrainingRuntime")
TORCH: Object = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "ClusterTrainingRuntime",
    "metadata": {"name": "torch"},
    "spec": {
        "mlPolicy": {"numNodes": 3},
        "template": {
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                            "spec": {"template": {"spec": {"containers": [{"name": "node"}]}}},
                        },
                    }
                ]
            }
        },
    },
}


class _Forbidden(Known):
    def list(self, gvk: GVK, namespace: str | None) -> NoReturn:  # noqa: ARG002 - the signature of a reader
        raise QueryAbsentError("runtimes are forbidden")


class _Fixed(Store):
    """A store with one definition of the catalogue, and what is known of other objects."""

    reader = None

    def __init__(self, gvk: GVK, known: Known | None) -> None:
        super().__init__(catalogue=False)
        entry = find_in_catalogue(gvk)
        assert entry is not None
        self.snapshot = Snapshot({gvk: entry})
        self.reader = known


def _body(runtime: str, size: int) -> bytes:
    obj = {"apiVersion": TRAINJOB.api_version, "kind": "TrainJob", "metadata": {"name": "bert", "namespace": "nlp"}}
    return _asked("InterpretReplica", {**obj, "spec": {"runtimeRef": {"name": runtime}}}, size)


def _asked(operation: str, obj: Object, size: int) -> bytes:
    kind, name = GVK.of(obj), obj["metadata"]["name"]
    request = {"uid": "u", "kind": kind._asdict(), "name": name, "operation": operation, "object": obj}
    return json.dumps({"request": request}).encode() + b" " * size


KNOWN = Known.of([TORCH], [RUNTIME])


@pytest.fixture(autouse=True)
async def _children(shared: ChildLane, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Large bodies are answered by the processes of this module."""
    monkeypatch.setattr(calls, "ChildLane", lambda _: shared)
    yield
    await settled()


async def _answer(body: bytes, known: Known | None = KNOWN, gvk: GVK = TRAINJOB) -> JSON:
    return json.loads(await Calls(_Fixed(gvk, known), Options()).answer(body, HANG))["response"]


@pytest.mark.parametrize("size", [0, 3 * MIB], ids=["in this process", "in a process of its own"])
async def test_referenced_objects_are_looked_up(size: int) -> None:
    assert (await _answer(_body("torch", size)))["replicas"] == 3


@pytest.mark.parametrize("size", [0, 3 * MIB], ids=["in this process", "in a process of its own"])
async def test_missing_reference_is_a_failure(size: int) -> None:
    response = await _answer(_body("jax", size))
    assert response["successful"] is False
    reason = "no pods are known: there is no ClusterTrainingRuntime jax; create it on the control plane of Karmada"
    assert reason in response["status"]["message"]


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        pytest.param(
            None,
            "trainer.kubeflow.org/v1alpha1, Kind=ClusterTrainingRuntime torch cannot be looked up: nothing is read "
            "from the control plane of Karmada; create it there, and start the server with --cluster",
            id="a server without a cluster",
        ),
        pytest.param(
            _Forbidden({}), "ClusterTrainingRuntime torch cannot be looked up: runtimes are forbidden", id="RBAC"
        ),
    ],
)
async def test_large_body_has_same_reason_as_small_one(known: Known | None, reason: str) -> None:
    small, large = [await _answer(_body("torch", size), known) for size in (0, 3 * MIB)]
    assert small == large
    assert reason in small["status"]["message"]


class _OfBefore(Known):
    """A control plane that serves the last of several versions."""

    def served(self, kinds: Sequence[GVK]) -> GVK:
        return kinds[-1]


@pytest.mark.parametrize("size", [0, 3 * MIB], ids=["in this process", "in a process of its own"])
async def test_dependencies_are_in_versions_that_are_served(size: int) -> None:
    release = {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "web", "namespace": "town"},
        "spec": {"chartRef": {"kind": "OCIRepository", "name": "charts"}},
    }
    body = _asked("InterpretDependency", release, size)
    (dependency,) = (await _answer(body, _OfBefore({}), GVK.of(release)))["dependencies"]
    assert (dependency["apiVersion"], dependency["kind"]) == ("source.toolkit.fluxcd.io/v1beta2", "OCIRepository")


class _Large(Known):
    """Objects that this process does not decode."""

    def get(self, gvk: GVK, namespace: str, name: str) -> NoReturn:  # noqa: ARG002 - the signature of a reader
        raise LargeLookUpError

    def texts(self, gvk: GVK, namespace: str, name: str | None = None) -> Sequence[bytes]:
        del gvk, namespace
        return [orjson.dumps(TORCH)] if name == "torch" else []


class _TooLarge(_Large):
    def texts(self, gvk: GVK, namespace: str, name: str | None = None) -> NoReturn:  # noqa: ARG002 - as above
        raise LargeLookUpError


async def test_large_reference_is_decoded_by_a_child_process() -> None:
    assert (await _answer(_body("torch", 0), _Large({})))["replicas"] == 3


@pytest.mark.parametrize(
    ("known", "most_bytes", "most_objects"),
    [
        pytest.param(_TooLarge({}), 10_000, 9, id="one kind has too many"),
        pytest.param(_Large({}), 300, 9, id="the call has looked up too many bytes"),
        pytest.param(_Large({}), 10_000, 0, id="the call has looked up too many objects"),
    ],
)
async def test_reference_beyond_the_bound_is_named(
    monkeypatch: pytest.MonkeyPatch, known: Known, most_bytes: int, most_objects: int
) -> None:
    monkeypatch.setattr(child_lane, "MOST_BYTES", most_bytes)
    monkeypatch.setattr(child_lane, "MOST_OBJECTS", most_objects)
    status = (await _answer(_body("torch", 0), known))["status"]
    reason = "ClusterTrainingRuntime torch cannot be looked up: the objects that one call looks up are more than 4 MiB"
    assert status["code"] == 422
    assert reason in status["message"]


ROLLOUT = GVK("argoproj.io", "v1alpha1", "Rollout")
DEPLOYMENT = GVK("apps", "v1", "Deployment")


_ELSEWHERE = {"replicas": 3, "workloadRef": {"kind": "Deployment", "name": "shop"}}
_SHOP = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}
_SHOPS = [
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"}, "spec": {"template": {"spec": _SHOP}}}
]


@pytest.mark.parametrize(
    ("spec", "known", "requires"),
    [
        pytest.param(_ELSEWHERE, Known.of(_SHOPS, [DEPLOYMENT]), {"cpu": "2"}, id="another workload has its template"),
        pytest.param(_ELSEWHERE, Known.of([], [DEPLOYMENT]), None, id="that workload does not exist"),
        pytest.param(_ELSEWHERE, None, None, id="nobody looks it up"),
        pytest.param({"replicas": 3, "template": {"spec": _SHOP}}, None, {"cpu": "2"}, id="it has a template itself"),
    ],
)
async def test_count_of_rollout_is_known_without_its_template(
    spec: Object, known: Known | None, requires: Object | None
) -> None:
    obj = {"apiVersion": ROLLOUT.api_version, "kind": "Rollout", "metadata": {"name": "shop"}, "spec": spec}
    kind = {"group": ROLLOUT.group, "version": ROLLOUT.version, "kind": ROLLOUT.kind}
    request = {"uid": "u", "kind": kind, "name": "shop", "operation": "InterpretReplica", "object": obj}
    response: Any = await _answer(json.dumps({"request": request}).encode(), known, ROLLOUT)
    assert response["replicas"] == 3
    assert (response.get("replicaRequirements") or {}).get("resourceRequest") == requires


class _Shops(_Large):
    def texts(self, gvk: GVK, namespace: str, name: str | None = None) -> Sequence[bytes]:
        del gvk, namespace, name
        return [orjson.dumps(_SHOPS[0])]


@pytest.mark.parametrize(
    ("known", "most_bytes", "most_objects"),
    [
        pytest.param(_TooLarge({}), 10_000, 9, id="one kind has too many"),
        pytest.param(_Shops({}), 100, 9, id="too many bytes"),
        pytest.param(_Shops({}), 10_000, 0, id="too many objects"),
    ],
)
async def test_look_up_beyond_a_bound_is_an_error(
    monkeypatch: pytest.MonkeyPatch, known: Known, most_bytes: int, most_objects: int
) -> None:
    monkeypatch.setattr(child_lane, "MOST_BYTES", most_bytes)
    monkeypatch.setattr(child_lane, "MOST_OBJECTS", most_objects)
    obj = {"apiVersion": ROLLOUT.api_version, "kind": "Rollout", "metadata": {"name": "shop"}, "spec": _ELSEWHERE}
    kind = {"group": ROLLOUT.group, "version": ROLLOUT.version, "kind": ROLLOUT.kind}
    request = {"uid": "u", "kind": kind, "name": "shop", "operation": "InterpretReplica", "object": obj}
    response: Any = await _answer(json.dumps({"request": request}).encode(), known, ROLLOUT)
    assert response["status"]["code"] == 422, "its requests would be missing"
    assert "the objects that one call looks up are more than 4 MiB" in response["status"]["message"]


_DOMAIN: Object = {
    "apiVersion": "resource.nvidia.com/v1beta1",
    "kind": "ComputeDomain",
    "metadata": {"name": "rack", "namespace": "nlp"},
    "spec": {"channel": {"resourceClaimTemplate": {"name": "imex"}}},
}


@pytest.mark.parametrize("size", [0, 3 * MIB], ids=["in this process", "in a process of its own"])
async def test_compute_domain_is_looked_up_for_any_kind(size: int) -> None:
    claims = [{"name": "channel", "resourceClaimTemplateName": "imex"}]
    metadata = {"name": "shop", "namespace": "nlp"}
    obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}
    spec = {"template": {"spec": {"resourceClaims": claims}}}
    kind = {"group": DEPLOYMENT.group, "version": DEPLOYMENT.version, "kind": DEPLOYMENT.kind}
    request = {"uid": "u", "kind": kind, "name": "shop", "operation": "InterpretDependency"}
    body = json.dumps({"request": {**request, "object": {**obj, "spec": spec}}}).encode() + b" " * size
    response: Any = await _answer(body, Known.of([_DOMAIN]), DEPLOYMENT)
    reference = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "namespace": "nlp"}
    assert response["dependencies"] == [{**reference, "name": "rack"}]
