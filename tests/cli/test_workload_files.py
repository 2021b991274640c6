"""Files with several objects, as samples of vendors are: the workload is the one that the definitions describe."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

CREDENTIALS = "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: team}\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: front}\n"
JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: sum}\nspec: {template: {spec: {containers: [{name: main}]}}}\n"

COMMANDS = [
    pytest.param(("interpret", "--operation", "InterpretReplica", "-o", "json", "--object"), id="interpret"),
    pytest.param(("explain", "--operation", "InterpretReplica", "-o", "json", "--object"), id="explain"),
    pytest.param(("tree", "-o", "json", "--object"), id="tree"),
    pytest.param(("create", "suite", "--object"), id="create suite"),
]


def write(folder: Path, *texts: str) -> str:
    (folder / "sample.yaml").write_text("---\n".join(texts))
    return "sample.yaml"


@pytest.mark.parametrize("command", COMMANDS)
def test_workload_is_the_object_of_the_kind_of_the_definition(run: Run, files: Path, command: tuple[str, ...]) -> None:
    sample = write(files, CREDENTIALS, (files / "job.yaml").read_text(), SERVICE)

    found, alone = (run(*command, path, "-f", "karta.yaml") for path in (sample, "job.yaml"))

    assert (found.exit_code, found.stdout) == (0, alone.stdout), found.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_without_definitions_it_is_that_of_the_catalogue(run: Run, files: Path, command: tuple[str, ...]) -> None:
    result = run(*command, write(files, CREDENTIALS, JOB, SERVICE))

    assert (result.exit_code, "sum" in result.stdout or "replica" in result.stdout) == (0, True), result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_objects_of_other_kinds_alone_are_named(run: Run, files: Path, command: tuple[str, ...]) -> None:
    result = run(*command, write(files, CREDENTIALS, SERVICE), "-f", "karta.yaml")

    reason = "has no object of a kind that the definitions describe: Secret team/token, Service front"
    assert (result.exit_code, result.stderr) == (1, f"error: sample.yaml {reason}\n")


@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_several_workloads_are_named(run: Run, files: Path, command: tuple[str, ...]) -> None:
    result = run(*command, write(files, JOB, CREDENTIALS, JOB.replace("sum", "mean")))

    assert (result.exit_code, result.stderr) == (
        1,
        "error: sample.yaml contains 2 objects, pass one of them: Job sum, Job mean\n",
    )


def test_broken_definition_still_chooses_its_kind(run: Run, files: Path) -> None:
    (files / "karta.yaml").write_text((files / "karta.yaml").read_text().replace(".spec.template", ".spec ||"))

    result = run("tree", "-f", "karta.yaml", "--object", write(files, CREDENTIALS, (files / "job.yaml").read_text()))

    assert result.exit_code == 1
    assert "error [" in result.stderr, "the finding about the definition, and not that there are two objects"
