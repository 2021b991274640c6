"""A child process that answers one request after the other, and can be killed at any time.

A child has no environment and no files but a socket to this process. It ends by itself when this process does.
"""

import socket
import struct
import subprocess
import sys
import time
from typing import Final

FRAME: Final = struct.Struct(">cI")
"""In front of every message of a child: a letter, and how many bytes follow."""

_START_SECONDS: Final = 10.0
_CHUNK: Final = 1 << 20


class Process:
    """One child process that runs a Python program; not for two threads at once.

    The program gets ``arguments``, finds no packages, and is ready when it has sent its first message.
    """

    def __init__(self, program: str, *arguments: str) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own program, and no shell
                [sys.executable, "-I", "-S", program, *arguments],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,  # Ctrl-C in a terminal is for the server, which still needs its workers
            )
        try:
            self.receive(time.monotonic() + _START_SECONDS)
        except OSError:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is still there to answer."""
        return self._process.poll() is None

    def send(self, data: bytes, end: float) -> None:
        """Send bytes before a time of the monotonic clock; raises TimeoutError or another OSError."""
        self._socket.settimeout(_left(end))
        self._socket.sendall(data)

    def receive(self, end: float) -> tuple[bytes, bytes]:
        """The letter and the bytes of the next message; raises TimeoutError or another OSError."""
        letter, length = FRAME.unpack(self._read(FRAME.size, end))
        return letter, self._read(length, end)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._socket.close()

    def cause_of_death(self) -> int:
        """The status with which a process ended that has closed its socket; minus the number of a signal."""
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            status = 0
        self.stop()
        return status

    def _read(self, length: int, end: float) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._socket.settimeout(_left(end))
            chunk = self._socket.recv(min(length - len(data), _CHUNK))
            if not chunk:
                raise ConnectionResetError
            data += chunk
        return bytes(data)


def _left(end: float) -> float:
    return max(end - time.monotonic(), 0.001)
