from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from lupa import lua52

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s.edit import set_value
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.operations import Operation
from karta_interpreter.export.argocd_health import argocd_health
from tests.catalogue.entries import entries
from tests.catalogue.tables import moments
from tests.export.toy import toy_karta
from tests.support.rows import rows

PHASES = {
    "phaseDefinition": {"path": ".status.phase"},
    "conditionsDefinition": {"path": ".status.conditions"},
    "statusMappings": {
        "initializing": [{"byPhase": "Pending"}],
        "running": [{"byPhase": "Up"}],
        "completed": [{"byPhase": "Done"}],
        "failed": [{"byPhase": "Bad"}, {"byConditions": [{"type": "Broken", "status": "True"}]}],
        "degraded": [{"byPhase": "Slow"}],
        "suspended": [{"byPhase": "Held"}],
        "suspending": [{"byPhase": "CachedObjects"}],
    },
}


def _judged(karta: Any, status: Any) -> tuple[str, str]:
    return _run(argocd_health(load_definition(karta)), status)


def _run(check: dict[str, str], status: Any, generation: int = 2, version: str = "v1") -> tuple[str, str]:
    """Return the answer of a script in a Lua with the libraries that Argo CD opens for it."""
    obj = {"apiVersion": f"example.io/{version}", "metadata": {"generation": generation}, "status": status}
    return _run_on(check, obj)


def _run_on(check: dict[str, str], obj: Object) -> tuple[str, str]:
    runtime = lua52.LuaRuntime()
    script, *open_libs = check.values()
    if not open_libs:
        runtime.execute("string, math = nil, nil")
    found = runtime.eval(f"function(obj)\n{script}\nend")(runtime.table_from(obj, recursive=True))
    return found.status, found.message


@rows(
    ("phase", "health", "name"),
    [
        pytest.param("Up", "Healthy", "Running", id="it runs"),
        pytest.param("Done", "Healthy", "Completed", id="it has completed"),
        pytest.param("Bad", "Degraded", "Failed", id="it has failed"),
        pytest.param("Slow", "Degraded", "Degraded", id="it does less than it should"),
        pytest.param("Held", "Suspended", "Suspended", id="it is held"),
        pytest.param("CachedObjects", "Suspended", "Suspending", id="it is about to be held"),
        pytest.param("Pending", "Progressing", "Initializing", id="it starts"),
        pytest.param("?", "Progressing", "Undefined", id="no status"),
    ],
)
def test_status_gives_health_and_message(phase: str, health: str, name: str) -> None:
    assert _judged(toy_karta(PHASES), {"phase": phase}) == (health, name)


@rows(
    ("status", "answer"),
    [
        pytest.param(
            {"phase": "Up", "observedGeneration": 1}, ("Progressing", "Running in an older generation"), id="it ran"
        ),
        pytest.param(
            {"phase": "Held", "observedGeneration": "1"}, ("Progressing", "Suspended in an older generation"), id="text"
        ),
        pytest.param(
            {"phase": "Bad", "observedGeneration": 1}, ("Degraded", "Failed in an older generation"), id="a failure"
        ),
        pytest.param({"phase": "Up", "observedGeneration": 2}, ("Healthy", "Running"), id="the present generation"),
    ],
)
def test_stale_status_shows_only_failure(status: Any, answer: tuple[str, str]) -> None:
    assert _judged(toy_karta(PHASES), status) == answer


@rows(
    ("conditions", "answer"),
    [
        pytest.param([{"type": "Broken", "status": "True", "message": "no disk"}],
            ("Degraded", "Running, Failed: no disk"), id="the condition that decides"),
        pytest.param([{"type": "Broken", "status": "True"}], ("Degraded", "Running, Failed"),
            id="a condition without a message"),
        pytest.param([{"type": "Broken", "status": "False", "message": "all is well"}], ("Healthy", "Running"),
            id="a condition of another status"),
    ],
)  # fmt: skip
def test_message_is_that_of_matched_condition(conditions: Any, answer: tuple[str, str]) -> None:
    assert _judged(toy_karta(PHASES), {"phase": "Up", "conditions": conditions}) == answer


def test_conditions_of_indecisive_status_are_omitted() -> None:
    status = {**PHASES, "statusMappings": {
        "running": [{"byConditions": [{"type": "Ready"}]}], "failed": [{"byPhase": "Bad"}]
    }}  # fmt: skip
    conditions = [{"type": "Ready", "message": "all pods are ready"}]

    assert _judged(toy_karta(status), {"phase": "Bad", "conditions": conditions}) == ("Degraded", "Running, Failed")
    assert _judged(toy_karta(status), {"conditions": conditions}) == ("Healthy", "Running: all pods are ready")


@rows(
    ("phase", "health"),
    [
        pytest.param("Slow", "Degraded", id="a person looks at what is in trouble, also where no move would help"),
        pytest.param("Up", "Progressing", id="others are not healthy then"),
        pytest.param("Bad", "Degraded", id="a failure"),
    ],
)
def test_healthy_statuses_annotation_decides(phase: str, health: str) -> None:
    assert _judged(toy_karta(PHASES, **{"healthy-statuses": "Degraded"}), {"phase": phase})[0] == health


@rows(
    ("status", "health"),
    [
        pytest.param({"phase": "Pending", "ok": True}, "Healthy", id="true"),
        pytest.param({"phase": "Up", "ok": False}, "Progressing", id="false"),
        pytest.param({"phase": "Bad", "ok": False}, "Degraded", id="false and failed"),
        pytest.param({"phase": "Bad", "ok": True}, "Healthy", id="true and failed"),
        pytest.param({"phase": "Held", "ok": True}, "Suspended", id="true and suspended"),
        pytest.param({"phase": "Up", "ok": True, "observedGeneration": 1}, "Progressing", id="of an older generation"),
    ],
)
def test_health_annotation_decides(status: Any, health: str) -> None:
    assert _judged(toy_karta(PHASES, health=".status.ok"), status)[0] == health


def test_health_annotation_without_boolean_is_an_error() -> None:
    with pytest.raises(lua52.LuaError, match="must give true or false"):
        _judged(toy_karta(PHASES, health=".status.ok"), {"ok": "yes"})


def test_health_annotation_needs_no_statuses() -> None:
    definition = load_definition(toy_karta(PHASES, health=".status.ok"))

    assert _run(argocd_health(replace(definition, status=None)), {"ok": True}) == ("Healthy", "Undefined")


@rows(
    ("expression", "expected", "needs_libraries"),
    [
        pytest.param(".status.on", "true", False, id="a boolean"),
        pytest.param(".status.on", "Yes", False, id="a text that is not JSON"),
        pytest.param(".status.list[0].count > 1", "true", False, id="numbers are compared"),
        pytest.param(".status.count", "3", True, id="a number is written as text"),
        pytest.param('.status.name | startswith("a")', "true", True, id="a function of texts"),
    ],
)
def test_libraries_are_opened_for_scripts_that_need_them(expression: str, expected: str, needs_libraries: bool) -> None:
    running = [{"byExpression": {"expression": expression, "expectedResult": expected}}]

    check = argocd_health(load_definition(toy_karta({**PHASES, "statusMappings": {"running": running}})))

    assert (len(check) > 1) is needs_libraries


def _version(version: str, **mappings: str) -> Definition:
    karta = toy_karta({**PHASES, "statusMappings": {name: [{"byPhase": phase}] for name, phase in mappings.items()}})
    karta["spec"]["structureDefinition"]["rootComponent"]["kind"]["version"] = version
    return load_definition(karta)


@rows(
    ("version", "phase", "answer"),
    [
        pytest.param("v1", "Up", ("Healthy", "Running"), id="the first"),
        pytest.param("v1", "On", ("Progressing", "Undefined"), id="not by the second"),
        pytest.param("v2", "On", ("Healthy", "Running"), id="the second"),
        pytest.param("v2", "Up", ("Degraded", "Failed"), id="not by the first"),
        pytest.param("v3", "On", ("Healthy", "Running"), id="any other as the last"),
    ],
)
def test_check_of_several_versions_chooses_by_object(version: str, phase: str, answer: tuple[str, str]) -> None:
    check = argocd_health(_version("v1", running="Up"), _version("v2", running="On", failed="Up"))

    assert _run(check, {"phase": phase}, version=version) == answer


def test_versions_that_agree_have_one_script() -> None:
    check = argocd_health(_version("v1", running="Up"), _version("v2", running="Up"))

    (script,) = check.values()
    assert script.startswith("-- The health of Toy to Argo CD, made from the Kartas toy and toy.\n")
    assert "apiVersion" not in script


def test_rejected_version_is_named() -> None:
    wrong = replace(_version("v1"), status=None)

    with pytest.raises(ExportError, match=r"^example.io/v1: statusDefinition: there is none"):
        argocd_health(wrong, _version("v2", running="Up"))


@rows(
    ("group", "names"),
    [("example.io", ["health.example.io_Toy", "useOpenLibs.example.io_Toy"]), ("", ["health.Toy", "useOpenLibs.Toy"])],
)
def test_entries_are_named_by_group_and_kind(group: str, names: list[str]) -> None:
    running = [{"byExpression": {"expression": ".status.count", "expectedResult": "3"}}]
    definition = load_definition(toy_karta({**PHASES, "statusMappings": {"running": running}}))

    check = argocd_health(replace(definition, gvk=definition.gvk._replace(group=group)))

    assert list(check) == [f"resource.customizations.{name}" for name in names]


@pytest.mark.parametrize(
    ("running", "annotations", "field"),
    [
        pytest.param({"byExpression": {"expression": '.status | test("a|b")', "expectedResult": "true"}}, {},
            "statusMappings.running[0].byExpression.expression", id="a status"),
        pytest.param({"byPhase": "Up"}, {"health": '.status | test("a|b")'},
            'annotations["karta-interpreter.io/health"]', id="the health"),
    ],
)  # fmt: skip
def test_rejected_expression_is_named(running: Any, annotations: dict[str, str], field: str) -> None:
    with pytest.raises(ExportError) as rejected:
        argocd_health(load_definition(toy_karta({**PHASES, "statusMappings": {"running": [running]}}, **annotations)))

    assert f'{field}: `test("a|b")`: Lua has no regular expressions' in str(rejected.value)


def test_object_without_status_is_healthy_if_undefined_is_healthy() -> None:
    karta = toy_karta(PHASES, **{"healthy-statuses": "Undefined"})

    assert _judged(karta, {"phase": "?"}) == ("Healthy", "Undefined")
    assert _judged(karta, {"phase": "Up"}) == ("Progressing", "Running")


def test_definition_without_statuses_has_no_health() -> None:
    definition = load_definition(toy_karta(PHASES))

    with pytest.raises(ExportError, match="statusDefinition: there is none"):
        argocd_health(replace(definition, status=None))


def _at_rest() -> Iterator[Any]:
    definitions = {entry.definition.gvk: entry.definition for entry in entries() if entry.definition}
    for name, row in moments().items():
        if name.startswith("rest: ") and row["right"] == "healthy" and "status" not in row["object"]:
            yield pytest.param(definitions[GVK.of(row["object"])], row["object"], id=name)


@rows(("definition", "obj"), _at_rest())
def test_what_asks_for_rest_without_a_status_is_not_in_progress(definition: Definition, obj: Object) -> None:
    """As InterpretHealth says of the member, so that a sync does not wait for a status that never comes."""
    assert _run_on(argocd_health(definition), obj)[0] in ("Suspended", "Healthy")


def test_template_of_a_kind_with_late_generations_is_in_progress() -> None:
    """The tool waits for the change that it has made, while the members that serve are healthy."""
    check = argocd_health(load_definition(toy_karta(PHASES, **{"observed-generation": "late"})))
    assert _run(check, {"phase": "Up", "observedGeneration": 1}) == ("Progressing", "Running in an older generation")


def _with_switch() -> Iterator[Any]:
    """Yield the definitions that have a switch, with the objects of their cases of health."""
    for entry in entries():
        if entry.definition and entry.definition.status and entry.definition.status.rest:
            cases = [case for case in entry.cases if case.call.operation is Operation.INTERPRET_HEALTH]
            objects = [case.call.object for case in cases if case.error is None]
            yield pytest.param(entry.definition, objects, id=str(entry.definition.gvk))


@rows(("definition", "objects"), _with_switch())
def test_rest_that_is_asked_for_and_reached_is_healthy(definition: Definition, objects: list[Object]) -> None:
    """A sync waits for Healthy or Degraded (``sync_context.go``), so what rests on purpose would never end it."""
    check = argocd_health(definition)
    assert ("Healthy", "Suspended") in _verdicts(check, objects)
    queues = definition.annotations.queue_labels
    labelled = [set_value(obj, ("metadata", "labels"), dict.fromkeys(queues, "q")) for obj in objects] if queues else []
    assert ("Healthy", "Suspended") not in _verdicts(check, labelled), "the queue ends it"


def _verdicts(check: dict[str, str], objects: list[Object]) -> Iterator[tuple[str, str]]:
    for obj in objects:
        with suppress(lua52.LuaError):  # a case of a status that nobody can read
            yield _run_on(check, obj)


@pytest.mark.parametrize("kind", ["Rollout", "CloneSet", "VirtualMachineInstance"])
def test_pause_that_somebody_has_to_end_stays_suspended(kind: str) -> None:
    for entry in entries():
        if entry.definition and entry.definition.gvk.kind == kind:
            check, cases = argocd_health(entry.definition), entry.cases
            objects = [case.call.object for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
            assert "Suspended" in [_run_on(check, obj)[0] for obj in objects]
