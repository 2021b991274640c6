"""A definition with a unit: units are counted, charged and written instead of pods."""

from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError, LuaRunError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.engine.operations.conftest import Define, component, template
from tests.support.rows import rows
from tests.support.scripts import answer


def _train(
    define: Define, unit: str = ".spec.trains // 1", worker: str = "(.spec.trains // 1) * .spec.cars"
) -> Definition:
    return define(
        component("engine", ".spec.engine", ".spec.trains // 1"), component("car", ".spec.car", worker), unit=unit
    )


def _requesting(**requests: str) -> Any:
    return template(resources={"requests": requests})


def _object(**spec: Any) -> Any:
    pods = {"engine": _requesting(cpu="1"), "car": _requesting(cpu="2", memory="1Gi")}
    return {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": {"name": "t", "namespace": "rail"},
        "spec": {"cars": 3, **pods, **spec},
    }


def _asked(definition: Definition, call: Call) -> Any:
    """Return what a definition and its script agree about. None for an error of both."""
    script = Script(call.operation, script_of(definition, call.operation), "train")
    arguments: Any = {} if call.replicas is None else {"replicas": call.replicas}
    try:
        expected = interpret(definition, call)
    except InterpretationError:
        with pytest.raises(LuaRunError):
            answer([script], object=call.object, **arguments)
        return None
    assert answer([script], object=call.object, **arguments) == expected
    return expected


@rows(
    ("spec", "expected"),
    [
        pytest.param({"trains": 5}, (5, {"cpu": "7", "memory": "3Gi"}), id="the sum of the pods of one"),
        pytest.param({}, (1, {"cpu": "7", "memory": "3Gi"}), id="by default one"),
        pytest.param({"trains": 0}, (0, {"cpu": "7", "memory": "3Gi"}), id="none, of which one would need as much"),
        pytest.param({"trains": 2, "cars": 0}, (2, {"cpu": "1"}), id="without pods of a kind"),
        pytest.param({"trains": 2, "cars": 1000}, (2, {"cpu": "2001", "memory": "1000Gi"}), id="with many"),
        pytest.param({"trains": -1}, None, id="less than none"),
    ],
)
def test_units_are_counted_with_requests_of_all_their_pods(define: Define, spec: Any, expected: Any) -> None:
    found = _asked(_train(define), Call(Operation.INTERPRET_REPLICA, _object(**spec)))
    assert (found and (found["replica"], found["requires"]["resourceRequest"])) == expected


def test_pods_that_the_units_do_not_multiply_are_an_error(define: Define) -> None:
    definition = _train(define, worker=".spec.trains + 1")
    with pytest.raises(InterpretationError, match=r"gives 3, which does not divide the 4 pods of car"):
        interpret(definition, Call(Operation.INTERPRET_REPLICA, _object(trains=3)))


@rows(
    ("trains", "share", "expected"),
    [
        pytest.param(5, 3, 3, id="a share"),
        pytest.param(5, 5, 5, id="the whole"),
        pytest.param(None, 1, None, id="a default that is no count of Karmada's is not written"),
        pytest.param(5, 6, "more", id="more than the whole"),
        pytest.param(5, 13, "more", id="a share in pods"),
        pytest.param(0, 1, "more", id="one of none"),
    ],
)
def test_share_is_written_to_the_unit(define: Define, trains: int | None, share: int, expected: Any) -> None:
    obj = _object() if trains is None else _object(trains=trains)
    found = _asked(_train(define), Call(Operation.REVISE_REPLICA, obj, replicas=share))
    assert (found["revised"]["spec"].get("trains") if found else "more") == expected


def test_refusal_names_field_and_number(define: Define) -> None:
    with pytest.raises(InterpretationError, match=r"annotation unit .*\.spec\.trains // 1.* the object has 5 units"):
        interpret(_train(define), Call(Operation.REVISE_REPLICA, _object(trains=5), replicas=13))
