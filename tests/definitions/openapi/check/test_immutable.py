"""Fields that a CRD lets nobody change are the member's, or a finding."""

from typing import Any

import pytest

from karta_interpreter.definitions.openapi.check import contradictions
from tests.support.rows import rows

_FIXED = {"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "immutable"}]}
_GVK = {"group": "example.io", "version": "v1", "kind": "Bakery"}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _crd(**fields: object) -> dict[str, Any]:
    schema = _object(spec=_object(**fields), status=_object(phase=_FIXED))
    version = {"name": "v1", "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {"spec": {"group": "example.io", "names": {"kind": "Bakery"}, "versions": [version]}}


def _sent(retain: str, *crds: dict[str, Any], operations: str = "Retain, InterpretStatus") -> list[str]:
    text = f"""
apiVersion: run.ai/v1alpha1
kind: Karta
metadata:
  name: bakery
  annotations:
    karta-interpreter.io/operations: {operations}
    karta-interpreter.io/retain: |
      {retain or "- .spec.other"}
spec:
  structureDefinition:
    rootComponent: {{name: bakery, kind: {_GVK}, statusDefinition: {{statusMappings: {{}}}}}}
"""
    messages = [
        finding.message for finding in contradictions(text, "karta.yaml", crds) if finding.rule == "crd-immutable"
    ]
    return [message.removeprefix("the CRD lets nobody change ").partition(",")[0] for message in messages]


_OVENS = {
    "type": "array",
    "x-kubernetes-list-map-keys": ["name"],
    "items": _object(name={"type": "string", **_FIXED}, size=_FIXED),
}


@rows(
    ("field", "retain", "sent"),
    [
        pytest.param(_FIXED, "", [".spec.part"], id="sent"),
        pytest.param(_object(flour=_FIXED), "", [".spec.part.flour"], id="below"),
        pytest.param(_FIXED, "- fixed: .spec.part", [], id="kept"),
        pytest.param(_FIXED, "- .spec.part", [], id="the member's"),
        pytest.param(_object(flour=_FIXED), "- immutable: .spec.part", [], id="within what is kept"),
        pytest.param(_FIXED, "- fixed: .spec.part.flour", [".spec.part"], id="not all of it"),
        pytest.param(_FIXED, "- unset: .spec.part", [".spec.part"], id="only while the template has none"),
        pytest.param(_FIXED, "- {owned: .spec.part, while: .status.x}", [".spec.part"], id="only for a while"),
        pytest.param(_OVENS, "", [".spec.part[].size"], id="of elements, but not their key"),
        pytest.param(_OVENS, "- fixed: .spec.part[].size", [], id="of elements, kept"),
        pytest.param(
            {"x-kubernetes-validations": [{"rule": "!has(oldSelf.x) || self == oldSelf"}]}, "", [], id="on a condition"
        ),
    ],
)
def test_field_that_retain_sends_is_named(field: dict[str, Any], retain: str, sent: list[str]) -> None:
    assert _sent(retain, _crd(part=field)) == sent


def test_field_of_one_release_is_named() -> None:
    assert _sent("", _crd(part={}), _crd(part=_FIXED)) == [".spec.part"]


def test_kind_without_retain_sends_nothing_of_the_member() -> None:
    assert _sent("", _crd(part=_FIXED), operations="InterpretStatus") == []
