from pathlib import Path

import pytest
import yaml

from docs.tools.facts import bundled_scripts
from docs.tools.write_known import REASONS, reasons as known_reasons
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from tests.proofs.conformance.catalogue import Pair, complaints
from tests.proofs.conformance.environment import environment_questions
from tests.proofs.conformance.export_reasons import Reason, reasons as export_reasons
from tests.proofs.conformance.known import reasons
from tests.proofs.conformance.reasons import Reasons
from tests.support.rows import rows

_ENTRIES = """
- {reason: no template, when: "lacks(.template, .items[]?.template)", outcomes: ["Job *: 0 pods"]}
- {reason: it is filled in, outcomes: ["Job .spec.tasks[].*", "Set .spec.*"]}
"""


@rows(
    ("outcome", "spec", "reason"),
    [
        pytest.param("Job Replica: 0 pods", {"template": {}}, "no template", id="an empty value is none"),
        pytest.param("Job Replica: 0 pods", {"items": [{}, {"template": 1}]}, None, id="the condition does not hold"),
        pytest.param("Job .spec.tasks[].name", {}, "it is filled in", id="a bracket is a bracket"),
        pytest.param("A Job .spec.tasks[].name", {}, None, id="a pattern is about the whole"),
    ],
)
def test_reason_is_that_of_pattern_and_condition(
    outcome: str, spec: object, reason: str | None, reasons_file: Path
) -> None:
    row = Reasons(reasons_file).of(outcome, spec)
    assert (row.reason if row else None) == reason


@pytest.fixture
def reasons_file(tmp_path: Path) -> Path:
    file = tmp_path / "reasons.yaml"
    file.write_text(_ENTRIES)
    return file


def test_outcome_and_reason_need_each_other(reasons_file: Path) -> None:
    found = Reasons(reasons_file)
    found.count("Job Replica: 0 pods", "long", {})
    found.count("Job Replica: 0 pods", "a longer one", {"template": 1})
    found.count("Job Replica: 0 pods", "short", {"template": 1})
    unexplained, *unused = found.failures({"Job"})
    assert unexplained.startswith("Job Replica: 0 pods, 2 times")
    assert unexplained.endswith("short")
    assert [line.partition(":")[0] for line in unused] == ["Job .spec.tasks[].*"]
    assert len([*found.failures()]) == 3


HEALTH = ("ray.io/v1 RayCluster", "InterpretHealth")
BECAUSE = {HEALTH: "because"}


def test_difference_with_reason_is_not_a_complaint() -> None:
    assert not list(complaints([Pair(*HEALTH, asked=2, different=["x"])], BECAUSE))


def test_difference_needs_a_reason() -> None:
    (complaint,) = complaints([Pair(*HEALTH, asked=2, different=["x"])], {})
    assert "give no reason" in complaint


def test_reason_needs_a_difference() -> None:
    (complaint,) = complaints([Pair(*HEALTH, asked=2)], BECAUSE)
    assert "does not differ any more" in complaint


def test_no_kind_and_operation_has_two_reasons() -> None:
    shared = sum(len(entry["kinds"]) for entry in yaml.safe_load(REASONS.read_text(encoding="utf-8")))
    assert len(known_reasons()) == shared + len([*bundled_scripts()]) > shared > 0


def test_known_differences_are_about_existing_scripts() -> None:
    sources = {question.scripts[0].source for question in environment_questions()}
    assert reasons().keys() <= sources


ASKED = Call(
    Operation.AGGREGATE_STATUS,
    {"kind": "Job", "spec": {"note": None, "list": []}},
    items=(StatusItem("north", {"active": 2**53}),),
)


@rows(
    ("causes", "differs_with", "is_reason"),
    [
        pytest.param(["nulls"], '"note": None', True, id="the difference goes with the nulls"),
        pytest.param(["nulls"], '"list": []', False, id="the difference stays"),
        pytest.param(["empty values"], '"list": []', True, id="empty values of the object"),
        pytest.param(["large numbers"], "9007199254740992", True, id="large numbers of a member's status"),
        pytest.param(["large numbers"], '"active"', False, id="the field stays, and so does the difference"),
        pytest.param(["nulls", "empty values"], '"list": []', True, id="several causes"),
    ],
)
def test_reason_excuses_difference_by_its_causes(causes: list[str], differs_with: str, *, is_reason: bool) -> None:
    def differs(call: Call) -> str:
        seen = f"{call.object} {call.items}".replace("'", '"')
        return "they differ" if differs_with in seen else ""

    assert differs(ASKED)
    assert Reason("because", frozenset(Operation), causes).excuses(ASKED.operation, ASKED, "", differs) is is_reason


def test_values_that_are_not_there_are_no_reason() -> None:
    plain = Call(Operation.INTERPRET_HEALTH, {"kind": "Job"})

    assert not Reason("because", frozenset(Operation), ["nulls"]).excuses(plain.operation, plain, "", lambda _: "")


def test_pattern_excuses_difference_of_its_operations() -> None:
    reason = Reason("because", frozenset({Operation.RETAIN}), pattern="no number")

    assert reason.excuses(Operation.RETAIN, ASKED, "-> no number", str)
    assert not reason.excuses(Operation.RETAIN, ASKED, "-> another", str)
    assert not reason.excuses(Operation.INTERPRET_HEALTH, ASKED, "-> no number", str)


def test_export_reasons_have_causes_or_pattern() -> None:
    assert all(bool(each.causes) != bool(each.pattern) and each.text for each in export_reasons())
