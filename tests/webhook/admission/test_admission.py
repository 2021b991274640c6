import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.admission import read, validate

Raw = dict[str, Any]
Body = Callable[..., bytes]

BREW = GVK("toys.example.com", "v1", "Brew")
ROOT = ("spec", "structureDefinition", "rootComponent")
REPLICAS = (*ROOT, "scaleDefinition", "replicasPath")


def judged(body: bytes, taken: Mapping[GVK, str]) -> bytes:
    return validate(read(body), taken)


def response(answer: bytes) -> Raw:
    review = json.loads(answer)
    assert (review["apiVersion"], review["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert review["response"]["uid"] == "705ab4f5-6393-11e8-b7cc-42010a800002"
    found: Raw = review["response"]
    return found


def changed(obj: Raw, path: tuple[str | int, ...], value: Any) -> Raw:
    document: Raw = edit.set_value(obj, path, value)
    return document


def refusal(body: bytes, taken: Mapping[GVK, str] | None = None) -> list[str]:
    """The lines of the message, empty when it is allowed."""
    answer = response(judged(body, taken or {}))
    if answer["allowed"]:
        return []
    status = answer["status"]
    assert (status["code"], status["reason"]) == (422, "Invalid")
    lines: list[str] = status["message"].splitlines()
    return lines


def test_definition_that_only_karta_refuses_is_allowed_with_warnings(karta: Raw, review: Body) -> None:
    answer = response(judged(review(edit.remove(karta, (*ROOT, "statusDefinition"))), {}))

    assert answer["allowed"]
    (warning,) = answer["warnings"]
    assert "Karta's own admission refuses this" in warning


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_good_definition_is_allowed_without_warnings(karta: Raw, review: Body, operation: str) -> None:
    assert response(judged(review(karta, operation, old=karta), {})) == {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "allowed": True,
    }


def test_bad_definition_is_refused_with_all_errors(karta: Raw, review: Body) -> None:
    bad = changed(changed(karta, REPLICAS, ".spec.kettles | del(.a)"), (*ROOT, "kind", "kind"), "*")

    first, *lines = refusal(review(bad))

    assert first == 'Karta "brew" cannot be used: 2 errors'
    assert len(lines) == 2
    kind, query = sorted(lines)
    assert kind.startswith("  spec.structureDefinition.rootComponent.kind: ")
    assert query.startswith(
        "  spec.structureDefinition.rootComponent.scaleDefinition.replicasPath: `del` is not allowed"
    )
    assert query.endswith(" [expression-refused]")


def test_object_without_spec_is_refused(review: Body) -> None:
    lines = refusal(review({"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "x"}}))

    assert lines == [
        'Karta "x" cannot be used: 1 error',
        "  spec: the field spec is missing (write its fields below its name, indented) [schema]",
    ]


def test_older_kind_is_checked(karta: Raw, review: Body) -> None:
    old = {**karta, "apiVersion": "optimization.nvidia.com/v1alpha1", "kind": "ResourceInterface"}

    assert refusal(review(old)) == []
    assert refusal(review(edit.remove(old, (*ROOT, "kind"))))[0].startswith('ResourceInterface "brew" cannot be used')


def test_unknown_version_is_refused(karta: Raw, review: Body) -> None:
    lines = refusal(review({**karta, "apiVersion": "run.ai/v2"}))

    assert "apiVersion: run.ai/v1alpha1" in lines[1]


@pytest.mark.parametrize(
    ("operation", "taken", "refused"),
    [
        pytest.param("CREATE", {}, False, id="nobody has the kind"),
        pytest.param("CREATE", {BREW: "kettle"}, True, id="another one has it"),
        pytest.param("UPDATE", {BREW: "kettle"}, True, id="the edit takes the kind of another one"),
        pytest.param("UPDATE", {BREW: "brew"}, False, id="it has the kind itself"),
        pytest.param("CREATE", {BREW: "brew"}, False, id="a Karta follows a ResourceInterface of its name"),
        pytest.param("CREATE", {GVK(BREW.group, "v2", "Brew"): "kettle"}, False, id="another version of the kind"),
    ],
)
def test_second_definition_of_kind_is_refused(
    karta: Raw, review: Body, operation: str, taken: Mapping[GVK, str], *, refused: bool
) -> None:
    before = changed(karta, (*ROOT, "kind", "kind"), "Tea") if operation == "UPDATE" else None

    lines = refusal(review(karta, operation, old=before), taken)

    assert bool(lines) is refused
    if refused:
        assert lines[1] == (
            "  spec.structureDefinition.rootComponent.kind: toys.example.com/v1, Kind=Brew has a definition already: "
            "kettle (change kettle, or delete it first) [duplicate-kind]"
        )


@pytest.mark.parametrize(
    ("owner", "refused"),
    [pytest.param("kettle", True, id="another one has it"), pytest.param("brew", False, id="the Karta itself has it")],
)
def test_other_version_with_a_definition_is_refused(karta: Raw, review: Body, owner: str, *, refused: bool) -> None:
    both = changed(karta, ("metadata", "annotations"), {"karta-interpreter.io/other-versions": "v2"})

    lines = refusal(review(both), {GVK(BREW.group, "v2", "Brew"): owner})

    assert bool(lines) is refused
    if refused:
        assert "toys.example.com/v2, Kind=Brew has a definition already: kettle" in lines[1]


def test_refusal_has_errors_and_duplicate_kind(karta: Raw, review: Body) -> None:
    lines = refusal(review(changed(karta, REPLICAS, "env")), {BREW: "kettle"})

    assert lines[0] == 'Karta "brew" cannot be used: 2 errors'
    assert {line.rpartition("[")[2] for line in lines[1:]} == {"expression-refused]", "duplicate-kind]"}


def test_lint_is_a_warning_and_no_refusal(karta: Raw, review: Body) -> None:
    unmapped = changed(karta, (*ROOT, "statusDefinition", "statusMappings", "failed"), [{}])

    answer = response(judged(review(unmapped), {}))

    assert answer["allowed"] is True
    (warning,) = answer["warnings"]
    assert "failed[0]: a matcher without any test" in warning
    assert len(warning) <= 120


def test_parts_that_contradict_each_other_are_a_warning(karta: Raw, review: Body) -> None:
    answer = response(judged(review(changed(karta, REPLICAS, ".metadata.labels")), {}))

    assert answer["allowed"] is True
    (warning,) = answer["warnings"]
    assert ".metadata.labels is an object in this kind, not a number" in warning


def test_refusal_has_separate_warnings(karta: Raw, review: Body) -> None:
    bad = changed(changed(karta, REPLICAS, "env"), (*ROOT, "statusDefinition", "statusMappings", "failed"), [{}])

    answer = response(judged(review(bad), {}))

    assert answer["status"]["message"].startswith('Karta "brew" cannot be used: 1 error\n')
    assert len(answer["warnings"]) == 1


@pytest.mark.parametrize(
    ("update", "refused"),
    [
        pytest.param({"metadata": {"name": "brew", "labels": {"team": "a"}}}, False, id="only labels change"),
        pytest.param({"metadata": {"name": "brew", "annotations": {"b": "1"}}}, False, id="others' annotations change"),
        pytest.param({"metadata": {"name": "brew", "deletionTimestamp": "2024-01-01T00:00:00Z"}}, False, id="deleted"),
        pytest.param(
            {"metadata": {"name": "brew", "annotations": {"karta-interpreter.io/retain": "[.a"}}},
            True,
            id="an annotation of ours changes",
        ),
        pytest.param({"spec": {"structureDefinition": {}}}, True, id="the spec changes"),
    ],
)
def test_errors_that_were_stored_before_do_not_lock_an_object(
    karta: Raw, review: Body, update: Raw, *, refused: bool
) -> None:
    stored = changed(karta, REPLICAS, "env")

    answer = response(judged(review({**stored, **update}, "UPDATE", old=stored), {}))

    assert answer["allowed"] is not refused
    assert bool(answer.get("warnings")) is not refused


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        pytest.param("DELETE", {}, id="nothing is stored"),
        pytest.param("CONNECT", {}, id="nothing is stored either"),
        pytest.param("UPDATE", {"subResource": "status"}, id="a status is nobody's definition"),
    ],
)
def test_request_that_stores_no_definition_is_allowed(karta: Raw, review: Body, operation: str, more: Raw) -> None:
    bad = changed(karta, REPLICAS, "env")
    body = review(bad if more else None, operation, old=bad, **more)

    assert response(judged(body, {BREW: "kettle"})) == {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": True}


def test_kartas_of_another_api_group_are_judged(karta: Raw, review: Body) -> None:
    bad = changed({**karta, "apiVersion": "workloads.example.com/v1alpha1"}, REPLICAS, "env")

    assert refusal(review(bad))[0] == 'Karta "brew" cannot be used: 1 error'


def test_other_kinds_are_let_through_and_the_rule_is_named(review: Body) -> None:
    answer = response(judged(review({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}), {}))

    assert answer["allowed"] is True
    assert answer["warnings"] == [
        "Pod is not a Karta: take it out of the rules of karta-interpreter's admission webhook"
    ]


def test_equal_reviews_get_equal_bytes(karta: Raw, review: Body) -> None:
    body = review(changed(karta, REPLICAS, "env | del(.a)"))

    assert judged(body, {BREW: "kettle"}) == judged(body, {BREW: "kettle"})


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param({"metadata": None, "spec": None}, id="nulls"),
        pytest.param({"metadata": [], "spec": []}, id="lists"),
        pytest.param({"metadata": {"name": 7, "labels": [], "annotations": 1}, "spec": {}}, id="numbers"),
        pytest.param({"spec": {"structureDefinition": {"rootComponent": {"kind": 1}}}}, id="a number as kind"),
    ],
)
def test_strange_objects_get_an_answer(review: Body, obj: Raw) -> None:
    strange = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", **obj}

    assert (
        response(judged(review(strange, "UPDATE", old={"metadata": {"annotations": []}, "spec": 1}), {}))["allowed"]
        is False
    )


def test_nesting_without_end_is_answered(karta: Raw, review: Body) -> None:
    nested: Any = "x"
    for _ in range(900):
        nested = {"a": nested}

    assert response(judged(review(changed(karta, ("spec", "deep"), nested)), {}))["allowed"] is True
    assert refusal(review(changed(karta, (*ROOT, "kind"), nested))) != []
    assert refusal(review(changed(karta, REPLICAS, "[" * 900 + "]" * 900))) != []
