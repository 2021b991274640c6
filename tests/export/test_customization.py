from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.errors import ExportError, LuaError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.definitions.karta.annotations import AggregateRule
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.draft import draft
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.export.customization import customization, script_of
from karta_interpreter.languages.lua.customization import load_customizations
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import PATHS, entry_of
from tests.definitions.openapi.draft.test_draft import INTEGER, RESOURCES, STRING, TEMPLATE, fields, items
from tests.export import forms
from tests.proofs.conformance import ours
from tests.proofs.conformance.customizations import Pair, Tally, compare_ours, difference, exported
from tests.support.examples import SWEEPS_ALL, few
from tests.support.rows import rows
from tests.support.scripts import answer

FEW = few(few(PATHS, "exported scripts"), "scripts")
KINDS = ("Job", "JobSet", "RayCluster", "PyTorchJob", "MPIJob", "StatefulSet")


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    found = [entry_of(path) for path in PATHS if path.parent.name in KINDS]
    return list(exported([entry._replace(cases=entry.swept) for entry in found], Tally()))


@pytest.fixture(scope="module")
def form_pairs() -> list[Pair]:
    return list(forms.pairs())


@pytest.mark.sweep
@pytest.mark.parametrize("operation", [each for each in Operation if each is not Operation.REVISE_COMPONENTS])
def test_exported_script_agrees_with_karta(pairs: list[Pair], operation: Operation) -> None:
    tally = Tally()

    for pair in pairs:
        if pair.operation is operation:
            compare_ours(pair, tally)

    assert not list(tally.failures())


@pytest.mark.sweep
@rows("path", FEW, ids=lambda path: path.parent.name)
def test_validate_finds_nothing_in_exported_scripts(path: Path) -> None:
    definition = entry_of(path).definition
    assert definition
    exported_kind = customization(definition, Operation).customization
    assert exported_kind

    (loaded,) = load_customizations(to_yaml(exported_kind), "exported")

    # All operations stand here. The command leaves out one of the two.
    assert {finding.rule for finding in loaded.findings} <= {"components-and-revision"}


@pytest.mark.sweep
@rows("path", FEW, ids=lambda path: path.parent.name)
def test_silent_cluster_counts_as_for_the_karta(path: Path) -> None:
    """One that says nothing is worse than one that has completed, whatever else that one is."""
    entry, tally = entry_of(path), Tally()
    metadata = {"name": "a", "generation": 2}

    for pair in exported([entry], Tally(), [Operation.AGGREGATE_STATUS]):
        template: Object = {**pair.definition.gvk.type_meta, "metadata": metadata, "spec": {}}
        items = [(StatusItem("north", status), StatusItem("south")) for status in entry.reported[::3]]
        compare_ours(pair._replace(calls=[Call(pair.operation, template, items=each) for each in items]), tally)

    assert not tally.differences


@pytest.mark.sweep
def test_so_is_its_answer_about_a_changed_object_or_there_is_a_reason(pairs: list[Pair]) -> None:
    tally = Tally()

    for pair in pairs:
        compare_ours(pair, tally, copies=1)

    assert not tally.differences
    assert tally.changed == tally.cases > 0


@pytest.mark.sweep
@pytest.mark.parametrize("operation", Operation)
def test_script_of_form_without_kind_answers_as_karta(form_pairs: list[Pair], operation: Operation) -> None:
    tally = Tally()

    for pair in form_pairs:
        if pair.operation is operation:
            compare_ours(pair, tally, copies=int(SWEEPS_ALL))

    assert not tally.differences
    assert tally.answers > tally.errors


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(fields(instances=INTEGER, resources=RESOURCES, image=STRING), id="pods in fragments"),
        pytest.param(
            fields(groups=items(name=STRING, tasks=items(name=STRING, replicas=INTEGER, template=TEMPLATE))),
            id="lists within lists",
        ),
    ],
)
def test_drafted_karta_is_exported_whole(spec: Any) -> None:
    kind = CustomKind("toys.example.io", GVK("example.io", "v1", "Toy"), fields(spec=spec))
    exported = customization(load_definition(draft(kind).karta), Operation)

    assert not exported.rejected


@rows(
    ("operation", "spec"),
    [
        pytest.param(Operation.INTERPRET_REPLICA, {"containers": False}, id="containers that are false"),
        pytest.param(Operation.INTERPRET_REPLICA, {"containers": {"a": {}}}, id="containers that are an object"),
        pytest.param(Operation.INTERPRET_REPLICA, {"containers": [{"resources": {"requests": {"cpu": {}}}}]},
            id="a quantity that is an object"),
        pytest.param(Operation.INTERPRET_REPLICA, {"containers": [{"resources": {"requests": {"cpu": 1e21}}}]},
            id="a quantity that int64 does not hold"),
        pytest.param(Operation.INTERPRET_REPLICA, {"containers": [{"resources": {"requests": {"cpu": "1e21"}}}]},
            id="a text of one"),
    ],
)  # fmt: skip
def test_script_rejects_pods_that_karta_rejects(pairs: list[Pair], operation: Operation, spec: Any) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"template": {"spec": spec}}}
    (pair,) = (each for each in pairs if each.operation is operation and each.definition.name == "batch-job-v1")

    assert pair.expected(Call(operation, job)).results is None
    with pytest.raises(LuaError):
        answer([pair.script], object=job)


@rows(
    "spec",
    [
        pytest.param({"initContainers": False}, id="init containers that are false"),
        pytest.param({"resourceClaims": {"a": 1}}, id="claims that are an object"),
        pytest.param(3, id="a number"),
    ],
)
def test_script_names_nothing_for_pods_that_cannot_be_read(pairs: list[Pair], spec: Any) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"template": {"spec": spec}}}
    (pair,) = (each for each in pairs if str(each).startswith("batch/v1, Kind=Job InterpretDependency"))

    assert pair.expected(Call(Operation.INTERPRET_DEPENDENCY, job)).results == {"dependencies": []}
    assert answer([pair.script], object=job) == {"dependencies": []}


def test_script_rejects_amount_without_all_digits(pairs: list[Pair]) -> None:
    def job(amount: int) -> Any:
        container = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": amount}}}
        return {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"containers": [container]}}}}

    operation = Operation.INTERPRET_REPLICA
    (pair,) = (each for each in pairs if each.operation is operation and each.definition.name == "batch-job-v1")
    exact, rounded = 2**53 - 1, 2**53 + 1

    assert answer([pair.script], object=job(exact)) == pair.expected(Call(operation, job(exact))).results
    with pytest.raises(LuaError, match="no exact quantity: nvidia"):
        answer([pair.script], object=job(rounded))


@pytest.mark.parametrize("containers", [False, "a", {"a": {}}], ids=["false", "a text", "an object"])
def test_script_rejects_wrong_type_of_containers_with_added_ones(pairs: list[Pair], containers: Any) -> None:
    worker = {"groupName": "a", "template": {"spec": {"containers": containers}}}
    cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {}, "spec": {"workerGroupSpecs": [worker]}}
    operation = Operation.INTERPRET_COMPONENT
    (pair,) = (each for each in pairs if each.operation is operation and each.definition.gvk.kind == "RayCluster")

    assert pair.expected(Call(operation, cluster)).results is None
    with pytest.raises(LuaError):
        answer([pair.script], object=cluster)


@pytest.mark.parametrize(
    "operation", [Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT, Operation.REVISE_REPLICA]
)
@pytest.mark.parametrize("spec", [False, 3, "a", [{"containers": []}]])
def test_script_rejects_wrong_type_of_pod_spec(pairs: list[Pair], operation: Operation, spec: Any) -> None:
    obj = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {}, "spec": {"template": {"spec": spec}}}
    (pair,) = (
        each for each in pairs if each.operation is operation and str(each.definition.gvk).startswith("apps/v1,")
    )

    assert pair.expected(Call(operation, obj, replicas=2)).results is None
    with pytest.raises(LuaError):
        answer([pair.script], object=obj, replicas=2)


def test_script_rejects_sum_of_replicas_beyond_int32(pairs: list[Pair]) -> None:
    template = {"template": {"spec": {"containers": [{"name": "main"}]}}}
    replicas = {"Master": template, "Worker": {**template, "replicas": 2147483647}}
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {},
        "spec": {"pytorchReplicaSpecs": replicas},
    }
    (pair,) = (
        each
        for each in pairs
        if each.operation is Operation.INTERPRET_REPLICA and each.definition.gvk.kind == "PyTorchJob"
    )

    assert pair.expected(Call(pair.operation, job)).results is None
    with pytest.raises(LuaError, match="the replicas add up to more than 2147483647"):
        answer([pair.script], object=job)


@pytest.mark.parametrize("elastic", ["replicatedjob/hot", "replicatedjob/hot, replicatedjob/warm", "replicatedjob"])
def test_script_changes_elastic_instances(pairs: list[Pair], elastic: str) -> None:
    jobset = next(pair.definition for pair in pairs if pair.definition.gvk.kind == "JobSet")
    path = ("metadata", "annotations", "karta-interpreter.io/elastic")
    definition = load_definition(edit.set_value(jobset.manifest, path, elastic))
    template = {"spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}}
    jobs = [{"name": name, "replicas": 2, "template": template} for name in ("hot", "cold", "warm")]
    obj = {
        "apiVersion": jobset.gvk.api_version,
        "kind": "JobSet",
        "metadata": {"name": "x"},
        "spec": {"replicatedJobs": jobs},
    }
    script = Script("ReviseReplica", script_of(definition, Operation.REVISE_REPLICA), definition.name)
    expected = interpret(definition, Call(Operation.REVISE_REPLICA, obj, replicas=9))
    assert answer([script], object=obj, replicas=9) == expected
    assert expected["revised"] != obj


@pytest.mark.parametrize("kind", ["JobSet", "StatefulSet"])
def test_script_keeps_indivisible_workload(pairs: list[Pair], kind: str) -> None:
    karta = next(pair.definition for pair in pairs if pair.definition.gvk.kind == kind)
    path = ("metadata", "annotations", "karta-interpreter.io/elastic")
    definition = load_definition(edit.set_value(karta.manifest, path, "none"))
    pods = {"spec": {"containers": [{"name": "main"}]}}
    specs = {
        "JobSet": {"replicatedJobs": [{"name": "a", "replicas": 3, "template": {"spec": {"template": pods}}}]},
        "StatefulSet": {"replicas": 3, "template": pods},
    }
    obj = {"apiVersion": karta.gvk.api_version, "kind": kind, "metadata": {"name": "x"}, "spec": specs[kind]}
    script = Script("ReviseReplica", script_of(definition, Operation.REVISE_REPLICA), definition.name)
    assert answer([script], object=obj, replicas=3) == {"revised": obj}
    for other in (0, 2, 12):
        with pytest.raises(LuaError, match=rf"cannot set {other} replicas: it has 3, .*elastic: none"):
            answer([script], object=obj, replicas=other)


EARLY, LATE = "2026-01-31T12:00:00Z", "2026-01-31T13:30:00+01:00"
BEFORE: Sequence[Any] = (
    None,
    {"x": 9, "y": {"x": 9, "z": "1"}},
    {"x": "Up", "phase": "Running"},
    {"x": "3k", "y": {"x": "9"}},
)
"""Statuses that the template has before."""
VALUES: Mapping[str, Sequence[Any]] = {
    "no cluster": [],
    "numbers": [1, 2],
    "numbers, one of them unlimited, and an empty text": [2147483647, 5, ""],
    "quantities and an empty text": ["500m", "1500m", ""],
    "durations": ["1h", "90m", "5s"],
    "truth values": [True, False],
    "times and an empty text": [LATE, EARLY, ""],
    "texts longer than a time of Kubernetes": [f"2026-01-31T12:00:0{second}.{'0' * 20}Z" for second in (2, 1)],
    "empty texts": ["", ""],
    "objects": [{"a": 1, "b": 2}, {"a": 3, "c": 4}],
    "lists": [["a"], ["b", "a"]],
    "values of several types": [{"x": 1}, "a"],
}
"""What the clusters report."""


@pytest.mark.sweep
@rows("rule", AggregateRule)
def test_script_merges_by_aggregate_rules(rule: AggregateRule) -> None:
    of_list = AggregateRule.SUM if rule is AggregateRule.COUNTER else rule  # counters in lists are rejected
    definition = load_definition(_ruled({".status.x": rule, ".status.y.x": rule, ".status.y.l[].x": of_list}))
    script = Script("AggregateStatus", script_of(definition, Operation.AGGREGATE_STATUS), "toy")
    pair = Pair(definition, Operation.AGGREGATE_STATUS, script, [])

    found = {
        (name, number): difference(pair, call, ours.ask(pair.question(call)))
        for name, number in few([*product(VALUES, range(len(BEFORE)))], rule)
        for call in [_call(VALUES[name], BEFORE[number])]
    }

    assert {case: text for case, text in found.items() if text} == {}


def _call(values: Sequence[Any], before: Any) -> Call:
    """The call about a template with a status, and about clusters that report one value each in several fields."""
    items = tuple(
        StatusItem(name, {"x": value, "y": {"x": value, "z": phase, "l": [{"name": "n", "x": value}]}, "phase": phase})
        for value, name, phase in zip(values, "abc", ("Running", "Failed", "Odd"), strict=False)
    )
    obj = {"apiVersion": "example.io/v1", "kind": "Toy", "metadata": {"name": "x"}, "status": before}
    return Call(
        Operation.AGGREGATE_STATUS, {key: value for key, value in obj.items() if value is not None}, items=items
    )


def _ruled(rules: Mapping[str, str]) -> Any:
    """A definition of a kind with phases, and with rules for fields of its status."""
    root = {
        "name": "toy",
        "kind": {"group": "example.io", "version": "v1", "kind": "Toy"},
        "statusDefinition": {
            "phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {"running": [{"byPhase": "Running"}], "failed": [{"byPhase": "Failed"}]},
        },
    }
    annotations = {"karta-interpreter.io/aggregate": "".join(f"{path}: {rule}\n" for path, rule in rules.items())}
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "toy", "annotations": annotations},
        "spec": {"structureDefinition": {"rootComponent": root}},
    }


PHASE = {"phaseDefinition": {"path": ".status.phase"}}
_COUNTED = {
    "statusMappings": {
        "failed": [{"byPhase": "Failed"}],
        "running": [{"byExpression": {"expression": ".status.ready >= 3", "expectedResult": "true"}}],
    }
}
_PARTS = {
    "statusMappings": {
        "failed": [{"byPhase": "Failed"}],
        "running": [{"byExpression": {"expression": "all(.status.parts[]?; .ready > 0)", "expectedResult": "true"}}],
    }
}
RATIO = ".status.ready / .status.total"


def _expression(expression: str, expected: str) -> Any:
    return {"statusMappings": {"running": [{"byExpression": {"expression": expression, "expectedResult": expected}}]}}


@rows(
    ("rules", "named", "status", "is_healthy", "reason"),
    [
        ({"phaseDefinition": {"path": ".status | .phase"}, "statusMappings": {"running": [{"byPhase": "Up"}]}}, "",
         {"phase": "Up"}, True, "a path with a pipe takes a line of its own"),
        ({"conditionsDefinition": {"path": ".status | .conditions"},
          "statusMappings": {"running": [{"byConditions": [{"type": "Ready", "status": "True"}]}]}}, "",
         {"conditions": [{"type": "Ready", "status": "True"}]}, True, "conditions as well"),
        ({**PHASE, "statusMappings": {"failed": [{"byPhase": "Bad"}]}}, "Running, Undefined",
         {"phase": "Bad"}, False, "what has another status is not Undefined"),
        ({**PHASE, "statusMappings": {"suspended": [{"byPhase": "Off"}]}}, "Undefined",
         {"phase": "Off"}, False, "nor is it where the other status counts for nothing"),
        (_expression("[.status.parts[]?.n]", "1"), "", {"x": 1}, False, "an empty list has the text of no number"),
        (_expression("[.status.parts[]?.n]", "[1,2]"), "", {"x": 1}, False, "nor that of a longer list"),
        (_expression("[.status.parts[]?.n]", "[1,2]"), "", {"parts": [{"n": 1}, {"n": 2}]}, True, "a list has a text"),
        (_expression(RATIO, "1"), "", {"ready": 1, "total": 3}, False, "Lua writes a third otherwise than jq"),
        (_expression(RATIO, "0.5"), "", {"ready": 1, "total": 2}, True, "a number is the expected one"),
        (_expression(".status.x", "1"), "", {"x": "1"}, True, "and so is a text of it"),
        (_expression(".status.x", "1.0"), "", {"x": 1}, False, "no number has another text than jq writes"),
        (_expression(".status.x", "null"), "", {"y": 1}, True, "the text of null"),
        ({**_COUNTED, **PHASE}, "", {"phase": "New", "ready": 0}, False, "a phase that nobody knows beside a counter"),
        ({**_COUNTED, **PHASE}, "", {"phase": "New", "ready": 3}, True, "or beside a full one"),
        ({**_PARTS, **PHASE}, "", {"phase": "New", "parts": [{"ready": 0}]}, False, "or beside those of parts"),
    ],
)  # fmt: skip
def test_script_matches_status_as_karta(rules: Any, named: str, status: Any, is_healthy: bool, reason: str) -> None:
    definition = load_definition(_judged(rules, named))
    obj = {"apiVersion": "example.io/v1", "kind": "Toy", "metadata": {"name": "x"}, "status": status}
    script = Script("InterpretHealth", script_of(definition, Operation.INTERPRET_HEALTH), "toy")

    assert interpret(definition, Call(Operation.INTERPRET_HEALTH, obj)) == {"healthy": is_healthy}, reason
    assert answer([script], object=obj) == {"healthy": is_healthy}, reason


@rows("expected", ["[]", "{}", '{"a":[]}', "9007199254740992"])
def test_script_with_ambiguous_expected_text_is_rejected(expected: str) -> None:
    definition = load_definition(_judged(_expression(".status.x", expected)))

    with pytest.raises(ExportError, match="Lua"):
        script_of(definition, Operation.INTERPRET_HEALTH)


def test_script_that_writes_empty_object_is_rejected() -> None:
    karta = _ruled({})
    actions = {"suspendActions": [{"path": ".spec.hold", "value": '{"on": true}'}]}
    actions["resumeActions"] = [{"path": ".spec.hold", "value": "{}"}]
    karta["spec"]["structureDefinition"]["rootComponent"]["suspendDefinition"] = actions
    karta["metadata"]["annotations"] = {}

    with pytest.raises(ExportError, match=r"resumeActions, `\.spec\.hold`: Lua has one value for"):
        script_of(load_definition(karta), Operation.RETAIN)


def _judged(rules: Any, healthy: str = "") -> Any:
    """A definition with rules for its statuses, of which some are named healthy."""
    karta = _ruled({})
    karta["spec"]["structureDefinition"]["rootComponent"]["statusDefinition"] = rules
    karta["metadata"]["annotations"] = {"karta-interpreter.io/healthy-statuses": healthy} if healthy else {}
    return karta


_EACH = ".spec.replicatedJobs[] | if .proxy then {containers: [.proxy]} else null end"


@pytest.mark.parametrize(
    "operation", [Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT, Operation.INTERPRET_DEPENDENCY]
)
@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        pytest.param(_EACH, True, id="one for each"),
        pytest.param("{containers: [.spec.replicatedJobs[0].proxy]}", True, id="one for all"),
        pytest.param("{containers: .spec.replicatedJobs[].sidecars}", True, id="one for each, in an object"),
        pytest.param(
            '{firstInitContainers: [.spec.replicatedJobs[0].proxy + {restartPolicy: "Always"}], initContainers: '
            "[.spec.replicatedJobs[2].proxy]}",
            True,
            id="before and after those of the template",
        ),
        pytest.param(".spec.nothing[] | {containers: [.]}", True, id="none"),
        pytest.param(".spec.replicatedJobs[] | select(.proxy) | {containers: [.proxy]}", False, id="not for each"),
    ],
)
def test_script_adds_containers_to_instances(
    pairs: list[Pair], operation: Operation, expression: str, *, fits: bool
) -> None:
    jobset = next(pair.definition for pair in pairs if pair.definition.gvk.kind == "JobSet")
    path = ("metadata", "annotations", "karta-interpreter.io/added-containers")
    definition = load_definition(edit.set_value(jobset.manifest, path, f"replicatedjob: '{expression}'"))
    script = Script(operation, script_of(definition, operation), "jobset")
    wait = {"name": "wait", "resources": {"requests": {"cpu": "2"}}}
    template = {"spec": {"template": {"spec": {"initContainers": [wait], "containers": [{"name": "main"}]}}}}
    jobs: list[Any] = [{"name": name, "replicas": 2, "template": template} for name in ("hot", "cold", "warm")]
    for job, cpu in ((jobs[0], "3"), (jobs[2], "1")):
        requests = {"requests": {"cpu": cpu}}
        secret = [{"secretRef": {"name": f"secret-{job['name']}"}}]
        job["proxy"] = {"name": "proxy", "resources": requests, "envFrom": secret}
        job["sidecars"] = [job["proxy"]]
    obj = {
        "apiVersion": jobset.gvk.api_version,
        "kind": "JobSet",
        "metadata": {"name": "x", "namespace": "y"},
        "spec": {"replicatedJobs": jobs},
    }

    if fits or operation is Operation.INTERPRET_DEPENDENCY:  # which names the rest
        assert answer([script], object=obj) == interpret(definition, Call(operation, obj))
        return
    with pytest.raises(LuaError, match="2 results for 3 instances"):
        answer([script], object=obj)


@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_script_knows_dependencies_and_no_requests_of_containers_that_are_added_together(
    pairs: list[Pair], field: str
) -> None:
    jobset = next(pair.definition for pair in pairs if pair.definition.gvk.kind == "JobSet")
    path = ("metadata", "annotations", "karta-interpreter.io/added-containers")
    text = f"replicatedjob: '{{{field}: [{{containers: [{{containers: [.spec.proxy]}}]}}]}}'"
    definition = load_definition(edit.set_value(jobset.manifest, path, text))
    jobs = [{"name": "a", "template": {"spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}}}]
    proxy = {"name": "proxy", "envFrom": [{"secretRef": {"name": "keys"}}]}
    metadata, spec = {"name": "x", "namespace": "y"}, {"replicatedJobs": jobs, "proxy": proxy}
    obj = {"apiVersion": jobset.gvk.api_version, "kind": "JobSet", "metadata": metadata, "spec": spec}

    operation = Operation.INTERPRET_DEPENDENCY
    expected = interpret(definition, Call(operation, obj))
    assert [each["name"] for each in expected["dependencies"]] == ["keys"]
    assert answer([Script(operation, script_of(definition, operation), "jobset")], object=obj) == expected
    operation = Operation.INTERPRET_REPLICA
    with pytest.raises(LuaError, match="a script cannot add containers together"):
        answer([Script(operation, script_of(definition, operation), "jobset")], object=obj)
