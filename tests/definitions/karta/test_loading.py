from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base.findings import DefinitionError, Severity
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta import catalogue_kinds
from karta_interpreter.definitions.karta.loading import load_definition, load_documents

Raw = dict[str, Any]

BREW = GVK("toys.example.com", "v1", "Brew")
ROOT = ("spec", "structureDefinition", "rootComponent")


def test_several_documents(texts: dict[str, str]) -> None:
    loaded = load_documents("---\n".join(texts.values()), "toys.yaml")
    assert [one.name for one in loaded] == ["brew", "orchestra", "harbor"]
    assert all(one.definition is not None for one in loaded)
    assert loaded[0].gvk == BREW
    assert {one.source for one in loaded} == {"toys.yaml"}


@pytest.mark.parametrize("kind", ["List", "KartaList", "ResourceInterfaceList"])
def test_lists(toys: dict[str, Raw], kind: str) -> None:
    text = yaml.safe_dump({"apiVersion": "v1", "kind": kind, "items": list(toys.values())})
    assert [one.name for one in load_documents(text, "-")] == list(toys)


def test_empty_list_has_no_definitions() -> None:
    assert load_documents("{apiVersion: v1, kind: List, items: []}", "-") == []
    assert load_documents("# nothing\n---\n", "-") == []


def test_bad_definition_leaves_others_usable(toys: dict[str, Raw]) -> None:
    broken = edit.set_value(toys["brew"], (*ROOT, "kind", "version"), "*")
    text = yaml.safe_dump({"kind": "List", "items": [broken, {"kind": "Pod"}, toys["harbor"]]})
    bad, stranger, good = load_documents(text, "-")
    assert (bad.definition, bad.name) == (None, "brew")
    assert (stranger.definition, stranger.gvk) == (None, None)
    assert good.definition is not None


def test_customization_is_refused_with_a_hint() -> None:
    text = "{apiVersion: config.karmada.io/v1alpha1, kind: ResourceInterpreterCustomization, metadata: {name: mine}}"
    (loaded,) = load_documents(text, "mine.yaml")
    (finding,) = loaded.findings
    assert (loaded.definition, loaded.name, finding.severity) == (None, "mine", Severity.ERROR)
    assert "--overrides" in finding.hint


def test_text_that_cannot_be_read() -> None:
    (loaded,) = load_documents("spec:\n  a: [1\n  b: 2\n", "bad.yaml")
    assert loaded.definition is None
    (finding,) = loaded.findings
    assert (finding.rule, finding.severity, finding.source) == ("unreadable", Severity.ERROR, "bad.yaml")
    assert finding.line == 3


POSITIONS = """\
apiVersion: run.ai/v1alpha1
kind: Karta
metadata:
  name: brew
  annotations:
    karta-interpreter.io/elastic: kettle
spec:
  structureDefinition:
    rootComponent:
      name: brew
      kind: {group: toys.example.com, version: v1, kind: Brew}
      specDefinition:
        podTemplateSpecPath: del(.spec.template)
      scaleDefinition: {replicasPath: .spec.kettles, replicaPath: .x}
      statusDefinition:
        statusMappings:
          running: [{}, {byPhase: Boiling}]
"""


@pytest.mark.parametrize("indent", [0, 4])
def test_findings_know_their_place(indent: int) -> None:
    text = POSITIONS
    if indent:
        lines = [f"  {line}" for line in POSITIONS.splitlines(keepends=True)]
        text = "kind: List\nitems:\n- " + "".join(lines)[2:]
    line, column = (2, 2) if indent else (0, 0)
    (loaded,) = load_documents(text, "brew.yaml")
    places = {finding.rule: (finding.line - line, finding.column - column) for finding in loaded.findings}
    assert places == {
        "unknown-field": (14, 67),
        "annotation-elastic": (6, 35),
        "expression-refused": (13, 30),
        "matcher-empty": (17, 21),
        "matcher-without-place": (17, 35),
    }
    assert {finding.source for finding in loaded.findings} == {"brew.yaml"}


@pytest.mark.parametrize(
    ("annotation", "place"),
    [
        pytest.param("|\n      - unset: .spec.a\n       by: .name\n", (5, 8), id="indentation in a block"),
        pytest.param(
            "|\n      - .spec.a\n      - {unset: .spec.tls[].name}\n", (5, 26),
            id="a path without quotes in a flow mapping",
        ),
        pytest.param("|\n      - .spec.a\n      - [x\n", (5, 11), id="an open list: the end of the text"),
        pytest.param("'[.spec.a[].b]'", (3, 43), id="a text in quotes"),
        pytest.param(">\n      - {unset: .spec.tls[].name}\n", (4, 26), id="a folded block"),
        pytest.param(">\n      - {unset: .a}\n      - {unset: .b}\n", (4, 7), id="folded entries"),
        pytest.param(">\n      - {unset:\n      .spec.a\n", (4, 7), id="lines that are folded into one: the first"),
        pytest.param('"- .a\\n- {"', (3, 34), id="a string of several lines in one: where it begins"),
    ],
)  # fmt: skip
def test_yaml_in_an_annotation_has_a_place_of_its_own(
    texts: dict[str, str], annotation: str, place: tuple[int, int]
) -> None:
    spec = texts["brew"].partition("spec:\n")[2]
    text = f"metadata:\n  annotations:\n    karta-interpreter.io/retain: {annotation}\nspec:\n{spec}"
    (loaded,) = load_documents(text, "it.yaml")
    finding = next(each for each in loaded.findings if each.rule == "annotation-retain")
    assert (finding.line, finding.column) == place
    assert "of the annotation)" in finding.message


def test_warnings_stay_with_the_definition(texts: dict[str, str]) -> None:
    text = texts["brew"].replace("byPhase: Boiling", "")
    (loaded,) = load_documents(text, "brew.yaml")
    assert loaded.definition is not None
    assert [finding.rule for finding in loaded.findings] == ["matcher-empty"]
    assert loaded.definition.findings == loaded.findings
    assert loaded.definition.findings[0].line > 0
    assert loaded.definition.source == "brew.yaml"


@pytest.mark.parametrize("gvk", [GVK("", "v1", "Pod"), GVK("batch", "v1", "Job")])
def test_catalogue_has_file_of_kind_in_folder_of_its_name(gvk: GVK) -> None:
    (loaded,) = load_documents(catalogue_kinds()[gvk].read_text(), "")
    assert loaded.gvk == gvk


def test_reading_a_definition_lists_the_catalogue_once(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    load_documents(texts["brew"], "brew.yaml")
    monkeypatch.setattr(Path, "glob", lambda *_: pytest.fail("a folder is listed for a definition"))
    (loaded,) = load_documents(texts["brew"], "brew.yaml")
    assert loaded.definition is not None


def test_load_definition_reads_an_object(brew: Raw) -> None:
    definition = load_definition(brew, "here")
    assert (definition.name, definition.gvk, definition.source) == ("brew", BREW, "here")


def test_load_definition_raises_all_findings(brew: Raw) -> None:
    raw = edit.set_value(brew, (*ROOT, "specDefinition", "podTemplateSpecPath"), ".spec | del(.a)")
    raw = edit.set_value(raw, (*ROOT, "kind", "version"), "*")
    with pytest.raises(DefinitionError) as caught:
        load_definition(raw)
    assert {finding.rule for finding in caught.value.findings} == {"expression-refused", "root-kind-incomplete"}
    assert str(caught.value).startswith("definition brew cannot be used:\n")
    assert f"error: {'.'.join(ROOT)}.kind: the root component must have its full kind" in str(caught.value)
