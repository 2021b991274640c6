"""The console's HTTP application on loopback: the page, its files, and the JSON API behind a token."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Final

import orjson
from aiohttp import web
from msgspec import Struct, field, structs

from karta_interpreter import __version__
from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.findings import closest
from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.definitions.karta import example_files
from karta_interpreter.definitions.karta.schema_export import json_schema
from karta_interpreter.definitions.sources import Snapshot
from karta_interpreter.web.console import catalogue
from karta_interpreter.web.console.answers import PageQuestion
from karta_interpreter.web.console.guard import guard, page_policy
from karta_interpreter.web.console.questions import QuestionError, Questions
from karta_interpreter.webhook.http.ports import cannot_listen, until_signal

HOST: Final = "127.0.0.1"
"""Loopback only: the console has no TLS. From elsewhere it is reached by ``kubectl port-forward`` or ``ssh -L``."""

STATIC: Final = Path(__file__).parent / "static"
"""The built page. A wheel contains it, a checkout only after `make console`."""
NOT_BUILT: Final = "the page of the console is not built; run `make console`, which needs npm"

_MOST_BYTES: Final = 4 * 2**20
_NONCE: Final = "NONCE"
_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".map": "application/json",
}


class Texts(Struct, frozen=True):
    """The initial texts of the editors, and the kind of the Karta. They are empty for an example of the catalogue."""

    karta: str = ""
    object: str = ""
    kind: str = ""


class ConsoleSources(Struct, frozen=True):
    """The contents of the console: the definitions, the first texts, and what a saved folder shows."""

    snapshot: Snapshot
    texts: Texts = field(default_factory=Texts)
    report: Object | None = None
    """What ``verify`` says about a saved folder."""


class Console:
    """The application, and the address with its token. Raises ServeError if the page is not built."""

    def __init__(
        self, served: ConsoleSources, questions: Questions | None = None, *, static: Path | None = None
    ) -> None:
        self._static = static or STATIC
        if not (self._static / "index.html").is_file():
            raise ServeError(NOT_BUILT)
        self.token: Final = secrets.token_urlsafe(24)
        self.questions: Final = questions or Questions()
        self._served = served
        self._warming: asyncio.Task[None] | None = None

    @cached_property
    def application(self) -> web.Application:
        """The handlers of all paths behind the guard."""
        application = web.Application(middlewares=[guard(self.token)], client_max_size=_MOST_BYTES)
        pages = ("/", "/{path:(?!api/|assets/).+}")  # the page says of which of its addresses there is nothing
        application.add_routes(
            [
                *(web.get(path, self._page) for path in pages),
                web.get("/assets/{name}", self._asset),
                web.get("/api/start", self._start),
                web.get("/api/schema", self._schema),
                web.get("/api/kinds", self._kinds),
                web.get("/api/kinds/{kind:.+}", self._kind),
                web.get("/api/member", self._member),
                web.post("/api/answers", self._answers),
            ]
        )
        return application

    def warm_up(self) -> None:
        """Start the processes for answers, unless they are starting."""
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self.questions.warm_up())

    async def close(self) -> None:
        """End the processes that compute answers."""
        if self._warming:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        await self.questions.close()

    @cached_property
    def _rows(self) -> bytes:
        return orjson.dumps(catalogue.rows(self._served.snapshot))

    async def _page(self, _: web.Request) -> web.Response:
        # The editor (CodeMirror) adds style elements, which the policy allows by a nonce of this one answer.
        nonce = secrets.token_urlsafe(16)
        text = (self._static / "index.html").read_text(encoding="utf-8").replace(_NONCE, escape(nonce))
        return web.Response(
            text=text, content_type="text/html", headers={"Content-Security-Policy": page_policy(nonce)}
        )

    async def _asset(self, request: web.Request) -> web.Response:
        # A name of the folder's list: aiohttp decodes %2F, so that a requested name may lead to another folder.
        names = {path.name: path for path in self._static.iterdir() if path.suffix in _TYPES}
        if (path := names.get(request.match_info["name"])) is None:
            raise web.HTTPNotFound(reason="there is no such file")
        return web.Response(body=path.read_bytes(), headers={"Content-Type": _TYPES[path.suffix]})

    async def _start(self, _: web.Request) -> web.Response:
        """Answer with the data that the page needs first. The processes for answers start meanwhile."""
        self.warm_up()
        return _json(
            {
                "version": __version__,
                "texts": structs.asdict(self._served.texts),
                "example": {"karta": example_files()["karta.yaml"], "object": example_files()["indexer.yaml"]},
                "hasMember": self._served.report is not None,
            }
        )

    async def _schema(self, _: web.Request) -> web.Response:
        return _json(json_schema(__version__))

    async def _kinds(self, _: web.Request) -> web.Response:
        return _json(await asyncio.to_thread(lambda: self._rows))

    async def _kind(self, request: web.Request) -> web.Response:
        kinds = {f"{gvk.api_version}/{gvk.kind}": entry for gvk, entry in self._served.snapshot.entries.items()}
        if (entry := kinds.get(name := request.match_info["kind"])) is None:
            # The same kind of another API version, or one that is written nearly like it.
            other = ", ".join(kind for kind in kinds if Path(kind).name == Path(name).name) or closest(name, kinds)
            raise web.HTTPNotFound(reason=f"there is no definition for this kind{other and f'; there is {other}'}")
        return _json(await asyncio.to_thread(lambda: orjson.dumps(catalogue.page(entry))))

    async def _member(self, _: web.Request) -> web.Response:
        return _json(self._served.report)

    async def _answers(self, request: web.Request) -> web.Response:
        """Return the answers to a `PageQuestion`. A newer request of the page ends an older one and its process."""
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(reason="the body must be application/json")
        if not (body := await request.read()):
            raise web.HTTPBadRequest(reason="the body is empty")
        try:
            # Read here only for the error. The process gets the body unchanged.
            PageQuestion.of(orjson.loads(body))
        except (ValueError, RecursionError) as error:
            return web.json_response({"error": str(error)}, status=400)
        try:
            return _json(await self.questions.ask(body))
        except QuestionError as error:
            return _json({"findings": [], "problems": {}, "answers": [], "stopped": str(error)})


def _json(document: JSON | bytes) -> web.Response:
    body = document if isinstance(document, bytes) else orjson.dumps(document)
    return web.Response(body=body, content_type="application/json")


@asynccontextmanager
async def listening(served: ConsoleSources, port: int) -> AsyncIterator[str]:
    """Listen for the block. Gives the address of the page with its token. Raises ServeError."""
    console = Console(served)
    # A request that its page gives up is cancelled, and with it the process that computes the answer.
    runner = web.AppRunner(console.application, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, HOST, port).start()
        except OSError as error:
            raise cannot_listen(HOST, port, error) from error
        console.warm_up()
        yield f"http://{HOST}:{runner.addresses[0][1]}/#token={console.token}"
    finally:
        await runner.cleanup()
        await console.close()


def run(served: ConsoleSources, port: int, started: Callable[[str], None]) -> None:
    """Listen until SIGINT or SIGTERM. ``started`` gets the address. Raises ServeError."""
    asyncio.run(until_signal(listening(served, port), started))
