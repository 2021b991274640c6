"""The alerts, evaluated by Prometheus itself: each fires for what it is for, and for nothing below that."""

import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from deploy.write_kustomize import tool
from tests.deploy.rendered import committed
from tests.deploy.test_monitoring import QUERIES

OURS = 'job="karta-interpreter",namespace="karmada-system"'
(RULES,) = committed("components/prometheus-rule")
RUNBOOKS = {
    rule["alert"]: rule["annotations"]["runbook"] for group in RULES["spec"]["groups"] for rule in group["rules"]
}
CASES: dict[str, list[dict[str, Any]]] = yaml.safe_load(Path(__file__).with_name("alerts.yaml").read_text())
_CALLS = 'karta_interpreter_calls_total{kind="ray.io/v1, Kind=RayCluster",operation="Retain",outcome="%s"}'
NOW = 1800

pytestmark = pytest.mark.skipif(not tool("promtool"), reason="promtool is missing: run `make tools`")


def promtool(*arguments: str | Path, statuses: tuple[int, ...] = (0,)) -> str:
    program = tool("promtool")
    assert program
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode in statuses, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("alerts") / "rules.yaml"
    file.write_text(yaml.safe_dump(RULES["spec"]))
    return file


def group(alert: str, case: dict[str, Any]) -> dict[str, Any]:
    """A case in promtool's notation: a number is a constant, a text what each minute adds."""
    given = {name: value if isinstance(value, str) else f"{value}+0" for name, value in case.get("series", {}).items()}
    given |= {_CALLS % outcome: f"+{number}" for outcome, number in case.get("calls", {}).items()}
    series = []
    for name, values in given.items():
        metric, _, labels = name.rstrip("}").partition("{")
        selected = ",".join(filter(None, (labels, OURS)))
        series.append({"series": f"{metric}{{{selected}}}", "values": f"{'0' * values.startswith('+')}{values}x40"})
    labels_of_alert = {"severity": "critical" if case.get("critical") else "warning", **case.get("labels", {})}
    firing = {
        "exp_labels": labels_of_alert,
        "exp_annotations": {"summary": case.get("summary"), "runbook": RUNBOOKS[alert]},
    }
    expected = {"alertname": alert, "eval_time": f"{NOW}s", "exp_alerts": [firing] if "summary" in case else []}
    return {"name": f"{alert}: {case['case']}", "interval": "1m", "input_series": series, "alert_rule_test": [expected]}


@pytest.fixture(scope="module")
def failures(rules: Path) -> dict[str, str]:
    """What promtool has to say about each case; it starts once for all of them."""
    groups = [group(alert, case) for alert, cases in CASES.items() for case in cases]
    # No alert waits so long that it would be late, and to evaluate all of them every minute takes three times as long.
    evaluated = "5m"
    file, report = rules.with_name("test.yaml"), rules.with_name("report.xml")
    file.write_text(yaml.safe_dump({"rule_files": [rules.name], "evaluation_interval": evaluated, "tests": groups}))
    promtool("test", "rules", "--junit", report, file, statuses=(0, 1))
    cases = ET.parse(report).iter("testcase")  # noqa: S314 - promtool wrote it
    return {case.attrib["name"]: "\n".join(each.text or "" for each in case.iter("failure")) for case in cases}


def test_alerts_are_tried() -> None:
    assert CASES.keys() == RUNBOOKS.keys()
    assert all({"summary" in case for case in cases} == {True, False} for cases in CASES.values())


@pytest.mark.parametrize("name", [f"{alert}: {case['case']}" for alert, cases in CASES.items() for case in cases])
def test_alert_fires_in_its_case_only(failures: dict[str, str], name: str) -> None:
    assert failures[name] == ""


def test_promtool_has_nothing_to_complain_about(rules: Path) -> None:
    assert "SUCCESS" in promtool("check", "rules", "--lint-fatal", rules)


def test_prometheus_reads_every_query(tmp_path: Path) -> None:
    queries = [str(case.values[0]) for case in QUERIES if not str(case.id).startswith("variable")]
    assert len(queries) > len(RUNBOOKS)
    # The dashboard's variables are Grafana's.
    plain = [query.replace("$__rate_interval", "5m").replace("$__range", "3h") for query in queries]
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(plain)]
    (tmp_path / "queries.yaml").write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", tmp_path / "queries.yaml")
