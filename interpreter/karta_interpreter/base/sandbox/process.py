"""A child process that answers one request after the other, under limits, and can be killed at any time.

A child has no environment and no files but a socket to this process. It ends when this process does.
"""

import json
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from karta_interpreter.base.errors import SandboxError, StopCause
from karta_interpreter.base.sandbox import child
from karta_interpreter.base.sandbox.container import container_memory

READ: Final = 1 << 16
"""The most bytes to read from the socket of a process at once. malloc maps memory for a buffer of 128 KiB each time."""

_START_SECONDS: Final = 10.0
# After its answer a child only has to free its memory.
_SETTLE_SECONDS: Final = 1.0
_WAIT_SECONDS: Final = 1.0
_DEATHS: Final = {
    child.NO_MEMORY: StopCause.MEMORY,
    # Libraries end their process when memory runs out.
    -signal.SIGABRT: StopCause.MEMORY,
    -signal.SIGSEGV: StopCause.MEMORY,
    -signal.SIGKILL: StopCause.KILLED,
    -signal.SIGPROF: StopCause.PROCESSOR_TIME,
}
_REASONS: Final = {
    StopCause.MEMORY: "it needs more than {} MiB of memory",
    StopCause.KILLED: "its process was killed, perhaps for want of memory",
    StopCause.PROCESSOR_TIME: "it takes too much processor time",
}


class Program(Struct, frozen=True):
    """The program of the processes of a pool, and their limits."""

    path: str
    """A file with a function ``start``, which gets the ``arguments`` and returns a function that answers a request.

    See `karta_interpreter.base.sandbox.child`.
    """
    memory: int
    """Bytes that a process may take, with the program itself.

    In a small container it is a quarter of its memory, so that the container has room for three such processes.
    """
    arguments: tuple[str, ...] = ()
    packages: bool = True
    """Whether it can import the packages of this process, or only the standard library."""
    niceness: int = 0
    grace: float = 0.2
    """The seconds that a process has after its deadline to name what took so long. Then it is ended."""

    @property
    def bound(self) -> int:
        """The bytes that a process may take in this container."""
        return min(self.memory, container_memory() // 4)

    def command(self) -> list[str]:
        """Return the command that starts a process."""
        ours = str(Path(__file__).parents[3])
        # An installation can make our package importable by a hook instead of a folder on the path.
        folders = list(dict.fromkeys([*filter(None, sys.path), ours])) if self.packages else []
        setup = json.dumps([self.path, folders, {"memory": self.bound, "niceness": self.niceness}, self.arguments])
        # No environment, user site, current folder (-I) or site-packages with its .pth files (-S), which run code.
        return [sys.executable, "-I", "-S", child.__file__, setup]


class Process:
    """One child process. It is not for two threads at once, but any thread may `kill` it.

    A request is one `send` with its seconds, any number of further messages in both directions, and `settle`. If the
    process cannot go on it is stopped, and SandboxError has the cause.
    """

    def __init__(self, program: Program) -> None:
        self._memory = program.bound
        self._grace = program.grace
        self._buffer = bytearray()
        self._poll = select.poll()
        self._seconds = self._end = 0.0
        self._is_ready = self._has_started = False
        self.is_settling = False
        """Whether its request has been answered, and it will soon be ready for another one."""
        try:
            self.socket, theirs = socket.socketpair()
            self.socket.setblocking(False)
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - our own program, and no shell
                    program.command(),
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={},
                    start_new_session=True,  # Ctrl-C in a terminal is for the server, which finishes its calls
                )
        except OSError as error:
            if hasattr(self, "socket"):
                self.socket.close()
            raise SandboxError(f"no process can be started: {error.strerror}", StopCause.NOT_STARTED) from error
        self._expect_ready(_START_SECONDS)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def send(self, letter: bytes, payload: bytes, seconds: float = 0.0) -> None:
        """Send a message.

        A message with ``seconds`` begins a request, which is stopped that long and `Program.grace` later.
        """
        buffers = self.parts(letter, payload, seconds)
        try:
            for buffer in buffers:
                unsent = memoryview(buffer)
                while unsent:
                    try:
                        unsent = unsent[self.socket.send(unsent) :]
                    except BlockingIOError:
                        self._wait(select.POLLOUT)
        except OSError as error:
            raise self.stopped(error) from error

    def receive(self) -> tuple[bytes, bytes]:
        """Return the letter and the bytes of the next message of the request."""
        try:
            while (message := self.message()) is None:
                self._wait(select.POLLIN)
                self.take(self.socket.recv(READ))
        except OSError as error:
            raise self.stopped(error) from error
        return message

    def parts(self, letter: bytes, payload: bytes, seconds: float = 0.0) -> tuple[bytes, ...]:
        """Return the bytes that `send` would send, for a caller that waits for the socket itself."""
        if seconds:
            self._seconds, self._end = seconds, time.monotonic() + seconds + self._grace
        self._is_ready = False
        header = child.FRAME.pack(letter, seconds, len(payload))
        # One system call for most messages. A long payload is not copied for that.
        return (header + payload,) if len(payload) < READ else (header, payload)

    def take(self, chunk: bytes) -> None:
        """Take bytes that came from the socket. Raise ConnectionResetError if the process has closed its end."""
        if not chunk:
            raise ConnectionResetError
        self._buffer += chunk

    def message(self) -> tuple[bytes, bytes] | None:
        """Return the next message of those bytes, or None if it is not complete."""
        buffer, start = self._buffer, child.FRAME.size
        if len(buffer) < start:
            return None
        letter, _, length = child.FRAME.unpack_from(buffer)
        if len(buffer) < start + length:
            return None
        # By a view: a slice of the buffer would be a second copy.
        payload = bytes(memoryview(buffer)[start : start + length])
        del buffer[: start + length]
        if letter == child.BROKEN:
            self.stop()
            # The traceback of the child may quote the object, so it is not part of the message.
            failure = SandboxError("its process failed", StopCause.DEFECT)
            failure.add_note(payload.decode(errors="replace"))  # for the log
            raise failure
        return letter, payload

    @property
    def has_unread(self) -> bool:
        """Whether a further message has arrived, or a part of one."""
        return bool(self._buffer)

    def settle(self) -> bool:
        """Wait until the process is ready for another request. Return whether it gets ready, otherwise stop it."""
        if not self._is_ready:
            try:
                self._expect_ready(_SETTLE_SECONDS)
            except SandboxError:
                return False
        return True

    def kill(self) -> None:
        """Have the process end. The thread that uses it gets SandboxError."""
        self._process.kill()

    def wait(self) -> None:
        """Return when a process that was killed has ended."""
        self._process.wait()

    def stop(self) -> None:
        """End the process and wait until it has ended."""
        self.kill()
        self.wait()
        self.socket.close()

    def _expect_ready(self, seconds: float) -> None:
        self.begin_settling(seconds)
        self.end_settling(self.receive())

    def begin_settling(self, seconds: float = _SETTLE_SECONDS) -> None:
        """Stop the process if it is not ready so many seconds later."""
        self._seconds, self._end = seconds, time.monotonic() + seconds

    def end_settling(self, message: tuple[bytes, bytes]) -> None:
        """Take the message that the process is ready."""
        letter, _ = message
        if letter != child.READY:
            self.stop()
            raise SandboxError("its process is out of step", StopCause.DEFECT)
        self._is_ready = self._has_started = True

    def _wait(self, events: int) -> None:
        """Wait for the socket. Its own timeouts would take twice as many system calls."""
        # Closed, because the process was stopped: `register` would raise ValueError.
        if self.socket.fileno() < 0:
            raise ConnectionResetError
        self._poll.register(self.socket, events)
        if not self._poll.poll(self.left * 1000):
            raise TimeoutError

    @property
    def left(self) -> float:
        """The seconds until the process is stopped."""
        return max(self._end - time.monotonic(), 0.001)

    def stopped(self, error: OSError) -> SandboxError:
        """Stop the process: its time is over, or it has closed its end of the socket."""
        status = 0
        if not isinstance(error, TimeoutError):
            with suppress(subprocess.TimeoutExpired):
                # The socket closes a moment before the process has ended, and only its status names the cause.
                status = self._process.wait(timeout=_WAIT_SECONDS)
        self.stop()
        if isinstance(error, TimeoutError) and not self._has_started:
            return SandboxError(f"its process takes longer than {self._seconds:.3g} s to start", StopCause.NOT_STARTED)
        if isinstance(error, TimeoutError):
            return SandboxError(f"it takes longer than {self._seconds:.3g} s", StopCause.TIME)
        cause = _DEATHS.get(status, StopCause.DEFECT)
        reason = _REASONS.get(cause, f"its process ended with status {status}")
        return SandboxError(reason.format(self._memory >> 20), cause)
