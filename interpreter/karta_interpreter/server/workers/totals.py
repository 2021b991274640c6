"""What several processes have counted, as one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from prometheus_client import CollectorRegistry, Metric, generate_latest

from karta_interpreter.server.workers.messages import Family

_OF_THE_SERVER = frozenset({"process_start_time_seconds", "process_max_fds"})
"""What is not more for being there several times; the first process that is counted says it."""

_LASTING = frozenset({"counter", "histogram"})
"""What never becomes less, or Prometheus takes it for a restart and counts all of it again."""

_Key = tuple[str, tuple[tuple[str, str], ...]]


def counted(registry: CollectorRegistry) -> list[Family]:
    """Return what one process has counted."""
    return [
        Family(
            metric.name,
            metric.documentation,
            metric.type,
            [(each.name, each.labels, each.value) for each in metric.samples],
        )
        for metric in registry.collect()
    ]


def lasting(families: Iterable[Family]) -> list[Family]:
    """Return what goes on counting when the process is gone that has counted it."""
    return [family for family in families if family.kind in _LASTING]


def summed(reports: Iterable[Iterable[Family]]) -> list[Family]:
    """Return the sums of what processes have counted; a process leaves at 0 what is for others to say.

    >>> one = Family("calls", "Calls.", "counter", [("calls_total", {"kind": "Job"}, 1.0)])
    >>> [family.samples for family in summed([[one], [one]])]
    [[('calls_total', {'kind': 'Job'}, 2.0)]]
    """
    sums: dict[str, _Sum] = {}
    for report in reports:
        for family in report:
            sums.setdefault(family.name, _Sum(family)).add(family)
    return [total.family for total in sums.values()]


def text(families: Iterable[Family]) -> bytes:
    """Return what was counted in the text format of Prometheus."""
    return generate_latest(cast("CollectorRegistry", _Page(families)))


@dataclass(frozen=True, slots=True)
class _Sum:
    first: Family
    values: dict[_Key, float] = field(default_factory=dict)

    def add(self, family: Family) -> None:
        for name, labels, value in family.samples:
            key = name, tuple(labels.items())
            if key not in self.values:
                self.values[key] = value
            elif name not in _OF_THE_SERVER:
                self.values[key] += value

    @property
    def family(self) -> Family:
        samples = [(name, dict(labels), value) for (name, labels), value in self.values.items()]
        return Family(self.first.name, self.first.documentation, self.first.kind, samples)


@dataclass(frozen=True, slots=True)
class _Page:
    """As much of a registry as is needed to print it."""

    families: Iterable[Family]

    def collect(self) -> Iterator[Metric]:
        for family in self.families:
            metric = Metric(family.name, family.documentation, family.kind)
            for name, labels, value in family.samples:
                metric.add_sample(name, labels, value)
            yield metric
