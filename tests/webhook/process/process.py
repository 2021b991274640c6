"""A server in a process of its own, as users run it."""

import asyncio
import json
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import IO, Any

from tests.support.waiting import HANG
from tests.webhook.process.client import Client, as_karmada, trusting
from tests.webhook.process.forked import forked

KARTAS = Path(__file__).parent / "testdata" / "kartas"

PROGRAM = """
import json, sys
from pathlib import Path
from karta_interpreter.languages.lua.machine import worker

from karta_interpreter.webhook.settings import Settings
from karta_interpreter.webhook.answering import lanes
from karta_interpreter.webhook.answering import child_program
from karta_interpreter.webhook.process import metrics
from karta_interpreter.webhook.process.signals import run

options = json.loads(sys.argv[1])
worker.SECONDS = lanes.SECONDS = options.pop("script_seconds", worker.SECONDS)

def started(server):
    authority = server.certificate.authority.decode() if server.certificate else ""
    print(json.dumps({"port": server.port, "authority": authority}), flush=True)

metrics._PAGE_SECONDS = 0.05  # tests wait for the next page
child_program.MEMORY = options.pop("child_memory", child_program.MEMORY)
options = {name: Path(value) if name.endswith("_file") else value for name, value in options.items()}
places = {"folders": (Path(options.pop("folder")),), "overrides": tuple(map(Path, options.pop("overrides", ())))}
run(Settings(**places, catalogue=False, **options), started=started)
"""


@dataclass
class Process:
    child: ForkServerProcess
    lines: "queue.SimpleQueue[bytes]"
    port: int
    authority: bytes

    @property
    def pid(self) -> int:
        assert self.child.pid is not None
        return self.child.pid

    async def connect(self, spell: Callable[[bytes], bytes] = as_karmada) -> Client:
        return await Client.connect(self.port, trusting(self.authority) if self.authority else None, spell)

    def signal(self, number: signal.Signals) -> None:
        assert self.child.is_alive()
        os.kill(self.pid, number)

    def logged(self, message: str) -> dict[str, Any]:
        """Wait for the next line of the log with that message, and return it."""
        while True:
            line: dict[str, Any] = json.loads(self.lines.get(timeout=HANG))
            if line["message"] == message:
                return line

    async def ended(self) -> int:
        """Wait for the end, and return the exit code. Meanwhile clients answer the end of a TLS connection."""
        await asyncio.to_thread(self.child.join, HANG)
        assert self.child.exitcode is not None, "the server goes on"
        return self.child.exitcode


@contextmanager
def running(folder: Path = KARTAS, *, before: str = "", **options: Any) -> Iterator[Process]:
    """Run a server until the end of the block; nothing that is slow on a busy machine ends a call or a connection.

    ``before`` is code that runs first in its process. ``options`` are settings, and two limits: ``child_memory``, in
    bytes, of a process for a large call, and ``script_seconds`` of a script, which may take as long as a call.
    """
    limits = ("webhook_timeout", "header_timeout", "exchange_timeout", "script_seconds")
    patience = {"connection_age": 0, **dict.fromkeys(limits, HANG)}
    settings = json.dumps({"folder": str(folder), "port": 0, "grace_period": 0.0} | patience | options)
    with forked(before + PROGRAM, settings) as (child, stdout, stderr):
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        reader = threading.Thread(target=_collect, args=(stderr, lines))
        reader.start()
        try:
            first = stdout.readline()
            assert first, f"the server did not start: {lines.get(timeout=HANG)!r}"
            started = json.loads(first)
            yield Process(child, lines, started["port"], started["authority"].encode())
        finally:
            child.kill()
            reader.join()


def _collect(stream: IO[bytes], lines: "queue.SimpleQueue[bytes]") -> None:
    for line in stream:
        lines.put(line)
