"""How long callers wait: by what is asked, and next to what else a server has to do."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from tests.proofs.audit.definitions import definition
from tests.proofs.benchmarks.day import recorded
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.figures import Figures
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort, sampled, written
from tests.proofs.benchmarks.servers import Server
from tests.support.bodies import OPERATIONS, deployment, request_body

_OBJECTS: Final = 5_000
_RATE: Final = 2_000
"""Calls a second next to a reload."""
_BUSY: Final = 0.7
"""The share of the calls that there can be, for a server that is well used."""
_RATE_OF_CONNECTIONS: Final = 200
"""A handshake takes a server as long as several calls."""
_RATE_OF_LARGE: Final = 10
_LARGE: Final = 2**20
_DEFINITIONS: Final = 1_000
_SECONDS: Final = 10
"""How long there are calls next to a reload, which takes a few, and about large objects."""
_LOADED: Final = b"definitions loaded"
_HEADS: Final = ("calls", "calls/s", "p50 µs", "p99 µs", "p99, times p50")

Round = Callable[[Server, Sequence[Path]], Figures]


def waits(field: Field, effort: Effort) -> Part:
    """Measure how long calls of a day of 5,000 objects, and others, wait for their answers."""
    run, quarter, most = field.load.run, effort.quarter, list[Figures]()

    def used(server: Server, files: Sequence[Path]) -> Figures:
        most.append(run(server, files, 0))
        return run(server, files, _BUSY * most[-1].rate)

    found = {
        f"the day, at {_BUSY:.0%} of what there can be".replace("%", " %"): _rounds(
            field.ours, recorded(), effort, used
        ),
        "as many as there can be": most,
        "each on a new connection": _rounds(
            field.ours, recorded(), quarter, lambda server, files: run(server, files, _RATE_OF_CONNECTIONS, fresh=True)
        ),
        f"next to a reload of {_DEFINITIONS:,} definitions": _next_to_reloads(field, effort),
        "about objects of 1 MB": _large(field, effort),
    }
    rows = [(name, *_row(several)) for name, several in found.items()]
    day, reload = (rows[place] for place in (0, 3))
    said = (
        f"At {_BUSY:.0%} of what a core can answer, {day[1]} calls a second, a call of the day waits {day[2]} µs and "
        f"one of a hundred {day[3]} µs or more. While {_DEFINITIONS:,} definitions are read again, of {_RATE:,} "
        f"calls a second one of a hundred waits {reload[3]} µs or more."
    ).replace("%", " %", 1)
    return Part({"waits": table(_HEADS, rows)}, conclusions=(said,))


def _rounds(server: Server, calls: Sequence[bytes], effort: Effort, run: Round) -> list[Figures]:
    found = []
    for place in range(effort.rounds):
        with sampled(calls, _OBJECTS, effort.calls, place) as files:
            found.append(run(server, files))
    return found


def _next_to_reloads(field: Field, effort: Effort) -> list[Figures]:
    """Measure a server of its own, which reads its definitions again in each round."""

    def run(server: Server, files: Sequence[Path]) -> Figures:
        field.load.run(server, files, 0)  # the kinds are known then
        loaded = server.log.read_bytes().count(_LOADED)
        _write(folder, f".spec.n[{loaded}]")
        found = field.load.run(server, files, _RATE, count=_SECONDS * _RATE)
        if server.log.read_bytes().count(_LOADED) == loaded:
            raise MeasurementError("the definitions were not read again while they were called")
        return found

    with TemporaryDirectory() as name:
        folder = Path(name) / "definitions"
        folder.mkdir()
        _write(folder, ".spec.n[0]")
        with field.bay.ours("reloads", "--kartas", folder) as server:
            return _rounds(server, recorded(), effort, run)


def _write(folder: Path, count: str) -> None:
    """Write another version of all definitions in one piece."""
    made = folder.with_name("new")
    made.write_text("\n---\n".join(json.dumps(definition(each, count)) for each in range(_DEFINITIONS)))
    made.rename(folder / "definitions.yaml")


def _large(field: Field, effort: Effort) -> list[Figures]:
    """Measure calls of all operations about a Deployment of 1 MB, of which Retain has two."""
    with written(request_body(operation, _LARGE, deployment) for operation in OPERATIONS) as files:
        count = _SECONDS * _RATE_OF_LARGE
        return [field.load.run(field.ours, files, _RATE_OF_LARGE, count=count) for _ in range(effort.rounds)]


def _row(several: Sequence[Figures]) -> tuple[str, ...]:
    rate, p50, p99 = (median(getattr(one, what) for one in several) for what in ("rate", "p50", "p99"))
    return number(rate), number(p50), number(p99), f"{p99 / p50:.1f}"
