"""The rule ``once`` of the annotation ``retain``: a list goes out, and is the member's after that."""

from typing import Any

from hypothesis import HealthCheck, assume, given, settings, strategies as st

from karta_interpreter.engine.operations import Call, Operation
from tests.engine.operations.conftest import Define, component, template
from tests.support.both_ways import ask

_NOTE = "example.io/sent"
_ROOT = component("train", ".spec.template", ".spec.replicas // 1")
_NAMES = st.lists(st.sampled_from("abcd"), unique=True)


def _object(names: list[str], annotations: dict[str, str]) -> dict[str, Any]:
    metadata = {"name": "t", **({"annotations": annotations} if annotations else {})}
    spec = {"replicas": 1, "template": template(), **({"gone": names} if names else {})}
    return {"apiVersion": "example.io/v1", "kind": "Train", "metadata": metadata, "spec": spec}


@given(st.lists(_NAMES, min_size=1), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_list_goes_out_once_and_is_the_members_after_that(
    define: Define, templates: list[list[str]], data: st.DataObject
) -> None:
    definition = define(root=_ROOT, retain=f"- {{once: .spec.gone, note: {_NOTE}}}")
    names: list[str] = []
    annotations: dict[str, str] = {}
    sent: list[str] = []
    for wanted in templates:
        for _ in range(2):  # Karmada asks more than once, with the annotations that the member's object has
            assume(wanted == sent or wanted != names)  # what the member has already is not noted
            call = Call(Operation.RETAIN, _object(wanted, annotations), observed=_object(names, annotations))
            retained = ask(definition, call)["retained"]
            kept = retained["spec"].get("gone", [])
            assert kept == (names if wanted == sent else wanted)
            names, annotations = kept, retained["metadata"].get("annotations", {})
            sent = wanted
            # The member's controller takes names off the list.
            names = [name for name in names if data.draw(st.booleans())]
