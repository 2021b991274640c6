"""The endpoints: paths and methods, the bodies that are read, and the form of an HTTP error."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response
from multidict import CIMultiDict

from karta_interpreter.base.errors import RequestError
from karta_interpreter.base.k8s import parse_duration
from karta_interpreter.webhook.admission import KindNames
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.http.bodies import read_body
from karta_interpreter.webhook.http.connection import Soon
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.process import metrics as exposition
from karta_interpreter.webhook.process.health import Readiness
from karta_interpreter.webhook.settings import ANSWER_MARGIN, Settings
from karta_interpreter.webhook.wire import encode_status

INTERPRET, VALIDATE = "/interpret", "/admission/validate"
_METHODS: Final = dict.fromkeys((INTERPRET, VALIDATE), ("POST",)) | dict.fromkeys(
    ("/healthz", "/metrics", "/readyz"), ("GET", "HEAD")
)
_SERVER = {"Server": "karta-interpreter"}
_JSON = CIMultiDict(_SERVER | {"Content-Type": "application/json"})
_TEXT = CIMultiDict(_SERVER | {"Content-Type": "text/plain; charset=utf-8"})
_METRICS = CIMultiDict(_SERVER | {"Content-Type": exposition.CONTENT_TYPE})
_UNAVAILABLE = 503

_REVIEW_LIMIT = 3 * 2**20
"""Bytes of an ``AdmissionReview``: a Karta as it is and as it was, each below the 1.5 MiB that an API server stores."""

REVIEW_SECONDS = 5.0
"""The time limit of a review, even if the API server waits longer. A process for the review may have to start."""


class Application:
    """Answers every HTTP request. Errors have a Kubernetes ``Status``.

    ``existing_kinds`` returns the kinds that the cluster's Kartas define, with their names. Reviews need them.
    """

    def __init__(
        self,
        calls: Calls,
        readiness: Readiness,
        metrics: exposition.Metrics,
        settings: Settings,
        existing_kinds: Callable[[], KindNames] = dict,
    ) -> None:
        self._readiness = readiness
        self._calls = calls
        self._metrics = metrics
        self._settings = settings
        self._existing_kinds = existing_kinds

    @property
    def draining(self) -> bool:
        """Return whether the server is about to stop."""
        return self._readiness.draining

    async def handle(self, request: BaseRequest) -> Response:
        """Answer one request."""
        try:
            return await self._answer(request)
        except RequestError as error:
            later = {"Retry-After": "1"} if error.status == _UNAVAILABLE else {}
            return self.refuse(error.status, str(error), **later)

    def answer_soon(self, body: bytes, parameters: str) -> bytes | Soon | None:
        """Return the answer to a body sent to ``/interpret``, None if `handle` has to answer."""
        load = self._calls.load
        # `handle` adds `Connection: close` while draining, and waits for a turn that is not spent.
        if self._readiness.draining or load.is_spent:
            return None
        try:
            answer = self._calls.answer_soon(body)
        except Exception:  # noqa: BLE001 - `handle` meets the same error again and answers it
            return None
        if answer is None or isinstance(answer, bytes):
            return answer
        if load.is_full:
            return None
        # Counted before the task runs: other calls may come in this turn of the event loop.
        load.begin()
        soon = asyncio.create_task(answer(_seconds(parameters, self._settings.call_limit)))
        soon.add_done_callback(lambda _: load.end())
        return soon

    def refuse(self, status: int, message: str, **headers: str) -> Response:
        """Return an HTTP error."""
        self._metrics.refused(status)
        # Logged at debug, because any client can cause it at any rate. The metric counts it.
        log.debug("request refused", status=status, reason=message)
        return Response(status=status, body=encode_status(status, message), headers={**_JSON, **headers})

    async def _answer(self, request: BaseRequest) -> Response:
        path, _, parameters = request.raw_path.partition("?")
        if path != INTERPRET:
            path = request.rel_url.path.rstrip("/")
        allowed = _METHODS.get(path)
        if allowed is None:
            types = "; `karta-interpreter types-api` has a port of its own" if path.startswith("/api") else ""
            raise RequestError(f"there is nothing at this path; served are {', '.join(_METHODS)}{types}", status=404)
        if request.method not in allowed:
            names = ", ".join(allowed)
            return self.refuse(405, f"{path} takes {names}, not {request.method}", Allow=names)
        if path == INTERPRET:
            body = await read_body(request, self._settings.body_limit)
            answer = await self._calls.answer(body, _seconds(parameters, self._settings.call_limit))
            return Response(body=answer, headers=_JSON)
        if allowed == ("POST",):
            body = await read_body(request, min(self._settings.body_limit, _REVIEW_LIMIT))
            answer = await self._calls.review(body, _seconds(parameters, REVIEW_SECONDS), self._existing_kinds())
            return Response(body=answer, headers=_JSON)
        if path == "/metrics":
            return Response(body=self._metrics.page(), headers=_METRICS)
        if path == "/readyz" and (objections := self._readiness.objections()):
            return self.refuse(503, "; ".join(objections))
        lines = ["ok", *(self._readiness.doubts() if (path, parameters) == ("/readyz", "verbose") else ())]
        return Response(body="".join(f"{line}\n" for line in lines).encode(), headers=_TEXT)


def _seconds(parameters: str, most: float) -> float:
    """Return the seconds for an answer: ``most``, or the rest of the client's timeout."""
    timeout = timeout_of(parameters) if parameters else 0.0
    # Half of a timeout below a second is left: the whole margin would leave too little to compute.
    return min(max(timeout - ANSWER_MARGIN, timeout / 2), most) if timeout > 0 else most


# Karmada sends one value for each `timeoutSeconds`. The bound is for clients that send other values.
@lru_cache(maxsize=64)
def timeout_of(parameters: str) -> float:
    """Return the seconds of ``timeout=``, after which the client gives up, or 0 without any.

    Raises RequestError if its value is not a Go duration.

    >>> timeout_of("timeout=1m0.5s"), timeout_of("")
    (60.5, 0.0)
    """
    values = parse_qs(parameters).get("timeout", ["0s"])
    nanoseconds = parse_duration(values[-1])
    if nanoseconds is None:
        raise RequestError(f"timeout must be a duration, as 30s or 1m30s, but is {values[-1][:64]!r}")
    return nanoseconds / 1e9
