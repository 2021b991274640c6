"""Paths that do not exist, and what they look like."""

from collections.abc import Callable

import pytest
from click.testing import Result

from tests.support.rows import rows

_KUBECTL = "pipe the output of `kubectl get rayjob demo -o yaml`"
_CURL = "pipe the output of `curl -sSfL https://example.com/it.yaml`"


@rows(
    ("line", "advice"),
    [
        (("interpret", "rayjob/demo"), _KUBECTL),
        (("explain", "rayjob/demo"), _KUBECTL),
        (("tree", "rayjob/demo"), _KUBECTL),
        (("validate", "https://example.com/it.yaml"), _CURL),
        (("interpret", "https://example.com/it.yaml"), _CURL),
        (("validate", "RayCluster"), "or its definition from `karta-interpreter catalogue export RayCluster`"),
        (("interpret", "ray.io/v1/RayCluster"), "pipe the output of `kubectl get RayCluster NAME -o yaml`, or"),
        (("interpret", "-n", "ml", "it.yaml"), "`kubectl get KIND NAME -o yaml` prints an object of a cluster"),
    ],
)
def test_what_is_no_file_is_piped(run: Callable[..., Result], line: tuple[str, ...], advice: str) -> None:
    result = run(*line)

    assert result.exit_code == 2
    assert advice in result.stderr


@rows("line", [("test", "-n", "x"), ("serve", "-n", "x"), ("replay", "-n", "x")])
def test_command_without_an_object_names_no_cluster(run: Callable[..., Result], line: tuple[str, ...]) -> None:
    result = run(*line)

    assert result.exit_code == 2
    assert "kubectl get" not in result.stderr


@pytest.mark.catalogue
@rows("line", [("explain",), ("catalogue", "export"), ("export", "customization")])
def test_text_longer_than_the_name_of_a_file_may_be_is_none(run: Callable[..., Result], line: tuple[str, ...]) -> None:
    result = run(*line, "a" * 300)

    assert result.exit_code == 2
    assert "error: " in result.stderr
