"""One call by stage, without TLS, socket and HTTP: what each costs this server."""

import asyncio
import gc
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.process.metrics import Metrics
from karta_interpreter.webhook.wire import FastDecoder, encode_results
from tests.proofs.benchmarks.field import DEFINITIONS, Field
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort
from tests.proofs.benchmarks.workload import OPERATIONS, Make, body_about, deployment, ray_cluster, workload

_MAKES: Final[tuple[Make, ...]] = (workload, ray_cluster)
_SIZES: Final = {"5 KB": 5 * 1024, "24 KB": 24 * 1024}
_TURNS, _TURN_SECONDS = 20, 0.004
_HEADS: Final = ("operation", "decode", "evaluate", "encode", "bookkeeping", "call")


def stages(field: Field, _: Effort) -> Part:
    """Measure the stages within one call."""
    return Part({"stages": _stages_text(field)})


def _stages_text(field: Field) -> str:
    store = Store([DEFINITIONS])
    store.load()
    rows = [
        (f"{make.__name__}, {size}, {operation}", *map(number, _stages(store, bodies)))
        for make in _MAKES
        for size, length in _SIZES.items()
        for operation in OPERATIONS
        if (bodies := [file.read_bytes() for file in field.bodies(operation, length, make)])
    ]
    return table(_HEADS, rows)


def _stages(store: Store, bodies: list[bytes]) -> tuple[float, ...]:
    read = FastDecoder(store.snapshot.find).read
    decoded = [found for body in bodies if (found := read(body))]
    asked = [(each.definition, each.request.call) for each in decoded if each.request.call]
    results = [own_answer(definition, call, DEFAULT_OPTIONS) for definition, call in asked]
    pairs = list(zip([each.request for each in decoded], results, strict=True))
    decode = _least(lambda: [read(body) for body in bodies])
    evaluate = _least(lambda: [own_answer(definition, call, DEFAULT_OPTIONS) for definition, call in asked])
    encode = _least(lambda: [encode_results(request, result) for request, result in pairs])
    whole = asyncio.run(_calls(store, bodies))
    times = decode, evaluate, encode, max(whole - decode - evaluate - encode, 0.0), whole
    return tuple(each / len(bodies) for each in times)


async def _calls(store: Store, bodies: list[bytes]) -> float:
    calls = Calls(store, DEFAULT_OPTIONS)
    calls.observers = (Metrics().see,)
    return _least(lambda: [calls.answer_soon(body) for body in bodies])


_COUNTS: Final = (1, 10, 100)
_OF_GROUPS: Final = ("InterpretReplica", "InterpretComponent", "ReviseReplica", "Retain", "InterpretHealth")


def parts(_: Field, __: Effort) -> Part:
    """Measure a call about ever more clusters, and about ever more groups of pods."""
    store = Store()
    store.load()
    clusters = {
        count: body_about("AggregateStatus", deployment(12), [f"member{number}" for number in range(count)])
        for count in _COUNTS
    }
    rows = [_growth_row(store, "AggregateStatus of a Deployment, clusters", clusters)]
    for operation in _OF_GROUPS:
        groups = {count: body_about(operation, ray_cluster(count)) for count in _COUNTS}
        rows.append(_growth_row(store, f"{operation} of a RayCluster, groups", groups))
    return Part({"parts": table(("call", *map(str, _COUNTS), "µs for a further one"), rows)})


def _growth_row(store: Store, title: str, bodies: Mapping[int, bytes]) -> tuple[str, ...]:
    """Return what a call costs in microseconds for each number of parts, and what a further part costs."""
    read, costs = FastDecoder(store.snapshot.find).read, list[float]()
    for body in bodies.values():
        found = read(body)
        if found is None or found.request.call is None:
            raise MeasurementError(f"{title}: the request is not what Karmada sends")
        request, definition, call = found.request, found.definition, found.request.call
        made = partial(own_answer, definition, call, DEFAULT_OPTIONS)
        costs.append(_least(lambda: read(body)) + _least(made) + _least(partial(encode_results, request, made())))  # noqa: B023 - called at once
    counts = list(bodies)
    further = (costs[-1] - costs[-2]) / (counts[-1] - counts[-2])
    return (title, *map(number, costs), number(further))


def _least(act: Callable[[], object]) -> float:
    """Return the least processor time of many short turns, in microseconds: other programs make some of them longer."""
    act()
    gc.collect()
    gc.disable()
    least = float("inf")
    for _ in range(_TURNS):
        count, begun = 0, time.process_time()
        while (spent := time.process_time() - begun) < _TURN_SECONDS:
            act()
            count += 1
        least = min(least, spent / max(count, 1))
    gc.enable()
    return 1e6 * least
