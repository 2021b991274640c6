"""How each controller is installed and started on the member: a function of its name, which gets its source."""

import base64
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.proofs.reality.dashboard import Dashboard
from tests.proofs.reality.queueing import API, FLAVORS
from tests.proofs.rig.api import ApiError, Object, named, until
from tests.proofs.rig.client import Client, Watch
from tests.proofs.rig.cluster import Cluster, documents
from tests.proofs.rig.phase_kubelet import NODES
from tests.proofs.rig.processes import free_port, listens

_WEBHOOK = 9443
"""The port of the webhooks of KubeRay and AppWrapper, which is not to be chosen."""
_PATIENCE = 120.0
_ADMISSION = "admissionregistration.k8s.io/v1"


def built_in(_: Cluster, __: Path) -> None:
    """It is part of every member."""


def jobset(cluster: Cluster, source: Path) -> None:
    config = source / "config" / "components"
    _run_with_pods(cluster, config, "jobset", "jobset.sigs.k8s.io/jobset-name")


def lws(cluster: Cluster, source: Path) -> None:
    _run_with_pods(cluster, source / "config", "lws", "leaderworkerset.sigs.k8s.io/name")


def kuberay(cluster: Cluster, source: Path) -> None:
    """Its binary serves a webhook, and it asks Ray's dashboard about jobs and applications."""
    config, dashboard = source / "config", Dashboard()
    cluster.install_crds((config / "crd" / "bases").glob("*.yaml"))
    cluster.listeners.append(dashboard.told)
    # The port is not to be chosen: of several members one has the webhook.
    is_first = not listens(_WEBHOOK)
    cluster.run(
        "kuberay",
        "--metrics-addr=0",
        f"--health-probe-bind-address=127.0.0.1:{free_port()}",
        "--enable-leader-election=false",
        "--feature-gates=RayCronJob=true",
        "--qps=500",
        "--burst=1000",
        ENABLE_WEBHOOKS=str(is_first).lower(),
        POD_NAMESPACE="default",
        # It reaches the dashboard by the name of a Service; as its proxy, the dashboard gets every such request.
        HTTP_PROXY=f"http://127.0.0.1:{dashboard.start()}",
        NO_PROXY="",
        no_proxy="",
    )
    if is_first:
        cluster.wait_for_port("kuberay", _WEBHOOK)
        # Its manifest names webhooks of other kinds, too, which its binary does not serve.
        manifest = config / "webhook" / "manifests.yaml"
        cluster.install_webhooks("kuberay", manifest, _WEBHOOK, wanted=_is_of_ray_clusters)


def _is_of_ray_clusters(webhook: Object) -> bool:
    return any("rayclusters" in rule["resources"] for rule in webhook["rules"])


def mpi_operator(cluster: Cluster, source: Path) -> None:
    """It has no webhooks."""
    # It ends where the CRD is not served.
    cluster.install_crds([source / "manifests" / "base" / "kubeflow.org_mpijobs.yaml"])
    cluster.add_namespace("mpi-operator")
    cluster.run("mpi-operator", "--kube-api-qps=500", "--kube-api-burst=1000", "--monitoring-port=0")


def training_operator(cluster: Cluster, source: Path) -> None:
    # The CRD of MPIJobs is that of MPI Operator, which serves another version of them.
    kinds, manifests = ("pytorchjob", "tfjob", "xgboostjob", "paddlejob", "jaxjob"), source / "manifests" / "base"
    port = _run_training_operator(cluster, manifests, kinds)
    cluster.wait_for_port("training-operator", port)
    cluster.install_webhooks("training-operator", manifests / "webhook" / "manifests.yaml", port)


def training_operator_mpi(cluster: Cluster, source: Path) -> None:
    """The version of MPIJobs that MPI Operator does not serve. It has no webhooks."""
    _run_training_operator(cluster, source / "manifests" / "base", ["mpijob"])


def _run_training_operator(cluster: Cluster, manifests: Path, kinds: Sequence[str]) -> int:
    """Run it for these kinds, and return the port of their webhooks."""
    port, health = free_port(), free_port()
    cluster.install_crds(manifests / "crds" / f"kubeflow.org_{kind}s.yaml" for kind in kinds)
    # The operator makes certificates for a Secret and a webhook of these names. It begins when a file is at a path that
    # it cannot be told, as if the Secret were mounted. It serves the certificates of its folder of temporary files.
    cluster.add_namespace("kubeflow")
    cluster.member.apply(named("v1", "Secret", "training-operator-webhook-cert", "kubeflow"))
    webhook = named(_ADMISSION, "ValidatingWebhookConfiguration", "validator.training-operator.kubeflow.org")
    cluster.member.apply(webhook)
    rotated = Path("/tmp/k8s-webhook-server/serving-certs/tls.crt")  # noqa: S108 - a constant of the operator
    rotated.parent.mkdir(parents=True, exist_ok=True)
    rotated.touch()
    cluster.run(
        "training-operator",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--webhook-server-port={port}",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--controller-threads=4",
        *(f"--enable-scheme={kind}" for kind in kinds),
    )
    cluster.wait_for_port("training-operator", health)
    return port


def trainer(cluster: Cluster, source: Path) -> None:
    manifests = source / "manifests" / "base"
    cluster.install_crds((manifests / "crds").glob("trainer*.yaml"))
    cluster.add_namespace("kubeflow-system")
    port = _run_configured(
        cluster, "trainer", "config.trainer.kubeflow.org/v1alpha1", "kubeflow-system", certManagement={"enable": False}
    )
    cluster.install_webhooks("trainer", manifests / "webhook" / "manifests.yaml", port)
    for runtime in ("torch_distributed", "deepspeed_distributed"):
        _install_everywhere(cluster, manifests / "runtimes" / f"{runtime}.yaml")


def kruise(cluster: Cluster, source: Path) -> None:
    config, port = source / "config", free_port()
    cluster.install_crds((config / "crd" / "bases").glob("*.yaml"))
    cluster.add_namespace("kruise-system")
    webhooks = [_webhooks_of_kruise(thing) for thing in documents(config / "webhook" / "manifests.yaml")]
    for thing in webhooks:
        cluster.member.apply(thing)
    cluster.run(
        "kruise",
        "--metrics-addr=0",
        f"--health-probe-addr=127.0.0.1:{free_port()}",
        "--enable-leader-election=false",
        "--enable-pprof=false",
        "--rest-config-qps=500",
        "--rest-config-burst=1000",
        WEBHOOK_HOST="localhost",
        WEBHOOK_PORT=str(port),
        WEBHOOK_CERT_DIR=str(cluster.temporary / "kruise"),
        POD_NAMESPACE="kruise-system",
    )
    until_entered(cluster, "OpenKruise", "url", webhooks)
    cluster.wait_for_port("kruise", port)


def _webhooks_of_kruise(thing: Object) -> Object:
    """Return the webhooks under the names by which OpenKruise finds them to enter address and certificate.

    Those that only guard objects of others against their deletion are left out.
    """
    hooks = []
    for hook in thing["webhooks"]:
        service = hook["clientConfig"]["service"]
        if service["path"].startswith("/mutate") or "apps-kruise-io" in service["path"]:
            hooks.append({**hook, "clientConfig": {"service": {**service, "namespace": "kruise-system"}}})
    return {**thing, "metadata": {"name": f"kruise-{thing['metadata']['name']}"}, "webhooks": hooks}


def argo_rollouts(cluster: Cluster, source: Path) -> None:
    """It has no webhooks."""
    cluster.install_crds((source / "manifests" / "crds").glob("*-crd.yaml"))
    cluster.add_namespace("argo-rollouts")
    port = free_port()
    flags = ("--leader-elect=false", "--qps=500", "--burst=1000", f"--metricsPort={free_port()}")
    cluster.run("argo-rollouts", f"--kubeconfig={cluster.kubeconfig}", *flags, f"--healthzPort={port}")
    cluster.wait_for_port("argo-rollouts", port)


def appwrapper(cluster: Cluster, source: Path) -> None:
    namespace, rotated = "appwrapper-system", "appwrapper-rotated"
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    cluster.add_namespace(namespace)
    # It enters certificates of its own into these; the webhooks that are called have ours.
    cluster.member.apply(named("v1", "Secret", rotated, namespace))
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        cluster.member.apply(named(_ADMISSION, kind, rotated))
    certificates = {
        "namespace": namespace,
        "certificateDir": str(cluster.certificates),
        "certificateName": "ca",
        "certificateOrg": "appwrapper",
        "mutatingWebhookConfigName": rotated,
        "validatingWebhookConfigName": rotated,
        "webhookServiceName": "appwrapper",
        "webhookSecretName": rotated,
    }
    listening = {"metrics": {"bindAddress": "0"}, "health": {"bindAddress": f"127.0.0.1:{free_port()}"}}
    settings = json.dumps({"certManagement": certificates, "controllerManager": listening})
    config = named("v1", "ConfigMap", "appwrapper-operator-config", namespace)
    cluster.member.apply(config | {"data": {"config.yaml": settings}})
    cluster.run("appwrapper", NAMESPACE=namespace)
    cluster.wait_for_port("appwrapper", _WEBHOOK)
    cluster.install_webhooks("appwrapper", source / "config" / "webhook" / "manifests.yaml", _WEBHOOK)


def agent_sandbox(cluster: Cluster, source: Path) -> None:
    """With warm pools, and with the webhook that converts versions on both API servers."""
    cluster.install_crds((source / "k8s" / "crds").glob("*.yaml"))
    port, health = free_port(), free_port()
    cluster.run(
        "agent-sandbox",
        "--extensions",
        "--leader-elect=false",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--webhook-port={port}",
        f"--webhook-cert-dir={cluster.certificates}",
        "--manage-webhook-certs=false",
    )
    cluster.wait_for_port("agent-sandbox", port)
    _convert_versions(cluster, port, "agents.x-k8s.io")


def argo_workflows(cluster: Cluster, source: Path) -> None:
    crds = source / "manifests" / "base" / "crds"
    # The schemas are some megabytes each, and only those of the kinds that are looked at matter.
    full = {f"argoproj.io_{kind}.yaml" for kind in ("workflows", "cronworkflows")}
    cluster.install_crds(file for file in (crds / "minimal").glob("argoproj*.yaml") if file.name not in full)
    cluster.install_crds(crds / "full" / name for name in sorted(full))
    cluster.add_namespace("argo")
    settings = named("v1", "ConfigMap", "workflow-controller-configmap", "argo")
    cluster.member.apply(settings | {"data": {"metricsConfig": "{enabled: false}"}})
    flags = ("--namespace=argo", "--executor-image=executor", "--qps=200", "--burst=400")
    cluster.run("argo-workflows", *flags, LEADER_ELECTION_DISABLE="true")
    cluster.wait_for_port("argo-workflows", 6060)


def volcano(cluster: Cluster, source: Path) -> None:
    """Its controllers and webhooks; a thread plays its scheduler's part and lets every PodGroup begin."""
    port = free_port()
    cluster.install_crds((source / "config" / "crd").glob("*/bases/*.yaml"))
    cluster.add_namespace("volcano-system")
    kubeconfig = f"--kubeconfig={cluster.kubeconfig}"
    cluster.run("volcano", kubeconfig, "--leader-elect=false", "--kube-api-qps=200", "--kube-api-burst=400")
    queue = named("scheduling.volcano.sh/v1beta1", "Queue", "default")
    cluster.member.apply(queue | {"spec": {"weight": 1}})
    until("Volcano has opened the queue", lambda: _state(cluster.member.find(queue)) == "Open", _PATIENCE)
    # It enters its CA into them before it listens, and knows them by their names.
    manifest = source / "installer" / "volcano-development.yaml"
    cluster.install_webhooks("", manifest, port, wanted=lambda hook: hook["name"].endswith("job.volcano.sh"))
    certificates = {"ca-cert-file": "ca.crt", "tls-cert-file": "tls.crt", "tls-private-key-file": "tls.key"}
    cluster.run(
        "volcano-webhook",
        kubeconfig,
        f"--port={port}",
        "--listen-address=127.0.0.1",
        f"--webhook-url=https://127.0.0.1:{port}",
        "--enabled-admission=/jobs/mutate,/jobs/validate,/cronjobs/validate",
        *(f"--{flag}={cluster.certificates / file}" for flag, file in certificates.items()),
    )
    cluster.wait_for_port("volcano-webhook", port)
    groups = "/apis/scheduling.volcano.sh/v1beta1/podgroups"
    Watch(cluster.member, groups, lambda group, exists: _enqueue(cluster, group, exists)).start()


def _state(queue: Object | None) -> str:
    return str((queue or {}).get("status", {}).get("state"))


def _enqueue(cluster: Cluster, group: Object, exists: bool) -> None:
    """Volcano creates the pods of a Job when its scheduler has room for its PodGroup."""
    if exists and (group.get("status") or {}).get("phase", "Pending") == "Pending":
        with suppress(ApiError):
            cluster.member.merge(group, {"status": {"phase": "Inqueue"}})


def kserve(cluster: Cluster, source: Path) -> None:
    config, port = source / "config", free_port()
    cluster.install_crds((config / "crd" / "full").glob("**/serving*.yaml"))
    cluster.add_namespace("kserve")
    (settings,) = documents(config / "configmap" / "inferenceservice.yaml")
    without = {"disableIngressCreation": True, "disableIstioVirtualHost": True}
    settings["data"]["ingress"] = json.dumps(json.loads(settings["data"]["ingress"]) | without)
    settings["data"]["deploy"] = json.dumps({"defaultDeploymentMode": "Standard"})
    cluster.member.apply(settings)
    health = f"--health-probe-addr=127.0.0.1:{free_port()}"
    cluster.run("kserve", "--metrics-addr=0", health, f"--webhook-port={port}", POD_NAMESPACE="kserve")
    cluster.wait_for_port("kserve", port)
    cluster.install_webhooks("", config / "webhook" / "manifests.yaml", port)
    for runtime in ("sklearnserver", "huggingfaceserver"):
        _install_everywhere(cluster, config / "runtimes" / f"kserve-{runtime}.yaml")


_OF_TEKTON = "tekton-pipelines"
_IMAGES_OF_TEKTON = (
    *("entrypoint-image", "nop-image", "sidecarlogresults-image", "workingdirinit-image"),
    *("shell-image", "shell-image-win"),
)
_SETTINGS_OF_TEKTON = {
    "CONFIG_LOGGING_NAME": "config-logging",
    "CONFIG_OBSERVABILITY_NAME": "config-observability",
    "CONFIG_FEATURE_FLAGS_NAME": "feature-flags",
    "CONFIG_DEFAULTS_NAME": "config-defaults",
    "METRICS_DOMAIN": "tekton.dev/pipeline",
    "METRICS_PROMETHEUS_PORT": "0",
    "SYSTEM_NAMESPACE": _OF_TEKTON,
}


def tekton(cluster: Cluster, source: Path) -> None:
    """Its controller, and its webhook, which enters address and certificate itself."""
    config, port = source / "config", free_port()
    cluster.install_crds(sorted((config / "300-crds").rglob("*.yaml")))
    cluster.add_namespace(_OF_TEKTON)
    for file in sorted(config.glob("config-*.yaml")):
        for thing in documents(file):
            cluster.member.apply(thing)
    service = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": 443, "targetPort": port}]}
    webhook = named("v1", "Service", "tekton-pipelines-webhook", _OF_TEKTON)
    cluster.member.apply(webhook | {"spec": service})
    for thing in documents(config / "500-webhooks.yaml"):
        for hook in thing.get("webhooks", ()):
            hook["clientConfig"]["service"]["port"] = port
        cluster.member.apply(thing)
    name = "webhook.pipeline.tekton.dev"
    _run_of_tekton(
        cluster,
        "tekton-webhook",
        CONFIG_LEADERELECTION_NAME="config-leader-election-webhook",
        WEBHOOK_PORT=str(port),
        WEBHOOK_ADMISSION_CONTROLLER_NAME=name,
        WEBHOOK_SERVICE_NAME="tekton-pipelines-webhook",
        WEBHOOK_SECRET_NAME="webhook-certs",  # noqa: S106 - a name
    )
    cluster.wait_for_port("tekton-webhook", port)
    kinds = {"MutatingWebhookConfiguration": name, "ValidatingWebhookConfiguration": f"validation.{name}"}
    entered = [named(_ADMISSION, kind, of) for kind, of in kinds.items()]
    until_entered(cluster, "Tekton", "caBundle", entered)
    images = (f"--{image}=example.com/{image}" for image in _IMAGES_OF_TEKTON)
    _run_of_tekton(cluster, "tekton", *images, CONFIG_LEADERELECTION_NAME="config-leader-election-controller")


def _run_of_tekton(cluster: Cluster, name: str, *flags: str, **environment: str) -> None:
    variables = {**_SETTINGS_OF_TEKTON, "PROBES_PORT": str(free_port()), **environment}
    cluster.run(name, f"--kubeconfig={cluster.kubeconfig}", "--disable-ha", *flags, **variables)


_QUEUED = (
    *("batch/job", "pod", "deployment", "statefulset", "jobset.x-k8s.io/jobset"),
    *("leaderworkerset.x-k8s.io/leaderworkerset", "ray.io/rayjob", "ray.io/raycluster", "ray.io/rayservice"),
    *("kubeflow.org/mpijob", "kubeflow.org/paddlejob", "kubeflow.org/pytorchjob", "kubeflow.org/tfjob"),
    *("kubeflow.org/xgboostjob", "kubeflow.org/jaxjob", "trainer.kubeflow.org/trainjob"),
    "workload.codeflare.dev/appwrapper",
)


def kueue(cluster: Cluster, source: Path) -> None:
    config, namespace, port = source / "config" / "components", "kueue-system", free_port()
    cluster.install_crds((config / "crd" / "bases").glob("*.yaml"))
    _let_kueue_manage_certificates(cluster, namespace, port)
    _run_configured(
        cluster,
        "kueue",
        "config.kueue.x-k8s.io/v1beta2",
        port=port,
        certDir=cluster.certificates,
        namespace=namespace,
        integrations={"frameworks": [*_QUEUED]},
        featureGates={"VisibilityOnDemand": False},
    )
    cluster.install_webhooks("kueue", config / "webhook" / "manifests.yaml", port)
    levels = {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}
    cluster.member.apply(named(API, "Topology", "hosts") | {"spec": levels})
    for name, spec in FLAVORS.items():
        cluster.member.apply(named(API, "ResourceFlavor", name) | {"spec": spec})
    for node, pool in zip(NODES, ("red", "blue", "rack"), strict=True):
        labels = {"pool": pool, "row": "one"}
        cluster.member.merge(named("v1", "Node", node), {"metadata": {"labels": labels}})


def _let_kueue_manage_certificates(cluster: Cluster, namespace: str, port: int) -> None:
    """Kueue wants a Secret to keep certificates in, and CRDs to enter them in; with certificates of others it starts
    only where they are in a folder that it cannot be told. No version is asked for that would have to be converted.
    """
    cluster.add_namespace(namespace)
    cluster.member.apply(named("v1", "Secret", "kueue-webhook-server-cert", namespace))
    plurals = ("localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters")
    _convert_by_webhook(cluster, port, [f"{plural}.kueue.x-k8s.io" for plural in plurals], [cluster.member])


def _convert_versions(cluster: Cluster, port: int, group: str) -> None:
    """Have both API servers convert the versions of a group's CRDs by the webhook of their controller."""
    several = [crd for crd in cluster.crds if len(crd["spec"]["versions"]) > 1]
    names = [crd["metadata"]["name"] for crd in several if crd["spec"]["group"].endswith(group)]
    _convert_by_webhook(cluster, port, names, [cluster.karmada, cluster.member])


def _convert_by_webhook(cluster: Cluster, port: int, crds: Sequence[str], apis: Sequence[Client]) -> None:
    authority = base64.b64encode(cluster.layout.authority.bundle).decode()
    client = {"url": f"https://127.0.0.1:{port}/convert", "caBundle": authority}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    for name in crds:
        crd = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
        for api in apis:
            api.merge(crd, {"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}})


def _run_with_pods(cluster: Cluster, config: Path, name: str, label: str) -> None:
    """Run a controller of kubernetes-sigs with webhooks, those for pods as its kustomization has it: with a label."""
    cluster.install_crds((config / "crd" / "bases").glob("*.yaml"))
    api, management = f"config.{name}.x-k8s.io/v1alpha1", {"enable": False}
    port = _run_configured(cluster, name, api, certDir=cluster.certificates, internalCertManagement=management)
    pods = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    cluster.install_webhooks(name, config / "webhook" / "manifests.yaml", port, pods=pods)


def _run_configured(
    cluster: Cluster,
    name: str,
    api: str,
    pod_namespace: str = "",
    *,
    port: int = 0,
    certDir: Path | None = None,  # noqa: N803 - as the configuration has it
    **further: Any,
) -> int:
    """Run a controller by a configuration file: it listens only here, elects nobody and may ask as often as it wants.

    Return the port of its webhooks.
    """
    port = port or free_port()
    content = {
        "apiVersion": api,
        "kind": "Configuration",
        "webhook": {"host": "127.0.0.1", "port": port} | ({"certDir": str(certDir)} if certDir else {}),
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{free_port()}"},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 500, "burst": 1000},
        **further,
    }
    environment = {"POD_NAMESPACE": pod_namespace} if pod_namespace else {}
    cluster.run(name, f"--config={cluster.write_config(name, content)}", **environment)
    cluster.wait_for_port(name, port)
    return port


def _install_everywhere(cluster: Cluster, file: Path) -> None:
    """Install a manifest in the member and where workloads are interpreted, as a policy of Karmada propagates it."""
    for thing in documents(file):
        for api in (cluster.member, cluster.karmada):
            api.apply(thing)


def until_entered(cluster: Cluster, name: str, field: str, webhooks: list[Object]) -> None:
    """Wait until a controller has entered a field into the client configuration of its webhooks."""

    def are_entered() -> bool:
        found = [cluster.member.find(thing) for thing in webhooks]
        return all(one and all(hook["clientConfig"].get(field) for hook in one["webhooks"]) for one in found)

    until(f"{name} has entered its {field}", are_entered, _PATIENCE)
