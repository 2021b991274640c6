"""The OpenAPI document is valid, and describes what the server does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from karta_interpreter.web.types_api.models import PROBLEMS, Choices
from karta_interpreter.web.types_api.openapi import document
from karta_interpreter.web.types_api.settings import TypesSettings
from tests.web.types_api.types_server import TOKEN, TYPES, TypesServer

EXAMPLES = os.environ.get("KARTA_INTERPRETER_TEST_EXAMPLES", "")
"""How many requests to try for each operation: `make console-test` tries few, `make audit` many."""


def test_document_is_openapi_3_1(server: TypesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    served = server.get("/api/v1/openapi.json").json
    assert served["openapi"].startswith("3.1")
    settings = TypesSettings()
    assert served == json.loads(document(Choices.of(settings.types_categories, settings.types_priorities)))
    # To import it takes seconds, most of them for the grammar of a format that no schema here has.
    monkeypatch.setitem(sys.modules, "rfc3987_syntax", None)
    pytest.importorskip("openapi_spec_validator").validate(served)


def test_problems_are_described() -> None:
    described = json.loads(document(Choices.of(["a"], ["b=1"])))["paths"]
    statuses = {int(status) for path in described.values() for each in path.values() for status in each["responses"]}
    # A method that a path does not have is in no description, and a defect is none of the answers to expect.
    assert set(PROBLEMS) - statuses == {405, 500}


def test_example_can_be_registered(server: TypesServer) -> None:
    schemas = server.get("/api/v1/openapi.json").json["components"]["schemas"]
    (body,) = schemas["WorkloadTypeInput"]["examples"]
    registered = server.post(body)
    assert registered.status == 201
    assert server.ask("DELETE", registered.headers["location"]).status == 204


@pytest.mark.skipif(not EXAMPLES, reason="`make console-test` and `make audit` run it")
@pytest.mark.parametrize("phases", ["coverage,stateful" if EXAMPLES == "2" else "fuzzing,stateful"])
def test_server_does_what_the_document_describes(server: TypesServer, tmp_path: Path, phases: str) -> None:
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/api/v1/openapi.json"]
    # A Karta that fits the schema may still be wrong, and gets 422: no schema has what `validate` finds.
    checks = ["--exclude-checks", "positive_data_acceptance", "--no-shrink", "--phases", phases]
    given = ["--header", f"Authorization: Bearer {TOKEN}", "--max-examples", EXAMPLES, *checks]
    done = subprocess.run([*command, *given], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert server.get(f"{TYPES}?externalTypesOnly=true").status == 200
    assert server.child.is_alive()
