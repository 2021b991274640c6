from collections import Counter
from itertools import product

import pytest
from prometheus_client.parser import text_string_to_metric_families

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot
from karta_interpreter.engine.operations import Operation
from karta_interpreter.languages.lua.script import Script, Scripts
from karta_interpreter.webhook.process.metrics import Metrics
from tests.support.rows import rows
from tests.webhook.process.client import Answer, Client, get, post, question

MILL = GVK("mill.example.org", "v1", "GrainMill")


def samples(text: bytes) -> dict[tuple[str, ...], float]:
    """Return the samples of a page by name and label values."""
    return {
        (sample.name.removeprefix("karta_interpreter_"), *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


async def fresh(client: Client) -> Counter[tuple[str, ...]]:
    """Return the samples of a page that was rendered after this call; it counts one more 404 on each."""
    before = _errors((await client.ask(get("/metrics"))).body)
    await client.ask(get("/nothing"))
    found: list[bytes] = []

    def is_fresh(answer: Answer) -> bool:
        found[:] = [answer.body]
        return _errors(answer.body) != before

    await client.ask_until(get("/metrics"), is_fresh)
    return Counter(samples(found[0]))


def _errors(page: bytes) -> list[bytes]:
    """Return the line that counts answers with 404; to read a whole page again and again takes long."""
    return [line for line in page.splitlines() if b"http_errors_total" in line and b'"404"' in line]


async def test_metrics_page_of_running_server_has_series(client: Client) -> None:
    before = await fresh(client)
    for _ in range(3):
        await client.ask(post(question()))
    await client.ask(post(question(operation="ReviseReplica", replicas=-1)))
    pod = {"object": {"apiVersion": "v1", "kind": "Pod"}, "kind": {"group": "", "version": "v1", "kind": "Pod"}}
    await client.ask(post(question(**pod)))
    await client.ask(post(question(operation="Invented")))
    await client.ask(post(b"{"))
    answer = await client.ask(get("/metrics"))
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = await fresh(client)
    added = Counter(found)
    added.subtract(before)
    kind = "mill.example.org/v1/GrainMill"
    assert added["calls_total", "InterpretReplica", kind, "success"] == 3
    assert added["calls_total", "ReviseReplica", "invalid", kind] == 1
    assert added["calls_total", "InterpretReplica", "unknown", "unknown_kind"] == 1
    assert added["calls_total", "invalid", kind, "unknown"] == 1
    assert added["http_errors_total", "400"] == added["http_errors_total", "404"] == 1
    assert added["call_seconds_count", "InterpretReplica"] == 4
    assert added["call_seconds_sum", "InterpretReplica"] > 0
    assert added["kind_seconds_total", kind] > 0
    assert found["slow_calls_total", kind] >= 0
    assert found["definitions", "served"] == 3
    assert found["definitions", "quarantined"] == 0
    assert found["requests_in_flight",] == 1
    assert found["certificate_expiry_timestamp_seconds",] > 1.7e9
    assert ("process_cpu_seconds_total",) in found


def test_invented_values_do_not_become_series() -> None:
    metrics = Metrics()
    before = len(samples(metrics.render()))
    for code in (200, 404, 422, 999):
        metrics.answered("InterpretHealth", None, code, 0.001)
        metrics.answered("", None, code, 0.001)
    found = samples(metrics.render())
    assert found["calls_total", "InterpretHealth", "error", "unknown"] == 1
    assert found["calls_total", "unknown", "unknown", "unknown_kind"] == 1
    assert {name for name, *_ in found} >= {"call_seconds_bucket"}
    assert len(found) - before == 2 * (4 + 14) + 2


@rows("kinds", [1, 45, 90])
def test_series_are_bounded_by_kinds_and_operations(kinds: int) -> None:
    metrics = Metrics()
    before = len(samples(metrics.render()))
    for number, operation, code in product(range(kinds), Operation, (200, 422)):
        metrics.answered(operation, GVK("example.org", "v1", f"Kind{number}"), code, 0.001)
    of_times, of_outcomes, of_kinds = len(Operation) * 14, kinds * len(Operation) * 2, kinds * 2
    assert len(samples(metrics.render())) - before == of_times + of_outcomes + of_kinds


def test_scrapes_within_a_second_are_one_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    now, rendered = [7.0], 0
    metrics = Metrics(lambda: now[0])
    render = metrics.render

    def counted() -> bytes:
        nonlocal rendered
        rendered += 1
        return render()

    monkeypatch.setattr(metrics, "render", counted)
    first = metrics.page()
    metrics.answered("Retain", MILL, 200, 0.003)
    for _ in range(16):
        now[0] += 0.999 / 16
        assert metrics.page() is first, "there is no newer one"
    assert rendered == 1
    now[0] += 0.01
    assert b"calls_total{" in metrics.page()
    assert rendered == 2


def test_call_is_counted_by_its_duration() -> None:
    metrics = Metrics()
    for seconds in (0.003, 0.1, 0.3):
        metrics.answered("Retain", MILL, 200, seconds)
    found = samples(metrics.render())
    kind = "mill.example.org/v1/GrainMill"
    assert found["call_seconds_bucket", "0.005", "Retain"] == 1
    assert found["call_seconds_bucket", "0.1", "Retain"] == 2
    assert found["call_seconds_bucket", "0.5", "Retain"] == 3
    assert found["slow_calls_total", kind] == 1
    assert found["kind_seconds_total", kind] == pytest.approx(0.403)


def test_served_scripts_are_counted() -> None:
    def snapshot(*operations: str) -> Snapshot:
        scripts = Scripts(Script(operation, "", "mine") for operation in operations)
        return Snapshot({MILL: ServedDefinition(Definition.of_scripts(MILL, scripts), "mine.yaml")})

    metrics = Metrics()
    metrics.served(snapshot("Retain", "InterpretDependency", "InterpretDependency"))
    metrics.served(snapshot("InterpretHealth", "InterpretDependency", "InterpretDependency"))

    found = {tuple(labels): value for (name, *labels), value in samples(metrics.render()).items() if name == "scripts"}
    kind = "mill.example.org/v1/GrainMill"
    assert found == {("InterpretDependency", kind): 2, ("InterpretHealth", kind): 1}


def test_page_shows_budget_of_definitions() -> None:
    metrics, budget = Metrics(), Budget(10)
    metrics.show_budget(budget)
    budget.take("mill", 7)
    budget.take("press", 7)
    page = samples(metrics.render())
    assert (page["definitions_bytes",], page["definitions", "refused"]) == (7, 1)
