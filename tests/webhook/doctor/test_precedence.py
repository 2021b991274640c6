from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.registered.interpreters import Customization
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.doctor.webhooks import judge_counts, judge_precedence
from tests.support.rows import rows
from tests.webhook.doctor.karmada import BREW, JOB, Raw, hooks, lua, rule

OURS = hooks(rule(JOB, ("Retain", "InterpretHealth")))
ANYTHING = rule(GVK("*", "*", "*"), ("*",))


@rows(
    ("name", "written", "level", "found"),
    [
        pytest.param("a", rule(JOB, ("Retain",)), Level.PROBLEM,
            "a comes before ours in the order of names, and is asked instead of us: batch/v1, Kind=Job (Retain)",
            id="earlier: theirs wins"),
        pytest.param("a", ANYTHING, Level.PROBLEM, "asked instead of us: batch/v1, Kind=Job (Retain, InterpretHealth)",
            id="earlier, for anything"),
        pytest.param("z", rule(JOB, ("Retain",)), Level.WARNING,
            "z comes after ours in the order of names, and is never asked: batch/v1, Kind=Job (Retain)",
            id="later: ours wins"),
        pytest.param("a", rule(JOB, ("ReviseReplica",)), Level.OK, "", id="another operation"),
        pytest.param("a", rule(BREW, ("Retain",)), Level.OK, "", id="another kind"),
    ],
)  # fmt: skip
def test_first_webhook_by_name_is_asked(name: str, written: Raw, level: Level, found: str) -> None:
    (result,) = judge_precedence(OURS, hooks(written, name=name), ())

    assert result.level is level
    assert found in result.found


def test_left_registration_is_one_result() -> None:
    written = rule(JOB, ("Retain",)), rule(BREW, ("Retain",))

    (result,) = judge_precedence(hooks(*written), hooks(*written, name="z"), ())

    assert "Kind=Job (Retain); " in result.found
    assert "delete z if it is left of another installation" in result.advice


@rows(
    ("gvk", "operation", "level"),
    [
        pytest.param(JOB, Operation.RETAIN, Level.WARNING, id="same kind and operation"),
        pytest.param(JOB, Operation.REVISE_REPLICA, Level.OK, id="another operation"),
        pytest.param(GVK("batch", "v1beta1", "Job"), Operation.RETAIN, Level.OK, id="another version"),
    ],
)
def test_scripts_come_before_webhooks(gvk: GVK, operation: Operation, level: Level) -> None:
    (result,) = judge_precedence(OURS, (), [lua(gvk, operation)])

    assert result.level is level
    assert ("ours-first" in result.found) is (level is Level.WARNING)


_COUNT, _REVISE = Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA


@rows(
    ("gvk", "ours", "theirs", "level", "found"),
    [
        pytest.param(BREW, (_COUNT,), [lua(BREW, _COUNT)], Level.WARNING,
            "ReviseReplica is not registered, so Karmada sends the whole workload to each member", id="nobody divides"),
        pytest.param(BREW, (_REVISE,), [lua(BREW, _REVISE)], Level.WARNING, "InterpretReplica is not registered",
            id="nobody counts"),
        pytest.param(JOB, (_COUNT,), [lua(JOB, _COUNT)], Level.WARNING, "so Karmada's own ReviseReplica is asked",
            id="Karmada divides"),
        pytest.param(BREW, (_COUNT, _REVISE), [lua(BREW, _COUNT)], Level.OK, "both count alike", id="compared"),
        pytest.param(BREW, (_COUNT, _REVISE), [replace(lua(BREW, _COUNT), agrees=True)], Level.OK,
            "as its annotation says", id="its author says that it counts pods"),
        pytest.param(BREW, (_COUNT, _REVISE), [replace(lua(BREW, _COUNT), agrees=False)], Level.PROBLEM,
            "ReviseReplica is registered, although its annotation", id="its author says that it does not"),
        pytest.param(BREW, (_COUNT,), [], Level.OK, "counted, and sent whole to each member: ",
            id="a kind that is never divided"),
    ],
)  # fmt: skip
def test_one_interpreter_counts_and_divides(
    gvk: GVK, ours: Sequence[Operation], theirs: Sequence[Customization], level: Level, found: str
) -> None:
    (result,) = judge_counts(hooks(rule(gvk, tuple(ours))), (), theirs)

    assert result.level is level
    assert found in result.found


@rows("theirs", [pytest.param([], id="nobody else"), pytest.param([lua(BREW, _COUNT, _REVISE)], id="both halves")])
def test_pair_of_one_interpreter_is_no_result(theirs: Sequence[Customization]) -> None:
    assert [*judge_counts(hooks(rule(BREW, (_COUNT, _REVISE))), (), theirs)] == []
