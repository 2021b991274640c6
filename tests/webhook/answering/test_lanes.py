"""Who answers a call, and why."""

from dataclasses import replace
from unittest.mock import Mock

import pytest
from msgspec import structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition, Reference
from karta_interpreter.engine.operations import Call, Operation
from karta_interpreter.languages.lua.script import Script, Scripts
from karta_interpreter.webhook.answering.lanes import Lane, Lanes
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.wire import Request
from tests.support.rows import rows

MILL = GVK("mill.example.org", "v1", "GrainMill")
CALL = Request("u", MILL, operation_name="InterpretHealth", call=Call(Operation.INTERPRET_HEALTH, {}))
FEW, MANY = b'[{"status":{"flour":[1,2]}}]', b'[{"status":{"flour":[%b0]}}]' % (b"0," * 2000)
LONG_TEXT = b'[{"status":{"flour":"%b"}}]' % (b"x" * 1000)
WRONG = structs.replace(CALL, call=None, problem=InterpretationError("request.object is missing"))
PLAIN = Definition("mill", MILL, (ComponentRules("mill", "root", MILL),))
BOUNDED = replace(PLAIN, uses_bounded=True)
LONG = replace(PLAIN, has_many_expressions=True)
DEAR = replace(PLAIN, steps=500)
REFERRING = replace(PLAIN, references=(Reference("flour", MILL),))
SCRIPTS = Scripts([Script("InterpretHealth", "", "miller")])
CHILD, SCRIPT, INLINE = Mock(Lane), Mock(Lane), None


def chosen(request: Request, definition: Definition | None, text: bytes, *, is_slow: bool = False) -> Lane | None:
    call = PendingCall(0.0, b"", request, definition)
    return Lanes(CHILD, SCRIPT).choose(call, text, is_slow=is_slow)


@rows(
    ("request_", "definition", "is_slow", "lane"),
    [
        pytest.param(CALL, PLAIN, False, INLINE, id="plain expressions take a time that the object bounds"),
        pytest.param(CALL, REFERRING, False, INLINE, id="looking up what is in memory takes no time"),
        pytest.param(CALL, None, False, INLINE, id="a kind without a definition is an error"),
        pytest.param(WRONG, BOUNDED, False, INLINE, id="a request that cannot be answered is an error"),
        pytest.param(CALL, BOUNDED, False, CHILD, id="a bounded expression may never end"),
        pytest.param(CALL, LONG, False, CHILD, id="many expressions take long to compile"),
        pytest.param(CALL, PLAIN, True, CHILD, id="calls like it took long"),
        pytest.param(CALL, PLAIN.overridden(SCRIPTS), False, SCRIPT, id="a script may never end"),
        pytest.param(structs.replace(CALL, operation_name="Retain"), PLAIN.overridden(SCRIPTS), False, INLINE,
            id="a script for another operation does not matter"),
        pytest.param(CALL, BOUNDED.overridden(SCRIPTS), False, CHILD, id="a script may ask a bounded expression"),
        pytest.param(CALL, REFERRING.overridden(SCRIPTS), False, CHILD, id="a script may ask for a reference"),
        pytest.param(CALL, PLAIN.overridden(SCRIPTS), True, CHILD, id="the result of the script was large"),
    ],
)  # fmt: skip
def test_lane(request_: Request, definition: Definition | None, is_slow: bool, lane: Lane | None) -> None:
    assert chosen(request_, definition, FEW, is_slow=is_slow) is lane


@rows(
    ("definition", "text", "lane"),
    [
        pytest.param(DEAR, FEW, INLINE, id="dear expressions take no time if little is read"),
        pytest.param(DEAR, LONG_TEXT, INLINE, id="a long text is one value"),
        pytest.param(PLAIN, MANY, INLINE, id="cheap expressions take no time if much is read"),
        pytest.param(DEAR, MANY, CHILD, id="dear expressions take long if much is read"),
    ],
)
def test_lane_depends_on_steps_and_values(definition: Definition, text: bytes, lane: Lane | None) -> None:
    assert chosen(CALL, definition, text) is lane
