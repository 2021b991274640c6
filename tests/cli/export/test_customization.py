import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]
FIELDS = {"replicaResource", "replicaRevision", "retention", "statusAggregation", "statusReflection",
          "healthInterpretation", "dependencyInterpretation"}  # fmt: skip


@pytest.fixture(autouse=True)
def _files(files: Path, karta: Callable[..., str]) -> None:
    (files / "slow.yaml").write_text(karta("Slow", replicas=".spec.replicas | tojson | fromjson"))
    (files / "broken.yaml").write_text(karta().replace("replicasPath: ", "replicasPath: )"))


def _scripts(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(result.stdout)["spec"]["customizations"]
    return found


def test_definition_becomes_script_for_each_operation(run: Run) -> None:
    result = run("export", "customization", "-f", "karta.yaml")

    made = yaml.safe_load(result.stdout)
    assert result.exit_code == 0
    assert (made["apiVersion"], made["kind"]) == ("config.karmada.io/v1alpha1", "ResourceInterpreterCustomization")
    assert made["metadata"] == {"name": "job"}
    assert made["spec"]["target"] == {"apiVersion": "example.io/v1", "kind": "Job"}
    assert _scripts(result).keys() == FIELDS
    assert result.stderr == "1 customization, 7 scripts; 0 rejected\n"


@pytest.mark.parametrize("destination", [[], ["--output-dir", "out"]])
def test_definitions_of_one_name_are_an_error(
    run: Run, files: Path, karta: Callable[..., str], destination: list[str]
) -> None:
    (files / "other.yaml").write_text(karta("Other", name="job"))

    result = run("export", "customization", "-f", "karta.yaml", "-f", "other.yaml", *destination)

    assert (result.exit_code, result.stdout, (files / "out").exists()) == (1, "", False)
    assert "error: several definitions are called job: " in result.stderr


def test_exported_scripts_agree_with_definition(run: Run, files: Path) -> None:
    exported = run("export", "customization", "-f", "karta.yaml")
    (files / "customization.yaml").write_text(exported.stdout)

    result = run("diff", "--from", "customization.yaml", "--to", "karta.yaml", "--object", "job.yaml", "-o", "json")

    assert [each["operation"] for each in json.loads(result.stdout)] == ["InterpretComponent"]  # not without the gate


def test_gate_replaces_counts_by_components(run: Run) -> None:
    scripts = _scripts(run("export", "customization", "RayCluster", "--multiple-pod-templates"))

    assert "componentResource" in scripts
    assert scripts.keys().isdisjoint({"replicaResource", "replicaRevision"})


def test_operations_can_be_chosen(run: Run) -> None:
    result = run("export", "customization", "-f", "karta.yaml", "--operations", "interprethealth, Retain")

    assert _scripts(result).keys() == {"healthInterpretation", "retention"}


def test_counts_that_cannot_be_exported_are_not_written_either(run: Run) -> None:
    result = run("export", "customization", "-f", "slow.yaml")

    assert result.exit_code == 1
    assert _scripts(result).keys().isdisjoint({"replicaResource", "replicaRevision"})
    assert "example.io/v1, Kind=Slow, InterpretReplica: " in result.stderr
    assert "it may run without an end" in result.stderr


def test_several_kinds_are_written_into_a_folder(run: Run, files: Path) -> None:
    result = run("export", "customization", "JobSet", "RayCluster", "--output-dir", "made/here", "-o", "json")

    assert (result.exit_code, result.stdout) == (0, "")
    written = sorted((files / "made" / "here").iterdir())
    assert [file.name for file in written] == ["jobset-x-k8s-io-jobset-v1alpha2.json", "ray-io-raycluster-v1.json"]
    assert json.loads(written[1].read_text())["spec"]["target"]["kind"] == "RayCluster"


def test_unwritable_file_leaves_nothing_behind(run: Run, files: Path) -> None:
    (files / "made" / "ray-io-raycluster-v1.yaml").mkdir(parents=True)

    result = run("export", "customization", "JobSet", "RayCluster", "--output-dir", "made")

    assert result.exit_code == 1
    assert result.stderr == "error: made/ray-io-raycluster-v1.yaml: Is a directory\n"
    assert [file.name for file in (files / "made").iterdir()] == ["ray-io-raycluster-v1.yaml"]


def test_check_lists_what_can_be_exported(run: Run) -> None:
    result = run("export", "customization", "--check", "Rollout")

    rows = [line.split(maxsplit=3) for line in result.stdout.splitlines()]
    assert rows[0] == ["APIVERSION", "KIND", "OPERATION", "CUSTOMIZATION"]
    found = {operation: verdict for _, _, operation, verdict in rows[1:]}
    assert found["InterpretHealth"] == "exported"
    assert found["InterpretReplica"].endswith("is another object, which a script cannot read")
    assert result.stderr == "1 customization, 3 scripts; 4 rejected\n"


def test_names_in_another_object_are_left_out_of_the_script_and_named_there(run: Run, files: Path) -> None:
    folder = Path(__file__).parents[3] / "kartas/postgresql.cnpg.io/v1/Cluster"
    cases = yaml.safe_load_all((folder / "testdata/interpretdependency.yaml").read_text(encoding="utf-8"))
    (files / "cluster.yaml").write_text(
        yaml.safe_dump(next(case for case in cases if "references" in case)["desiredObj"])
    )
    exported = run("export", "customization", "Cluster", "--operations", "InterpretDependency")
    (files / "exported.yaml").write_text(exported.stdout)

    asked = ["--operation", "InterpretDependency", "--desired-file", "cluster.yaml", "-o", "json"]
    found = json.loads(run("interpret", "-f", "exported.yaml", *asked).stdout)

    assert exported.stderr == "1 customization, 1 script; 0 rejected\n"
    assert "-- Left out: each Secret that $objectStores names, an object that a script cannot read." in exported.stdout
    assert [one["name"] for one in found["operations"]["InterpretDependency"]["results"]["dependencies"]] == [
        "backups",
        "later",
        "origin-backups",
        "super",
    ]


@rows(
    ("arguments", "code", "message"),
    [
        pytest.param(["RayClster"], 2, "there is no definition for RayClster; did you mean RayCluster?", id="a typo"),
        pytest.param(["-f", "broken.yaml"], 1, "broken.yaml: there is no definition in it", id="errors"),
        pytest.param(["RayCluster", "--operations", "Scale"], 2, "operation Scale is not supported", id="no operation"),
        pytest.param(
            ["RayCluster", "--output-dir", "job.yaml"], 1, "error: job.yaml is a file; name a folder", id="no folder"
        ),
    ],
)
def test_bad_input_is_one_line(run: Run, arguments: list[str], code: int, message: str) -> None:
    result = run("export", "customization", *arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr.splitlines()[-1]
