"""The edge of this API: limits and access before each request, problem details and an audit line after it."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from math import ceil
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response
from pydantic import BaseModel

from karta_interpreter.base.errors import RequestError
from karta_interpreter.web.types_api.access import Access, bearer_token
from karta_interpreter.web.types_api.models import CONTENT_TYPE, ApiError
from karta_interpreter.webhook.http.bodies import read_body
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.registration.conflicts import RateLimit

_HEADERS: Final = {"Server": "karta-interpreter", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_READS: Final = {"get", "list"}
_LONGEST: Final = 200  # of texts of a client in the log, which may be as long as a header
_MOST_CLIENTS: Final = 10_000
_AT_ONCE: Final = 2  # requests of one user; the user's other requests wait, so that other users do not
_ANYTHING: Final = re.compile("")


@dataclass(slots=True)
class RequestContext:
    """A request, the id in its path, its user, and for the audit the name of the type that it is about."""

    request: BaseRequest
    id: str = ""
    user: str = ""
    about: str = ""


Handler = Callable[[RequestContext], Awaitable[Response]]


class Route(NamedTuple):
    """A method of a path, which may contain an id. ``verb`` is the verb of RBAC that its requests need."""

    method: str
    path: re.Pattern[str]
    verb: str
    handler: Handler

    @classmethod
    def of(cls, method: str, path: str, verb: str, handler: Handler) -> "Route":
        """Read a path with ``{id}`` for any id."""
        return cls(method, re.compile(re.escape(path).replace(r"\{id\}", "(?P<id>[^/:]+)")), verb, handler)


class ClientLimits:
    """Limits how often each address may ask. The allowance of a minute comes back within a minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._clients: dict[str, RateLimit] = {}

    def take(self, client: str) -> None:
        """Count a request. Raises ApiError, 429, if there were too many."""
        if len(self._clients) >= _MOST_CLIENTS and client not in self._clients:
            self._clients.clear()  # a client had to wait less than a minute for another request
        limit = self._clients.setdefault(client, RateLimit(self._per_minute, 60 / self._per_minute))
        if wait := limit.take(self._clock()):
            detail = f"more than {self._per_minute} requests a minute"
            raise ApiError(429, detail, headers={"Retry-After": str(ceil(wait))})


class HttpApi:
    """Answers the requests of connections (`karta_interpreter.webhook.http.connection.Answers`)."""

    def __init__(self, routes: Sequence[Route], access: Access, limits: ClientLimits) -> None:
        self.draining = False
        self._routes = routes
        self._access = access
        self._limits = limits
        self._tasks: set[asyncio.Task[Response]] = set()
        self._turns = WeakValueDictionary[str, asyncio.Semaphore]()

    async def handle(self, request: BaseRequest) -> Response:
        """Answer one request. If a client leaves, its change is still completed."""
        task = asyncio.create_task(self._answer(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    def answer_soon(self, body: bytes, parameters: str) -> None:
        """Leave all requests to `handle`."""

    def refuse(self, status: int, message: str) -> Response:
        """Return an HTTP error."""
        return _refusal(ApiError(status, message))

    async def finish(self, seconds: float) -> None:
        """Return when all changes of clients that have left are made, or after the given time."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def _answer(self, request: BaseRequest) -> Response:
        client = request.remote or ""
        route, context = self._route(request)
        try:
            self._limits.take(client)
            token = bearer_token(request.headers.get("Authorization"))
            context.user = await self._access.user(token)
            await self._access.authorize(token, route.verb)
            async with self._turns.setdefault(context.user, asyncio.Semaphore(_AT_ONCE)):
                response = await route.handler(context)
        except ApiError as error:
            response = _refusal(error)
        except Exception as error:  # noqa: BLE001 - the edge of the process; its text may hold content of the body
            log.error("request failed unexpectedly", path=request.path[:_LONGEST], exc_info=error)
            response = _refusal(ApiError(500, "internal error"))
        response.headers.update(_HEADERS)
        is_quiet = route.verb in _READS and response.status < HTTPStatus.BAD_REQUEST
        fields: dict[str, Any] = {"workload_type": context.about} if context.about else {}
        what = f"{request.method[:_LONGEST]} {request.path[:_LONGEST]}"
        write = log.debug if is_quiet else log.info
        write(
            "workload types audit",
            who=context.user or "unknown",
            what=what,
            **fields,
            outcome=response.status,
            client=client,
        )
        return response

    def _route(self, request: BaseRequest) -> tuple[Route, RequestContext]:
        matches = [(route, match) for route in self._routes if (match := route.path.fullmatch(request.path))]
        for route, match in matches:
            if route.method == request.method:
                return route, RequestContext(request, match.groupdict().get("id", ""))
        methods = [route.method for route, _ in matches]

        async def refuse(_: RequestContext) -> Response:
            raise _unknown(methods, request.method)

        return Route(request.method, _ANYTHING, "list", refuse), RequestContext(request)


def _unknown(methods: Sequence[str], method: str) -> ApiError:
    if not methods:
        return ApiError(404, "there is nothing at this path; /api/v1/openapi.json describes what there is")
    allowed = ", ".join(sorted(methods))
    return ApiError(405, f"this path takes {allowed}, not {method[:_LONGEST]}", headers={"Allow": allowed})


def _refusal(error: ApiError) -> Response:
    body = error.problem.model_dump_json(by_alias=True, exclude_none=True)
    return Response(status=error.status, text=body, content_type=CONTENT_TYPE, headers=error.headers)


async def read(asked: RequestContext, limit: int) -> bytes:
    """Return the body of a request. Raises ApiError: 413, 415, or 400 if it has not come."""
    try:
        return await read_body(asked.request, limit)
    except RequestError as error:
        raise ApiError(error.status, str(error)) from error
    except ConnectionError as error:
        raise ApiError(400, "the client has left before its body was read") from error


def json_response(body: BaseModel | bytes, status: int = 200, *, etag: str = "", location: str = "") -> Response:
    """Return an answer with a body, which may be JSON already."""
    headers = ({"ETag": f'"{etag}"'} if etag else {}) | ({"Location": location} if location else {})
    text = body if isinstance(body, bytes) else body.model_dump_json(by_alias=True).encode()
    return Response(status=status, body=text, content_type="application/json", headers=headers)
