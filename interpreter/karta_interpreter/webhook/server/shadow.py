"""Asks other definitions a sample of the calls, in a child process, and counts the answers that would differ."""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Final, TypeAlias

import orjson

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.base.sandbox import Process, Program
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.server import shadow_child as child
from karta_interpreter.webhook.server.log import log
from karta_interpreter.webhook.wire.recording import line
from karta_interpreter.webhook.wire.request import request_of

MOST_WAITING: Final = 64
_LARGEST: Final = 2**20
"""Bytes of a request that is compared: a large one would hold up many small ones."""
_SECONDS: Final = 60.0
"""For an answer, and for the definitions, which the process reads before the first one."""
_PAUSE_SECONDS: Final = 10.0
_END_SECONDS: Final = 5.0

Count: TypeAlias = Callable[[str, str, str], None]
"""Counts a comparison by kind, operation and outcome: same, different, and without the two left out or failed."""


class Shadow:
    """Takes a ``sample`` of calls, a number from 0 to 1, without delaying any; those that cannot wait are left out.

    The last answers that differ are put in front of ``shown``, as documents for the console.
    """

    def __init__(
        self, path: Path, sample: float, options: Options, count: Count, shown: deque[JSON] | None = None
    ) -> None:
        arguments = str(path.resolve()), orjson.dumps(asdict(options)).decode()
        self._program = Program(child.__file__, child.MEMORY, arguments, niceness=child.NICENESS)
        self._path, self._sample, self._count, self._shown = path, sample, count, shown
        self._due = 0.0
        self._queue = Queue[tuple[bytes, bytes] | None](MOST_WAITING)
        self._process: Process | None = None
        self._closed = Event()
        self._thread = Thread(target=self._run, name="shadow", daemon=True)

    def start(self) -> None:
        """Begin to compare."""
        self._thread.start()

    def see(self, request: bytes, answer: bytes) -> None:
        """Take a call if it is one of the sample."""
        self._due += self._sample
        if self._due < 1 or len(request) > _LARGEST:
            return
        self._due -= 1
        try:
            self._queue.put_nowait((request, answer))
        except Full:
            return

    def close(self) -> None:
        """End the process; calls that wait are left out."""
        self._closed.set()
        if self._process:
            self._process.kill()
        with suppress(Full):  # the thread looks when it has taken the next one
            self._queue.put_nowait(None)
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        while (seen := self._queue.get()) and not self._closed.is_set():
            try:
                self._count(*self._compared(*seen))
            except Exception as error:  # noqa: BLE001 - the edge of the thread
                if self._process:
                    self._process.stop()
                self._process = None
                if not self._closed.is_set():
                    log.warning("a shadow answer failed", definitions=str(self._path), reason=str(error))
                    self._count("", "", "failed")
                    self._closed.wait(_PAUSE_SECONDS)
        if self._process:
            self._process.stop()

    def _compared(self, request: bytes, answer: bytes) -> tuple[str, str, str]:
        self._process = process = self._process or Process(self._program)
        process.send(child.COMPARE, line(0.0, request, answer), _SECONDS)
        _, found = process.receive()
        process.settle()
        kind, operation, outcome, places = orjson.loads(found)
        if places and self._shown is not None:
            about = request_of(orjson.loads(request))
            named = {"kind": kind, "namespace": about.namespace, "name": about.name, "operation": operation}
            self._shown.appendleft({**named, "at": time.time(), "places": places})
        return kind, operation, outcome
