import pytest

from tests.proofs.conformance.agreement import agree
from tests.proofs.conformance.question import Outcome

HEALTHY = Outcome({"healthy": True})
PAIR = [{"name": "b", "replicas": 1}, {"name": "a", "replicas": 2}]

AGREE: dict[str, tuple[Outcome, Outcome]] = {
    "the same results": (HEALTHY, Outcome({"healthy": True})),
    "components in another order": (Outcome({"components": PAIR}), Outcome({"components": PAIR[::-1]})),
    "texts of the runtime may differ": (
        Outcome(None, "attempt to index a nil value"),
        Outcome(None, "<string>:2: attempt to index a non-table object(nil) with key 'x'"),
    ),
    "texts that users see are in both": (
        Outcome(None, "LuaRunError: not found function GetReplicas"),
        Outcome(None, "not found function GetReplicas"),
    ),
}

DISAGREE: dict[str, tuple[Outcome, Outcome]] = {
    "other results": (HEALTHY, Outcome({"healthy": False})),
    "an order that is not an accident": (Outcome({"status": {"a": [1, 2]}}), Outcome({"status": {"a": [2, 1]}})),
    "an amount written in another way": (Outcome({"requires": {"cpu": "1"}}), Outcome({"requires": {"cpu": "1000m"}})),
    "an error on one side": (Outcome(None, "not found function X"), HEALTHY),
    "an error on the other": (HEALTHY, Outcome(None, "not found function X")),
    "a defect": (Outcome(None, "IndexError", defect=True), Outcome(None, "<string>:1: stack overflow")),
    "another function is missing": (
        Outcome(None, "not found function Retain"),
        Outcome(None, "not found function GetReplicas"),
    ),
    "another type in a text that users see": (
        Outcome(None, "result type 3 is not bool"),
        Outcome(None, "result type 0 is not bool"),
    ),
}


@pytest.mark.parametrize(("ours", "theirs"), AGREE.values(), ids=AGREE)
def test_agree(ours: Outcome, theirs: Outcome) -> None:
    assert agree(ours, theirs)


@pytest.mark.parametrize(("ours", "theirs"), DISAGREE.values(), ids=DISAGREE)
def test_disagree(ours: Outcome, theirs: Outcome) -> None:
    assert not agree(ours, theirs)
