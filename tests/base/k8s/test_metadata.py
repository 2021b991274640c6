"""Metadata is read whatever its types are."""

from typing import Any

import pytest

from karta_interpreter.base.k8s.fields import annotation, generation, label, namespace
from tests.support.rows import rows

WHOLE = {"metadata": {"namespace": "ml", "generation": 3, "labels": {"a": "b"}, "annotations": {"c": "d"}}}


def test_metadata_that_is_present_is_read() -> None:
    assert (namespace(WHOLE), generation(WHOLE), label(WHOLE, "a"), annotation(WHOLE, "c")) == ("ml", 3, "b", "d")


@rows(
    "obj",
    [
        pytest.param({}, id="no metadata"),
        pytest.param({"metadata": None}, id="null metadata"),
        pytest.param({"metadata": []}, id="metadata is a list"),
        pytest.param({"metadata": {"labels": [], "annotations": "x"}}, id="labels and annotations of wrong types"),
        pytest.param({"metadata": {"labels": {"a": 1}, "annotations": {"c": True}}}, id="values of wrong types"),
        pytest.param({"metadata": {"namespace": 1, "generation": True}}, id="scalars of wrong types"),
        pytest.param({"metadata": {"generation": "3"}}, id="a generation as text"),
    ],
)
def test_metadata_that_is_missing_is_absent(obj: dict[str, Any]) -> None:
    assert (namespace(obj), generation(obj), label(obj, "a"), annotation(obj, "c")) == ("", None, None, None)
