"""What passes and what fails."""

import pytest
import yaml

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.suites import Outcome, run
from karta_interpreter.engine.suites.suite import read_suite
from tests.support.rows import rows

_KARTA = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: brew}
spec:
  structureDefinition:
    rootComponent:
      name: brew
      kind: {group: toys.example.com, version: v1, kind: Brew}
      specDefinition: {podTemplateSpecPath: .spec.template}
      scaleDefinition: {replicasPath: .spec.kettles // 1}
      statusDefinition: {statusMappings: {}}
"""

_CASE = """
name: two kettles
description: Kettles are pods.
desiredObj:
  apiVersion: toys.example.com/v1
  kind: Brew
  spec: {kettles: %s, template: {spec: {containers: [{name: kettle}]}}}
operation: InterpretReplica
output: %s
"""


@pytest.fixture(scope="module")
def brew() -> Definition:
    return load_definition(yaml.safe_load(_KARTA))


def _run(brew: Definition, kettles: str, output: str) -> Outcome:
    (case,) = read_suite(_CASE % (kettles, output), "brew.yaml")
    return run(brew, case)


@rows(
    ("kettles", "output"),
    [
        pytest.param("2", "{replica: 2, requires: null}", id="every result is as expected"),
        pytest.param("2", "{replica: 2}", id="a result that is not mentioned is not looked at, as in Karmada"),
        pytest.param("two", "{error: whole number}", id="the error that was expected"),
    ],
)
def test_passes(brew: Definition, kettles: str, output: str) -> None:
    assert _run(brew, kettles, output).passed


@rows(
    ("kettles", "output", "failure"),
    [
        pytest.param("2", "{replica: 3}", "replica: expected 3, got 2", id="another answer"),
        pytest.param("2", "{error: whole number}",
                     'expected an error with the text "whole number", got replica, requires', id="an answer at all"),
        pytest.param("two", "{error: negative}", 'expected an error with the text "negative", got the error: ',
                     id="another error"),
        pytest.param("two", "{replica: 2}", "error: ", id="an error where an answer was expected"),
        pytest.param("2", "{}", "expects nothing, so that any answer would pass: add output with some of replica",
                     id="an output that would pass whatever the answer is"),
        pytest.param("2", "null", "expects nothing", id="an output without a value, as no output"),
        pytest.param("two", "{}", "error: ", id="an error where nothing was expected"),
    ],
)  # fmt: skip
def test_fails(brew: Definition, kettles: str, output: str, failure: str) -> None:
    outcome = _run(brew, kettles, output)
    assert not outcome.passed
    assert outcome.failures[0].startswith(failure)


@pytest.mark.parametrize("pattern", [".*whole.*number", "^.*whole number", "whole .+"])
def test_pattern_that_would_match_is_called_a_part(brew: Definition, pattern: str) -> None:
    outcome = _run(brew, "two", f"{{error: '{pattern}'}}")
    assert not outcome.passed
    assert outcome.failures[0].endswith("; error is a part of the message, not a pattern")
    assert "pattern" not in _run(brew, "two", "{error: 'negative.*'}").failures[0]


def test_case_brings_referenced_objects() -> None:
    karta = yaml.safe_load(_KARTA)
    structure = karta["spec"]["structureDefinition"]
    structure["rootComponent"]["scaleDefinition"]["replicasPath"] = "$recipe.data.kettles"
    gvk = {"group": "", "version": "v1", "kind": "ConfigMap"}
    structure["references"] = [{"name": "recipe", "gvk": gvk, "lookup": {"nameExpression": '"stout"'}}]
    recipe = "references: [{apiVersion: v1, kind: ConfigMap, metadata: {name: stout}, data: {kettles: '5'}}]"
    known, unknown = read_suite(
        f"{_CASE % ('1', '{replica: 5}')}{recipe}\n---{_CASE % ('1', '{error: stout cannot be looked up}')}"
    )
    definition = load_definition(karta)
    assert run(definition, known).failures == ()
    assert run(definition, unknown).failures == ()


def test_outcome_keeps_the_answer(brew: Definition) -> None:
    assert _run(brew, "2", "{replica: 3}").results == {"replica": 2, "requires": None}
    assert _run(brew, "two", "{replica: 3}").results is None
