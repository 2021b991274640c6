"""The counts and measurements of the server, in a registry of its own."""

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import accumulate
from math import inf
from typing import Final

from msgspec import Struct
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.rate_limit import Clock
from karta_interpreter.definitions.sources import Budget, Snapshot
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.answering.fights import Fights
from karta_interpreter.webhook.answering.pending_call import Answer, PendingCall

# Created metrics would add a series for each, with a time that Prometheus does not read.
disable_created_metrics()  # type: ignore[no-untyped-call]  # not annotated there

# The format that `generate_latest` writes here. The library's `CONTENT_TYPE_LATEST` is a later version of it.
CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_PREFIX = "karta_interpreter"
_PAGE_SECONDS = 1.0

SLOW_SECONDS: Final = 0.1
"""A call that takes longer counts as slow: hostile definitions may delay the calls of others by this much."""

_OPERATIONS: Final = frozenset(operation.value for operation in Operation)
_UNKNOWN: Final = "unknown"
_LONGEST: Final = 256
"""Characters of a kind's label. A definition may write any text there."""
_OUTCOMES: Final = {200: "success", 400: "invalid", 404: "unknown_kind", 422: "failed", 504: "timeout"}
_FAULT: Final = "error"
BOUNDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.03, SLOW_SECONDS, 0.5, 2.5)
"""Answers take 0.1 to 5 ms, answers about small objects at most 30 ms. From 0.5 s on, Karmada and the server log a call
as slow. After 2.5 s it has failed if Karmada waits 3 s."""


GAUGES: Final = {
    "certificate_expiry_timestamp_seconds": "End of the served certificate, in seconds since 1970.",
    "cluster_stale_seconds": "With --cluster: time since the Kartas were known to be those of the API server.",
    "definitions_bytes": "Memory that the definitions of all sources take, as estimated from their text.",
    "references_bytes": "With --cluster: memory that the objects take to which definitions refer.",
    "references_unread": "With --cluster: kinds that definitions refer to, and that the server may not or cannot read.",
    "references_without_room": "With --cluster: kinds by namespace of which objects have no room. Calls for them fail.",
    "registration_in_step": "With --register: 1 when the registration on the control plane is up to date.",
    "requests_in_flight": "Requests that are being answered, this one included.",
    "token_expiry_timestamp_seconds": "End of the token in the kubeconfig, in seconds since 1970, or +Inf.",
}
"""Measurements that a server shows if it has them, each with its description."""


class Metrics:
    """The metrics of one server.

    Every label has few values. Operations are Karmada's, kinds are the kinds with a definition, and anything else that
    a client sends counts as ``unknown``. ``clock`` returns seconds.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._page, self._stale_at = b"", -inf
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        calls = CallMetrics()
        self._registry.register(calls)
        self.see, self.answered = calls.see, calls.add
        self.fights = Fights()
        self._registry.register(self.fights)
        self._http_errors = self._counter("http_errors", "Requests that got an HTTP error.", "status")
        rejected = self._counter("connections_rejected", "Connections of the webhook that were closed: too many.")
        self.connection_rejected = rejected.inc
        self._definitions = self._gauge(
            "definitions",
            "Definitions that are served, or quarantined, and files and Kartas for which there is no room.",
            "state",
        )
        self._scripts = self._gauge("scripts", "Scripts that answer an operation of a kind.", "operation", "kind")
        self.certificate_failed = self._counter("certificate_errors", "Certificates that could not be loaded.").inc
        kept = self._counter(
            "immutable_kept",
            "Answers of Retain, of those looked at, that leave fields as they run: the member refuses other values.",
            "kind",
        )
        self.kept: Callable[[GVK], None] = lambda gvk: kept.labels(_kind_label(gvk)).inc()
        unread = self._counter("unread_reports", "Merged statuses without a report that cannot be read.", "kind")
        self.left_report_out: Callable[[GVK], None] = lambda gvk: unread.labels(_kind_label(gvk)).inc()
        recorded = self._counter(
            "recorded_calls", "With --record: calls to be written; outcomes are written, dropped, failed.", "outcome"
        )
        self.recorded: Callable[[str], None] = lambda outcome: recorded.labels(outcome).inc()

    def refused(self, status: int) -> None:
        """Count an HTTP error."""
        self._http_errors.labels(str(status)).inc()

    def show(self, name: str, value: Callable[[], float]) -> None:
        """Show the result of a function as a gauge of `GAUGES`."""
        self._gauge(name, GAUGES[name]).set_function(value)

    def show_budget(self, budget: Budget) -> None:
        """Show the memory that definitions take, and how many sources are refused."""
        self.show("definitions_bytes", lambda: budget.held)
        self._definitions.labels("refused").set_function(lambda: len(budget.refused))

    def served(self, snapshot: Snapshot) -> None:
        """Show how many definitions there are, and which are answered by scripts."""
        self._definitions.labels("served").set(len(snapshot.entries))
        self._definitions.labels("quarantined").set(len(snapshot.quarantined))
        self._scripts.clear()
        for gvk, entry in snapshot.scripted.items():
            for script in entry.definition.scripts:
                self._scripts.labels(script.operation, _kind_label(gvk)).inc()

    def page(self) -> bytes:
        """Return all metrics, at most a second old: many clients that scrape cost no more than one."""
        now = self._clock()
        if now >= self._stale_at:
            self._page, self._stale_at = self.render(), now + _PAGE_SECONDS
        return self._page

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"{_PREFIX}_{name}", help_text, labels, registry=self._registry)

    def _gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        return Gauge(f"{_PREFIX}_{name}", help_text, labels, registry=self._registry)


class CallMetrics(Collector):
    """Counts of answers in plain numbers, for one thread: prometheus_client takes four times as long to record them.

    Outcomes are counted by operation and kind. Times are distributed by operation only and summed up by kind: buckets
    for every operation of every kind would be ten times as many series.
    """

    def __init__(self) -> None:
        self._series: dict[tuple[str, str, str], _Series] = {}
        self._by_call: dict[tuple[str, GVK | None, int], _Series] = {}
        self._within = defaultdict[str, list[int]](lambda: [0] * (len(BOUNDS) + 1))

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Count a call. Names that a client invents count as unknown, because each would make a new series."""
        name = call.request.operation_name
        gvk = call.request.gvk if call.definition else None
        self.add(name if name in _OPERATIONS else "", gvk, answer.code, answer.seconds)

    def add(self, operation: str, gvk: GVK | None, code: int, seconds: float) -> None:
        """Count an answer. ``gvk`` is None for a kind without a definition, ``operation`` empty for an unknown one."""
        series = self._by_call.get((operation, gvk, code))
        if series is None:
            labels = operation or _UNKNOWN, _kind_label(gvk) if gvk else _UNKNOWN, _OUTCOMES.get(code, _FAULT)
            # Codes of one outcome share a series. Both maps are bounded: `Calls` passes known kinds and operations.
            series = self._series.setdefault(labels, _Series(self._within[labels[0]]))
            self._by_call[operation, gvk, code] = series
        series.calls += 1
        series.seconds += seconds
        series.slow += seconds > SLOW_SECONDS
        series.within[bisect_left(BOUNDS, seconds)] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics for a registry."""
        description = f"Calls answered; outcomes are {', '.join((*_OUTCOMES.values(), _FAULT))}."
        calls = CounterMetricFamily(f"{_PREFIX}_calls", description, labels=("operation", "kind", "outcome"))
        description = "Time from the last byte of a request to the first of its answer."
        times = HistogramMetricFamily(f"{_PREFIX}_call_seconds", description, labels=("operation",))
        description = "Time that the calls of a kind took; divided by their number it is the mean."
        kind_seconds = CounterMetricFamily(f"{_PREFIX}_kind_seconds", description, labels=("kind",))
        slow_calls = CounterMetricFamily(
            f"{_PREFIX}_slow_calls", f"Calls that took longer than {SLOW_SECONDS} s.", labels=("kind",)
        )
        by_operation, by_kind = defaultdict[str, float](float), defaultdict[str, float](float)
        slow = defaultdict[str, int](int)
        for (operation, kind, outcome), series in self._series.items():
            calls.add_metric((operation, kind, outcome), series.calls)
            by_operation[operation] += series.seconds
            by_kind[kind] += series.seconds
            slow[kind] += series.slow
        for operation, within in self._within.items():
            buckets = zip(map(str, (*BOUNDS, "+Inf")), accumulate(within), strict=True)
            times.add_metric((operation,), list(buckets), by_operation[operation])
        for kind, count in slow.items():
            kind_seconds.add_metric((kind,), by_kind[kind])
            slow_calls.add_metric((kind,), count)
        yield from (calls, times, kind_seconds, slow_calls)


class _Series(Struct):
    """The answers of an operation and a kind with one outcome. ``within`` are the buckets of the operation."""

    within: list[int]
    calls: int = 0
    seconds: float = 0.0
    slow: int = 0


def _kind_label(gvk: GVK) -> str:
    return f"{gvk.api_version}/{gvk.kind}"[:_LONGEST]
