"""What this server costs compared with the floor: a server in Python that knows the answer."""

from typing import Final

from tests.proofs.benchmarks.comparison import FLOOR, QUICK_FLOOR
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.load import Load, python_load
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Case, Effort, measure
from tests.proofs.benchmarks.workload import HOT_OPERATIONS, Make, ray_cluster, workload

_MAKES: Final[dict[str, Make]] = {"Workload": workload, "RayCluster": ray_cluster}
_SIZES: Final = {"5 KB": 5 * 1024, "24 KB": 24 * 1024}
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
    return _part(field, field.load, effort, FLOOR)


def quick_floor_ratio(field: Field, effort: Effort) -> Part:
    """Measure the same with the load in Python, which every machine has; it has ratios of its own.

    They are those of the least costs of all rounds: other programs make some rounds dearer, and none cheaper.
    """
    with python_load() as load:
        return Part({}, _part(field, load, effort, QUICK_FLOOR).ratios)


def _part(field: Field, load: Load, effort: Effort, prefix: str) -> Part:
    cases = {
        (kind, size): [
            Case(field.floor, bodies),
            Case(field.ours, bodies),
            Case(field.ours, bodies, way="again"),
        ]
        for kind, make in _MAKES.items()
        for size, length in _SIZES.items()
        if (bodies := field.hot_bodies(length, make, HOT_OPERATIONS))
    }
    measure((case for several in cases.values() for case in several), load, effort.rounds, effort.seconds)
    rows: list[tuple[str, ...]] = []
    ratios: dict[str, float] = {}
    said = []
    for (kind, size), several in cases.items():
        floor, first, again = (case.found.least if prefix == QUICK_FLOOR else case.found.cpu for case in several)
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
