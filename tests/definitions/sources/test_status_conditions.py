from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from karta_interpreter.base.findings import error, warning
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import Loaded
from karta_interpreter.definitions.sources.cluster import conditions_of, report_of
from karta_interpreter.definitions.sources.karta_loading import load_object

_GVK = GVK("example.io", "v1", "Job")
_NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
_THEN = "2026-01-01T00:00:00Z"


@pytest.fixture
def good(karta: Callable[..., str]) -> Loaded:
    return load_object(yaml.safe_load(karta("Job")), "kartas.run.ai/job")


def _broken(*messages: str) -> Loaded:
    findings = (warning("w", (), "careful"), *(error("e", ("spec",), message) for message in messages))
    return Loaded(None, findings, "job", _GVK, "")


def _conditions(loaded: Loaded, crd_served: bool = True, previous: Any = None, **more: Any) -> dict[str, Any]:
    found = conditions_of(loaded, crd_served, 3, _NOW, previous, **more)
    return {condition["type"]: condition for condition in found}


@pytest.mark.parametrize(
    ("valid", "crd_served", "hidden_by", "expected"),
    [
        pytest.param(True, True, "", ("ValidationSucceeded", "CRDFound", "Ready"),
            id="a valid definition of a kind that is there"),
        pytest.param(True, False, "", ("ValidationSucceeded", "CRDNotFound", "NotReady"),
            id="a kind that is not there"),
        pytest.param(False, True, "", ("ValidationFailed", "CRDFound", "NotReady"), id="an invalid definition"),
        pytest.param(False, False, "", ("ValidationFailed", "CRDNotFound", "NotReady"), id="neither"),
        pytest.param(True, True, "kartas.run.ai/a", ("ValidationSucceeded", "CRDFound", "NotReady"),
            id="an older one is used"),
    ],
)  # fmt: skip
def test_conditions_have_reasons_of_karta_controller(
    good: Loaded, valid: bool, crd_served: bool, hidden_by: str, expected: tuple[str, ...]
) -> None:
    found = _conditions(good if valid else _broken("wrong"), crd_served, hidden_by=hidden_by)

    assert tuple(found[kind]["reason"] for kind in ("Validated", "CRDExists", "Ready")) == expected
    statuses = {condition["reason"]: condition["status"] for condition in found.values()}
    positive = {"ValidationSucceeded", "CRDFound", "Ready"}
    assert statuses == {reason: "True" if reason in positive else "False" for reason in expected}
    assert {condition["observedGeneration"] for condition in found.values()} == {3}


def test_message_of_invalid_definition_lists_errors_first() -> None:
    assert _conditions(_broken("one", "two"))["Validated"]["message"] == (
        "error: spec: one [e]; error: spec: two [e]; warning: careful [w]"
    )


def test_definition_without_kind_has_no_crd() -> None:
    found = _conditions(Loaded(None, (error("e", (), "wrong"),), "job", None, ""), crd_served=False)

    assert found["CRDExists"]["message"] == "the definition does not name a kind"


def test_name_of_karta_is_validated(karta: Callable[..., str]) -> None:
    obj = yaml.safe_load(karta("Job"))
    obj["metadata"]["name"] = "a\nforged"
    loaded = load_object(obj, "kartas.run.ai/a\nforged")
    assert (loaded.definition, loaded.name) == (None, r"a\nforged")
    assert r'"a\nforged" is not a name' in _conditions(loaded)["Validated"]["message"]


def test_message_is_one_line() -> None:
    message = _conditions(_broken("a\nforged: True\x1b[2J"))["Validated"]["message"]
    assert r"a\nforged: True\x1b[2J" in message


def test_messages_fit_into_a_condition() -> None:
    after = conditions_of(_broken("x" * 40_000), True, 1, _NOW, None)

    assert max(len(condition["message"]) for condition in after) == 32_768


def test_transition_time_follows_change_of_status(good: Loaded) -> None:
    previous = [
        {"type": "Validated", "status": "True", "reason": "Other", "lastTransitionTime": _THEN},
        {"type": "CRDExists", "status": "False", "lastTransitionTime": _THEN},
    ]
    found = _conditions(good, previous=previous)

    assert found["Validated"]["lastTransitionTime"] == _THEN
    assert found["CRDExists"]["lastTransitionTime"] == found["Ready"]["lastTransitionTime"] == "2026-05-04T03:02:01Z"


def test_conditions_of_others_stay_as_they_are(good: Loaded) -> None:
    other = {"type": "Other", "status": "Unknown"}

    assert conditions_of(good, True, 1, _NOW, [other])[0] is other


@pytest.mark.parametrize("previous", [None, {}, "x", [1, {"status": "True"}]])
def test_status_of_any_shape_is_read(good: Loaded, previous: Any) -> None:
    assert len(conditions_of(good, True, 1, _NOW, previous)) == 3


def test_object_without_generation_has_none_observed(good: Loaded) -> None:
    assert all("observedGeneration" not in condition for condition in conditions_of(good, True, None, _NOW, None))


def test_conditions_differ_in_what_they_say_not_in_when(good: Loaded) -> None:
    later = datetime(2027, 1, 1, tzinfo=UTC)
    said = conditions_of(good, True, 1, _NOW, None)

    assert report_of(said) == report_of(conditions_of(good, True, 1, later, None))
    assert report_of(said) != report_of(conditions_of(good, True, 2, later, None))
    assert report_of(said) != report_of(conditions_of(good, False, 1, later, None))
    assert report_of(None) != report_of(said)
