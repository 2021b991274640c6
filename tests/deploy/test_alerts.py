"""The alerts, evaluated by Prometheus itself: each fires for what it is for, and for nothing below that."""

import subprocess
from dataclasses import dataclass, field
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
CALLS = 'kind="ray.io/v1, Kind=RayCluster",operation="Retain"'
ASKED = {"kind": "ray.io/v1, Kind=RayCluster", "operation": "Retain"}
FOUGHT = f'cluster="m",field=".spec.a",kind="{ASKED["kind"]}",manager="hpa"'

pytestmark = pytest.mark.skipif(not tool("promtool"), reason="promtool is missing: run `make tools`")


@dataclass(frozen=True)
class Case:
    """Series, in Prometheus' notation for tests, for one alert after half an hour; without a summary it is silent."""

    series: dict[str, str]
    summary: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    critical: bool = False


def calls(outcome: str, each_minute: int) -> dict[str, str]:
    return {f'karta_interpreter_calls_total{{{CALLS},outcome="{outcome}"}}': f"0+{each_minute}x40"}


def gauge(name: str, labels: str, value: float) -> dict[str, str]:
    return {f"{name}{{{labels}}}": f"{value}+0x40"}


DEFINITIONS, EXPIRY = "karta_interpreter_definitions", "karta_interpreter_certificate_expiry_timestamp_seconds"
NOW = 1800
DAY = 86400
CASES: dict[str, list[tuple[str, Case]]] = {
    "KartaInterpreterDown": [
        ("no pod is up", Case(gauge("up", "", 0), "No karta-interpreter is up; Karmada's calls fail.", critical=True)),
        ("no pod is scraped", Case({}, "No karta-interpreter is up; Karmada's calls fail.", critical=True)),
        ("one of two is up", Case(gauge("up", 'pod="a"', 0) | gauge("up", 'pod="b"', 1))),
    ],
    "KartaInterpreterServesNothing": [
        (
            "one of two has nothing",
            Case(
                gauge(DEFINITIONS, 'pod="a",state="served"', 0) | gauge(DEFINITIONS, 'pod="b",state="served"', 5),
                "a serves no definition.",
                {"pod": "a"},
                critical=True,
            ),
        ),
        ("both have some", Case(gauge(DEFINITIONS, 'pod="a",state="served"', 1))),
    ],
    "KartaInterpreterCallsTimeOut": [
        (
            "one of ten",
            Case(
                calls("timeout", 1) | calls("success", 9),
                "Retain of ray.io/v1, Kind=RayCluster times out, and Karmada's workers wait for it.",
                ASKED,
                critical=True,
            ),
        ),
        ("one of a thousand", Case(calls("timeout", 1) | calls("success", 999))),
    ],
    "KartaInterpreterCallsFail": [
        (
            "one of ten",
            Case(
                calls("failed", 1) | calls("success", 9),
                "Retain of ray.io/v1, Kind=RayCluster fails in 10% of the calls.",
                ASKED,
            ),
        ),
        ("one of fifty", Case(calls("failed", 1) | calls("success", 49))),
    ],
    "KartaInterpreterUnknownKinds": [
        (
            "one a minute",
            Case(
                {'karta_interpreter_calls_total{kind="unknown",operation="Retain",outcome="unknown_kind"}': "0+1x40"},
                "Karmada asks about kinds that have no definition.",
            ),
        ),
        ("none", Case(calls("success", 9))),
    ],
    "KartaInterpreterSlow": [
        (
            "one of ten",
            Case(
                {f'karta_interpreter_slow_calls_total{{kind="{ASKED["kind"]}"}}': "0+1x40"} | calls("success", 10),
                "10% of the calls for ray.io/v1, Kind=RayCluster take longer than 0.1 s.",
                {"kind": ASKED["kind"]},
            ),
        ),
        ("none", Case(calls("success", 10))),
    ],
    "KartaInterpreterFights": [
        (
            "in one of two pods",
            Case(
                gauge("karta_interpreter_fights", f'{FOUGHT},pod="a"', 2),
                "Karmada and hpa in cluster m overwrite each other in .spec.a of ray.io/v1, Kind=RayCluster.",
                {"kind": ASKED["kind"], "field": ".spec.a", "cluster": "m", "manager": "hpa"},
            ),
        ),
        ("over", Case(gauge("karta_interpreter_fights", FOUGHT, 0))),
    ],
    "KartaInterpreterRequestsRefused": [
        (
            "a dozen a minute",
            Case(
                {'karta_interpreter_http_errors_total{status="413"}': "0+12x40"},
                "Requests are refused with HTTP 413.",
                {"status": "413"},
            ),
        ),
        ("probes of a pod that starts", Case({'karta_interpreter_http_errors_total{status="503"}': "0+60x40"})),
    ],
    "KartaInterpreterDefinitionsQuarantined": [
        (
            "two in one pod",
            Case(
                gauge(DEFINITIONS, 'pod="a",state="quarantined"', 2),
                "2 definitions are broken; their last good versions are served, where there were any.",
            ),
        ),
        ("none", Case(gauge(DEFINITIONS, 'pod="a",state="quarantined"', 0))),
    ],
    "KartaInterpreterPodsDisagree": [
        (
            "five and six",
            Case(
                gauge(DEFINITIONS, 'pod="a",state="served"', 5) | gauge(DEFINITIONS, 'pod="b",state="served"', 6),
                "Pods serve different numbers of definitions, so answers depend on which pod is asked.",
            ),
        ),
        (
            "six and six",
            Case(gauge(DEFINITIONS, 'pod="a",state="served"', 6) | gauge(DEFINITIONS, 'pod="b",state="served"', 6)),
        ),
    ],
    "KartaInterpreterControlPlaneAway": [
        (
            "for ten minutes",
            Case(
                gauge("karta_interpreter_cluster_stale_seconds", 'pod="a"', 600),
                "a has not heard of karmada-apiserver for 10m 0s and serves what it knew then.",
                {"pod": "a"},
            ),
        ),
        ("for four", Case(gauge("karta_interpreter_cluster_stale_seconds", 'pod="a"', 240))),
    ],
    "KartaInterpreterNotRegistered": [
        (
            "one of two",
            Case(
                gauge("karta_interpreter_registration_in_step", 'pod="a"', 0)
                | gauge("karta_interpreter_registration_in_step", 'pod="b"', 1),
                "a cannot keep the registration as it should be; Karmada may not ask it, or asks somebody else.",
                {"pod": "a"},
            ),
        ),
        ("registered", Case(gauge("karta_interpreter_registration_in_step", 'pod="a"', 1))),
    ],
    "KartaInterpreterCertificateExpires": [
        ("in ten days", Case(gauge(EXPIRY, "", NOW + 10 * DAY), "The serving certificate ends in 10d 0h 0m 0s.")),
        ("in twenty days", Case(gauge(EXPIRY, "", NOW + 20 * DAY))),
    ],
    "KartaInterpreterCertificateExpiresNow": [
        (
            "in an hour",
            Case(
                gauge(EXPIRY, "", NOW + 3600),
                "The serving certificate ends within a day; then every call fails.",
                critical=True,
            ),
        ),
        ("in two days", Case(gauge(EXPIRY, "", NOW + 2 * DAY))),
    ],
    "KartaInterpreterCertificateRefused": [
        (
            "each minute",
            Case(
                {'karta_interpreter_certificate_errors_total{pod="a"}': "0+1x40"},
                "a gets no new certificate that it can use, and goes on with the old one.",
                {"pod": "a"},
            ),
        ),
        ("none", Case({'karta_interpreter_certificate_errors_total{pod="a"}': "0+0x40"})),
    ],
}


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


def group(name: str, alert: str, case: Case) -> dict[str, Any]:
    """A case in promtool's notation."""
    series = [
        {"series": name.replace("}", f",{OURS}}}").replace("{,", "{"), "values": values}
        for name, values in case.series.items()
    ]
    labels = {"severity": "critical" if case.critical else "warning", **case.labels}
    firing = {"exp_labels": labels, "exp_annotations": {"summary": case.summary, "runbook": RUNBOOKS[alert]}}
    expected = {"alertname": alert, "eval_time": f"{NOW}s", "exp_alerts": [firing] if case.summary else []}
    return {"name": name, "interval": "1m", "input_series": series, "alert_rule_test": [expected]}


@pytest.fixture(scope="module")
def failures(rules: Path) -> dict[str, str]:
    """What promtool has to say about each case; it starts once for all of them."""
    groups = [group(f"{alert}: {name}", alert, case) for alert, cases in CASES.items() for name, case in cases]
    file, report = rules.with_name("test.yaml"), rules.with_name("report.xml")
    file.write_text(yaml.safe_dump({"rule_files": [rules.name], "evaluation_interval": "1m", "tests": groups}))
    promtool("test", "rules", "--junit", report, file, statuses=(0, 1))
    cases = ET.parse(report).iter("testcase")  # noqa: S314 - promtool wrote it
    return {case.attrib["name"]: "\n".join(each.text or "" for each in case.iter("failure")) for case in cases}


def test_alerts_are_tried() -> None:
    assert CASES.keys() == RUNBOOKS.keys()
    assert all({bool(case.summary) for _, case in cases} == {True, False} for cases in CASES.values())


@pytest.mark.parametrize("name", [f"{alert}: {name}" for alert, cases in CASES.items() for name, _ in cases])
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
