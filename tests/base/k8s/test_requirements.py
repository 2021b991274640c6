"""What a pod template asks for, rule by rule of Karmada's GenerateReplicaRequirements and of kube-scheduler."""

import copy

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import requirements as subject
from karta_interpreter.base.k8s.requirements import REQUIREMENTS_READ, Counting, PodRequirements, merge_requirements
from karta_interpreter.base.k8s.values import JSON, Object
from tests.support.both_ways import read_template
from tests.support.rows import rows

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TERMS = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}


def container(requests: JSON = None, limits: JSON = None, **more: JSON) -> dict[str, JSON]:
    return {"name": "c", "resources": {"requests": requests, "limits": limits}, **more}


def pod_requirements(template: Object, counting: Counting) -> PodRequirements:
    return read_template(lambda part: subject.pod_requirements(part, counting), template, REQUIREMENTS_READ)


def requested(counting: Counting, **spec: JSON) -> JSON:
    wire = pod_requirements({"spec": spec}, counting).to_json()
    return wire and wire.get("resourceRequest")


@rows("counting", Counting)
@rows(
    ("spec", "expected"),
    [
        pytest.param({"containers": [container({"cpu": "100m", "memory": "1Gi"}), container({"cpu": "1"})]},
            {"cpu": "1100m", "memory": "1Gi"}, id="rule 1: containers are added up"),
        pytest.param({"containers": [container({"cpu": "1"}, {"cpu": "2", "memory": "1Gi"})]},
            {"cpu": "1", "memory": "1Gi"}, id="rule 1: a limit stands in for a missing request, resource by resource"),
        pytest.param({"containers": [container({"cpu": None}, {"cpu": "2"})]}, None,
            id="rule 1: a null request is a request of zero, not a missing one"),
        pytest.param({"containers": [container({"cpu": "1"})],
            "initContainers": [container({"cpu": "3"}), container()]}, {"cpu": "3"},
            id="rule 2: an init container that needs more than all containers"),
        pytest.param({"containers": [container({"cpu": "2"}), container({"cpu": "2"})],
            "initContainers": [container({"cpu": "3", "memory": "1Gi"}), container({"memory": "2Gi"})]},
            {"cpu": "4", "memory": "2Gi"}, id="rule 2: the larger one is taken resource by resource"),
        pytest.param({"containers": [container()], "initContainers": [container(limits={"cpu": "3"})]}, {"cpu": "3"},
            id="rule 2: limits of init containers stand in as well"),
        pytest.param({"containers": [container({"cpu": "1"})], "initContainers": [container({"cpu": "3"})],
            "overhead": {"cpu": "250m"}}, {"cpu": "3250m"}, id="rule 3: the overhead comes on top of the larger one"),
        pytest.param({"containers": [container({"cpu": "1"})],
            "resources": {"requests": {"nvidia.com/gpu": "8"}, "limits": {"ephemeral-storage": "1Gi"}},
            "resourceClaims": [{"name": "gpu"}]}, {"cpu": "1"},
            id="rule 4: resources that no pod as a whole can have do not count, and neither do resource claims"),
        pytest.param({"containers": [{"resources": {"claims": [{"name": "gpu"}], "requests": {"cpu": "1"}}}]},
            {"cpu": "1"}, id="rule 4: claims of a container do not count"),
        pytest.param({"containers": [container({"cpu": "100u", "memory": "100m", "example.com/x": "1500m"})]},
            {"cpu": "1m", "memory": "1", "example.com/x": "2"},
            id="rule 5: cpu is rounded up to milli, all else to whole numbers"),
        pytest.param({"containers": [container({"memory": "100m"}), container({"memory": "100m"})]}, {"memory": "2"},
            id="rule 5: each container is rounded, not their sum"),
        pytest.param(
            {
                "containers": [
                    container(
                        {
                            "ephemeral-storage": "1Gi",
                            "pods": "2",
                            "nvidia.com/gpu": "1",
                            "hugepages-2Mi": "4Mi",
                            "batch.kubernetes.io/units": "3",
                            "attachable-volumes-aws-ebs": "5",
                        }
                    )
                ]
            },
            {
                "attachable-volumes-aws-ebs": "5",
                "batch.kubernetes.io/units": "3",
                "ephemeral-storage": "1Gi",
                "hugepages-2Mi": "4Mi",
                "nvidia.com/gpu": "1",
                "pods": "2",
            },
            id="rule 6: the names that are kept",
        ),
        pytest.param(
            {
                "containers": [
                    container(
                        {
                            "storage": "1Gi",
                            "foo": "1",
                            "requests.nvidia.com/gpu": "1",
                            "Example.com/x": "1",
                            "example.com/a/b": "1",
                            "example.com/-x": "1",
                            "example.com/" + "x" * 64: "1",
                            "hugepages-" + "x" * 400: "1",
                        }
                    )
                ]
            },
            None,
            id="rule 6: the names that are dropped",
        ),
        pytest.param({"containers": [container({"cpu": "0", "memory": "0Gi", "nvidia.com/gpu": "0"})]}, None,
            id="rule 7: zeros are dropped"),
        pytest.param({"containers": [container({"cpu": "-1"})]}, None, id="rule 7: less than zero is dropped as well"),
        pytest.param({"containers": [container({"memory": "1Gi"}), container({"memory": "1G"})]},
            {"memory": "2073741824"}, id="rule 8: memory is binary where it can be"),
        pytest.param({"containers": [container({"ephemeral-storage": "1G"})]}, {"ephemeral-storage": "1000000000"},
            id="rule 8: and a plain number where 1024 does not divide it"),
        pytest.param({"containers": [container({"memory": "1.5Gi"}), container({"memory": "128Mi"})]},
            {"memory": "1664Mi"}, id="rule 8: in canonical form"),
        pytest.param({"containers": [container({"cpu": "2000m", "hugepages-1Gi": "1024Mi", "example.com/x": "2000"})]},
            {"cpu": "2", "hugepages-1Gi": "1Gi", "example.com/x": "2k"},
            id="rule 8: huge pages are binary, cpu and other names decimal"),
        pytest.param({"containers": [container({"cpu": 0.5, "memory": 1024, "nvidia.com/gpu": 2})]},
            {"cpu": "500m", "memory": "1Ki", "nvidia.com/gpu": "2"}, id="numbers are quantities"),
        pytest.param({"containers": None, "initContainers": [None]}, None, id="null counts as empty"),
    ],
)  # fmt: skip
def test_resource_request(spec: dict[str, JSON], expected: JSON, counting: Counting) -> None:
    before = copy.deepcopy(spec)
    assert requested(counting, **spec) == expected
    assert spec == before


MAIN = container({"cpu": "500m", "memory": "512Mi"})


def sidecar(requests: JSON = None, limits: JSON = None) -> dict[str, JSON]:
    return container(requests, limits, restartPolicy="Always")


@rows(
    ("spec", "scheduler", "karmada"),
    [
        pytest.param({"containers": [MAIN], "initContainers": [sidecar({"cpu": "200m", "memory": "128Mi"})]},
            {"cpu": "700m", "memory": "640Mi"}, {"cpu": "500m", "memory": "512Mi"},
            id="a sidecar runs next to the containers"),
        pytest.param({"containers": [MAIN], "initContainers": [sidecar(limits={"cpu": "200m"})]},
            {"cpu": "700m", "memory": "512Mi"}, {"cpu": "500m", "memory": "512Mi"},
            id="its limit stands in for a request as everywhere"),
        pytest.param({"containers": [MAIN], "initContainers": [sidecar({"cpu": "200m"}), container({"cpu": "600m"})]},
            {"cpu": "800m", "memory": "512Mi"}, {"cpu": "600m", "memory": "512Mi"},
            id="an init container runs next to the sidecars before it"),
        pytest.param({"containers": [MAIN], "initContainers": [container({"cpu": "600m"}), sidecar({"cpu": "200m"})]},
            {"cpu": "700m", "memory": "512Mi"}, {"cpu": "600m", "memory": "512Mi"},
            id="and not next to those after it"),
        pytest.param({"containers": [], "initContainers": [sidecar({"cpu": "1"}), sidecar({"cpu": "2"})]},
            {"cpu": "3"}, {"cpu": "2"}, id="sidecars add up"),
        pytest.param({"containers": [MAIN],
            "initContainers": [sidecar({"cpu": "200m"}), container({"cpu": "500m"}), sidecar({"cpu": "400m"})],
            "overhead": {"cpu": "50m"}}, {"cpu": "1150m", "memory": "512Mi"}, {"cpu": "550m", "memory": "512Mi"},
            id="the overhead comes on top of what runs in the end, where that is more than in any step before"),
        pytest.param({"containers": [MAIN], "initContainers": [container({"cpu": "600m"}, restartPolicy="Never")]},
            {"cpu": "600m", "memory": "512Mi"}, {"cpu": "600m", "memory": "512Mi"},
            id="another restart policy makes no sidecar"),
        pytest.param({"containers": [MAIN, MAIN], "resources": {"requests": {"cpu": "3"}},
            "overhead": {"cpu": "100m"}}, {"cpu": "3100m", "memory": "1Gi"}, {"cpu": "1100m", "memory": "1Gi"},
            id="a request of the pod replaces the sum, resource by resource, and not the overhead"),
        pytest.param({"containers": [container()], "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}},
            {"cpu": "2", "memory": "1Gi"}, None, id="limits of the pod stand in where nothing else is said"),
        pytest.param({"containers": [MAIN], "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}},
            {"cpu": "500m", "memory": "512Mi"}, {"cpu": "500m", "memory": "512Mi"},
            id="the requests of containers are before a limit of the pod"),
        pytest.param({"containers": [container({"cpu": "0"})], "resources": {"limits": {"cpu": "2"}}}, None, None,
            id="also where they are zero"),
        pytest.param({"containers": [container()], "initContainers": [container({"cpu": "0"})],
            "resources": {"limits": {"cpu": "2"}}}, None, None, id="and where an init container has the zero"),
        pytest.param({"containers": [MAIN], "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}},
            {"cpu": "1", "memory": "512Mi"}, {"cpu": "500m", "memory": "512Mi"},
            id="a request of the pod is before its limit"),
        pytest.param({"containers": [container({"hugepages-2Mi": "4Mi"}, {"hugepages-2Mi": "4Mi"})],
            "resources": {"limits": {"hugepages-2Mi": "8Mi"}}}, {"hugepages-2Mi": "8Mi"}, {"hugepages-2Mi": "4Mi"},
            id="huge pages cannot be overcommitted: the pod's limit is its request"),
        pytest.param({"containers": [container({"nvidia.com/gpu": "1"})], "resources": {"requests": {"cpu": "4"}}},
            {"cpu": "4", "nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "1"},
            id="what only containers can have stays theirs"),
    ],
)  # fmt: skip
def test_sidecars_and_resources_of_the_pod(spec: dict[str, JSON], scheduler: JSON, karmada: JSON) -> None:
    assert requested(Counting.SCHEDULER, **spec) == scheduler
    assert requested(Counting.KARMADA, **spec) == karmada


def test_resources_are_sorted_by_name() -> None:
    first = requested(Counting.SCHEDULER, containers=[container({"memory": "1", "cpu": "1", "a.b/c": "1"})])
    assert list(first) == ["a.b/c", "cpu", "memory"]


@rows(
    ("spec", "expected"),
    [
        pytest.param(
            {
                "nodeSelector": {"disk": "ssd"},
                "tolerations": [{"key": "gpu", "operator": "Exists"}],
                "affinity": {
                    "nodeAffinity": {REQUIRED: TERMS, "preferredDuringSchedulingIgnoredDuringExecution": [{}]},
                    "podAffinity": {REQUIRED: [{}]},
                },
            },
            {
                "nodeSelector": {"disk": "ssd"},
                "tolerations": [{"key": "gpu", "operator": "Exists"}],
                "hardNodeAffinity": TERMS,
            },
            id="selector, tolerations and required node affinity, nothing else",
        ),
        pytest.param({"nodeSelector": {}}, {}, id="an empty node selector makes an empty claim"),
        pytest.param({"nodeSelector": None, "tolerations": []}, None, id="no selector and no toleration"),
        pytest.param({"affinity": {"nodeAffinity": None, "podAffinity": {}}}, None, id="no node affinity"),
        pytest.param({"affinity": {"nodeAffinity": {REQUIRED: None}}}, None, id="null node affinity"),
        pytest.param({"nodeSelector": {"disk": None}}, {"nodeSelector": {"disk": ""}}, id="a null label is empty"),
    ],
)
def test_rule_9_node_claim(spec: dict[str, JSON], expected: JSON) -> None:
    wire = pod_requirements({"spec": spec}, Counting.SCHEDULER).to_json()
    assert wire == (None if expected is None else {"nodeClaim": expected})


def test_rule_10_namespace_and_priority_class_are_added_on_demand() -> None:
    template = {"spec": {"priorityClassName": "high", "containers": [container({"cpu": "1"})]}}
    requirements = pod_requirements(template, Counting.SCHEDULER)
    resources = {"resourceRequest": {"cpu": "1"}}
    assert requirements.to_json() == resources
    assert requirements.to_json(priority_class=True) == {**resources, "priorityClassName": "high"}
    assert requirements.to_json(namespace="team") == {**resources, "namespace": "team"}


@rows("template", [{}, {"spec": None}, {"spec": {"containers": [{"name": "c"}]}}])
def test_rule_11_nothing_asked_for_is_none(template: dict[str, JSON]) -> None:
    requirements = pod_requirements(template, Counting.SCHEDULER)
    assert requirements.to_json() is None
    assert requirements.to_json(namespace="team", priority_class=True) is None


def test_rule_11_a_priority_class_alone_is_nothing() -> None:
    requirements = pod_requirements({"spec": {"priorityClassName": "high"}}, Counting.SCHEDULER)
    assert requirements.priority_class_name == "high"
    assert requirements.to_json(priority_class=True) is None


@rows(
    ("template", "message"),
    [
        pytest.param({"spec": []}, "spec needs an object, not a list", id="spec"),
        pytest.param({"spec": {"containers": {}}}, "spec.containers needs a list, not an object", id="containers"),
        pytest.param({"spec": {"containers": ["web"]}}, r"spec.containers\[0\] needs an object, not a string",
            id="a container"),
        pytest.param({"spec": {"initContainers": [{}, {"resources": 1}]}},
            r"spec.initContainers\[1\].resources needs an object, not a number", id="resources"),
        pytest.param({"spec": {"containers": [container(["cpu"])]}},
            r"spec.containers\[0\].resources.requests needs an object, not a list", id="requests"),
        pytest.param({"spec": {"containers": [container({"cpu": "fast"})]}},
            r'spec.containers\[0\].resources.requests.cpu: "fast" is not a quantity', id="text that is not a quantity"),
        pytest.param({"spec": {"containers": [container({"memory": "1e400"})]}},
            r"spec.containers\[0\].resources.requests.memory: it is more than an int64 holds",
            id="an amount that Karmada would count as 0"),
        pytest.param({"spec": {"containers": [container({"cpu": "9223372036854776"})]}},
            r"spec.containers\[0\].resources.requests.cpu: it is more than an int64 holds",
            id="cpu is counted in thousandths"),
        pytest.param({"spec": {"containers": [container({"memory": "5E"}), container({"memory": "5E"})]}},
            r"spec.containers\[1\].resources.requests.memory: it is more than an int64 holds",
            id="a sum that is too large"),
        pytest.param({"spec": {"containers": [container(limits={"example.com/x": True})]}},
            r'spec.containers\[0\].resources.limits\["example.com/x"\] needs a quantity, not a boolean',
            id="a boolean"),
        pytest.param({"spec": {"initContainers": [{"restartPolicy": 1}]}},
            r"spec.initContainers\[0\].restartPolicy needs a string, not a number", id="what makes a sidecar"),
        pytest.param({"spec": {"resources": {"limits": {"cpu": "much"}}}},
            'spec.resources.limits.cpu: "much" is not a quantity', id="resources of the pod"),
        pytest.param({"spec": {"overhead": {"cpu": []}}}, "spec.overhead.cpu needs a quantity", id="overhead"),
        pytest.param({"spec": {"tolerations": [1]}}, r"spec.tolerations\[0\] needs an object", id="a toleration"),
        pytest.param({"spec": {"nodeSelector": "ssd"}}, "spec.nodeSelector needs an object", id="node selector"),
        pytest.param({"spec": {"nodeSelector": {"disk": 1}}}, "spec.nodeSelector.disk needs a string", id="a label"),
        pytest.param({"spec": {"affinity": "a"}}, "spec.affinity needs an object", id="affinity"),
        pytest.param({"spec": {"affinity": {"nodeAffinity": {REQUIRED: []}}}},
            f"spec.affinity.nodeAffinity.{REQUIRED} needs an object", id="required node affinity"),
        pytest.param({"spec": {"priorityClassName": 1}}, "spec.priorityClassName needs a string", id="priority"),
    ],
)  # fmt: skip
def test_wrong_type_is_named_by_its_place(template: dict[str, JSON], message: str) -> None:
    with pytest.raises(InterpretationError, match=f"^{message}") as caught:
        pod_requirements(template, Counting.SCHEDULER)
    assert caught.value.code == 422


def requirements(node_claim: JSON = None, priority: str = "", **resources: int) -> PodRequirements:
    return PodRequirements(resources, node_claim, priority)


def test_merging_takes_the_largest_amount_of_each_resource() -> None:
    merged = merge_requirements([requirements(cpu=500, memory=2**30), requirements(memory=10**9, pods=1, cpu=2000)])
    assert merged.to_json() == {"resourceRequest": {"cpu": "2", "memory": "1Gi", "pods": "1"}}


@rows(
    ("first", "second", "expected"),
    [
        pytest.param({"tolerations": [{}]}, {"tolerations": [{}]}, {"tolerations": [{}]}, id="the same claim"),
        pytest.param({"nodeSelector": {"a": "b"}}, {"nodeSelector": {"a": "c"}}, None, id="different claims"),
        pytest.param({"nodeSelector": {"a": "b"}}, None, None, id="one without a claim"),
    ],
)
def test_merging_keeps_a_node_claim_that_all_have(first: JSON, second: JSON, expected: JSON) -> None:
    assert merge_requirements([requirements(first), requirements(second)]).node_claim == expected


def test_merging_keeps_a_priority_class_that_all_have() -> None:
    high, low = requirements(priority="high"), requirements(priority="low")
    assert merge_requirements([high, high]).priority_class_name == "high"
    assert merge_requirements([high, low]).priority_class_name == ""


def test_merging_nothing_asks_for_nothing() -> None:
    assert merge_requirements([]) == PodRequirements()
