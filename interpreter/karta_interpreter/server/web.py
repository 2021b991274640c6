"""The parts of `aiohttp.web` that a server is made of.

`aiohttp.web` itself loads routes, sessions of websockets, file responses and a command line: 1.3 MB and 30 ms for code
that this server does not use.
"""

from aiohttp.web_exceptions import HTTPRequestEntityTooLarge
from aiohttp.web_protocol import RequestHandler, RequestPayloadError
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response, StreamResponse
from aiohttp.web_server import Server

__all__ = [
    "BaseRequest",
    "HTTPRequestEntityTooLarge",
    "RequestHandler",
    "RequestPayloadError",
    "Response",
    "Server",
    "StreamResponse",
]
