"""The HTTP application: limits and access before each request, problem details and an audit line after it."""

import asyncio
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from math import ceil
from typing import Any, Final
from weakref import WeakValueDictionary

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from pydantic import BaseModel

from karta_interpreter.base.errors import RequestError
from karta_interpreter.base.findings import closest, did_you_mean
from karta_interpreter.base.rate_limit import Clock, RateLimit
from karta_interpreter.web.console.guard import OF_SERVE
from karta_interpreter.web.types_api.access import Access, bearer_token
from karta_interpreter.web.types_api.models import CONTENT_TYPE, UNKNOWN, ApiError, ProblemError
from karta_interpreter.web.types_api.openapi import OPERATIONS, ROOT, TYPES
from karta_interpreter.webhook.http.bodies import check_head
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.settings import MIB

HEALTH, READY = "/healthz", "/readyz"
USER, ABOUT = "user", "about"
"""The user of a request, and for the audit the name of the type that it is about, next to the ``id`` of its path.

They are in `match_info`: aiohttp 3.14 warns of texts as keys of a request, and older versions have no other keys.
"""

_MOST_BYTES: Final = 2 * MIB  # of a body
_BODY_SECONDS: Final = 30.0
_HEADERS: Final = {"Server": "karta-interpreter", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
# The verb of RBAC that an operation needs, by the beginning of its name. Others need ``list``.
# What stores nothing needs the right to read, although it is a POST.
_VERBS: Final = {"create": "create", "replace": "update", "delete": "delete", "get": "get", "interpret": "get"}
_ONE: Final = f"{ROOT}{TYPES}/{{id}}"
_INSTEAD: Final = {
    "POST": f"; POST {ROOT}{TYPES} registers a type, {ROOT}{TYPES}:validate judges it",
    "PATCH": f"; PUT {_ONE} replaces a type",
    **dict.fromkeys(("PUT", "DELETE"), f"; a registered type is at {_ONE}"),
}
_NO_QUERY: Final = f"only {ROOT}{TYPES} takes a query; {ROOT}{TYPES}:validate judges a type and stores nothing"
_LONGEST: Final = 200  # of texts of a client in the log, which may be as long as a header
_MOST_CLIENTS: Final = 10_000
_UNKNOWN_LINES: Final = 100  # of the log at once, about requests whose user is not known
_AT_ONCE: Final = 2  # requests of one user; the user's other requests wait, so that other users do not


class ClientLimits:
    """Limits how often each address may ask. The allowance of a minute comes back within a minute."""

    def __init__(self, per_minute: int, clock: Clock = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._clients: dict[str, RateLimit] = {}

    def take(self, client: str) -> None:
        """Count a request. Raises ApiError, 429, if there were too many."""
        if len(self._clients) >= _MOST_CLIENTS and client not in self._clients:
            self._clients.clear()  # a client had to wait less than a minute for another request
        limit = self._clients.setdefault(client, RateLimit(self._per_minute, 60 / self._per_minute))
        if wait := limit.take(self._clock()):
            raise ApiError(
                429, f"more than {self._per_minute} requests a minute", headers={"Retry-After": str(ceil(wait))}
            )


def application(
    handlers: Mapping[str, Handler], access: Access, limits: ClientLimits, is_ready: Callable[[], bool] = lambda: True
) -> web.Application:
    """Return the application with a handler for each operation of the description, by its name."""

    async def ready(_: web.Request) -> web.Response:
        text, status = ("ok\n", 200) if is_ready() else (f"{UNKNOWN}\n", 503)
        return web.Response(status=status, text=text, headers=_HEADERS)

    made = web.Application(middlewares=[_edge(access, limits)], client_max_size=_MOST_BYTES)
    for operation in OPERATIONS:
        # No id contains the colon that begins the name of an action.
        path = f"{ROOT}{operation.path}".replace("{id}", "{id:[^/:]+}")
        made.router.add_route(operation.method.upper(), path, handlers[operation.name], name=operation.name)
    made.router.add_get(HEALTH, _healthy)
    made.router.add_get(READY, ready)
    return made


async def _healthy(_: web.Request) -> web.Response:
    return web.Response(text="ok\n", headers=_HEADERS)


class _Audit:
    """Writes a line about each request. Those without a user have a line each second after the first few."""

    def __init__(self) -> None:
        self._limit = RateLimit(_UNKNOWN_LINES, 1.0)
        self._omitted = 0

    def write(self, request: web.Request, status: int) -> None:
        """Write the line, with the number of lines that were left out before it."""
        match_info = request.match_info
        if USER not in match_info and self._limit.take(time.monotonic()):
            self._omitted += 1
            return
        fields: dict[str, Any] = {"workload_type": match_info[ABOUT]} if ABOUT in match_info else {}
        if self._omitted:
            fields["omitted"] = self._omitted
            self._omitted = 0
        is_quiet = _verb(request) in {"get", "list"} and status < HTTPStatus.BAD_REQUEST
        write = log.debug if is_quiet else log.info
        write(
            "workload types audit",
            who=match_info.get(USER, "unknown"),
            what=f"{request.method[:_LONGEST]} {request.path[:_LONGEST]}",
            **fields,
            outcome=status,
            client=request.remote or "",
        )


def _edge(access: Access, limits: ClientLimits) -> Middleware:
    turns = WeakValueDictionary[str, asyncio.Semaphore]()
    audit = _Audit()

    async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
        limits.take(request.remote or "")
        if request.path in OF_SERVE:
            raise ApiError(404, "`karta-interpreter serve` answers at this path, on its own port")
        token = bearer_token(request.headers.get("Authorization"))
        request.match_info[USER] = user = await access.user(token)
        await access.authorize(token, _verb(request))
        # A parameter without effect, such as dryRun, would let a client believe that nothing is stored.
        if request.query and request.match_info.route.name not in {None, "listTypes"}:
            raise ApiError(
                400, _NO_QUERY, errors=[ProblemError(parameter=name, detail=_NO_QUERY) for name in request.query]
            )
        async with turns.setdefault(user, asyncio.Semaphore(_AT_ONCE)):
            return await handler(request)

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path in {HEALTH, READY}:
            return await handler(request)
        try:
            response = await admit(request, handler)
        except ApiError as error:
            response = _refusal(error)
        except web.HTTPException as error:
            response = _refusal(_problem(error, request))
        except Exception as error:  # noqa: BLE001 - the edge of the process; its text may hold content of the body
            log.error("request failed unexpectedly", path=request.path[:_LONGEST], exc_info=error)
            response = _refusal(ApiError(500, "internal error"))
        response.headers.update(_HEADERS)
        audit.write(request, response.status)
        return response

    return answer


def _verb(request: web.Request) -> str:
    name = request.match_info.route.name or ""
    return next((verb for beginning, verb in _VERBS.items() if name.startswith(beginning)), "list")


def _problem(error: web.HTTPException, request: web.Request) -> ApiError:
    """Return the error of this API for an error of aiohttp."""
    match error:
        case web.HTTPMethodNotAllowed():
            allowed = ", ".join(sorted(error.allowed_methods))
            detail = f"this path takes {allowed}, not {request.method[:_LONGEST]}{_INSTEAD.get(request.method, '')}"
            return ApiError(405, detail, headers={"Allow": allowed})
        case web.HTTPNotFound():
            paths = dict.fromkeys([*(f"{ROOT}{operation.path}" for operation in OPERATIONS), HEALTH, READY])
            path = request.path[:_LONGEST]
            hint = _INSTEAD.get(request.method) if path == f"{ROOT}{TYPES}/" else ""
            hint = hint or f"; {did_you_mean(closest(path, paths) or path, paths)}"
            return ApiError(404, f"there is nothing at this path{hint}")
        case web.HTTPRequestEntityTooLarge():
            return ApiError(413, f"the body has more than {_MOST_BYTES} bytes")
        case _:
            return ApiError(400, error.reason)


def _refusal(error: ApiError) -> web.Response:
    return web.Response(
        status=error.status,
        text=error.problem.model_dump_json(by_alias=True, exclude_none=True),
        content_type=CONTENT_TYPE,
        headers=error.headers,
    )


async def read(request: web.Request) -> bytes:
    """Return the body of a request. Raises ApiError: 413, 415, or 400 if it has not come."""
    try:
        check_head(request, _MOST_BYTES)
        async with asyncio.timeout(_BODY_SECONDS):
            return await request.read()
    except RequestError as error:
        raise ApiError(error.status, str(error)) from error
    except (ConnectionError, TimeoutError, web.RequestPayloadError) as error:
        raise ApiError(400, "the body has not come as its headers say") from error


def json_response(body: BaseModel | bytes, status: int = 200, *, etag: str = "", location: str = "") -> web.Response:
    """Return an answer with a body, which may be JSON already."""
    headers = ({"ETag": f'"{etag}"'} if etag else {}) | ({"Location": location} if location else {})
    text = body if isinstance(body, bytes) else body.model_dump_json(by_alias=True).encode()
    return web.Response(status=status, body=text, content_type="application/json", headers=headers)
