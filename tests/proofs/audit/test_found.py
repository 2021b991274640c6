import pytest

from tests.proofs.audit.__main__ import ATTACKS
from tests.proofs.audit.attack import LOST, kind_of
from tests.proofs.audit.bounds import BOUNDS, EVERYWHERE, bounds_of
from tests.proofs.audit.found import Bound, Found, Waits, objections
from tests.proofs.audit.table import row
from tests.support.rows import rows
from tests.webhook.process.client import Answer

QUIET, BUSY = Waits(100, 0, 0.001, 0.002), Waits(100, 0, 0.1, 0.4)


@pytest.mark.parametrize(
    ("attacked", "control", "ratio"),
    [
        pytest.param(Waits(9, 0, 0.1, 0.1), QUIET, 3.0, id="an idle control counts as 33 ms"),
        pytest.param(Waits(9, 0, 0.4, 0.8), BUSY, 2.0, id="a busy machine delays the control, too"),
    ],
)
def test_wait_is_ratio_of_percentiles(attacked: Waits, control: Waits, ratio: float) -> None:
    assert attacked.over(control) == pytest.approx(ratio)


def test_percentile_omits_one_in_a_hundred() -> None:
    assert Waits.of([1.0] * 995 + [9.0] * 5, 0).p99 == 1.0
    assert Waits.of([1.0] * 980 + [9.0] * 20, 0).p99 == 9.0
    assert Waits.of([], 3) == Waits(0, 3, 0.0, 0.0)


def test_missed_bound_is_named_with_its_reason() -> None:
    found = Found(1, {}, {"a": 2.0, "b": 1.0})
    bounds = Bound("a", 1, "first"), Bound("b", 1, "second"), Bound("c", 1, "third")
    assert objections(found, bounds) == ["a is 2, at most 1: first", "c was not measured: third"]


def test_bounds_name_attacks_and_every_attack_has_those_of_all() -> None:
    assert set(BOUNDS) <= set(ATTACKS)
    for name in ATTACKS:
        assert {bound.figure for bound in bounds_of(name)} >= EVERYWHERE.keys()


@rows(
    ("answer", "kind"),
    [
        pytest.param(None, LOST, id="no answer"),
        pytest.param(Answer(413, {}, b"{}"), "HTTP 413", id="an HTTP error"),
        pytest.param(Answer(200, {}, b"ok\n"), "HTTP 200", id="health"),
        pytest.param(Answer(200, {}, b'{"response":{"successful":true}}'), "answered", id="an answer"),
        pytest.param(
            Answer(200, {}, b'{"response":{"successful":false,"status":{"code":422}}}'), "code 422", id="a failure"
        ),
        pytest.param(Answer(200, {}, b'{"response":{"allowed":true}}'), "allowed", id="a review"),
        pytest.param(Answer(200, {}, b'{"response":{"allowed":false}}'), "denied", id="a review with findings"),
    ],
)
def test_answers_are_counted_by_kind(answer: Answer | None, kind: str) -> None:
    assert kind_of(answer) == kind


def test_table_row_shows_attack() -> None:
    answers = {f"code {number}": number for number in range(400, 408)}
    waits = {"call": (BUSY, QUIET), "health": (Waits(3, 2, 0.1, 5.0), QUIET)}
    cells = row("idle", Found(1200, answers), waits, 81.7, 2)
    assert cells[0:2] == ["idle", "1,200"]
    assert cells[2].startswith("code 407 407, code 406 406")
    assert cells[2].endswith("other 801")
    assert cells[3:] == ["400 / 2", "5000 / 2", "2", "82", "2 bounds missed"]
    assert row("slow", Found(1, {}), {}, 1.0, 0)[-1] == "ok"
