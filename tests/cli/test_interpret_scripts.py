"""Customizations on the command line: as definitions with ``-f``, over definitions with ``--override``."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

Run = Callable[..., Result]

_OBSERVED = ("--observed-file", "job.yaml")
_SCRIPTS = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata:
  name: {name}
spec:
  target:
    apiVersion: example.io/v1
    kind: {kind}
  customizations:
    replicaResource:
      luaScript: |
        local kube = require("kube")
        function GetReplicas(obj)
          return obj.spec.replicas * 2, kube.accuratePodRequirements(obj.spec.template)
        end
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj)
          return {health}
        end
"""


def _customization(name: str = "mine", *, kind: str = "Job", health: str = "false") -> str:
    return _SCRIPTS.format(name=name, kind=kind, health=health)


@pytest.fixture(autouse=True)
def _files(files: Path) -> None:
    (files / "scripts.yaml").write_text(_customization())


_ONLY = ("-f", "scripts.yaml", *_OBSERVED)
_OVER = ("-f", "karta.yaml", "--override", "scripts.yaml", *_OBSERVED)


@pytest.mark.parametrize("operation", ["InterpretReplica", "interpretreplica"])
def test_customization_answers_as_in_karmadactl(run: Run, operation: str) -> None:
    result = run("interpret", *_ONLY, "--operation", operation)

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        '---\n# [1/2] replica:\n6\n---\n# [2/2] requires:\nresourceRequest:\n  cpu: "2"\n  memory: 8Gi\n'
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([*_ONLY, "--operation", "InterpretStatus"],
            "Execute InterpretStatus error: rule is not enabled\n", id="no script for the operation"),
        pytest.param(
            ["-f", "pod.yaml", *_OBSERVED, "--operation", "InterpretHealth"],
            "error: the given files have no definition for example.io/v1, Kind=Job; "
            "they define example.io/v1, Kind=Pod\n",
            id="no script for the kind",
        ),
        pytest.param([*_ONLY, "--operation", "Retain"],
            "Execute Retain error: desired, desired-file options are not set\n", id="an argument is missing"),
    ],
)  # fmt: skip
def test_interpret_names_unanswered_operations_of_scripts(
    run: Run, files: Path, arguments: list[str], message: str
) -> None:
    (files / "pod.yaml").write_text(_customization(kind="Pod"))

    result = run("interpret", *arguments)

    assert result.exit_code != 0
    assert (result.stdout, result.stderr) == ("", message)


def test_failing_script_shows_its_line(run: Run, files: Path) -> None:
    (files / "scripts.yaml").write_text(_customization(health="obj.status.nothing.here"))

    result = run("interpret", *_ONLY, "--operation", "InterpretHealth")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Execute InterpretHealth error: scripts.yaml:19: ")
    for part in ("example.io/v1, Kind=Job", "mine", "line 2", "return obj.status.nothing.here", "attempt to index"):
        assert part in result.stderr


def test_unusable_script_is_an_error(run: Run, files: Path) -> None:
    (files / "scripts.yaml").write_text(_customization(health="tru e"))

    result = run("interpret", *_OVER, "--operation", "InterpretHealth")

    assert (result.exit_code, result.stdout) == (1, "")
    _, _, finding, line, *_, last = result.stderr.splitlines()  # the script for the count comes first
    assert finding.startswith("scripts.yaml:19:11: error [lua-syntax]")
    assert line == "    return tru e"
    assert last.startswith("Execute InterpretHealth error: scripts.yaml:19:11: ")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(_OVER, False, id="a script over a definition"),
        pytest.param(("-f", "karta.yaml", "-f", "scripts.yaml", *_OBSERVED), False, id="the two side by side"),
        pytest.param(("-f", "both.yaml", *_OBSERVED), False, id="the two in one file"),
        pytest.param(("-f", "folder", *_OBSERVED), False, id="the two in one folder"),
        pytest.param((*_OVER, "--override", "another.yaml"), True, id="of two scripts the first by name wins"),
        pytest.param(
            ("-f", "scripts.yaml", "--override", "zeta.yaml", *_OBSERVED), True, id="an override wins over all"
        ),
        pytest.param(("-f", "karta.yaml", *_OBSERVED), True, id="no script"),
    ],
)
def test_which_script_answers(run: Run, files: Path, arguments: tuple[str, ...], expected: bool) -> None:
    karta, scripts = (files / "karta.yaml").read_text(), _customization()
    (files / "both.yaml").write_text(f"{scripts}---\n{karta}")
    (files / "another.yaml").write_text(_customization("another", health="true"))
    (files / "zeta.yaml").write_text(_customization("zeta", health="true"))
    (files / "folder").mkdir()
    (files / "folder" / "karta.yaml").write_text(karta)
    (files / "folder" / "scripts.yaml").write_text(scripts)

    result = run("interpret", *arguments, "--operation", "InterpretHealth")

    assert result.exit_code == 0
    assert result.stdout == f"---\n# [1/1] healthy:\n{str(expected).lower()}\n"


def test_override_of_broken_script_answers(run: Run, files: Path) -> None:
    (files / "broken.yaml").write_text(_customization(health="("))
    over = ("-f", "karta.yaml", "-f", "broken.yaml", "--override", "scripts.yaml", *_OBSERVED)

    result = run("interpret", *over, "--operation", "InterpretHealth")

    assert (result.exit_code, result.stdout) == (0, "---\n# [1/1] healthy:\nfalse\n")
    assert "broken.yaml" in result.stderr  # its findings are shown all the same


def test_scripts_go_over_the_catalogue(run: Run, files: Path) -> None:
    script = _customization().replace("example.io/v1", "apps/v1").replace("Job", "Deployment")
    (files / "scripts.yaml").write_text(script)
    (files / "it.yaml").write_text(
        "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2, template: {spec: {containers: []}}}}"
    )

    result = run("interpret", "--override", "scripts.yaml", "--desired-file", "it.yaml", "-o", "json")

    document = yaml.safe_load(result.stdout)
    assert (document["origin"], document["scripts"]) == (
        "catalogue",
        {"InterpretHealth": ["mine"], "InterpretReplica": ["mine"]},
    )
    assert document["operations"]["InterpretReplica"]["results"]["replica"] == 4
    assert document["operations"]["InterpretComponent"]["results"]["components"]


def test_table_names_scripts_that_answered(run: Run) -> None:
    result = run("interpret", *_OVER)

    assert result.stdout.splitlines()[:5] == [
        "Job team/demo, interpreted by job (karta.yaml)",
        "InterpretReplica by the script of mine (scripts.yaml)",
        "InterpretHealth by the script of mine (scripts.yaml)",
        "",
        "OPERATION            ANSWER",
    ]
    assert "InterpretHealth      no (by the script of mine)" in result.stdout


def test_without_a_definition_only_what_has_a_script_is_asked(run: Run) -> None:
    result = run("interpret", *_ONLY, "--desired-replica", "3")

    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[3:]] == ["InterpretReplica", "InterpretHealth"]
    skipped = "ReviseReplica skipped: rule is not enabled: there is neither a script for it nor a Karta of Job\n"
    assert skipped in result.stderr


def test_script_may_ask_the_definition(run: Run, files: Path) -> None:
    (files / "scripts.yaml").write_text(_customization(health='not require("karta").interpretHealth(obj)'))

    result = run("interpret", *_OVER, "--operation", "InterpretHealth")

    assert result.stdout == "---\n# [1/1] healthy:\nfalse\n"


def test_file_that_is_not_a_customization_cannot_override(run: Run) -> None:
    result = run("interpret", "--override", "karta.yaml", "-f", "karta.yaml", *_OBSERVED)

    assert "karta.yaml:1:1: error [not-a-customization] not a ResourceInterpreterCustomization, got" in result.stderr
    assert (result.exit_code, result.stdout) == (1, "")
