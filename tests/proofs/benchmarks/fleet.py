"""What the calls of the day cost: as the day mixes them, by operation, and compared with Karmada's example in Go."""

from collections.abc import Sequence
from statistics import fmean
from typing import Final

import yaml

from karta_interpreter.base.k8s.quantity import Quantity
from tests.proofs.benchmarks.day import about_workloads, by_operation, recorded
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.figures import Figures, Turns, cpu, spread, times
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort, measure
from tests.proofs.benchmarks.servers import ROOT

OBJECTS: Final = (200, 5_000, 20_000)
_MANY: Final = OBJECTS[1]
_RATE: Final = 2_000
"""Calls a second, so that waking up costs every server the same."""
_RATE_OF_EXAMPLE: Final = 1_000
"""As many as Karmada's example can answer about objects of every size, with one core."""
_WANTED_FLOORS, _WANTED_SPREAD = 3.0, 0.1
_VALUES: Final = ROOT / "deploy" / "helm" / "karta-interpreter" / "values.yaml"
_COSTS: Final = ("floor, CPU µs", "cold, CPU µs", "times the floor", "warm, CPU µs", "times the floor")


def day(field: Field, effort: Effort) -> Part:
    """Measure the days of 200 objects and more; gives what a call costs in floors."""
    rows, floors, cold, warm = [], dict[str, float](), [], []
    for objects in OBJECTS:
        floor, ours = measure((field.floor, field.ours), field.load, recorded(), objects, effort, _RATE)
        name = f"{objects:,} objects"
        floors |= _floors(name, floor, ours)
        cold.append(cpu(ours.cold))
        warm.append(cpu(ours.warm))
        waits = (number(_median(ours.cold, what)) for what in ("p50", "p99"))
        slowest = min(one.rate for one in (*floor.both, *ours.both))
        varies = f"{100 * spread([one.cpu for one in ours.cold]):.0f} %"
        rows.append((name, *_costs(floor, ours), *waits, number(slowest), varies))
    heads = ("day of", *_COSTS, "cold, p50 µs", "p99 µs", "calls/s, least", "middle half within")
    mean = fmean((cold[1], warm[1]))
    texts = {
        "day": table(heads, rows),
        "capacity": _capacity(mean),
        "headline": (
            f"- [Performance](docs/performance.md): a call of a recorded day of {_MANY:,} objects takes a core "
            f"**{number(cold[1])} µs**\n  the first time and **{number(warm[1])} µs** when it comes again.\n"
        ),
    }
    said = (
        f"A call of a fleet's day costs **{number(cold[1])} µs** of processor time the first time and "
        f"**{number(warm[1])} µs** when it comes again, with {_MANY:,} objects: one core answers "
        f"{number(1e6 / mean)} of them in a second."
    )
    return Part(texts, floors, (said, _compared_with_wanted(floors, cold, warm)))


def operations(field: Field, effort: Effort) -> Part:
    """Measure each operation of a day of 5,000 objects."""
    rows = []
    for operation, calls in by_operation(recorded()).items():
        floor, ours = measure((field.floor, field.ours), field.load, calls, _MANY, effort.quarter, _RATE)
        rows.append((operation, *_costs(floor, ours)))
    return Part({"operations": table(("operation", *_COSTS), rows)})


def example(field: Field, effort: Effort) -> Part:
    """Measure the calls about Deployments as calls about the kind of Karmada's example, mixed and by operation."""
    calls, rows = about_workloads(), []
    for name, several in {"as the day mixes them": calls, **by_operation(calls)}.items():
        ours, theirs = measure(
            (field.ours, field.example), field.load, several, _MANY, effort.quarter, _RATE_OF_EXAMPLE
        )
        ratio = times(theirs.cold, ours.cold), times(theirs.warm, ours.warm)
        costs = (cpu(ours.cold), cpu(ours.warm), cpu(theirs.both))
        rows.append((name, *map(number, costs), *(f"{one:.1f}" for one in ratio)))
    heads = ("calls", "this server, cold, CPU µs", "warm, CPU µs", "Go example, CPU µs", "times cold", "times warm")
    _, cold, warm, theirs_, ratio_cold, ratio_warm = rows[0]
    said = (
        f"Karmada's example in Go needs {theirs_} µs for the calls about the one kind that it knows, this server "
        f"{cold} µs cold and {warm} µs warm: **{ratio_cold}** and **{ratio_warm}** times as much."
    )
    return Part({"example": table(heads, rows)}, conclusions=(said,))


def quick(field: Field, effort: Effort) -> Part:
    """Measure the mix of 5,000 objects; gives what a call costs in floors."""
    floor, ours = measure((field.floor, field.ours), field.load, recorded(), _MANY, effort, _RATE)
    return Part({}, _floors(f"{_MANY:,} objects", floor, ours))


def paired(field: Field, effort: Effort) -> Part:
    """Measure the days with this server and the one of another commit in turns; gives how many times as dear it is."""
    rows, ratios = [], dict[str, float]()
    for objects in OBJECTS:
        before, ours = measure((field.before, field.ours), field.load, recorded(), objects, effort, _RATE)
        name = f"{objects:,} objects"
        ratios |= _floors(name, before, ours)
        rows.append((name, *_costs(before, ours)))
    heads = ("day of", *(head.replace("the floor", "before").replace("floor", "before") for head in _COSTS))
    return Part({"paired": table(heads, rows)}, ratios)


def _floors(name: str, floor: Turns, ours: Turns) -> dict[str, float]:
    return {
        f"{name}, {way}": times(one, other)
        for way, one, other in (("cold", ours.cold, floor.cold), ("warm", ours.warm, floor.warm))
    }


def _costs(floor: Turns, ours: Turns) -> tuple[str, ...]:
    cold, warm = _floors("", floor, ours).values()
    return number(cpu(floor.both)), number(cpu(ours.cold)), f"{cold:.1f}", number(cpu(ours.warm)), f"{warm:.1f}"


def _median(rounds: Sequence[Figures], what: str) -> float:
    ordered = sorted(getattr(one, what) for one in rounds)
    return float(ordered[len(ordered) // 2])


def _compared_with_wanted(floors: dict[str, float], *costs: Sequence[float]) -> str:
    most, apart = max(floors.values()), max(max(several) / min(several) - 1 for several in costs)
    wanted = f"{_WANTED_FLOORS:.0f} times, and {100 * _WANTED_SPREAD:.0f} %"
    is_reached = most <= _WANTED_FLOORS and apart <= _WANTED_SPREAD
    return (
        f"That is up to {most:.1f} times the floor, and days of {OBJECTS[0]}, {OBJECTS[1]:,} and {OBJECTS[2]:,} "
        f"objects lie within {100 * apart:.0f} % of each other. Wanted are at most {wanted}: "
        f"{'both is reached' if is_reached else 'not all of it is reached'}."
    )


def _capacity(mean: float) -> str:
    """Return the table of how many calls a replica answers while it is as busy as its autoscaler wants it."""
    values = yaml.safe_load(_VALUES.read_text())
    target = values["autoscaling"]["targetCPUUtilizationPercentage"]
    request = str(values["resources"]["requests"]["cpu"])
    shares = 1.0, target / 100, Quantity.parse(request).milli / 1000 * target / 100
    heads = (
        "CPU µs per call",
        "calls/s, one whole core",
        f"at {target} % of a request of 1 CPU",
        f"at {target} % of {request}, the chart's default",
    )
    return table(heads, [(number(mean), *(number(1e6 * share / mean) for share in shares))])
