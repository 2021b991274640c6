"""The parts of `aiohttp.web` that a server is made of.

`aiohttp.web` itself brings routes, sessions of websockets, file responses and a command line along: 1.3 MB and 30 ms
for parts without a use here.
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
