"""The objects a pod template names, source by source of Karmada's GetDependenciesFromPodTemplate."""

import copy

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import dependencies as subject
from karta_interpreter.base.k8s.dependencies import DEPENDENCIES_READ, DEPENDENCY_NAMES, Dependency
from karta_interpreter.base.k8s.values import JSON, Object
from tests.support.both_ways import read_template
from tests.support.rows import rows


def pod_dependencies(template: Object, namespace: str) -> tuple[Dependency, ...]:
    return read_template(lambda part: subject.pod_dependencies(part, namespace), template, DEPENDENCIES_READ)


def claim_dependencies(template: Object, namespace: str) -> tuple[Dependency, ...]:
    return read_template(lambda part: subject.claim_dependencies(part, namespace), template, DEPENDENCIES_READ)


def found(spec: dict[str, JSON]) -> list[str]:
    return [f"{one.kind}/{one.name}" for one in pod_dependencies({"spec": spec}, "team")]


def volume(source: str, value: JSON) -> dict[str, JSON]:
    return {"volumes": [{"name": "v", source: value}]}


SECRET_REF = {"secretRef": {"name": "s"}}


@pytest.mark.parametrize("group", ["containers", "initContainers", "ephemeralContainers"])
@pytest.mark.parametrize(
    ("container", "expected"),
    [
        pytest.param({"envFrom": [{"configMapRef": {"name": "c"}}]}, ["ConfigMap/c"], id="envFrom configMapRef"),
        pytest.param({"envFrom": [{"prefix": "P_", "secretRef": {"name": "s"}}]}, ["Secret/s"], id="envFrom secretRef"),
        pytest.param(
            {"env": [{"name": "E", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}]},
            ["ConfigMap/c"],
            id="env configMapKeyRef",
        ),
        pytest.param(
            {"env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}}]},
            ["Secret/s"],
            id="env secretKeyRef, optional all the same",
        ),
        pytest.param(
            {"env": [{"name": "E", "value": "x"}, {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
            [],
            id="env with a value or a field",
        ),
        pytest.param({"envFrom": None, "env": [{"valueFrom": None}, None]}, [], id="nulls"),
    ],
)
def test_containers(group: str, container: dict[str, JSON], expected: list[str]) -> None:
    assert found({group: [container]}) == expected


@rows(
    ("spec", "expected"),
    [
        pytest.param(volume("configMap", {"name": "c"}), ["ConfigMap/c"], id="configMap"),
        pytest.param(volume("secret", {"secretName": "s", "optional": True}), ["Secret/s"], id="secret"),
        pytest.param(volume("projected",
            {"sources": [{"configMap": {"name": "c"}}, {"secret": {"name": "s"}}, {"downwardAPI": {}}, None]}),
            ["ConfigMap/c", "Secret/s"], id="projected"),
        pytest.param(volume("azureFile", {"secretName": "s", "secretNamespace": "other"}), ["Secret/s"],
            id="azureFile, its own namespace ignored"),
        pytest.param(volume("cephfs", SECRET_REF), ["Secret/s"], id="cephfs"),
        pytest.param(volume("cinder", SECRET_REF), ["Secret/s"], id="cinder"),
        pytest.param(volume("flexVolume", SECRET_REF), ["Secret/s"], id="flexVolume"),
        pytest.param(volume("rbd", SECRET_REF), ["Secret/s"], id="rbd"),
        pytest.param(volume("scaleIO", SECRET_REF), ["Secret/s"], id="scaleIO"),
        pytest.param(volume("iscsi", SECRET_REF), ["Secret/s"], id="iscsi"),
        pytest.param(volume("storageos", SECRET_REF), ["Secret/s"], id="storageos"),
        pytest.param(volume("csi", {"nodePublishSecretRef": {"name": "s"}}), ["Secret/s"], id="csi"),
        pytest.param(volume("persistentVolumeClaim", {"claimName": "p"}), ["PersistentVolumeClaim/p"],
            id="persistentVolumeClaim"),
        pytest.param(volume("ephemeral", {"volumeClaimTemplate": {}}), [], id="a generic ephemeral volume"),
        pytest.param(volume("emptyDir", {}), [], id="emptyDir"),
        pytest.param(volume("rbd", {"secretRef": None}), [], id="a null reference"),
        pytest.param(volume("secret", None), [], id="a null source"),
        pytest.param({"volumes": [{"secret": {"secretName": "second"}, "azureFile": {"secretName": "first"}}]},
            ["Secret/first"], id="only one source of a volume counts"),
    ],
)  # fmt: skip
def test_volumes(spec: dict[str, JSON], expected: list[str]) -> None:
    before = copy.deepcopy(spec)
    assert found(spec) == expected
    assert spec == before


@rows(
    ("spec", "expected"),
    [
        pytest.param({"imagePullSecrets": [{"name": "a"}, {"name": "b"}]}, ["Secret/a", "Secret/b"], id="pull secrets"),
        pytest.param({"serviceAccountName": "robot"}, ["ServiceAccount/robot"], id="service account"),
        pytest.param({"serviceAccountName": "default"}, [], id="the default service account is everywhere"),
        pytest.param({"serviceAccount": "robot"}, ["ServiceAccount/robot"], id="the older name of the account"),
        pytest.param({"serviceAccountName": "", "serviceAccount": "robot"}, ["ServiceAccount/robot"],
            id="the older name next to an empty one"),
        pytest.param({"serviceAccountName": "new", "serviceAccount": "old"}, ["ServiceAccount/new"],
            id="the newer name counts"),
        pytest.param({"serviceAccountName": "default", "serviceAccount": "old"}, [],
            id="the newer name counts, default too"),
        pytest.param({"imagePullSecrets": [{"name": ""}, {}], "serviceAccountName": ""}, [], id="empty names"),
        pytest.param({"priorityClassName": "p", "runtimeClassName": "r"}, [], id="classes are not followed"),
        pytest.param({}, [], id="nothing"),
    ],
)  # fmt: skip
def test_pod(spec: dict[str, JSON], expected: list[str]) -> None:
    assert found(spec) == expected


def test_dependencies_are_sorted_and_unique() -> None:
    spec = {
        "serviceAccountName": "x",
        "imagePullSecrets": [{"name": "z"}, {"name": "a"}],
        "containers": [{"envFrom": [{"secretRef": {"name": "a"}}, {"configMapRef": {"name": "m"}}]}],
    }
    assert pod_dependencies({"spec": spec}, "team") == (
        Dependency("v1", "ConfigMap", "team", "m"),
        Dependency("v1", "Secret", "team", "a"),
        Dependency("v1", "Secret", "team", "z"),
        Dependency("v1", "ServiceAccount", "team", "x"),
    )


def test_wire_form() -> None:
    (found_one,) = pod_dependencies({"spec": {"serviceAccountName": "robot"}}, "team")
    assert found_one.to_json() == {"apiVersion": "v1", "kind": "ServiceAccount", "namespace": "team", "name": "robot"}


@rows(
    ("spec", "message"),
    [
        pytest.param({"serviceAccountName": 1}, "spec.serviceAccountName needs a string", id="service account"),
        pytest.param({"imagePullSecrets": ["a"]}, r"spec.imagePullSecrets\[0\] needs an object", id="pull secret"),
        pytest.param({"containers": [{}, {"env": [{"valueFrom": {"secretKeyRef": {"name": []}}}]}]},
            r"spec.containers\[1\].env\[0\].valueFrom.secretKeyRef.name needs a string, not a list",
            id="a name in env"),
        pytest.param({"initContainers": [{"envFrom": [{"configMapRef": "c"}]}]},
            r"spec.initContainers\[0\].envFrom\[0\].configMapRef needs an object", id="a reference in envFrom"),
        pytest.param(volume("csi", []), r"spec.volumes\[0\].csi needs an object", id="a volume source"),
        pytest.param(volume("projected", {"sources": [{"secret": 1}]}),
            r"spec.volumes\[0\].projected.sources\[0\].secret needs an object", id="a projected source"),
        pytest.param(volume("persistentVolumeClaim", {"claimName": 1}),
            r"spec.volumes\[0\].persistentVolumeClaim.claimName needs a string", id="a claim"),
    ],
)  # fmt: skip
def test_wrong_type_is_named_by_its_place(spec: dict[str, JSON], message: str) -> None:
    with pytest.raises(InterpretationError, match=f"^{message}"):
        found(spec)


@rows(
    ("claims", "expected"),
    [
        pytest.param(None, [], id="null"),
        pytest.param([{"name": "gpu", "resourceClaimName": "shared"}], [("ResourceClaim", "shared")], id="a claim"),
        pytest.param(
            [{"name": "gpu", "resourceClaimTemplateName": "one"}], [("ResourceClaimTemplate", "one")], id="a template"
        ),
        pytest.param([{"name": "gpu", "resourceClaimName": ""}, None], [], id="one that names nothing yet"),
    ],
)
def test_claims_of_devices(claims: JSON, expected: list[tuple[str, str]]) -> None:
    template = {"spec": {"resourceClaims": claims}}
    found_claims = claim_dependencies(template, "team")
    assert [(claim.kind, claim.name) for claim in found_claims] == expected
    assert {(claim.api_version, claim.namespace) for claim in found_claims} <= {("resource.k8s.io/v1", "team")}
    assert pod_dependencies(template, "team") == (), "Karmada's own rules do not know them"


@rows(
    ("group", "named"),
    [
        pytest.param({"podGroupName": "gang"}, ["gang"], id="a group"),
        pytest.param({}, [], id="none"),
        pytest.param(None, [], id="null"),
    ],
)
def test_group_of_pods(group: JSON, named: list[str]) -> None:
    found = claim_dependencies({"spec": {"schedulingGroup": group}}, "team")
    assert found == tuple(Dependency("scheduling.k8s.io/v1beta1", "PodGroup", "team", name) for name in named)


def test_device_claim_with_name_of_wrong_type_is_error() -> None:
    message = r"^spec.resourceClaims\[1\].resourceClaimName needs a string, not a number"
    with pytest.raises(InterpretationError, match=message):
        claim_dependencies({"spec": {"resourceClaims": [{}, {"resourceClaimName": 1}]}}, "team")


def test_names_in_pods_are_those_that_operations_follow() -> None:
    for path in DEPENDENCY_NAMES:
        spec: JSON = "needed"
        for step in reversed(path.split(".")):
            spec = {step.removesuffix("[]"): [spec] if step.endswith("[]") else spec}
        named = (*pod_dependencies({"spec": spec}, ""), *claim_dependencies({"spec": spec}, ""))
        assert [each.name for each in named] == ["needed"], path
