import json
from collections.abc import Callable

import pytest
import yaml
from click.testing import Result

from karta_interpreter import __version__
from karta_interpreter.definitions.karta.schema_export import custom_resource_definition, json_schema
from tests.support.rows import rows

Run = Callable[..., Result]


@rows(
    ("arguments", "expected", "read"),
    [
        pytest.param(("crd",), custom_resource_definition(), yaml.safe_load, id="for kubectl and Git"),
        pytest.param(("crd", "-o", "json"), custom_resource_definition(), json.loads, id="for programs"),
        pytest.param(("json-schema",), json_schema(__version__), json.loads, id="for editors"),
    ],
)
def test_export_prints_the_schema(
    run: Run, arguments: tuple[str, ...], expected: object, read: Callable[[str], object]
) -> None:
    result = run("export", *arguments)

    assert (result.exit_code, result.stderr) == (0, "")
    assert read(result.stdout) == expected


def test_yaml_is_the_form_of_kubectl(run: Run) -> None:
    assert run("export", "crd").stdout.startswith(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    )
