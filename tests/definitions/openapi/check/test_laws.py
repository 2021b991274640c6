"""Whatever the schema is: its own draft contradicts nothing in it, and junk is no reason to fail."""

from typing import Any

from hypothesis import given

from karta_interpreter.base.findings import Severity
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.model import KartaResource
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.check.check import check
from karta_interpreter.definitions.openapi.draft import draft
from tests.definitions.openapi.draft.test_draft import fields
from tests.definitions.openapi.draft.test_laws import JUNK, SCHEMAS, kind


def _read(karta: Object) -> KartaResource:
    found, _ = read_karta(karta)
    assert found is not None
    return found


@given(SCHEMAS, SCHEMAS)
def test_draft_passes_the_check_of_its_schema(spec: Any, status: Any) -> None:
    schema = fields(spec=spec, status=status)
    found = check(_read(draft(kind(schema)).karta), schema)
    assert [str(finding) for finding in found if finding.severity is Severity.ERROR] == []


@given(SCHEMAS, JUNK)
def test_check_survives_schema_of_junk(spec: Any, junk: Any) -> None:
    karta = _read(draft(kind(fields(spec=spec))).karta)
    check(karta, junk if isinstance(junk, dict) else {"properties": {"spec": junk}})
