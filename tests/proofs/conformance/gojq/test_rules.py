"""The rules of Karta's library, by jq in place of gojq: the cases are those that its documentation describes."""

from collections.abc import Sequence
from typing import Any, cast

import jq
import pytest

from karta_interpreter import Karta
from karta_interpreter.base.k8s.values import JSON
from tests.proofs.conformance.gojq import rules
from tests.proofs.conformance.gojq.asking import FAILED, Answer, Ask, answer
from tests.proofs.conformance.gojq.peer import Gojq, Outcome
from tests.proofs.conformance.gojq.readings import Reading
from tests.support.rows import rows


class Jq:
    """jq where gojq belongs; the texts are those of values that Go and Python write alike."""

    def run(self, programs: Sequence[str], value: JSON) -> list[Outcome]:
        return [self._run(program, value) for program in programs]

    def _run(self, program: str, value: JSON) -> Outcome:
        try:
            outputs = jq.compile(program).input_value(value).all()
        except ValueError as error:
            return Outcome(None, error=str(error))
        return Outcome(outputs, [str(each) for each in outputs])


def asking(value: JSON, *readings: Reading) -> Ask:
    return Ask(cast("Gojq", Jq()), value, frozenset(readings))


def toy(**root: Any) -> Karta:
    status: dict[str, Any] = {"statusMappings": {}}
    kind = {"group": "toys.example.com", "version": "v1", "kind": "Toy"}
    component = {"name": "toy", "kind": kind, "statusDefinition": status, **root}
    spec = {"structureDefinition": {"rootComponent": component}}
    return Karta.load({"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "toy"}, "spec": spec})


def scales(value: JSON, *readings: Reading, **paths: str) -> Answer:
    pods = {"podTemplateSpecPath": ".pods[]"}
    karta = toy(
        specDefinition=pods,
        scaleDefinition=paths,
        instanceIdPath=".ids[]",
        podSelector={"componentInstanceSelector": {"idPath": ".metadata.name"}},
    )
    return answer(lambda: rules.scales(asking(value, *readings), karta.definition.root))


@rows(
    ("counts", "expected"),
    [
        pytest.param([1, "+2"], {"a": [1, None, None], "b": [2, None, None]}, id="C11 numbers and numeric strings"),
        pytest.param([None, 3.0], {"a": [None, None, None], "b": [3, None, None]}, id="C11 null is not a count"),
        pytest.param([1, "2.5"], FAILED, id="C11 a fraction in a string"),
        pytest.param([1, 2.5], FAILED, id="C11 a fraction"),
        pytest.param([1, 2**31], FAILED, id="more than 32 bits"),
        pytest.param([1, True], FAILED, id="a boolean"),
        pytest.param([1], FAILED, id="C9 fewer values than instances"),
        pytest.param([1, 2, 3], FAILED, id="C9 more values than instances"),
    ],
)
def test_counts(counts: JSON, expected: JSON) -> None:
    assert scales({"ids": ["a", "b"], "n": counts}, replicasPath=".n[]") == expected


def test_short_lists_are_filled_up_at_their_end() -> None:
    value = {"ids": ["a", "b"], "n": [1, 2], "least": [1]}
    paths = {"replicasPath": ".n[]", "minReplicasPath": ".least[]"}
    assert scales(value, **paths) == {"a": [1, 1, None], "b": [2, None, None]}
    assert scales(value, Reading.UNFILLED, **paths) == FAILED


def test_c15_an_empty_id_is_an_error_and_a_second_one_wins() -> None:
    assert scales({"ids": ["a", ""], "n": [1, 2]}, replicasPath=".n[]") == FAILED
    assert scales({"ids": ["a", "a"], "n": [1, 2]}, replicasPath=".n[]") == {"a": [2, None, None]}
    assert scales({"ids": ["a", "a"], "n": [1, 2]}, Reading.REPEATED, replicasPath=".n[]") == FAILED


@rows(
    ("mappings", "value", "expected"),
    [
        pytest.param(
            {"degraded": [{"byPhase": "Up"}], "running": [{"byPhase": "Up"}]},
            {"phase": "Up"},
            ["Up", [], ["Running", "Degraded"]],
            id="C1 all that match, in upstream's order",
        ),
        pytest.param({"running": [{"byPhase": "Up"}]}, {"phase": "Down"}, ["Down", [], ["Undefined"]], id="C2 none"),
        pytest.param({"failed": [{}]}, {}, ["", [], ["Failed"]], id="C3 an empty matcher, C4 a phase that is null"),
        pytest.param(
            {"running": [{"byConditions": [{"type": "Ready", "status": "True"}]}]},
            {"conditions": [{"type": "Ready", "status": True}]},
            ["", [["Ready", None, None, None]], ["Undefined"]],
            id="C5 a boolean is not a status",
        ),
        pytest.param(
            {"running": [{"byConditions": [{"type": "Ready", "status": "True"}]}]},
            {"conditions": [None, {"type": "Ready", "status": "True"}]},
            ["", [[None, None, None, None], ["Ready", "True", None, None]], ["Running"]],
            id="a null is a condition without type",
        ),
        pytest.param(
            {"running": [{"byExpression": {"expression": ".n, 1", "expectedResult": "null"}}]},
            {},
            ["", [], ["Running"]],
            id="C6 null as text, and the first output alone",
        ),
        pytest.param(
            {"running": [{"byExpression": {"expression": ".phase | error", "expectedResult": "x"}}]},
            {"phase": "Up"},
            FAILED,
            id="C6 an error",
        ),
        pytest.param({"running": [{"byPhase": "Up"}]}, {"phase": 3}, FAILED, id="a phase that is not a text"),
    ],
)
def test_statuses(mappings: Any, value: JSON, expected: JSON) -> None:
    status = {
        "phaseDefinition": {"path": ".phase"},
        "conditionsDefinition": {"path": ".conditions"},
        "statusMappings": mappings,
    }
    definition = toy(statusDefinition=status).definition
    assert answer(lambda: rules.status(asking(value), definition)) == expected


def test_c20_actions_are_applied_one_after_the_other() -> None:
    (suspend, resume) = (
        [{"path": ".on", "value": "false"}, {"path": ".a // .b", "value": "2"}],
        [{"path": ".on", "value": "null"}],
    )
    root = toy(suspendDefinition={"suspendActions": suspend, "resumeActions": resume}).definition.root
    ask = asking({"b": 1})
    assert rules.acted(ask, root.suspend) == {"on": False, "b": 2}
    assert rules.acted(ask, root.resume) == {"on": None, "b": 1}
