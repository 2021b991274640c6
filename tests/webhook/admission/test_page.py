"""The page about admission shows what is answered."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.admission import read, validate

_DOCS = Path(__file__).parents[3] / "docs"
_PAGE = (_DOCS / "admission.md").read_text(encoding="utf-8")
_MAPPINGS = ("spec", "structureDefinition", "rootComponent", "statusDefinition", "statusMappings")


def judged(body: bytes, taken: Mapping[GVK, str]) -> bytes:
    return validate(read(body), taken)


def _read(name: str) -> Any:
    return yaml.safe_load((_DOCS / "examples" / name).read_text(encoding="utf-8"))


def _review(obj: Any) -> bytes:
    kind = {"group": "run.ai", "version": "v1alpha1", "kind": "Karta"}
    request = {"uid": "1", "kind": kind, "operation": "CREATE", "object": obj}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(review).encode()


def _answer(body: bytes) -> Any:
    return json.loads(body)["response"]


def _denial(answer: Any) -> str:
    denied = 'admission webhook "validate.karta-interpreter.io" denied the request: '
    return f"```text\n{denied}{answer['status']['message']}\n```\n"


def test_page_has_errors_of_refusal() -> None:
    broken = _read("trainjob-broken.yaml")
    del broken["spec"]["structureDefinition"]["childComponents"][0]["ownerName"]  # as an API server with the CRD does
    assert _denial(_answer(judged(_review(broken), {}))) in _PAGE


def test_page_has_refusal_of_second_karta() -> None:
    second = edit.set_value(_read("trainjob.yaml"), ("metadata", "name"), "mine")
    taken = {GVK("example.io", "v1", "TrainJob"): "trainjob"}
    assert _denial(_answer(judged(_review(second), taken))) in _PAGE


def test_page_has_warning() -> None:
    matcher = {"byConditions": [{"type": "Failed"}]}
    answer = _answer(judged(_review(edit.set_value(_read("trainjob.yaml"), (*_MAPPINGS, "failed"), [matcher])), {}))
    assert answer["allowed"]
    assert f"```text\nWarning: {answer['warnings'][-1]}\n```\n" in _PAGE
