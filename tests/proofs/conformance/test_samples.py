"""What of the answers about a sample needs a reason."""

import pytest

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.reference_resolver import Known
from tests.catalogue.entries import PATHS, entry_of
from tests.proofs.conformance.samples import outcomes


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
