"""The guard of the console: it accepts only requests of the console's page, and sets the headers of its answers.

The console listens on loopback, and every page in the user's browser can send requests to it. The token keeps pages of
other sites out, because they do not know it: the command prints it, the page takes it from the fragment of its address
and sends it in a header, never in a cookie. The host name is checked against DNS rebinding.
"""

import hmac
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

API: Final = "/api/"
OF_SERVE: Final = ("/interpret", "/admission/validate", "/readyz", "/metrics")
"""Paths of a server, which neither the console nor the types API has."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    # aiohttp's own header names its version and the version of Python.
    "Server": "karta-interpreter",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_DENY_ALL: Final = "default-src 'none'; frame-ancestors 'none'"


def page_policy(nonce: str) -> str:
    """Return the page's Content-Security-Policy: nothing inline but styles of the editor, nothing from elsewhere."""
    return (
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        f"style-src 'self' 'nonce-{nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def guard(token: str) -> Middleware:
    """Return the middleware that rejects requests not sent by the page, and sets the headers of every answer."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        response: web.StreamResponse | None = _rejection(request, token)
        try:
            if response is None:
                response = await handler(request)
        except web.HTTPMethodNotAllowed as error:
            response = _refused(405, f"this path takes {', '.join(sorted(error.allowed_methods))}")
        except web.HTTPException as error:
            response = _refused(
                error.status, "there is nothing at this path" if error.reason == "Not Found" else error.reason
            )
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        # The page itself has another policy, which its handler has set.
        response.headers.setdefault("Content-Security-Policy", _DENY_ALL)
        return response

    return check


def _rejection(request: web.Request, token: str) -> web.Response | None:
    try:
        host = urlsplit(f"//{request.host}").hostname
    except ValueError:  # a bracket without its other one
        host = None
    if host not in LOOPBACK:
        return _refused(403, "the console is reached by 127.0.0.1 or localhost only")
    origin = request.headers.get("Origin")
    if origin is not None and origin != f"http://{request.host}":
        return _refused(403, "this page is not the console's")
    program = "types-api" if request.path.startswith("/api/v1/") else "serve"
    if program == "types-api" or request.path in (*OF_SERVE, "/healthz"):
        reason = f"this is the console: `karta-interpreter {program}` answers at this path, on its own port"
        return _refused(404, reason)
    presented = request.headers.get("Authorization", "")
    # As bytes: it takes only ASCII of text. Headers may hold surrogates, in the place of bytes that are not UTF-8.
    is_known = hmac.compare_digest(presented.encode(errors="replace"), f"Bearer {token}".encode())
    if request.path.startswith(API) and not is_known:
        return _refused(401, "open the address that the command has printed, which has the token of this run")
    if request.path.startswith(API) and request.query:
        return _refused(400, f"this API has no parameters, such as {next(iter(request.query))}: the body has all")
    return None


def _refused(status: int, reason: str) -> web.Response:
    return web.json_response({"error": reason}, status=status)
