"""Exported scripts as a reader has them: their size, header, names and reasons."""

import re
from typing import Any

import pytest

from karta_interpreter.base.errors import ExportError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition, load_documents
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.export import script as scripts
from karta_interpreter.export.customization import script_of
from karta_interpreter.export.library import LIBRARY, used
from karta_interpreter.export.lua import (
    NIL,
    Constant,
    Do,
    Expression,
    Length,
    Local,
    LocalFunction,
    Name,
    Not,
    Table,
    call,
    flattened,
    negated,
    operation,
    written,
)
from karta_interpreter.languages.lua.machine.kube import KUBE
from karta_interpreter.languages.lua.machine.lint import GLOBALS, MODULES
from karta_interpreter.languages.lua.machine.runtime import Runtime
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import entries
from tests.support.rows import rows
from tests.support.scripts import answer

TOY = """\
# Written from the toy operator 1.0.
apiVersion: run.ai/v1alpha1
kind: Karta
metadata:
  name: toy
spec:
  structureDefinition:
    rootComponent:
      name: toy
      kind: {group: example.io, version: v1, kind: Toy}
      specDefinition:
        # The operator adds nothing to it.
        podTemplateSpecPath: .spec.template
      scaleDefinition:
        replicasPath: .spec.parts[].size // 1
      statusDefinition:
        phaseDefinition: {path: .status.phase}
        statusMappings:
          # Also while it moves.
          running: [{byPhase: Running}]
"""

_IS_ONE = operation("==", Name("a"), Constant("1"))


def _toy(text: str = TOY) -> Definition:
    (loaded,) = load_documents(text, "toy.yaml")
    assert loaded.definition, loaded.findings
    return loaded.definition


def test_script_begins_with_its_definition() -> None:
    head = script_of(_toy(), Operation.INTERPRET_HEALTH).splitlines()[:3]

    assert head[0] == "-- InterpretHealth of Toy, example.io/v1."
    assert head[1].startswith("-- Exported by karta-interpreter ")
    assert " from the Karta toy, sha256:" in head[1]
    assert head[2] == ""


def test_digest_is_that_of_the_content() -> None:
    first, same, other = (
        script_of(_toy(text), Operation.INTERPRET_STATUS).splitlines()[1]
        for text in (TOY, TOY.replace("# Also", "# And"), TOY.replace("byPhase: Running", "byPhase: Active"))
    )

    assert first == same
    assert first != other


def test_script_has_at_most_64_kib() -> None:
    # `make conformance` exports the whole catalogue, and asks for a script for 95 % of its operations.
    assert scripts.LARGEST == 64 * 1024


def test_too_large_script_is_rejected_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "LARGEST", 100)

    with pytest.raises(ExportError, match=r"the script has [0-9]+ bytes, more than 100"):
        script_of(_toy(), Operation.INTERPRET_HEALTH)


def test_rejected_expression_is_named_with_its_field() -> None:
    definition = _toy(TOY.replace("path: .status.phase", 'path: .status.phase | select(test("a|b"))'))

    with pytest.raises(ExportError) as rejected:
        script_of(definition, Operation.INTERPRET_HEALTH)

    assert str(rejected.value).startswith(
        'spec.structureDefinition.rootComponent.statusDefinition.phaseDefinition.path: `test("a|b")`: Lua has'
    )


def test_functions_that_a_definition_lends_to_its_script_share_the_library() -> None:
    lua = """
local karta = require("karta")
function GetReplicas(obj)
  local replicas, needs = karta.getReplicas(obj)
  if karta.interpretHealth(obj) then replicas = replicas + 10 end
  return replicas, needs
end
"""
    manifest: Any = {
        **_toy().manifest,
        "metadata": {
            "name": "toy",
            "annotations": {"karta-interpreter.io/lua": f"replicaResource:\n  luaScript: |\n{_indented(lua)}"},
        },
    }
    text = script_of(load_definition(manifest), Operation.INTERPRET_REPLICA)
    toy = {"spec": {"template": {"spec": {}}, "parts": [{"size": 2}]}, "status": {"phase": "Running"}}

    assert text.count("local function get(") == 1
    assert answer([Script("InterpretReplica", text, "toy")], object=toy)["replica"] == 12


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def test_variable_does_not_add_library_function() -> None:
    assert "local function number(" not in used("count(value)")
    assert "local function number(" in used("subtract(a, b)")


@pytest.mark.parametrize(
    ("features", "is_there", "is_left_out"),
    [
        pytest.param({"ids", "added"}, ["instance_ids(component, obj)", "with_added("], ['ids = component.name, {""}'],
            id="with both"),
        pytest.param(set(), ['ids = component.name, {""}'], ["instance_ids", "with_added", "minimum[i]"],
            id="with neither"),
    ],
)  # fmt: skip
def test_script_has_no_code_for_missing_features(
    features: set[str], is_there: list[str], is_left_out: list[str]
) -> None:
    text = used("add_pod_sets(sets, component, obj)", features)

    assert [part for part in is_there if part not in text] == []
    assert [part for part in is_left_out if part in text] == []
    assert "with." not in text


def test_values_in_the_place_of_null_are_known_only_where_some_function_makes_them() -> None:
    assert "null" not in used('get(obj, "a")').replace("null inside of null", "")
    assert "local null = {}" in used('append(found, get(obj, "a"))')


@pytest.mark.parametrize("operation", [Operation.RETAIN, Operation.REVISE_REPLICA])
@pytest.mark.parametrize(
    ("path", "is_followed"),
    [
        pytest.param(".spec.size // 1", False, id="a path through objects alone"),
        pytest.param("'3'", False, id="no place"),
        pytest.param(".spec.parts[].size", True, id="a path through a list"),
        pytest.param(".spec.size * 2", True, id="a multiple"),
    ],
)
def test_places_are_followed_only_where_a_path_does_not_tell_them(
    operation: Operation, path: str, is_followed: bool
) -> None:
    text = script_of(_toy(TOY.replace(".spec.parts[].size // 1", path)), operation)

    assert ("local function is_place(origin)" in text) == is_followed


@pytest.mark.parametrize(
    ("matcher", "is_there"),
    [
        pytest.param("byPhase: Starting", False, id="a comparison, which cannot fail"),
        pytest.param('byExpression: {expression: .spec.a == 1, expectedResult: "true"}', True, id="an expression"),
    ],
)
def test_health_leaves_out_statuses_that_do_not_count(matcher: str, is_there: bool) -> None:
    toy = _toy(TOY.replace("statusMappings:", f"statusMappings:\n          initializing: [{{{matcher}}}]"))

    assert ("statuses.Initializing = " in script_of(toy, Operation.INTERPRET_HEALTH)) == is_there
    assert "statuses.Initializing = " in script_of(toy, Operation.AGGREGATE_STATUS)


@rows(
    ("replicas", "size", "changed"),
    [
        pytest.param(3, 2, 3, id="a number"),
        pytest.param(3, "2", "3", id="a text stays one"),
        pytest.param(3, None, 3, id="a missing one is written"),
        pytest.param(1, None, 1, id="so is the default"),
        pytest.param(2, 2, 2, id="the same number"),
    ],
)
def test_count_at_plain_path_is_written(replicas: int, size: int | str | None, changed: int | str) -> None:
    toy = _toy(TOY.replace(".spec.parts[].size // 1", ".spec.replicas // 1"))
    script = Script("ReviseReplica", script_of(toy, Operation.REVISE_REPLICA), "toy")
    spec: dict[str, Any] = {"template": {"spec": {}}} | ({} if size is None else {"replicas": size})
    obj = {"apiVersion": "example.io/v1", "kind": "Toy", "metadata": {"name": "x"}, "spec": spec}

    expected = interpret(toy, Call(Operation.REVISE_REPLICA, obj, replicas=replicas))
    assert answer([script], object=obj, replicas=replicas) == expected
    assert expected["revised"]["spec"]["replicas"] == changed


def test_count_in_annotation_is_written_as_text() -> None:
    """An API server refuses an annotation that is a number."""
    toy = _toy(TOY.replace(".spec.parts[].size // 1", ".metadata.annotations.size // 1"))
    obj = {"apiVersion": "example.io/v1", "kind": "Toy", "metadata": {"name": "x"}, "spec": {"template": {"spec": {}}}}
    script = Script("ReviseReplica", script_of(toy, Operation.REVISE_REPLICA), "toy")

    expected = interpret(toy, Call(Operation.REVISE_REPLICA, obj, replicas=3))
    assert answer([script], object=obj, replicas=3) == expected
    assert expected["revised"]["metadata"]["annotations"] == {"size": "3"}


@rows(
    "names",
    [
        pytest.param(["n" * 32, "n" * 33], id="32 characters fit"),
        pytest.param([f"a group with a rather long name, number {number}" for number in range(3)], id="long ones"),
        pytest.param(["ü" * 33, "€" * 40, "x" * 22 + "ü" * 20], id="characters of several bytes"),
        pytest.param(["n" * 500], id="one of many bytes"),
        pytest.param(["head"], id="that of a component"),
    ],
)
def test_components_have_the_names_of_the_karta(names: list[str]) -> None:
    definition = _of_catalogue("ray.io", "RayCluster")
    script = Script("InterpretComponent", script_of(definition, Operation.INTERPRET_COMPONENT), "ray")
    template = {"spec": {"containers": [{"name": "c", "image": "c"}]}}
    groups = [{"groupName": name, "replicas": 1, "template": template} for name in names]
    spec = {"headGroupSpec": {"template": template}, "workerGroupSpecs": groups}
    obj = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "x"}, "spec": spec}

    expected = interpret(definition, Call(Operation.INTERPRET_COMPONENT, obj))["components"]
    found = answer([script], object=obj)["components"]
    assert [each["name"] for each in found] == [each["name"] for each in expected or ()]


def _of_catalogue(group: str, kind: str) -> Definition:
    (found,) = (each.definition for each in entries() if each.definition and each.definition.gvk[::2] == (group, kind))
    return found


def test_function_of_many_variables_keeps_its_blocks() -> None:
    def function(variables: int) -> LocalFunction:
        return LocalFunction("f", ("obj",), (Do((Local(("a",)),) * variables),))

    assert flattened((function(60),)) == (function(60),)
    assert flattened((function(59),)) == (LocalFunction("f", ("obj",), (Local(("a",)),) * 59),)


@rows(
    ("condition", "opposite"),
    [
        pytest.param(_IS_ONE, "a ~= 1", id="a comparison"),
        pytest.param(operation("and", _IS_ONE, Name("b")), "not (a == 1 and b)", id="no single comparison"),
        pytest.param(Not(_IS_ONE), "a == 1", id="a negation"),
        pytest.param(operation("==", Not(Name("a")), Name("b")), "not a ~= b", id="a comparison of a negation"),
        pytest.param(call("equal", Name("a"), Name("b")), "not equal(a, b)", id="a call"),
    ],
)
def test_negated_condition_is_its_opposite(condition: Expression, opposite: str) -> None:
    assert written(negated(condition)) == opposite


@rows(
    ("expression", "text"),
    [
        pytest.param(operation("or", operation("and", Name("a"), Name("b")), Name("c")), "a and b or c", id="as Lua"),
        pytest.param(operation("and", Name("a"), operation("or", Name("b"), NIL)), "a and (b or nil)", id="against it"),
        pytest.param(operation("or", Name("a"), operation("or", Name("b"), NIL)), "a or (b or nil)", id="to the right"),
        pytest.param(Length(operation("or", Name("a"), Table())), "#(a or {})", id="of an operand"),
    ],
)
def test_parentheses_stand_where_lua_needs_them(expression: Expression, text: str) -> None:
    assert written(expression) == text


def test_library_is_plain_lua() -> None:
    # As globals: Lua has no place for so many local functions in one chunk.
    library = re.sub(r"^local (?=function |\w+ =)", "", "\n".join(LIBRARY.values()), flags=re.MULTILINE)

    names = Runtime(KUBE).names(f'local kube = require("kube")\n{library}')

    known = GLOBALS | MODULES.keys() | names.own
    assert {each.name for each in names.assigned} <= LIBRARY.keys()
    assert {each.name for each in names.read if each.name.partition(".")[0] not in known} == set()


def test_function_of_a_repeated_part_is_hidden_by_no_variable() -> None:
    text = script_of(_of_catalogue("workload.codeflare.dev", "AppWrapper"), Operation.INTERPRET_REPLICA)
    own = text.partition("-- AppWrapper.")[2]
    functions = set(re.findall(r"local function (\w+)", own))
    assert functions
    assert functions.isdisjoint(re.findall(r"(?m)^ *local (\w+) =", own))
