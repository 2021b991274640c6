"""Handing connections from one process to another: the kernel passes open sockets over a socket."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final

_ONE: Final = b"."


def give(way: socket.socket, connection: socket.socket) -> bool:
    """Hand a connection over; whether there was room for it on the way."""
    try:
        socket.send_fds(way, [_ONE], [connection.fileno()])
    except OSError:  # the way is full, or nobody is there any more
        return False
    return True


class Taking:
    """Takes the connections that come on the ``way``, from now on.

    ``lost`` is called for one that this process can have no handle for, because it has too many.
    """

    def __init__(self, way: socket.socket, welcome: Callable[[socket.socket], None], lost: Callable[[], None]) -> None:
        self._way = way
        self._welcome = welcome
        self._lost = lost
        way.setblocking(False)
        asyncio.get_running_loop().add_reader(way, self.take_all)

    def take_all(self) -> None:
        """Take all connections that there are."""
        try:
            while True:
                data, handles, _, _ = socket.recv_fds(self._way, len(_ONE), 1)
                if not data:
                    break
                if not handles:
                    self._lost()
                for handle in handles:
                    self._welcome(socket.socket(fileno=handle))
        except BlockingIOError:
            return
        except ConnectionError:
            pass
        self.end()

    def end(self) -> None:
        """Take no more."""
        asyncio.get_running_loop().remove_reader(self._way)
