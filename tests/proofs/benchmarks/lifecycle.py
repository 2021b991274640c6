"""What happens rarely: starting, reading changed definitions, and growing old."""

import http.client
import json
import ssl
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from statistics import median
from typing import Final

from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.growth import definition_of, write_definitions
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import NOTHING, Part, number, table
from tests.proofs.benchmarks.rounds import Effort
from tests.proofs.benchmarks.servers import Server
from tests.proofs.benchmarks.workload import (
    HOT_OPERATIONS,
    Make,
    deployment,
    pytorch_job,
    ray_cluster,
    request_body,
    variant,
    workload,
)

_SIZE: Final = 5 * 1024
_PATIENCE, _PAUSE = 30.0, 0.005


def start(field: Field, effort: Effort) -> Part:
    """Measure the time from the start of the process until it listens, and the memory then."""
    named: dict[str, Callable[[], AbstractContextManager[Server]]] = {
        "this server, whole catalogue": lambda: field.bay.ours("fresh")
    }
    if peers := field.peers:
        named[peers.example.name] = lambda: field.bay.peer("fresh example", peers.programs.webhook)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in named}
    for _ in range(effort.starts):
        for name, started in named.items():
            with started() as server:
                found[name].append((server.started_in, server.cpu(), server.memory()))
    heads = ("server", "seconds until it listens", "of CPU", "resident MiB")
    rows = [
        (name, *(number(median(figure)) for figure in zip(*several, strict=True))) for name, several in found.items()
    ]
    return Part({"start": table(heads, rows)}, conclusions=[f"The server listens {rows[0][1]} s after its start."])


def memory(field: Field, effort: Effort) -> Part:
    """Measure resident memory after the start and after many requests, with a folder to watch and without."""
    own = write_definitions(field.folder / "memory", 1)
    asked: dict[str, tuple[tuple[Make, ...], tuple[str | Path, ...]]] = {
        "this server, whole catalogue": ((deployment, pytorch_job, ray_cluster), ()),
        "the same, watching a folder": ((workload,), ("--kartas", own)),
    }
    rows = []
    for name, (makes, options) in asked.items():
        bodies = [body for make in makes for body in field.hot_bodies(_SIZE, make, HOT_OPERATIONS)]
        with field.bay.ours(name, *options) as server:
            before = server.memory()
            count = field.load.run(server, bodies, 0, requests=effort.requests).count
            rows.append((name, number(before), f"{count:,}", number(server.memory())))
    if field.peers:
        example = field.peers.example
        rows.append((example.name, NOTHING, "those of this page", number(example.memory())))
    heads = ("server", "MiB after the start", "requests", "MiB after them")
    _, fresh, count_, used = rows[0]
    conclusion = f"The server takes {fresh} MiB after the start, and {used} MiB after {count_} calls."
    return Part({"memory": table(heads, rows)}, conclusions=[conclusion])


def reload(field: Field, effort: Effort) -> Part:
    """Measure the time from a new file until its definition answers, and what others wait for meanwhile."""
    rows = []
    for count in effort.definitions if effort.whole else effort.definitions[-1:]:
        folder = write_definitions(field.folder / f"reload-{count}", count)
        with field.bay.ours(f"reload {count}", "--no-catalogue", "--kartas", folder) as server:
            times = [_seconds_until_served(server, folder, f"Fresh{place}") for place in range(effort.starts)]
            quiet = _longest(field, server, 6 * effort.seconds, None)
            busy = _longest(field, server, 6 * effort.seconds, folder)
        rows.append((f"{count:,}", number(median(times)), number(quiet / 1000), number(busy / 1000)))
    heads = ("definitions", "seconds until a new one answers", "longest wait, ms", "longest wait during a reload, ms")
    most, seconds, _, wait = rows[-1]
    conclusion = (
        f"A new definition next to {most} others answers after {seconds} s; meanwhile a call waits {wait} ms at most."
    )
    return Part({"reload": table(heads, rows)}, conclusions=[conclusion])


def _longest(field: Field, server: Server, seconds: float, folder: Path | None) -> float:
    """Return the longest that a request waited, in microseconds; with a folder, a definition comes meanwhile."""

    def meanwhile() -> None:
        if folder:
            _write(folder, "FreshMeanwhile")

    bodies = field.hot_bodies(_SIZE, workload, HOT_OPERATIONS)
    return field.load.run(server, bodies, seconds, connections=1, meanwhile=meanwhile).longest


def _seconds_until_served(server: Server, folder: Path, kind: str) -> float:
    body = request_body("InterpretReplica", _SIZE, variant(0, _of_kind(kind)))
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=_PATIENCE)
    begun = time.monotonic()
    _write(folder, kind)
    while time.monotonic() - begun < _PATIENCE:
        connection.request("POST", server.path, body, {"Content-Type": "application/json"})
        if json.loads(connection.getresponse().read())["response"]["successful"]:
            with suppress(OSError):
                connection.close()
            return time.monotonic() - begun
        time.sleep(_PAUSE)
    raise MeasurementError(f"the definition of {kind} is not served after {_PATIENCE:.0f} s")


def _write(folder: Path, kind: str) -> None:
    """Write a definition in one piece."""
    made = folder.parent / f"{kind}.yaml"
    made.write_text(definition_of(kind))
    made.rename(folder / f"{kind}.yaml")


def _of_kind(kind: str) -> Make:
    def make(parts: int) -> dict[str, object]:
        return workload(parts) | {"kind": kind}

    return make
