"""The main program of every child process: it loads the program of the child, takes its limits, and answers requests.

It runs as a script, by path, in an interpreter that finds no packages: so it imports nothing but the standard library.
Its argument is JSON: the file to load, the folders of packages that the file may import, the limits, and the arguments
of the file's function ``start``, which returns the function that answers a request.

A message is a letter, a number of seconds, a length and that many bytes. The seconds are the time that a request may
take. A child sends 0. After each request, and once at the start, the child sends `READY`.
"""

import errno
import gc
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from typing import Final

FRAME: Final = struct.Struct(">cdI")
READY: Final = b"!"
BROKEN: Final = b"X"

FIRST_TO_END: Final = "1000"
"""The ``oom_score_adj`` of a process that the kernel ends before any other when memory runs out."""

NO_MEMORY: Final = errno.ENOMEM
"""The exit status of a child that ran out of memory."""

_MORE_SECONDS: Final = 1.0
"""How much longer than its time a request may use the processor. The other process ends it before that."""


class Channel:
    """The child's end of the stream between the two processes. It ends the child when the other end is gone."""

    def __init__(self) -> None:
        # With a buffer that takes most requests in one read.
        self._requests, self._answers = open(0, "rb", 1 << 16), sys.stdout.buffer  # noqa: SIM115 - open to the end
        self.seconds = 0.0
        """The seconds of the last message that was received."""

    def receive(self) -> tuple[bytes, bytes]:
        """Return the letter and the bytes of the next message, after everything that was sent has left."""
        self._answers.flush()
        header = self._requests.read(FRAME.size)
        if len(header) < FRAME.size:
            # The server is gone. Python's own way out would free all loaded objects, piece by piece.
            os._exit(0)
        letter, self.seconds, length = FRAME.unpack(header)
        return letter, self._requests.read(length)

    def send(self, letter: bytes, payload: bytes) -> None:
        """Send a message. It may wait in a buffer until the next `receive` or `flush`."""
        self._answers.write(FRAME.pack(letter, 0.0, len(payload)))
        self._answers.write(payload)

    def flush(self) -> None:
        """Send the content of the buffer."""
        self._answers.flush()

    def end_above(self, most: int) -> None:
        """End the process if it has more bytes of memory than that, after everything that was sent has left."""
        if _memory()[1] > most:
            self.flush()
            os._exit(0)


Answer = Callable[[Channel, bytes, bytes], None]
"""Answers a request, given its letter and its bytes, by sending messages."""


def main(path: str, folders: list[str], limits: dict[str, int], arguments: list[str]) -> None:
    """Answer requests until the other process is gone."""
    try:
        _answer_requests(path, folders, limits, arguments)
    except MemoryError:
        # At once: to unwind or to report takes memory, too.
        os._exit(NO_MEMORY)


def _answer_requests(path: str, folders: list[str], limits: dict[str, int], arguments: list[str]) -> None:
    channel = Channel()
    try:
        sys.path[:0] = folders
        answer = _load(path, arguments)
        _limit_resources(**limits)
        while True:
            channel.send(READY, b"")
            letter, payload = channel.receive()
            # The kernel ends this process by SIGPROF if a request runs on after the other process has died. RLIMIT_CPU
            # would not do: it counts ticks since the start of the process, of which a busy machine counts a fifth more
            # than `time.process_time` shows, and what earlier requests have taken is added up.
            signal.setitimer(signal.ITIMER_PROF, channel.seconds + _MORE_SECONDS)
            answer(channel, letter, payload)
            signal.setitimer(signal.ITIMER_PROF, 0)
    except Exception as error:  # the edge of the process
        # orjson raises its own errors for want of memory, for a text at position 0.
        is_parsed = getattr(error, "pos", None) == 0 and "memory" in str(error)
        if is_parsed or isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            raise MemoryError from error
        import traceback  # noqa: PLC0415 - it takes a third of the time that a child without packages needs to start

        channel.send(BROKEN, traceback.format_exc().encode(errors="replace"))
        channel.flush()
        os._exit(1)


def _load(path: str, arguments: list[str]) -> Answer:
    loader = SourceFileLoader("program", path)
    module = module_from_spec(ModuleSpec("program", loader, origin=path))
    # Dataclasses, among others, look their module up there.
    sys.modules["program"] = module
    loader.exec_module(module)
    start: Callable[..., Answer] = module.start
    return start(*arguments)


def _limit_resources(memory: int, niceness: int) -> None:
    gc.freeze()  # the loaded program stays
    os.nice(niceness)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - pathlib takes long to import
        file.write(FIRST_TO_END)
    size, resident = _memory()
    # The kernel limits the address space. Mapped files and reserves are part of it, and take no memory.
    space = memory + size - resident
    # No dump, which would hold content of objects, and not a byte in any file.
    for limit, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_AS, space)):
        # A child of a child cannot have more than its parent. -1 stands for no limit.
        bound = min(most, resource.getrlimit(limit)[1] % 2**64)
        resource.setrlimit(limit, (bound, bound))


def _memory() -> tuple[int, int]:
    """Return the bytes of the address space and of the memory of this process, infinite without ``/proc``."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - as above
        size, resident, *_ = map(int, file.read().split())
        return size * resource.getpagesize(), resident * resource.getpagesize()
    return sys.maxsize, sys.maxsize


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
