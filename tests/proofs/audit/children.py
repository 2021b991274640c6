"""Every kind of child process has work at once, in a container that has no room for the limits of all of them."""

import asyncio

from tests.proofs.audit import objects, scripts
from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.found import Found


async def _all_asked(target: Target) -> Found:
    await asyncio.gather(objects.asked_large(target), scripts.asked(target))
    return target.found()


ALL = Attack(_all_asked, scripts.written)
