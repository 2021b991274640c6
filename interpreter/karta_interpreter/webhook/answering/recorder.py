"""Records calls in a folder, in a thread of its own. No call waits for it."""

import os
import secrets
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import BinaryIO, Final

from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import Options
from karta_interpreter.engine.redaction import Redaction
from karta_interpreter.webhook.answering.pending_call import Answer, PendingCall
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.wire.recording import LONGEST, file_name, file_number, files_in, head, line

MOST_RECORDED: Final = 2**30
"""The most bytes of all files in the folder."""
MOST_WAITING: Final = 32 * 2**20
"""The most bytes of calls that wait to be written. Further calls are dropped."""
LARGEST_REDACTED: Final = 2**20
"""The most bytes of a request, and of its answer, that are read to leave texts out."""
_FILE_BYTES: Final = 4 * 2**20
_LEAST_FILES: Final = 4
_FLUSH_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 10.0
_END_SECONDS: Final = 5.0
_LEVEL: Final = 1  # of zlib: the higher ones take several times as long for a few percent
_GZIP: Final = 31


class Recorder:
    """Writes calls to files below a folder, at most ``limit`` bytes of them. The oldest file is deleted first.

    ``count`` gets the outcome of each call: written, dropped (the queue is full, or the request is too large), or
    failed (it cannot be written). Files are for their owner only, and an open one is locked.
    """

    def __init__(
        self, folder: Path, limit: int, options: Options, count: Callable[[str], None], *, secret: bool = False
    ) -> None:
        self._folder, self._limit, self._count = folder, limit, count
        self._file_bytes = min(_FILE_BYTES, limit // _LEAST_FILES)
        self._head = head(options)
        self._redaction = None if secret else Redaction(secrets.token_bytes(16))
        self._queue: SimpleQueue[tuple[float, bytes, bytes, Definition | None] | None] = SimpleQueue()
        # Two counters, each written by one thread only, so that no lock is needed.
        self._put = self._taken = 0
        self._file: BinaryIO | None = None
        self._packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
        self._file_size = 0
        self._retry_at = 0.0
        self._flush_at = 0.0
        self._until = inf
        self._failing = False
        self._thread = Thread(target=self._run, name="recorder", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Take a call, unless too many wait."""
        size = len(call.body) + len(answer.body)
        if self._put - self._taken + size > MOST_WAITING:
            self._count("dropped")
            return
        self._put += size
        self._queue.put((time.time(), call.body, answer.body, call.definition))

    def close(self) -> None:
        """Write the waiting calls, for some seconds at most, and end the file."""
        self._until = time.monotonic() + _END_SECONDS
        self._queue.put(None)
        # One call more takes less than a second.
        self._thread.join(_END_SECONDS + 1)

    def _run(self) -> None:
        while time.monotonic() < self._until:
            with suppress(Empty):
                call = self._queue.get(timeout=_FLUSH_SECONDS)
                if call is None:
                    break
                self.record(*call)
                self._taken += len(call[1]) + len(call[2])
            if time.monotonic() > self._flush_at:
                self._flush_at = time.monotonic() + _FLUSH_SECONDS
                self._attempt(lambda: self._write(self._packer.flush(zlib.Z_SYNC_FLUSH)) if self._file else None)
        self._attempt(self._end_file)
        if unwritten := self._put - self._taken:
            log.warning("the last calls are not recorded: the server has ended", bytes=unwritten)

    def record(self, at: float, request: bytes, answer: bytes, definition: Definition | None = None) -> None:
        """Write a call that was answered at a time in seconds since 1970. Only one thread may do this."""
        if self._failing and time.monotonic() < self._retry_at:
            self._count("failed")
            return
        if self._redaction:
            if max(len(request), len(answer)) > LARGEST_REDACTED:
                self._count("dropped")
                return
            try:
                request, answer = self._redaction.redacted(request, answer, definition)
            except Exception as error:  # noqa: BLE001 - the edge of the thread: a body may be anything
                log.debug("a call cannot be redacted", reason=type(error).__name__)
                self._count("dropped")
                return
        text = line(at, request, answer)
        if len(text) > LONGEST:
            self._count("dropped")
            return
        self._count("written" if self._attempt(lambda: self._add(text)) else "failed")

    def _attempt(self, work: Callable[[], None]) -> bool:
        """Do some work with files. The first failure is logged, and the next attempt is made later."""
        try:
            work()
        except OSError as error:
            if not self._failing:
                log.warning("calls are not recorded", folder=str(self._folder), reason=error.strerror or str(error))
            self._failing, self._retry_at = True, time.monotonic() + _RETRY_SECONDS
            if self._file:
                self._file.close()
            self._file = None
            return False
        return True

    def _add(self, text: bytes) -> None:
        if self._file is None:
            self._begin_file()
        self._write(self._packer.compress(text))
        if self._failing:
            log.info("calls are recorded again", folder=str(self._folder))
            self._failing = False
        if self._file_size >= self._file_bytes:
            self._end_file()

    def _begin_file(self) -> None:
        self._make_room()
        number, handle = max(map(file_number, files_in(self._folder)), default=0), None
        while handle is None:
            number += 1
            path = self._folder / file_name(time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), number)
            # Never a file of another server with the same folder, nor a link that somebody has put there.
            with suppress(FileExistsError):
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        self._file = os.fdopen(handle, "wb", buffering=0)
        self._packer, self._file_size = zlib.compressobj(_LEVEL, wbits=_GZIP), 0
        try:
            flock(handle, LOCK_EX)
            # Immediately: a folder without room is noticed before there is much to lose.
            self._write(self._packer.compress(self._head) + self._packer.flush(zlib.Z_SYNC_FLUSH))
        except OSError:
            path.unlink(missing_ok=True)
            raise

    def _make_room(self) -> None:
        """Delete the oldest files until there is room for another one, except files that a server is writing."""
        sizes: dict[Path, int] = {}
        for path in files_in(self._folder):
            with suppress(FileNotFoundError):  # another server makes room in the same folder
                sizes[path] = path.stat().st_size
        for path in [*sizes]:
            if sum(sizes.values()) + self._file_bytes <= self._limit:
                return
            if not _is_open(path):
                path.unlink(missing_ok=True)
                del sizes[path]

    def _end_file(self) -> None:
        if self._file is not None:
            self._write(self._packer.flush())
            self._file.close()
            self._file = None

    def _write(self, data: bytes) -> None:
        if self._file is not None:
            self._file_size += len(data)
            while data:
                data = data[self._file.write(data) or 0 :]


def _is_open(path: Path) -> bool:
    with suppress(FileNotFoundError), path.open("rb") as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return True
    return False
