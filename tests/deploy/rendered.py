"""What the charts make of values, and what is in the repository of that."""

import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.write_kustomize import KUBERNETES, template, tool

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SERVER, CONTROL_PLANE = "karta-interpreter", "karta-interpreter-control-plane"
CHARTS = (SERVER, CONTROL_PLANE)

TYPES_API = "-types-api"
"""The end of the names of what belongs to the workload types API."""

Resource = dict[str, Any]

needs_helm = pytest.mark.skipif(not tool("helm"), reason="helm is missing: run `make tools`")
needs_kustomize = pytest.mark.skipif(not tool("kustomize"), reason="kustomize is missing: run `make tools`")

ON = "typesApi,autoscaling,networkPolicy,serviceMonitor,prometheusRule,dashboard"
LABELLED = ("serviceMonitor", "prometheusRule", "dashboard")
EVERYTHING = ",".join(f"{value}.enabled=true" for value in ON.split(","))

VALUES = {
    "the defaults": (SERVER,),
    "everything on": (SERVER, EVERYTHING),
    "an autoscaler in a hurry": (
        SERVER,
        "autoscaling.enabled=true,autoscaling.behavior.scaleDown.stabilizationWindowSeconds=60",
        "autoscaling.targetCPUUtilizationPercentage=150,resources.requests.cpu=600m",
    ),
    "certificates by cert-manager": (
        SERVER,
        "certificate.mode=certManager,certificate.extraNames={10.0.0.1,::1,a.example}",
    ),
    "certificates by another issuer": (
        SERVER,
        "certificate.mode=certManager,certificate.certManager.issuerRef.name=ours",
        "certificate.certManager.issuerRef.kind=ClusterIssuer",
    ),
    "a certificate of one's own, with a well-known authority": (
        SERVER,
        "certificate.mode=existingSecret,certificate.existingSecret=mine,certificate.caKey=",
    ),
    "without karmada-apiserver": (SERVER, "karmada.cluster=false,registration.enabled=false"),
    "a public URL": (
        SERVER,
        "registration.publicUrl=https://karta.example.com:8443/interpret,service.type=LoadBalancer",
    ),
    "Kartas in ConfigMaps": (SERVER, r"kartas.inline.a\.yaml=kind: Karta,kartas.configMaps={one,two}"),
    "scripts in ConfigMaps": (
        SERVER,
        r"overrides.inline.a\.yaml=kind: ResourceInterpreterCustomization,overrides.configMaps={one,two}",
    ),
    "every option of the server": (
        SERVER,
        "server.catalogue=false,server.resourceQuotaEstimate=true,server.podRequests=karmada,registration.multiplePodTemplatesScheduling=true",
        "registration.name=ours",
        "karmada.kubeconfig.context=karmada-apiserver,karmada.kartaApiGroup=workloads.example.com,server.gracePeriod=7.5",
        "server.kinds={RayCluster,batch/v1/Job},server.without={apps/v1/*}",
        "server.extraArgs={--connection-age=30},server.extraEnv[0].name=A,server.extraEnv[0].value=b",
    ),
    "another name and port": (SERVER, "fullnameOverride=karta,server.port=9443,service.port=8443,image.tag=1.2.3"),
    "pods with everything": (
        SERVER,
        "nodeSelector.a=b,tolerations[0].operator=Exists,priorityClassName=system-node-critical,podLabels.a=b",
        "podAnnotations.a=b,imagePullSecrets[0].name=pull,serviceAccount.create=false",
    ),
    "a NetworkPolicy for nobody": (SERVER, "networkPolicy.enabled=true,networkPolicy.from=null"),
    "labels and annotations that the chart sets, too": (
        SERVER,
        EVERYTHING,
        r"podAnnotations.kubectl\.kubernetes\.io/default-container=other",
        *(rf"{each}.labels.app\.kubernetes\.io/part-of=monitoring" for each in LABELLED),
    ),
    "a ConfigMap with the name of a folder": (
        SERVER,
        (
            r"kartas.inline.a\.yaml=kind: Karta,kartas.configMaps={inline},"
            r"overrides.inline.a\.yaml=kind: ResourceInterpreterCustomization,overrides.configMaps={inline}"
        ),
    ),
    "the workload types API with tokens": (
        SERVER,
        "typesApi.enabled=true,typesApi.tokens.secret=mine,typesApi.port=9444,server.host=::,networkPolicy.enabled=true",
        "typesApi.categories={Serve},typesApi.priorities={low=1,high=2},typesApi.from[0].podSelector.matchLabels.a=b",
    ),
    "the workload types API with definitions": (
        SERVER,
        r"typesApi.enabled=true,kartas.inline.a\.yaml=kind: Karta,kartas.configMaps={one},overrides.configMaps={two}",
        "server.kinds={RayCluster},server.without={apps/v1/*},server.catalogue=false,server.podRequests=karmada",
    ),
    "a published runbook": (
        SERVER,
        "prometheusRule.enabled=true,prometheusRule.runbookUrl=https://example.com/runbook",
    ),
    "the control plane": (CONTROL_PLANE,),
    "the control plane with admission": (CONTROL_PLANE, "admission.enabled=true"),
    "the control plane with admission and its authority": (
        CONTROL_PLANE,
        "admission.enabled=true,admission.caBundle=LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==",
    ),
    "the control plane with admission by URL": (
        CONTROL_PLANE,
        "admission.enabled=true,admission.url=https://karta.example.com,service.create=false",
    ),
    "the control plane with the workload types API": (CONTROL_PLANE, "typesApi.enabled=true"),
    "the control plane with tokens of the workload types API": (
        CONTROL_PLANE,
        "typesApi.enabled=true,typesApi.tokenReview=false",
    ),
    "the control plane with another API group": (
        CONTROL_PLANE,
        "kartaApiGroup=workloads.example.com,admission.enabled=true,typesApi.enabled=true",
    ),
    "the control plane for somebody else": (
        CONTROL_PLANE,
        "user.createServiceAccount=false,user.subjects[0].kind=User,user.subjects[0].name=karta",
        "user.subjects[0].apiGroup=rbac.authorization.k8s.io,rbac.doctor=false,crd.create=false",
    ),
}


@lru_cache
def of(case: str) -> list[Resource]:
    """Everything that a chart makes of one of the values above."""
    chart, *values = VALUES[case]
    return template(chart, ",".join(filter(None, values)))


def of_kind(resources: list[Resource], kind: str) -> list[Resource]:
    """Those of a kind."""
    return [resource for resource in resources if resource["kind"] == kind]


def the(resources: list[Resource], kind: str, *, of_types: bool = False) -> Resource:
    """The only one of a kind, of the server or of the workload types API."""
    (resource,) = [
        each for each in of_kind(resources, kind) if each["metadata"]["name"].endswith(TYPES_API) is of_types
    ]
    return resource


def pod_of(resources: list[Resource]) -> Resource:
    """The pod spec of the server."""
    spec: Resource = the(resources, "Deployment")["spec"]["template"]["spec"]
    return spec


def container_of(resources: list[Resource]) -> Resource:
    """The only container of the server."""
    (container,) = pod_of(resources)["containers"]
    assert isinstance(container, dict)
    return container


def arguments(resources: list[Resource]) -> list[tuple[str, str]]:
    """The arguments of the server in its Deployment, each with its value."""
    first, *flags = container_of(resources)["args"]
    assert first == "serve"
    return [(name, value) for name, _, value in (flag.partition("=") for flag in flags)]


def run_helm(command: str, chart: str | Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command of Helm on a chart of `CHARTS` or in a folder."""
    helm = tool("helm")
    assert helm
    name = ["k"] if command == "template" else []
    line = [helm, command, *name, DEPLOY / "helm" / chart, "--kube-version", KUBERNETES, *options]
    return subprocess.run(line, check=False, capture_output=True, text=True)


def committed(folder: str) -> list[Resource]:
    """The resources of a folder of deploy/kustomize."""
    files = sorted((DEPLOY / "kustomize" / folder).glob("*.yaml"))
    return [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files if file.name != "kustomization.yaml"]
