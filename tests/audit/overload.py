"""More calls than the server can answer, and more scrapes than anybody needs."""

import asyncio
from itertools import repeat
from typing import Final

from tests.audit.found import Found
from tests.audit.objects import body, pod_clique_set
from tests.audit.stage import LOST, Attack, Target
from tests.server.client import get, post
from tests.server.conversations import suite_cases

_CALLERS, _SCRAPERS, _TEACHERS = 60, 16, 8
_NAMES: Final = 9_000


async def _calls(target: Target) -> Found:
    """Have many clients ask dear calls without a pause."""
    request = post(body("InterpretComponent", pod_clique_set(_NAMES)))
    await target.flood(repeat(request), _CALLERS, target.effort.seconds)
    return target.found(unanswered=target.answers[LOST])


async def _scrapes(target: Target) -> Found:
    """Ask for every kind of the catalogue, so that there is a series for each; then scrape with many clients."""
    cases = await asyncio.to_thread(suite_cases)
    await target.flood((post(case.body) for case in cases), _TEACHERS, 3 * target.effort.seconds)
    target.answers.clear()
    await target.flood(repeat(get("/metrics")), _SCRAPERS, target.effort.seconds)
    return target.found()


CALLS = Attack(_calls)
SCRAPES = Attack(_scrapes)
