"""Where clients connect: addresses, ports, and what to do when there is no listening on them."""

import asyncio
import errno
import socket
from contextlib import ExitStack

from karta_interpreter.errors import ServeError

BACKLOG = 512


async def bind(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of a host, which does not listen yet; raises ServeError when one is not free."""
    with ExitStack() as opened:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            bound = [opened.enter_context(_bound(family, address)) for family, _, _, _, address in found]
        except OSError as error:
            raise cannot_listen(host, port, error) from error
        opened.pop_all()
    return bound


def listen(bound: socket.socket) -> None:
    """Let clients connect; raises ServeError when somebody else listens there by now."""
    try:
        bound.listen(BACKLOG)
    except OSError as error:
        host, port = bound.getsockname()[:2]
        raise cannot_listen(host, port, error) from error


def cannot_listen(host: str, port: int, error: OSError) -> ServeError:
    """Return what to tell a user, with what to do."""
    hints = {
        errno.EADDRINUSE: "another process listens there: stop it, or choose another port",
        errno.EACCES: "ports below 1024 are for root: choose a higher one",
        errno.EADDRNOTAVAIL: "this machine has no such address: 0.0.0.0 stands for all that it has",
    }
    hint = hints.get(error.errno or 0, error.strerror or str(error))
    return ServeError(f"cannot listen on {host} port {port}: {hint}")


def _bound(family: socket.AddressFamily, address: tuple[object, ...]) -> socket.socket:
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setblocking(False)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind(address)
    except OSError:
        found.close()
        raise
    return found
