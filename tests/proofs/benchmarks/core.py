"""The interpreter alone: reading an object and running all expressions of its definition, here and in Go."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from statistics import median
from typing import Any, Final

import orjson

from karta_interpreter.base.k8s.projection import UNREAD, Projection, Read, reader
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.languages.jq import Query, take_outputs
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.program import Program
from tests.proofs.benchmarks.report import Part, Plot, number, table
from tests.proofs.benchmarks.rounds import Effort
from tests.proofs.benchmarks.workload import ray_cluster, sized, variant

_KIND: Final = GVK("ray.io", "v1", "RayCluster")
_NOT_ASKED_ABOUT_OBJECTS: Final = ("annotations", "suspend", "resume", "selector", "gang")
_THRESHOLDS: Final = (50_000, 20, 100)  # as the server has it (interpreter/karta_interpreter/server)

_PARTLY, _FULL = "this server, object read in part", "this server, object read in full"
_ONCE, _EACH = "gojq, compiled once", "gojq as Karta's library runs it"


def core(field: Field, effort: Effort) -> Part:
    """Measure at every size; gives the ratios of Go to here, both ways that Go can do it."""
    definition = Store().load().find(_KIND)
    assert definition
    queries = list({query.text: query for query in _queries(definition)}.values())
    found = {size: _found(field, queries, length, effort) for size, length in effort.sizes.items()}
    names = [name for name in (_PARTLY, _FULL, _ONCE, _EACH) if name in next(iter(found.values()))]
    rows = [
        (size, *(number(times[name]) for name in names), *(f"{times[name] / times[_PARTLY]:.1f}" for name in names[2:]))
        for size, times in found.items()
    ]
    heads = ("RayCluster of", *(f"{name}, µs" for name in names), *(f"ratio to {name}" for name in names[2:]))
    ratios = {
        f"core, {size}, {name}": found[size][name] / found[size][_PARTLY]
        for size in ("5 KB", "24 KB")
        for name in names[2:]
    }
    places = [length / 1024 for length in effort.sizes.values()]
    series = {name: [times[name] for times in found.values()] for name in names}
    plot = Plot("core", f"JSON and {len(queries)} expressions of RayCluster", "KB", "µs of CPU", places, series, "log")
    told = f"{len(queries)} expressions; processor time for one object.\n\n{table(heads, rows)}"
    return Part({"core": told}, ratios, [plot] if effort.whole else [])


def _found(field: Field, queries: list[Query], length: int, effort: Effort) -> dict[str, float]:
    """Return the median times by name, in microseconds."""
    text = orjson.dumps(sized(length, variant(0, ray_cluster)), option=orjson.OPT_SORT_KEYS)
    read = reader({"object": _projection(queries)})
    rounds: dict[str, list[float]] = {}
    with _peer(field) as ask:
        for _ in range(effort.rounds):
            times = {
                _PARTLY: _microseconds(lambda: _evaluate(queries, _read(read, text)), effort.seconds),
                _FULL: _microseconds(lambda: _evaluate(queries, orjson.loads(text)), effort.seconds),
                **ask(text, queries, effort.seconds),
            }
            for name, time_ in times.items():
                rounds.setdefault(name, []).append(time_)
    return {name: median(times) for name, times in rounds.items()}


@contextmanager
def _peer(field: Field) -> Iterator[Callable[[bytes, list[Query], float], dict[str, float]]]:
    """Yield what asks Go; nobody is asked where there is none."""
    if not field.peers:
        yield lambda *_: {}
        return
    with Program(field.peers.programs.core) as program:

        def ask(text: bytes, queries: list[Query], seconds: float) -> dict[str, float]:
            expressions = [query.text for query in queries]
            answer = program.ask(object=orjson.loads(text), expressions=expressions, seconds=seconds)
            return {_ONCE: answer["once"], _EACH: answer["each"]}

        yield ask


def _read(read: Read, text: bytes) -> Any:
    """Read a part, and all where a part is too large for that, as the server does."""
    try:
        (value,), _ = read(b'{"object":%b}' % text)
    except UNREAD:
        return orjson.loads(text)
    return value


def _evaluate(queries: list[Query], value: Any) -> None:
    for query in queries:
        query.evaluate(value)


def _projection(queries: list[Query]) -> Projection:
    projection = Projection()
    take_outputs(projection, *queries)
    return projection


def _microseconds(work: Callable[[], None], seconds: float) -> float:
    with as_the_server_collects_garbage():
        return microseconds(work, seconds)


def microseconds(
    work: Callable[[], object], seconds: float, processor_time: Callable[[], float] = time.process_time
) -> float:
    """Return the processor time of one call, on average over some seconds."""
    work()
    calls, until, begun = 0, time.monotonic() + seconds, processor_time()
    while time.monotonic() < until or not calls:
        work()
        calls += 1
    return 1e6 * (processor_time() - begun) / calls


@contextmanager
def as_the_server_collects_garbage() -> Iterator[None]:
    """Collect as rarely as the server does, inside of the block."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _queries(part: object) -> Iterator[Query]:
    """Yield every expression of a definition that is asked about the whole object."""
    if isinstance(part, Query):
        yield part
    elif isinstance(part, tuple):
        for element in part:
            yield from _queries(element)
    elif is_dataclass(part) and not isinstance(part, type):
        for one in fields(part):
            if one.name not in _NOT_ASKED_ABOUT_OBJECTS:
                yield from _queries(getattr(part, one.name))
