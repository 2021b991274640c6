"""More calls than the server can answer, and more scrapes than anybody needs."""

import asyncio
import json
import time
from collections.abc import Iterator
from itertools import cycle, repeat
from pathlib import Path
from typing import Final

from tests.proofs.audit.attack import LOST, Attack, Target
from tests.proofs.audit.definitions import definition, kind_of, watched
from tests.proofs.audit.found import Found
from tests.proofs.audit.objects import body, pod_clique_set
from tests.webhook.process.client import get, post, question
from tests.webhook.process.conversations import suite_cases

_CALLERS, _SCRAPERS, _TEACHERS, _KINDS = 60, 8, 4, 400
_NAMES: Final = 9_000
_OPERATIONS: Final = ("InterpretReplica", "InterpretHealth", "InterpretStatus", "ReviseReplica", "InterpretDependency")


async def _calls(target: Target) -> Found:
    """Have many clients ask dear calls without a pause."""
    request = post(body("InterpretComponent", pod_clique_set(_NAMES)))
    await target.flood(repeat(request), _CALLERS, target.effort.seconds)
    return target.found(unanswered=target.answers[LOST])


def _prepare(folder: Path) -> tuple[str | Path, ...]:
    """Write many definitions: each kind has series of its own."""
    for number in range(_KINDS):
        (folder / f"{number}.yaml").write_text(json.dumps(definition(number, ".spec.n[0]")))
    return watched(folder)


def _asked() -> Iterator[bytes]:
    """Yield every operation of every kind, answered and failed, and kinds and operations that there are not."""
    yield from (post(case.body) for case in suite_cases())
    for number in range(_KINDS):
        for operation in _OPERATIONS:
            yield post(question(kind_of(number), operation))
            yield post(question(kind_of(number), operation, object={}))
        yield post(question(f"Unknown{number}"))
        yield post(question("GrainMill", f"Unknown{number}"))


async def _scrapes(target: Target) -> Found:
    """Scrape with many clients while others ask; report the largest page."""
    calls = cycle(await asyncio.to_thread(lambda: list(_asked())))
    largest = 0

    async def scrape(until: float) -> None:
        nonlocal largest
        client = await target.connect()
        while time.monotonic() < until:
            client, answer = await target.ask(client, get("/metrics"))
            largest = max(largest, len(answer.body) if answer else 0)
        await client.close()

    seconds = 3 * target.effort.seconds
    async with asyncio.TaskGroup() as group:
        group.create_task(target.flood(calls, _TEACHERS, seconds))
        for _ in range(_SCRAPERS):
            group.create_task(scrape(time.monotonic() + seconds))
    return target.found(MiB_of_a_page=largest / 2**20)


CALLS = Attack(_calls)
SCRAPES = Attack(_scrapes, _prepare, all_cases=True)
