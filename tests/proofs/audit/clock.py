"""Jumps of the wall clock, by libfaketime: what depends on it are certificates only, and no deadline and no limit."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import repeat, takewhile
from math import inf
from pathlib import Path
from typing import Final

from cryptography import x509

from tests.proofs.audit.attack import LOST, OK, Attack, Target
from tests.proofs.audit.definitions import asked_of, definition, kind_of
from tests.proofs.audit.found import Found
from tests.proofs.audit.workload_types import no_types, request
from tests.webhook.process.client import post, question

_LIBRARIES: Final = tuple(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
_DAY: Final = timedelta(days=1)
_JUMPS: Final = (_DAY, -_DAY, 3652 * _DAY, -3652 * _DAY, timedelta())
"""From the true time; so a jump forward is undone by twice as long a one backward."""
_CLIENTS, _PAUSE, _BEFORE, _AFTER, _PATIENCE = 2, 0.005, 1.0, 4.0, 10.0
_ENDLESS: Final = "[until(false; .)] | length"
_RATE: Final = 30
"""Requests of an address in a minute to the types API: one comes back every two seconds."""
_CATEGORIES: Final = "/api/v1/workload-categories"


def _clock(folder: Path) -> Path:
    return folder.with_name("clock")


def _set(folder: Path, jump: timedelta) -> None:
    """Have the server see a time that is so far from the true one."""
    made = _clock(folder).with_suffix(".new")
    made.write_text(f"{jump.total_seconds():+.0f}\n")
    made.rename(_clock(folder))


def _begin(folder: Path) -> Sequence[str]:
    _set(folder, timedelta())
    settings = {
        "LD_PRELOAD": _LIBRARIES[0],
        "FAKETIME_TIMESTAMP_FILE": _clock(folder),
        "FAKETIME_CACHE_DURATION": 1,
        # No jump of the wall clock changes it.
        "FAKETIME_DONT_FAKE_MONOTONIC": 1,
        "NO_FAKE_STAT": 1,
    }
    return "env", *(f"{name}={value}" for name, value in settings.items())


def _prepare(folder: Path) -> Sequence[str | Path]:
    (folder / "endless.yaml").write_text(json.dumps(definition(0, _ENDLESS)))
    return "--kartas", folder


async def _jumps(target: Target) -> Found:
    """Jump under load and while calls without end are asked, each time where the limit of requests is used up."""
    over = asyncio.Event()

    def again(request: bytes) -> Iterator[bytes]:
        return takewhile(lambda _: not over.is_set(), repeat(request))

    load = asyncio.create_task(target.flood(again(post(question())), _CLIENTS, inf, pause=lambda: _PAUSE))
    endless = asyncio.create_task(_longest(target, again(next(asked_of([kind_of(0)])))))
    stale = limited = 0
    for jump in _JUMPS:
        await _use_up(target)
        await asyncio.sleep(_BEFORE)
        _set(target.folder, jump)
        await asyncio.sleep(_AFTER)
        if not await _is_valid(target, jump):
            stale += 1
            sys.stderr.write(f"  the certificate is not valid where the clock goes wrong by {jump.days} days\n")
        limited += await _is_limited(target)
    over.set()
    await load
    longest = await endless
    return target.found(stale=stale, limited=limited, longest=longest, failed=target.answers[LOST])


async def _use_up(target: Target) -> None:
    """Ask the types API until it has had enough of this address."""
    await target.flood(repeat(_asked(target), 2 * _RATE), 1, _PATIENCE, door=target.doors["types"])


async def _is_limited(target: Target) -> bool:
    """Return whether a request gets too many, although one has come back since the jump."""
    client, answer = await target.ask(
        await target.connect(target.doors["types"]), _asked(target), door=target.doors["types"]
    )
    await client.close()
    return answer is None or answer.status != OK


def _asked(target: Target) -> bytes:
    return request("GET", _CATEGORIES, target.doors["types"].headers)


async def _longest(target: Target, requests: Iterator[bytes]) -> float:
    """Return how many seconds an answer to one of these takes at most."""
    client, longest = await target.connect(), 0.0
    for asked in requests:
        begun = time.monotonic()
        client, _ = await target.ask(client, asked, _PATIENCE)
        longest = max(longest, time.monotonic() - begun)
    await client.close()
    return longest


async def _is_valid(target: Target, jump: timedelta) -> bool:
    """Return whether a new connection gets a certificate that is valid at the server's time."""
    client = await target.connect()
    leaf = x509.load_der_x509_certificate(client.peer_certificate)
    await client.close()
    return leaf.not_valid_before_utc <= datetime.now(UTC) + jump <= leaf.not_valid_after_utc


JUMPS = Attack(
    _jumps,
    _prepare,
    types=no_types,
    bounds={"certificate_interval": 1.0},
    rate=_RATE,
    self_signed=True,
    begin=_begin,
    lacks=lambda: None if _LIBRARIES else "there is no libfaketime (of Debian's package faketime)",
)
