import pytest

from karta_interpreter.definitions.sources.token_life import TokenLife
from karta_interpreter.webhook.doctor import token
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.doctor.token import judge_token

DAY = 86_400.0
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("life", "now", "level"),
    [
        pytest.param(YEAR, 0, Level.OK, id="new"),
        pytest.param(YEAR, YEAR - 20 * DAY, Level.WARNING, id="20 days"),
        pytest.param(YEAR, YEAR - 6 * DAY, Level.PROBLEM, id="6 days"),
        pytest.param(20 * DAY, 14 * DAY, Level.WARNING, id="a third of 20 days"),
        pytest.param(20 * DAY, 18.5 * DAY, Level.PROBLEM, id="a tenth of 20 days"),
    ],
)
def test_end_of_token_is_judged_by_days_and_by_life(life: float, now: float, level: Level) -> None:
    (result,) = judge_token(TokenLife(0, life), now)
    assert result.level == level
    assert result.found == f"the token of the kubeconfig ends at {TokenLife(0, life)}"
    assert bool(result.advice) is (level != Level.OK)


@pytest.mark.parametrize(("is_in_pod", "levels"), [(True, [Level.WARNING]), (False, [])])
def test_token_without_an_end_is_a_warning_in_a_pod(
    is_in_pod: bool, levels: list[Level], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token, "IS_IN_POD", is_in_pod)
    assert [result.level for result in judge_token(TokenLife(0, float("inf")), 0)] == levels


def test_other_credentials_are_not_judged() -> None:
    assert [*judge_token(None, 0)] == []
