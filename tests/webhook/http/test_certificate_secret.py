"""Replicas that share a Secret: who writes, who reads, and what happens when that does not work."""

import asyncio
import json
import random
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509

from karta_interpreter.base.errors import ClusterError, ServeError
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.webhook.http.certificate import Certificate
from karta_interpreter.webhook.http.certificate_secret import Rotation, SecretCertificates, read_keyring
from tests.definitions.sources.scripted_api import write_kubeconfig
from tests.support.rows import rows
from tests.webhook.http.secrets import LABEL, PATH, START, Clock, Secrets
from tests.webhook.logs import capture_logs

NAME = "interpreter.karmada-system.svc"
TLS = "karmada-system/karta-interpreter-tls"
STAND_IN = Certificate(b"stand-in", b"", (), 0.0, is_placeholder=True)
LIFE, AUTHORITY_LIFE = timedelta(days=90), timedelta(days=720)


def replica(api: Secrets, clock: Clock, **settings: Any) -> SecretCertificates:
    return SecretCertificates(api, TLS, Rotation((NAME,), LIFE, AUTHORITY_LIFE, **settings), STAND_IN, clock=clock)


@pytest.fixture
def api() -> Secrets:
    return Secrets()


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_replicas_create_one_secret_and_serve_the_same(api: Secrets, clock: Clock) -> None:
    replicas = [replica(api, clock) for _ in range(5)]
    assert all(each.read().is_placeholder for each in replicas)
    served = await asyncio.gather(*(each.fetch() for each in replicas))
    assert api.writes == 1
    assert len(set(served)) == 1
    assert (served[0].chain, served[0].key) == (api.content["tls.crt"], api.content["tls.key"])
    assert served[0].authority == api.content["ca.crt"] == api.content["authority.crt"]
    assert api.objects[PATH]["type"] == "kubernetes.io/tls"


async def test_certificate_is_renewed_by_one_replica(api: Secrets, clock: Clock) -> None:
    replicas = [replica(api, clock) for _ in range(5)]
    first = await asyncio.gather(*(each.fetch() for each in replicas))
    clock.pass_by(days=61)
    second = await asyncio.gather(*(each.fetch() for each in replicas))
    assert api.writes == 2
    assert len(set(second)) == 1
    assert second[0].chain != first[0].chain
    assert second[0].authority == first[0].authority


async def test_certificate_that_is_not_due_writes_no_secret(api: Secrets, clock: Clock) -> None:
    one = replica(api, clock)
    first = await one.fetch()
    for _ in range(59):
        clock.pass_by(days=1)
        assert await one.fetch() == first
    assert api.writes == 1


@pytest.mark.slow
async def test_replicas_that_look_by_chance_never_serve_what_the_others_do_not_trust(
    api: Secrets, clock: Clock
) -> None:
    chance = random.Random(7)  # noqa: S311 - chance that a test can repeat
    registered = b""
    replicas = [replica(api, clock, is_trusted=lambda pem: pem in registered) for _ in range(3)]
    for each in replicas:
        registered = (await each.fetch()).authority
    for _ in range(500):
        clock.pass_by(days=chance.random() * 7)
        each = chance.choice(replicas)
        # Whoever has looked registers what it has seen; the others still serve what they saw last.
        registered = (await each.fetch()).authority
        for other in replicas:
            assert is_trusted(other.read(), registered)
    assert len({*x509.load_pem_x509_certificates(registered)}) <= 3
    assert clock.now - START > 2 * AUTHORITY_LIFE


@cache
def is_trusted(certificate: Certificate, bundle: bytes) -> bool:
    content = {"tls.crt": certificate.chain, "tls.key": certificate.key, "ca.crt": bundle}
    return read_keyring(content, START)[0].pair is not None


@pytest.mark.parametrize(
    ("verb", "status"), [pytest.param("get", 0, id="no answer"), pytest.param("get", 503, id="overloaded")]
)
async def test_while_the_api_server_is_away_the_last_certificate_stays(
    api: Secrets, clock: Clock, verb: str, status: int
) -> None:
    one = replica(api, clock)
    first = await one.fetch()
    api.refused[verb] = status
    clock.pass_by(days=80)
    with pytest.raises(ServeError, match="karmada-system/karta-interpreter-tls: may not get"):
        await one.fetch()
    assert one.read() == first
    api.refused.clear()
    assert (await one.fetch()).chain != first.chain


async def test_stored_certificate_is_served_where_writing_is_forbidden(api: Secrets, clock: Clock) -> None:
    first = await replica(api, clock).fetch()
    clock.pass_by(days=70)
    api.refused["update"] = 403
    other = replica(api, clock)
    assert await other.fetch() == first
    with pytest.raises(ServeError, match="may not update"):
        await other.fetch()
    assert other.read() == first


async def test_without_the_right_to_create_there_is_nothing(api: Secrets, clock: Clock) -> None:
    api.refused["create"] = 403
    one = replica(api, clock)
    with pytest.raises(ServeError, match="may not create"):
        await one.fetch()
    assert one.read().is_placeholder


async def test_empty_secret_of_ours_is_filled(api: Secrets, clock: Clock) -> None:
    api.refused["create"] = 403
    api.put({})
    assert not (await replica(api, clock).fetch()).is_placeholder


@pytest.mark.parametrize(
    "labels", [pytest.param({}, id="nobody's"), pytest.param({"app.kubernetes.io/managed-by": "Helm"}, id="Helm's")]
)
async def test_secret_of_others_is_left_alone(api: Secrets, clock: Clock, labels: dict[str, str]) -> None:
    api.put({"tls.crt": b"mine", "tls.key": b"mine"}, labels)
    with pytest.raises(ServeError, match=r"is not ours, its label .* is (not set|Helm): delete it, or name another"):
        await replica(api, clock).fetch()
    assert api.writes == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"tls.key": b"junk"}, id="a broken key"),
        pytest.param({"tls.crt": b"", "authority.key": b"", "ca.crt": b""}, id="nothing that can be used"),
    ],
)
async def test_broken_secret_of_ours_is_repaired_from_memory(
    api: Secrets, clock: Clock, change: dict[str, bytes]
) -> None:
    one, whole = replica(api, clock), {"password": b"of somebody else"}
    first = await one.fetch()
    whole |= api.content
    api.put(whole | change)
    with capture_logs() as log:
        assert await one.fetch() == first
        assert await one.fetch() == first
    assert api.content == whole
    assert [line["log_level"] for line in log] == ["error", "info"]
    assert "PRIVATE" not in json.dumps(log)


async def test_irreparable_secret_is_logged_once(api: Secrets, clock: Clock) -> None:
    await replica(api, clock).fetch()
    api.put(api.content | {"ca.crt": b"junk"})
    api.refused["update"] = 403
    one = replica(api, clock)
    with capture_logs() as log:
        # Certificate and authority are whole, so they are served.
        assert (await one.fetch()).authority == api.content["authority.crt"]
        for _ in range(3):
            with pytest.raises(ServeError, match="may not update"):
                await one.fetch()
    assert ["ca.crt holds no PEM" in line["reason"] for line in log] == [True]


async def test_deleted_secret_is_recreated_with_same_authority(api: Secrets, clock: Clock) -> None:
    replicas = [replica(api, clock) for _ in range(2)]
    first = await asyncio.gather(*(each.fetch() for each in replicas))
    api.objects.clear()
    assert await asyncio.gather(*(each.fetch() for each in replicas)) == first
    assert api.objects[PATH]["metadata"]["labels"] == LABEL


async def test_somebody_who_writes_all_the_time_is_named_as_the_reason(api: Secrets, clock: Clock) -> None:
    await replica(api, clock).fetch()
    one = replica(api, clock)
    await one.fetch()
    clock.pass_by(days=70)
    api.refused["update"] = 409
    with pytest.raises(ServeError, match="written all the time by others"):
        await one.fetch()


async def test_secret_is_replaced_by_put_with_resource_version(tmp_path: Path) -> None:
    asked: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append((request.method, request.path, await request.json()))
        return web.json_response({"kind": "Status", "message": "it has changed"}, status=409)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(application) as server:
        kubeconfig = write_kubeconfig(tmp_path / "config", str(server.make_url("")))
        async with ApiServer.of(kubeconfig) as api:
            with pytest.raises(ClusterError, match="it has changed") as refused:
                await api.replace(PATH, {"metadata": {"resourceVersion": "7"}})
    assert refused.value.status == 409
    assert asked == [("PUT", PATH, {"metadata": {"resourceVersion": "7"}})]


@rows("text", ["tls", "a/b/c", "/tls", "Karmada/tls", "karmada-system/"])
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(ServeError, match="write namespace/name"):
        SecretCertificates(Secrets(), text, Rotation((NAME,), LIFE, AUTHORITY_LIFE), STAND_IN)
