"""Servers on loopback: one that prints nothing, also when a client leaves early, and a port for another one."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from sys import exception
from typing import Any


class QuietServer(ThreadingHTTPServer):
    """Prints no traceback when a client leaves early."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(exception(), ConnectionError):
            super().handle_error(request, client_address)


def answer(handler: BaseHTTPRequestHandler, content: bytes, kind: str = "application/json", status: int = 200) -> None:
    """Answer a request with some content."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def start(handler: type[BaseHTTPRequestHandler], port: int = 0, **attributes: object) -> int:
    """Serve with a handler, which has these attributes as well, in a thread that ends with the program.

    Return the port.
    """
    server = QuietServer(("127.0.0.1", port), _quiet(handler, attributes))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def _quiet(handler: type[BaseHTTPRequestHandler], attributes: Mapping[str, object]) -> type[BaseHTTPRequestHandler]:
    return type("Quiet", (handler,), {"log_message": lambda *_: None, **attributes})


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], **attributes: object) -> Iterator[str]:
    """Serve with a handler, which has these attributes as well, until the end of the block. Yield the URL."""
    with QuietServer(("127.0.0.1", 0), _quiet(handler, attributes)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port that no other process gets by chance: bound here, so that only a server that asks for it listens on it."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]
