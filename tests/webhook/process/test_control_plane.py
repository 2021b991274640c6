"""A server that belongs to a control plane, from its settings to what it answers and registers."""

import base64
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.errors import ClusterError, ServeError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.process import metrics
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.rows import rows
from tests.support.waiting import Clock, until
from tests.webhook.http.pairs import chain_pem, key_pem, new_key
from tests.webhook.logs import capture_logs
from tests.webhook.process.client import Answer, Client, get, post, trusting
from tests.webhook.process.process import KARTAS as FOLDER
from tests.webhook.registration.control_plane import (
    CONFIGURATIONS,
    CRDS,
    ControlPlane,
    running as running_control_plane,
)
from tests.webhook.registration.definitions import karta, replicas

NAME = "karta-interpreter"
KARTAS = "/apis/run.ai/v1alpha1/kartas"
DOLL = GVK("toys.example.com", "v1", "Doll")
SERVICE = "karmada-system/karta-interpreter:8443"
RAY: Any = {"folders": (Path(__file__).parents[3] / "kartas" / "ray.io",), "catalogue": False}
"""A part of the catalogue: what is asked here is the same for all of it."""


@pytest.fixture
async def plane() -> AsyncIterator[ControlPlane]:
    async with running_control_plane() as plane:
        plane.collections[KARTAS] = {}
        yield plane


@pytest.fixture
async def server(plane: ControlPlane, tmp_path: Path) -> AsyncIterator[Server]:
    kubeconfig = plane.kubeconfig(tmp_path)
    settings = Settings(port=0, cluster=True, kubeconfig=kubeconfig, register=True, service=SERVICE, **RAY)
    async with Server(settings) as server:
        yield server


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    started = server.started
    assert started.certificate
    client = await Client.connect(started.port, trusting(started.certificate.authority))
    yield client
    await client.close()


def doll_karta(name: str = "doll") -> dict[str, Any]:
    found: dict[str, Any] = karta(DOLL, {"worker": replicas(".spec.count // 1")})
    return {**found, "metadata": {**found.get("metadata", {}), "name": name, "uid": name, "generation": 1}}


def review(obj: dict[str, Any]) -> bytes:
    kind = {"group": "run.ai", "version": "v1alpha1", "kind": "Karta"}
    request = {"uid": "r", "kind": kind, "operation": "CREATE", "name": obj["metadata"]["name"], "object": obj}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


def status_of_a_doll() -> bytes:
    kind = {"group": DOLL.group, "version": DOLL.version, "kind": DOLL.kind}
    obj = {"apiVersion": DOLL.api_version, "kind": DOLL.kind, "metadata": {"name": "d"}}
    request = {"uid": "1", "kind": kind, "operation": "InterpretStatus", "object": obj}
    return json.dumps({"request": request}).encode()


async def test_karta_of_control_plane_is_served_and_registered(plane: ControlPlane, client: Client) -> None:
    await until(lambda: plane.operations("RayCluster"))
    assert (await client.ask(post(status_of_a_doll()))).response["status"]["code"] == 404
    plane.write(KARTAS, "doll", doll_karta())
    await client.ask_until(post(status_of_a_doll()), lambda answer: answer.response["successful"])
    await until(lambda: plane.operations("Doll"))
    plane.remove(KARTAS, "doll")
    await client.ask_until(post(status_of_a_doll()), lambda answer: not answer.response["successful"])
    await until(lambda: plane.operations("Doll") is None)


async def test_certificate_names_registered_service(plane: ControlPlane, server: Server) -> None:
    await until(lambda: plane.configuration)
    [client_config] = {str(webhook["clientConfig"]["service"]) for webhook in plane.configuration["webhooks"]}
    assert "karta-interpreter" in client_config
    assert server.started.certificate
    assert "karta-interpreter.karmada-system.svc" in server.started.certificate.names


async def test_server_is_ready_once_the_kartas_are_known(plane: ControlPlane, client: Client) -> None:
    await until(lambda: plane.configuration)
    assert (await client.ask(get("/readyz"))).status == 200
    metrics = (await client.ask(get("/metrics"))).body
    assert b"karta_interpreter_cluster_stale_seconds" in metrics
    assert b"karta_interpreter_registration_in_step 1.0" in metrics


async def test_nothing_is_registered_before_the_kartas_are_known(
    plane: ControlPlane, tmp_path: Path, clock: Clock
) -> None:
    plane.write(KARTAS, "doll", doll_karta())
    plane.refused["GET", KARTAS] = 500
    kubeconfig = plane.kubeconfig(tmp_path)
    settings = Settings(
        port=0, cluster=True, kubeconfig=kubeconfig, catalogue=False, register=True, service=SERVICE, plain_http=True
    )
    async with Server(settings):
        await until(lambda: {CRDS, CONFIGURATIONS} <= {*plane.lists})
        await clock.passes(2)
        assert plane.applied == [], "the kinds of Kartas would lose their webhooks for a moment"
        plane.refused.clear()
        await clock.passes(4)  # the next look comes after a pause, which is doubled with each failure
        assert await clock.within(60, lambda: plane.operations("Doll"))
    assert len(plane.applied) == 1


@pytest.mark.parametrize(
    ("is_allowed", "status"),
    [
        pytest.param(True, 200, id="as its user wants it"),
        pytest.param(False, 503, id="not by itself: a replica that knows less would answer"),
    ],
)
async def test_server_without_its_control_plane_is_ready_after_a_while(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, *, is_allowed: bool
) -> None:
    plane.available = False
    kubeconfig = plane.kubeconfig(tmp_path)
    settings = Settings(
        port=0,
        cluster=True,
        ready_without_cluster=is_allowed,
        kubeconfig=kubeconfig,
        catalogue=False,
        folders=(FOLDER,),
        plain_http=True,
    )
    async with Server(settings) as server:
        client = await Client.connect(server.started.port, None)
        assert (await client.ask(get("/readyz"))).status == 503
        monkeypatch.setattr("karta_interpreter.webhook.process.control_plane._FIRST_LOOK_SECONDS", -1.0)
        assert (await client.ask(get("/readyz"))).status == status
        await client.close()


async def test_lost_control_plane_changes_no_answer(plane: ControlPlane, client: Client) -> None:
    await until(lambda: plane.configuration)
    plane.write(KARTAS, "doll", doll_karta())
    await client.ask_until(post(status_of_a_doll()), lambda answer: answer.response["successful"])
    plane.break_off(available=False)
    assert (await client.ask(post(status_of_a_doll()))).response["successful"]
    assert (await client.ask(get("/readyz"))).status == 200


async def test_replica_that_comes_back_takes_nothing_away(plane: ControlPlane, client: Client, clock: Clock) -> None:
    await until(lambda: plane.operations("RayCluster"))
    plane.write(KARTAS, "doll", doll_karta())
    await until(lambda: plane.operations("Doll"))
    registered, applied = plane.configuration, len(plane.applied)
    plane.refused["GET", KARTAS] = 500
    plane.break_off(available=True)
    # Another replica knows another Karta meanwhile. Of these two informers one is back before the other.
    toy = {**registered["webhooks"][0], "name": "toy.example.com"}
    plane.write(KARTAS, "toy", doll_karta("toy"))
    plane.write(CONFIGURATIONS, NAME, {**registered, "webhooks": [*registered["webhooks"], toy]}, manager=NAME)
    await clock.passes(20)
    assert toy in plane.configuration["webhooks"]
    assert len(plane.applied) == applied
    plane.refused.clear()
    for _ in range(600):  # an informer may pause for half a minute, and what is put back once a minute waits as long
        if len(plane.applied) > applied:
            break
        await clock.passes(1)
    assert len(plane.applied) > applied, "the toy is no kind of a Karta"
    assert (await client.ask(get("/readyz"))).status == 200


async def test_second_karta_for_kind_is_refused(plane: ControlPlane, client: Client) -> None:
    plane.write(KARTAS, "doll", doll_karta())
    await client.ask_until(post(status_of_a_doll()), lambda answer: answer.response["successful"])
    second = post(review(doll_karta("barbie")), "/admission/validate")
    await client.ask_until(second, lambda answer: answer.status == 200)  # when its process has started
    answer = (await client.ask(second)).response
    assert not answer["allowed"]
    assert "doll" in answer["status"]["message"]
    assert (await client.ask(post(review(doll_karta()), "/admission/validate"))).response["allowed"]


async def test_admission_takes_posts_only(client: Client) -> None:
    assert (await client.ask(get("/admission/validate"))).status == 405


async def test_stopping_server_leaves_registration_to_others(plane: ControlPlane, tmp_path: Path, clock: Clock) -> None:
    kubeconfig = plane.kubeconfig(tmp_path)
    settings = Settings(port=0, kubeconfig=kubeconfig, register=True, service=SERVICE, grace_period=0.0, **RAY)
    async with Server(settings) as server:
        await until(lambda: plane.configuration)
        await server.wind_down()
        applied = len(plane.applied)
        plane.remove(CONFIGURATIONS, "karta-interpreter")
        await clock.passes(5)
        assert len(plane.applied) == applied


async def test_ca_file_may_go_away_and_come_back(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "_PAGE_SECONDS", 0.0)  # the test waits for the next page
    file, old, new = tmp_path / "ca.crt", chain_pem(new_key(), ("old",)), chain_pem(new_key(), ("new",))
    file.write_bytes(old)
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    own = new_key()
    certificate.write_bytes(chain_pem(own))
    key.write_bytes(key_pem(own))
    settings = Settings(
        port=0,
        cluster=True,
        kubeconfig=plane.kubeconfig(tmp_path),
        register=True,
        service=SERVICE,
        ca_file=file,
        certificate_file=certificate,
        key_file=key,
        certificate_interval=0.02,
        **RAY,
    )
    with capture_logs() as said:
        async with Server(settings) as server:
            client = await Client.connect(server.started.port, trusting(certificate.read_bytes()))
            await until(lambda: bundles(plane) == {old})
            await client.ask_until(get("/metrics"), in_step(1))
            file.unlink()
            await until(lambda: any("cannot be used" in line["event"] for line in said))
            await client.ask_until(get("/metrics"), in_step(0))
            plane.write(KARTAS, "doll", doll_karta())
            await until(lambda: plane.operations("Doll"))
            assert bundles(plane) == {old}, "what is registered meanwhile has the last authority"
            file.write_bytes(new)
            await until(lambda: bundles(plane) == {new})
            await client.ask_until(get("/metrics"), in_step(1))
            await client.close()
    assert [line["log_level"] for line in said if "CA file" in line["event"]] == ["error", "info"], "each once"


def in_step(value: int) -> Callable[[Answer], bool]:
    """Whether this is the metric of the registration."""
    return lambda answer: f"karta_interpreter_registration_in_step {value}.0".encode() in answer.body


def bundles(plane: ControlPlane) -> set[bytes]:
    webhooks = (plane.configuration or {}).get("webhooks", ())
    return {base64.b64decode(webhook["clientConfig"]["caBundle"]) for webhook in webhooks}


@rows(
    ("settings", "words"),
    [
        pytest.param(
            {"register": True}, "--register needs the address Karmada calls: give --public-url", id="no address"
        ),
        pytest.param(
            {"register": True, "public_url": "https://a.example", "service": SERVICE}, "not both", id="two addresses"
        ),
        pytest.param({"register": True, "public_url": "http://a.example"}, "https", id="Karmada speaks TLS only"),
        pytest.param({"service": "a"}, "namespace/name", id="no Service, though nothing is registered"),
        pytest.param({"public_url": "a.example"}, "https", id="no URL, though nothing is registered"),
        pytest.param(
            {"register": True, "service": SERVICE, "ca_file": Path("none.pem")}, "none.pem", id="a CA that is not there"
        ),
    ],
)
def test_settings_that_cannot_work(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ServeError, match=words):
        Server(Settings(**settings))


@pytest.mark.parametrize("names_file", [True, False])
def test_server_does_not_start_with_a_context_that_does_not_exist(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, names_file: bool
) -> None:
    kubeconfig = plane.kubeconfig(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    settings = Settings(port=0, cluster=True, kubeconfig=kubeconfig if names_file else None, context="karmda")
    with pytest.raises(ClusterError, match='there is no context "karmda"; its contexts are: '):
        Server(settings)
