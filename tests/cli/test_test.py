"""`karta-interpreter test`: the suites that it runs, its output and its exit code."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import Result

from tests.support.rows import rows

_SUITE = """\
name: three replicas
description: They are in the spec.
operation: InterpretReplica
desiredObj: &job {apiVersion: example.io/v1, kind: Job, spec: {replicas: 3, template: {spec: {containers: []}}}}
output: {replica: 3}
---
name: failed
description: The phase says so.
operation: InterpretHealth
observedObj: {apiVersion: example.io/v1, kind: Job, status: {phase: Failed}}
output: {healthy: false}
"""
_WRONG = _SUITE.replace("replica: 3}", "replica: 4}")


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, karta: Callable[..., str]) -> Path:
    """A suite next to the only definition in the current folder."""
    (tmp_path / "karta.yaml").write_text(karta())
    (tmp_path / "testdata").mkdir()
    path = tmp_path / "testdata" / "job.yaml"
    path.write_text(_SUITE)
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize(
    "path",
    [
        pytest.param([], id="the current folder"),
        pytest.param(["."], id="a folder"),
        pytest.param(["testdata"], id="the folder of the suites"),
        pytest.param(["testdata/job.yaml"], id="a suite"),
        pytest.param([".", "testdata/job.yaml"], id="the same suite twice is run once"),
    ],
)
@pytest.mark.usefixtures("suite")
def test_suites_are_answered_by_the_definition_beside_them(run: Callable[..., Result], path: list[str]) -> None:
    result = run("test", *path)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "APIVERSION     KIND  CASES  PASSED  FAILED",
        "example.io/v1  Job   2      2       0",
    ]
    assert result.stderr == "1 kind, 2 cases: 2 passed, 0 failed\n"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param([], id="the current folder"),
        pytest.param(["job.yaml"], id="a suite in it"),
        pytest.param(["../testdata"], id="the folder by its parent"),
    ],
)
def test_suites_are_found_from_inside_of_their_folder(
    suite: Path, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, path: list[str]
) -> None:
    monkeypatch.chdir(suite.parent)
    result = run("test", *path)
    assert (result.exit_code, result.stderr) == (0, "1 kind, 2 cases: 2 passed, 0 failed\n")


def test_suite_may_be_json(suite: Path, run: Callable[..., Result]) -> None:
    (suite.parent / "more.json").write_text(json.dumps(next(yaml.safe_load_all(_SUITE)), indent=1))
    assert run("test").stderr == "1 kind, 3 cases: 3 passed, 0 failed\n"


@pytest.mark.usefixtures("suite")
def test_given_definitions_answer_instead_of_those_beside_the_suites(
    run: Callable[..., Result], tmp_path: Path, karta: Callable[..., str]
) -> None:
    (tmp_path / "other.txt").write_text(karta(replicas='"7"'))

    result = run("test", "-f", "other.txt", "-o", "json")

    assert [case["passed"] for case in json.loads(result.stdout)["cases"]] == [False, True]


def test_failure_shows_place_reason_and_difference(suite: Path, run: Callable[..., Result]) -> None:
    suite.write_text(_WRONG)
    result = run("test")
    assert result.exit_code == 1
    assert result.stdout.startswith(
        "FAILED testdata/job.yaml:1: InterpretReplica: three replicas\n"
        "  They are in the spec.\n"
        "  --- expected\n"
        "  +++ got\n"
        "  @@ -1 +1 @@\n"
        "  -replica: 4\n"
        "  +replica: 3\n"
    )
    assert result.stderr == "1 kind, 2 cases: 1 passed, 1 failed\n"


def test_scripts_beside_a_suite_answer_before_the_definition(suite: Path, run: Callable[..., Result]) -> None:
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "job"},
        "spec": {
            "target": {"apiVersion": "example.io/v1", "kind": "Job"},
            "customizations": {
                "replicaResource": {"luaScript": "function GetReplicas(obj) return obj.spec.replicas + 1, nil end"}
            },
        },
    }
    (suite.parent.parent / "customization.yaml").write_text(yaml.safe_dump(customization))
    suite.write_text(_WRONG)
    assert run("test").exit_code == 0


@pytest.mark.parametrize(
    ("names", "cases"),
    [
        pytest.param(["three"], ["three replicas"], id="part of the name"),
        pytest.param(["job/interprethealth"], ["failed"], id="kind and operation, in any case"),
        pytest.param(["three", "failed"], ["three replicas", "failed"], id="one or the other"),
    ],
)
@pytest.mark.usefixtures("suite")
def test_cases_are_chosen_by_name(run: Callable[..., Result], names: list[str], cases: list[str]) -> None:
    result = run("test", "-o", "json", *(part for name in names for part in ("--name", name)))
    assert [case["name"] for case in json.loads(result.stdout)["cases"]] == cases


def test_machines_get_both_sides(suite: Path, run: Callable[..., Result]) -> None:
    suite.write_text(_WRONG)
    result = run("test", "--fail-only", "-o", "yaml")
    document = yaml.safe_load(result.stdout)
    (case,) = document["cases"]
    assert case["failures"] == ["replica: expected 4, got 3"]
    assert (case["expected"]["replica"], case["got"]["replica"]) == (4, 3)
    assert document["summary"] == {"cases": 2, "passed": 1, "failed": 1, "unreadable": 0}
    assert document["kinds"] == [{"apiVersion": "example.io/v1", "kind": "Job", "cases": 2, "passed": 1, "failed": 1}]


def test_junit_has_a_suite_per_kind(suite: Path, run: Callable[..., Result]) -> None:
    suite.write_text(_WRONG.replace("three replicas", '"bell: \\a"'))
    (suite.parent / "broken.yaml").write_text("name: nothing else\n")
    root = ET.fromstring(run("test", "-o", "junit").stdout)  # noqa: S314 - our own output
    assert root.attrib == {"tests": "3", "failures": "1", "errors": "1"}
    kind, unreadable = root
    assert kind.attrib == {"name": "example.io/v1/Job", "tests": "2", "failures": "1", "errors": "0"}
    failed, passed = kind
    assert failed.get("name") == "bell: \ufffd", "XML has no way to write a bell"
    assert failed.get("classname") == "example.io/v1/Job/InterpretReplica"
    assert "-replica: 4" in (failed[0].text or "")
    assert list(passed) == []
    assert "broken.yaml" in (unreadable[0][0].get("message") or "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("name: a\n", "ERROR testdata/job.yaml:1: case", id="a suite that cannot be read"),
        pytest.param(_SUITE.replace("replicas: 3", "replicas: many"), "error: definition job", id="no answer"),
    ],
)  # fmt: skip
def test_impossible_case_has_failed(suite: Path, run: Callable[..., Result], text: str, said: str) -> None:
    suite.write_text(text)
    result = run("test")
    assert result.exit_code == 1
    assert said in result.stdout


@rows(
    ("arguments", "code"),
    [
        pytest.param(["kinds"], 2, id="no suite"),
        pytest.param(["absent"], 2, id="no such path"),
        pytest.param(["--name", "four"], 2, id="no case of that name"),
        pytest.param(["empty.yaml", "--name", "four"], 1, id="an empty suite"),
    ],
)
@pytest.mark.usefixtures("suite")
def test_test_without_cases_is_a_mistake(run: Callable[..., Result], arguments: list[str], code: int) -> None:
    Path("kinds").mkdir(exist_ok=True)
    Path("empty.yaml").write_text("# nothing yet\n")
    result = run("test", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")


def test_case_outside_of_testdata_is_an_error(suite: Path, run: Callable[..., Result]) -> None:
    """It would not be run."""
    folder = suite.parents[1]
    (folder / "job.yaml").write_text("apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n")
    beside = run("test", str(folder))
    assert (beside.exit_code, "not-a-karta" in beside.stderr) == (
        0,
        False,
    )  # an object beside its definition is no mistake
    (folder / "more.yaml").write_text(suite.read_text())
    result = run("test", str(folder))
    assert result.exit_code == 1
    assert "more.yaml:1:1: error [not-a-karta] this is a case of a suite" in result.stderr


def test_difference_is_coloured_if_colours_show(suite: Path) -> None:
    from click.testing import CliRunner  # noqa: PLC0415 - no other test wants colours

    from karta_interpreter.cli.program import program  # noqa: PLC0415

    suite.write_text(_WRONG)
    result = CliRunner().invoke(program, ["test"], color=True)
    assert "\x1b[31m-replica: 4\x1b[0m" in result.stdout
    assert "\x1b[32m+replica: 3\x1b[0m" in result.stdout


@pytest.mark.parametrize("is_link", [pytest.param(False, id="two spellings"), pytest.param(True, id="a link")])
def test_suite_named_twice_is_updated_once(run: Callable[..., Result], suite: Path, *, is_link: bool) -> None:
    first, second = _SUITE.split("---\n")
    requests = "{resources: {requests: {cpu: 1, memory: 1Gi, example.io/gpu: 1}}}"
    first = first.replace("containers: []", f"containers: [{requests}]").replace(
        "{replica: 3}", "{replica: 1, requires: {}}"
    )
    second = second.replace("false", "true")
    third = second.replace("name: failed", "name: running").replace("phase: Failed", "phase: Running")
    # The first output grows by the length of the second case, so that this is where the third one was.
    suite.write_text("---\n".join([first, second, third.replace("true", "false")]))
    other = suite.absolute()
    if is_link:
        other = suite.with_name("link.yaml")
        other.symlink_to(suite)

    assert run("test", "testdata/job.yaml", str(other), "--update").exit_code == 0

    cases = [*yaml.safe_load_all(suite.read_text())]
    assert [(case["name"], case["output"].get("healthy")) for case in cases] == [
        ("three replicas", None),
        ("failed", False),
        ("running", True),
    ]
    summary = json.loads(run("test", "testdata/job.yaml", str(suite.absolute()), "-o", "json").stdout)["summary"]
    assert summary == {"cases": 3, "passed": 3, "failed": 0, "unreadable": 0}


def test_statuses_of_members_beside_a_definition_are_no_definition(suite: Path, run: Callable[..., Result]) -> None:
    (suite.parents[1] / "members.yaml").write_text("- {clusterName: north, status: {ready: 1}}\n")
    (suite.parents[1] / "member.yaml").write_text("{clusterName: north, status: {ready: 1}}\n")
    result = run("test", str(suite.parents[1]))
    assert "a Karta is an object" not in result.stderr
    assert "ERROR" not in result.stdout
