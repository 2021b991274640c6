"""How many requests a replica carries."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import yaml

from karta_interpreter.base.k8s.quantity import Quantity
from tests.proofs.benchmarks.report import number, table

_VALUES: Final = Path(__file__).parents[3] / "deploy" / "helm" / "karta-interpreter" / "values.yaml"


@dataclass(frozen=True, slots=True)
class Replica:
    """What a replica requests of a CPU, and the percentage of that which the autoscaler aims at."""

    request: str
    target: int

    @classmethod
    def of_chart(cls) -> Self:
        """Return what the chart has by default."""
        values: dict[str, Any] = yaml.safe_load(_VALUES.read_text())
        target = values["autoscaling"]["targetCPUUtilizationPercentage"]
        return cls(str(values["resources"]["requests"]["cpu"]), int(target))

    def per_second(self, cpu: float) -> float:
        """Return the requests per second at which a replica is as busy as it should be; ``cpu`` µs each.

        >>> Replica("500m", 70).per_second(100.0)
        3500.0
        """
        return Quantity.parse(self.request).milli * 1000 * self.target / 100 / cpu


def capacity_table(cpu: Mapping[str, float], default: Replica) -> str:
    """Return the table for processor times in microseconds by size of object."""
    whole = Replica("1", default.target)
    heads = (
        "objects of",
        "CPU µs per request",
        "requests/s, one whole core",
        f"at {whole.target} % of a request of {whole.request} CPU",
        f"at {default.target} % of {default.request}, the chart's default",
    )
    rows = [
        (size, number(one), number(1e6 / one), number(whole.per_second(one)), number(default.per_second(one)))
        for size, one in cpu.items()
    ]
    return table(heads, rows)
