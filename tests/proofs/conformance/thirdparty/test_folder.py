import pytest
import yaml

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.suites.suite import read_suite
from tests.proofs.conformance.thirdparty.folder import ThirdParty, third_party
from tests.support.rows import rows

_GVK = GVK("example.io", "v1", "Job")
_SCRIPTS = {
    "healthInterpretation": "function InterpretHealth(obj) return obj.status.phase == 'Up' end",
    "statusReflection": "function ReflectStatus(obj) return obj.status end",
    "replicaResource": "function GetReplicas(obj) return obj.spec.replicas end",
    "statusAggregation": "function AggregateStatus(obj, items) obj.status = items[1].status return obj end",
}
_CUSTOMIZATION = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterCustomization",
    "metadata": {"name": "job"},
    "spec": {
        "target": {"apiVersion": "example.io/v1", "kind": "Job"},
        "customizations": {field: {"luaScript": script} for field, script in _SCRIPTS.items()},
    },
}
_HEALTH = "{name: a, operation: InterpretHealth, observedObj: {kind: Job, status: {phase: Up}}, output: %s%s}"


def _export(*cases: str) -> ThirdParty:
    return third_party(_GVK, _CUSTOMIZATION, read_suite("\n---\n".join(cases)))


def _output(case: str) -> object:
    (text,) = (text for name, text in _export(case).files.items() if "/testdata/" in name)
    return yaml.safe_load(text)["output"]


def test_thirdparty_folder_has_customization_and_a_suite_of_each_operation() -> None:
    replica = (
        "{name: b, operation: InterpretReplica, desiredObj: {kind: Job, spec: {replicas: 2}}, output: {replica: 2}}"
    )
    found = _export(_HEALTH % ("{healthy: true}", ", description: why"), _HEALTH % ("{healthy: true}", ""), replica)

    assert list(found.files) == [
        "example.io/v1/Job/customizations.yaml",
        "example.io/v1/Job/testdata/interprethealth-test.yaml",
        "example.io/v1/Job/testdata/interpretreplica-test.yaml",
    ]
    assert yaml.safe_load(found.files["example.io/v1/Job/customizations.yaml"]) == _CUSTOMIZATION
    first, second = yaml.safe_load_all(found.files["example.io/v1/Job/testdata/interprethealth-test.yaml"])
    assert first == {
        "name": "a",
        "description": "why",
        "observedObj": {"kind": "Job", "status": {"phase": "Up"}},
        "operation": "InterpretHealth",
        "output": {"healthy": True},
    }
    assert "description" not in second
    assert (found.cases, found.left_out) == (3, {})


@rows(
    ("case", "name", "reason"),
    [
        pytest.param(_HEALTH % ("{error: broken}", ""), "InterpretHealth: a", "no call that has to fail", id="error"),
        pytest.param(
            _HEALTH % ("{healthy: true}", ", references: [{apiVersion: v1, kind: Pod}]"),
            "InterpretHealth: a",
            "no references",
            id="references",
        ),
        pytest.param(
            _HEALTH % ("{healthy: false}", ""), "InterpretHealth: a", "answers otherwise: healthy", id="other"
        ),
        pytest.param(
            "{name: a, operation: InterpretHealth, observedObj: {kind: Job}, output: {healthy: true}}",
            "InterpretHealth: a",
            "the script fails",
            id="failure",
        ),
        pytest.param(
            "{name: a, operation: InterpretStatus, observedObj: {kind: Job, status: {at: 1}},"
            " output: {status: {at: '{{EXCLUDE}}'}}}",
            "InterpretStatus: a",
            "in whole objects only",
            id="excluded field of a status",
        ),
        pytest.param(
            "{name: a, operation: Retain, desiredObj: {kind: Job}, observedObj: {kind: Job}, output: {retained: {}}}",
            "Retain",
            "does not answer it",
            id="operation",
        ),
    ],
)
def test_case_that_karmadas_test_cannot_run_is_left_out_by_name(case: str, name: str, reason: str) -> None:
    found = _export(case)

    assert found.cases == 0
    assert list(found.files) == ["example.io/v1/Job/customizations.yaml"]
    assert [*found.left_out] == [name]
    assert reason in found.left_out[name]


@pytest.mark.parametrize(
    ("case", "output"),
    [
        pytest.param(
            "{name: a, operation: InterpretStatus, observedObj: {kind: Job, status: {a: [], b: 1}},"
            " output: {status: {a: [], b: 1}}}",
            {"status": {"b": 1}},
            id="a status loses what is empty",
        ),
        pytest.param(
            "{name: a, operation: InterpretReplica, desiredObj: {kind: Job, spec: {replicas: 2}},"
            " output: {replica: 2, requires: null}}",
            {"replica": 2},
            id="no requirements are not expected",
        ),
        pytest.param(
            "{name: a, operation: AggregateStatus, desiredObj: {kind: Job, metadata: {name: j}, spec: {}},"
            " statusItems: [{clusterName: m, status: {a: 1, b: {}}}],"
            " output: {aggregatedStatus: {kind: Job, metadata: {name: j}, spec: {}, status: {a: 1, b: {}}}}}",
            {"aggregatedStatus": {"kind": "Job", "metadata": {"name": "j"}, "spec": "{{EXCLUDE}}", "status": {"a": 1}}},
            id="the rest of an aggregated object loses what is empty",
        ),
    ],
)
def test_output_of_case_is_what_is_left_of_it_in_lua(case: str, output: object) -> None:
    assert _output(case) == output


def test_kind_of_core_group_has_no_folder() -> None:
    with pytest.raises(ExportError, match="the core group has no name"):
        third_party(GVK("", "v1", "Pod"), _CUSTOMIZATION, ())
