"""`karta-interpreter catalogue`: what it lists, shows and exports, and what it is asked wrongly."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from karta_interpreter.definitions.karta import catalogue_files, catalogue_kinds
from karta_interpreter.definitions.sources.files import load_catalogue
from tests.support.rows import rows

_DOCUMENTS = Path(__file__).parent / "documents"
_FULL = (_DOCUMENTS / "band.yaml").read_text(encoding="utf-8")


@pytest.fixture
def band(tmp_path: Path) -> list[str]:
    path = tmp_path / "band.yaml"
    path.write_text(_FULL)
    return ["--kartas", str(path), "--no-catalogue"]


def test_list_has_a_line_for_each_kind(run: Callable[..., Result], band: list[str]) -> None:
    result = run("catalogue", "list", *band)
    cells = (line.split("  ") for line in result.stdout.splitlines())
    header, line = ([cell.strip() for cell in row if cell] for row in cells)
    assert dict(zip(header, line, strict=True)) == {
        "APIVERSION": "toys.io/v1",
        "KIND": "Band",
        "ORIGIN": band[1],
        "WRITTEN FROM": "Garage 2.1",
        "OPERATIONS": "7",
        "SUSPEND": "yes",
        "GANG": "yes",
        "COMPONENTS": "player, crew",
    }


def test_whole_catalogue_is_listed(run: Callable[..., Result]) -> None:
    listed = json.loads(run("catalogue", "list", "-o", "json").stdout)
    assert len(listed) == len(catalogue_kinds())
    assert {each["origin"] for each in listed} == {"catalogue"}
    assert "standalone, mixcoord, rootcoord, …\n" in run("catalogue", "list", "milvus").stdout, "lines stay readable"


def test_show_has_facts_of_definition(run: Callable[..., Result], band: list[str]) -> None:
    _, facts, *_ = run("catalogue", "show", "band", *band).stdout.split("\n\n")
    wanted = """
  written from  Garage 2.1
  operations    InterpretReplica, ReviseReplica, Retain, AggregateStatus, InterpretStatus,
                InterpretHealth, InterpretDependency
                with MultiplePodTemplatesScheduling InterpretComponent instead of
                InterpretReplica and ReviseReplica
  healthy       a script decides
  scripts       InterpretHealth
  retains       .spec.key
  queued by     kueue.x-k8s.io/queue-name
  dependencies  Secret
  suspend       .spec.paused = true
  resume        .spec.paused = false
  gang          everybody: player by .metadata.labels.band; crew
  creates       Service, Job (batch)"""
    assert facts.endswith(wanted)


def test_indivisible_kind_is_shown(run: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "band.yaml"
    path.write_text(_FULL.replace("elastic: player", "elastic: none"), encoding="utf-8")
    shown = run("catalogue", "show", "band", "-f", str(path)).stdout
    assert "\n  elastic       none: ReviseReplica keeps the number of pods\n" in shown
    (described,) = yaml.safe_load(run("catalogue", "show", "band", "-o", "yaml", "-f", str(path)).stdout)
    assert described["indivisible"] is True
    assert not any("elastic" in component for component in described["components"])


def test_components_and_statuses_are_shown_in_tables(run: Callable[..., Result], band: list[str]) -> None:
    assert run("catalogue", "show", "band", *band).stdout.endswith(
        "\n\n" + (_DOCUMENTS / "band.txt").read_text(encoding="utf-8")
    )


def test_machines_get_expressions_and_annotations_in_full(run: Callable[..., Result], band: list[str]) -> None:
    (shown,) = yaml.safe_load(run("catalogue", "show", "band", "-o", "yaml", *band).stdout)
    assert shown["components"][2] == {
        "name": "crew",
        "ownerRef": "band",
        "pods": {"image": ".spec.crew.image", "resources": ".spec.crew.resources"},
    }
    assert shown["annotations"]["karta-interpreter.io/retain"] == ".spec.key"
    assert shown["additionalChildKinds"][1] == {"apiVersion": "batch/v1", "kind": "Job"}


@rows(
    ("kind", "shown"),
    [
        pytest.param("rayjob", ["RayJob"], id="a kind in any case"),
        pytest.param("ray.io/v1/RayJob", ["RayJob"], id="apiVersion and kind"),
        pytest.param("ray-io-rayjob-v1", ["RayJob"], id="the name of the definition"),
        pytest.param("v1/Pod", ["Pod"], id="a core kind"),
    ],
)
def test_kind_may_be_named_in_several_forms(run: Callable[..., Result], kind: str, shown: list[str]) -> None:
    document = json.loads(run("catalogue", "show", kind, "-o", "json").stdout)
    assert [each["kind"] for each in document] == shown


def test_exported_definitions_are_as_they_were_written(run: Callable[..., Result]) -> None:
    files = {path.parent.name: path for path in catalogue_files()}
    assert run("catalogue", "export", "JobSet").stdout == files["JobSet"].read_text()
    documents = list(yaml.load_all(run("catalogue", "export").stdout, yaml.CSafeLoader))
    names = [entry.definition.name for entry in load_catalogue().entries]
    assert [document["metadata"]["name"] for document in documents] == list(dict.fromkeys(names))


def test_exported_json_can_be_applied_as_a_list(run: Callable[..., Result]) -> None:
    document = json.loads(run("catalogue", "export", "JobSet", "Job", "-o", "json").stdout)
    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    assert {item["kind"] for item in document["items"]} == {"Karta"}


@pytest.mark.usefixtures("files")
def test_given_definitions_and_scripts_are_listed_instead_of_the_catalogue(run: Callable[..., Result]) -> None:
    script = {"retention": {"luaScript": "function Retain(desiredObj, observedObj) return desiredObj end"}}
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "keep"},
        "spec": {"target": {"apiVersion": "example.io/v1", "kind": "Job"}, "customizations": script},
    }
    Path("script.yaml").write_text(yaml.safe_dump(customization))

    listed = json.loads(run("catalogue", "list", "-f", "karta.yaml", "-o", "json").stdout)
    both = run("catalogue", "show", "job", "-f", "karta.yaml", "-f", "script.yaml", "-o", "json")
    webhooks = yaml.safe_load(
        run("export", "webhook-configuration", "-f", "karta.yaml", "--service", "a/b", "--kinds", "Job").stdout
    )["webhooks"]

    assert [each["kind"] for each in listed] == ["Job"]
    alone = run("catalogue", "show", "job", "-f", "karta.yaml", "-o", "json")
    served = ("--no-catalogue", "--kartas", "karta.yaml", "--overrides", "script.yaml")
    assert both.stdout == run("catalogue", "show", "job", *served, "-o", "json").stdout != alone.stdout
    assert [hook["rules"][0]["kinds"] for hook in webhooks] == [["Job"]]
    mixed = run("catalogue", "list", "-f", "karta.yaml", "--kartas", ".")
    assert (mixed.exit_code, mixed.stderr) == (2, "error: give -f, or --kartas and --overrides, not both\n")
