"""The configuration on a control plane follows the definitions."""

import base64
import json

import pytest

from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.webhook.registration.configuration import Endpoint
from tests.support.waiting import Clock, until
from tests.webhook.registration.admission_rules import objections
from tests.webhook.registration.control_plane import CONFIGURATIONS, CRDS
from tests.webhook.registration.definitions import TOY, karta, replicas
from tests.webhook.registration.rig import DOLL, NAME, ONE, Rig, crd

SOON = 2.0
"""Seconds by the clock of the test in which every change is applied."""


async def test_changes_are_registered_within_two_seconds(rig: Rig, clock: Clock) -> None:
    plane = rig.plane
    async with rig.registrar() as registrar:
        await until(lambda: plane.operations("Toy"))
        assert objections(plane.configuration) == []

        rig.define(DOLL)
        assert await clock.within(SOON, lambda: plane.operations("Doll"))

        plane.write(CRDS, "toys", crd("Toy", status=False))
        assert await clock.within(SOON, lambda: "AggregateStatus" not in (plane.operations("Toy") or ()))

        rig.endpoint = Endpoint.of_url("https://elsewhere.example")
        registrar.wake()
        assert await clock.within(
            SOON, lambda: "elsewhere" in plane.configuration["webhooks"][0]["clientConfig"]["url"]
        )

        rig.folder.joinpath("Doll.yaml").unlink()
        rig.store.load()
        assert await clock.within(SOON, lambda: plane.operations("Doll") is None)

    assert len(plane.applied) == 5
    assert rig.said("error") == []


@pytest.mark.usefixtures("hurried")
async def test_correct_configuration_is_left_alone(rig: Rig, clock: Clock) -> None:
    async with rig.registrar():
        await until(lambda: rig.plane.operations("Toy"))
        rig.plane.write(CRDS, "others", crd("Other"))
        labels = {"labels": {**rig.plane.configuration["metadata"]["labels"], "team": "a"}}
        rig.plane.write(CONFIGURATIONS, NAME, {**rig.plane.configuration, "metadata": labels})
        rig.plane.write(CONFIGURATIONS, "of-somebody-else", {"webhooks": []})
        async with rig.registrar():
            await clock.passes(SOON)

    assert len(rig.plane.applied) == 1
    assert rig.plane.configuration["metadata"]["labels"]["team"] == "a"


@pytest.mark.usefixtures("hurried")
async def test_replicas_agree(rig: Rig, clock: Clock) -> None:
    async with rig.registrar(), rig.registrar(), rig.registrar():
        await until(lambda: rig.plane.operations("Toy"))
        rig.define(DOLL)
        await until(lambda: rig.plane.operations("Doll"))
        await clock.passes(SOON)

    # Each may apply once per change, when all see it at the same moment.
    assert 2 <= len(rig.plane.applied) <= 6
    assert rig.said("error") == rig.said("warning") == []


@pytest.mark.usefixtures("hurried")
async def test_unserved_version_is_omitted_with_a_warning(rig: Rig) -> None:
    rig.plane.write(CRDS, "toys", crd("Toy", version="v2"))
    async with rig.registrar():
        await until(lambda: rig.plane.configuration)

    assert rig.plane.configuration["webhooks"] == []
    assert "does not serve toys.example.com/v1, Kind=Toy" in rig.said("warning")[0]


@pytest.mark.usefixtures("hurried")
async def test_registration_waits_until_all_definitions_are_read(rig: Rig, clock: Clock) -> None:
    ready = False
    async with rig.registrar(ready=lambda: ready):
        await clock.passes(SOON)
        assert rig.plane.applied == []
        ready = True
        await until(lambda: rig.plane.operations("Toy"))

    rig.plane.applied.clear()
    rig.store = Store([rig.folder], catalogue=False)
    async with rig.registrar():
        await clock.passes(SOON)
    assert rig.plane.applied == []


async def test_authority_is_trusted_once_every_webhook_has_it(rig: Rig) -> None:
    async with rig.registrar(ready=lambda: False) as registrar:
        assert not registrar.has_announced(b"old")
        bundles = [base64.b64encode(bundle).decode() for bundle in (b"old", b"old new")]
        webhooks = [{"clientConfig": {"caBundle": bundle}} for bundle in bundles]
        rig.plane.write(CONFIGURATIONS, NAME, {"webhooks": webhooks})
        await until(lambda: registrar.has_announced(b"old"))
        assert not registrar.has_announced(b"new")


@pytest.mark.usefixtures("hurried")
async def test_definition_broken_between_runs_stays_registered(rig: Rig) -> None:
    async with rig.registrar():
        await until(lambda: rig.plane.operations("Toy"))
    before = rig.plane.operations("Toy")

    rig.store = Store([rig.folder], catalogue=False)
    rig.define(TOY, json.dumps(karta(TOY, {"worker": replicas(".spec |")})))
    async with rig.registrar():
        rig.define(DOLL)
        await until(lambda: rig.plane.operations("Doll"))

    assert rig.store.snapshot.find(TOY) is None
    assert rig.plane.operations("Toy") == before


@pytest.mark.usefixtures("hurried")
async def test_settings_of_registration_are_applied(rig: Rig) -> None:
    rig.define(DOLL, json.dumps(karta(DOLL, {"head": replicas("1"), **ONE})))
    async with rig.registrar(name="mine", multiple_pod_templates=True, timeout_seconds=9):
        await until(lambda: "mine" in rig.plane.collections[CONFIGURATIONS])

    doll, toy = rig.plane.collections[CONFIGURATIONS]["mine"]["webhooks"]
    assert doll["timeoutSeconds"] == toy["timeoutSeconds"] == 9
    assert "InterpretComponent" in doll["rules"][0]["operations"]
    assert "ReviseReplica" in toy["rules"][0]["operations"]


def _timeout(rig: Rig) -> int | None:
    webhooks = (rig.plane.configuration or {}).get("webhooks") or [{}]
    timeout: int | None = webhooks[0].get("timeoutSeconds")
    return timeout


@pytest.fixture
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karta_interpreter.webhook.registration.registrar._NEWER_SECONDS", 3.0)


@pytest.mark.usefixtures("hurried", "_brief")
async def test_newer_version_keeps_its_registration(rig: Rig, clock: Clock) -> None:
    """The two versions of a rolling upgrade register differently: without a mark each puts the other's back."""
    async with rig.registrar(version="0.9.0", timeout_seconds=3):
        await until(lambda: _timeout(rig) == 3)
        async with rig.registrar(version="0.10.0", timeout_seconds=4):
            assert await clock.within(SOON, lambda: _timeout(rig) == 4)
            assert not await clock.within(1.0, lambda: _timeout(rig) == 3)

            assert len(rig.plane.applied) == 2

    assert rig.said("error") == rig.said("warning") == []


@pytest.mark.usefixtures("hurried", "_brief")
async def test_older_version_registers_after_the_way_back(rig: Rig, clock: Clock) -> None:
    async with rig.registrar(version="0.10.0", timeout_seconds=4):
        await until(lambda: _timeout(rig) == 4)
    async with rig.registrar(version="0.9.0", timeout_seconds=3) as older:
        assert not await clock.within(1.0, lambda: _timeout(rig) == 3)
        assert not older.in_step

        await clock.advance(1.5)
        assert await clock.within(SOON, lambda: _timeout(rig) == 3)
        assert older.in_step
