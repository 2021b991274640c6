"""What is counted of calls is what Prometheus' own client would count of them."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.server.tally import CallTally

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
KINDS = {
    None: "unknown",
    GVK("", "v1", "Pod"): "v1/Pod",
    GVK("batch", "v1", "Job"): "batch/v1/Job",
}
OUTCOMES = {200: "success", 400: "invalid", 404: "unknown_kind", 422: "failed", 504: "timeout", 500: "error"}

calls = st.tuples(
    st.sampled_from(["", "Retain", "InterpretHealth"]),
    st.sampled_from(list(KINDS)),
    st.sampled_from(list(OUTCOMES)),
    # Whatever their order, the sums of these are exact.
    st.sampled_from([0.0, 0.125, 0.25, 0.5, 4.0, 5.0, 5.5, 64.0]),
)


@given(found=st.lists(calls, max_size=30))
def test_it_counts_as_counters_and_histograms_do(found: list[tuple[str, GVK | None, int, float]]) -> None:
    registry, tally = CollectorRegistry(), CallTally("x")
    counter = Counter("x_calls", "Calls answered.", ["operation", "kind", "outcome"], registry=registry)
    about = "Time from the last byte of a request to the first of its answer."
    histogram = Histogram("x_call_seconds", about, ["operation", "kind"], buckets=BOUNDS, registry=registry)
    for operation, gvk, code, seconds in found:
        tally.add(operation, gvk, code, seconds)
        counter.labels(operation or "unknown", KINDS[gvk], OUTCOMES[code]).inc()
        histogram.labels(operation or "unknown", KINDS[gvk]).observe(seconds)

    for ours, theirs in zip(tally.collect(), registry.collect(), strict=True):
        assert (ours.name, ours.documentation, ours.type) == (theirs.name, theirs.documentation, theirs.type)
        expected = {(one.name, *sorted(one.labels.items())): one.value for one in theirs.samples}
        known = {(one.name, *sorted(one.labels.items())): one.value for one in ours.samples}
        # When something was first counted is not told (`disable_created_metrics`).
        assert known == {key: value for key, value in expected.items() if not str(key[0]).endswith("_created")}
