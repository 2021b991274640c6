import pytest

from karta_interpreter.findings import error, format_path, warning
from karta_interpreter.k8s.values import Path


@pytest.mark.parametrize(
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
