"""What the calls of the day cost: as the day mixes them, by operation, and compared with Karmada's example in Go."""

from statistics import fmean
from typing import Final

import yaml

from karta_interpreter.base.k8s.quantity import Quantity
from tests.proofs.benchmarks.day import about_workloads, by_operation, recorded
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.figures import Turns, cpu, rate, spread, times
from tests.proofs.benchmarks.instructions import instructions
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort, measure
from tests.proofs.benchmarks.servers import ROOT

OBJECTS: Final = (200, 5_000, 20_000)
_MANY: Final = OBJECTS[1]
_SATURATED: Final = 0
"""As many calls as a server answers: below that, both pay for waking up."""
_RATE: Final = 2_000
"""Calls a second where servers are compared quickly, so that waking up costs every server the same."""
_VALUES: Final = ROOT / "deploy" / "helm" / "karta-interpreter" / "values.yaml"
_COSTS: Final = ("floor, CPU µs", "cold, CPU µs", "times the floor", "warm, CPU µs", "times the floor")
_RATES: Final = ("cold, calls/s", "CPU µs", "warm, calls/s", "CPU µs")


def day(field: Field, effort: Effort) -> Part:
    """Measure how many calls of the days of 200 objects and more a core answers, next to a constant answer."""
    rows, means = [], []
    for objects in OBJECTS:
        floor, ours = measure((field.floor, field.ours), field.load, recorded(), objects, effort, _SATURATED)
        means.append(fmean((cpu(ours.cold), cpu(ours.warm))))
        varies = f"{100 * spread([one.cpu for one in ours.cold]):.0f} %"
        rows.append((f"{objects:,} objects", *_rates(ours), number(rate(floor.both)), varies))
    heads = ("day of", *_RATES, "a constant answer, calls/s", "middle half within")
    _, new, _, again, _, constant, varies = rows[1]
    texts = {
        "day": table(heads, rows),
        "capacity": _capacity(fmean(means)),
        "headline": (
            f"- [Performance](docs/performance.md): a core answers **{new}** calls a second of a recorded day\n"
            f"  of {_MANY:,} objects the first time, and **{again}** when they come again.\n"
        ),
    }
    said = (
        f"A core answers **{new}** calls a second of a fleet's day of {_MANY:,} objects the first time and **{again}** "
        f"when they come again (the middle half of the rounds within {varies}). "
        f"A constant answer of a server in Python: {constant}."
    )
    return Part(texts, conclusions=(said,))


def operations(_: Field, __: Effort) -> Part:
    """Count the instructions of a call of each operation of a day of 5,000 objects. Raises MeasurementError."""
    counted = dict([*instructions().items()][1:])  # without the floor
    if not counted:
        raise MeasurementError("instructions are counted by Valgrind, on x86-64")
    calls = {operation: len(several) for operation, several in by_operation(recorded()).items()}
    mean = sum(number_of_calls * counted[name] for name, number_of_calls in calls.items()) / sum(calls.values())
    rows = [(name, number(found)) for name, found in sorted(counted.items())]
    rows.append(("as the day mixes them", number(mean)))
    return Part({"operations": table(("operation", "instructions"), rows)})


def example(field: Field, effort: Effort) -> Part:
    """Measure the calls about Deployments as calls about the kind of Karmada's example, mixed and by operation."""
    calls, rows = about_workloads(), []
    for name, several in {"as the day mixes them": calls, **by_operation(calls)}.items():
        ours, theirs = measure((field.ours, field.example), field.load, several, _MANY, effort.quarter, _SATURATED)
        ratio = times(theirs.cold, ours.cold), times(theirs.warm, ours.warm)
        costs = number(rate(theirs.both)), number(cpu(theirs.both))
        rows.append((name, *_rates(ours), *costs, *(f"{one:.1f}" for one in ratio)))
    heads = ("calls", *_RATES, "Go example, calls/s", "CPU µs", "times cold", "times warm")
    _, new, _, again, _, theirs_, _, ratio_cold, ratio_warm = rows[0]
    said = (
        f"Of the calls about the one kind that Karmada's example in Go knows, that example answers {theirs_} a second, "
        f"this server {new} the first time and {again} again. The example takes **{ratio_cold}** and "
        f"**{ratio_warm}** times as much processor time."
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


def _rates(ours: Turns) -> tuple[str, ...]:
    return tuple(number(figure) for turns in (ours.cold, ours.warm) for figure in (rate(turns), cpu(turns)))


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
