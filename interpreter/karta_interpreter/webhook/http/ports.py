"""Ports that are not available: the words for it, which servers and the console share."""

import errno
import socket
from typing import Final

from karta_interpreter.base.errors import ServeError

_HINTS: Final = {
    errno.EADDRINUSE: "another process listens there: stop it, or choose another port",
    errno.EACCES: "ports below 1024 are for root: choose a higher one",
    socket.EAI_NONAME: "the name has no address: give an address of this machine",
    errno.EADDRNOTAVAIL: "this machine has no such address: 0.0.0.0 stands for all that it has",
}


def cannot_listen(host: str, port: int, error: OSError) -> ServeError:
    """Return the error for an address that is not available, with a hint."""
    hint = _HINTS.get(error.errno or 0, error.strerror or str(error))
    return ServeError(f"cannot listen on {host} port {port}: {hint}")
