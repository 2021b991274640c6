"""What one client may take of the server: the work of its requests and the bytes of their answers, counted."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
import uvloop
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Request, Response

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.web.types_api import api, application as application_module, view
from karta_interpreter.web.types_api.application import USER, ClientLimits, application, read
from karta_interpreter.web.types_api.listing import MOST_BYTES, MOST_CONDITIONS, ListQuery
from karta_interpreter.web.types_api.models import ApiError, Choices, WorkloadType, WorkloadTypes
from karta_interpreter.web.types_api.openapi import OPERATIONS
from karta_interpreter.web.types_api.records import Record
from karta_interpreter.web.types_api.view import Row, View
from tests.support.rows import rows
from tests.support.waiting import HANG, until
from tests.web.types_api.types_server import TOKEN, TYPES, TypesServer, in_process, in_thread, karta, workload_type

MANY = 300
UNKNOWN: dict[str, Any] = {f"field{number}": 0 for number in range(MANY)}


@pytest.mark.parametrize(
    ("body", "status", "name", "total"),
    [
        pytest.param(workload_type("ManyMill") | UNKNOWN, 422, "errors", MANY, id="fields of the body"),
        pytest.param(workload_type("ManyMill") | {"x" * 500_000: 0}, 422, "errors", 1, id="a long name"),
        pytest.param(workload_type("ManyMill", karta("ManyMill", **UNKNOWN)), 200, "findings", MANY,
            id="fields of a Karta"),
        pytest.param(workload_type("ManyMill", karta("ManyMill", **UNKNOWN, specDefinition=1)), 422, "errors",
            MANY + 1, id="an error among warnings"),
    ],
)  # fmt: skip
def test_answer_has_the_first_50_findings_and_the_count_of_all(
    server: TypesServer, body: Any, status: int, name: str, total: int
) -> None:
    answer = server.post(body, f"{TYPES}:validate")
    assert (answer.status, answer.json[f"{name}Total"]) == (status, total)
    found = answer.json[name]
    assert (len(found), found[0]["severity"]) == (min(total, 50), "error" if status == 422 else "warning")
    assert len(answer.body) < 50 * 500


def test_large_bodies_are_decoded_in_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[tuple[int, int | None]] = []
    loads = orjson.loads

    def spy(text: bytes) -> Any:
        decoded.append((len(text), threading.get_ident()))
        return loads(text)

    with in_thread(tmp_path) as server:
        (loop,) = (each.ident for each in threading.enumerate() if each.name.endswith("(run)"))
        path = f"{TYPES}/{server.post(workload_type()).json['id']}"
        monkeypatch.setattr(orjson, "loads", spy)
        note = {"annotations": {"example.org/note": "x" * 100_000}}
        large = workload_type("GrainMill", karta() | {"metadata": note})
        answers = [server.ask("PUT", path, large), server.post(large, f"{TYPES}:validate")]
        assert [each.status for each in answers] == [200] * 2
    assert [size for size, thread in decoded if thread == loop and size > 1000] == []


def row(name: str) -> Row:
    return Row(name, "mill.example.org", name, None, None, "api", "", True, (), ())


@rows(
    ("size", "pages"),
    [
        pytest.param(MOST_BYTES // 3 - 2, [3, 3, 3, 1], id="as many as there is room for"),
        pytest.param(MOST_BYTES + 1, [1] * 10, id="one in any case"),
        pytest.param(10, [4, 4, 2], id="the limit of the request"),
    ],
)
def test_pages_end_before_their_limit_of_bytes(size: int, pages: list[int]) -> None:
    rows = [row(f"Mill{number}") for number in range(10)]
    encoded: list[str] = []

    def encode(each: Row) -> bytes:
        encoded.append(each.name)
        return orjson.dumps(each.name.ljust(size))

    found, names, offset = [], list[str](), 0
    while offset is not None:
        page = json.loads(ListQuery(offset=offset, limit=4).page(rows, encode))
        assert (page["total"], page["offset"]) == (10, offset)
        found.append(len(page["types"]))
        names += [each.strip() for each in page["types"]]
        # A client that adds the limit of the answer gets to the same page.
        assert page["nextOffset"] in (None, page["offset"] + page["limit"])
        offset = page["nextOffset"]
    assert (found, names) == (pages, [each.name for each in rows])
    # One of each page is encoded in vain at most.
    assert len(encoded) <= len(rows) + len(pages)


def test_filter_has_a_limited_number_of_conditions() -> None:
    conditions = ["name!=x"] * MOST_CONDITIONS
    choices = Choices.of(["Train"], ["low=40"])
    assert len(ListQuery.of([("filterBy", ",".join(conditions))], choices).tests) == MOST_CONDITIONS
    with pytest.raises(ApiError) as error:
        ListQuery.of([("filterBy", ",".join(conditions)), ("filterBy", "name!=y")], choices)
    assert error.value.status == 400


def test_answers_are_as_the_description_has_them(server: TypesServer) -> None:
    answer = server.post(workload_type("ShapeMill"))
    assert WorkloadType.model_validate_json(answer.body).name == "ShapeMill"
    listed = server.get(f"{TYPES}?filterBy=name==ShapeMill").body
    assert WorkloadTypes.model_validate_json(listed).types == [WorkloadType.model_validate_json(answer.body)]


class _Sources:
    """A place with a Karta for each kind."""

    is_known = True

    def __init__(self, kinds: list[str]) -> None:
        self.present: dict[str, Any] = {kind: karta(kind) for kind in kinds}

    def sources(self) -> dict[str, Any]:
        return self.present

    def records(self, source: Any) -> tuple[Record, ...]:
        kind = source["spec"]["structureDefinition"]["rootComponent"]["kind"]["kind"]
        return (Record(GVK("mill.example.org", "v1", kind), source, "cluster"),)


async def test_change_of_one_type_makes_one_row_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = _Sources([f"Mill{number}" for number in range(MANY)])
    store: Any = SimpleNamespace(snapshot=Snapshot())
    types = View(store, storage)  # type: ignore[arg-type]  # it reads only
    before = {each.name: each for each in (await types.rows()).values()}
    made: list[str] = []
    make = view._row  # noqa: SLF001 - counted

    def spy(key: str, *records: Any, **rest: Any) -> Row:
        made.append(key)
        return make(key, *records, **rest)

    monkeypatch.setattr(view, "_row", spy)

    storage.present = {**storage.present, "Mill7": karta("Mill7", scaleDefinition={})}
    changed = {each.name: each for each in (await types.rows()).values()}
    assert len(made) == 1
    assert [name for name, each in changed.items() if each is not before[name]] == ["Mill7"]

    storage.present = {name: each for name, each in storage.present.items() if name != "Mill9"}
    store.snapshot = Snapshot()
    after = {each.name: each for each in (await types.rows()).values()}
    assert (len(made), changed.keys() - after.keys(), len(after)) == (1, {"Mill9"}, MANY - 1)

    listed = await types.rows()
    store.snapshot = Snapshot()
    assert await types.rows() is not listed, "the types of other sources are looked at, too"


class _Users:
    async def user(self, token: str) -> str:
        return token

    async def authorize(self, token: str, verb: str) -> None:
        pass


async def test_requests_of_one_user_leave_room_for_those_of_others() -> None:
    begun: list[str] = []
    end = asyncio.Event()

    async def handler(request: Request) -> Response:
        begun.append(request.match_info[USER])
        await end.wait()
        return Response()

    handlers = {operation.name: handler for operation in OPERATIONS}
    made = application(handlers, _Users(), ClientLimits(1000))  # type: ignore[arg-type]  # as many users as tokens
    async with TestClient(TestServer(made)) as client:

        async def ask(user: str) -> int:
            async with client.get(TYPES, headers={"Authorization": f"Bearer {user}"}) as answer:
                return answer.status

        tasks = [asyncio.create_task(ask(user)) for user in (*["eve"] * 5, "ada")]
        await until(lambda: "ada" in begun)
        assert begun.count("eve") == 2
        end.set()
        assert await asyncio.gather(*tasks) == [200] * 6


async def test_body_that_does_not_come_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karta_interpreter.web.types_api.application._BODY_SECONDS", 0.01)

    async def handler(request: Request) -> Response:
        return Response(body=await read(request))

    handlers = {operation.name: handler for operation in OPERATIONS}
    made = application(handlers, _Users(), ClientLimits(1000))  # type: ignore[arg-type]  # as many users as tokens
    async with TestServer(made) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        fields = "Host: x\r\nAuthorization: Bearer ada\r\nContent-Type: application/json\r\nContent-Length: 9"
        writer.write(f"POST {TYPES} HTTP/1.1\r\n{fields}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 400")
        writer.close()


async def test_head_that_does_not_come_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karta_interpreter.web.types_api.api._HEAD_SECONDS", 0.01)
    (tmp_path / "tokens").write_text(f"{TOKEN} ada\n")
    async with in_process(types_folder=tmp_path, types_token_file=tmp_path / "tokens") as server:
        address = urlsplit(server.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(f"GET {TYPES} HTTP/1.1\r\nHost".encode())
        async with asyncio.timeout(HANG):
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
        writer.close()


async def test_requests_without_user_have_a_bounded_number_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    now, lines = [0.0], list[dict[str, Any]]()

    def write(_: str, **fields: Any) -> None:
        lines.append(fields)

    monkeypatch.setattr(application_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(application_module, "log", SimpleNamespace(info=write, debug=write))

    async def handler(_: Request) -> Response:
        return Response()

    handlers = {operation.name: handler for operation in OPERATIONS}
    made = application(handlers, _Users(), ClientLimits(10_000))  # type: ignore[arg-type]  # as many users as tokens
    async with TestClient(TestServer(made)) as client:
        for _ in range(MANY):
            assert (await client.get(TYPES)).status == 401
        assert len(lines) == 100
        # A line about a known user is never left out, and the count is in the next line.
        assert (await client.get(TYPES, headers={"Authorization": "Bearer ada"})).status == 200
        assert (lines[100]["who"], lines[100]["omitted"]) == ("ada", MANY - 100)
        now[0] += 1.0
        for _ in range(3):
            await client.get(TYPES)
        assert [line["who"] for line in lines[101:]] == ["unknown"]


def test_misspelt_field_of_a_filter_is_named_with_the_fields() -> None:
    with pytest.raises(ApiError) as raised:
        ListQuery.of([("filterBy", "nmae==x")], Choices.of(["Train"], ["low=40"]))
    (problem,) = raised.value.problem.errors or []
    assert problem.detail == 'there is no field "nmae": did you mean name?'
    assert "fields are name, group, categoryId, priorityId, source" in (problem.hint or "")


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("begin", [b"G", b"GET /healthz HTTP/1.1\r\nHost: a\r\n"], ids=["a byte", "lines"])
def test_head_that_stops_after_its_first_packet_ends_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[[Coroutine[Any, Any, None]], None], begin: bytes
) -> None:
    """The program runs on uvloop, where the packet comes before aiohttp waits for it."""
    monkeypatch.setattr(api, "_HEAD_SECONDS", 0.1)
    types, tokens = tmp_path / "types", tmp_path / "tokens"
    types.mkdir()
    tokens.write_text(f"{TOKEN} ada\n")

    async def talk() -> None:
        async with in_process(types_folder=types, types_token_file=tokens) as server, asyncio.timeout(HANG / 2):
            with socket.create_connection(("127.0.0.1", urlsplit(server.url).port)) as client:
                client.sendall(begin)
                client.setblocking(False)
                with suppress(ConnectionError):
                    assert await asyncio.get_running_loop().sock_recv(client, 1) == b""

    run(talk())
