import json
from typing import Any

import pytest

from karta_interpreter.base.errors import RequestError
from karta_interpreter.webhook.admission import Review, allow, read, refuse
from tests.support.rows import rows

REQUEST: dict[str, Any] = {
    "uid": "1",
    "kind": {"group": "run.ai", "version": "v1alpha1", "kind": "Karta"},
    "operation": "CREATE",
    "object": {"spec": {}},
}


def body(**changes: Any) -> bytes:
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {**REQUEST, **changes}}
    return json.dumps(review).encode()


def test_review_is_read() -> None:
    review = read(body(operation="UPDATE", oldObject={"spec": None}, subResource="status", dryRun=True))

    assert review == Review("1", "UPDATE", review.kind, "status", {"spec": {}}, {"spec": None})
    assert (review.kind.group, review.kind.kind) == ("run.ai", "Karta")


def test_core_kind_has_empty_group() -> None:
    assert read(body(kind={"version": "v1", "kind": "Pod"})).kind.group == ""


@rows("operation", ["CREATE", "UPDATE", "DELETE", "CONNECT"])
def test_operations_of_kubernetes_are_known(operation: str) -> None:
    assert read(body(operation=operation)).operation == operation


@rows(
    ("content", "complaint"),
    [
        pytest.param(b"", "the body is empty", id="nothing"),
        pytest.param(b"[]", "Expected `object`, got `array`", id="a list"),
        pytest.param(b'"\xff"', "the body is not JSON", id="not UTF-8"),
        pytest.param(body().replace(b"k8s.io/v1", b"k8s.io/v1beta1"), "admissionReviewVersions", id="an old version"),
        pytest.param(b'{"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext"}',
            "; /interpret takes a ResourceInterpreterContext", id="a call of the interpreter"),
        pytest.param(body().replace(b"AdmissionReview", b"TokenReview"), "'TokenReview' - at `\\$.kind`",
            id="another review"),
        pytest.param(body().replace(b'"request"', b'"response"'), "missing required field `request`", id="an answer"),
        pytest.param(body(uid=""), "at `\\$.request.uid`", id="an empty uid"),
        pytest.param(body(uid=7), "at `\\$.request.uid`", id="a number as uid"),
        pytest.param(body(kind="Karta"), "at `\\$.request.kind`", id="a kind without group"),
        pytest.param(body(kind={"group": 1, "kind": "Karta"}), "at `\\$.request.kind.group`", id="a number as group"),
        pytest.param(body(operation="PATCH"), "'PATCH' - at `\\$.request.operation`", id="a verb"),
        pytest.param(body(object=[]), "got `array` - at `\\$.request.object`", id="a list as object"),
    ],
)  # fmt: skip
def test_body_without_a_review_is_refused_as_a_request(content: bytes, complaint: str) -> None:
    with pytest.raises(RequestError, match=complaint) as raised:
        read(content)
    assert raised.value.status == 400


def test_answers_have_expected_bytes() -> None:
    review = read(body())

    assert allow(review.uid) == (
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"1","allowed":true}}'
    )
    assert allow(review.uid, warnings=("careful",)) == (
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"1","allowed":true,'
        b'"warnings":["careful"]}}'
    )
    assert refuse(review.uid, "no") == (
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"1","allowed":false,'
        b'"status":{"status":"Failure","reason":"Invalid","code":422,"message":"no"}}}'
    )
