"""The endpoints: which path and method lead where, and what an HTTP error looks like."""

from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from urllib.parse import parse_qs

from multidict import CIMultiDict

from karta_interpreter.errors import RequestError
from karta_interpreter.server import metrics as exposition
from karta_interpreter.server import web
from karta_interpreter.server.bodies import read_body
from karta_interpreter.server.calls import Calls
from karta_interpreter.server.connection import Connection
from karta_interpreter.server.duration import parse_duration
from karta_interpreter.server.health import Readiness
from karta_interpreter.server.load import overloaded
from karta_interpreter.server.log import log
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.wire import encode_status

INTERPRET = "/interpret"
VALIDATE, MUTATE = "/admission/validate", "/admission/mutate"
_READING = {"/healthz", "/readyz", "/metrics"}
_GET, _POST = ("GET", "HEAD"), ("POST",)
_SERVER = {"Server": "karta-interpreter"}
_JSON = CIMultiDict(_SERVER | {"Content-Type": "application/json"})
_TEXT = CIMultiDict(_SERVER | {"Content-Type": "text/plain; charset=utf-8"})
_METRICS = CIMultiDict(_SERVER | {"Content-Type": exposition.CONTENT_TYPE})

_UNAVAILABLE = 503

_REVIEW_LIMIT = 3 * 2**20
"""Bytes of an ``AdmissionReview``: a Karta as it is and as it was, each below the 1.5 MiB that an API server stores."""

REVIEW_SECONDS = 5.0
"""The longest that a review may take, even where the API server waits longer; a process for it may have to start."""

_MARGIN = 0.5
"""Seconds of the client's timeout that are left for the answer to travel."""


Review = Callable[[bytes, float], Awaitable[bytes]]
"""Answers an ``AdmissionReview`` within so many seconds."""


class Application:
    """Answers every request that is HTTP, errors with a Kubernetes ``Status``.

    ``reviews`` has the handler of each path of the admission webhooks.
    """

    def __init__(
        self,
        calls: Calls,
        reviews: Mapping[str, Review],
        readiness: Readiness,
        metrics: Metrics,
        *,
        body_limit: int,
        call_limit: float,
    ) -> None:
        self._reviews = reviews
        self._calls = calls
        self._readiness = readiness
        self._metrics = metrics
        self._body_limit = body_limit
        self._call_limit = call_limit

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        try:
            response = await self._answer(request)
        except RequestError as error:
            later = {"Retry-After": "1"} if error.status == _UNAVAILABLE else {}
            response = self.refuse(error.status, str(error), **later)
        if self._readiness.draining or (isinstance(request.protocol, Connection) and request.protocol.is_old):
            # The client opens its next connection elsewhere, instead of losing a call when this one is closed.
            response.force_close()
        return response

    def at_once(self, body: bytes) -> bytes | None:
        """Return the answer to a body sent to ``/interpret``, None when that is for `handle` to give."""
        if self._readiness.draining or self._calls.load.is_spent:
            return None
        try:
            return self._calls.answer_at_once(body)
        except Exception:  # noqa: BLE001 - `handle` meets the same error again and answers it
            return None

    def refuse(self, status: int, message: str, **headers: str) -> web.Response:
        """Return an HTTP error."""
        self._metrics.refused(status)
        log.debug("request refused", status=status, reason=message)
        return web.Response(status=status, body=encode_status(status, message), headers={**_JSON, **headers})

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        path, _, parameters = request.raw_path.partition("?")
        if path != INTERPRET:
            path = request.rel_url.path.rstrip("/")
        if path == INTERPRET:
            if request.method != "POST":
                return self._wrong_method(path, request.method, _POST)
            body = await read_body(request, self._body_limit)
            return web.Response(body=await self._interpret(body, _seconds(parameters, self._call_limit)), headers=_JSON)
        if path in self._reviews:
            if request.method != "POST":
                return self._wrong_method(path, request.method, _POST)
            body = await read_body(request, min(self._body_limit, _REVIEW_LIMIT))
            review = await self._review(path, body, _seconds(parameters, REVIEW_SECONDS))
            return web.Response(body=review, headers=_JSON)
        if path not in _READING:
            served = ", ".join((INTERPRET, *self._reviews, *sorted(_READING)))
            raise RequestError(f"there is nothing at this path; served are {served}", status=404)
        if request.method not in _GET:
            return self._wrong_method(path, request.method, _GET)
        return self._report(path)

    async def _interpret(self, body: bytes, seconds: float) -> bytes:
        load = self._calls.load
        if load.is_full:
            # Calls that wait for nothing are answered all the same.
            answer = None if load.is_spent else self._calls.answer_at_once(body)
            if answer is None:
                raise overloaded()
            return answer
        with load.work():
            return await self._calls.answer(body, await load.turn(seconds))

    async def _review(self, path: str, body: bytes, seconds: float) -> bytes:
        if self._calls.load.is_full:
            raise overloaded()
        with self._calls.load.work():
            return await self._reviews[path](body, seconds)

    def _report(self, path: str) -> web.Response:
        if path == "/metrics":
            return web.Response(body=self._metrics.page(), headers=_METRICS)
        if path == "/readyz" and (objections := self._readiness.objections()):
            return self.refuse(503, "; ".join(objections))
        return web.Response(body=b"ok\n", headers=_TEXT)

    def _wrong_method(self, path: str, method: str, allowed: tuple[str, ...]) -> web.Response:
        names = ", ".join(allowed)
        return self.refuse(405, f"{path} takes {names}, not {method}", Allow=names)


def _seconds(parameters: str, most: float) -> float:
    """Return the seconds for an answer: ``most``, or what the client's timeout leaves."""
    timeout = _timeout(parameters) if parameters else None
    return most if timeout is None else min(max(timeout - _MARGIN, timeout / 2), most)


@lru_cache(maxsize=64)
def _timeout(parameters: str) -> float | None:
    """Return the seconds of ``?timeout=``, after which the client gives up."""
    return parse_duration(parse_qs(parameters).get("timeout", [""])[-1])
