"""What is counted of calls is what Prometheus' own client would count of them."""

from collections.abc import Iterator

from hypothesis import given, strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.process.metrics import CallMetrics

BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.03, 0.1, 0.5, 2.5)
KINDS = {
    None: "unknown",
    GVK("", "v1", "Pod"): "v1/Pod",
    GVK("batch", "v1", "Job"): "batch/v1/Job",
    GVK("example.org", "v1", 'a"b\\n\n}'): 'example.org/v1/a"b\\n\n}',
}
OUTCOMES = {
    200: "success",
    400: "invalid",
    404: "unknown_kind",
    422: "failed",
    504: "timeout",
    500: "error",
    1: "error",
}
Sample = tuple[str, tuple[tuple[str, str], ...], float]

calls = st.tuples(
    st.sampled_from(["", "Retain", "InterpretHealth"]),
    st.sampled_from(list(KINDS)),
    st.sampled_from(list(OUTCOMES)),
    # Whatever their order, the sums of these are exact.
    st.sampled_from([0.0, 0.125, 0.25, 0.5, 2.5, 4.0, 5.5, 64.0]),
)


@given(found=st.lists(calls, max_size=30))
def test_call_metrics_count_as_counters_and_histograms_do(found: list[tuple[str, GVK | None, int, float]]) -> None:
    registry, metrics = CollectorRegistry(), CallMetrics()
    about = "Calls answered; outcomes are success, invalid, unknown_kind, failed, timeout, error."
    counter = Counter("karta_interpreter_calls", about, ["operation", "kind", "outcome"], registry=registry)
    about = "Time from the last byte of a request to the first of its answer."
    histogram = Histogram("karta_interpreter_call_seconds", about, ["operation"], buckets=BOUNDS, registry=registry)
    about = "Time that the calls of a kind took; divided by their number it is the mean."
    seconds_of = Counter("karta_interpreter_kind_seconds", about, ["kind"], registry=registry)
    slow = Counter("karta_interpreter_slow_calls", "Calls that took longer than 0.1 s.", ["kind"], registry=registry)
    for operation, gvk, code, seconds in found:
        metrics.add(operation, gvk, code, seconds)
        counter.labels(operation or "unknown", KINDS[gvk], OUTCOMES[code]).inc()
        histogram.labels(operation or "unknown").observe(seconds)
        seconds_of.labels(KINDS[gvk]).inc(seconds)
        slow.labels(KINDS[gvk]).inc(seconds > 0.1)

    counted = CollectorRegistry()
    counted.register(metrics)
    ours, theirs = generate_latest(counted).decode(), generate_latest(registry).decode()
    assert sorted(samples(ours)) == sorted(samples(theirs))
    assert comments(ours) == comments(theirs)


def samples(text: str) -> Iterator[Sample]:
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            # When something was first counted is not shown (`disable_created_metrics`).
            if not each.name.endswith("_created"):
                yield each.name, tuple(sorted(each.labels.items())), each.value


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#") and "_created" not in line]
