"""What a second worker adds, where there is a second core for it."""

from typing import Final

from tests.benchmarks.field import Field
from tests.benchmarks.load import Load
from tests.benchmarks.report import Part, number, table
from tests.benchmarks.rounds import Case, Effort, measure
from tests.benchmarks.servers import cores, started_on
from tests.benchmarks.workload import ray_cluster

_SIZES: Final = {"24 KB": 24 * 1024, "100 KB": 100 * 1024}
_CONNECTIONS: Final = 16


def scaling(field: Field, effort: Effort) -> Part:
    """Measure with one worker and with two; gives the ratio of what they answer in a second.

    Server and client share both cores here, so that two workers may have two. What is asked is large, so that the
    client's share is small.
    """
    rows, ratios = [], {}
    with (
        started_on(cores()),
        Load(*field.load.command) as load,
        field.bay.ours("1 worker", "--workers", "1", on=cores()) as one,
        field.bay.ours("2 workers", "--workers", "2", on=cores()) as two,
    ):
        for size, length in _SIZES.items():
            bodies = field.bodies("InterpretComponent", length, ray_cluster)
            cases = [Case(server, bodies, _CONNECTIONS) for server in (one, two)]
            measure(cases, load, effort.rounds, 2 * effort.seconds)
            rates = [case.found.rate for case in cases]
            for case, rate in zip(cases, rates, strict=True):
                busy = case.found.cpu * rate / 1e6
                figures = (number(rate), f"{rate / rates[0]:.2f}", number(case.found.cpu))
                used = (f"{busy:.2f}", f"{case.found.busy:.2f}", number(case.server.memory()))
                rows.append((size, case.server.name, *figures, *used))
            ratios[f"2 workers, {size}"] = rates[1] / rates[0]
    heads = (
        "RayCluster of",
        "server",
        "requests/s",
        "ratio",
        "CPU µs per request",
        "cores that it used",
        "cores that the client used",
        "resident MiB",
    )
    return Part({"workers": table(heads, rows)}, ratios)
