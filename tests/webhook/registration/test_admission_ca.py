"""The authority in admission webhooks, which are installed without one."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.webhook.registration.admission_ca import PATH, WEBHOOK, AdmissionCA
from tests.support.waiting import HANG, until
from tests.webhook.logs import capture_logs
from tests.webhook.registration.control_plane import ControlPlane, running
from tests.webhook.registration.rig import NAME

OLD, NEW = b"-- the old authority --", b"-- the new authority --"
OTHER = {"name": "other.example.com", "clientConfig": {"url": "https://other.example.com", "caBundle": "b3RoZXI="}}


class Rig:
    """A control plane whose admission webhooks are looked at all the time."""

    def __init__(self, plane: ControlPlane, api: ApiServer, lines: list[dict[str, Any]]) -> None:
        self.plane = plane
        self.authority = OLD
        self.lines = lines
        self.api = api
        self.trust = AdmissionCA(api, lambda: self.authority, seconds=0.01, lasting=0.05)

    def install(self) -> None:
        webhook = {
            "name": WEBHOOK,
            "clientConfig": {"service": {"name": NAME, "namespace": "karmada-system", "path": "/admission/validate"}},
            "sideEffects": "None",
        }
        # `validates` stands for the kind: what is applied has to have the same.
        self.plane.write(PATH, NAME, {"kind": "validates", "metadata": {}, "webhooks": [webhook, OTHER]})

    def webhooks(self) -> Iterator[Any]:
        yield from self.plane.collections[PATH].get(NAME, {"webhooks": []})["webhooks"]

    @property
    def trusted(self) -> set[bytes]:
        """Whom our webhooks trust."""
        ours = (webhook["clientConfig"] for webhook in self.webhooks() if webhook["name"] != OTHER["name"])
        return {base64.b64decode(client.get("caBundle", "")) for client in ours}

    async def looks_again(self) -> None:
        """Wait until each webhook has been looked at more than once from now on."""
        before = self.plane.requests
        await until(lambda: self.plane.requests >= before + 3)

    def said(self) -> list[str]:
        return [f"{line['log_level']}: {line['event']}" for line in self.lines]

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.trust.run())
        try:
            yield
            assert not task.done()
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with running() as plane, ApiServer(str(plane.kubeconfig(tmp_path))) as api:
        with capture_logs() as lines:
            yield Rig(plane, api, lines)


async def test_admission_webhooks_get_the_authority_and_nothing_else_changes(rig: Rig) -> None:
    rig.install()
    before = [webhook["clientConfig"].get("service") for webhook in rig.webhooks()]
    async with rig.looking():
        await until(lambda: rig.trust.has_announced(OLD))
        assert rig.trusted == {OLD}
        assert not rig.trust.has_announced(NEW)

    assert [webhook["clientConfig"].get("service") for webhook in rig.webhooks()] == before
    assert [webhook for webhook in rig.webhooks() if webhook["name"] == OTHER["name"]] == [OTHER]
    assert rig.said() == [f"info: validates {NAME} trusts the authority of this server"]


async def test_admission_webhooks_follow_the_authority(rig: Rig) -> None:
    rig.install()
    async with rig.looking():
        await until(lambda: rig.trust.has_announced(OLD))
        rig.authority = OLD + NEW
        rig.trust.wake()
        await until(lambda: rig.trust.has_announced(NEW))
        assert rig.trusted == {OLD + NEW}
        written = len(rig.plane.applied)
        rig.plane.write(PATH, NAME, {"kind": "validates", "webhooks": []})
        rig.install()  # as an upgrade that takes what the server has written away
        await until(lambda: rig.trusted == {OLD + NEW})
        assert len(rig.plane.applied) == written + 1


async def test_none_are_made(rig: Rig) -> None:
    async with rig.looking():
        assert not rig.trust.has_announced(OLD), "nobody has looked yet"
        await until(lambda: rig.trust.has_announced(OLD))
        assert not rig.plane.applied
        rig.install()
        await until(lambda: rig.trusted == {OLD})


async def test_refusal_for_a_moment_announces_nothing(rig: Rig) -> None:
    """A new certificate would be used before the webhook trusts it."""
    rig.plane.refused = {("GET", PATH): 403}
    rig.trust = AdmissionCA(rig.api, lambda: rig.authority, seconds=0.01, lasting=HANG)
    async with rig.looking():
        await rig.looks_again()
        assert not rig.trust.has_announced(OLD)
        rig.install()
        rig.plane.refused = {}
        await until(lambda: rig.trust.has_announced(OLD))


async def test_configuration_of_others_gets_no_webhook(rig: Rig) -> None:
    rig.plane.write(PATH, NAME, {"kind": "validates", "metadata": {}, "webhooks": [OTHER]})
    async with rig.looking():
        await until(lambda: rig.trust.has_announced(OLD))
        await rig.looks_again()
        assert not rig.plane.applied


async def test_admission_ca_is_silent_without_webhooks(rig: Rig) -> None:
    rig.authority = b""
    rig.install()
    async with rig.looking():
        await until(lambda: rig.trust.has_announced(b""))
        assert not rig.plane.applied


@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_admission_ca_without_rights_is_left_to_others(rig: Rig, method: str) -> None:
    rig.install()
    rig.plane.refused = {(method, PATH): 403}
    async with rig.looking():
        await until(lambda: rig.trust.has_announced(OLD))
        await rig.looks_again()

    assert rig.trusted == {b""}
    assert len(rig.lines) == 1, "said once, not at every look"
    assert all("is left to others" in said and "403" in said for said in rig.said())


async def test_lost_api_server_is_waited_for(rig: Rig) -> None:
    rig.install()
    rig.plane.available = False
    async with rig.looking():
        await rig.looks_again()
        assert not rig.trust.has_announced(OLD)
        rig.plane.available = True
        await until(lambda: rig.trust.has_announced(OLD))

    assert [line["log_level"] for line in rig.lines] == ["info"], "the registrar tells of the server"


async def test_refused_admission_ca_is_logged_once(rig: Rig) -> None:
    rig.install()
    rig.plane.refused = {("PATCH", PATH): 422}
    async with rig.looking():
        await rig.looks_again()
        assert not rig.trust.has_announced(OLD)

    assert [line["log_level"] for line in rig.lines] == ["warning"]
