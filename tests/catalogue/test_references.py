"""What definitions answer while something that they refer to does not exist, as a server finds it."""

from collections.abc import Sequence
from itertools import product

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import applies

_FLOW = GVK("flow.volcano.sh", "v1alpha1", "JobFlow")
_TEMPLATE = GVK("flow.volcano.sh", "v1alpha1", "JobTemplate")


@applies(lambda entry: entry.definition is not None and entry.definition.gvk == _FLOW)
def test_missing_job_template_costs_only_the_count(definition: Definition, cases: Sequence[Case]) -> None:
    case = next(case for case in cases if case.call.operation is Operation.INTERPRET_DEPENDENCY)
    first = Known.of(case.references[:1], complete=[_TEMPLATE])
    found = interpret(definition, case.call, reader=first)["dependencies"]
    everything = interpret(definition, case.call, reader=Known.of(case.references))["dependencies"]
    assert found == everything, "all is needed by the first job, and by the flow itself"
    none = Known.of([], complete=[_TEMPLATE])
    interpret(definition, case.call, reader=none)
    for operation, reader in product((Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT), (first, none)):
        with pytest.raises(InterpretationError, match="a JobTemplate does not exist"):
            interpret(definition, Call(operation, case.call.object), reader=reader)
