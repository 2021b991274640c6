"""What the server counts and measures, in a registry of its own."""

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import accumulate
from math import inf
from typing import Final, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.sources.snapshot import Snapshot

# One more series for each, with a time that Prometheus does not read.
disable_created_metrics()  # type: ignore[no-untyped-call]  # not annotated there

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_PREFIX = "karta_interpreter"
_PAGE_SECONDS = 1.0

SLOW_SECONDS: Final = 0.1
"""A call that takes longer counts as slow: hostile definitions may delay the calls of others by as much."""

_UNKNOWN: Final = "unknown"
_OUTCOMES: Final = {200: "success", 400: "invalid", 404: "unknown_kind", 422: "failed", 504: "timeout"}
_FAULT: Final = "error"
BOUNDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.03, SLOW_SECONDS, 0.5, 2.5)
"""Answers take 0.1 to 5 ms, those about small objects at most 30 ms. From 0.5 s on Karmada and the server log a call as
slow; after 2.5 s it has failed where Karmada waits 3 s."""

_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Metrics:
    """The metrics of one server.

    Every label has few values: operations are Karmada's, kinds are those with a definition, and anything else that a
    client sends counts as ``unknown``. ``clock`` returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._page, self._stale_at = b"", -inf
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._calls = CallMetrics()
        self.answered = self._calls.add
        self.totals = self._calls.totals
        self._http_errors = self._counter("http_errors", "Requests that got an HTTP error.", "status")
        rejected = self._counter("connections_rejected", "Connections that were closed because there were too many.")
        self.connection_rejected = rejected.inc
        self._definitions = self._gauge(
            "definitions", "Definitions that are served, and that are quarantined.", "state"
        )
        self._scripts = self._gauge("scripts", "Scripts that answer an operation of a kind.", "operation", "kind")
        expiry = self._gauge(
            "certificate_expiry_timestamp_seconds", "End of the served certificate, in seconds since 1970."
        )
        self.certificate_loaded = expiry.set
        errors = self._counter("certificate_errors", "Certificates that could not be loaded.")
        self.certificate_broken = errors.inc
        in_flight = self._gauge("requests_in_flight", "Requests that are being answered, this one included.")
        self.show_in_flight = in_flight.set_function

    def refused(self, status: int) -> None:
        """Count an HTTP error."""
        self._http_errors.labels(str(status)).inc()

    def show_staleness(self, seconds: Callable[[], float]) -> None:
        """Show what a function returns as the age of what is known of the cluster's Kartas."""
        about = "With --cluster: time since the Kartas were known to be those of the API server."
        self._gauge("cluster_stale_seconds", about).set_function(seconds)

    def show_registration(self, in_step: Callable[[], bool]) -> None:
        """Show whether the registration on the control plane is up to date."""
        about = "With --register: 1 when the registration on the control plane is up to date."
        self._gauge("registration_in_step", about).set_function(in_step)

    def served(self, snapshot: Snapshot) -> None:
        """Show how many definitions there are, and where scripts answer."""
        self._definitions.labels("served").set(len(snapshot.entries))
        self._definitions.labels("quarantined").set(len(snapshot.quarantined))
        self._scripts.clear()
        for gvk, entry in snapshot.entries.items():
            for script in entry.definition.scripts:
                self._scripts.labels(script.operation, kind_label(gvk)).inc()

    def page(self) -> bytes:
        """Return all metrics as they were at most a second ago: many clients that scrape cost no more than one."""
        now = self._clock()
        if now >= self._stale_at:
            self._page, self._stale_at = self.render(), now + _PAGE_SECONDS
        return self._page

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry) + self._calls.text().encode(errors="replace")

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"{_PREFIX}_{name}", help_text, labels, registry=self._registry)

    def _gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        return Gauge(f"{_PREFIX}_{name}", help_text, labels, registry=self._registry)


class Totals(NamedTuple):
    """The counts of answers at one moment.

    ``series`` has calls, seconds and slow calls by operation, kind and outcome, ``within`` the buckets of `BOUNDS` by
    operation.
    """

    series: dict[tuple[str, str, str], tuple[int, float, int]]
    within: dict[str, tuple[int, ...]]


class CallMetrics:
    """Counts of answers in plain numbers, and the text that Prometheus reads of them. For one thread.

    A counter and a histogram of prometheus_client take four times as long to record, and ten times to render.
    """

    def __init__(self) -> None:
        self._series: dict[tuple[str, str, str], _Series] = {}
        self._by_call: dict[tuple[str, GVK | None, int], _Series] = {}
        self._within = defaultdict[str, list[int]](lambda: [0] * (len(BOUNDS) + 1))

    def add(self, operation: str, gvk: GVK | None, code: int, seconds: float) -> None:
        """Count an answer; ``gvk`` is None for a kind without a definition, ``operation`` empty for an unknown one."""
        series = self._by_call.get((operation, gvk, code)) or self._new(operation, gvk, code)
        series.calls += 1
        series.seconds += seconds
        series.slow += seconds > SLOW_SECONDS
        series.within[bisect_left(BOUNDS, seconds)] += 1

    def totals(self) -> Totals:
        """Return the counts of this moment."""
        series = {labels: (each.calls, each.seconds, each.slow) for labels, each in self._series.items()}
        return Totals(series, {operation: tuple(counts) for operation, counts in self._within.items()})

    def text(self) -> str:
        """Return the metrics in the text format of Prometheus.

        Outcomes are counted by operation and kind, times are distributed by operation only and summed up by kind:
        buckets for every operation of every kind would be ten times as many series.
        """
        return "".join(f"{line}\n" for line in (*self._outcomes(), *self._times(), *self._kinds()))

    def _new(self, operation: str, gvk: GVK | None, code: int) -> "_Series":
        labels = operation or _UNKNOWN, kind_label(gvk) if gvk else _UNKNOWN, _OUTCOMES.get(code, _FAULT)
        series = self._series.setdefault(labels, _Series(self._within[labels[0]]))
        self._by_call[operation, gvk, code] = series
        return series

    def _outcomes(self) -> Iterator[str]:
        name = f"{_PREFIX}_calls_total"
        yield from _header(name, "counter", f"Calls answered; outcomes are {', '.join((*_OUTCOMES.values(), _FAULT))}.")
        for (operation, kind, outcome), series in self._series.items():
            labels = f'kind="{_escaped(kind)}",operation="{operation}",outcome="{outcome}"'
            yield f"{name}{{{labels}}} {float(series.calls)}"

    def _times(self) -> Iterator[str]:
        name = f"{_PREFIX}_call_seconds"
        yield from _header(name, "histogram", "Time from the last byte of a request to the first of its answer.")
        seconds = self._sums(0, "seconds")
        for operation, within in self._within.items():
            for bound, count in zip((*BOUNDS, "+Inf"), accumulate(within), strict=True):
                yield f'{name}_bucket{{le="{bound}",operation="{operation}"}} {float(count)}'
            yield f'{name}_count{{operation="{operation}"}} {float(sum(within))}'
            yield f'{name}_sum{{operation="{operation}"}} {seconds[operation]}'

    def _kinds(self) -> Iterator[str]:
        for name, about, values in (
            (
                "kind_seconds_total",
                "Time that the calls of a kind took; divided by their number it is the mean.",
                self._sums(1, "seconds"),
            ),
            ("slow_calls_total", f"Calls that took longer than {SLOW_SECONDS} s.", self._sums(1, "slow")),
        ):
            yield from _header(f"{_PREFIX}_{name}", "counter", about)
            for kind, value in values.items():
                yield f'{_PREFIX}_{name}{{kind="{_escaped(kind)}"}} {float(value)}'

    def _sums(self, label: int, attribute: str) -> dict[str, float]:
        """Return the sums of an attribute of the series by one of their labels."""
        sums = defaultdict[str, float](float)
        for labels, series in self._series.items():
            sums[labels[label]] += getattr(series, attribute)
        return sums


class _Series:
    """The answers of an operation and a kind with one outcome; ``within`` are the buckets of the operation."""

    __slots__ = ("calls", "seconds", "slow", "within")

    def __init__(self, within: list[int]) -> None:
        self.calls = self.slow = 0
        self.seconds = 0.0
        self.within = within


def kind_label(gvk: GVK) -> str:
    """Return a kind as the value of a label.

    >>> kind_label(GVK("apps", "v1", "Deployment"))
    'apps/v1/Deployment'
    """
    return f"{gvk.api_version}/{gvk.kind}"


def _header(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"


def _escaped(label: str) -> str:
    return label.translate(_ESCAPES)
