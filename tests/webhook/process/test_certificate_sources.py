"""A server whose certificate is in a Secret, from its settings to what it serves and registers."""

import base64
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.http.tls import SelfSignedCertificates
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import until
from tests.webhook.http.secrets import PATH, Secrets
from tests.webhook.process.client import Client, get, trusting
from tests.webhook.process.process import KARTAS
from tests.webhook.registration.control_plane import ControlPlane, running as running_control_plane

SERVICE = "karmada-system/karta-interpreter:8443"
SECRET = "karmada-system/karta-interpreter-tls"  # noqa: S105 - a name


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Secrets:
    """The host cluster of all servers that a test starts."""
    secrets = Secrets()
    monkeypatch.setattr("karta_interpreter.webhook.http.tls.ApiServer", SimpleNamespace(of=lambda: secrets))
    return secrets


@pytest.fixture
async def plane() -> AsyncIterator[ControlPlane]:
    async with running_control_plane() as plane:
        yield plane


def settings(**others: Any) -> Settings:
    common: dict[str, Any] = {"port": 0, "folders": (KARTAS,), "catalogue": False, "certificate_interval": 0.01}
    return Settings(**common | {"certificate_secret": SECRET} | others)


async def test_servers_share_certificate_of_secret(api: Secrets) -> None:
    async with Server(settings()) as one, Server(settings(certificate_names=("a.example",))) as other:
        for server in (one, other):
            client = await Client.connect(server.started.port, trusting(api.content["ca.crt"]))
            assert (await client.ask(get("/readyz"))).status == 200
            await client.close()
        # The second one needs another name, and the first one takes the certificate over that has it.
        assert other.started.certificate
        assert "a.example" in other.started.certificate.names
        await until(lambda: one.started.certificate == other.started.certificate)


async def test_server_without_certificate_is_alive_and_not_ready(
    api: Secrets, plane: ControlPlane, tmp_path: Path
) -> None:
    api.refused["get"] = 403
    karmada = plane.kubeconfig(tmp_path)
    registering = settings(kubeconfig=karmada, register=True, service=SERVICE)
    async with Server(registering) as server:
        assert server.started.certificate
        # Nobody trusts the stand-in but this client, which knows it.
        context = trusting(server.started.certificate.chain)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        client = await Client.connect(server.started.port, context)
        assert (await client.ask(get("/healthz"))).status == 200
        answer = await client.ask(get("/readyz"))
        assert (answer.status, answer.json["message"]) == (503, "there is no certificate yet, the log says why")
        assert b"certificate_errors_total 0" not in (await client.ask(get("/metrics"))).body
        assert plane.applied == []
        api.refused.clear()
        await client.ask_until(get("/readyz"), lambda answer: answer.status == 200)
        await client.close()
        await until(lambda: plane.configuration)
        (bundle,) = {webhook["clientConfig"]["caBundle"] for webhook in plane.configuration["webhooks"]}
        assert base64.b64decode(bundle) == api.content["ca.crt"]
        assert "karta-interpreter.karmada-system.svc" in server.started.certificate.names


async def test_replica_reads_secret_before_it_writes(api: Secrets, plane: ControlPlane, tmp_path: Path) -> None:
    karmada = plane.kubeconfig(tmp_path)
    # Neither looks by itself; the second one adds a name, so a new certificate, and an authority of its own.
    slow = settings(kubeconfig=karmada, register=True, service=SERVICE, certificate_interval=1000.0)
    async with Server(slow) as one:
        await until(lambda: plane.configuration)
        before = one.started.certificate
        # What the other one would have written: the same with one more authority.
        content = api.content
        api.put(content | {"ca.crt": content["ca.crt"] + SelfSignedCertificates().read().authority})
        async with Server(slow):
            await until(lambda: one.started.certificate != before)
            bundles = [each["webhooks"][0]["clientConfig"]["caBundle"] for each in plane.applied]
            assert [base64.b64decode(bundle) for bundle in bundles] == [content["ca.crt"], api.content["ca.crt"]]


@pytest.mark.parametrize(
    ("others", "words"),
    [
        pytest.param({"certificate_file": Path("a"), "key_file": Path("b")}, "leave one out", id="files, too"),
        pytest.param({"ca_file": Path("ca")}, "the authority is known", id="an authority, too"),
        pytest.param({"certificate_secret": "tls"}, "write namespace/name", id="no namespace"),
        pytest.param(
            {"certificate_days": 30.0, "authority_days": 90.0}, "4 times", id="an authority that ends too soon"
        ),
        pytest.param({"certificate_names": ("münchen",)}, "neither a DNS name", id="a name that is none"),
    ],
)
def test_settings_that_cannot_work(api: Secrets, others: dict[str, Any], words: str) -> None:
    with pytest.raises(ServeError, match=words):
        Server(settings(**others))
    assert PATH not in api.objects
