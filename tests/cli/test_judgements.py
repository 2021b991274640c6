"""Each judgement of a command reaches its report: one that is planted in each judge comes out in each form."""

import gzip
import json
from collections.abc import Callable, Iterator
from http import HTTPStatus
from importlib import import_module
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from click.testing import Result

from karta_interpreter.base.findings import warning as finding
from karta_interpreter.cli import validate
from karta_interpreter.cli.reports import FORMATS
from karta_interpreter.clusters.saved import Saved, save
from karta_interpreter.engine.comparison import change, interpreter as interpreter_module
from karta_interpreter.engine.comparison.interpreter import CallOutcome
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.engine.verification import Judgement, Verdict, report
from karta_interpreter.engine.verification.judgement import Question
from karta_interpreter.webhook.doctor import endpoint, runner
from karta_interpreter.webhook.doctor.connection import Reply
from karta_interpreter.webhook.doctor.result import CheckResult, Level
from karta_interpreter.webhook.wire.recording import head, line
from tests.cli.test_doctor import karmada, kubeconfig
from tests.engine.verification.member import DEFINITION, SHOP, container, evidence, pod, ready, workload
from tests.webhook.doctor.karmada import BREW, CONFIGURATIONS, Karmada, configuration, group, items, resources, rule

__all__ = ["karmada", "kubeconfig"]

Run = Callable[..., Result]

# Not the function of this name, which the package has.
_VERIFY = import_module("karta_interpreter.engine.verification.verify")
_CRD = {
    "spec": {"group": "example.io", "names": {"kind": "Shop"}, "versions": [{"name": "v2", "served": True}]},
    "metadata": {"name": "shops.example.io"},
}


def judges(*modules: ModuleType) -> list[tuple[ModuleType, str]]:
    """Return all functions that judge for these modules."""
    return [(module, name) for module in modules for name in vars(module) if name.startswith("judge_")]


def mark(name: str) -> str:
    return f"planted in {name}"


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a workload, its pod and its CRD, next to the definition."""
    monkeypatch.chdir(tmp_path)
    template = {"spec": {"containers": [container()]}}
    shop = workload("example.io/v1", "Shop", {"replicas": 1, "template": template}, status={"phase": "Deployed"})
    shown = evidence(shop, pod(1, container(), status=ready()))
    save(tmp_path / "member", Saved(shown.now, crds=(_CRD,)), [(SHOP.definition, shown)])
    (tmp_path / "shop.yaml").write_text(DEFINITION)
    return tmp_path / "member"


def _verified(run: Run, saved: Path) -> Iterator[str]:
    for form in ("table", "json", "yaml"):
        result = run("verify", str(saved), "-f", "shop.yaml", "-o", form)
        assert result.exit_code == 1, result.output
        yield result.stdout


@pytest.mark.parametrize(("module", "name"), judges(_VERIFY, report))
def test_judgement_of_verify_reaches_its_report(
    run: Run, saved: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str
) -> None:
    planted = Judgement(Question.COUNTS, Verdict.DIFFERS, mark(name), "", "a.field", "a fix")
    monkeypatch.setattr(module, name, lambda *_: iter([planted]))
    for text in _verified(run, saved):
        for part in (mark(name), "a.field", "a fix"):
            assert part in text


def test_judgement_by_the_crd_reaches_the_report(run: Run, saved: Path) -> None:
    for text in _verified(run, saved):
        assert "the CRD does not serve v1, only v2" in text


_REPLY = Reply(HTTPStatus.OK, b"{}", 0.0)
_FAILING = {"judge_connection": "connect", "judge_tls": "shake_hands", "judge_exchange": "ask"}


def _fail(*_: Any) -> Any:
    raise OSError("it fails")


@pytest.mark.parametrize(("module", "name"), judges(runner, endpoint))
def test_judgement_of_doctor_reaches_its_report(
    run: Run,
    karmada: Karmada,
    kubeconfig: str,
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
) -> None:
    client = {"url": "https://localhost:1/interpret", "caBundle": ""}
    karmada.objects[CONFIGURATIONS] = items(configuration(client, rule(BREW), name="karta-interpreter"))
    karmada.objects["/apis/brew.example.org"] = group("v1")
    karmada.objects["/apis/brew.example.org/v1"] = resources(BREW.kind)
    for function, answer in {"connect": None, "shake_hands": (None, "TLS"), "ask": _REPLY, "verify": None}.items():
        monkeypatch.setattr(endpoint, function, lambda *_, answer=answer: answer)
    for other, judge in judges(runner, endpoint):
        monkeypatch.setattr(other, judge, lambda *_, **__: iter([CheckResult(Level.OK, "other", "it is right")]))
    planted = CheckResult(Level.PROBLEM, "a check", mark(name), "an advice")
    if failing := _FAILING.get(name):
        monkeypatch.setattr(endpoint, failing, _fail)
        monkeypatch.setattr(module, name, lambda *_: planted)
    else:
        monkeypatch.setattr(module, name, lambda *_, **__: iter([planted]))
    if name == "judge_unregistered":  # asked without a registration that can be read
        del karmada.objects[CONFIGURATIONS]
    options = ("--url", "https://localhost:1") if name == "judge_unregistered" else ()
    for form in ("table", "json", "yaml"):
        result = run("doctor", "--kubeconfig", kubeconfig, "-o", form, *options)
        for part in ("a check", mark(name), "an advice"):
            assert part in result.stdout, result.output
        assert result.exit_code == 1


_FINDERS = ("contradictions", "script_findings", "counted_apart")


@pytest.mark.parametrize("name", _FINDERS)
def test_finding_of_validate_reaches_its_report(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    script = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "jobs"},
        "spec": {
            "target": {"apiVersion": "example.io/v1", "kind": "Job"},
            "customizations": {"replicaResource": {"luaScript": "function GetReplicas(obj) return 1, {} end"}},
        },
    }
    (files / "script.yaml").write_text(yaml.safe_dump(script))
    planted = finding("a-rule", ("spec",), mark(name), "a hint", source="karta.yaml", line=1, column=1)
    monkeypatch.setattr(validate, name, lambda *_, **__: [planted])
    for form in ("table", "json", "yaml", *FORMATS):
        result = run("validate", "karta.yaml", "script.yaml", "-o", form, "--strict")
        for part in ("a-rule", mark(name), "a hint"):
            assert part.replace(" ", "%20") in result.stdout.replace(" ", "%20"), result.output
        assert result.exit_code == 1


_PLANTED = 7_000_001
_JOB: dict[str, Any] = {
    "apiVersion": "example.io/v1",
    "kind": "Job",
    "metadata": {"name": "demo", "namespace": "team"},
    "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "main"}]}}},
    "status": {"phase": "Running"},
}
_INPUTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "InterpretReplica": ({}, {"replica": _PLANTED}),
    "InterpretComponent": ({}, {"components": [{"name": "main", "replicas": _PLANTED}]}),
    "InterpretHealth": ({}, {"healthy": False}),
    "InterpretStatus": ({}, {"status": {"planted": _PLANTED}}),
    "InterpretDependency": ({}, {"dependencies": [{"kind": "Pod", "name": str(_PLANTED)}]}),
    "ReviseReplica": ({"replicas": 5}, {"revised": {"spec": {"replicas": _PLANTED}}}),
    "Retain": ({}, {"retained": {"spec": {"replicas": _PLANTED}}}),
    "AggregateStatus": (
        {"aggregatedStatus": [{"clusterName": "north", "status": {"phase": "Running"}, "applied": True}]},
        {"aggregatedStatus": {"status": {"planted": _PLANTED}}},
    ),
}
"""For each operation its inputs beside the object, and an answer that nobody gives."""


@pytest.mark.parametrize("operation", _INPUTS)
def test_difference_of_diff_and_replay_reaches_their_reports(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    (files / "job.json").write_text(json.dumps(_JOB))
    inputs, planted = _INPUTS[operation]
    asked = {"uid": "u", "kind": {"group": "example.io", "version": "v1", "kind": "Job"}, "name": "demo"}
    request = {**asked, "namespace": "team", "operation": operation, "object": _JOB, "observedObject": _JOB, **inputs}
    answer = {"response": {"uid": "u", "successful": False, "status": {"code": 422, "message": str(_PLANTED)}}}
    written = head(DEFAULT_OPTIONS)
    written += line(1.0, json.dumps({"request": request}).encode(), json.dumps(answer).encode())
    (files / "recordings").mkdir()
    (files / "recordings" / "calls-20260101T000000Z-00000001.jsonl.gz").write_bytes(gzip.compress(written))
    real, times = interpreter_module.ask, count()

    def ask(interpreter: Any, call: Any, *rest: Any) -> Any:
        outcome = real(interpreter, call, *rest)
        is_planted = call.operation == operation and next(times) % 2
        return CallOutcome(call, planted) if is_planted else outcome  # type: ignore[arg-type]  # of no operation

    for form in ("table", "json"):
        result = run("replay", "recordings", "--to", "karta.yaml", "--full", "-o", form)
        assert str(_PLANTED) in result.stdout, result.output
        assert operation in result.stdout
        assert result.exit_code == 1
    monkeypatch.setattr(change, "ask", ask)
    options = ("--from", "karta.yaml", "--to", "karta.yaml", "--object", "job.json", "--full")
    for form in ("table", "json", "yaml"):
        result = run("diff", *options, "-o", form)
        assert ("alse" if operation == "InterpretHealth" else str(_PLANTED)) in result.stdout, result.output
        assert operation in result.stdout
        assert result.exit_code == 1


@pytest.mark.parametrize("operation", _INPUTS)
def test_failed_case_of_each_operation_reaches_the_report(run: Run, files: Path, operation: str) -> None:
    inputs: dict[str, dict[str, Any]] = {
        "ReviseReplica": {"inputReplicas": 5},
        "Retain": {"observedObj": _JOB},
        "AggregateStatus": {"statusItems": _INPUTS["AggregateStatus"][0].get("aggregatedStatus")},
    }
    _, planted = _INPUTS[operation]
    case = {
        "name": "planted",
        "operation": operation,
        "desiredObj": _JOB,
        **inputs.get(operation, {}),
        "output": planted,
    }
    folder = files / "suite" / "testdata"
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(yaml.safe_dump(case))
    for form in ("table", "json", "junit"):
        result = run("test", "-f", "karta.yaml", "suite", "-o", form)
        assert ("alse" if operation == "InterpretHealth" else str(_PLANTED)) in result.stdout, result.output
        assert "planted" in result.stdout
        assert result.exit_code == 1
