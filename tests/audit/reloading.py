"""Traffic while the definitions change every second: the memory must not grow."""

import asyncio
import json
import time
from itertools import cycle
from pathlib import Path

from tests.audit.definitions import definition
from tests.audit.found import Found
from tests.audit.stage import Attack, Target
from tests.server.client import post
from tests.server.conversations import suite_cases

_CLIENTS, _EVERY, _FIRST = 4, 1.0, 60.0


def _prepare(folder: Path) -> tuple[str | Path, ...]:
    _write(folder, 0)
    return "--kartas", folder


def _write(folder: Path, number: int) -> None:
    """Write another version of a definition in one piece."""
    made = folder.parent / f"{folder.name}.new"
    made.write_text(json.dumps(definition(0, f".spec.n[{number}] // 1")))
    made.rename(folder / "changing.yaml")


async def _reloads(target: Target) -> Found:
    """Ask all cases of the catalogue in turns; compare the memory with that after the first minute."""
    cases = await asyncio.to_thread(suite_cases)
    seconds = target.effort.soak
    asking = asyncio.create_task(target.flood((post(case.body) for case in cycle(cases)), _CLIENTS, seconds))
    begun, number, first, last = time.monotonic(), 0, 0.0, 0.0
    while (passed := time.monotonic() - begun) < seconds:
        number += 1
        _write(target.folder, number)
        await asyncio.sleep(_EVERY)
        last = target.memory()
        if passed >= min(_FIRST, seconds / 2) and not first:
            first = last
    await asking
    target.answers["reload"] += number
    return target.found(memory_growth=last / first)


RELOADS = Attack(_reloads, _prepare)
