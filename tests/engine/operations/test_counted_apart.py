"""An override of one half of the counts, over a Karta that would answer the other half."""

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.karmada import Operation
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.packing import pack, unpack
from karta_interpreter.definitions.sources.snapshot import counted_apart
from karta_interpreter.engine.operations import Call, interpret
from karta_interpreter.engine.registered.operations import operations_for
from karta_interpreter.languages.lua.customization import load_customizations
from tests.support.rows import rows
from tests.webhook.registration.definitions import TOY, define, replicas

COUNT, REVISE = "InterpretReplica", "ReviseReplica"
_SCRIPTS = {
    COUNT: "replicaResource: {luaScript: 'function GetReplicas(a) return 1, nil end'}",
    REVISE: "replicaRevision: {luaScript: 'function ReviseReplica(a, n) return a end'}",
    "InterpretHealth": "healthInterpretation: {luaScript: 'function InterpretHealth(a) return true end'}",
}
_TOY = {**TOY.type_meta, "metadata": {"name": "t"}, "spec": {"worker": {"count": 2, "template": {"spec": {}}}}}
_ANNOTATED = '{name: mine, annotations: {karta-interpreter.io/counts-agree: "true"}}'


def _overridden(*operations: str, metadata: str = "{name: mine}") -> Definition:
    text = (
        "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\n"
        f"metadata: {metadata}\nspec:\n  target: {{apiVersion: {TOY.api_version}, kind: {TOY.kind}}}\n"
        "  customizations:\n" + "".join(f"    {_SCRIPTS[operation]}\n" for operation in operations)
    )
    (loaded,) = load_customizations(text, "mine.yaml")
    return define(parts={"worker": replicas(".spec.worker.count // 1")}).overridden(loaded.scripts)


@rows(
    ("scripted", "metadata", "refused"),
    [
        pytest.param((COUNT,), "{name: mine}", {REVISE}, id="its count may be of groups"),
        pytest.param((REVISE,), "{name: mine}", {COUNT}, id="it may write groups"),
        pytest.param((COUNT, REVISE), "{name: mine}", set(), id="both from one hand"),
        pytest.param((COUNT,), _ANNOTATED, set(), id="its author says that it counts pods"),
        pytest.param(("InterpretHealth",), "{name: mine}", set(), id="it counts nothing"),
    ],
)
def test_override_of_one_half_ends_the_other(scripted: tuple[str, ...], metadata: str, refused: set[str]) -> None:
    definition = _overridden(*scripted, metadata=metadata)

    assert {operation for operation in (COUNT, REVISE) if not definition.answers(operation)} == refused
    assert refused.isdisjoint(operations_for(definition))
    assert [finding.rule for finding in counted_apart(definition)] == ["counted-apart"] * len(refused)
    # The child process makes the same definition.
    assert unpack(pack(definition)).scripts == definition.scripts
    for operation in refused:
        with pytest.raises(InterpretationError, match="so the Karta does not answer") as caught:
            interpret(definition, Call(Operation(operation), _TOY, replicas=2))
        assert "karta-interpreter.io/counts-agree" in str(caught.value)


def test_scripts_in_the_karta_are_of_its_author() -> None:
    definition = define(parts={"worker": replicas(".spec.worker.count // 1")}, annotations={"lua": _SCRIPTS[COUNT]})

    assert REVISE in operations_for(definition)
    assert list(counted_apart(definition)) == []
