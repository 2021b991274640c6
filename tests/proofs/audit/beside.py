"""What stands beside the answers: the log, and `replay` with the recordings of somebody else."""

import asyncio
import gzip
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.wire.recording import file_name, head
from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.found import Found
from tests.webhook.process.client import post, question

_PAUSE, _PATIENCE = 0.1, 60.0
_CALLERS: Final = 8
_PARTS, _PART = 256, 2**20


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


FAILING = Attack(_failing)
REPLAYED = Attack(_replayed)
