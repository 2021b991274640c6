"""Who may ask the console: its own page, in a browser on this machine."""

from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from karta_interpreter.web.console.application import Console

pytestmark = pytest.mark.catalogue

REJECTED = [
    pytest.param({}, {"Authorization": ""}, 401, id="no token"),
    pytest.param({}, {"Authorization": "Bearer guessed"}, 401, id="another token"),
    pytest.param({}, {"Authorization": "Bearer \udce4"}, 401, id="bytes that are no text"),
    pytest.param({}, {"Host": "console.attacker.example"}, 403, id="a name that resolves to loopback: DNS rebinding"),
    pytest.param({}, {"Host": "127.0.0.1.attacker.example"}, 403, id="a name that begins like loopback"),
    pytest.param({}, {"Host": "[127.0.0.1"}, 403, id="no name of a host"),
    pytest.param({}, {"Origin": "https://attacker.example"}, 403, id="the page of another site"),
    pytest.param({}, {"Origin": "http://127.0.0.1:1"}, 403, id="the page of another port"),
    pytest.param({}, {"Origin": "null"}, 403, id="a sandboxed frame, or a file"),
]


@pytest.mark.parametrize(("_", "headers", "status"), REJECTED)
async def test_request_not_sent_by_page_is_rejected(
    client: TestClient[Any, Any], console: Console, _: object, headers: dict[str, str], status: int
) -> None:
    given = {"Authorization": f"Bearer {console.token}"} | headers
    for path in ("/api/start", "/api/kinds", "/api/member"):
        response = await client.get(path, headers=given)
        assert response.status == status, path
        assert (await response.json()).keys() == {"error"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9999", "[::1]:8080", "LOCALHOST"])
async def test_loopback_is_reached_by_any_port(client: TestClient[Any, Any], console: Console, host: str) -> None:
    headers = {"Authorization": f"Bearer {console.token}", "Host": host, "Origin": f"http://{host}"}
    assert (await client.get("/api/schema", headers=headers)).status == 200, (
        "a port that is forwarded has another number"
    )


async def test_page_needs_and_holds_no_token(client: TestClient[Any, Any], console: Console) -> None:
    response = await client.get("/")
    assert response.status == 200
    assert console.token not in await response.text()


async def test_parameter_that_has_no_effect_is_rejected(client: TestClient[Any, Any], console: Console) -> None:
    headers = {"Authorization": f"Bearer {console.token}"}
    response = await client.post("/api/answers?operation=Retain", json={}, headers=headers)
    assert (response.status, "operation" in await response.text()) == (400, True)


async def test_form_cannot_post_question(client: TestClient[Any, Any], console: Console) -> None:
    headers = {"Authorization": f"Bearer {console.token}", "Content-Type": "text/plain"}
    assert (await client.post("/api/answers", data="{}", headers=headers)).status == 415


@pytest.mark.parametrize("path", ["/", "/assets/main.js", "/api/start", "/nowhere"])
async def test_answers_have_security_headers(client: TestClient[Any, Any], path: str) -> None:
    headers = (await client.get(path)).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))

    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy.get("script-src", "'self'") == "'self'", "no inline script, none from elsewhere"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Server"] == "karta-interpreter", "no version of a library"


async def test_nonce_for_styles_is_new_in_every_page(client: TestClient[Any, Any]) -> None:
    pages = [await client.get("/") for _ in range(2)]
    nonces = [(await page.text()).split('content="')[1].split('"')[0] for page in pages]

    assert nonces[0] != nonces[1]
    for page, nonce in zip(pages, nonces, strict=True):
        assert f"'nonce-{nonce}'" in page.headers["Content-Security-Policy"]
