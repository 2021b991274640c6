"""Definitions that change under traffic: one every second, a hundred with calls in between, thousands at once."""

import asyncio
import json
import time
from itertools import cycle
from pathlib import Path
from statistics import median

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.definitions import GROUP, definition, kind_of
from tests.proofs.audit.found import Found
from tests.webhook.process.client import post, question
from tests.webhook.process.conversations import suite_cases

_CLIENTS, _EVERY, _FIRST, _AROUND = 4, 1.0, 60.0, 5.0
_ASKED, _FEWEST_RELOADS, _LOOKED_EVERY = 100, 20, 0.02
_IN_A_FILE, _VERSIONS, _PAUSE, _LONGEST = 1500, 4, 0.2, 180.0


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
    seconds = target.effort.reloading
    asking = asyncio.create_task(target.flood((post(case.body) for case in cycle(cases)), _CLIENTS, seconds))
    begun, samples = time.monotonic(), list[tuple[float, float]]()
    while (passed := time.monotonic() - begun) < seconds:
        target.answers["reload"] += 1
        _write(target.folder, target.answers["reload"])
        await asyncio.sleep(_EVERY)
        samples.append((passed, _resident(target.server.pid)))
    await asking
    first = min(_FIRST, seconds / 2)
    early = median(memory for passed, memory in samples if abs(passed - first) <= _AROUND)
    late = median(memory for passed, memory in samples if passed >= seconds - 2 * _AROUND)
    return target.found(memory_growth=late / early)


def _resident(pid: int) -> float:
    """Return the resident pages of the server's own process: its children come and go."""
    return float(Path(f"/proc/{pid}/statm").read_text().split()[1])


def _many(count: int) -> Attack:
    """Return an attack that changes that many definitions at once."""
    kind = kind_of(count - 1)
    obj = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "x", "namespace": "y"}}
    spec = {"n": [*range(_VERSIONS)], "template": {"spec": {"containers": []}}}
    call = post(question(kind, object=obj | {"spec": spec}))

    def write(folder: Path, version: int) -> None:
        for begin in range(0, count, _IN_A_FILE):
            numbers = range(begin, min(begin + _IN_A_FILE, count))
            made = folder.parent / "new"
            made.write_text("\n---\n".join(json.dumps(definition(each, f".spec.n[{version}]")) for each in numbers))
            made.rename(folder / f"{begin}.yaml")

    def prepare(folder: Path) -> tuple[str | Path, ...]:
        write(folder, 1)
        return "--kartas", folder

    async def run(target: Target) -> Found:
        client = await target.connect()
        for version in range(2, _VERSIONS):
            await asyncio.to_thread(write, target.folder, version)
            answer = None
            async with asyncio.timeout(_LONGEST):
                while not answer or f'"replicas":{version}'.encode() not in answer.body:
                    client, answer = await target.ask(client, call)
                    await asyncio.sleep(_PAUSE)
        await client.close()
        return target.found()

    return Attack(run, prepare, contained=False)


def _question(number: int, field: str) -> bytes:
    """Return a call as Karmada spells it."""
    kind = kind_of(number)
    obj = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "x", "namespace": "y"}}
    spec = {field: number, "template": {"spec": {"containers": []}}}
    return post(
        json.dumps(json.loads(question(kind, object=obj | {"spec": spec})), separators=(",", ":")).encode() + b"\n"
    )


def _field(number: int, version: int) -> str:
    return f"n{version}x{number}"


def _write_fields(folder: Path, version: int) -> None:
    """Write definitions that all read a field that nothing has read before."""
    made = folder.parent / f"{folder.name}.new"
    texts = (json.dumps(definition(number, f".spec.{_field(number, version)}")) for number in range(_ASKED))
    made.write_text("\n---\n".join(texts))
    made.rename(folder / "changing.yaml")


def _prepare_fields(folder: Path) -> tuple[str | Path, ...]:
    _write_fields(folder, 0)
    return "--kartas", folder


async def _asked(target: Target) -> Found:
    """Change all definitions and ask each, again and again; compare the memory with that after the first time."""
    begun, samples, version = time.monotonic(), list[float](), 0
    client = await target.connect()
    while version < _FEWEST_RELOADS or time.monotonic() - begun < target.effort.reloading:
        version += 1
        await asyncio.to_thread(_write_fields, target.folder, version)
        last = _question(_ASKED - 1, _field(_ASKED - 1, version))
        answer = None
        async with asyncio.timeout(_LONGEST):
            while not answer or f'"replicas":{_ASKED - 1}'.encode() not in answer.body:
                await asyncio.sleep(_LOOKED_EVERY)
                client, answer = await target.ask(client, last)
        for number in range(_ASKED):
            client, _ = await target.ask(client, _question(number, _field(number, version)))
        samples.append(_resident(target.server.pid))
    await client.close()
    return target.found(reloads=version, memory_growth=max(samples) / samples[0])


RELOADS = Attack(_reloads, _prepare, all_cases=True)
ASKED = Attack(_asked, _prepare_fields, contained=False)
MANY = {f"reloads-{count}": _many(count) for count in (1000, 5000, 15_000)}
