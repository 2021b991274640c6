"""The settings of `serve` that change answers, as options of the commands that answer.

The pods are those of docs/operations.md: to kube-scheduler 700m, by Karmada's formula 500m.
"""

import json
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from msgspec import structs

from karta_interpreter.base.k8s.edit import get
from karta_interpreter.cli.serve import command as serve
from karta_interpreter.engine.operations import Options
from karta_interpreter.web.console.answers import PageQuestion
from karta_interpreter.webhook.process.server import options_of
from karta_interpreter.webhook.settings import Settings
from tests.support.rows import rows

Run = Callable[..., Result]

JOB = """\
apiVersion: example.io/v1
kind: Job
metadata: {name: demo, namespace: team}
spec:
  replicas: 2
  simple: {spec: {priorityClassName: urgent, containers: [{name: main, resources: {requests: {cpu: 500m}}}]}}
  template:
    spec:
      priorityClassName: urgent
      initContainers:
      - {name: proxy, restartPolicy: Always, resources: {requests: {cpu: 200m}}}
      containers:
      - {name: main, resources: {requests: {cpu: 500m}}}
"""
CASE = """\
name: by the server's settings
operation: InterpretReplica
output: {replica: 2, requires: {resourceRequest: {cpu: 500m}, namespace: team, priorityClassName: urgent}}
desiredObj:
"""
AS_SERVED = ("--pod-requests", "karmada", "--resource-quota-estimate")
ASKED = ("--object", "job.yaml", "--operation", "InterpretReplica", "-o", "json")


@pytest.fixture
def job(files: Path) -> Path:
    (files / "job.yaml").write_text(JOB)
    (files / "suite.yaml").write_text(CASE + "".join(f"  {line}\n" for line in JOB.splitlines()))
    karta = (files / "karta.yaml").read_text()
    (files / "simple.yaml").write_text(karta.replace(".spec.template", ".spec.simple"))
    return files


@pytest.mark.parametrize(
    ("command", "path"),
    [
        pytest.param("interpret", ("operations", "InterpretReplica", "results", "requires"), id="interpret"),
        pytest.param("explain", ("explanations", 0, "results", "requires"), id="explain"),
    ],
)
@pytest.mark.usefixtures("job")
def test_requests_follow_the_options(run: Run, command: str, path: tuple[str | int, ...]) -> None:
    plain, served = (json.loads(run(command, "-f", "karta.yaml", *ASKED, *more).stdout) for more in ((), AS_SERVED))

    assert get(plain, path) == {"resourceRequest": {"cpu": "700m"}}
    assert get(served, path) == {
        "resourceRequest": {"cpu": "500m"}, "namespace": "team", "priorityClassName": "urgent",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param(AS_SERVED, 0, id="as the server answers"),
        pytest.param(AS_SERVED[:2], 1, id="without the namespace and the priority class"),
        pytest.param(AS_SERVED[2:], 1, id="by the scheduler's formula"),
    ],
)
@pytest.mark.usefixtures("job")
def test_suite_is_run_with_options(run: Run, options: tuple[str, ...], code: int) -> None:
    result = run("test", "suite.yaml", "-f", "karta.yaml", "--explain", *options)

    assert result.exit_code == code, result.output
    assert ("by Karta job" in result.stdout) is (code == 1), "the explanation is about the same answer"


@pytest.mark.usefixtures("job")
def test_diff_asks_both_sides_with_options(run: Run) -> None:
    sides = ("--from", "karta.yaml", "--to", "simple.yaml", "--object", "suite.yaml")

    assert '- "700m"' in run("diff", *sides).stdout
    assert run("diff", *sides, *AS_SERVED).exit_code == 0, "Karmada's formula takes the sidecar for an init container"


_IN_COMMANDS = {*Options.__struct_fields__} - {"empty_workload_propagation"}
"""Without what a server refuses to tell Karmada: a command prints that answer in any case."""


@rows("command", ["interpret", "explain", "test", "diff"])
def test_options_have_help_of_serve(command: str) -> None:
    texts = {each.name: getattr(each, "help", "") for each in serve.params}
    chosen = {
        each.name: getattr(each, "help", "")
        for each in import_module(f"karta_interpreter.cli.{command}").command.params
    }

    for name in _IN_COMMANDS:
        assert chosen[name] == texts[name]


_ANOTHER: dict[str, Any] = {
    "resource_quota_estimate": True,
    "pod_requests": "karmada",
    "device_classes": ("gpu.nvidia.com=nvidia.com/gpu",),
    "count_pods": ("LeaderWorkerSet",),
    "empty_workload_propagation": True,
}
"""Another value of each option that changes answers, as settings have it."""


def test_options_are_settings_with_the_same_default_in_server_commands_and_console() -> None:
    names = {*Options.__struct_fields__}
    assert {each.name for each in fields(Settings)} & names == names == _ANOTHER.keys()
    assert options_of(Settings()) == Options() == PageQuestion.of({}).options

    for name, value in _ANOTHER.items():
        changed = structs.replace(Options(), **{name: type(getattr(Options(), name))(value)})
        first, *others = name.split("_")
        in_page = "".join([first, *map(str.capitalize, others)])
        assert options_of(Settings(**{name: value})) == changed != Options()
        assert Options.of(structs.asdict(changed)) == changed, "as recordings and child processes have them"
        if name not in _IN_COMMANDS:
            continue
        assert PageQuestion.of({"options": {in_page: value}}).options == changed
        assert name in {each.name for each in import_module("karta_interpreter.cli.interpret").command.params}
