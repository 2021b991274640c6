from karta_interpreter.languages.lua.script import Script
from tests.proofs.conformance.question import Question
from tests.proofs.conformance.shrinking import shrink

SCRIPT = Script("InterpretHealth", "", "")


def test_only_what_matters_is_left() -> None:
    thing = {"kind": "Job", "metadata": {"name": "a"}, "spec": {"list": [{"x": 1}, {"y": None, "z": 2}], "n": 3}}
    question = Question((SCRIPT,), thing, observed={"kind": "Job"}, items=({"clusterName": "a"}, {"clusterName": "b"}))
    smallest = shrink(
        question, lambda smaller: any("y" in part for part in smaller.object.get("spec", {}).get("list", ()))
    )
    assert smallest.object == {"spec": {"list": [{"y": None}]}}
    assert smallest.observed == {}
    assert smallest.items == ()


def test_question_that_matters_as_a_whole_is_not_shrunk() -> None:
    question = Question((SCRIPT,), {"kind": "Job", "spec": {"n": 1}})
    assert shrink(question, lambda smaller: smaller == question) == question
