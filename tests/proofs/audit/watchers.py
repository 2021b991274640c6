"""What watches calls: a recorder whose disk is full, and fights with hostile names."""

import asyncio
import os
import re
import secrets
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.found import Found
from tests.proofs.audit.objects import body, deployment
from tests.webhook.answering.members import question
from tests.webhook.process.client import get, post

_CALLERS, _SETTLING = 4, 2.0
_PLANTED: Final = "hunter2-planted"
_DISK: Final = "2m"
_NOISE: Final = 10_000
_NOW_AND_THEN, _VALUES = 50, 4_000
_FIELDS, _FIELD, _ROUNDS, _LONG = 40, 180, 4, 240
_WIDE, _ELEMENTS = 9_000, (5_000, 5_001)


async def _recorded(target: Target) -> Found:
    """Record calls with secrets until the disk is full, and look at what is left there."""
    await target.flood(_with_secrets(), _CALLERS, target.effort.seconds)
    await asyncio.sleep(_SETTLING)
    # The disk is mounted for the server only.
    folder = Path(f"/proc/{target.server.pid}/root{_disk(target.folder)}")
    packed = await asyncio.to_thread(lambda: [path.read_bytes() for path in folder.iterdir()])
    texts = [zlib.decompressobj(31).decompress(content) for content in packed if content]
    return target.found(
        values=sum(text.count(_PLANTED.encode()) for text in texts),
        empty_files=sum(text.count(b"\n") < 1 for text in texts) + len(packed) - len(texts),
        log_lines=target.server.log.read_text().count("calls are not recorded"),
        unwritten=await _counted(target, "recorded_calls_total", "written") == 0,
        unnoticed=await _counted(target, "recorded_calls_total", "failed") == 0,
    )


def _with_secrets() -> Iterator[bytes]:
    for number in count():
        value = f"{_PLANTED}-{number}"
        pod = {"containers": [{"name": "main", "image": "x", "env": [{"name": "A", "value": value}]}]}
        status = {"conditions": [{"type": "Ready", "message": secrets.token_hex(_NOISE)}]}
        for operation in ("InterpretStatus", "InterpretReplica"):
            yield post(body(operation, deployment(pod, status=status)))
        if number % _NOW_AND_THEN == 0:
            env = [{"name": "A", "value": f"{value}-{each}"} for each in range(_VALUES)]
            said = [f"see {value}-{each} again" for each in range(_VALUES)]
            pod = {"containers": [{"name": "main", "image": "x", "env": env, "args": said}]}
            yield post(body("InterpretStatus", deployment(pod, status={"conditions": []})))


async def _fights(target: Target) -> Found:
    """Let objects be overwritten again and again, all of whose names are as long as they may be.

    Others have lists whose elements have keys of many fields.
    """
    # One client: the rounds of an object have an order.
    await target.flood(map(post, _overwritten()), 1, target.effort.seconds)
    await target.flood(map(post, _wide_keys()), 1, target.effort.seconds)
    return target.found(unseen=await _counted(target, "fights", "") == 0)


def _overwritten() -> Iterator[bytes]:
    for number in count():
        text = f"{number:06}".ljust(_LONG, "x")
        annotations = {"work.karmada.io/name": text, "work.karmada.io/namespace": f"karmada-es-{text}"}
        meta = {"name": text, "namespace": "bakery", "uid": f"{number:036}", "resourceVersion": "1"}
        labels = [f"{field:02}{text[:_FIELD]}" for field in range(_FIELDS)]
        for turn in range(_ROUNDS):
            wrote: Any = {"manager": "karmada", "operation": "Update", "time": f"2026-11-20T02:12:{turn:02}Z"}
            wrote["fieldsV1"] = {"f:metadata": {"f:annotations": {"f:work.karmada.io/name": {}}}}
            scaled = {"manager": text, "operation": "Update", "subresource": "scale", "fieldsV1": {"f:spec": {}}}
            desired, observed = (_selecting(labels, value) for value in ("3", "7"))
            desired["metadata"] = meta | {"annotations": annotations}
            observed["metadata"] = desired["metadata"] | {"managedFields": [wrote, scaled]}
            yield question(desired, observed)


def _wide_keys() -> Iterator[bytes]:
    """Yield calls about lists of 5,000 elements whose keys have 9,000 fields, with escaped commas."""
    wide = ",".join(f'"{number:x}":1' for number in range(_WIDE))
    wrote: Any = {"manager": "karmada", "time": "2026-11-20T02:12:00Z"}
    wrote["fieldsV1"] = {"f:metadata": {"f:annotations": {"f:work.karmada.io/name": {}}}}
    other = {"manager": "m", "fieldsV1": {"f:spec": {"f:a": {f"k:{{{wide}}}": {}}}}}
    for number in count():
        meta = {"name": "wide", "namespace": "bakery", "uid": f"{number:036}", "resourceVersion": "1"}
        desired, observed = (deployment({}) | {"metadata": meta, "spec": {"a": [{}] * size}} for size in _ELEMENTS)
        observed["metadata"] = meta | {"managedFields": [wrote, other]}
        yield question(desired, observed).replace(b'\\":1,', b'\\"\\u003a1\\u002c')


def _selecting(labels: list[str], value: str) -> dict[str, Any]:
    return deployment({"containers": [{"name": "main", "image": "x"}], "nodeSelector": dict.fromkeys(labels, value)})


async def _counted(target: Target, name: str, outcome: str) -> float:
    """Return the sum of the series of a metric with an outcome."""
    client = await target.connect()
    page = (await client.ask(get("/metrics"))).body.decode()
    await client.close()
    series = rf'^karta_interpreter_{name}{{[^\n]*"{outcome}[^\n]*}} (\S+)$'
    return sum(float(number) for number in re.findall(series, page, re.MULTILINE))


def _disk(folder: Path) -> Path:
    return folder.with_name("recordings")


def _mounted(folder: Path) -> tuple[str, ...]:
    """Return the start of a command line whose rest has a small disk of its own."""
    _disk(folder).mkdir()
    inside = f'mount -t tmpfs -o size={_DISK} tmpfs {_disk(folder)} && exec "$@"'
    return "unshare", "--mount", "sh", "-c", inside, "sh"


RECORDINGS = Attack(
    _recorded,
    lambda folder: ("--record", _disk(folder)),
    begin=_mounted,
    lacks=lambda: None if os.geteuid() == 0 else "only root can mount a small disk",
)
FIGHTS = Attack(_fights)
