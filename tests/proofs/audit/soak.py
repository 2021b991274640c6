"""Calls of all kinds at 70 % of one core, for as long as one likes."""

import asyncio
import sys
import time
from itertools import cycle
from statistics import mean
from typing import Final

from tests.proofs.audit.attack import LOST, Attack, Target
from tests.proofs.audit.found import Found
from tests.webhook.process.client import post
from tests.webhook.process.conversations import suite_cases

_CLIENTS, _SHARE, _REGULATED_EVERY = 8, 0.7, 2.0
_FIRST, _QUICKEST, _SLOWEST = 0.01, 0.0001, 1.0
_WARM, _SAID_EVERY = 0.1, 60.0
_FAILED: Final = (LOST, "HTTP 500", "HTTP 503", "code 500", "code 504")


async def _soak(target: Target) -> Found:
    """Ask all cases of the catalogue in turns; compare the memory at the end with that after a tenth of the time."""
    cases = await asyncio.to_thread(suite_cases)
    seconds, pause = target.effort.soak, _FIRST
    calls = (post(case.body) for case in cycle(cases))
    asking = asyncio.create_task(target.flood(calls, _CLIENTS, seconds, pause=lambda: pause))
    begun, samples, shares, said = time.monotonic(), list[float](), list[float](), 0.0
    while (passed := time.monotonic() - begun) < seconds:
        before, since = target.server.cpu(), time.monotonic()
        await asyncio.sleep(_REGULATED_EVERY)
        share = (target.server.cpu() - before) / (time.monotonic() - since)
        # More pause for each client where the server takes more than its share.
        pause = min(max(pause * share / _SHARE, _QUICKEST), _SLOWEST)
        if passed >= _WARM * seconds:
            samples.append(target.memory())
            shares.append(share)
        if passed - said >= _SAID_EVERY:
            said = passed
            sys.stderr.write(f"  {passed / 60:.0f} min: {target.answers.total():,} calls, {target.memory():.0f} MiB\n")
    await asking
    return target.found(
        failed=sum(target.answers[kind] for kind in _FAILED),
        MiB_at_the_beginning=samples[0],
        MiB_at_the_end=samples[-1],
        memory_growth=samples[-1] / samples[0],
        share_of_a_core=mean(shares),
    )


SOAK = Attack(_soak, all_cases=True)
