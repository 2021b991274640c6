import asyncio
import json
import os
import pwd
import ssl
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.sources import api_server
from karta_interpreter.definitions.sources.api_errors import ApiRequest, read_object
from karta_interpreter.definitions.sources.api_server import ApiServer
from tests.definitions.sources.pair import Pair
from tests.definitions.sources.scripted_api import (
    KARTAS,
    Handler,
    ScriptedApi,
    never,
    serving,
    status,
    stream,
    write_kubeconfig,
)
from tests.support.waiting import Clock, turns

Ask = Callable[[ApiServer], Awaitable[Any]]

_ADDED = b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}\n'


@pytest.fixture
async def scripted() -> AsyncIterator[ScriptedApi]:
    async with serving(ScriptedApi()) as api:
        yield api


@pytest.fixture
async def api(scripted: ScriptedApi, tmp_path: Path) -> AsyncIterator[ApiServer]:
    async with ApiServer.of(write_kubeconfig(tmp_path / "config", scripted.url)) as server:
        yield server


async def _watch(api: ApiServer) -> list[Any]:
    async with aclosing(api.watch(KARTAS, "5", timeout_seconds=7)) as events:
        return [event async for event in events]


async def _failure(work: Awaitable[Any]) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        await work
    return caught.value


@pytest.mark.parametrize(
    ("ask", "verb", "path", "sent"),
    [
        pytest.param(lambda api: api.get("/a"), "get", "/a", ({}, "json", None), id="get"),
        pytest.param(lambda api: api.list("/a"), "get", "/a", ({"limit": "50"}, "json", None),
            id="list, in parts that are decoded quickly"),
        pytest.param(lambda api: api.create("/a", {"b": 1}), "create", "/a", ({}, "json", {"b": 1}), id="create"),
        pytest.param(lambda api: api.apply("/a/b", {"c": 1}), "patch", "/a/b",
            ({"fieldManager": "karta-interpreter", "force": "true"}, "apply-patch+yaml", {"c": 1}), id="apply"),
        pytest.param(lambda api: api.patch_status("/a/b", {"status": {}}), "patch", "/a/b/status",
            ({"fieldManager": "karta-interpreter"}, "merge-patch+json", {"status": {}}), id="patch of the status"),
        pytest.param(lambda api: api.delete("/a/b"), "delete", "/a/b", ({}, "json", None), id="delete"),
        pytest.param(_watch, "watch", KARTAS,
            ({"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": "5", "timeoutSeconds": "7"}, "json",
            None), id="watch"),
    ],
)  # fmt: skip
async def test_request_has_form_of_kubernetes_api(
    scripted: ScriptedApi, api: ApiServer, ask: Ask, verb: str, path: str, sent: Any
) -> None:
    scripted.on(verb, path, stream(_ADDED))
    await ask(api)

    asked = await scripted.was_asked(verb, path)
    assert (asked.query, asked.headers["Content-Type"].removeprefix("application/"), asked.body) == sent
    assert asked.headers["Authorization"] == "Bearer token"
    assert asked.headers["User-Agent"].startswith("karta-interpreter/")


async def test_rejected_credentials_do_not_disturb_other_requests(scripted: ScriptedApi, api: ApiServer) -> None:
    scripted.on("get", "/a", status(401, "Unauthorized"), times=1000)
    scripted.on("watch", KARTAS, stream(_ADDED, hang=True))
    async with aclosing(api.watch(KARTAS, "5", timeout_seconds=7)) as events:
        await anext(events)
        first = asyncio.gather(*(_failure(api.get("/a")) for _ in range(20)))
        await turns()
        errors = [*await first, *await asyncio.gather(*(_failure(api.get("/a")) for _ in range(20)))]

    assert {(error.status, error.reason) for error in errors} == {(401, "Unauthorized")}


async def test_large_list_is_read_in_parts(scripted: ScriptedApi, api: ApiServer) -> None:
    scripted.on(
        "get",
        "/a",
        stream(b'{"metadata": {"resourceVersion": "7", "continue": "rest"}, "items": [{"a": 1}, {"a": 2}]}'),
    )
    scripted.on(
        "get", "/a", stream(b'{"metadata": {"resourceVersion": "7", "continue": ""}, "items": [{"a": 3}, "no object"]}')
    )

    assert await api.list("/a") == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [asked.query.get("continue") for asked in scripted.requests("get", "/a")] == [None, "rest"]


def _listing(objects: list[Any]) -> Handler:
    """Answer with as many objects as the limit of a request allows."""

    async def answer(request: web.Request) -> web.Response:
        start, limit = int(request.query.get("continue", 0)), int(request.query["limit"])
        rest = str(start + limit) if start + limit < len(objects) else ""
        return web.json_response({"metadata": {"continue": rest}, "items": objects[start : start + limit]})

    return answer


@pytest.mark.slow
async def test_list_of_large_objects_is_read_in_small_parts(scripted: ScriptedApi, api: ApiServer) -> None:
    decoded: list[int] = []

    async def read(request: ApiRequest, content: bytes) -> Object:
        decoded.append(len(content))
        return read_object(request, content)

    objects: list[Any] = [{"name": number, "values": [{}] * 75_000} for number in range(20)]  # 300 kB each
    objects += [{"name": 20, "values": [{}] * 375_000}, *({"name": number} for number in range(21, 200))]
    scripted.on("get", "/a", _listing(objects), times=1000)

    pages = [page async for page in api.pages("/a", read=read)]

    assert [obj for page in pages for obj in page["items"]] == objects
    alone = max(decoded)
    assert alone > 2**20 >= max(size for size in decoded if size != alone), "several objects have a megabyte together"
    asked = [int(request.query["limit"]) for request in scripted.requests("get", "/a")]
    assert (asked[0], asked[-1], len(asked) < 100) == (50, 50, True), "small objects are read many at once again"


async def test_list_that_is_too_large_to_be_kept_is_an_error(
    scripted: ScriptedApi, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_server, "_MOST_LISTED", 200_000)
    scripted.on("get", "/a", _listing([{"name": "x" * 1000}] * 250), times=1000)
    with pytest.raises(ClusterError, match="the answer has more than 200000 bytes"):
        await api.list("/a")


async def test_answer_without_end_is_an_error(
    scripted: ScriptedApi, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_server, "_MOST_BYTES", 1000)
    scripted.on("get", "/a", stream(b"[" * 600, b"[" * 600, hang=True))
    scripted.on("watch", KARTAS, stream(_ADDED, b"[" * 600, b"[" * 600, hang=True))

    errors = [await _failure(api.get("/a")), await _failure(_watch(api))]

    assert [(error.reason, str(error).rpartition(": ")[2]) for error in errors] == [
        ("TooLarge", "the answer has more than 1000 bytes")
    ] * 2


async def test_url_is_read_on_first_request(scripted: ScriptedApi, api: ApiServer, tmp_path: Path) -> None:
    scripted.on("get", "/version", stream(b'{"gitVersion": "v1.36.2"}'))
    before = api.url

    assert await api.get("/version") == {"gitVersion": "v1.36.2"}
    assert before == f"the kubeconfig {tmp_path / 'config'}"
    assert api.url == scripted.url


@pytest.mark.parametrize(
    ("ask", "code", "hint"),
    [
        pytest.param(lambda api: api.get("/a"), 500, "", id="a server error"),
        pytest.param(lambda api: api.get("/a"), 401, "renew the token", id="credentials that are not accepted twice"),
        pytest.param(lambda api: api.get(KARTAS), 404, "is the CRD installed", id="a collection that is missing"),
        pytest.param(_watch, 403, '"verbs": ["watch"]', id="a forbidden watch"),
        pytest.param(_watch, 410, "list again", id="a watch from too long ago"),
    ],
)
async def test_refusal_names_request_and_hint(
    scripted: ScriptedApi, api: ApiServer, ask: Ask, code: int, hint: str
) -> None:
    for verb, path in (("get", "/a"), ("get", KARTAS), ("watch", KARTAS)):
        scripted.on(verb, path, status(code, "Because", "the message of the server"), times=2)

    error = await _failure(ask(api))

    assert (error.status, error.reason) == (code, "Because")
    assert f"GET {scripted.url}/a" in str(error)
    assert "the message of the server" in str(error)
    assert hint in str(error)


async def test_rotated_credentials_are_read_when_the_old_ones_are_refused(
    scripted: ScriptedApi, api: ApiServer, tmp_path: Path
) -> None:
    await api.get(KARTAS)
    write_kubeconfig(tmp_path / "config", scripted.url, token="rotated")  # noqa: S106 - of this test
    scripted.on("get", KARTAS, status(401, "Unauthorized"))

    await api.get(KARTAS)

    tokens = [asked.headers["Authorization"] for asked in scripted.requests("get")]
    assert tokens == ["Bearer token", "Bearer token", "Bearer rotated"]


@pytest.mark.parametrize(
    "answer", [pytest.param(b"<html>", id="a page"), pytest.param(b"[]", id="JSON that is not an object")]
)
async def test_something_else_than_an_api_server_is_noticed(
    scripted: ScriptedApi, api: ApiServer, answer: bytes
) -> None:
    scripted.on("get", "/a", stream(answer))

    error = await _failure(api.get("/a"))

    assert (error.status, error.reason) == (0, "Unreadable")


async def test_late_refusal_of_old_credentials_keeps_the_new_client(
    scripted: ScriptedApi, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, late, open_client = list[str](), asyncio.Event(), api_server._open_client  # noqa: SLF001

    async def counted(kubeconfig: str, context: str | None) -> Any:
        opened.append(kubeconfig)
        return await open_client(kubeconfig, context)

    async def refuse_late(request: web.Request) -> web.StreamResponse:
        await late.wait()
        return await status(401)(request)

    monkeypatch.setattr(api_server, "_open_client", counted)
    scripted.on("get", KARTAS, refuse_late)
    scripted.on("get", KARTAS, status(401))
    waiting = asyncio.create_task(api.get(KARTAS))
    await scripted.was_asked("get", KARTAS)
    await api.get(KARTAS)
    late.set()
    await waiting
    assert len(opened) == 2


async def test_absent_api_server_is_named(tmp_path: Path) -> None:
    async with serving(ScriptedApi()) as gone:
        pass
    async with ApiServer.of(write_kubeconfig(tmp_path / "gone", gone.url)) as away:
        error = await _failure(away.get("/a"))

    assert (error.status, error.reason) == (0, "Refused")
    assert "nothing listens there" in str(error)


async def test_invalid_host_is_unknown_host(tmp_path: Path) -> None:
    async with ApiServer.of(write_kubeconfig(tmp_path / "config", "https://a..b")) as api:
        error = await _failure(api.get("/a"))

    assert (error.status, error.reason) == (0, "UnknownHost")


@pytest.mark.parametrize(
    "server",
    [
        pytest.param("//127.0.0.1", id="no scheme"),
        pytest.param("127.0.0.1:6443", id="a host and a port"),
        pytest.param("https://127.0.0.1:99999", id="no port"),
        pytest.param("https://user:secret@127.0.0.1", id="a user, beside the token"),
    ],
)
async def test_invalid_url_is_reported_by_its_kubeconfig(tmp_path: Path, server: str) -> None:
    async with ApiServer.of(write_kubeconfig(tmp_path / "config", server)) as api:
        error = await _failure(api.get("/a"))

    assert (error.status, error.reason) == (0, "Configuration")
    assert "secret" not in str(error)


async def test_silent_server_is_a_timeout(
    scripted: ScriptedApi, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_server, "_SECONDS", 0.05)
    scripted.on("get", "/a", never)

    error = await _failure(api.get("/a"))

    assert (error.status, error.reason) == (0, "Timeout")


async def test_watch_lasts_longer_than_other_requests(scripted: ScriptedApi, api: ApiServer, clock: Clock) -> None:
    later = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(_ADDED)
        await later.wait()
        await response.write(_ADDED)
        return response

    scripted.on("watch", KARTAS, answer)
    async with aclosing(api.watch(KARTAS, "5", timeout_seconds=30)) as events:
        first = await anext(events)
        await clock.advance(29)
        later.set()
        assert await anext(events) == first


async def test_events_arrive_in_whatever_pieces(scripted: ScriptedApi, api: ApiServer) -> None:
    bookmark = b'{"type":"BOOKMARK","object":{}}\n'
    scripted.on("watch", KARTAS, stream(_ADDED[:9], _ADDED[9:] + _ADDED + bookmark[:1], bookmark[1:]))

    assert [kind for kind, _ in await _watch(api)] == ["ADDED", "ADDED", "BOOKMARK"]


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        pytest.param(stream(_ADDED, _ADDED[:9]), "ConnectionLost", id="an end in the middle of an event"),
        pytest.param(stream(_ADDED, abort=True), "ConnectionLost", id="a connection that breaks"),
        pytest.param(stream(_ADDED, hang=True), "Timeout", id="silence long after the end of the watch"),
        pytest.param(stream(_ADDED, b"{}\n"), "Unreadable", id="a line that is not an event"),
    ],
)
async def test_broken_watch_is_an_error_after_its_events(
    scripted: ScriptedApi, api: ApiServer, handler: Any, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_server, "_SILENCE_SECONDS", -6.9)
    scripted.on("watch", KARTAS, handler)
    seen: list[str] = []

    async def collect() -> None:
        async with aclosing(api.watch(KARTAS, "5", timeout_seconds=7)) as events:
            async for kind, _ in events:
                seen.append(kind)

    error = await _failure(collect())

    assert (seen, error.status, error.reason) == (["ADDED"], 0, reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "Configuration", id="empty"),
        pytest.param("a: [", "Configuration", id="no YAML"),
        pytest.param("{}", "NoContext", id="no context"),
        pytest.param('{"current-context": "x", "contexts": []}', "NoContext", id="a context that is not there"),
        pytest.param("[1]", "Configuration", id="a list"),
    ],
)
async def test_unusable_kubeconfig_is_named(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    async with ApiServer.of(file) as api:
        error = await _failure(api.get("/version"))

    assert (error.status, error.reason) == (0, reason)
    assert str(error).startswith(f"the kubeconfig {file} cannot be used: ")


async def test_context_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    files = [write_kubeconfig(tmp_path / name, "https://localhost") for name in "ab"]
    for file in files:
        file.write_text(file.read_text().replace('"test"', f'"test-{file.name}"'))
    names = "test-a, test-b"
    api = ApiServer(os.pathsep.join(map(str, [*files, tmp_path / "missing"])), "karmda")

    with pytest.raises(ClusterError, match=rf'there is no context "karmda"; its contexts are: {names}; ') as caught:
        api.check()
    error = await _failure(api.get(KARTAS))

    assert (caught.value.reason, str(error)) == ("NoContext", str(caught.value))
    ApiServer(str(files[1]), "test-b").check()


@pytest.mark.parametrize("text", ["[1]", "a: [", "\x00", "{kind: Karta}"])
def test_file_that_is_no_kubeconfig_has_no_context(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(ClusterError) as caught:
        ApiServer.of(tmp_path / "config", "karmada").check()
    assert caught.value.reason == "Configuration"


async def test_program_that_is_not_installed_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = write_kubeconfig(tmp_path / "config", "https://localhost")
    config = json.loads(file.read_text())
    login = {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws-iam-authenticator"}
    config["users"][0]["user"] = {"exec": login}
    file.write_text(json.dumps(config))

    async with ApiServer.of(file) as api:
        api.check()  # a server starts: the program may be installed later
        error = await _failure(api.get(KARTAS))

    assert 'its user "test" logs in by aws-iam-authenticator, which is not installed here' in str(error)
    assert not caplog.records


async def test_kubeconfig_that_appears_later_is_read(scripted: ScriptedApi, tmp_path: Path) -> None:
    async with ApiServer.of(tmp_path / "config") as api:
        error = await _failure(api.get(KARTAS))
        write_kubeconfig(tmp_path / "config", scripted.url)
        await api.get(KARTAS)

    assert "there is no such file" in str(error)


@pytest.mark.parametrize(("of_context", "namespace"), [("ml", "ml"), (None, "default")])
async def test_namespace_is_that_of_the_context(
    scripted: ScriptedApi, tmp_path: Path, of_context: str | None, namespace: str
) -> None:
    file = write_kubeconfig(tmp_path / "config", scripted.url)
    config = yaml.safe_load(file.read_text())
    config["contexts"][0]["context"] |= {"namespace": of_context} if of_context else {}
    file.write_text(yaml.safe_dump(config))

    async with ApiServer.of(file) as api:
        await api.get(KARTAS)

        assert api.namespace == namespace


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair.new(tmp_path_factory.mktemp("pair"), "localhost")


@asynccontextmanager
async def _over_tls(pair: Pair) -> AsyncIterator[ScriptedApi]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    async with serving(ScriptedApi(), tls=context) as api:
        yield api


async def test_ca_of_kubeconfig_prevails(pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Pair.new(tmp_path, "localhost")
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.setenv(name, str(other.certificate))
    async with _over_tls(pair) as scripted:
        trusting = write_kubeconfig(tmp_path / "a", scripted.url, **{"certificate-authority": str(pair.certificate)})
        wrong = write_kubeconfig(tmp_path / "b", scripted.url, **{"certificate-authority": str(other.certificate)})
        async with ApiServer.of(trusting) as api, ApiServer.of(wrong) as mistaken:
            await api.get(KARTAS)
            error = await _failure(mistaken.get(KARTAS))
            # The file is read again after that, so a new CA needs no restart.
            wrong.write_text(trusting.read_text())
            await mistaken.get(KARTAS)

    assert error.reason == "Certificate"
    assert "certificate-authority-data" in str(error)


async def test_tls_server_name_is_verified(pair: Pair, tmp_path: Path) -> None:
    authority = {"certificate-authority": str(pair.certificate)}
    async with _over_tls(pair) as scripted:
        url = scripted.url.replace("localhost", "127.0.0.1")
        named = write_kubeconfig(tmp_path / "a", url, **authority, **{"tls-server-name": "localhost"})
        async with (
            ApiServer.of(write_kubeconfig(tmp_path / "b", url, **authority)) as api,
            ApiServer.of(named) as other,
        ):
            error = await _failure(api.get(KARTAS))
            await other.get(KARTAS)

    assert error.reason == "Certificate"
    assert "set tls-server-name" in str(error)


async def test_private_key_leaves_no_file(pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    async with _over_tls(pair) as scripted:
        file = write_kubeconfig(
            tmp_path / "a", scripted.url, **{"certificate-authority-data": pair.text(pair.certificate)}
        )
        config = json.loads(file.read_text())
        data = {"client-certificate-data": pair.text(pair.certificate), "client-key-data": pair.text(pair.key)}
        config["users"][0]["user"] = data
        file.write_text(json.dumps(config))
        async with ApiServer.of(file) as api:
            await api.get(KARTAS)
            assert list(scratch.iterdir()) == []


def test_without_a_kubeconfig_the_usual_places_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = tmp_path / "token"
    monkeypatch.setattr(api_server, "_SERVICE_ACCOUNT", token)
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert ApiServer.of().url == "the kubeconfig /home/somebody/.kube/config"

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # a user that has none
    with pytest.raises(ClusterError, match=r"kubeconfig ~/.kube/config cannot be used: there is no such file"):
        ApiServer.of().check()

    monkeypatch.setenv("KUBECONFIG", "/one:/two")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert ApiServer.of().url == "the kubeconfig /one:/two"

    token.write_text("token")
    assert ApiServer.of().url == "the service account of this pod"
    assert ApiServer.of(context="other").url == "the kubeconfig /one:/two"


@pytest.mark.slow
def test_client_library_is_imported_on_use() -> None:
    loaded = "{'kubernetes_asyncio', 'aiohttp'} & {*sys.modules}"
    code = f"import sys, karta_interpreter.definitions.sources.store; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"
