import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.doctor.result import Level
from karta_interpreter.webhook.doctor.webhooks import judge_gate
from tests.support.rows import rows
from tests.webhook.doctor.karmada import BREW, JOB, RAY, hooks, lua, rule

COMPONENT, REVISE = ("InterpretComponent",), ("ReviseReplica",)
RAY_SERVICE = GVK("ray.io", "v1", "RayService")


@rows(
    ("gvk", "operations", "level"),
    [
        pytest.param(BREW, (*COMPONENT, *REVISE), Level.PROBLEM, id="both ours"),
        pytest.param(BREW, ("*",), Level.PROBLEM, id="both ours by a star"),
        pytest.param(BREW, COMPONENT, Level.OK, id="components of a kind that nobody else knows"),
        pytest.param(BREW, REVISE, Level.OK, id="replicas of a kind that nobody else knows"),
        pytest.param(RAY, REVISE, Level.WARNING, id="Karmada's script answers components"),
        pytest.param(RAY, COMPONENT, Level.OK, id="Karmada's script does not revise it"),
        pytest.param(RAY_SERVICE, COMPONENT, Level.WARNING, id="Karmada's script revises it"),
        pytest.param(JOB, COMPONENT, Level.WARNING, id="Karmada's own code revises it"),
        pytest.param(JOB, ("InterpretReplica", *REVISE), Level.OK, id="as registered with the gate off"),
    ],
)
def test_components_and_revision_do_not_go_together(gvk: GVK, operations: tuple[str, ...], level: Level) -> None:
    (result,) = judge_gate(hooks(rule(gvk, operations)), (), ())

    assert result.level is level


def test_webhooks_of_ours_are_one_registration() -> None:
    (result,) = judge_gate(hooks(rule(BREW, COMPONENT), rule(BREW, REVISE)), (), ())

    assert result.level is Level.PROBLEM


def test_others_close_the_trap_as_well() -> None:
    ours, theirs = hooks(rule(BREW, COMPONENT)), hooks(rule(BREW, REVISE), name="other")

    (by_webhook,) = judge_gate(ours, theirs, ())
    (by_script,) = judge_gate(ours, (), [lua(BREW, Operation.REVISE_REPLICA)])

    assert "other/hook0.karta-interpreter.io" in by_webhook.found
    assert "ResourceInterpreterCustomization ours-first" in by_script.found
    assert by_webhook.level is by_script.level is Level.WARNING


def test_kinds_with_the_same_finding_are_one_result() -> None:
    # With the gate off, as it is by default, several kinds of the catalogue have it.
    kinds = RAY, GVK("ray.io", "v1", "RayJob"), GVK("kubeflow.org", "v1", "PyTorchJob")
    trapped = rule(BREW, (*COMPONENT, *REVISE))

    first, second = judge_gate(hooks(*(rule(gvk, REVISE) for gvk in kinds), trapped), (), ())

    named = "; ".join(sorted(map(str, kinds)))
    assert (first.level, first.found) == (
        Level.WARNING,
        f"{named}: we answer ReviseReplica, and Karmada itself InterpretComponent",
    )
    assert (second.level, second.found.partition(": ")[0]) == (Level.PROBLEM, str(BREW))
