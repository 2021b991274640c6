import pytest

from karta_interpreter.webhook.settings import Settings
from tests.support.rows import rows


@pytest.mark.parametrize(
    ("days", "seconds"), [pytest.param(90.0, 10.0, id="three months"), pytest.param(40 / 86_400, 1.0, id="40 seconds")]
)
def test_certificate_with_short_life_is_looked_at_more_often(days: float, seconds: float) -> None:
    assert Settings(certificate_days=days).look_interval == pytest.approx(seconds)


@rows("timeout", [1, 3, 30])
def test_answer_comes_before_karmada_gives_up(timeout: int) -> None:
    assert Settings(webhook_timeout=timeout).call_limit == timeout - 0.5
