import click
import pytest

from karta_interpreter.base.findings import error, format_path, in_one_line, warning
from karta_interpreter.base.k8s.values import Path
from karta_interpreter.cli.render import findings_text
from tests.support.rows import rows


@rows(
    ("path", "text"),
    [
        pytest.param((), "", id="the Karta itself"),
        pytest.param(("spec", "childComponents", 0, "name"), "spec.childComponents[0].name", id="fields and indices"),
        pytest.param(("metadata", "annotations", "a.b/c"), 'metadata.annotations["a.b/c"]', id="an odd key"),
    ],
)
def test_paths(path: Path, text: str) -> None:
    assert format_path(path) == text


def test_findings_as_text() -> None:
    assert str(error("schema", ("spec",), "is missing")) == "error: spec: is missing [schema]"
    assert str(warning("odd", (), "looks odd", "look again")) == "warning: looks odd (look again) [odd]"


def test_log_line_of_finding_is_that_of_validate() -> None:
    finding = error("jq-syntax", ("spec", "a"), "no\nquery", "close it", source="k.yaml", line=7, column=3)
    printed = [line.strip() for line in click.unstyle(findings_text([finding])).splitlines()]
    assert in_one_line(finding) == "{} ({})".format(*printed)
