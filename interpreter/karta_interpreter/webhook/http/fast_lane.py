"""The fast lane: calls that come exactly as Karmada writes them are answered as soon as their last byte arrives.

Three quarters of aiohttp's work for a request is of no use to these. The fast lane decides nothing by itself. If a
request differs from Karmada's in one byte, or its answer is anything but a plain 200, aiohttp gets the request as it
came. The answer is ready immediately or is awaited from a child process.
"""

import re
import time
from email.utils import formatdate
from functools import lru_cache

from aiohttp.web_server import Server

from karta_interpreter.webhook.http.bodies import Bodies
from karta_interpreter.webhook.http.connection import Answers, Connection, Soon
from karta_interpreter.webhook.settings import Settings

# Go's net/http writes this for Karmada: these headers, in this order and spelling, each once, and no others. Nothing in
# it can be read in two ways. Bodies of a megabyte and more take so long that it does not matter who reads them.
_HEAD = re.compile(
    rb"POST /interpret(?:\?(timeout=(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ms|[hms])){1,3}))? HTTP/1\.1\r\n"
    rb"Host: [0-9A-Za-z.:\[\]-]{1,255}\r\n"
    rb"User-Agent: [!-~][ -~]{0,254}\r\n"
    rb"Content-Length: ([1-9][0-9]{0,5})\r\n"
    rb"Accept: [!-~][ -~]{0,254}\r\n"
    rb"Content-Type: application/json\r\n"
    rb"(?:Accept-Encoding: [!-~][ -~]{0,254}\r\n)?"
    rb"\r\n"
)
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nServer: karta-interpreter\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\nDate: %b\r\n%b\r\n%b"
)
_LAST = b"Connection: close\r\n"
_LONGEST_NUMBER = 6


class FastLane(Connection):
    """A connection with a fast lane.

    The lane takes a request if its head comes in one piece while aiohttp is idle, and holds it until its body is
    complete. aiohttp gets complete requests only, so that its parser is between two of them afterwards. The first other
    bytes close the lane: from then on, only aiohttp's parser knows where a request begins.
    """

    __slots__ = ("_after", "_awaited", "_before", "_end", "_held", "_is_closed", "_parameters", "_start")

    def __init__(self, server: Server, application: Answers, settings: Settings, bodies: Bodies) -> None:
        super().__init__(server, application, settings, bodies)
        self._held = bytearray()
        self._start = self._end = 0
        self._parameters = ""
        # The last head up to the number of bytes, and behind it. A client repeats both.
        self._before = self._after = b""
        self._awaited: Soon | None = None
        self._is_closed = False

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        # aiohttp itself sends no bytes here, to make its parser go on.
        if self._is_closed or not data:
            super().data_received(data)
            return
        if self._awaited:
            # The next request waits for the answer, and nothing else is read.
            self._held += data
            if self.transport is not None:
                self.transport.pause_reading()
        elif self._held:
            self._go_on(data)
        else:
            self._begin(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        """End the work for a client that leaves, because no answer can reach it any more."""
        if self._awaited:
            self._awaited.cancel()
        super().connection_lost(exc)

    @property
    def is_busy(self) -> bool:
        """Return whether there is a request, even if it is held or its answer is awaited."""
        return super().is_busy or bool(self._held) or self._awaited is not None

    @property
    def is_receiving(self) -> bool:
        """Return whether the body of a request, even a held one, is still incomplete."""
        return (bool(self._held) and self._awaited is None) or super().is_receiving

    def _begin(self, data: bytes) -> None:
        # aiohttp moves the end of an idle connection only after its own answers, and `last_used` reads it.
        now = self._loop.time()
        self._next_keepalive_close_time = now + self._keepalive_timeout
        # A client that does not take the written bytes makes the connection busy, too: aiohttp waits for it. Before its
        # first request, aiohttp may not have begun to wait for it.
        length = self._length(data) if not super().is_busy or not self._request_count else 0
        if not 0 < length <= self._settings.body_limit:
            self._close_lane(data)
            return
        self._end = self._start + length
        if len(data) == self._end:
            self._answer(data[self._start :], data)
        elif len(data) < self._end and self._bodies.take(self, len(data)):
            self._held += data
            # For the deadline of headers in `Connection`: the head has come, and the deadline of the body counts.
            self._request_count += 1
            self._expect_end(now)
        else:
            # A second request in one piece with the first: Go does not pipeline, so aiohttp takes this client. aiohttp
            # also takes a request without room for it, and rejects it.
            self._close_lane(data)

    def _length(self, data: bytes) -> int:
        """Return the length of the body behind a head, 0 for a head unlike Karmada's. Note its parameters."""
        begin = len(self._before)
        end = data.find(b"\r", begin, begin + _LONGEST_NUMBER + 1)
        number = data[begin:end]
        is_repeated = data.startswith(self._before) and data.startswith(self._after, end)
        if not (begin and is_repeated and number.isdigit() and number >= b"1"):
            head = _HEAD.match(data)
            if not head:
                return 0
            (begin, end), self._parameters, number = head.span(2), (head[1] or b"").decode(), head[2]
            self._before, self._after = data[:begin], data[end : head.end()]
        self._start = end + len(self._after)
        return int(number)

    def _go_on(self, data: bytes) -> None:
        length = len(self._held) + len(data)
        if length < self._end and self._bodies.take(self, len(data)):
            self._held += data
            return
        self._bodies.drop(self)
        held = bytes(self._held)
        self._held.clear()
        if length == self._end and not super().is_busy:
            self._answer(held[self._start :] + data, held, data)
        else:
            # In the parts in which they came: aiohttp begins with a request before it finds a fault behind it.
            self._close_lane(held, data)

    def _answer(self, body: bytes, *request: bytes) -> None:
        # The answer of an old connection needs `Connection: close`, which aiohttp writes and obeys.
        goes = not self.is_old and self.transport is not None
        answer = self._application.answer_soon(body, self._parameters) if goes else None
        if answer is None:
            super().data_received(b"".join(request))
            return
        self._request_count += 1
        if isinstance(answer, bytes):
            self._write(answer)
        else:
            self._awaited = answer
            answer.add_done_callback(self._finish)

    def _finish(self, awaited: Soon) -> None:
        """Write an awaited answer, unless its client or the event loop is gone."""
        self._awaited = None
        if self.transport is None or awaited.cancelled():
            return
        # There is a result, because `Calls` makes an answer of every error.
        is_last = self.is_old or self._application.draining
        self._write(awaited.result(), _LAST if is_last else b"")
        if is_last:
            self.transport.close()
        elif self._held:
            held = bytes(self._held)
            self._held.clear()
            self.transport.resume_reading()
            self.data_received(held)

    def _write(self, answer: bytes, header: bytes = b"") -> None:
        if self.transport is not None:
            self.transport.write(_ANSWER % (len(answer), _date(int(time.time())), header, answer))

    def _close_lane(self, *chunks: bytes) -> None:
        self._is_closed = True
        for chunk in chunks:
            super().data_received(chunk)


@lru_cache(maxsize=1)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
