"""``explain``, ``interpret --explain``, and the warnings of interpret, tree and test."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

KARTA = ("-f", "karta.yaml")
NARROW = {"COLUMNS": "60"}
MISSPELT = ("template:", "tmplate:")


@pytest.fixture
def misspelt(files: Path) -> Path:
    """The workload without the field that the definition reads."""
    job = files / "job.yaml"
    job.write_text(job.read_text().replace(*MISSPELT))
    return files


@pytest.mark.usefixtures("files")
def test_explain_shows_chain_from_answer_to_object(run: Run) -> None:
    result = run("explain", "job.yaml", *KARTA, "--operation", "interpretreplica", env={"COLUMNS": "100"})

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "Job team/demo, by job (karta.yaml)\n"
        "\n"
        "InterpretReplica\n"
        "  replica: 3\n"
        '  requires: {"resourceRequest": {"cpu": "2", "memory": "8Gi"}}\n'
        "  by Karta job (karta.yaml); without it Karmada has no answer: the object is not a workload and has\n"
        "    no replicas to divide\n"
        "  total: main 3, in all 3\n"
        "  count: main: spec.replicas\n"
        "      rootComponent.scaleDefinition.replicasPath: .spec.replicas // 1\n"
        "      spec.replicas = 3\n"
        "      a new count is written to /spec/replicas\n"
        "  pods: main: spec.template\n"
        "      rootComponent.specDefinition.podTemplateSpecPath: .spec.template\n"
        "      spec.template\n"
        "  request: main: cpu 2 a pod, named by main\n"
        '      spec.template.spec.containers[0].resources.requests.cpu = "2"\n'
        "  request: main: memory 8Gi a pod, named by main\n"
        '      spec.template.spec.containers[0].resources.requests.memory = "8Gi"\n'
        "\n"
        "A ResourceInterpreterCustomization of the control plane\n"
        "answers first, if one has the operation.\n"
    )


@pytest.mark.usefixtures("files")
@pytest.mark.usefixtures("files")
def test_object_is_argument_or_option(run: Run) -> None:
    file, option = run("explain", "job.yaml", *KARTA), run("explain", "--object", "job.yaml", *KARTA)

    assert (option.exit_code, option.stdout) == (0, file.stdout)


@pytest.mark.usefixtures("files")
def test_lines_fit_a_narrow_terminal_but_for_paths_that_are_wider(run: Run) -> None:
    lines = run("explain", "job.yaml", *KARTA, env=NARROW).stdout.splitlines()

    assert [line for line in lines if len(line) > 60 and " " in line.strip()] == []
    assert len(lines) > len(run("explain", "job.yaml", *KARTA, env={"COLUMNS": "120"}).stdout.splitlines())


@pytest.mark.usefixtures("files")
def test_interpret_explains_the_calls_that_it_would_make(run: Run) -> None:
    given = ("--desired-file", "desired.yaml", "--observed-file", "job.yaml", "--status-file", "statuses.yaml", *KARTA)

    shown = run("interpret", *given, "--desired-replica", "4", "--explain", "-o", "json")
    plain = run("interpret", *given, "--desired-replica", "4", "-o", "json")

    explained = {each["operation"]: each["results"] for each in json.loads(shown.stdout)["explanations"]}
    answered = {name: each["results"] for name, each in json.loads(plain.stdout)["operations"].items()}
    assert explained == answered
    assert len(explained) == 8


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("target", [("Job", *KARTA), KARTA, ("karta.yaml",)], ids=["kind", "option", "file"])
def test_kind_or_karta_shows_reads_of_operation(run: Run, target: tuple[str, ...]) -> None:
    result = run("explain", *target, "--operation", "ReviseReplica", env={"COLUMNS": "100"})

    assert (result.exit_code, result.stdout.splitlines()[-5:-3]) == (
        0,
        ["  reads: main", "      rootComponent.scaleDefinition.replicasPath: .spec.replicas // 1"],
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(("Jobb", *KARTA), 2, "there is no definition for Jobb; did you mean Job?", id="neither"),
        pytest.param(("job.yaml", *KARTA, "--operation", "Retain"), 2, "observed-file", id="an object too few"),
        pytest.param(("Job", "--object", "job.yaml"), 2, "Job without --object is for a kind", id="two targets"),
        pytest.param(("job.yaml",), 1, "the catalogue has no definition for example.io/v1", id="no definition"),
        pytest.param(("-", *KARTA, "--observed-file", "-"), 2, "only one option can read standard input", id="stdin"),
    ],
)
def test_impossible_explanation_is_an_error(run: Run, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = run("explain", *arguments)

    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr


@pytest.mark.usefixtures("files")
def test_failed_answer_is_explained(run: Run) -> None:
    result = run(
        "explain",
        "-",
        *KARTA,
        stdin="{apiVersion: example.io/v1, kind: Job, spec: {replicas: x, template: {spec: {}}}}",
    )

    assert result.exit_code == 1
    assert "  error: definition job, component main, replicasPath" in result.stdout


@pytest.mark.usefixtures("misspelt")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param(("explain", "job.yaml"), 0, id="explain"),
        pytest.param(("explain", "job.yaml", "--strict"), 3, id="explain, strict"),
        pytest.param(("interpret", "--observed-file", "job.yaml"), 0, id="interpret"),
        pytest.param(("interpret", "--observed-file", "job.yaml", "--strict"), 3, id="interpret, strict"),
        pytest.param(
            ("interpret", "--observed-file", "job.yaml", "--operation", "InterpretHealth", "--strict"),
            0,
            id="strict, about an operation for which nothing is missing",
        ),
    ],
)
def test_strict_exits_with_3_for_a_warning(run: Run, command: tuple[str, ...], code: int) -> None:
    result = run(*command, *KARTA)

    warned = "count 3, but no pods at spec.template" in " ".join(result.output.split())
    assert (result.exit_code, warned) == (code, "InterpretHealth" not in command)


@pytest.mark.catalogue
@pytest.mark.parametrize("command", ["explain", "interpret"])
def test_dependency_of_another_namespace_is_a_note_also_if_strict(run: Run, command: str) -> None:
    source = "{kind: GitRepository, name: fleet, namespace: flux-system}"
    release = (
        "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: web, namespace: shop}, "
        f"spec: {{interval: 5m, prune: true, sourceRef: {source}}}}}"
    )

    result = run(command, "-", "--operation", "InterpretDependency", "--strict", stdin=release)

    said = " ".join(result.output.split())
    assert "GitRepository flux-system/fleet is left out: it is in another namespace" in said
    assert "its owner has to propagate it" in said
    assert result.exit_code == 0


def test_failed_case_shows_warnings_and_chain(run: Run, misspelt: Path) -> None:
    (misspelt / "testdata").mkdir()
    job = "\n".join(f"  {line}" for line in (misspelt / "job.yaml").read_text().splitlines())
    case = "name: three pods\noperation: InterpretReplica\noutput: {replica: 3}\ndesiredObj:\n"
    (misspelt / "testdata" / "replica.yaml").write_text(case + job)

    plain, explained = run("test", "testdata"), run("test", "testdata", "--explain")

    assert (plain.exit_code, explained.exit_code) == (1, 1)
    assert "  warning: main: count 3, but no pods at spec.template" in plain.stdout
    assert "total: no pod set, in all 0" not in plain.stdout
    assert "total: no pod set, in all 0" in explained.stdout


def test_names_do_not_steer_a_terminal(run: Run, files: Path) -> None:
    job = (files / "job.yaml").read_text().replace("settings", '"\\e[31ma\\nb"').replace("Running", '"\\e[2Jx|`"')
    (files / "job.yaml").write_text(job)

    output = run("explain", "job.yaml", *KARTA).output

    assert "\x1b" not in output
    assert "\\x1b[2J" in output
    assert len([line for line in output.splitlines() if line.startswith("b")]) == 0
