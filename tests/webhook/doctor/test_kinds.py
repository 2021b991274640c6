from collections.abc import Mapping

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.doctor.kinds import ServedVersions, judge_kinds, served
from karta_interpreter.webhook.doctor.result import Level
from tests.support.rows import rows
from tests.webhook.doctor.karmada import BREW, JOB, Raw, resources

HEALTH, AGGREGATE = (Operation.INTERPRET_HEALTH,), (Operation.AGGREGATE_STATUS,)


@rows(
    ("found", "expected"),
    [
        pytest.param({}, ServedVersions((), status=False), id="no such group"),
        pytest.param({"v1": resources("Tea")}, ServedVersions((), status=False), id="no such kind"),
        pytest.param({"v1": resources("Brew", "Tea")}, ServedVersions(("v1",), status=True), id="served"),
        pytest.param(
            {"v1": resources("Brew", status=False)}, ServedVersions(("v1",), status=False), id="without status"
        ),
        pytest.param({"v2": resources("Brew")}, ServedVersions(("v2",), status=False), id="in another version"),
        pytest.param(
            {"v1": {"resources": [{"name": "brews", "kind": "Brew"}, {"name": "teas/status", "kind": "Brew"}]}},
            ServedVersions(("v1",), status=False),
            id="the status of another resource",
        ),
        pytest.param({"v1": {"resources": []}}, ServedVersions((), status=False), id="an empty list"),
    ],
)
def test_discovery(found: Mapping[str, Raw], expected: ServedVersions) -> None:
    assert served(BREW, {version: each["resources"] for version, each in found.items()}) == expected


@rows(
    ("operations", "how", "level", "found"),
    [
        pytest.param(AGGREGATE, ServedVersions(("v1",)), Level.OK, "serves 1 of 1", id="served with status"),
        pytest.param(HEALTH, ServedVersions(("v1",), status=False), Level.OK, "serves 1 of 1",
            id="no operation writes the status"),
        pytest.param(HEALTH, ServedVersions(), Level.WARNING, "not installed", id="no CRD"),
        pytest.param(AGGREGATE, ServedVersions(("v2",)), Level.WARNING, "not serve v1, only v2", id="another version"),
    ],
)  # fmt: skip
def test_kind_is_judged_by_served_versions(
    operations: tuple[Operation, ...], how: ServedVersions, level: Level, found: str
) -> None:
    (result,) = judge_kinds({BREW: operations}, {BREW: how})

    assert result.level is level
    assert found in result.found


def test_unwritable_status_is_a_problem() -> None:
    bad, rest = judge_kinds({BREW: AGGREGATE}, {BREW: ServedVersions(("v1",), status=False)})

    assert bad.level is Level.PROBLEM
    assert "without AggregateStatus" in bad.advice
    assert rest.level is Level.OK


def test_missing_kinds_are_one_result() -> None:
    kinds = {BREW: HEALTH, GVK("a", "v1", "A"): HEALTH, JOB: HEALTH}

    missing, present = judge_kinds(kinds, {gvk: ServedVersions(("v1",) if gvk == JOB else ()) for gvk in kinds})

    assert str(BREW) in missing.found
    assert "a/v1, Kind=A" in missing.found
    assert "serves 1 of 3" in present.found
