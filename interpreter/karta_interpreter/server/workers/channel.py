"""Messages over a socket between the server and one worker."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from typing import Final, Self

from karta_interpreter.server.workers.messages import ToServer, ToWorker, encode

_LENGTH: Final = struct.Struct(">Q")


class Channel:
    """One end of a socket; messages come in the order in which they were sent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, end: socket.socket) -> Self:
        """Speak over a socket from now on."""
        return cls(*await asyncio.open_unix_connection(sock=end))

    def send(self, message: ToWorker | ToServer) -> None:
        """Send a message, sometime; to nobody, when an end is closed."""
        if not self._writer.is_closing():
            data = encode(message)
            self._writer.write(_LENGTH.pack(len(data)) + data)

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages that come, until the other end is closed."""
        try:
            while True:
                (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
                yield await self._reader.readexactly(length)
        except (ConnectionError, asyncio.IncompleteReadError):
            return

    def close(self) -> None:
        """Close this end, once everything was sent that can be."""
        self._writer.close()
