import re
import socket
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from karta_interpreter.base.errors import ServeError
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.web.types_api.access import ClusterAccess, TokenFile, bearer_token
from karta_interpreter.web.types_api.application import ClientLimits
from karta_interpreter.web.types_api.models import ApiError
from tests.definitions.sources.scripted_api import serving, status, write_kubeconfig
from tests.web.types_api.karta_api import ACCESS_REVIEWS, USER_REVIEWS, KartaApi
from tests.web.types_api.types_server import TOKEN, TYPES, TypesServer, in_thread, workload_type

OLD, NEW = "the-old-token-of-ada", "the-new-token-of-ada"


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_empty_token_is_named() -> None:
    for given, message in (
        (None, "Bearer TOKEN$"),
        ("Bearer ", "and this TOKEN is empty"),
        ("Bearer \udc80", "or not UTF-8$"),
    ):
        with pytest.raises(ApiError, match=message):
            bearer_token(given)


def test_token_is_rotated_without_restart(tmp_path: Path) -> None:
    with in_thread(tmp_path) as server:
        (tmp_path / "tokens").write_text(f"{TOKEN} ada\n\n{NEW} grace hopper\n")
        assert [server.get(token=each).status for each in (TOKEN, NEW)] == [200, 200]
        for text in (f'"{TOKEN}"', f"{TOKEN} ada", "ada"):
            assert "without quotes or a name" in server.get(token=text).json["detail"]
        (tmp_path / "tokens").write_text(NEW)
        assert [server.get(token=each).status for each in (TOKEN, NEW)] == [401, 200]
        (tmp_path / "tokens").unlink()
        assert server.get(token=NEW).status == 503


def test_audit_names_user_type_and_outcome_without_token(server: TypesServer) -> None:
    server.post(workload_type("BeforeMill", priorityId="none"))
    server.logged("workload types audit", workload_type="BeforeMill.mill.example.org")
    server.seen.clear()  # of other tests
    server.get(token=None)
    server.get()
    server.post(workload_type("AuditMill"))
    server.post(workload_type("AuditMill", priorityId="none"))
    line = server.logged("workload types audit", outcome=422)
    audit = [each for each in server.seen if each["message"] == "workload types audit"]
    assert [(each["who"], each["what"], each["outcome"]) for each in audit] == [
        ("unknown", "GET /api/v1/workload-types", 401),
        ("ada", "POST /api/v1/workload-types", 201),
        ("ada", "POST /api/v1/workload-types", 422),
    ]
    assert line["workload_type"] == "AuditMill.mill.example.org"
    assert TOKEN not in str(server.seen)


def test_client_that_leaves_before_its_body_is_audited(server: TypesServer) -> None:
    server.post(workload_type("LeftMill", priorityId="none"))
    server.logged("workload types audit", workload_type="LeftMill.mill.example.org")  # what follows is of this test
    fields = f"Host: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 9"
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(f"POST {TYPES} HTTP/1.1\r\n{fields}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 100"  # now it waits for the body
    assert server.logged("workload types audit")["outcome"] == 400


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "it has no token", id="empty"),
        pytest.param(f"{'t' * 32} ana\n{'t' * 32} bo\n", "a token stands there twice", id="shared"),
        pytest.param("short ada", "the token in line 1 has fewer than 16 characters", id="a token that can be guessed"),
        pytest.param(f"ada:{'t' * 32}", "or a colon or comma; a line has the token, a space", id="the name first"),
        pytest.param(None, "No such file or directory", id="no file"),
    ],
)
def test_unusable_token_file_ends_the_start(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "tokens"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ServeError, match=message):
        TokenFile(path)


async def test_reason_why_the_file_cannot_be_used_is_logged_until_it_changes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"{OLD} ada\n", encoding="utf-8")
    file = TokenFile(path)

    for text in ("short ada\n", "short ada\n", " \n", f"{OLD} ada\n", " \n"):
        path.write_text(text, encoding="utf-8")
        with suppress(ApiError):
            await file.user(OLD)

    reasons = [record.__dict__["fields"]["reason"] for record in caplog.records]
    assert [reason.removeprefix(f"the token file {path} cannot be used: ")[:20] for reason in reasons] == [
        "the token in line 1 ",
        "it has no token; a l",
        "it has no token; a l",
    ]


async def test_users_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"\ufeff{OLD}\n  {NEW}   ada lovelace \n", encoding="utf-8")
    file = TokenFile(path)
    assert [await file.user(OLD), await file.user(NEW)] == ["line 1", "ada lovelace"]
    for token in ("", OLD[:-1], f"{OLD}x", "ä" * 20):
        with pytest.raises(ApiError) as caught:
            await file.user(token)
        assert caught.value.status == 401


async def test_answers_of_the_api_server_are_used_for_ten_seconds(tmp_path: Path) -> None:
    clock = Time()
    async with serving(KartaApi(users={OLD: "ada"}, allowed={"ada": {"list"}})) as api:
        assert isinstance(api, KartaApi)
        async with ApiServer(str(write_kubeconfig(tmp_path / "kubeconfig", api.url))) as client:
            access = ClusterAccess(client, clock)
            for _ in range(2):
                assert await access.user(OLD) == "ada"
                await access.authorize(OLD, "list")
            assert [len(api.requests("create", path)) for path in (USER_REVIEWS, ACCESS_REVIEWS)] == [1, 1]
            spec = api.requests("create", ACCESS_REVIEWS)[0].body["spec"]
            assert (spec["user"], spec["groups"], spec["resourceAttributes"]["group"]) == ("ada", ["mill"], "run.ai")
            with pytest.raises(ApiError, match="may not create"):
                await access.authorize(OLD, "create")

            api.users = {}
            assert await access.user(OLD) == "ada"
            clock.now += 10
            with pytest.raises(ApiError) as caught:
                await access.user(OLD)
            assert caught.value.status == 401


async def test_flood_of_tokens_displaces_no_answer_and_takes_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karta_interpreter.web.types_api.access._MOST_KEPT", 1)
    clock, api = Time(), KartaApi(users={OLD: "ada"})
    async with serving(api), ApiServer(str(write_kubeconfig(tmp_path / "kubeconfig", api.url))) as client:
        access = ClusterAccess(client, clock)
        for token in (OLD, NEW, NEW, OLD):
            with suppress(ApiError):
                await access.user(token)
        assert len(api.requests("create", USER_REVIEWS)) == 3
        clock.now += 10
        for token in (NEW, NEW):
            with suppress(ApiError):
                await access.user(token)
        assert len(api.requests("create", USER_REVIEWS)) == 4, "what has expired gives its room"


async def test_without_an_answer_of_the_api_server_nothing_is_decided(tmp_path: Path) -> None:
    api = KartaApi(users={OLD: "ada"})
    async with serving(api), ApiServer(str(write_kubeconfig(tmp_path / "kubeconfig", api.url))) as client:
        access = ClusterAccess(client)
        api.on("create", USER_REVIEWS, status(500))
        with pytest.raises(ApiError) as caught:
            await access.user(OLD)
        assert caught.value.status == 503
        assert await access.user(OLD) == "ada"


def test_client_is_limited_to_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karta_interpreter.web.types_api.application._MOST_CLIENTS", 2)
    clock = Time()
    rate = ClientLimits(60, clock)
    for _ in range(60):
        rate.take("one")
    with pytest.raises(ApiError, match=re.escape("more than 60 requests a minute")) as caught:
        rate.take("one")
    assert caught.value.headers["Retry-After"] == "1"
    rate.take("other")
    rate.take("other")  # a known client makes the server forget nobody
    clock.now += 2
    rate.take("one")
    rate.take("one")
    with pytest.raises(ApiError):
        rate.take("one")


def test_many_clients_take_no_memory_for_long() -> None:
    clock = Time()
    rate = ClientLimits(60, clock)
    for number in range(25_000):
        rate.take(str(number))
        clock.now += 0.01
    assert len(rate._clients) <= 10_000  # noqa: SLF001 - what this is about
