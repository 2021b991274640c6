"""Request bodies: which are accepted, and reading them within limits."""

from aiohttp import HttpVersion11

from karta_interpreter.errors import RequestError
from karta_interpreter.server import web

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


async def read_body(request: web.BaseRequest, limit: int) -> bytes:
    """Return the JSON body of a request; raises RequestError for another type and for more than ``limit`` bytes."""
    content_type = request.headers.get("Content-Type", "")
    # The comparison is for Karmada, which sends exactly this; the rest of the condition for other clients.
    if content_type != "application/json" and content_type.split(";")[0].strip().lower() != "application/json":
        raise RequestError("the Content-Type must be application/json", status=415)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise RequestError("the body must not be compressed: leave Content-Encoding out", status=415)
    if (request.content_length or 0) > limit:
        raise _too_large(limit)
    # Most bodies arrive together with their headers.
    body = request.content.read_nowait() if request.content.is_eof() else await _receive(request)
    if len(body) > limit:
        raise _too_large(limit)
    return body


async def _receive(request: web.BaseRequest) -> bytes:
    if request.version == HttpVersion11 and request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(_CONTINUE)
        # Not part of the response, which is only written when nothing has been sent yet.
        request.writer.output_size = 0
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise _too_large(request.client_max_size) from error
    except web.RequestPayloadError as error:
        raise RequestError("the body is not transferred as its headers say") from error


def _too_large(limit: int) -> RequestError:
    return RequestError(f"the body has more than {limit} bytes", status=413)
