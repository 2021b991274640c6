"""A real workload types API, and a client of it."""

import asyncio
import http.client
import json
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import load_object
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.web.types_api.api import serving
from karta_interpreter.web.types_api.records import type_id
from karta_interpreter.web.types_api.settings import TypesSettings
from tests.support.settling import settled
from tests.support.waiting import HANG
from tests.webhook.process import client
from tests.webhook.process.forked import forked

TOKEN = "a-token-of-tests-0123456789"  # noqa: S105 - of tests
TYPES = "/api/v1/workload-types"
PATIENT: dict[str, Any] = {"judge_seconds": HANG, "rate": 1_000_000}
"""Settings with which nothing that is slow on a busy machine ends a request."""


def karta(kind: str = "GrainMill", *, version: str = "v1", group: str = "mill.example.org", **changes: Any) -> Any:
    """A Karta; ``changes`` replace fields of its root component."""
    root = {
        "name": "main",
        "kind": {"group": group, "version": version, "kind": kind},
        "specDefinition": {"podTemplateSpecPath": ".spec.template"},
        "scaleDefinition": {"replicasPath": ".spec.stones"},
        "statusDefinition": {
            "phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {"running": [{"byPhase": "Running"}]},
        },
    } | changes
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "grain-mill"},
        "spec": {"structureDefinition": {"rootComponent": root}},
    }


def workload_type(kind: str = "GrainMill", *kartas: Any, group: str = "mill.example.org", **changes: Any) -> Any:
    """The body that registers a type."""
    interfaces = list(kartas) or [karta(kind, group=group)]
    fields = {"categoryId": "train", "priorityId": "medium", "name": kind, "group": group}
    return {**fields, "resourceInterfaces": interfaces} | changes


def workload(kind: str = "GrainMill", *, version: str = "v1") -> Any:
    return {
        "apiVersion": f"mill.example.org/{version}",
        "kind": kind,
        "metadata": {"name": "rye", "namespace": "bakery"},
        "spec": {"stones": 3, "template": {"spec": {"containers": [{"name": "stone", "image": "mill"}]}}},
        "status": {"phase": "Running"},
    }


@dataclass(frozen=True)
class Answer(client.Answer):
    @property
    def pointers(self) -> set[str]:
        """Where the errors of a problem are."""
        return {each.get("pointer", each.get("parameter")) for each in self.json["errors"]}


@dataclass
class TypesClient:
    """Asks an API at a URL."""

    url: str = ""

    def ask(self, method: str, path: str, body: Any = None, *, token: str | None = TOKEN, **headers: str) -> Answer:
        """Send a request; bytes as they are, anything else as JSON. Names of headers have _ for -."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if data is not None else {}
        sent |= {"Authorization": f"Bearer {token}"} if token else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=HANG)
        try:
            connection.request(method, path, data, {name: value for name, value in sent.items() if value})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def post(self, body: Any, path: str = TYPES, **rest: Any) -> Answer:
        return self.ask("POST", path, body, **rest)

    def get(self, path: str = TYPES, **rest: Any) -> Answer:
        return self.ask("GET", path, **rest)

    def interpret(self, obj: Any) -> Any:
        """Return what a registered Karta says about the replicas of an object, None without one for its version."""
        gvk = GVK.of(obj)
        answer = self.get(f"{TYPES}/{type_id(gvk.group, gvk.kind)}")
        kartas = answer.json["resourceInterfaces"] if answer.status == HTTPStatus.OK else []
        definitions = {version.gvk: version.usable() for each in kartas for version in load_object(each, "").versions}
        if gvk not in definitions:
            return None
        return interpret(definitions[gvk], Call(Operation.INTERPRET_REPLICA, obj))["replica"]


@dataclass
class TypesServer(TypesClient):
    """An API in a process of its own, as users run it."""

    child: ForkServerProcess = field(kw_only=True)
    lines: "queue.SimpleQueue[bytes]" = field(kw_only=True)
    seen: list[dict[str, Any]] = field(default_factory=list)

    def logged(self, message: str, **fields: Any) -> dict[str, Any]:
        """Wait for a line of the log with that message and those fields."""
        while True:
            line: dict[str, Any] = json.loads(self.lines.get(timeout=HANG))
            self.seen.append(line)
            if line["message"] == message and fields.items() <= line.items():
                return line


def command_line(tmp_path: Path, *arguments: str, token: bool = True, folder: bool = True) -> list[str]:
    """Write what an API needs; the arguments that start it."""
    types, tokens = tmp_path / "types", tmp_path / "tokens"
    if "--catalogue" not in arguments:
        arguments = ("--no-catalogue", *arguments)
    if folder:
        types.mkdir(exist_ok=True)
        arguments = ("--types-folder", str(types), *arguments)
    if token:
        tokens.write_text(f"{TOKEN} ada\n")
        arguments = ("--types-token-file", str(tokens), *arguments)
    return [json.dumps(PATIENT), "-m", "karta_interpreter", "types-api", "--port", "0", *arguments]


@contextmanager
def running(tmp_path: Path, *arguments: str, token: bool = True, folder: bool = True) -> Iterator[TypesServer]:
    """Run an API until the end of the block; without other arguments with a folder for types and a token file."""
    given = command_line(tmp_path, *arguments, token=token, folder=folder)
    with forked("from tests.support.bounds import run; run()", *given) as (child, _, stderr):
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        reader = threading.Thread(target=_collect, args=(stderr, lines))
        reader.start()
        try:
            server = TypesServer(child=child, lines=lines)
            server.url = server.logged("serving")["url"]
            yield server
        finally:
            child.kill()
            reader.join()


@asynccontextmanager
async def in_process(**settings: Any) -> AsyncIterator[TypesClient]:
    """Run an API in the event loop of a test."""
    async with serving(TypesSettings(**{"port": 0, "catalogue": False} | PATIENT | settings)) as url:
        yield TypesClient(url)
        await settled()


@contextmanager
def in_thread(tmp_path: Path, **settings: Any) -> Iterator[TypesClient]:
    """Run an API in a thread of this process, with a folder for types and a token file."""
    types, tokens = tmp_path / "types", tmp_path / "tokens"
    types.mkdir(exist_ok=True)
    tokens.write_text(f"{TOKEN} ada\n")
    started: Future[tuple[TypesClient, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        try:
            async with in_process(types_folder=types, types_token_file=tokens, **settings) as server:
                end = asyncio.Event()
                started.set_result((server, asyncio.get_running_loop(), end))
                await end.wait()
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    server, loop, end = started.result(HANG)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()


def _collect(stream: IO[bytes], lines: "queue.SimpleQueue[bytes]") -> None:
    for line in stream:
        lines.put(line)
