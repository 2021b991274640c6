"""The console listens on loopback, and the command gives it what it shows."""

import copy
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import aiohttp
import pytest
import yaml
from click.testing import CliRunner, Result

from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli import console as command_module
from karta_interpreter.cli.program import program
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.web.console import application
from karta_interpreter.web.console.application import NOT_BUILT, ConsoleSources, listening
from tests.cli.test_doctor import Handler
from tests.support.serving import serving
from tests.support.waiting import HANG
from tests.web.console.test_answers import KARTA, OBJECT
from tests.webhook.doctor.karmada import KARTAS, items

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]
NAMED = {"context": "karmada", "cluster": "karmada", "user": "admin"}


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
    async with listening(ConsoleSources(Snapshot()), 0) as url:
        assert url.startswith("http://127.0.0.1:")
        assert await fetched(url, "/api/kinds") == []


@pytest.mark.usefixtures("built")
async def test_taken_port_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            ServeError,
            match=f"cannot listen on 127.0.0.1 port {port}: another process listens there: stop it, or choose",
        ):
            async with listening(ConsoleSources(Snapshot()), port):
                pass


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
    assert found.texts.kind == "example.io/v1/Crawler"
    assert found.snapshot.find(GVK("example.io", "v1", "Crawler")), "beside the catalogue"
    assert found.snapshot.find(GVK("batch", "v1", "Job"))


@pytest.mark.parametrize(
    ("given", "origin", "name"),
    [
        pytest.param(False, "cluster", "older", id="before the catalogue, the oldest first"),
        pytest.param(True, "job.yaml", "mine", id="behind files"),
    ],
)
def test_kartas_of_a_cluster_are_shown(
    run: Run, served: list[tuple[ConsoleSources, int]], tmp_path: Path, *, given: bool, origin: str, name: str
) -> None:
    karta = yaml.safe_load(KARTA.replace("example.io", "batch").replace("kind: Crawler", "kind: Job"))
    named = [copy.deepcopy(karta) for _ in range(3)]
    for obj, (called, created) in zip(named, [("newer", "2026-02"), ("older", "2026-01"), ("mine", "")], strict=True):
        obj["metadata"] |= {"name": called, "creationTimestamp": created}
    broken = {"kind": "Karta", "metadata": {"name": "broken"}, "spec": {}}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(named[2]))
    files = ["-f", str(tmp_path / "job.yaml")] if given else []
    with serving(Handler, objects={KARTAS: items(*named[:2], broken)}) as url:
        result = run("console", "--kubeconfig", kubeconfig(tmp_path, url), *files)

    assert (result.exit_code, "kartas/broken" in result.stderr) == (0, True), result.stderr
    entry = served[0][0].snapshot.find(GVK("batch", "v1", "Job"))
    assert entry
    found = served[0][0].snapshot.entries[entry.gvk]
    assert (found.origin.rpartition("/")[2], found.definition.name) == (origin, name)


def test_cluster_without_kartas_is_said_to_have_none(
    run: Run, served: list[tuple[ConsoleSources, int]], tmp_path: Path
) -> None:
    with serving(Handler, objects={KARTAS: items()}) as url:
        result = run("console", "--kubeconfig", kubeconfig(tmp_path, url))
    assert (result.exit_code, len(served), "the cluster has no Kartas" in result.stderr) == (0, 1, True)


def test_definition_that_cannot_be_used_is_named(
    run: Run, served: list[tuple[ConsoleSources, int]], tmp_path: Path
) -> None:
    (tmp_path / "karta.yaml").write_text(KARTA)
    (tmp_path / "other.yaml").write_text("kind: Karta")
    result = run("console", "-f", str(tmp_path))

    assert (result.exit_code, f"{tmp_path / 'other.yaml'}:1:1: error" in result.stderr, len(served)) == (0, True, 1)


def test_folder_without_definitions_is_an_error(run: Run, tmp_path: Path) -> None:
    result = run("console", "-f", str(tmp_path))
    assert (result.exit_code, "no definition: it is empty, or a folder without .yaml" in result.stderr) == (2, True)


def test_cluster_that_does_not_answer_is_an_error(run: Run, tmp_path: Path) -> None:
    result = run("console", "--kubeconfig", kubeconfig(tmp_path, "http://127.0.0.1:1"))
    assert (result.exit_code, result.stderr.startswith("error: ")) == (1, True)


def kubeconfig(folder: Path, url: str) -> str:
    names = {"context": {"cluster": "karmada", "user": "admin"}, "cluster": {"server": url}, "user": {"token": "a"}}
    config = {f"{each}s": [{"name": name, each: names[each]}] for each, name in NAMED.items()}
    file = folder / "karmada.config"
    file.write_text(yaml.safe_dump(config | {"current-context": "karmada"}))
    return str(file)


def test_saved_folder_is_verified_with_the_definitions(run: Run, served: list[tuple[ConsoleSources, int]]) -> None:
    folder = Path(__file__).parents[3] / "docs" / "examples" / "member"
    assert run("console", "--from", str(folder)).exit_code == 0

    report = served[0][0].report
    assert report is not None
    assert [(each["kind"], each["objects"]) for each in report["kinds"]] == [("RayCluster", 2), ("Deployment", 1)]


def test_folder_that_verify_has_not_written_is_an_error(run: Run, tmp_path: Path) -> None:
    result = run("console", "--from", str(tmp_path))
    assert (result.exit_code, "member.json is missing" in result.stderr) == (1, True)


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


def test_object_of_an_unknown_kind_is_there_to_write_its_karta(
    run: Run, served: list[tuple[ConsoleSources, int]], tmp_path: Path
) -> None:
    (tmp_path / "object.yaml").write_text(OBJECT)
    result = run("console", "--object", str(tmp_path / "object.yaml"))

    assert (result.exit_code, result.output) == (0, "")
    ((found, _),) = served
    assert (found.texts.karta, found.texts.object) == ("", OBJECT)


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
