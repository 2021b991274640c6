"""Resources of the charts against the OpenAPI of a kube-apiserver."""

import json
import os
from typing import Any

import pytest

from deploy.write_kustomize import TOOLS
from tests.deploy import rendered
from tests.deploy.rendered import DEPLOY
from tests.support.json_schema import Checker

PATH = max(TOOLS.glob("kubernetes-v*.json"), default=None, key=os.path.basename)
needs_openapi = pytest.mark.skipif(not PATH, reason="Kubernetes' OpenAPI is missing: run `make tools`")
_KIND = "x-kubernetes-group-version-kind"


@pytest.fixture(scope="module")
def definitions() -> dict[str, Any]:
    assert PATH
    known: dict[str, Any] = json.loads(PATH.read_text())["definitions"]
    return known


def complaints_about(resource: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    group, _, version = resource["apiVersion"].rpartition("/")
    wanted = {"group": group, "version": version, "kind": resource["kind"]}
    schema = next((each for each in definitions.values() if wanted in each.get(_KIND, ())), None)
    if schema is None:
        return [f"{wanted} is not a kind of Kubernetes"]
    return list(Checker(definitions).complaints(resource, schema, resource["kind"]))


def is_of_kubernetes(resource: dict[str, Any]) -> bool:
    group = resource["apiVersion"].rpartition("/")[0]
    return "." not in group or group.endswith(".k8s.io")


@needs_openapi
@rendered.needs_helm
@pytest.mark.parametrize("case", rendered.VALUES)
def test_rendered_resources_are_what_kubernetes_knows(definitions: dict[str, Any], case: str) -> None:
    known = [resource for resource in rendered.of(case) if is_of_kubernetes(resource)]
    assert known
    assert [text for resource in known for text in complaints_about(resource, definitions)] == []


@needs_openapi
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("affinity", "core.v1.Affinity"),
        ("extraVolumeMounts/items", "core.v1.VolumeMount"),
        ("lifecycle", "core.v1.Lifecycle"),
        ("podSecurityContext", "core.v1.PodSecurityContext"),
        ("securityContext", "core.v1.SecurityContext"),
        ("server/properties/extraEnv/items", "core.v1.EnvVar"),
        ("strategy/properties/rollingUpdate", "apps.v1.RollingUpdateDeployment"),
        ("tolerations/items", "core.v1.Toleration"),
        ("topologySpreadConstraints/items", "core.v1.TopologySpreadConstraint"),
        ("$defs/peers/items", "networking.v1.NetworkPolicyPeer"),
        ("$defs/scaling", "autoscaling.v2.HPAScalingRules"),
    ],
)
def test_values_that_are_parts_of_kubernetes_take_its_fields(
    definitions: dict[str, Any], value: str, kind: str
) -> None:
    schema = json.loads((DEPLOY / "helm/karta-interpreter/values.schema.json").read_text())
    part = schema if value.startswith("$defs") else schema["properties"]
    for name in value.split("/"):
        part = part[name]
    assert part["additionalProperties"] is False
    newer = {"bindMountOptions"}  # a field of Kubernetes 1.37
    assert part["properties"].keys() - newer == definitions[f"io.k8s.api.{kind}"]["properties"].keys()


@needs_openapi
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param({"sepc": {}}, "Service.sepc is unknown", id="a typo"),
        pytest.param({"spec": {"ports": [{"port": "443"}]}}, "Service.spec.ports[0].port: '443' is not an integer",
            id="type"),
        pytest.param({"spec": {"ports": [{}]}}, "Service.spec.ports[0].port is missing", id="a field that is needed"),
        pytest.param({"spec": {"publishNotReadyAddresses": 1}},
            "Service.spec.publishNotReadyAddresses: 1 is not a boolean", id="1"),
    ],
)  # fmt: skip
def test_schema_check_finds_complaint(definitions: dict[str, Any], change: dict[str, object], complaint: str) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    assert complaints_about(service, definitions) == []
    assert complaints_about({**service, **change}, definitions) == [complaint]
