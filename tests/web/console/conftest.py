from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer

from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.definitions.sources.snapshot import Snapshot, combine
from karta_interpreter.web.console.application import Console, ConsoleSources, Texts
from karta_interpreter.web.console.questions import Questions
from tests.support.waiting import HANG

Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """The built page, as far as the server knows it."""
    (tmp_path / "index.html").write_text('<meta name="csp-nonce" content="NONCE">')
    (tmp_path / "main.js").write_text("export {};")
    (tmp_path / "secret.txt").write_text("not a part of the page")
    return tmp_path


@pytest.fixture(scope="session")
def snapshot() -> Snapshot:
    return combine([load_catalogue()])


@pytest.fixture
async def console(snapshot: Snapshot, static: Path) -> AsyncIterator[Console]:
    served = ConsoleSources(snapshot, Texts("the Karta", "the object"), {"kinds": []})
    console = Console(served, Questions(HANG), static=static)
    yield console
    await console.close()


@pytest.fixture
async def client(console: Console) -> AsyncIterator[TestClient[Any, Any]]:
    async with TestClient(TestServer(console.application)) as client:
        yield client


@pytest.fixture
def get(client: TestClient[Any, Any], console: Console) -> Callable[[str], Awaitable[ClientResponse]]:
    """Ask the API as the page does."""
    headers = {"Authorization": f"Bearer {console.token}"}
    return lambda path: client.get(path, headers=headers)


@pytest.fixture
def ask(client: TestClient[Any, Any], console: Console) -> Ask:
    """Ask for answers as the page does; the document of the page."""

    async def asked(**question: Any) -> Any:
        headers = {"Authorization": f"Bearer {console.token}"}
        async with client.post("/api/answers", json=question, headers=headers) as response:
            assert response.status == 200, await response.text()
            return await response.json()

    return asked
