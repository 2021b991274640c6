import pytest

from karta_interpreter.engine.registered.interpreters import Client, Service
from karta_interpreter.webhook.doctor.kinds import judge_clusters, judge_coverage, judge_kartas, read_stored
from karta_interpreter.webhook.doctor.result import Level
from tests.support.rows import rows
from tests.webhook.doctor.karmada import BREW, JOB, Raw, karta

READY = {"Validated": ("True", ""), "CRDExists": ("True", ""), "Ready": ("True", "")}
INVALID = {"Validated": ("False", "a: b\nc: d"), "Ready": ("False", "both must be True")}
HOMELESS = {"Validated": ("True", ""), "CRDExists": ("False", "no CRD"), "Ready": ("False", "both must be True")}


@rows(
    ("conditions", "level", "found"),
    [
        pytest.param(READY, Level.OK, "1 of 1 is ready", id="ready"),
        pytest.param(INVALID, Level.PROBLEM, "brew is not valid: a: b c: d", id="invalid"),
        pytest.param(HOMELESS, Level.WARNING, "brew is not ready: no CRD", id="without CRD"),
        pytest.param({"Ready": ("False", "who knows")}, Level.WARNING, "not ready: who knows", id="for another reason"),
        pytest.param({}, Level.WARNING, "no server has checked brew", id="checked by no server"),
    ],
)
def test_conditions(conditions: dict[str, tuple[str, str]], level: Level, found: str) -> None:
    (result,) = judge_kartas([read_stored(karta("brew", BREW, **conditions))])

    assert result.level is level
    assert found in result.found


def test_missing_crd_is_named() -> None:
    (result,) = judge_kartas([], can_be_listed=False)

    assert (result.level, "is their CRD installed?" in result.found) == (Level.OK, True)


@rows("strange", [{}, {"status": None}, {"status": {"conditions": [1]}}, {"metadata": {"name": 7}}])
def test_objects_without_status(strange: Raw) -> None:
    assert read_stored(strange).conditions == {}


def test_unregistered_definition_is_a_warning() -> None:
    kartas = [read_stored(karta("brew", BREW, **READY)), read_stored(karta("job", JOB))]

    (result,) = judge_coverage(kartas, [JOB])

    assert result.level is Level.WARNING
    assert "brew (toys.example.com/v1, Kind=Brew)" in result.found
    assert list(judge_coverage(kartas, [JOB, BREW])) == []


def test_unready_definition_need_not_be_registered() -> None:
    assert list(judge_coverage([read_stored(karta("brew", BREW, **HOMELESS))], [])) == []


def test_several_definitions_of_kind_are_a_problem() -> None:
    twins = [read_stored(karta(name, BREW, **READY)) for name in ("one", "two")]

    (result,) = judge_coverage(twins, [BREW])

    assert result.level is Level.PROBLEM
    assert "one, two" in result.found


def test_second_definition_of_another_version_is_a_problem() -> None:
    both = karta("both", BREW, **READY)
    both["metadata"]["annotations"] = {"karta-interpreter.io/other-versions": "v2"}
    old = karta("old", BREW._replace(version="v2"), **READY)

    (result,) = judge_coverage([read_stored(both), read_stored(old)], [BREW, BREW._replace(version="v2")])

    assert result.level is Level.PROBLEM
    assert "toys.example.com/v2, Kind=Brew has several definitions: both, old" in result.found


@rows(
    ("modes", "client", "level", "advice"),
    [
        pytest.param(["Push", None], Client("https://a.test/"), Level.OK, "", id="Karmada calls"),
        pytest.param(
            ["Push", "Pull"], Client("https://a.test/"), Level.WARNING, "reach the address", id="an agent calls"
        ),
        pytest.param(
            ["Pull"], Client("", Service("n", "s")), Level.WARNING, "register a URL", id="it cannot use a Service"
        ),
    ],
)
def test_sync_mode_of_clusters_must_fit_client(
    modes: list[str | None], client: Client, level: Level, advice: str
) -> None:
    clusters = [
        {"metadata": {"name": f"member{number}"}, "spec": {"syncMode": mode}} for number, mode in enumerate(modes)
    ]

    (result,) = judge_clusters(clusters, [client])

    assert result.level is level
    assert advice in result.advice
    assert ("member1" in result.found) is (modes[1:] == ["Pull"])
