"""The registration follows customizations and other webhooks that answer a half of the counts."""

from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.store import Store
from tests.support.waiting import Clock, until
from tests.webhook.registration.control_plane import CONFIGURATIONS, CUSTOMIZATIONS
from tests.webhook.registration.rig import DOLL, Rig

LWS = GVK("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet")
AGREE = "karta-interpreter.io/counts-agree"
GROUPS = "function GetReplicas(obj) return obj.spec.replicas or 1, nil end"
PODS = "function GetReplicas(obj) return (obj.spec.replicas or 1) * (obj.spec.leaderWorkerTemplate.size or 1), nil end"
ENDLESS = "function GetReplicas(obj) while true do end end"
SOON = 3.0


def customization(text: str, gvk: GVK = LWS, agree: str | None = None, field: str = "replicaResource") -> Any:
    return {
        "metadata": {"annotations": {AGREE: agree} if agree else {}},
        "spec": {"target": gvk.type_meta, "customizations": {field: {"luaScript": text}}},
    }


def foreign(agree: str | None = None) -> Any:
    rule = {"apiGroups": [LWS.group], "apiVersions": ["*"], "kinds": ["*"], "operations": ["InterpretReplica"]}
    return {
        "metadata": {"annotations": {AGREE: agree} if agree else {}},
        "webhooks": [{"name": "w.example.com", "clientConfig": {"url": "https://x.example"}, "rules": [rule]}],
    }


@pytest.fixture
def catalogue(rig: Rig) -> Rig:
    rig.store = Store([rig.folder], catalogue=True)
    rig.store.load()
    return rig


def divides(rig: Rig) -> Callable[[], bool]:
    return lambda: "ReviseReplica" in (rig.plane.operations(LWS.kind) or ())


def whole(rig: Rig) -> Callable[[], bool]:
    return lambda: "ReviseReplica" not in (rig.plane.operations(LWS.kind) or ("ReviseReplica",))


@pytest.mark.usefixtures("hurried")
async def test_customization_that_comes_and_goes_is_followed(catalogue: Rig) -> None:
    rig, plane = catalogue, catalogue.plane
    async with rig.registrar():
        await until(divides(rig))

        plane.write(CUSTOMIZATIONS, "pods", customization(PODS))
        await until(whole(rig))
        (warning,) = [line for line in rig.said("warning") if "LeaderWorkerSet" in line]
        assert "the ResourceInterpreterCustomization pods answers InterpretReplica" in warning
        assert "Karmada sends the whole workload to each member" in warning

        plane.write(CUSTOMIZATIONS, "pods", customization(PODS, agree="true"))
        await until(divides(rig))
        plane.write(CUSTOMIZATIONS, "pods", customization(GROUPS, agree="false"))
        await until(whole(rig))
        plane.write(CUSTOMIZATIONS, "pods", customization(GROUPS))
        await until(divides(rig))
        plane.write(CUSTOMIZATIONS, "pods", customization(PODS))
        await until(whole(rig))
        plane.remove(CUSTOMIZATIONS, "pods")
        await until(divides(rig))


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        pytest.param(customization(PODS), whole, id="pods"),
        pytest.param(customization(GROUPS), divides, id="groups"),
        pytest.param(customization(ENDLESS), whole, id="unknown: nothing begins"),
        pytest.param(customization("-" * 300_000), whole, id="too long to run here: nothing begins"),
    ],
)
async def test_new_registration_looks_at_customizations_first(
    catalogue: Rig, clock: Clock, obj: Any, expected: Callable[[Rig], Callable[[], bool]]
) -> None:
    catalogue.plane.write(CUSTOMIZATIONS, "theirs", obj)
    async with catalogue.registrar():
        await until(lambda: catalogue.plane.operations(LWS.kind))
        await until(expected(catalogue))
        await clock.passes(SOON)
        assert expected(catalogue)()
    assert "ReviseReplica" not in _operations(catalogue.plane.applied[0], LWS)


@pytest.mark.usefixtures("hurried")
async def test_what_is_registered_stays_while_nothing_is_known(catalogue: Rig, clock: Clock) -> None:
    rig = catalogue
    async with rig.registrar():
        await until(divides(rig))
        rig.plane.write(CUSTOMIZATIONS, "endless", customization(ENDLESS))
        rig.plane.write(CONFIGURATIONS, "another", foreign())
        # Other kinds do not wait for it.
        rig.define(DOLL)
        await until(lambda: rig.plane.operations("Doll"))
        await clock.passes(SOON)
        assert divides(rig)()


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("comes_first", [False, True])
async def test_kind_without_examples_stays_until_its_annotation_says_more(rig: Rig, *, comes_first: bool) -> None:
    def is_divided() -> bool:
        return "ReviseReplica" in (rig.plane.operations("Doll") or ())

    def is_whole() -> bool:
        return "ReviseReplica" not in (rig.plane.operations("Doll") or ("ReviseReplica",))

    def asks() -> bool:
        return any(f"{AGREE}" in line and "no example of the kind" in line for line in rig.said("warning"))

    if comes_first:
        rig.plane.write(CUSTOMIZATIONS, "dolls", customization(GROUPS, DOLL))
    rig.define(DOLL)
    async with rig.registrar():
        await until(is_whole if comes_first else is_divided)
        rig.plane.write(CUSTOMIZATIONS, "dolls", customization(GROUPS, DOLL))
        await until(asks)
        assert (is_whole if comes_first else is_divided)()
        for agree, happens in (("true", is_divided), ("false", is_whole), ("true", is_divided)):
            rig.plane.write(CUSTOMIZATIONS, "dolls", customization(GROUPS, DOLL, agree=agree))
            await until(happens)


@pytest.mark.usefixtures("hurried")
async def test_webhook_that_comes_first_cannot_be_run(catalogue: Rig) -> None:
    rig = catalogue
    rig.plane.write(CONFIGURATIONS, "another", foreign())
    async with rig.registrar():
        await until(whole(rig))
        rig.plane.write(CONFIGURATIONS, "another", foreign("true"))
        await until(divides(rig))
        rig.plane.write(CONFIGURATIONS, "another", foreign("false"))
        await until(whole(rig))


@pytest.mark.slow  # the server waits half a minute for them
@pytest.mark.usefixtures("hurried")
async def test_customizations_that_may_not_be_read_are_none_and_a_warning(catalogue: Rig) -> None:
    rig = catalogue
    rig.plane.write(CUSTOMIZATIONS, "pods", customization(PODS))
    rig.plane.refused["GET", CUSTOMIZATIONS] = 403
    async with rig.registrar():
        await until(divides(rig))
    assert any("without a look at the customizations" in line for line in rig.said("warning"))


@pytest.mark.usefixtures("hurried")
async def test_replicas_agree_about_others(catalogue: Rig, clock: Clock) -> None:
    rig = catalogue
    rig.plane.write(CUSTOMIZATIONS, "groups", customization(GROUPS))
    async with rig.registrar(), rig.registrar(), rig.registrar():
        await until(divides(rig))
        rig.plane.write(CUSTOMIZATIONS, "groups", customization(PODS))
        await until(whole(rig))
        await clock.passes(SOON)
        assert whole(rig)()
    assert rig.said("error") == []


def _operations(configuration: Any, gvk: GVK) -> list[str]:
    rules = (rule for webhook in configuration["webhooks"] for rule in webhook["rules"])
    (operations,) = (rule["operations"] for rule in rules if rule["kinds"] == [gvk.kind])
    return list(operations)
