"""What of the answers about a sample needs a reason, and what a table of reasons has to hold."""

import pytest

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.reference_resolver import Known
from tests.catalogue.entries import PATHS, entry_of
from tests.proofs.conformance.samples import Tally, outcomes, reasons_of


def _task_run(**spec: object) -> Object:
    return {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "x"}, "spec": spec}


@pytest.mark.parametrize(
    ("sample", "needing"),
    [
        pytest.param(_task_run(taskRef={"name": "build"}), [], id="pods, and all is read"),
        pytest.param(
            _task_run(), ["InterpretReplica has no pods", "InterpretComponent has no pods"], id="an object without pods"
        ),
        pytest.param(
            _task_run(taskRef={"name": "build"}, podTemplate={"moreResources": {"limits": {"cpu": "1"}}}),
            ["/spec/podTemplate/moreResources is not read"],
            id="resources that are not read",
        ),
    ],
)
def test_outcomes_of_a_sample_are_what_needs_a_reason(sample: Object, needing: list[str]) -> None:
    (path,) = (path for path in PATHS if path.parent.name == "TaskRun")
    definition = entry_of(path).definition
    assert definition
    assert list(outcomes(definition, sample, Known({}))) == needing


def test_failures_of_a_tally_are_unexplained_outcomes_and_stale_reasons() -> None:
    failures = list(Tally().failures())
    assert any("remove the reason" in each for each in failures)
    assert not reasons_of("TaskRun a.yaml 0: InterpretReplica has no pods")
    assert reasons_of("BroadcastJob kruise/a.yaml 0: InterpretReplica has no pods")
