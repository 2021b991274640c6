"""The console listens on loopback, by itself or next to a server."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import aiohttp
import pytest
from click.testing import CliRunner, Result

from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli import console as command_module
from karta_interpreter.cli.program import program
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.web.console import application
from karta_interpreter.web.console.application import NOT_BUILT, ConsoleSources, listening
from karta_interpreter.webhook.answering.fights import Fight
from karta_interpreter.webhook.process.server import Server, Shared
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG
from tests.web.console.in_loop import in_loop
from tests.web.console.test_answers import KARTA, OBJECT

Run = Callable[..., Result]
FIGHT = Fight(
    "example.io/v1/Crawler", "member1", "ml", "a", ".spec.seed", "1", "2", "seeder", (), 0.0, 0.0, 9e12, "add a line"
)
REVIEW = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterContext",
    "request": {
        "uid": "1",
        "kind": {"group": "batch", "version": "v1", "kind": "Job"},
        "name": "sum",
        "operation": "InterpretReplica",
        "object": {"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 2, "template": {"spec": {}}}},
    },
}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, static: Path) -> None:
    """A page that is built."""
    monkeypatch.setattr(application, "STATIC", static)


async def fetched(url: str, path: str) -> Any:
    """What the API answers to the page that is opened by an address."""
    address, _, token = url.partition("/#token=")
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession() as session, session.get(f"{address}{path}", headers=headers) as response:
        assert response.status == 200
        return await response.json()


@pytest.mark.usefixtures("built")
async def test_address_has_token_in_its_fragment() -> None:
    async with listening(ConsoleSources(Snapshot), 0) as url:
        assert url.startswith("http://127.0.0.1:")
        assert await fetched(url, "/api/kinds") == []


@pytest.mark.usefixtures("built")
async def test_taken_port_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServeError, match=f"cannot listen on 127.0.0.1:{port}"):
            async with listening(ConsoleSources(Snapshot), port):
                pass


@asynccontextmanager
async def fighting(shared: Shared) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    shared.metrics.fights.present[b"u"] = FIGHT
    yield partial(asyncio.sleep, 0)


@pytest.mark.usefixtures("built")
async def test_next_to_a_server_its_definitions_and_calls_are_shown(tmp_path: Path) -> None:
    (tmp_path / "karta.yaml").write_text(KARTA)
    urls: dict[str, str] = {}
    folders = (tmp_path / "karta.yaml",)
    settings = Settings(port=0, plain_http=True, folders=folders, console_port=0, log_level="error")
    async with Server(settings, [in_loop(urls), fighting]) as server:
        interpret = f"{server.started.url}/interpret"
        async with aiohttp.ClientSession() as session, session.post(interpret, json=REVIEW) as response:
            assert (await response.json())["response"]["replicas"] == 2
        found = await fetched(urls["console"], "/api/server")
        while not found["lastHour"]["calls"]:
            found = await fetched(urls["console"], "/api/server")
        kinds = await fetched(urls["console"], "/api/kinds")

    (call,) = found["lastHour"]["calls"]
    assert (call["kind"], call["operation"], call["calls"], call["errors"]) == (
        "batch/v1/Job",
        "InterpretReplica",
        1,
        0,
    )
    assert found["fights"] == [asdict(FIGHT) | {"others": []}]
    assert found["inStep"] is None, "this server does not register"
    assert 1 in [each["kinds"] for each in found["origins"]], "the file"
    assert ("example.io/v1", "Crawler") in [(row["apiVersion"], row["kind"]) for row in kinds]


@pytest.fixture
def run() -> Run:
    return lambda *arguments: CliRunner().invoke(program, arguments)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[ConsoleSources, int]]:
    """What the command would have served, and its port."""
    taken: list[tuple[ConsoleSources, int]] = []
    monkeypatch.setattr(command_module, "run", lambda served, port, _: taken.append((served, port)))
    return taken


def test_command_fills_the_editors(run: Run, served: list[tuple[ConsoleSources, int]], tmp_path: Path) -> None:
    (tmp_path / "karta.yaml").write_text(KARTA)
    (tmp_path / "object.yaml").write_text(OBJECT)
    result = run("console", "-f", str(tmp_path / "karta.yaml"), "--object", str(tmp_path / "object.yaml"))

    assert (result.exit_code, result.output) == (0, "")
    ((found, port),) = served
    assert (found.texts.karta, found.texts.object, port) == (KARTA, OBJECT, 8448)
    assert found.snapshot().find(GVK("example.io", "v1", "Crawler")), "beside the catalogue"
    assert found.snapshot().find(GVK("batch", "v1", "Job"))


def test_saved_folder_is_verified_with_the_definitions(run: Run, served: list[tuple[ConsoleSources, int]]) -> None:
    folder = Path(__file__).parents[3] / "docs" / "examples" / "member"
    assert run("console", "--from", str(folder)).exit_code == 0

    report = served[0][0].report
    assert report is not None
    assert [(each["kind"], each["objects"]) for each in report["kinds"]] == [("RayCluster", 2), ("Deployment", 1)]


def test_folder_that_verify_has_not_written_is_an_error(run: Run, tmp_path: Path) -> None:
    result = run("console", "--from", str(tmp_path))
    assert (result.exit_code, "No such file" in result.stderr) == (1, True)


def test_definitions_of_standard_input_are_in_the_editor(served: list[tuple[ConsoleSources, int]]) -> None:
    result = CliRunner().invoke(program, ["console", "-f", "-"], input=KARTA)
    assert (result.exit_code, result.output) == (0, "")
    assert served[0][0].texts.karta == KARTA


def test_without_definitions_the_karta_is_that_of_the_kind(
    run: Run, served: list[tuple[ConsoleSources, int]], tmp_path: Path
) -> None:
    (tmp_path / "job.yaml").write_text("apiVersion: batch/v1\nkind: Job\n")
    assert run("console", "--object", str(tmp_path / "job.yaml")).exit_code == 0
    assert "name: batch-job-v1" in served[0][0].texts.karta


def test_object_of_unknown_kind_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "object.yaml").write_text(OBJECT)
    result = run("console", "--object", str(tmp_path / "object.yaml"))
    assert (result.exit_code, "give one with -f" in result.stderr) == (2, True)


def test_console_does_not_wait_for_the_browser(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, answered = Event(), Event()

    def browse(url: str) -> bool:
        assert url == "http://127.0.0.1:1/#token=a"
        answered.wait(HANG)
        opened.set()
        return True

    monkeypatch.setattr("webbrowser.open", browse)
    monkeypatch.setattr(command_module, "run", lambda _, __, started: started("http://127.0.0.1:1/#token=a"))
    assert run("console").exit_code == 0
    assert not opened.is_set()
    answered.set()
    assert opened.wait(HANG)


def test_without_the_built_page_the_command_ends_with_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(application, "STATIC", tmp_path)
    result = run("console", "--no-open", "--port", "0")
    assert (result.exit_code, result.stderr) == (1, f"error: {NOT_BUILT}\n")
