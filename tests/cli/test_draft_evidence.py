"""``create karta`` from objects and their pods."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from karta_interpreter.base.k8s import GVK
from karta_interpreter.cli import draft_evidence
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.cli.saved import Saved, save
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.support.rows import rows

Run = Callable[..., Result]
Thing = dict[str, Any]


def _container(image: str, cpu: str) -> Thing:
    return {"name": "oven", "image": image, "resources": {"requests": {"cpu": cpu}}}


def bakery(name: str, **groups: tuple[int, str]) -> Thing:
    """Return an object with groups, each with its count and its CPU."""
    ovens = [
        {"name": group, "ovens": number, "pod": {"spec": {"containers": [_container(f"{group}:1", cpu)]}}}
        for group, (number, cpu) in groups.items()
    ]
    spec = {"groups": ovens, "shifts": 3, "menu": ["rye"]}
    return {"apiVersion": "example.io/v1", "kind": "Bakery", "metadata": {"name": name}, "spec": spec}


def pods(obj: Thing) -> list[Thing]:
    """Return the pods of an object as its controller makes them."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{obj['metadata']['name']}-{group['name']}-{number}",
                "labels": {"example.io/group": group["name"], "example.io/bakery": obj["metadata"]["name"]},
            },
            "spec": group["pod"]["spec"],
        }
        for group in obj["spec"]["groups"]
        for number in range(group["ovens"])
    ]


TWO = [bakery("north", rye=(2, "1"), cake=(1, "2")), bakery("south", rye=(3, "4"))]

DRAFT = """\
    childComponents:
      - name: pod
        ownerRef: bakery
        instanceIdPath: .spec.groups[].name
        specDefinition:
          podTemplateSpecPath: .spec.groups[].pod
        scaleDefinition:
          # CHECK: 2 of 2 objects agree: the number of pods. Fewer than 4 objects are little evidence.
          replicasPath: .spec.groups[] | .ovens // 1
        podSelector:
          # 6 of 6 pods have it.
          componentInstanceSelector:
            idPath: .metadata.labels["example.io/group"]
"""


@pytest.fixture
def write(files: Path) -> Callable[..., None]:
    """Write objects and pods into files."""

    def write(objects: list[Thing], made: list[Thing]) -> None:
        (files / "objects.yaml").write_text(yaml.safe_dump_all(objects))
        (files / "pods.yaml").write_text(yaml.safe_dump_all(made))

    return write


def _create(run: Run, *options: str) -> Result:
    return run("create", "karta", "--object", "objects.yaml", "--pods", "pods.yaml", *options)


def test_draft_takes_templates_and_counts_from_pods(run: Run, write: Callable[..., None]) -> None:
    write(TWO, [pod for obj in TWO for pod in pods(obj)])

    result = _create(run)

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("# Drafted from 2 objects, 6 pods.\n")
    assert result.stdout.endswith(DRAFT), result.stdout
    assert "verify: 2 objects of 1 kind:" in result.stderr
    assert " 0 differs" in result.stderr


def test_draft_of_one_object_has_to_be_checked(run: Run, write: Callable[..., None]) -> None:
    write(TWO[1:], pods(TWO[1]))

    result = _create(run)

    assert "# CHECK: 1 of 1 object agrees: the number of pods. Fewer than 4 objects are" in result.stdout
    assert ".spec.shifts" in result.stdout, "which is 3 as well"


def test_draft_names_what_differs_from_the_objects(run: Run, write: Callable[..., None]) -> None:
    write(TWO, [pod for obj in TWO for pod in pods(obj)][:-1])

    result = _create(run)

    *_, cause, field, totals = result.stderr.splitlines()
    assert cause == "1 of 2 Bakerys (south): InterpretReplica: pod has fewer pods than the answer"
    assert field == "    spec.structureDefinition.childComponents[0].scaleDefinition.replicasPath"
    assert " 1 differs" in totals


STRANGER = {**pods(TWO[0])[0], "metadata": {"name": "west-1"}}


@pytest.mark.parametrize(
    ("objects", "made", "options", "code", "message"),
    [
        pytest.param([], [], (), 1, "objects.yaml: it contains no object", id="no objects"),
        pytest.param([{"a": 1}], [], (), 1, "an object has no apiVersion and kind", id="an object without a kind"),
        pytest.param(TWO, [STRANGER], (), 1, "pods.yaml: no object owns Pod west-1", id="a pod of another owner"),
        pytest.param(TWO, [], ("--kind", "Bakry"), 2, "did you mean Bakery?", id="another kind"),
        pytest.param(
            [*TWO, {**TWO[0], "kind": "Mill"}],
            [],
            (),
            2,
            "choose one with --kind: example.io/v1/B",
            id="two kinds",
        ),
        pytest.param(TWO, [], ("--context", "member1"), 2, "not several of them", id="files and a member"),
    ],
)
def test_bad_evidence_is_an_error(
    run: Run,
    write: Callable[..., None],
    objects: list[Thing],
    made: list[Thing],
    options: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    write(objects, made)

    result = _create(run, *options)

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


@rows(
    ("options", "message"),
    [
        pytest.param((), "error: give --crd, or objects with their pods", id="nothing"),
        pytest.param(("--pods", "pods.yaml"), "error: give --object and --pods together", id="pods alone"),
        pytest.param(("--context", "member1"), "error: give the kind to look for", id="no kind in a member"),
    ],
)
def test_missing_input_is_usage_error(run: Run, options: tuple[str, ...], message: str) -> None:
    result = run("create", "karta", *options)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_folder_gives_objects_of_one_kind_within_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mill = {**TWO[0], "kind": "Mill"}
    definition = Definition.of_scripts(GVK.of(mill), Scripts([Script("Retain", "", "mill")]))
    save(tmp_path, Saved(0), [(definition, Evidence(obj)) for obj in (mill, *TWO, TWO[0], mill)])
    monkeypatch.setattr(draft_evidence, "MOST", 2)

    shown = draft_evidence.from_folder(tmp_path, "bakery")
    assert [each.object["kind"] for each in shown.evidence] == ["Bakery", "Bakery"]
    with pytest.raises(UsageProblem, match="choose one with --kind"):
        draft_evidence.from_folder(tmp_path, None)
