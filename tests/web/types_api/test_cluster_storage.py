"""Types as Kartas of a cluster: a real server, and an API server that can be told to misbehave."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from karta_interpreter.web.types_api.records import CATEGORY, ID, PRIORITY, REVISION, type_id
from tests.definitions.sources.scripted_api import KARTAS, Handler, serving, status, write_kubeconfig
from tests.support.waiting import HANG, PAUSE
from tests.web.types_api.karta_api import KartaApi
from tests.web.types_api.types_server import (
    TOKEN,
    TYPES,
    Answer,
    TypesClient,
    in_process,
    karta,
    running,
    workload,
    workload_type,
)

V1, V2 = "grainmill-v1.mill.example.org", "grainmill-v2.mill.example.org"
ADA, GRACE, NOBODY = "reader-token", "writer-token", "unknown-token"
TWO = workload_type("GrainMill", karta(), karta(version="v2"))


@asynccontextmanager
async def cluster(tmp_path: Path, **settings: Any) -> AsyncIterator[tuple[KartaApi, TypesClient]]:
    async with serving(KartaApi()) as api:
        assert isinstance(api, KartaApi)
        config = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        (tmp_path / "tokens").write_text(TOKEN)
        given = {"cluster": True, "kubeconfig": config, "types_token_file": tmp_path / "tokens"} | settings
        async with in_process(**given) as server:
            yield api, server


async def ask(server: TypesClient, method: str, path: str = TYPES, body: Any = None, **headers: Any) -> Answer:
    return await asyncio.to_thread(lambda: server.ask(method, path, body, **headers))


async def test_type_is_a_labelled_karta_for_each_version(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (api, server):
        answer = await ask(server, "POST", body=TWO)
        assert (answer.status, answer.json["versions"], answer.json["source"]) == (201, ["v1", "v2"], "api")
        assert api.kartas.keys() == {V1, V2}
        labels = [each["metadata"]["labels"] for each in api.kartas.values()]
        assert labels[0] == labels[1]
        assert (labels[0][ID], labels[0][CATEGORY], labels[0][PRIORITY]) == (answer.json["id"], "train", "medium")
        assert [await asyncio.to_thread(server.interpret, workload(version=each)) for each in ("v1", "v2")] == [3, 3]

        again = await ask(server, "POST", body=TWO)
        assert (again.status, again.headers["etag"]) == (200, answer.headers["etag"])
        path = answer.headers["location"]
        changed = await ask(server, "PUT", path, workload_type(priorityId="high"), If_Match=again.headers["etag"])
        assert (changed.status, changed.json["priorityId"], list(api.kartas)) == (200, "high", [V1])
        lost = await ask(server, "DELETE", path, If_Match=again.headers["etag"])
        gone = await ask(server, "DELETE", path, If_Match=changed.headers["etag"])
        assert (lost.status, gone.status, api.kartas) == (412, 204, {})
        assert await asyncio.to_thread(server.interpret, workload()) is None


async def test_kinds_that_differ_in_case_have_kartas_of_their_own(tmp_path: Path) -> None:
    shout = workload_type("GRAINMILL", karta("GRAINMILL"))
    async with cluster(tmp_path) as (api, server):
        first = await ask(server, "POST", body=workload_type())
        second = await ask(server, "POST", body=shout)
        again = await ask(server, "POST", body=shout)
        assert (first.status, second.status, again.status) == (201, 201, 200)
        assert (len(api.kartas), V1 in api.kartas) == (2, True)
        changed = await ask(server, "PUT", second.headers["location"], shout | {"priorityId": "high"})
        assert (changed.status, changed.json["name"], changed.json["priorityId"]) == (200, "GRAINMILL", "high")
        assert (await ask(server, "DELETE", second.headers["location"])).status == 204
        assert (await ask(server, "GET", first.headers["location"])).json == first.json


async def test_labels_that_others_change_are_seen_and_labels_of_others_stay(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (api, server):
        path = (await ask(server, "POST", body=workload_type())).headers["location"]
        labels = api.kartas[V1]["metadata"]["labels"]
        api.held(V1, labels={**labels, PRIORITY: "low", "run.ai/karta-kind": "GrainMill"})
        found = await ask(server, "GET", path)
        while found.json["priorityId"] != "low":
            found = await ask(server, "GET", path)
        assert "labels" not in found.json["resourceInterfaces"][0]["metadata"]
        assert (await ask(server, "PUT", path, workload_type(categoryId="build"))).status == 200
        assert api.kartas[V1]["metadata"]["labels"]["run.ai/karta-kind"] == "GrainMill"
        assert api.kartas[V1]["metadata"]["labels"][CATEGORY] == "build"


@pytest.mark.parametrize(
    ("metadata", "owner"),
    [
        pytest.param({"managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}]}, "kubectl", id="kubectl"),
        pytest.param(
            {"annotations": {"argocd.argoproj.io/tracking-id": "mills:run.ai/Karta:x/y"}},
            "the Argo CD application mills",
            id="Argo CD",
        ),
        pytest.param({}, "another client of the API server", id="nobody who says so"),
    ],
)
async def test_karta_of_another_owner_is_409(tmp_path: Path, metadata: Any, owner: str) -> None:
    async with cluster(tmp_path) as (api, server):
        api.put(KARTAS, "mine", karta()["spec"], **metadata)
        found: Any = {}
        while not found.get("types"):
            found = (await ask(server, "GET")).json
        (one,) = found["types"]
        assert (one["source"], one["owner"]) == ("cluster", owner)
        path = f"{TYPES}/{one['id']}"
        answers = [
            await ask(server, "POST", body=workload_type()),
            await ask(server, "PUT", path, workload_type()),
            await ask(server, "DELETE", path),
        ]
        assert [(each.status, each.json["owner"]) for each in answers] == [(409, owner)] * 3
        assert api.kartas.keys() == {"mine"}


async def test_type_that_gitops_has_taken_over_is_409(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (api, server):
        path = (await ask(server, "POST", body=workload_type())).headers["location"]
        labels = api.kartas[V1]["metadata"]["labels"]
        api.held(V1, labels={**labels, "kustomize.toolkit.fluxcd.io/name": "mills"})
        answer = await ask(server, "PUT", path, workload_type(priorityId="low"))
        assert (answer.status, answer.json["owner"]) == (409, "the Flux Kustomization mills")


async def test_interrupted_registration_is_completed_by_same_request(tmp_path: Path) -> None:
    async with serving(KartaApi()) as api:
        assert isinstance(api, KartaApi)
        config = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        process = running(tmp_path, "--cluster", "--kubeconfig", str(config), folder=False)
        server = await asyncio.to_thread(process.__enter__)

        async def killed(_: web.Request) -> web.StreamResponse:
            server.child.kill()
            return await status(500)(_)

        async def first(request: web.Request) -> web.StreamResponse:
            api.on("create", KARTAS, killed)
            return await api._created(request, await request.json())  # noqa: SLF001 - what it does otherwise

        try:
            api.on("create", KARTAS, first)
            with pytest.raises(ConnectionError):
                await ask(server, "POST", body=TWO)
        finally:
            await asyncio.to_thread(process.__exit__, None, None, None)
        assert list(api.kartas) == [V1]

        given = {"cluster": True, "kubeconfig": config, "types_token_file": tmp_path / "tokens"}
        async with in_process(**given) as after:
            other = await ask(after, "POST", body=workload_type(priorityId="low"))
            answer = await ask(after, "POST", body=TWO)
            assert (other.status, answer.status, answer.json["versions"]) == (409, 201, ["v1", "v2"])


async def test_interrupted_change_loses_no_version(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (api, server):
        path = (await ask(server, "POST", body=workload_type())).headers["location"]
        api.on("delete", f"{KARTAS}/{V1}", status(500, "InternalError"))
        wanted = workload_type("GrainMill", karta(version="v2"))
        assert (await ask(server, "PUT", path, wanted)).status == 503
        assert api.kartas.keys() == {V1, V2}
        assert len({each["metadata"]["labels"][REVISION] for each in api.kartas.values()}) == 2
        assert (await ask(server, "PUT", path, wanted)).json["versions"] == ["v2"]
        assert api.kartas.keys() == {V2}


async def test_interrupted_change_of_labels_is_completed_by_same_request(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (api, server):
        path = (await ask(server, "POST", body=TWO)).headers["location"]
        api.on("replace", f"{KARTAS}/{V2}", status(500, "InternalError"))
        wanted = {**TWO, "priorityId": "low"}
        assert [(await ask(server, "PUT", path, wanted)).status for _ in range(2)] == [503, 200]
        assert {each["metadata"]["labels"][PRIORITY] for each in api.kartas.values()} == {"low"}


async def test_replacing_takes_back_what_kubectl_has_edited(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (api, server):
        created = await ask(server, "POST", body=workload_type())
        path = created.headers["location"]
        api.put(KARTAS, V1, karta(scaleDefinition={"replicasPath": ".spec.other"})["spec"])
        while (found := await ask(server, "GET", path)).headers["etag"] == created.headers["etag"]:
            pass
        answer = await ask(server, "PUT", path, workload_type(), If_Match=found.headers["etag"])
        assert (answer.status, answer.headers["etag"]) == (200, created.headers["etag"])
        assert api.kartas[V1]["spec"] == karta()["spec"]


async def test_versions_of_another_owner_are_left_alone(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (api, server):
        created = await ask(server, "POST", body=workload_type())
        path = created.headers["location"]
        api.put(KARTAS, "mine", karta(version="v2")["spec"])
        while (taken := await ask(server, "PUT", path, TWO)).status != 409:
            assert taken.status == 200
            assert (await ask(server, "PUT", path, workload_type())).status == 200
        assert (await ask(server, "PUT", path, workload_type(priorityId="low"))).status == 200
        assert (await ask(server, "DELETE", path)).status == 204
        assert api.kartas.keys() == {"mine"}


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        pytest.param("SaltMill", "v1", id="for another kind"),
        pytest.param("GrainMill", "v2", id="for another version"),
        pytest.param("GrainMill", "v1", id="under another name"),
    ],
)
async def test_copy_with_labels_of_type_is_left_alone(tmp_path: Path, kind: str, version: str) -> None:
    async with cluster(tmp_path) as (api, server):
        path = (await ask(server, "POST", body=workload_type())).headers["location"]
        api.put(KARTAS, "mine", karta(kind, version=version)["spec"], labels=api.kartas[V1]["metadata"]["labels"])
        # Once the server has seen a copy for the same version, it says whose it is.
        assert (await ask(server, "PUT", path, workload_type(priorityId="low"))).status in {200, 409}
        assert (await ask(server, "DELETE", path)).status == 204
        assert api.kartas.keys() == {"mine"}
        copied = api.kartas["mine"]["spec"]["structureDefinition"]["rootComponent"]["kind"]
        assert (copied["kind"], copied["version"]) == (kind, version)


@pytest.mark.parametrize(
    ("verb", "method", "body"),
    [
        pytest.param("replace", "PUT", workload_type(priorityId="low"), id="that replaces"),
        pytest.param("delete", "DELETE", None, id="that deletes"),
    ],
)
async def test_overtaken_writer_is_412(tmp_path: Path, verb: str, method: str, body: Any) -> None:
    async with cluster(tmp_path) as (api, server):
        path = (await ask(server, "POST", body=workload_type())).headers["location"]

        async def overtaken(request: web.Request) -> web.StreamResponse:
            api.held(V1, annotations={"by": "another"})
            return await api._one(verb, V1, request, await request.json())  # noqa: SLF001 - the same

        api.on(verb, f"{KARTAS}/{V1}", overtaken)
        answer = await ask(server, method, path, body)
        assert answer.status == 412
        assert api.kartas[V1]["metadata"]["labels"][PRIORITY] == "medium"


async def test_status_written_meanwhile_is_not_a_change(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (api, server):
        path = (await ask(server, "POST", body=workload_type())).headers["location"]

        def reporting(verb: str) -> Handler:
            async def act(request: web.Request) -> web.StreamResponse:
                api.held(V1, generation=7)
                return await api._one(verb, V1, request, await request.json())  # noqa: SLF001 - the same

            return act

        for verb in ("replace", "delete"):
            api.on(verb, f"{KARTAS}/{V1}", reporting(verb), times=2)
        assert (await ask(server, "PUT", path, workload_type(priorityId="low"))).json["priorityId"] == "low"
        assert (await ask(server, "DELETE", path)).status == 204


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(403, 503, id="RBAC does not allow this server to write"),
        pytest.param(422, 422, id="another admission webhook denies it"),
        pytest.param(500, 503, id="the API server fails"),
    ],
)
async def test_refusal_of_api_server_is_reported(tmp_path: Path, code: int, expected: int) -> None:
    async with cluster(tmp_path) as (api, server):
        api.on("create", KARTAS, status(code, "As", "this is why"))
        answer = await ask(server, "POST", body=workload_type())
        assert (answer.status, "this is why" in answer.json["detail"]) == (expected, True)
        assert (await ask(server, "POST", body=workload_type())).status == 201


async def test_type_without_room_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karta_interpreter.definitions.sources.budget.MOST", 100)
    async with cluster(tmp_path) as (api, server):
        answer = await ask(server, "POST", body=workload_type())
        assert (answer.status, "no room for the type" in answer.json["detail"]) == (413, True)
        assert not api.requests("create", KARTAS)


async def test_kubernetes_decides_who_may(tmp_path: Path) -> None:
    async with cluster(tmp_path, types_token_file=None) as (api, server):
        api.users = {ADA: "ada", GRACE: "grace"}
        api.allowed = {"ada": {"get", "list"}, "grace": {"get", "list", "create"}}
        answers = [
            await ask(server, "GET", token=ADA),
            await ask(server, "POST", body=workload_type(), token=ADA),
            await ask(server, "POST", body=workload_type(), token=GRACE),
            await ask(server, "GET", token=NOBODY),
        ]
        assert [each.status for each in answers] == [200, 403, 201, 401]
        assert "ada may not create kartas.run.ai" in answers[1].json["detail"]


async def test_nothing_is_said_of_types_before_the_kartas_are_read(tmp_path: Path) -> None:
    async with serving(KartaApi()) as api:
        assert isinstance(api, KartaApi)
        api.put(KARTAS, V1, karta()["spec"])
        api.on("get", KARTAS, status(503), times=1000)
        config = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        (tmp_path / "tokens").write_text(TOKEN)
        async with in_process(cluster=True, kubeconfig=config, types_token_file=tmp_path / "tokens") as server:
            path = f"{TYPES}/{type_id('mill.example.org', 'GrainMill')}"
            for method, where in (("GET", TYPES), ("GET", path), ("DELETE", path), ("GET", "/readyz")):
                assert (await ask(server, method, where)).status == 503, where
            assert (await ask(server, "GET", "/healthz")).status == 200
            api.behave()
            async with asyncio.timeout(HANG):
                while (await ask(server, "GET", "/readyz")).status != 200:  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(PAUSE)
            assert (await ask(server, "GET", path)).status == 200
