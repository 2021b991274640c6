"""What each operation costs the server, compared with Karmada's example webhook where that knows the kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from tests.proofs.benchmarks.capacity import Replica, capacity_table
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.figures import Summary, mean_cpu
from tests.proofs.benchmarks.report import NOTHING, Part, Plot, number, table
from tests.proofs.benchmarks.rounds import Case, Effort, measure
from tests.proofs.benchmarks.servers import Server
from tests.proofs.benchmarks.workload import (
    HOT_OPERATIONS,
    OPERATIONS,
    Make,
    bounded,
    deployment,
    pytorch_job,
    ray_cluster,
    workload,
)

_PEERS_KIND: Final = "Workload"
_KINDS: Final[Mapping[str, Make]] = {
    _PEERS_KIND: workload,
    "Deployment": deployment,
    "RayCluster": ray_cluster,
    "PyTorchJob": pytorch_job,
}
_SMALL: Final = ("5 KB", "24 KB")
_FIRST, _AGAIN = "this server, first calls", "this server, same template again"
_MOST_THAT_THE_EXAMPLE_READS: Final = 2**20
"""Bytes of a body (``MaxRespBodyLength`` of Karmada's ``pkg/webhook/interpreter/http.go``)."""
_LARGE: Final = 512 * 1024
_CONNECTIONS, _CONNECTIONS_FOR_LARGE = 8, 1


@dataclass(frozen=True, slots=True)
class _Row:
    """One operation on objects of one kind and size; the cases by `_FIRST`, `_AGAIN`, or who else was asked."""

    operation: str
    kind: str
    size: str
    cases: dict[str, Case]

    @property
    def is_hot(self) -> bool:
        return self.kind == _PEERS_KIND and self.operation in HOT_OPERATIONS and self.size in _SMALL

    def found(self, name: str) -> Summary | None:
        case = self.cases.get(name)
        return case.found if case and case.worked else None

    def cpu(self, name: str) -> str:
        case = self.cases.get(name)
        if not case:
            return NOTHING
        return number(case.found.cpu) if case.worked else "failed"

    def ratio(self, name: str, other: str) -> str:
        """Return how many times as much as another one costs; nothing where one of them was not asked."""
        one, least = self.found(name), self.found(other)
        return f"{one.cpu / least.cpu:.1f}" if one and least else NOTHING


def operations(field: Field, effort: Effort) -> Part:
    """Measure all operations; gives ratios to the example at 5 and 24 KB, means of the three that come most often."""
    rows = list(_rows(field, effort))
    measure([case for row in rows for case in row.cases.values()], field.load, effort.rounds, effort.seconds)
    names = [_FIRST, _AGAIN, *(server.name for server in field.servers[1:])]
    means = {name: {size: mean_cpu(_hot(rows, name, size)) for size in _SMALL} for name in names}
    texts = {"summary": f"{_summary_table(means)}\n{_spread(rows)}"}
    conclusions = [_headline(means, field, size) for size in _SMALL]
    if effort.whole:
        texts |= {
            "operations": _beside_table(rows, field),
            "kinds": _kinds_tables(rows, field, effort),
            "capacity": capacity_table(_all_operations(rows, effort), Replica.of_chart()),
        }
        conclusions += _of_large_clusters(rows)
    return Part(texts, _ratios(means, field), _plots(rows, means, field, effort), conclusions)


def special(field: Field, effort: Effort) -> Part:
    """Measure what is not answered from plain expressions: scripts, and expressions that run in a process."""
    rows = list(_special(field))
    measure([case for row in rows for case in row.cases.values()], field.load, effort.rounds, effort.seconds)
    heads = ("answered by", "operation", "object", "CPU µs", "requests/s per core", "p50 µs")
    lines = [
        (row.kind, row.operation, row.size, number(case.found.cpu), number(case.found.per_core), number(case.found.p50))
        for row in rows
        for case in row.cases.values()
        if case.worked
    ]
    return Part({"special": table(heads, lines)})


def _rows(field: Field, effort: Effort) -> Iterator[_Row]:
    for kind, make in _KINDS.items() if effort.whole else [(_PEERS_KIND, workload)]:
        for size, length in effort.sizes.items():
            for operation in OPERATIONS if effort.whole else HOT_OPERATIONS:
                row = _Row(operation, kind, size, {})
                bodies = field.bodies(operation, length, make)
                connections = _CONNECTIONS if length < _LARGE else _CONNECTIONS_FOR_LARGE
                row.cases[_FIRST] = Case(field.ours, bodies, connections)
                if size in _SMALL:
                    row.cases[_AGAIN] = Case(field.ours, bodies, connections, way="again")
                for server in _others(field, row, bodies[0].stat().st_size):
                    row.cases[server.name] = Case(server, bodies, connections)
                yield row


def _others(field: Field, row: _Row, length: int) -> Sequence[Server]:
    if row.kind != _PEERS_KIND:
        return []
    if not field.peers or length > _MOST_THAT_THE_EXAMPLE_READS:
        return [field.floor]
    return field.servers[1:] if row.is_hot else [field.floor, field.peers.example]


def _special(field: Field) -> Iterator[_Row]:
    for size, length in {"5 KB": 5 * 1024, "24 KB": 24 * 1024}.items():
        if field.peers:
            for operation in ("InterpretComponent", "InterpretHealth"):
                bodies = field.bodies(operation, length, ray_cluster)
                cases = {"": Case(field.peers.scripted, bodies)}
                yield _Row(operation, "Karmada's script in Lua", f"RayCluster, {size}", cases)
        bodies = field.bodies("InterpretReplica", length, bounded)
        cases = {"": Case(field.ours, bodies)}
        yield _Row("InterpretReplica", "a bounded expression", f"Workload, {size}", cases)


def _hot(rows: Sequence[_Row], name: str, size: str) -> list[Summary]:
    return [row.cases[name].found for row in rows if row.is_hot and row.size == size]


def _ratios(means: Mapping[str, Mapping[str, float]], field: Field) -> dict[str, float]:
    examples = field.peers.examples if field.peers else ()
    return {
        f"CPU per request, {size}, {server.name}{suffix}": means[server.name][size] / means[own][size]
        for own, suffix in ((_FIRST, ""), (_AGAIN, ", same template again"))
        for server in examples
        for size in _SMALL
    }


def _headline(means: Mapping[str, Mapping[str, float]], field: Field, size: str) -> str:
    first, again = means[_FIRST][size], means[_AGAIN][size]
    text = (
        f"A call about an object of {size} costs **{number(first)} µs** of processor time when its pod template is "
        f"new, and **{number(again)} µs** when only its state has changed: one core answers {number(1e6 / first)} to "
        f"{number(1e6 / again)} of them in a second"
    )
    if not field.peers:
        return f"{text}."
    theirs = means[field.peers.example.name][size]
    times = f"**{theirs / first:.1f}** to {theirs / again:.1f} times as much"
    return f"{text}. Karmada's example needs {number(theirs)} µs, {times}."


def _of_large_clusters(rows: Sequence[_Row]) -> list[str]:
    found = [row for row in rows if (row.kind, row.size, row.operation) == ("RayCluster", "24 KB", "InterpretReplica")]
    return [
        f"InterpretReplica of a RayCluster of {row.size} costs {row.cpu(_FIRST)} µs, {row.cpu(_AGAIN)} µs with the "
        "same templates: each group has a template of its own."
        for row in found
    ]


def _summary_table(means: Mapping[str, Mapping[str, float]]) -> str:
    mine = next(iter(means.values()))
    heads = ["server", *(head for size in _SMALL for head in (f"{size}: CPU µs", "requests/s per core", "ratio"))]
    rows = [
        (name, *(cell for size in _SMALL for cell in _cells(found[size], mine[size]))) for name, found in means.items()
    ]
    return table(heads, rows)


def _cells(cpu: float, own: float) -> tuple[str, str, str]:
    return number(cpu), number(1e6 / cpu), f"{cpu / own:.1f}"


def _spread(rows: Sequence[_Row]) -> str:
    spreads = [case.found.spread for row in rows for case in row.cases.values() if case.worked]
    return f"Of one case, the middle half of the rounds lies within {100 * fmean(spreads):.0f} % on average.\n"


def _beside_table(rows: Sequence[_Row], field: Field) -> str:
    heads = (
        "operation",
        "size",
        "floor, CPU µs",
        "first calls, CPU µs",
        "times the floor",
        "same template again, CPU µs",
        "times the floor",
        "Go example, CPU µs",
        "times first calls",
    )
    return table(heads, [_line(row, field) for row in rows if row.kind == _PEERS_KIND])


def _line(row: _Row, field: Field) -> tuple[str, ...]:
    floor, example = field.floor.name, field.peers.example.name if field.peers else ""
    ours = (cell for own in (_FIRST, _AGAIN) for cell in (row.cpu(own), row.ratio(own, floor)))
    return row.operation, row.size, row.cpu(floor), *ours, row.cpu(example), row.ratio(example, _FIRST)


def _kinds_tables(rows: Sequence[_Row], field: Field, effort: Effort) -> str:
    heads = ("operation, CPU µs (times the floor)", *effort.sizes, *(f"{size}, again" for size in _SMALL))
    columns = [*((size, _FIRST) for size in effort.sizes), *((size, _AGAIN) for size in _SMALL)]
    by_place = {(row.kind, row.operation, row.size): row for row in rows}

    def cell(kind: str, operation: str, size: str, name: str) -> str:
        row, floor = by_place[kind, operation, size], by_place[_PEERS_KIND, operation, size].found(field.floor.name)
        found = row.found(name)
        return f"{row.cpu(name)} ({found.cpu / floor.cpu:.1f})" if found and floor else row.cpu(name)

    tables = []
    for kind in _KINDS:
        if kind != _PEERS_KIND:
            lines = [(each, *(cell(kind, each, *column) for column in columns)) for each in OPERATIONS]
            tables.append(f"{kind}:\n\n{table(heads, lines)}")
    return "\n".join(tables)


def _all_operations(rows: Sequence[_Row], effort: Effort) -> dict[str, float]:
    """Return the mean over all operations and kinds, by size."""
    by_size = {
        size: [found for row in rows if row.size == size and (found := row.found(_FIRST))] for size in effort.sizes
    }
    return {size: mean_cpu(several) for size, several in by_size.items() if several}


def _plots(rows: Sequence[_Row], means: Mapping[str, Mapping[str, float]], field: Field, effort: Effort) -> list[Plot]:
    if not effort.whole:
        return []
    bars = Plot(
        "servers",
        "CPU per request: mean of InterpretReplica, InterpretComponent, InterpretHealth",
        "",
        "µs of CPU per request",
        _SMALL,
        {name: [found[size] for size in _SMALL] for name, found in means.items()},
    )
    return [bars, _growth(rows, field, effort)]


def _growth(rows: Sequence[_Row], field: Field, effort: Effort) -> Plot:
    sizes = list(effort.sizes)
    asked = [(f"this server, {kind}", _FIRST, kind) for kind in _KINDS]
    asked.append((f"floor, {_PEERS_KIND}", field.floor.name, _PEERS_KIND))
    if field.peers:
        asked.append((f"Go example, {_PEERS_KIND}", field.peers.example.name, _PEERS_KIND))
    return Plot(
        "sizes",
        "CPU per request by size of the object: mean of InterpretReplica, InterpretComponent, InterpretHealth",
        "KB",
        "µs of CPU per request",
        [effort.sizes[size] / 1024 for size in sizes],
        {name: [_mean(rows, server, kind, size) for size in sizes] for name, server, kind in asked},
        "log",
    )


def _mean(rows: Sequence[_Row], server: str, kind: str, size: str) -> float:
    several = [
        found
        for row in rows
        if row.kind == kind and row.size == size and row.operation in HOT_OPERATIONS and (found := row.found(server))
    ]
    return mean_cpu(several) if several else float("nan")
