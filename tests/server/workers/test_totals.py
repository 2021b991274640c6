"""Sums of what several processes have counted."""

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.workers.messages import Family
from karta_interpreter.server.workers.totals import counted, lasting, summed, text
from tests.server.test_metrics import samples

MILL = GVK("mill.example.org", "v1", "GrainMill")
KIND = "mill.example.org/v1/GrainMill"


def worker(*seconds: float, operation: str = "Retain") -> list[Family]:
    """What a process has counted that has answered calls in so many seconds each."""
    metrics = Metrics()
    for each in seconds:
        metrics.answered(operation, MILL, 200, each)
    return counted(metrics.registry)


def test_one_process_is_shown_as_it_shows_itself() -> None:
    metrics = Metrics()
    metrics.answered("Retain", MILL, 200, 0.003)
    metrics.refused(413)
    ours = {key: value for key, value in samples(text(counted(metrics.registry))).items() if "process" not in key[0]}
    assert ours == {key: value for key, value in samples(metrics.render()).items() if "process" not in key[0]}


def test_calls_and_their_times_are_added_up() -> None:
    found = samples(text(summed([worker(), worker(0.003, 0.3), worker(0.004), worker(1.0, operation="Invented")])))
    assert found["calls_total", "Retain", KIND, "success"] == 3
    assert found["call_seconds_bucket", "0.005", "Retain", KIND] == 2
    assert found["call_seconds_bucket", "+Inf", "Retain", KIND] == 3
    assert found["call_seconds_sum", "Retain", KIND] == pytest.approx(0.307)
    assert found["calls_total", "Invented", KIND, "success"] == 1


def test_when_it_began_and_how_much_it_may_open_is_said_once() -> None:
    registry = CollectorRegistry()
    for name in ("process_start_time_seconds", "process_max_fds", "process_open_fds"):
        Gauge(name, name, registry=registry).set(10)
    found = samples(text(summed([counted(registry)] * 3)))
    assert found == {("process_start_time_seconds",): 10, ("process_max_fds",): 10, ("process_open_fds",): 30}


def test_what_a_dead_process_was_doing_is_over_and_what_it_has_done_is_not() -> None:
    registry = CollectorRegistry()
    Counter("calls", "calls", registry=registry).inc(3)
    Gauge("in_flight", "in_flight", registry=registry).set(2)
    Histogram("seconds", "seconds", buckets=(1.0,), registry=registry).observe(0.5)
    assert {family.name for family in lasting(counted(registry))} == {"calls", "seconds"}
