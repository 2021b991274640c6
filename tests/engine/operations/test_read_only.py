"""The operations that only read: replica, component, dependency, status."""

from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.requirements import Counting
from karta_interpreter.base.k8s.values import MOST_REPLICAS
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.explain.warnings import warnings_about
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, Operation, Options
from tests.engine.operations.conftest import Define, component, template
from tests.support import both_ways
from tests.support.rows import rows

MASTER = component("master", ".spec.master.template", ".spec.master.replicas // 1")
WORKER = component("worker", ".spec.worker.template", ".spec.worker.replicas // 1")


def requests(**quantities: str) -> dict[str, Any]:
    return template(resources={"requests": quantities})


def obj(status: Any = None, metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "t", "namespace": "ml", **(metadata or {})}
    found = {"apiVersion": "example.io/v1", "kind": "Train", "metadata": metadata, "spec": spec}
    return found if status is None else {**found, "status": status}


def ask(
    definition: Definition, operation: Operation, subject: dict[str, Any], options: Options = DEFAULT_OPTIONS
) -> Any:
    return both_ways.ask(definition, Call(operation, subject), options)


def test_replica_adds_pods_and_takes_the_largest_requests(define: Define) -> None:
    subject = obj(
        master={"template": requests(cpu="4", memory="1Gi")},
        worker={"template": requests(cpu="2", memory="8Gi"), "replicas": 3},
    )
    answer = ask(define(MASTER, WORKER), Operation.INTERPRET_REPLICA, subject)
    assert answer == {"replica": 4, "requires": {"resourceRequest": {"cpu": "4", "memory": "8Gi"}}}


def test_replica_rejects_a_sum_that_karmada_cannot_hold(define: Define) -> None:
    subject = obj(master={"template": requests()}, worker={"template": requests(), "replicas": MOST_REPLICAS})

    with pytest.raises(InterpretationError, match="add up to 2147483648, more than 2147483647"):
        ask(define(MASTER, WORKER), Operation.INTERPRET_REPLICA, subject)


def test_replica_ignores_what_is_scaled_to_zero_unless_all_is(define: Define) -> None:
    master = {"template": requests(cpu="9"), "replicas": 0}
    small = {"template": requests(cpu="1"), "replicas": 1}
    definition = define(MASTER, WORKER)
    answer = ask(definition, Operation.INTERPRET_REPLICA, obj(master=master, worker=small))
    assert answer == {"replica": 1, "requires": {"resourceRequest": {"cpu": "1"}}}
    answer = ask(definition, Operation.INTERPRET_REPLICA, obj(master=master, worker={**small, "replicas": 0}))
    assert answer == {"replica": 0, "requires": {"resourceRequest": {"cpu": "9"}}}, "still a workload to Karmada"


def test_node_claim_counts_if_all_agree(define: Define) -> None:
    def on(zone: str) -> dict[str, Any]:
        return {"spec": {**template()["spec"], "nodeSelector": {"zone": zone}}}

    definition = define(MASTER, WORKER)
    same = ask(definition, Operation.INTERPRET_REPLICA, obj(master={"template": on("a")}, worker={"template": on("a")}))
    assert same["requires"] == {"nodeClaim": {"nodeSelector": {"zone": "a"}}}
    mixed = obj(master={"template": on("a")}, worker={"template": on("b")})
    assert ask(definition, Operation.INTERPRET_REPLICA, mixed)["requires"] is None


def test_quota_estimate_names_namespace_and_priority_class(define: Define) -> None:
    urgent = {"spec": {**requests(cpu="1")["spec"], "priorityClassName": "urgent"}}
    definition, subject = define(MASTER), obj(master={"template": urgent})
    native = {"resourceRequest": {"cpu": "1"}}
    assert ask(definition, Operation.INTERPRET_REPLICA, subject)["requires"] == native
    gate = Options(resource_quota_estimate=True)
    assert ask(definition, Operation.INTERPRET_REPLICA, subject, gate)["requires"] == {
        **native,
        "namespace": "ml",
        "priorityClassName": "urgent",
    }
    [found] = ask(definition, Operation.INTERPRET_COMPONENT, subject, gate)["components"]
    assert found["replicaRequirements"] == {**native, "priorityClassName": "urgent"}, (
        "components have no namespace field"
    )


def test_requests_are_the_schedulers_unless_karmadas_formula_is_asked_for(define: Define) -> None:
    pods = requests(cpu="500m")
    sidecar = {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}}}
    pods["spec"]["initContainers"] = [sidecar]
    definition, subject = define(MASTER), obj(master={"template": pods})
    karmada = Options(pod_requests=Counting.KARMADA)
    for options, cpu in ((DEFAULT_OPTIONS, "700m"), (karmada, "500m")):
        expected = {"resourceRequest": {"cpu": cpu}}
        assert ask(definition, Operation.INTERPRET_REPLICA, subject, options)["requires"] == expected
        [found] = ask(definition, Operation.INTERPRET_COMPONENT, subject, options)["components"]
        assert found["replicaRequirements"] == expected


def test_components_come_in_definition_order(define: Define) -> None:
    subject = obj(worker={"template": requests(cpu="1"), "replicas": 2}, master={"template": template()})
    assert ask(define(MASTER, WORKER), Operation.INTERPRET_COMPONENT, subject)["components"] == [
        {"name": "master", "replicas": 1},
        {"name": "worker", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}},
    ]


def test_unreadable_template_names_its_pod_set(define: Define) -> None:
    subject = obj(master={"template": requests(cpu="lots")})
    with pytest.raises(InterpretationError, match=r"definition train, pod template of master: .*cpu"):
        ask(define(MASTER), Operation.INTERPRET_REPLICA, subject)


def test_dependencies_are_sorted_and_single(define: Define) -> None:
    pods = {"spec": {**template()["spec"], "serviceAccountName": "runner", "imagePullSecrets": [{"name": "pull"}]}}
    extra = '[{apiVersion: v1, kind: ConfigMap, name: ".spec.config, .spec.other"}]'
    definition = define(MASTER, WORKER, dependencies=extra)
    subject = obj(master={"template": pods}, worker={"template": pods}, config="settings")
    found = ask(definition, Operation.INTERPRET_DEPENDENCY, subject)["dependencies"]
    assert [(one["kind"], one["namespace"], one["name"]) for one in found] == [
        ("ConfigMap", "ml", "settings"),
        ("Secret", "ml", "pull"),
        ("ServiceAccount", "ml", "runner"),
    ]


VOLUMES = [
    {"name": "data", "persistentVolumeClaim": {"claimName": "placeholder"}},
    {"name": "media", "persistentVolumeClaim": {"claimName": "media"}},
]


@rows(
    ("entries", "names"),
    [
        pytest.param("[{claims: '.spec.claims[].name'}]", ["media"], id="a claim is made of a template"),
        pytest.param("[{claims: .spec.none}]", ["media", "placeholder"], id="there are no such templates"),
        pytest.param(
            "[{pods: '.spec.patches[]'}]", ["media", "more", "placeholder", "pull"], id="what patches add to pods"
        ),
        pytest.param(
            "[{pods: '.spec.patches[]'}, {claims: '.spec.claims[].name'}]", ["media", "pull"],
            id="templates replace volumes of patches, too",
        ),
        pytest.param("[{pods: .spec.none}]", ["media", "placeholder"], id="no patch"),
    ],
)  # fmt: skip
def test_dependencies_beside_those_of_components(define: Define, entries: str, names: list[str]) -> None:
    patch = {
        "spec": {
            "imagePullSecrets": [{"name": "pull"}],
            "volumes": [
                VOLUMES[0] | {"name": "data"},
                {"name": "data", "persistentVolumeClaim": {"claimName": "more"}},
            ],
        }
    }
    subject = obj(
        master={"template": {"spec": {**template()["spec"], "volumes": VOLUMES}}},
        claims=[{"name": "data"}],
        patches=[patch, None],
    )
    found = ask(define(MASTER, dependencies=entries), Operation.INTERPRET_DEPENDENCY, subject)["dependencies"]
    assert sorted(one["name"] for one in found) == names


def test_part_of_the_annotation_that_fails_costs_no_other_name(define: Define) -> None:
    needed = "[{pods: .spec.patch}, {apiVersion: v1, kind: Secret, name: .spec.secret}, {parameters: .spec.patch}]"
    definition = define(MASTER, dependencies=needed)
    subject = obj(patch="text", secret="key")  # noqa: S106
    found = ask(definition, Operation.INTERPRET_DEPENDENCY, subject)
    assert [one["name"] for one in found["dependencies"]] == ["key"]
    warnings = warnings_about(definition, subject, Operation.INTERPRET_DEPENDENCY)
    assert [warning.rule for warning in warnings if warning.rule != "pods-not-found"] == ["dependency-failed"] * 2
    assert sum("gives a string where an object belongs" in warning.note for warning in warnings) == 2


def test_omitted_generation_is_not_compared(define: Define) -> None:
    definition = define(MASTER, mappings={"running": [{"byPhase": "Up"}]}, aggregate=".status.observedGeneration: omit")
    subject = obj({"phase": "Up", "observedGeneration": 1}, {"generation": 4})
    assert ask(definition, Operation.INTERPRET_STATUS, subject) == {"status": {"phase": "Up"}}
    assert ask(definition, Operation.INTERPRET_HEALTH, subject) == {"healthy": True}


def test_dependency_name_must_be_text(define: Define) -> None:
    definition = define(MASTER, dependencies='[{apiVersion: v1, kind: Secret, name: ".spec.secret"}]')
    assert ask(definition, Operation.INTERPRET_DEPENDENCY, obj(secret=7)) == {"dependencies": []}
    notes = {warning.rule: warning.note for warning in warnings_about(definition, obj(secret=7))}
    assert "gives a number where a string belongs" in notes["dependency-failed"]


@rows(
    ("subject", "expected"),
    [
        pytest.param(obj(), {}, id="no status is an empty one: Karmada refuses null"),
        pytest.param(obj({"phase": "x"}), {"phase": "x"}, id="the status as it is"),
        pytest.param(obj({"observedGeneration": 2}, {"generation": 3}), {"observedGeneration": 2, "generation": 3},
            id="with observedGeneration the object's generation comes along"),
        pytest.param(obj({"observedGeneration": 3},
            {"generation": 3, "annotations": {"resourcetemplate.karmada.io/generation": "12"}}),
            {"observedGeneration": 3, "generation": 3, "resourceTemplateGeneration": 12},
            id="and the template's, as a number"),
    ],
)  # fmt: skip
def test_status(define: Define, subject: dict[str, Any], expected: dict[str, Any]) -> None:
    assert ask(define(MASTER), Operation.INTERPRET_STATUS, subject) == {"status": expected}


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        pytest.param(obj("fine"), "must be an object, but is a string", id="text as a status"),
        pytest.param(
            obj({"observedGeneration": 1}, {"annotations": {"resourcetemplate.karmada.io/generation": "x"}}),
            "must be a number",
            id="a generation that is not a number",
        ),
    ],
)
def test_status_of_the_wrong_shape(define: Define, subject: dict[str, Any], words: str) -> None:
    with pytest.raises(InterpretationError, match=words):
        ask(define(MASTER), Operation.INTERPRET_STATUS, subject)


@rows(
    "text",
    [
        pytest.param("1_000", id="an underscore, which only Python reads"),
        pytest.param(" 5", id="a space"),
        pytest.param("\u0663", id="a digit of another script"),
        pytest.param("9223372036854775808", id="more than 64 bits"),
        pytest.param("9" * 5000, id="more digits than Python reads"),
        pytest.param("", id="empty"),
    ],
)
def test_template_generation_must_be_a_number(define: Define, text: str) -> None:
    subject = obj({"observedGeneration": 1}, {"annotations": {"resourcetemplate.karmada.io/generation": text}})
    with pytest.raises(InterpretationError, match=r"must be a number of 64 bits$"):  # and does not repeat the text
        ask(define(MASTER), Operation.INTERPRET_STATUS, subject)


def test_disallowed_operation_is_refused(define: Define) -> None:
    definition = define(MASTER, operations="InterpretHealth,InterpretReplica")
    with pytest.raises(InterpretationError, match="allows InterpretHealth, InterpretReplica") as caught:
        ask(definition, Operation.INTERPRET_STATUS, obj())
    assert caught.value.code == 400


_BY_RULE = {
    "running": [{"byConditions": [{"type": "Ready", "status": "True", "reason": "AllUp"}]}],
    "suspended": [{"byExpression": {"expression": ".spec.paused // false", "expectedResult": "true"}}],
}


@rows(
    ("subject", "healthy"),
    [
        pytest.param(
            obj({"conditions": [{"type": "Ready", "status": "True", "reason": "AllUp"}]}),
            True,
            id="type, status, reason",
        ),
        pytest.param(obj({"conditions": [{"type": "Ready", "status": "True", "reason": "Some"}]}), False, id="reason"),
        pytest.param(obj(paused=True), True, id="an expression about the spec"),
    ],
)
def test_health_reads_conditions_and_expressions(define: Define, subject: dict[str, Any], *, healthy: bool) -> None:
    definition = define(mappings=_BY_RULE)
    assert ask(definition, Operation.INTERPRET_HEALTH, subject) == {"healthy": healthy}


@rows(
    ("secrets", "names"),
    [
        pytest.param([{"name": "key"}], ["key"], id="without a namespace"),
        pytest.param([{"name": "key", "space": ""}], ["key"], id="with none"),
        pytest.param([{"name": "key", "space": "ml"}], ["key"], id="its own namespace"),
        pytest.param([{"name": "key", "space": "vault"}], [], id="another namespace"),
        pytest.param(
            [{"name": "a", "space": "vault"}, {"name": "b", "space": "ml"}, {"name": "c"}],
            ["b", "c"],
            id="one for each",
        ),
    ],
)
def test_dependency_is_named_in_the_namespace_of_the_object(
    define: Define, secrets: list[dict[str, str]], names: list[str]
) -> None:
    entry = "[{apiVersion: v1, kind: Secret, name: '.spec.secrets[].name', namespace: '.spec.secrets[].space'}]"
    subject = obj(secrets=secrets)
    found = ask(define(MASTER, dependencies=entry), Operation.INTERPRET_DEPENDENCY, subject)["dependencies"]
    assert [(each["namespace"], each["name"]) for each in found] == [("ml", name) for name in names]


def test_one_namespace_is_that_of_all_names(define: Define) -> None:
    entry = "[{apiVersion: v1, kind: Secret, name: '.spec.secrets[]', namespace: '.spec.space'}]"
    definition = define(MASTER, dependencies=entry)
    for space, number in (("vault", 0), ("ml", 2)):
        subject = obj(secrets=["a", "b"], space=space)
        assert len(ask(definition, Operation.INTERPRET_DEPENDENCY, subject)["dependencies"]) == number


_ROLE = {"podSelector": MASTER["podSelector"]}


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param({"podSpecPath": ".spec.master.pods"}, id="a bare spec"),
        pytest.param({"fragmentedPodSpecDefinition": {"containersPath": ".spec.master.pods.containers"}}, id="pieces"),
    ],
)
def test_pods_need_no_template(define: Define, pods: dict[str, Any]) -> None:
    definition = define({**_ROLE, "name": "master", "specDefinition": pods})
    subject = obj(master={"pods": requests(cpu="2")["spec"]})
    [found] = ask(definition, Operation.INTERPRET_COMPONENT, subject)["components"]
    assert found["replicaRequirements"] == {"resourceRequest": {"cpu": "2"}}


def test_metadata_of_pods_must_be_an_object(define: Define) -> None:
    pods = {"podSpecPath": ".spec.master.pods", "metadataPath": ".spec.master.meta"}
    definition = define({**_ROLE, "name": "master", "specDefinition": pods})
    subject = obj(master={"pods": template()["spec"], "meta": "text"})
    with pytest.raises(InterpretationError, match="metadataPath"):
        ask(definition, Operation.INTERPRET_COMPONENT, subject)


def test_added_containers_count_and_are_needed(define: Define) -> None:
    definition = define(MASTER, **{"added-containers": "master: '{containers: [.spec.sidecar]}'"})
    sidecar = {"name": "side", "resources": {"requests": {"cpu": "1"}}, "envFrom": [{"secretRef": {"name": "key"}}]}
    subject = obj(master={"template": requests(cpu="2")}, sidecar=sidecar)
    answer = ask(definition, Operation.INTERPRET_REPLICA, subject)
    assert answer["requires"] == {"resourceRequest": {"cpu": "3"}}
    [found] = ask(definition, Operation.INTERPRET_DEPENDENCY, subject)["dependencies"]
    assert found["name"] == "key"
