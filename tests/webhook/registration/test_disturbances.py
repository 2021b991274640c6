"""Other writers, missing rights and outages: what is put back, what is said, and that it goes on."""

import asyncio

import pytest

from karta_interpreter.definitions.sources.informer import Pace
from karta_interpreter.webhook.registration import registrar
from karta_interpreter.webhook.registration.configuration import Endpoint
from tests.support.waiting import Clock, until
from tests.webhook.registration.control_plane import CONFIGURATIONS, CRDS, CUSTOMIZATIONS
from tests.webhook.registration.rig import DOLL, NAME, Rig, crd

pytestmark = pytest.mark.usefixtures("hurried")

SOON, MINUTE = 2.0, 60.0
"""Seconds by the clock of the test: until a change is applied, and until a change by a rival is put back again."""


@pytest.fixture
def impatient(hurried: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - another pace than that
    """What is refused counts at once as withheld on purpose."""
    monkeypatch.setattr(registrar, "_PACE", Pace(first=0.1, longest=0.2, absent=0.0))


@pytest.mark.parametrize("code", [403, 404, 429, 500, 503])
@pytest.mark.parametrize("collection", [CRDS, CONFIGURATIONS, CUSTOMIZATIONS])
async def test_what_is_refused_for_a_moment_is_waited_for(rig: Rig, clock: Clock, collection: str, code: int) -> None:
    """An API server that is starting refuses everything. Without a look at CRDs all kinds would be registered."""
    rig.plane.refused["GET", collection] = code
    others = {CRDS, CONFIGURATIONS, CUSTOMIZATIONS} - {collection}
    async with rig.registrar():
        await until(lambda: others <= {*rig.plane.lists})
        await clock.passes(SOON)
        assert not rig.plane.applied
        rig.plane.refused.clear()
        await until(lambda: rig.plane.operations("Toy"))


async def test_completion_by_api_server_is_not_a_change(rig: Rig, clock: Clock) -> None:
    rig.plane.completion = {"matchPolicy": "Exact"}
    async with rig.registrar():
        await until(lambda: rig.plane.applied)
        await clock.passes(SOON)

    assert len(rig.plane.applied) == 1


async def test_changes_by_others_are_put_back(rig: Rig) -> None:
    plane = rig.plane
    async with rig.registrar():
        await until(lambda: plane.operations("Toy"))

        plane.write(CONFIGURATIONS, NAME, {"webhooks": []}, manager="kubectl-edit")
        await until(lambda: plane.operations("Toy"))

        plane.remove(CONFIGURATIONS, NAME)
        await until(lambda: plane.operations("Toy"))

    assert rig.said("warning") == [
        f"{NAME} is put back: it was changed by kubectl-edit, to call nobody instead of {rig.endpoint.at}",
        f"{NAME} is put back: it was deleted",
    ]
    assert len(plane.applied) == 3


async def test_overtaken_write_is_left_to_its_writer(rig: Rig, clock: Clock) -> None:
    plane = rig.plane
    async with rig.registrar() as registrar:
        await until(lambda: plane.operations("Toy"))
        registered = plane.configuration
        # Another replica notices by itself that its write came too late.
        rig.refresh = lambda: plane.write(CONFIGURATIONS, NAME, registered, manager=NAME)
        plane.write(CONFIGURATIONS, NAME, {**registered, "webhooks": []}, manager=NAME)
        await until(lambda: plane.operations("Toy"))
        await clock.passes(SOON)
        assert registrar.in_step

    assert len(plane.applied) == 1
    assert rig.said("warning") == []


async def test_change_that_follows_a_new_authority_is_left_to_its_writer(rig: Rig, clock: Clock) -> None:
    plane, looks, later = rig.plane, list[int](), Endpoint.of_url("https://later.example")

    def refresh() -> None:
        looks.append(1)
        rig.endpoint = later if len(looks) > 1 else rig.endpoint  # at the second look, after which it would be put back

    rig.refresh = refresh
    async with rig.registrar() as registrar:
        await until(lambda: plane.operations("Toy"))
        theirs = [{**webhook, "clientConfig": {"url": later.at}} for webhook in plane.configuration["webhooks"]]
        plane.write(CONFIGURATIONS, NAME, {**plane.configuration, "webhooks": theirs}, manager=NAME)
        await until(lambda: len(looks) > 1)
        await clock.passes(SOON)
        assert registrar.in_step

    assert len(plane.applied) == 1


async def test_change_that_cannot_be_put_back_is_no_second_change(rig: Rig) -> None:
    plane = rig.plane
    async with rig.registrar():
        await until(lambda: plane.operations("Toy"))
        plane.refused["PATCH", CONFIGURATIONS] = 500
        plane.write(CONFIGURATIONS, NAME, {"webhooks": []}, manager="kubectl-edit")
        await until(lambda: rig.said("error"))
        tried = plane.requests
        await until(lambda: plane.requests > tried + 1)
        plane.refused.clear()
        await until(lambda: plane.operations("Toy"))

    assert len(rig.said("warning")) == 1


async def test_write_of_unnamed_client_is_put_back(rig: Rig, clock: Clock) -> None:
    """The API server takes the field manager from the User-Agent, and leaves it out where there is none."""
    plane = rig.plane
    async with rig.registrar() as registrar:
        await until(lambda: plane.applied and registrar.in_step)
        plane.write(CONFIGURATIONS, NAME, {**plane.configuration, "webhooks": []}, manager=None)
        await clock.passes(SOON)
        await until(lambda: len(plane.applied) == 1 + 1)

    assert "changed by a client without a name" in rig.said("warning")[0]


async def test_internal_error_is_logged_and_survived(
    rig: Rig, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    async with rig.registrar():
        await until(lambda: rig.plane.applied)
        with monkeypatch.context() as patch:
            patch.setattr("karta_interpreter.webhook.registration.registrar.left_out", fail)
            rig.define(DOLL)
            await until(lambda: "ZeroDivisionError" in caplog.text)
        await clock.advance(MINUTE)
        await until(lambda: rig.plane.operations("Doll"))


async def test_insistent_writer_is_logged(rig: Rig, clock: Clock) -> None:
    plane = rig.plane

    def insist() -> None:
        url = {"clientConfig": {"url": "https://rival.example/interpret"}}
        theirs = {"webhooks": [{**webhook, **url} for webhook in plane.configuration["webhooks"]]}
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: plane.write(CONFIGURATIONS, NAME, theirs, manager="karta-interpreter"))

    plane.on_apply = insist
    async with rig.registrar() as registrar:
        await until(lambda: rig.said("error"))
        assert not registrar.in_step
        assert len(plane.applied) == 1 + 5, "what was registered, and how often it is put back without a pause"
        await clock.passes(SOON)
        assert len(plane.applied) == 1 + 5
        await clock.advance(MINUTE)
        await until(lambda: len(plane.applied) > 1 + 5)
        plane.on_apply = lambda: None
        await clock.advance(MINUTE)
        await until(lambda: "rival" not in str(plane.configuration["webhooks"]))

    assert "changed by another karta-interpreter, to call https://rival.example/interpret" in rig.said("error")[0]
    assert "--registration-name" in rig.said("error")[0]


@pytest.mark.parametrize(
    ("method", "status", "hint"),
    [
        pytest.param("PATCH", 403, '"verbs": ["create", "patch"]', id="no right to write"),
        pytest.param("PATCH", 404, "that of karmada-apiserver", id="the wrong API server", marks=pytest.mark.slow),
        pytest.param("PATCH", 500, "500", id="a server that fails", marks=pytest.mark.slow),
        pytest.param("GET", 401, "renew the token", id="credentials that have ended"),
    ],
)
async def test_failed_apply_is_logged_once_and_retried(
    rig: Rig, clock: Clock, method: str, status: int, hint: str
) -> None:
    rig.plane.refused[method, CONFIGURATIONS] = status
    async with rig.registrar() as registrar:
        await until(lambda: rig.said("error"))
        await clock.passes(SOON)
        (message,) = rig.said("error")
        assert not registrar.in_step
        rig.plane.refused.clear()
        await until(lambda: rig.plane.operations("Toy"))
        await until(lambda: registrar.in_step)

    assert message.startswith("cannot register: ")
    assert hint in message
    assert rig.said("info") == [f"registered 1 kind as {NAME}"]


@pytest.mark.usefixtures("impatient")
async def test_without_a_look_at_crds_everything_is_registered(rig: Rig) -> None:
    rig.plane.write(CRDS, "toys", crd("Toy", status=False))
    rig.plane.refused["GET", CRDS] = 403
    async with rig.registrar():
        await until(lambda: rig.plane.operations("Toy"))
        assert "AggregateStatus" in (rig.plane.operations("Toy") or ())
        (warning,) = rig.said("warning")
        assert warning.startswith("kinds are registered without a look at their CRDs: ")

        rig.plane.refused.clear()
        await until(lambda: "AggregateStatus" not in (rig.plane.operations("Toy") or ()))


@pytest.mark.usefixtures("impatient")
async def test_without_a_look_at_configurations_it_is_applied_once(rig: Rig, clock: Clock) -> None:
    rig.plane.refused["GET", CONFIGURATIONS] = 403
    async with rig.registrar():
        await until(lambda: rig.plane.operations("Toy"))
        await clock.passes(SOON)

    assert len(rig.plane.applied) == 1
    assert rig.said("warning")[0].startswith("changes by others go unnoticed: ")


async def test_server_missing_at_start_is_retried(rig: Rig, clock: Clock) -> None:
    rig.plane.available = False
    async with rig.registrar():
        await until(lambda: rig.said("error"))
        await clock.passes(SOON)
        assert len(rig.said("error")) == 1
        rig.plane.available = True
        await until(lambda: rig.plane.operations("Toy"))


async def test_server_that_comes_back_is_caught_up_with(rig: Rig) -> None:
    plane = rig.plane
    async with rig.registrar():
        await until(lambda: plane.operations("Toy"))
        plane.break_off(available=False)
        rig.define(DOLL)
        plane.write(CRDS, "toys", crd("Toy", status=False))
        await until(lambda: rig.said("error"))
        plane.available = True
        await until(lambda: plane.operations("Doll"))
        await until(lambda: "AggregateStatus" not in (plane.operations("Toy") or ()))


async def test_compacted_history_is_read_anew(rig: Rig) -> None:
    plane = rig.plane
    async with rig.registrar():
        await until(lambda: plane.operations("Toy"))
        plane.compact()
        plane.write(CONFIGURATIONS, NAME, {"webhooks": []})
        await until(lambda: plane.operations("Toy"))

    assert plane.lists.count(CONFIGURATIONS) == 2
