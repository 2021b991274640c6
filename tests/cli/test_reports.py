"""``validate -o github|sarif``: findings for other programs."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import Result

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.cli.reports import github, sarif

Run = Callable[..., Result]
Karta = Callable[..., str]

_ODD = Finding(
    Severity.ERROR, "odd", ("spec", "a"), "100 % odd,\nin two: lines\x07", "look", "a,b: c.yaml", 3, 7, "\x01.a"
)


@pytest.fixture(autouse=True)
def _files(files: Path, karta: Karta) -> None:
    (files / "bad.yaml").write_text(karta("Bad", replicas=".spec.replicas | del(.a)"))


def test_github_shows_a_finding_at_its_line(run: Run) -> None:
    result = run("validate", "bad.yaml", "-o", "github")

    assert result.exit_code == 1
    assert result.stdout == (
        "::error file=bad.yaml,line=16,col=23,title=expression-refused::"
        "spec.structureDefinition.rootComponent.scaleDefinition.replicasPath: "
        "`del` is not allowed: an expression only reads%0A.spec.replicas | del(.a)\n"
    )


def test_github_shows_a_finding_at_its_line_of_an_annotation(run: Run, files: Path, karta: Karta) -> None:
    retain = "  annotations:\n    karta-interpreter.io/retain: |\n      - .spec.a\n      - .spec.b + 1\nspec:\n"
    (files / "bad.yaml").write_text(karta("Bad").replace("spec:\n", retain, 1))

    assert "file=bad.yaml,line=8,col=9,title=annotation-retain" in run("validate", "bad.yaml", "-o", "github").stdout


def test_message_cannot_end_workflow_command() -> None:
    assert github([_ODD]) == (
        "::error file=a%2Cb%3A c.yaml,line=3,col=7,title=odd::spec.a: 100 %25 odd,%0Ain two: lines\x07%0A\x01.a"
        "%0Ahint: look\n"
    )


def test_sarif_has_rule_level_and_place(run: Run) -> None:
    result = run("validate", "bad.yaml", "karta.yaml", "-o", "sarif")

    found = json.loads(result.stdout)
    [finding] = found["runs"][0]["results"]
    [location] = finding["locations"]
    assert (found["version"], finding["ruleId"], finding["level"]) == ("2.1.0", "expression-refused", "error")
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "bad.yaml"},
        "region": {"startLine": 16, "startColumn": 23},
    }
    assert [rule["id"] for rule in found["runs"][0]["tool"]["driver"]["rules"]] == ["expression-refused"]


def test_sarif_names_files_by_uri() -> None:
    found = json.loads(sarif([_ODD]))
    [finding] = found["runs"][0]["results"]
    uri = finding["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (uri, unquote(uri)) == ("a%2Cb%3A%20c.yaml", _ODD.source)
