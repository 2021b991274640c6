"""The bodies of requests: how they are received, and how many bytes of memory they take until they are answered."""

import asyncio
from typing import Final, Protocol, cast

from aiohttp import HttpVersion11
from aiohttp.web_protocol import RequestPayloadError
from aiohttp.web_request import BaseRequest

from karta_interpreter.base.errors import RequestError
from karta_interpreter.base.sandbox.container import container_memory
from karta_interpreter.webhook.memory import trim_memory
from karta_interpreter.webhook.settings import MIB

_MOST: Final = 128 * MIB
_STILL: Final = 1.0
"""Seconds after which a body without progress gives its room to another body."""
_TRIMMED: Final = 64 * MIB
"""Bytes of bodies after which free memory is given back, because an attack leaves as much memory as it sent."""
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class Sender(Protocol):
    """A connection that receives a body."""

    @property
    def is_receiving(self) -> bool:
        """Return whether the body is still incomplete."""

    def has_room(self, size: int) -> bool:
        """Count bytes of the body. Return whether there is room for them."""

    def disconnect(self) -> None:
        """Close the connection at once."""


class Bodies:
    """Counts the bytes of bodies over all connections and limits them to ``most``.

    The received bytes of a body count until its request is answered or its client leaves. If there is no room for a
    further byte, the body that has stood still for longest, and for a second at least, is given up with its connection.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._total = 0
        self._passed = 0
        self._held: dict[Sender, tuple[int, float]] = {}

    def take(self, sender: Sender, size: int) -> bool:
        """Count bytes that a connection has sent. Return whether there is room for them."""
        now = asyncio.get_running_loop().time()
        while self._total + size > self._most:
            still = next(
                (holder for holder, (_, since) in self._held.items() if now - since >= _STILL and holder.is_receiving),
                None,
            )
            if still is None or still is sender:
                return False
            self.drop(still)
            still.disconnect()
        # Taken out and put in again: the first body is the one that has waited longest for a byte.
        held, _ = self._held.pop(sender, (0, now))
        self._held[sender] = (held + size, now)
        self._total += size
        return True

    def drop(self, sender: Sender) -> None:
        """Forget the body of a connection."""
        held, _ = self._held.pop(sender, (0, 0.0))
        self._total -= held
        self._passed += held
        if not self._total and self._passed >= _TRIMMED:
            self._passed = 0
            # Later: the last body is still in use.
            asyncio.get_running_loop().call_later(_STILL, trim_memory)


def most_bytes(body_limit: int) -> int:
    """Return the room for bodies: an eighth of the container's memory and at most 128 MiB, but one body in any case."""
    return max(min(container_memory() // 8, _MOST), body_limit)


def check_head(request: BaseRequest, limit: int) -> None:
    """Raise RequestError for a body that is not JSON, that is compressed, or that will have more than ``limit`` bytes.

    No byte of the body has been read then. A body of unknown length (chunked) has to be limited while it is read.
    """
    content_type = request.headers.get("Content-Type", "")
    # The comparison is for Karmada, which sends exactly this. The rest of the condition is for other clients.
    if content_type != "application/json" and content_type.split(";")[0].strip().lower() != "application/json":
        raise RequestError("the Content-Type must be application/json", status=415)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise RequestError("the body must not be compressed: leave Content-Encoding out", status=415)
    if (request.content_length or 0) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> RequestError:
    return RequestError(f"the body has more than {limit} bytes", status=413)


async def read_body(request: BaseRequest, limit: int) -> bytes:
    """Return the JSON body of a request. Raises RequestError for another type or for more than ``limit`` bytes."""
    check_head(request, limit)
    try:
        # Most bodies arrive together with their headers.
        body = request.content.read_nowait() if request.content.is_eof() else await _receive(request, limit)
    except RequestPayloadError as error:
        raise RequestError("the body is not transferred as its headers say") from error
    if len(body) > limit:
        raise _too_large(limit)
    return body


async def _receive(request: BaseRequest, limit: int) -> bytes:
    """Return a body, or the beginning of a body above the limit. Raises RequestError if there is no room for it."""
    if request.version == HttpVersion11 and request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(_CONTINUE)
        # Not part of the response, which is only written if nothing has been sent yet.
        request.writer.output_size = 0
    chunks, length = list[bytes](), 0
    while length <= limit and (chunk := await request.content.readany()):
        if not cast("Sender", request.protocol).has_room(len(chunk)):
            raise RequestError("too many bytes of requests at once; try again in a second", status=503)
        chunks.append(chunk)
        length += len(chunk)
    return b"".join(chunks)
