"""What every kind of request gets from the running server, good or bad, over real TLS."""

import asyncio
import gzip
import json
import re
from typing import Any

import pytest

from tests.webhook.process.client import Answer, Client, get, post, question
from tests.webhook.process.process import Process, running
from tests.webhook.wire.karmada import receive

UID = "3f1d8f0e-6a0b-4f4e-9c1d-000000000001"


def is_status(answer: Answer, code: int) -> bool:
    """Tell whether an answer is an HTTP error as Kubernetes clients read it."""
    body = answer.json
    named = (body["kind"], body["apiVersion"], body["status"], body["code"])
    return answer.status == code and named == ("Status", "v1", "Failure", code) and bool(body["message"])


async def test_karmada_gets_its_answer(client: Client) -> None:
    answer = await client.ask(post(question()))
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert receive(answer.body, uid=UID, operation="InterpretReplica") == (3, None)


async def test_karmada_gets_its_patch(client: Client) -> None:
    body = question(operation="ReviseReplica", replicas=5)
    obj = json.loads(body)["request"]["object"]
    answer = await client.ask(post(body))
    revised = receive(answer.body, uid=UID, operation="ReviseReplica", obj=obj)
    assert revised == obj | {"spec": obj["spec"] | {"stones": 5}}


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        pytest.param("/interpret", 4 * 2**20, 400, id="a call may be larger, but is not JSON"),
        pytest.param("/admission/validate", 4 * 2**20, 413, id="twice what an API server stores"),
        pytest.param("/admission/validate", 4 * 2**20, 413, id="also before it is validated"),
        pytest.param("/admission/validate", 2 * 2**20, 400, id="a Karta and the one before it"),
    ],
)
async def test_review_is_limited_to_size_of_stored_object(client: Client, path: str, size: int, status: int) -> None:
    assert is_status(await client.ask(post(b" " * size, path)), status)


async def test_connection_serves_successive_calls(client: Client) -> None:
    for stones in range(1, 20):
        answer = await client.ask(post(question(operation="ReviseReplica", replicas=stones)))
        assert answer.response["successful"]


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Content-Type": "application/json; charset=utf-8"}, id="a parameter"),
        pytest.param({"Content-Type": "Application/JSON"}, id="capitals"),
        pytest.param({"Content-Type": "application/json ;x=y"}, id="a space"),
        pytest.param({"Content-Encoding": "identity"}, id="said to be not encoded"),
        pytest.param({"X-Forwarded-For": "10.0.0.1", "User-Agent": ""}, id="other headers"),
    ],
)
async def test_headers_may_vary(client: Client, headers: dict[str, str]) -> None:
    assert (await client.ask(post(question(), headers=headers))).response["successful"]


async def test_request_in_proxy_form_or_with_upgrade_is_answered(client: Client) -> None:
    assert (await client.ask(post(question(), "https://localhost/interpret"))).response["successful"]
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
    assert (await client.ask(post(question(), headers=upgrade))).response["successful"]
    assert (await client.ask(post(question()))).response["successful"]


@pytest.mark.parametrize("path", ["/interpret", "/interpret/", "/interpret?timeout=1m0s", "/interpret/?timeout=1m0s"])
async def test_path_with_slash_or_timeout_is_answered(client: Client, path: str) -> None:
    assert (await client.ask(post(question(), path))).response["successful"]


@pytest.mark.parametrize("text", ["junk", "30", "3d", "1s2", "9999999999999999s9"])
async def test_timeout_that_is_no_duration_is_bad_request(client: Client, text: str) -> None:
    answer = await client.ask(post(question(), f"/interpret?timeout={text}"))
    assert is_status(answer, 400)
    assert b"timeout must be a duration" in answer.body
    assert (await client.ask(post(question()))).response["successful"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"", 400, id="an empty body"),
        pytest.param(b"{", 400, id="a truncated body"),
        pytest.param(b"kind: ResourceInterpreterContext\n", 400, id="YAML"),
        pytest.param(b"\xef\xbb\xbf" + question(), 400, id="a byte order mark"),
        pytest.param(question() + question(), 400, id="trailing data"),
        pytest.param(gzip.compress(question()), 400, id="gzip that does not say so"),
        pytest.param(b'{"request":{"uid":""}}', 400, id="an empty uid"),
        pytest.param(b"[" * 100_000, 400, id="nested without end"),
    ],
)
async def test_body_without_uid_is_bad_request_and_connection_stays(client: Client, body: bytes, code: int) -> None:
    assert is_status(await client.ask(post(body)), code)
    assert (await client.ask(post(question()))).response["successful"]


@pytest.mark.parametrize(
    ("fields", "code", "said"),
    [
        pytest.param({"operation": "Prune"}, 400, 'operation is "Prune"; it must be one of', id="Prune"),
        pytest.param({"object": None}, 400, "request.object must be an object", id="no object"),
        pytest.param({"operation": "Retain"}, 400, "request.observedObject must be", id="Retain of nothing"),
        pytest.param({"operation": "ReviseReplica", "replicas": -1}, 400, "from 0 to", id="negative replicas"),
        pytest.param(
            {"kind": {"group": "", "version": "v1", "kind": "Pod"}, "object": {"apiVersion": "v1", "kind": "Pod"}},
            404,
            "no definition for v1, Kind=Pod: give the server a Karta for it",
            id="an unknown kind",
        ),
        pytest.param(
            {
                "kind": {"group": "other.example.org", "version": "v1", "kind": "Balloon"},
                "object": {"apiVersion": "other.example.org/v1", "kind": "Balloon"},
            },
            404,
            "no definition for other.example.org/v1, Kind=Balloon, but for mill.example.org/v1, Kind=Balloon: give the",
            id="a kind of another group",
        ),
    ],
)
async def test_failed_call_names_its_reason(client: Client, fields: dict[str, Any], code: int, said: str) -> None:
    answer = await client.ask(post(question(**fields)))
    assert answer.status == 200
    assert (answer.response["uid"], answer.response["successful"]) == (UID, False)
    assert answer.response["status"]["code"] == code
    assert said in answer.response["status"]["message"]


async def test_failure_names_definition_and_field_of_object(client: Client) -> None:
    obj = json.loads(question())["request"]["object"]
    obj["spec"]["stones"] = 2.5
    answer = await client.ask(post(question(object=obj)))
    assert answer.response["status"]["code"] == 422
    assert "grain-mill" in answer.response["status"]["message"]
    assert ".spec.stones // 1" in answer.response["status"]["message"]


async def test_too_deep_object_is_a_failure(client: Client) -> None:
    deep = b'{"a":' * 1000 + b"1" + b"}" * 1000
    body = question(operation="InterpretStatus").replace(b'"spec": ', b'"status": ' + deep + b', "spec": ')
    answer = await client.ask(post(body))
    assert answer.response["successful"] is False
    assert (await client.ask(post(question()))).response["successful"]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        pytest.param({"Content-Type": "text/plain"}, 415, id="text"),
        pytest.param({"Content-Type": ""}, 415, id="no content type"),
        pytest.param({"Content-Type": ";;;"}, 415, id="no media type"),
        pytest.param({"Content-Type": "application/yaml"}, 415, id="YAML"),
        pytest.param({"Content-Type": "application/json-patch+json"}, 415, id="a longer name"),
        pytest.param({"Content-Encoding": "gzip"}, 415, id="gzip"),
        pytest.param({"Content-Encoding": "aws-chunked"}, 415, id="an encoding nobody knows"),
    ],
)
async def test_other_media_types_are_refused(client: Client, headers: dict[str, str], code: int) -> None:
    assert is_status(await client.ask(post(question(), headers=headers)), code)


async def test_compressed_body_is_refused(client: Client) -> None:
    bomb = gzip.compress(b" " * 5_000_000)
    answer = await client.ask(post(bomb, headers={"Content-Encoding": "gzip"}))
    assert is_status(answer, 415)


@pytest.mark.parametrize("path", ["/", "/interpre", "/interpret/x", "/healthz/x", "//interpret/..", "/%2e%2e"])
async def test_other_paths_do_not_exist(client: Client, path: str) -> None:
    assert is_status(await client.ask(post(question(), path)), 404)


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("/interpret", "GET", "POST"),
        ("/interpret", "PUT", "POST"),
        ("/interpret/", "DELETE", "POST"),
        ("/interpret", "OPTIONS", "POST"),
        ("/healthz", "POST", "GET, HEAD"),
        ("/readyz", "PATCH", "GET, HEAD"),
        ("/metrics", "DELETE", "GET, HEAD"),
    ],
)
async def test_other_methods_are_not_allowed(client: Client, path: str, method: str, allowed: str) -> None:
    answer = await client.ask(get(path, method))
    assert is_status(answer, 405)
    assert answer.headers["allow"] == allowed.lower()


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/readyz?verbose"])
async def test_probes(client: Client, path: str) -> None:
    answer = await client.ask(get(path))
    assert (answer.status, answer.body) == (200, b"ok\n")


async def test_head_request_has_no_body(client: Client) -> None:
    await client.send(get("/healthz", "HEAD") + get("/healthz"))
    assert re.search(rb"\r\n\r\nHTTP/1.1 200 OK\r\n", await client.reader.readuntil(b"ok\n"))


async def test_server_header_hides_libraries(client: Client) -> None:
    for answer in (await client.ask(get("/healthz")), await client.ask(get("/nothing"))):
        assert answer.headers["server"] == "karta-interpreter"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x16\x03\x01 hello\r\n\r\n", id="no HTTP"),
        pytest.param(b"POST /interpret HTTP/1.1\r\n\r\n", id="no Host"),
        pytest.param(b"POST /interpret HTTP/9.9\r\nHost: a\r\n\r\n", id="another version"),
        pytest.param(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", id="a long line"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 9000 + b"\r\n\r\n", id="a long header"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 100 + b"\r\n", id="many headers"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n", id="a negative length"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", id="two lengths"),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            id="length and chunks",
        ),
    ],
)
async def test_bytes_that_are_not_http_are_a_bad_request_and_not_repeated(client: Client, sent: bytes) -> None:
    answer = await client.ask(sent)
    assert is_status(answer, 400)
    assert b"aaaa" not in answer.body
    assert b"hello" not in answer.body
    assert await client.remainder() == b""


async def test_body_longer_than_its_length_ends_the_connection(client: Client) -> None:
    body = question()
    await client.send(post(body, headers={"Content-Length": str(len(body) - 2)}))
    assert is_status(await client.receive(), 400)
    assert await client.remainder() == b""


async def test_chunks_are_as_good_as_a_length(client: Client) -> None:
    body = question()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:100], body[100:]))
    headers = {"Content-Length": "", "Transfer-Encoding": "chunked"}
    answer = await client.ask(post(b"", headers=headers) + chunks + b"0\r\n\r\n")
    assert answer.response["successful"]


async def test_whoever_asks_whether_to_go_on_is_told_to(client: Client) -> None:
    body = question()
    request = post(body, headers={"Expect": "100-continue"})
    await client.send(request[: -len(body)])
    assert (await client.receive()).status == 100
    assert (await client.ask(body)).response["successful"]


async def test_http_1_0_is_served_and_closed(client: Client) -> None:
    await client.send(post(question()).replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert (await client.receive()).response["successful"]
    assert await client.remainder() == b""


async def test_connection_close_is_honoured(client: Client) -> None:
    answer = await client.ask(post(question(), headers={"Connection": "close"}))
    assert (answer.response["successful"], answer.headers["connection"]) == (True, "close")
    assert await client.remainder() == b""


async def test_pipelined_calls_are_answered_in_order(client: Client) -> None:
    uids = [f"call-{number}" for number in range(50)]
    await client.send(b"".join(post(question(uid=uid)) for uid in uids))
    assert [(await client.receive()).response["uid"] for _ in uids] == uids


async def test_duplicate_keys_count_as_the_last_one(client: Client) -> None:
    body = question(operation="ReviseReplica", replicas=1).replace(b'"replicas": 1', b'"replicas": -1, "replicas": 3')
    assert (await client.ask(post(body))).response["successful"]


async def test_40_connections_at_once(server: Process) -> None:
    async def call(uid: str) -> str:
        client = await server.connect()
        answer = await client.ask(post(question(uid=uid)))
        await client.close()
        return str(answer.response["uid"])

    uids = [f"call-{number}" for number in range(40)]
    assert await asyncio.gather(*map(call, uids)) == uids


async def test_failed_call_is_logged_without_its_object() -> None:
    marked = json.loads(question())["request"]["object"] | {"spec": {"stones": "a secret"}}
    with running(plain_http=True) as server:  # one line a minute is about this failure
        client = await server.connect()
        await client.ask(post(question(object=marked, operation="Prune", uid="told")))
        line = server.logged("call failed")
        await client.close()

    assert (line["uid"], line["code"], line["level"], line["object"]) == ("told", 400, "warning", "bakery/rye")
    assert line["kind"] == "mill.example.org/v1, Kind=GrainMill"
    assert "secret" not in json.dumps(line)
