"""The JSON API: the catalogue, its kinds, and answers."""

import io
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer

from karta_interpreter.base.errors import ServeError
from karta_interpreter.definitions.karta.loading import load_documents
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot, SourceDefinitions, combine
from karta_interpreter.web.console.application import Console, ConsoleSources
from karta_interpreter.web.console.catalogue import page
from karta_interpreter.web.console.questions import QuestionError
from tests.support.settling import processes_of
from tests.web.console.conftest import Ask
from tests.web.console.test_answers import KARTA, OBJECT

pytestmark = pytest.mark.catalogue

RAY = Path(__file__).parents[3] / "kartas" / "ray.io" / "v1" / "RayCluster" / "karta.yaml"
Get = Callable[[str], Awaitable[ClientResponse]]


async def test_page_starts_with_the_given_texts(get: Get) -> None:
    found = await (await get("/api/start")).json()
    assert found["texts"] == {"karta": "the Karta", "object": "the object", "kind": ""}
    assert found["hasMember"]


async def test_report_about_a_saved_folder_is_shown(get: Get) -> None:
    assert await (await get("/api/member")).json() == {"kinds": []}


async def test_catalogue_lists_all_kinds(get: Get, snapshot: Snapshot) -> None:
    rows = await (await get("/api/kinds")).json()
    assert {each["suspend"] for each in rows} == {True, False}
    assert [(row["apiVersion"], row["kind"]) for row in rows] == [
        (each.api_version, each.kind) for each in snapshot.kinds()
    ]
    (row,) = [each for each in rows if each["kind"] == "RayCluster"]
    assert row["writtenFrom"].startswith("KubeRay")
    assert row["compared"] > 0
    assert row["components"] == ["head", "worker"]
    assert "InterpretComponent" not in row["operations"]
    assert "InterpretComponent" in row["operationsWithMultiplePodTemplatesScheduling"]


async def test_kind_has_text_examples_and_comparisons(get: Get) -> None:
    found = await (await get("/api/kinds/ray.io/v1/RayCluster")).json()
    assert found["text"] == RAY.read_text(encoding="utf-8")
    assert found["examples"][0]["object"].startswith("apiVersion: ray.io/v1\nkind: RayCluster\n")
    assert {each["controller"].split()[0] for each in found["compared"]} == {"kuberay", "kueue"}
    assert found["reports"], "statuses for the clusters of an aggregation"


def test_kind_of_a_folder_has_the_cases_next_to_it(tmp_path: Path) -> None:
    (tmp_path / "testdata" / "objects").mkdir(parents=True)
    (tmp_path / "karta.yaml").write_text(KARTA)
    (tmp_path / "testdata" / "objects" / "1.yaml").write_text(OBJECT)
    case = "name: three\noperation: InterpretReplica\ndesiredObj: objects/1.yaml\noutput: {replica: 3}\n"
    (tmp_path / "testdata" / "suite.yaml").write_text(f"{case}---\n{case.replace('objects/1.yaml', '{kind: Job}')}")
    (tmp_path / "testdata" / "other.yaml").write_text("name: {")
    (loaded,) = load_documents(KARTA, str(tmp_path / "karta.yaml"))
    found = page(ServedDefinition(loaded.usable(), str(tmp_path)))

    assert [each["name"] for each in found["examples"]] == ["three"]
    assert "replicas: 3" in found["examples"][0]["object"]


def test_karta_of_a_cluster_has_no_field_that_server_or_kubectl_adds() -> None:
    added = "  uid: u\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{}'\n"
    (loaded,) = load_documents(KARTA.replace("  annotations:\n", added), "")
    text = page(ServedDefinition(loaded.usable(), "cluster"))["text"]
    own = {"name": "crawler", "annotations": {"karta-interpreter.io/retain": ".spec.seed"}}
    assert yaml.safe_load(text)["metadata"] == own


@pytest.mark.parametrize("path", ["v1/Pod", "apps/v1/Deployment"])
async def test_core_kinds_have_a_page(get: Get, path: str) -> None:
    assert (await get(f"/api/kinds/{path}")).status == 200


@pytest.mark.parametrize("name", ["ray.io/v1beta1/RayCluster", "ray.io/v1/RayClustr", "RayCluster"])
async def test_unknown_kind_names_one_like_it(get: Get, name: str) -> None:
    answer = await get(f"/api/kinds/{name}")
    assert (answer.status, (await answer.json())["error"].endswith("; there is ray.io/v1/RayCluster")) == (404, True)


@pytest.mark.parametrize(
    "path", ["/api/kinds/v1/Nothing", "/api/kinds/a/b/c/Pod", "/api/kinds/Nothing", "/api/nothing", "/assets/none.js"]
)
async def test_missing_address_is_an_error_in_json(get: Get, path: str) -> None:
    response = await get(path)
    assert response.status == 404
    assert (await response.json())["error"]


@pytest.mark.parametrize(
    ("path", "program"),
    [("/healthz", "serve"), ("/metrics", "serve"), ("/interpret", "serve"), ("/api/v1/workload-types", "types-api")],
)
async def test_path_of_another_program_names_it(get: Get, path: str, program: str) -> None:
    response = await get(path)
    assert response.status == 404
    assert f"`karta-interpreter {program}` answers at this path" in (await response.json())["error"]


async def test_method_that_a_path_does_not_take_gets_those_that_it_takes(get: Get) -> None:
    response = await get("/api/answers")
    assert response.status == 405
    assert await response.json() == {"error": "this path takes POST"}


@pytest.mark.parametrize("name", ["secret.txt", "..%2Findex.html", "index.html", "%00.js", f"{'a' * 300}.js"])
async def test_assets_are_those_of_the_page(get: Get, name: str) -> None:
    assert (await get(f"/assets/{name}")).status == 404


@pytest.mark.parametrize("path", ["/", "/catalogue", "/catalogue/apps/v1/Deployment", "/member", "/nope/at-all"])
async def test_pages_can_be_opened_by_address(client: TestClient[Any, Any], path: str) -> None:
    assert "csp-nonce" in await (await client.get(path)).text()


async def test_answers_come_from_another_process(ask: Ask, console: Console) -> None:
    page = await ask(karta=KARTA, object=OBJECT)
    assert page["answers"][0]["results"]["replica"] == 3
    assert processes_of(console.questions.pool)


@pytest.mark.parametrize(
    "body",
    [
        *("", "[]", '{"karta": 1}', "[" * 5000, "\ud800"),
        *('{"case": "Foo"}', '{"options": {"podRequest": "karmada"}}', '{"options": {"podRequests": "Karmada"}}'),
        '{"options": {"resourceQuotaEstimate": "false"}}',
    ],
)
async def test_unreadable_body_is_rejected(client: TestClient[Any, Any], console: Console, body: str) -> None:
    headers = {"Authorization": f"Bearer {console.token}", "Content-Type": "application/json"}
    response = await client.post("/api/answers", data=body.encode(errors="surrogatepass"), headers=headers)
    assert response.status == 400
    assert processes_of(console.questions.pool) == frozenset(), "no process has seen it"


async def test_stopped_answer_is_a_document(ask: Ask, console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stopped(_: bytes) -> bytes:
        raise QuestionError("there is no answer: it takes longer than 3 s")

    monkeypatch.setattr(console.questions, "ask", stopped)
    page = await ask(karta=KARTA, object=OBJECT)
    assert page == {
        "findings": [],
        "problems": {},
        "answers": [],
        "stopped": "there is no answer: it takes longer than 3 s",
    }


async def test_too_large_body_is_rejected(client: TestClient[Any, Any], console: Console) -> None:
    headers = {"Authorization": f"Bearer {console.token}", "Content-Type": "application/json"}
    response = await client.post("/api/answers", data=io.BytesIO(b" " * 5 * 2**20), headers=headers)
    assert response.status == 413


async def test_definition_of_a_file_is_among_the_kinds(static: Path) -> None:
    entries = [ServedDefinition(each.usable(), "crawler.yaml") for each in load_documents(KARTA, "crawler.yaml")]
    console = Console(ConsoleSources(combine([SourceDefinitions(tuple(entries))])), static=static)
    headers = {"Authorization": f"Bearer {console.token}"}
    async with TestClient(TestServer(console.application)) as client:
        (row,) = await (await client.get("/api/kinds", headers=headers)).json()
        page = await (await client.get("/api/kinds/example.io/v1/Crawler", headers=headers)).json()
    await console.close()

    assert (row["kind"], row["origin"]) == ("Crawler", "crawler.yaml")
    assert [each.name for each in load_documents(page["text"], "")] == ["crawler"]


def test_without_the_built_page_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ServeError, match="run `make console`"):
        Console(ConsoleSources(Snapshot()), static=tmp_path)
