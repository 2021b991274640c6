from datetime import UTC, datetime, timedelta

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.doctor.webhooks import judge_registration, judge_rules, judge_timeouts, judge_writers
from tests.support.rows import rows
from tests.webhook.doctor.karmada import BREW, JOB, hooks, rule


def test_doctor_counts_registered_webhooks() -> None:
    (result,) = judge_registration("karta-interpreter", hooks(rule(JOB, ("Retain",)), rule(BREW)), ())

    assert result.level is Level.OK
    assert "5 operations of 2 kinds: batch/v1, Kind=Job; toys.example.com/v1, Kind=Brew" in result.found


def test_doctor_without_a_registration_names_what_there_is() -> None:
    (result,) = judge_registration("karta-interpreter", (), hooks(rule(JOB), name="other"))

    assert result.level is Level.PROBLEM
    assert "--name: there is other" in result.advice
    assert "--register" in result.advice


@rows(
    ("writes", "seconds", "fights"),
    [
        pytest.param(40, 20, True, id="often, and a moment ago"),
        pytest.param(40, 600, False, id="often, and not lately"),
        pytest.param(2, 20, False, id="after the installation"),
    ],
)
def test_doctor_recognizes_two_installations_of_one_name(writes: int, seconds: int, *, fights: bool) -> None:
    now = datetime.now(UTC)
    entry = {"time": f"{now - timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}", "fieldsV1": {"f:webhooks": {}}}
    results = list(judge_writers({"metadata": {"generation": writes, "managedFields": [entry]}}, now))

    assert [result.level for result in results] == [Level.WARNING] * fights
    assert all("registration.name" in result.advice for result in results)


def test_doctor_finds_no_writers_of_what_is_not_there() -> None:
    assert list(judge_writers(None, datetime.now(UTC))) == []


@rows(
    ("timeout", "level"),
    [
        pytest.param(None, Level.WARNING, id="unset is 30 s"),
        pytest.param(11, Level.WARNING, id="long"),
        pytest.param(10, Level.OK, id="just short enough"),
        pytest.param(3, Level.OK, id="as we register it"),
    ],
)
def test_how_long_karmada_waits(timeout: int | None, level: Level) -> None:
    (result,) = judge_timeouts(hooks(rule(JOB), timeout=timeout))

    assert result.level is level


def test_without_webhooks_nobody_waits() -> None:
    assert list(judge_timeouts(())) == []


@rows(
    ("gvk", "operations", "found"),
    [
        pytest.param(JOB, ("Retain",), "", id="all named"),
        pytest.param(JOB, ("*",), "rules with *", id="any operation"),
        pytest.param(GVK("batch", "*", "Job"), ("Retain",), "rules with *", id="any version"),
        pytest.param(GVK("*", "*", "*"), ("Retain",), "rules with *", id="anything at all"),
        pytest.param(JOB, ("Prune", "Retain"), "Karmada has no operation Prune", id="an unknown operation"),
    ],
)
def test_rules_name_what_they_are_about(gvk: GVK, operations: tuple[str, ...], found: str) -> None:
    results = list(judge_rules(hooks(rule(gvk, operations))))

    assert [result.level for result in results] == ([Level.WARNING] if found else [])
    assert all(found in result.found for result in results)
