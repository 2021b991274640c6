"""Whether alerts and dashboard ask for what the server shows, and the runbook knows every alert."""

import json
import re
from collections.abc import Iterator
from math import inf
from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.webhook.answering.fights import Fight
from karta_interpreter.webhook.process.metrics import GAUGES, Metrics
from tests.deploy import rendered
from tests.deploy.rendered import DEPLOY, ROOT, committed
from tests.support.rows import rows

DASHBOARD = json.loads((DEPLOY / "helm" / "karta-interpreter" / "files" / "dashboard.json").read_text())
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
METRICS = (ROOT / "docs" / "metrics.md").read_text()
(RULES,) = committed("components/prometheus-rule")
ALERTS: list[dict[str, Any]] = [rule for group in RULES["spec"]["groups"] for rule in group["rules"]]
QUERIES = [
    *(pytest.param(rule["expr"], id=rule["alert"]) for rule in ALERTS),
    *(
        pytest.param(target["expr"], id=f"{panel['title']} {target['refId']}")
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
    ),
    *(
        pytest.param(variable["query"]["query"], id=f"variable {variable['name']}")
        for variable in DASHBOARD["templating"]["list"]
        if variable["type"] == "query"
    ),
]
OF_PROMETHEUS = {"job", "namespace", "pod", "le"}
KEYWORDS = {
    "by",
    "sum",
    "max",
    "min",
    "rate",
    "increase",
    "absent",
    "time",
    "topk",
    "histogram_quantile",
    "label_values",
}


def shown() -> dict[str, set[str]]:
    """The names of all series, with their labels."""
    metrics = Metrics()
    for code in (200, 400, 404, 422, 500, 504):
        metrics.answered("Retain", GVK("batch", "v1", "Job"), code, 0.1)
    metrics.refused(503)
    metrics.recorded("written")
    metrics.show_budget(Budget())
    for gauge in GAUGES.keys() - {"definitions_bytes"}:
        metrics.show(gauge, lambda: 0.0)
    fight = Fight("", "", "", "", "", "", "", "", (), begin=0.0, last=0.0, end=inf, retain="")
    metrics.fights.present[b""] = {"": fight}
    found: dict[str, set[str]] = {"up": set()}
    for line in metrics.render().decode().splitlines():
        if name := re.match(r"# TYPE (\S+) (?!histogram)", line):
            found.setdefault(name[1], set())
        if series := re.match(r"([a-z_]+)(?:\{(.*)\})? ", line):
            found.setdefault(series[1], set()).update(re.findall(r"(\w+)=", series[2] or ""))
    return {**found, "karta_interpreter_definitions": {"state"}, "karta_interpreter_scripts": {"kind", "operation"}}


SHOWN = shown()


def names_in(query: str) -> Iterator[tuple[str, list[str]]]:
    """The names of series in a query, with the labels that it matches."""
    bare = re.sub(r"\bby \([^)]*\)|\[[^\]]*\]", " ", query)
    for name, labels in re.findall(r"([a-z_]{2,})(\{[^}]*\})?(?![a-z_]*\()", re.sub(r'"[^"]*"', '""', bare)):
        if labels or (name not in KEYWORDS and "_" in name):
            yield name, re.findall(r"(\w+)\s*(?:=|!=|=~|!~)", labels)


@rows("query", QUERIES)
def test_queries_ask_for_series_and_labels_that_there_are(query: str) -> None:
    asked = list(names_in(query))
    assert asked
    for name, labels in asked:
        assert name in SHOWN
        assert set(labels) <= SHOWN[name] | OF_PROMETHEUS
    grouped = {label for part in re.findall(r"\bby \(([^)]*)\)", query) for label in re.split(r",\s*", part)}
    assert grouped <= OF_PROMETHEUS.union(*(SHOWN[name] for name, _ in asked))


@rows("query", QUERIES)
def test_queries_name_outcomes_and_states_that_there_are(query: str) -> None:
    outcomes = {value for text in re.findall(r'outcome=?[!~]?=?"([^"]*)"', query) for value in text.split("|")}
    modules = (file.read_text() for file in (ROOT / "interpreter/karta_interpreter/webhook").rglob("*.py"))
    (counted,) = (line for text in modules for line in re.findall(r"^_OUTCOMES\b.* = (.*)$", text, re.MULTILINE))
    assert outcomes <= {*re.findall(r'"(\w+)"', counted), "error"}
    assert set(re.findall(r'state="(\w+)"', query)) <= {"served", "quarantined"}


def test_documentation_lists_metrics_and_labels() -> None:
    rows = re.findall(r"^\| `(karta_interpreter_\w+)` \|[^|]*\|([^|]*)\|", METRICS, re.MULTILINE)
    written = {name: {*re.findall(r"`(\w+)`", labels)} for name, labels in rows}
    shown: dict[str, set[str]] = {}
    for name, labels in SHOWN.items():
        if name.startswith("karta_interpreter_"):
            shown.setdefault(re.sub(r"_(bucket|count|sum)$", "", name), set()).update(labels)
    assert written == shown


@rows("rule", [pytest.param(rule, id=rule["alert"]) for rule in ALERTS])
def test_alerts_lead_to_their_section_of_the_runbook(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["annotations"]["summary"].endswith(".")
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    assert page == "docs/runbook.md"
    assert anchor in {heading.strip().lower() for heading in re.findall(r"^## (.*)$", RUNBOOK, re.MULTILINE)}


def test_runbook_has_sections_of_existing_alerts() -> None:
    anchors = {rule["annotations"]["runbook"].partition("#")[2] for rule in ALERTS}
    sections = {heading.lower() for heading in re.findall(r"^## (KartaInterpreter\w+)$", RUNBOOK, re.MULTILINE)}
    assert sections == anchors


@rendered.needs_helm
def test_alerts_link_to_the_published_runbook() -> None:
    (rules,) = rendered.of_kind(rendered.of("a published runbook"), "PrometheusRule")
    annotations = [rule["annotations"] for group in rules["spec"]["groups"] for rule in group["rules"]]
    links = [each["runbook_url"] for each in annotations if "runbook" not in each]
    assert links == [
        rule["annotations"]["runbook"].replace("docs/runbook.md", "https://example.com/runbook") for rule in ALERTS
    ]


def test_panels_do_not_overlap() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    squares = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(squares) == len(set(squares))
    assert max(x for x, _ in squares) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
