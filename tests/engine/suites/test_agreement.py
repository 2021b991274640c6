"""Whether somebody's script counts what we divide, on the examples that the package has."""

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.base.karmada import OTHER_HALF, SLOTS, Operation
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue, load_catalogue
from karta_interpreter.engine.registered.operations import operations_for
from karta_interpreter.engine.suites.agreement import MOST_EXAMPLES, compare_counts, examples_of
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.support.rows import rows
from tests.webhook.registration.definitions import TOY, define, replicas

COUNT, REVISE = Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA
_DIVIDED = [entry.definition for entry in load_catalogue().entries if REVISE in operations_for(entry.definition)]
_GROUPS = "function GetReplicas(obj) return obj.spec.replicas or 1, nil end"
_PODS = """
function GetReplicas(obj)
  local template = obj.spec.leaderWorkerTemplate
  return (obj.spec.replicas or 1) * (template.size or 1), nil
end
"""
_WRITES_GROUPS = "function ReviseReplica(obj, n) obj.spec.replicas = n return obj end"
_WRITES_PODS = """
function ReviseReplica(obj, n)
  obj.spec.replicas = math.ceil(n / (obj.spec.leaderWorkerTemplate.size or 1))
  return obj
end
"""


def _definition(api_version: str, kind: str) -> Definition:
    entry = find_in_catalogue(GVK.of({"apiVersion": api_version, "kind": kind}))
    assert entry
    return entry.definition


def _compared(definition: Definition, half: Operation, text: str) -> bool | None:
    script = Script(half, text, "theirs")
    return compare_counts(definition, half, Scripts([script]), examples_of(definition.gvk)).agrees


@rows(
    ("kind", "half", "text", "agrees"),
    [
        pytest.param("LeaderWorkerSet", COUNT, _GROUPS, True, id="groups"),
        pytest.param("LeaderWorkerSet", COUNT, _PODS, False, id="pods: those of a member would be refused as groups"),
        pytest.param("LeaderWorkerSet", REVISE, _WRITES_GROUPS, True, id="writes groups"),
        pytest.param("LeaderWorkerSet", REVISE, _WRITES_PODS, False, id="3 groups would become as many as 3 pods are"),
        pytest.param("LeaderWorkerSet", COUNT, "function GetReplicas(obj) error('x') end", None, id="an error"),
        pytest.param("LeaderWorkerSet", COUNT, "function GetReplicas(obj) return 'x' end", None, id="not a number"),
        pytest.param("LeaderWorkerSet", COUNT, "function Other(obj) end", None, id="no such function"),
        pytest.param("LeaderWorkerSet", COUNT, "function GetReplicas(obj) while true do end end", None, id="no end"),
        pytest.param("LeaderWorkerSet", COUNT, "function GetReplicas(obj) return 1, nil end", False, id="a constant"),
        pytest.param("LeaderWorkerSet", COUNT, "function GetReplicas(obj) return 0, nil end", None, id="none"),
        pytest.param("LeaderWorkerSet", COUNT, _GROUPS.replace("or 1", "or 0"), True, id="groups, without the default"),
        pytest.param("LeaderWorkerSet", REVISE, "function ReviseReplica(obj, n) return obj end", False, id="no write"),
    ],
)  # fmt: skip
def test_script_of_half_of_the_counts_is_compared(kind: str, half: Operation, text: str, agrees: bool | None) -> None:
    assert _compared(_definition("leaderworkerset.x-k8s.io/v1", kind), half, text) is agrees


def test_kind_without_examples_is_not_compared() -> None:
    definition = define(parts={"worker": replicas(".spec.count // 1")})

    assert definition.gvk == TOY
    assert _compared(definition, COUNT, "function GetReplicas(obj) return 1, nil end") is None


_SAME = 'local own = require("karta").{name} function {function}(...) return own(...) end'
# One more than the definition: a count of something else, whatever the kind is.
_OTHER = {
    COUNT: 'local own = require("karta").getReplicas function GetReplicas(obj) return own(obj) + 1, nil end',
    REVISE: 'local own = require("karta").reviseReplica function ReviseReplica(obj, n) return own(obj, n + 1) end',
}


@pytest.mark.parametrize(
    "definition", _DIVIDED, ids=lambda definition: f"{definition.gvk.kind}-{definition.gvk.version}"
)
def test_every_kind_that_is_divided_has_examples_that_tell(definition: Definition) -> None:
    assert 0 < len(examples_of(definition.gvk)) <= MOST_EXAMPLES
    if not definition.scripts.operations.isdisjoint(OTHER_HALF):
        return  # the functions of `require("karta")` do not know the scripts that stand over the Karta
    slot = SLOTS[COUNT]
    same = _SAME.format(name=slot.own_function, function=slot.function)
    assert _compared(definition, COUNT, same) is True
    assert _compared(definition, COUNT, _OTHER[COUNT]) is False
    slot = SLOTS[REVISE]
    assert _compared(definition, REVISE, _SAME.format(name=slot.own_function, function=slot.function)) is True
    # A kind that is never divided keeps its own number, and refuses any other.
    assert _compared(definition, REVISE, _OTHER[REVISE]) in (False, None)
