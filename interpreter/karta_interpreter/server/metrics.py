"""What the server counts and measures, in a registry of its own."""

import time
from collections.abc import Callable
from math import inf

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from karta_interpreter.server.call_metrics import CallMetrics, kind_label
from karta_interpreter.sources.snapshot import Snapshot

# One more series for each, with a time that Prometheus does not read.
disable_created_metrics()  # type: ignore[no-untyped-call]  # not annotated there

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_PREFIX = "karta_interpreter"
_PAGE_SECONDS = 1.0


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
        self._calls = CallMetrics(_PREFIX)
        self.answered = self._calls.add
        self._refused = self._counter("http_errors", "Requests that got an HTTP error.", "status")
        rejected = self._counter("connections_rejected", "Connections that were closed because there were too many.")
        self.connection_rejected = rejected.inc
        self._definitions = self._gauge("definitions", "Definitions by what became of them.", "state")
        self._scripts = self._gauge("scripts", "Scripts that answer an operation of a kind.", "operation", "kind")
        self._expiry = self._gauge("certificate_expiry_timestamp_seconds", "End of the served certificate.")
        self._reloads = self._counter("certificate_errors", "Certificates that could not be loaded again.")
        self._in_flight = self._gauge("requests_in_flight", "Requests that are being answered, this one included.")

    def refused(self, status: int) -> None:
        """Count an HTTP error."""
        self._refused.labels(str(status)).inc()

    def show_in_flight(self, count: Callable[[], int]) -> None:
        """Show what a function returns as the number of requests that are being answered."""
        self._in_flight.set_function(count)

    def show_staleness(self, seconds: Callable[[], float]) -> None:
        """Show what a function returns as the age of what is known of the cluster's Kartas."""
        stale = self._gauge("cluster_stale_seconds", "Time since the Kartas were known to be those of the API server.")
        stale.set_function(seconds)

    def show_registration(self, in_step: Callable[[], bool]) -> None:
        """Show whether the registration on the control plane is up to date."""
        known = self._gauge("registration_in_step", "1 when Karmada's webhook configuration is as it should be.")
        known.set_function(in_step)

    def served(self, snapshot: Snapshot) -> None:
        """Show how many definitions there are, and where scripts answer."""
        self._definitions.labels("served").set(len(snapshot.entries))
        self._definitions.labels("quarantined").set(len(snapshot.quarantined))
        self._scripts.clear()
        for gvk, entry in snapshot.entries.items():
            for script in entry.definition.scripts:
                self._scripts.labels(script.operation, kind_label(gvk)).inc()

    def certificate_loaded(self, not_after: float) -> None:
        """Show until when the certificate is valid, in seconds since 1970."""
        self._expiry.set(not_after)

    def certificate_broken(self) -> None:
        """Count a certificate that was not taken."""
        self._reloads.inc()

    def page(self) -> bytes:
        """Return all metrics in the text format of Prometheus, as they were at most a second ago.

        Every client that reaches the port may scrape, so that many of them must cost no more than one.
        """
        now = self._clock()
        if now >= self._stale_at:
            self._page, self._stale_at = self.render(), now + _PAGE_SECONDS
        return self._page

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus, as they are now."""
        return generate_latest(self._registry) + self._calls.text().encode(errors="replace")

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"{_PREFIX}_{name}", help_text, labels, registry=self._registry)

    def _gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        return Gauge(f"{_PREFIX}_{name}", help_text, labels, registry=self._registry)
