"""Mutated requests, each sent twice: as the fast lane takes it, and as only aiohttp does. The answers must be equal."""

import asyncio
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise, takewhile

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.found import Found
from tests.proofs.audit.mutations import mutants
from tests.webhook.process.client import Answer, as_karmada, as_others, get, post
from tests.webhook.process.conversations import conversations, suite_cases

_PAIRS = 4
_QUIET, _PATIENT, _PAUSE = 0.4, 4.0, 0.05
_DATE = re.compile(rb"(?<=\r\nDate: )[^\r]+")
_ADDRESS = re.compile(rb"0x[0-9a-f]{6,}(?:-\d+-[0-9a-f]{8})?")
_LAST = get("/healthz").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
_SHOWN, _BEFORE = 300, 40
_CONVERSATIONS = 1_000_000


async def _bodies(target: Target) -> Found:
    cases = await asyncio.to_thread(suite_cases)
    stream, until = mutants(target.effort.seed, cases), time.monotonic() + 2 * target.effort.seconds
    differences = 0

    async def compare() -> None:
        nonlocal differences
        fast, plain = await target.connect(), await target.connect()
        for body in stream:
            request = post(body)
            (fast, one), (plain, other) = await asyncio.gather(
                target.ask(fast, request), target.ask(plain, as_others(request))
            )
            if _content(one) != _content(other):
                differences += 1
                _show(body, _content(one), _content(other))
            if time.monotonic() > until:
                break
        await fast.close()
        await plain.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(_PAIRS):
            group.create_task(compare())
    return target.found(differences=differences)


def _content(answer: Answer | None) -> tuple[int, bytes] | None:
    """Return what is compared of an answer; the address of a Lua table, and a hash of it, is another one each time."""
    return None if answer is None else (answer.status, _ADDRESS.sub(b"0x", answer.body))


async def _streams(target: Target) -> Found:
    await asyncio.to_thread(suite_cases)
    stream, until = _spelled(target.effort.seed), time.monotonic() + target.effort.seconds
    differences = 0

    async def compare() -> None:
        nonlocal differences
        for fast, plain in stream:
            found, expected = await asyncio.gather(_written(target, fast, _QUIET), _written(target, plain, _QUIET))
            if found != expected:  # a busy machine may be late, or join pieces
                found, expected = await asyncio.gather(
                    _written(target, fast, _PATIENT, _PAUSE), _written(target, plain, _PATIENT, _PAUSE)
                )
            target.answers["closed" if found[1] else "open"] += 1
            target.answers["code 500"] += (found[0] + expected[0]).count(b'"code":500')
            if found != expected:
                differences += 1
                _show(b"".join(fast), found, expected)
            if time.monotonic() > until:
                break

    async with asyncio.TaskGroup() as group:
        for _ in range(2 * _PAIRS):
            group.create_task(compare())
    return target.found(differences=differences)


def _spelled(seed: int) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Yield conversations as pieces, spelled as Karmada spells them and as others do, and cut at the same places."""
    for pieces in conversations(seed, _CONVERSATIONS, suite_cases()):
        whole = as_others(b"".join(pieces))
        ends = [sum(map(len, pieces[:count])) for count in range(len(pieces) + 1)]
        yield [as_karmada(piece) for piece in pieces], [whole[start:end] for start, end in pairwise(ends)]


async def _written(target: Target, pieces: Sequence[bytes], quiet: float, pause: float = 0) -> tuple[bytes, bool]:
    """Return what a new connection writes, without dates, and whether it ends within ``quiet`` seconds without news.

    Without a ``pause`` between them the server may read two pieces as one. What aiohttp answers depends on that: an
    error in a piece is the answer to all requests that end in it.
    """
    client = await target.connect()
    written, closed = b"", False
    with suppress(OSError):
        for piece in (*pieces, _LAST):
            client.writer.write(piece)
            await client.writer.drain()
            await asyncio.sleep(pause)
    try:
        while True:
            async with asyncio.timeout(quiet):
                news = await client.reader.read(65536)
            if not news:
                closed = True
                break
            written += news
    except TimeoutError:
        pass
    except OSError:
        closed = True
    await client.close()
    return _ADDRESS.sub(b"0x", _DATE.sub(b"", written)), closed


def _show(request: bytes, found: object, expected: object) -> None:
    """Write a request that is answered in two ways, and both answers from a little before they differ."""
    one, other = repr(found), repr(expected)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    at = max(same - _BEFORE, 0)
    sys.stderr.write(f"  difference: {request[:_SHOWN]!r}\n")
    sys.stderr.write(f"    fast lane …{one[at : at + _SHOWN]}\n    aiohttp …{other[at : at + _SHOWN]}\n")


BODIES = Attack(_bodies, all_cases=True)
STREAMS = Attack(_streams, all_cases=True)
