from dataclasses import replace
from typing import Any

import pytest

from karta_interpreter.base.errors import ExportError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.export.flux_health import flux_health
from tests.export.toy import toy_karta
from tests.support.rows import rows

PHASE = {"phaseDefinition": {"path": ".status.phase"}}
CONDITIONS = {"conditionsDefinition": {"path": ".status.conditions"}}


def _checks(status: Any, **annotations: str) -> tuple[str, str | None]:
    entry = flux_health(load_definition(toy_karta(status, **annotations)))
    assert (entry["apiVersion"], entry["kind"]) == ("example.io/v1", "Toy")
    return entry["current"], entry.get("failed")


def test_phases_become_comparisons() -> None:
    mappings = {"running": [{"byPhase": "Up"}], "completed": [{"byPhase": "Done"}], "failed": [{"byPhase": "Bad"}]}

    current, failed = _checks({**PHASE, "statusMappings": mappings})

    assert current == "status.?phase.orValue(null) == 'Up'\n|| status.?phase.orValue(null) == 'Done'"
    assert failed == "status.?phase.orValue(null) == 'Bad'"


def test_conditions_become_an_element_that_exists() -> None:
    ready = [{"byConditions": [{"type": "Ready", "status": "True"}]}]

    current, failed = _checks({**CONDITIONS, "statusMappings": {"running": ready, "initializing": [{"byPhase": ""}]}})

    condition = "e.?type.orValue(null) == 'Ready' && e.?status.orValue(null) == 'True'"
    assert current == f"status.?conditions.orValue([]).exists(e, {condition})"
    assert failed is None  # no status of the definition is a failure


def test_waiting_workload_is_in_progress() -> None:
    mappings = {"initializing": [{"byPhase": "Queued"}], "completed": [{"byPhase": "Done"}]}

    assert _checks({**PHASE, "statusMappings": mappings})[0] == "status.?phase.orValue(null) == 'Done'"


def test_statuses_that_the_definition_counts_as_healthy_are_current() -> None:
    mappings = {"degraded": [{"byPhase": "Slow"}], "failed": [{"byPhase": "Bad"}]}

    current, failed = _checks({**PHASE, "statusMappings": mappings}, **{"healthy-statuses": "Degraded"})

    assert current == "status.?phase.orValue(null) == 'Slow'"
    assert failed == "status.?phase.orValue(null) == 'Bad'"


def _version(version: str, up: str, failed: str | None = None) -> Definition:
    mappings = {"running": [{"byPhase": up}], **({"failed": [{"byPhase": failed}]} if failed else {})}
    karta = toy_karta({**PHASE, "statusMappings": mappings})
    karta["spec"]["structureDefinition"]["rootComponent"]["kind"]["version"] = version
    return load_definition(karta)


def test_check_of_several_versions_chooses_by_object() -> None:
    entry = flux_health(_version("v1", "Up"), _version("v2", "On", "Bad"), _version("v3", "Live"))

    assert (entry["apiVersion"], entry["kind"]) == ("example.io/v3", "Toy")
    phase = "status.?phase.orValue(null) =="
    assert entry["current"] == (
        f"apiVersion == 'example.io/v1' ? ({phase} 'Up')\n"
        f": apiVersion == 'example.io/v2' ? ({phase} 'On')\n"
        f": ({phase} 'Live')"
    )
    assert entry["failed"] == (
        f"apiVersion == 'example.io/v1' ? (false)\n: apiVersion == 'example.io/v2' ? ({phase} 'Bad')\n: (false)"
    )


def test_versions_that_agree_have_one_expression() -> None:
    alone = flux_health(_version("v2", "Up"))

    assert flux_health(_version("v1", "Up"), _version("v2", "Up")) == alone
    assert "failed" not in alone


def test_rejected_version_is_named() -> None:
    wrong = replace(_version("v1", "Up"), status=None)

    with pytest.raises(ExportError, match=r"^example.io/v1: statusDefinition: there is none"):
        flux_health(wrong, _version("v2", "Up"))


def test_undefined_is_what_has_no_other_status() -> None:
    mappings = {"running": [{"byPhase": "Up"}], "failed": [{"byPhase": "Bad"}]}

    current, _ = _checks({**PHASE, "statusMappings": mappings}, **{"healthy-statuses": "Undefined"})

    assert current == "!(status.?phase.orValue(null) == 'Up'\n|| status.?phase.orValue(null) == 'Bad')"


def test_health_annotation_gives_current() -> None:
    current, _ = _checks({**PHASE, "statusMappings": {}}, health=".status.ok == true")

    assert current == "status.?ok.orValue(null) == true"


@rows(
    ("expression", "expected", "check"),
    [
        (".status.on", "true", "status.?on.orValue(null) in [true, 'true']"),
        (".status.on", "Suspended", "status.?on.orValue(null) == 'Suspended'"),
        (".status.on", "2", "status.?on.orValue(null) in [2, '2']"),
        (".status.on", "2.0", "status.?on.orValue(null) == '2.0'"),
        (".status.on", "null", "status.?on.orValue(null) in [null, 'null']"),
        (".status.on // 0", "0", "status.?on.orValue(null) in [null, 0, '0']"),
        (".status.on // 0", "1", "status.?on.orValue(null) in [1, '1']"),
        (".status.on == 1", "false", "!(status.?on.orValue(null) == 1)"),
        (".status.on == 1", "Yes", "false"),
        (".status.on | length", "0", "size(status.?on.orValue([])) in [0, '0']"),
    ],
)
def test_expected_result_is_compared_as_text(expression: str, expected: str, check: str) -> None:
    suspended = [{"byExpression": {"expression": expression, "expectedResult": expected}}]

    assert _checks({**PHASE, "statusMappings": {"suspended": suspended}})[0] == check


def test_null_phase_has_the_default() -> None:
    rules = {"phaseDefinition": {"path": '.status.phase // "New"'}, "statusMappings": {"running": [{"byPhase": "New"}]}}

    assert _checks(rules)[0] == "status.?phase.orValue(null) in [null, 'New']"


def test_names_of_fields_and_values_are_written_as_cel_has_them() -> None:
    names = {"path": ".status.conditions", "typeFieldName": "a-b", "statusFieldName": "in"}
    rules = {"conditionsDefinition": names, "statusMappings": {"running": [{"byConditions": [
        {"type": "\U0001f642's", "status": '"\\'}, {"type": ""}]}]}}  # fmt: skip
    begin = "status.?conditions.orValue([]).exists(e, e[?'a-b'].orValue(null) =="

    assert _checks(rules)[0] == (f"{begin} '\U0001f642\\'s' && e[?'in'].orValue(null) == '\"\\\\') && {begin} '')")


@rows(
    ("status", "message"),
    [
        pytest.param(
            {**PHASE, "statusMappings": {"running": [
                {"byExpression": {"expression": ".status.list[0].on", "expectedResult": "true"}}]}},
            "statusMappings.running.byExpression: `.status.list[0]` cannot be written in CEL",
            id="field, expression and reason",
        ),
        pytest.param(
            {**PHASE, "statusMappings": {"running": [
                {"byExpression": {"expression": ".status.list", "expectedResult": "[]"}}]}},
            "expectedResult `[]`: CEL has no text of objects and lists",
            id="the text of a list",
        ),
        pytest.param(
            {"phaseDefinition": {"path": ".status.phases | first"}, "statusMappings": {"running": [{"byPhase": "x"}]}},
            "phaseDefinition.path: `first` cannot be written in CEL",
            id="the phase",
        ),
    ],
)  # fmt: skip
def test_rejected_status_is_named(status: Any, message: str) -> None:
    with pytest.raises(ExportError) as rejected:
        flux_health(load_definition(toy_karta(status)))

    assert message in str(rejected.value)


def test_definition_without_statuses_has_no_health() -> None:
    definition = load_definition(toy_karta({**PHASE, "statusMappings": {"running": [{"byPhase": "Up"}]}}))

    with pytest.raises(ExportError, match="statusDefinition: there is none"):
        flux_health(replace(definition, status=None))
