"""Tekton Pipelines: its controller, and its webhook, which enters address and certificate itself."""

from pathlib import Path

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.cluster import Cluster, documents
from tests.proofs.rig.processes import free_port

_NAMESPACE = "tekton-pipelines"
_WEBHOOK = "tekton-pipelines-webhook"
_PATIENCE = 120.0
_IMAGES = (
    *("entrypoint-image", "nop-image", "sidecarlogresults-image", "workingdirinit-image"),
    *("shell-image", "shell-image-win"),
)
_SETTINGS = {
    "CONFIG_LOGGING_NAME": "config-logging",
    "CONFIG_OBSERVABILITY_NAME": "config-observability",
    "CONFIG_FEATURE_FLAGS_NAME": "feature-flags",
    "CONFIG_DEFAULTS_NAME": "config-defaults",
    "METRICS_DOMAIN": "tekton.dev/pipeline",
    "METRICS_PROMETHEUS_PORT": "0",
    "SYSTEM_NAMESPACE": _NAMESPACE,
}


def _start(cluster: Cluster) -> None:
    source, port = programs.TEKTON.source() / "config", free_port()
    cluster.install_crds(sorted((source / "300-crds").rglob("*.yaml")))
    cluster.add_namespace(_NAMESPACE)
    for file in sorted(source.glob("config-*.yaml")):
        _install(cluster, file)
    service = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": 443, "targetPort": port}]}
    cluster.member.apply(_object("v1", "Service", _WEBHOOK) | {"spec": service})
    _install(cluster, source / "500-webhooks.yaml", port)
    cluster.run(
        "tekton-webhook",
        f"--kubeconfig={cluster.kubeconfig}",
        "--disable-ha",
        **_SETTINGS,
        CONFIG_LEADERELECTION_NAME="config-leader-election-webhook",
        PROBES_PORT=str(free_port()),
        WEBHOOK_PORT=str(port),
        WEBHOOK_ADMISSION_CONTROLLER_NAME="webhook.pipeline.tekton.dev",
        WEBHOOK_SERVICE_NAME=_WEBHOOK,
        WEBHOOK_SECRET_NAME="webhook-certs",  # noqa: S106 - a name
    )
    cluster.wait_for_port("tekton-webhook", port)
    until("Tekton has entered its certificate", lambda: _is_entered(cluster), _PATIENCE)
    cluster.run(
        "tekton",
        f"--kubeconfig={cluster.kubeconfig}",
        "--disable-ha",
        *(f"--{name}=example.com/{name}" for name in _IMAGES),
        **_SETTINGS,
        CONFIG_LEADERELECTION_NAME="config-leader-election-controller",
        PROBES_PORT=str(free_port()),
    )


def _object(api_version: str, kind: str, name: str) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": _NAMESPACE}}


def _install(cluster: Cluster, file: Path, port: int = 0) -> None:
    for thing in documents(file):
        for hook in thing.get("webhooks", ()):
            hook["clientConfig"]["service"]["port"] = port
        cluster.member.apply(thing)


def _is_entered(cluster: Cluster) -> bool:
    name = "webhook.pipeline.tekton.dev"
    kinds = {"MutatingWebhookConfiguration": name, "ValidatingWebhookConfiguration": f"validation.{name}"}
    found = [
        cluster.member.find({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": each}})
        for kind, each in kinds.items()
    ]
    return all(one and all(hook["clientConfig"].get("caBundle") for hook in one["webhooks"]) for one in found)


TEKTON = Controller(
    name="tekton",
    kinds=(
        Kind("tekton.dev/v1", "TaskRun", completes=True),
        Kind("tekton.dev/v1", "PipelineRun", completes=True, children=("/apis/tekton.dev/v1/taskruns",)),
    ),
    start=_start,
    programs=(programs.TEKTON, programs.TEKTON_WEBHOOK),
)
