"""Numbers of pods that scripts answer, in place of the Karta and without one."""

import pytest

from karta_interpreter import Karta
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.verification import Evidence, Question, Verdict, verify
from karta_interpreter.languages.lua.machine import worker
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.engine.verification.member import deployment, evidence, pod
from tests.support.rows import rows
from tests.support.waiting import HANG

OK, DIFFERS, UNJUDGED = Verdict
_REPLICA, _COMPONENT = Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT
_TWO = evidence(deployment(), pod(1), pod(2))
_ROLLING = evidence(deployment(), pod(1), pod(2), pod(3), scaled="HorizontalPodAutoscaler it")
_OTHER = "the script of mine answers {} with another number"


def _judged(shown: Evidence, operation: Operation, body: str, *, alone: bool) -> list[tuple[Verdict, str]]:
    script = Script(operation, f"function {SLOTS[operation].function}(obj)\n  {body}\nend", "mine")
    own = Karta.for_object(shown.object).definition.overridden(Scripts([script]))
    definition = Definition.of_scripts(GVK.of(shown.object), Scripts([script])) if alone else own
    return [(each.verdict, each.reason) for each in verify(definition, shown) if each.question == Question.COUNTS]


@rows(
    ("shown", "operation", "body", "beside_karta", "alone"),
    [
        pytest.param(_TWO, _REPLICA, "return obj.spec.replicas", (OK, ""), (OK, ""), id="as many as its pods"),
        pytest.param(_TWO, _REPLICA, "return obj.spec.replicas + 1", (DIFFERS, _OTHER.format(_REPLICA)),
            (UNJUDGED, _OTHER.format(_REPLICA)),
            id="another number, and only a Karta tells that no roll-out explains it"),
        pytest.param(_TWO, _COMPONENT, "return {{name = 'a', replicas = 2}, {name = 'b', replicas = 1}}",
            (DIFFERS, _OTHER.format(_COMPONENT)), (UNJUDGED, _OTHER.format(_COMPONENT)),
            id="components with more pods together"),
        pytest.param(_TWO, _COMPONENT, "return {{name = 'a', replicas = 1}, {name = 'b', replicas = 1}}", (OK, ""),
            (OK, ""), id="other components with as many pods together"),
        pytest.param(_TWO, _REPLICA, "return 0", (UNJUDGED, _OTHER.format(_REPLICA)),
            (UNJUDGED, _OTHER.format(_REPLICA)), id="0, with which Karmada divides nothing, as of pods on every node"),
        pytest.param(_ROLLING, _REPLICA, "return 2", (UNJUDGED, "HorizontalPodAutoscaler it scales it"),
            (UNJUDGED, _OTHER.format(_REPLICA)), id="as the Karta answers, while something else explains the pods"),
    ],
)  # fmt: skip
def test_number_of_pods_that_a_script_answers_is_compared(
    shown: Evidence, operation: Operation, body: str, beside_karta: tuple[Verdict, str], alone: tuple[Verdict, str]
) -> None:
    assert _judged(shown, operation, body, alone=False)[0] == beside_karta
    assert _judged(shown, operation, body, alone=True) == [alone]


@pytest.mark.parametrize("alone", [False, True])
@rows(
    ("body", "seconds", "verdict", "reason"),
    [
        pytest.param("while true do end", 0.1, UNJUDGED, "it takes longer than", id="never ends"),
        pytest.param("return obj.spec.missing.count", HANG, DIFFERS, "attempt to index", id="fails"),
    ],
)
def test_script_without_an_answer_is_named(
    body: str, seconds: float, verdict: Verdict, reason: str, monkeypatch: pytest.MonkeyPatch, *, alone: bool
) -> None:
    monkeypatch.setattr(worker, "SECONDS", seconds)
    ((found, why),) = _judged(_TWO, _REPLICA, body, alone=alone)
    assert found is verdict
    assert why.startswith("there is no answer: ")
    assert reason in why
