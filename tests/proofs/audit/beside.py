"""What stands beside the answers: the second process, the log, and `replay` with the recordings of somebody else."""

import asyncio
import gzip
import os
import signal
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.wire.recording import file_name, head
from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.found import Found
from tests.proofs.audit.workload_types import PATH, no_types, request
from tests.proofs.benchmarks.servers import family
from tests.webhook.process.client import post, question

_PAUSE, _PATIENCE = 0.1, 60.0
_CALLERS: Final = 8
_PARTS, _PART = 256, 2**20


async def _frozen(target: Target) -> Found:
    """Stop the second process, and ask the types API until another process answers."""
    (frozen,) = _second(target)
    begun = time.monotonic()
    os.kill(frozen, signal.SIGSTOP)
    while frozen in _second(target) and time.monotonic() < begun + _PATIENCE:  # noqa: ASYNC110 - of another process
        await asyncio.sleep(_PAUSE)
    noticed = time.monotonic() - begun
    door, answer = target.doors["types"], None
    while answer is None and time.monotonic() < begun + _PATIENCE:
        await asyncio.sleep(_PAUSE)
        with suppress(OSError):
            client, answer = await target.ask(
                await target.connect(door), request("GET", PATH, door.headers), _PATIENCE, door
            )
            await client.close()
    return target.found(noticed=noticed, unanswered=answer is None)


def _second(target: Target) -> list[int]:
    """Return the ids of the second process: its own children are started by another module."""
    found = []
    for pid in family(target.server.pid):
        with suppress(OSError):
            if b"-m\0karta_interpreter.web." in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found[:1]


async def _failing(target: Target) -> Found:
    """Ask what cannot be answered, about another object each time, and count the lines of the log."""
    before = target.server.log.stat().st_size
    calls = (post(question("GrainMill", name=f"mill-{number}", object={})) for number in count())
    await target.flood(calls, _CALLERS, target.effort.seconds)
    return target.found(log_lines=target.server.log.read_bytes()[before:].count(b"\n"))


async def _replayed(target: Target) -> Found:
    """Replay a recording of empty lines, and one of a single line, which unpack to a thousand times their size."""
    for number, byte in enumerate((b"\n", b"x")):
        with gzip.open(target.folder / file_name("20260102T030405Z", number), "wb") as file:
            file.write(head(DEFAULT_OPTIONS))
            for _ in range(_PARTS):
                file.write(byte * _PART)
    command = sys.executable, "-m", "karta_interpreter", "replay", target.folder
    quiet = asyncio.subprocess.DEVNULL
    replay = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)
    status, most = Path(f"/proc/{replay.pid}/status"), 0
    while replay.returncode is None:
        with suppress(OSError, IndexError):  # it has ended
            most = int(status.read_text().partition("VmHWM:")[2].split()[0])  # noqa: ASYNC240 - no disk has it
        await asyncio.sleep(_PAUSE / 10)
    return target.found(MiB_of_replay=most / 2**10, not_replayed=most == 0)


FROZEN = Attack(_frozen, types=no_types)
FAILING = Attack(_failing)
REPLAYED = Attack(_replayed)
