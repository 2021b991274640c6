import copy
from typing import Any

import pytest

from karta_interpreter import Karta
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.verification import Question, Verdict
from tests.engine.verification.member import Thing, container, deployment, evidence, judged, pod, verdicts, workload
from tests.support.rows import rows

OK, DIFFERS, UNJUDGED = Verdict

_PROXY = container("istio-proxy", "100m")
_ADDED = "metadata.annotations.karta-interpreter.io/added-containers"


def _replica_set(*containers: Thing) -> Thing:
    spec = {"template": {"spec": {"containers": list(containers)}}}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "it-1", "uid": "rs"}, "spec": spec}


@rows(
    ("template", "admitted"),
    [
        pytest.param([container(cpu=None)], [container(cpu=None)], id="no-requests"),
        pytest.param([container()], [container(), container("debug", None)], id="a-container-that-requests-nothing"),
        pytest.param(
            [container(resources={"limits": {"cpu": "1"}})],
            [container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "1"}})],
            id="a-limit-becomes-a-request",
        ),
        pytest.param([container(cpu="0.5")], [container(cpu="500m")], id="another-spelling"),
    ],
)
def test_equal_requests_are_no_difference(template: list[Thing], admitted: list[Thing]) -> None:
    shown = evidence(deployment(*template), *(pod(number, *admitted) for number in (1, 2)))

    assert verdicts(Question.REQUIREMENTS, shown) == [(OK, "")]


def test_native_sidecar_and_heavy_init_container_count_as_the_scheduler_counts() -> None:
    heavy, sidecar = container("migrate", "4"), container("log", "200m", restartPolicy="Always")

    def with_init(obj: Thing) -> None:
        obj["spec"]["template"]["spec"]["initContainers"] = [heavy, sidecar]

    shown = evidence(deployment(change=with_init), *(pod(each, initContainers=[heavy, sidecar]) for each in (1, 2)))
    assert verdicts(Question.REQUIREMENTS, shown) == [(OK, "")]


def test_light_init_container_of_a_webhook_is_outweighed_by_the_pod() -> None:
    shown = evidence(deployment(), *(pod(each, initContainers=[container("init", "100m")]) for each in (1, 2)))

    assert verdicts(Question.REQUIREMENTS, shown) == [(OK, "")]


@rows(
    ("owners", "who"),
    [
        pytest.param((), "a webhook or the operator", id="the-workload-controls-the-pods"),
        pytest.param((_replica_set(container()),), "a webhook", id="the-owner-does-not-have-it"),
        pytest.param((_replica_set(container(), _PROXY),), "the operator", id="the-owner-has-it"),
    ],
)
def test_added_container_is_named_with_line_that_counts_it(owners: tuple[Thing, ...], who: str) -> None:
    pods = [pod(number, container(), _PROXY, owner="rs") for number in (1, 2)]

    (found,) = judged(Question.REQUIREMENTS, evidence(deployment(), *pods, owners=owners))
    assert found.reason == f"container istio-proxy, 100m cpu, added by {who}, is not counted"
    assert found.detail == "deployment: 2 of 2 pods, 1 cpu answered, 1100m cpu requested"
    assert found.field == _ADDED
    assert (
        found.fix == """deployment: '{containers: [{name: "istio-proxy", resources: {requests: {"cpu": "100m"}}}]}'"""
    )


def test_line_of_added_containers_makes_the_answer_right() -> None:
    pods = [pod(number, container(), _PROXY) for number in (1, 2)]
    shown = evidence(deployment(), *pods)
    (found,) = judged(Question.REQUIREMENTS, shown)
    manifest = Karta.for_object(shown.object).definition.manifest
    annotations = {**manifest["metadata"]["annotations"], "karta-interpreter.io/added-containers": found.fix}
    repaired = Karta.load({**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}})

    assert [each.verdict for each in judged(Question.REQUIREMENTS, shown, repaired)] == [OK]


@rows(
    ("before", "after"),
    [
        pytest.param(["logfile"], [], id="before those of the template"),
        pytest.param([], ["wait"], id="after them"),
        pytest.param(["logfile"], ["wait"], id="on both sides"),
    ],
)
def test_lines_of_added_init_containers_keep_their_order(before: list[str], after: list[str]) -> None:
    sidecars = [container(name, "20") | {"restartPolicy": "Always"} for name in ("logfile", "wait")]
    own = container("own", "10")
    added = {each["name"]: each for each in sidecars}
    listed = [*(added[name] for name in before), own, *(added[name] for name in after)]

    def with_init(obj: Thing) -> None:
        obj["spec"]["template"]["spec"]["initContainers"] = [own]

    pods = [pod(number, container(), initContainers=listed) for number in (1, 2)]
    found = judged(Question.REQUIREMENTS, evidence(deployment(change=with_init), *pods))

    assert [each.fix.split("[")[0] for each in found] == [
        *(["deployment: '{firstInitContainers: "] * len(before)),
        *(["deployment: '{initContainers: "] * len(after)),
    ]


def test_init_container_that_adds_nothing_is_not_named() -> None:
    listed = [container("small", "10m"), container("large", "4")]
    pods = [pod(number, container(), initContainers=listed) for number in (1, 2)]
    found = judged(Question.REQUIREMENTS, evidence(deployment(), *pods))

    assert [each.reason for each in found] == [
        "container large, 4 cpu, added by a webhook or the operator, is not counted"
    ]


def test_init_containers_that_need_the_same_are_all_named() -> None:
    listed = [container("one", "4"), container("two", "4")]
    found = judged(Question.REQUIREMENTS, evidence(deployment(replicas=1), pod(1, container(), initContainers=listed)))

    assert [each.reason.split(",")[0] for each in found] == ["container one", "container two"]


def test_container_of_a_looked_up_template_is_not_one_that_others_add() -> None:
    spec = {"podTemplate": {"spec": {"containers": [container(), container("proxy")]}}}
    template = workload("extensions.agents.x-k8s.io/v1beta1", "SandboxTemplate", spec, name="a")
    pool = workload("extensions.agents.x-k8s.io/v1beta1", "SandboxWarmPool", {"sandboxTemplateRef": {"name": "a"}})
    shown = evidence(pool, pod(1, container(), container("proxy")), reader=Known.of([template]))
    assert verdicts(Question.REQUIREMENTS, shown) == [(OK, "")]
    manifest = copy.deepcopy(Karta.for_object(pool).definition.manifest)
    wrong = "$template.spec.podTemplate | {spec: {containers: .spec.containers[:1]}}"
    manifest["spec"]["structureDefinition"]["rootComponent"]["specDefinition"] = {"podTemplateSpecPath": wrong}

    (found,) = judged(Question.REQUIREMENTS, shown, Karta.load(manifest))
    assert (found.verdict, found.reason) == (DIFFERS, "container proxy, 1 cpu, is not counted")
    assert found.field == "spec.structureDefinition.rootComponent.specDefinition.podTemplateSpecPath"


def test_changed_request_is_named_with_both_amounts() -> None:
    shown = evidence(deployment(), pod(1, container(cpu="2")), pod(2, container(cpu="2")))

    (found,) = judged(Question.REQUIREMENTS, shown)
    assert (found.verdict, found.reason) == (DIFFERS, "container main requests 2 cpu, not 1 cpu")
    assert found.field == "spec.structureDefinition.rootComponent.specDefinition.podTemplateSpecPath"


def _limited(text: str, **sections: Thing) -> Thing:
    annotations = {"kubernetes.io/limit-ranger": f"LimitRanger plugin set: {text}"}
    return pod(1, container(resources=sections), annotations=annotations)


@rows(
    ("admitted", "verdict"),
    [
        pytest.param(_limited("memory request for container main", requests={"cpu": "1", "memory": "1Gi"}), OK,
            id="a-request"),
        pytest.param(_limited("memory request for container main; ephemeral-storage, memory limit for container main",
            requests={"cpu": "1", "memory": "1Gi"}, limits={"ephemeral-storage": "1Gi", "memory": "2Gi"}), OK,
            id="a-request-and-limits"),
        pytest.param(_limited("memory request for container other", requests={"cpu": "1", "memory": "1Gi"}), DIFFERS,
            id="of-another-container"),
        pytest.param(_limited("memory request for container main", requests={"cpu": "3"}), DIFFERS,
            id="and-another-change"),
    ],
)  # fmt: skip
def test_limit_range_is_no_difference(admitted: Thing, verdict: Verdict) -> None:
    assert [each.verdict for each in judged(Question.REQUIREMENTS, evidence(deployment(replicas=1), admitted))] == [
        verdict
    ]


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        pytest.param({"overhead": {"cpu": "250m"}}, OK, id="overhead-of-a-runtime-class"),
        pytest.param({"resources": {"requests": {"cpu": "3"}}}, DIFFERS, id="resources-of-the-whole-pod"),
    ],
)
def test_resources_of_the_pod_itself(fields: dict[str, Any], verdict: Verdict) -> None:
    assert [each.verdict for each in judged(Question.REQUIREMENTS, evidence(deployment(), pod(1, **fields)))] == [
        verdict
    ]


def test_name_inside_the_name_of_an_added_container_is_not_its_name() -> None:
    from karta_interpreter import Karta  # noqa: PLC0415 - only these tests change a definition

    manifest = Karta.for_object(deployment()).definition.manifest
    line = """deployment: '{containers: [{name: "main-proxy"}]}'"""
    annotations = {**manifest["metadata"]["annotations"], "karta-interpreter.io/added-containers": line}
    changed = Karta.load({**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}})

    found = judged(
        Question.REQUIREMENTS, evidence(deployment(), *(pod(each, container(cpu="2")) for each in (1, 2))), changed
    )
    assert found[0].field == "spec.structureDefinition.rootComponent.specDefinition.podTemplateSpecPath"


def test_containers_of_an_object_that_is_not_there_are_not_judged() -> None:
    spec = {
        "replicas": 2,
        "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"},
        "selector": {"matchLabels": {"app": "shop"}},
    }
    rollout = workload("argoproj.io/v1alpha1", "Rollout", spec, {"observedGeneration": "1"})
    shown = evidence(rollout, *(pod(number, labels={"app": "shop"}) for number in (1, 2)), reader=Known({}))

    assert verdicts(Question.REQUIREMENTS, shown) == [(UNJUDGED, "the object that has its containers is unknown")]
