"""What this server costs compared with the floor: a server in Python that knows the answer."""

import time
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from tests.proofs.benchmarks.comparison import FLOOR, QUICK_FLOOR
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.load import python_load
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Case, Effort, measure
from tests.proofs.benchmarks.workload import HOT_OPERATIONS, Make, ray_cluster, workload

_MAKES: Final[dict[str, Make]] = {"Workload": workload, "RayCluster": ray_cluster}
_SIZES: Final = {"5 KB": 5 * 1024, "24 KB": 24 * 1024}
_QUICK: Final = (("Workload", "5 KB"), ("RayCluster", "24 KB"))
_QUICK_SECONDS: Final = 20.0
"""After these there is no other round, for a busy machine takes long over each."""
_Place: TypeAlias = tuple[str, str]
"""A kind and a size."""
_HEADS: Final = (
    "kind",
    "size",
    "floor, CPU µs",
    "first calls, CPU µs",
    "times the floor",
    "same template again, CPU µs",
    "times the floor",
)


def floor_ratio(field: Field, effort: Effort) -> Part:
    """Measure the mean of the three operations that come most often; gives the ratios of the floor to this server."""
    cases = _cases(field, [(kind, size) for kind in _MAKES for size in _SIZES])
    measure(_each(cases), field.load, effort.rounds, effort.seconds)
    return _part({place: [case.found.cpu for case in several] for place, several in cases.items()}, FLOOR)


def quick_floor_ratio(field: Field, effort: Effort) -> Part:
    """Measure the same with the load in Python, which every machine has; it has ratios of its own.

    They are those of the least costs of all rounds: other programs make some rounds dearer, and none cheaper.
    """
    cases = _cases(field, _QUICK)
    until = time.monotonic() + _QUICK_SECONDS
    with python_load() as load:
        for _ in range(effort.rounds):
            measure(_each(cases), load, 1, effort.seconds)
            if time.monotonic() > until:
                break
    return Part({}, _part({place: [case.found.least for case in cases[place]] for place in cases}, QUICK_FLOOR).ratios)


def _cases(field: Field, places: Iterable[_Place]) -> dict[_Place, list[Case]]:
    """Return for each place the floor, first calls of this server, and those with the same template again."""
    cases = {}
    for kind, size in places:
        bodies = field.hot_bodies(_SIZES[size], _MAKES[kind], HOT_OPERATIONS)
        cases[kind, size] = [
            Case(field.floor, bodies),
            Case(field.ours, bodies),
            Case(field.ours, bodies, way="again"),
        ]
    return cases


def _each(cases: Mapping[_Place, list[Case]]) -> list[Case]:
    return [case for several in cases.values() for case in several]


def _part(found: Mapping[_Place, list[float]], prefix: str) -> Part:
    rows: list[tuple[str, ...]] = []
    ratios: dict[str, float] = {}
    said = []
    for (kind, size), (floor, first, again) in found.items():
        times = f"{first / floor:.1f}", f"{again / floor:.1f}"
        rows.append((kind, size, number(floor), number(first), times[0], number(again), times[1]))
        ratios |= {
            f"{prefix}{kind}, {size}, first calls": floor / first,
            f"{prefix}{kind}, {size}, same template again": floor / again,
        }
        said.append(f"{times[0]} and {times[1]} times for a {kind} of {size}")
    conclusion = (
        "Compared with a server in Python that knows the answer, the least that Python can do, a first call and one "
        f"about the same pod template cost {', '.join(said)}."
    )
    return Part({"floor": table(_HEADS, rows)}, ratios, conclusions=(conclusion,))
