"""How each operator from a source tree is installed and started: a function of its name, which gets its source."""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.proofs.conformance.crds.sources import kubevirt_crds
from tests.proofs.reality import starting
from tests.proofs.reality.instances import Instances
from tests.proofs.reality.models import start_models
from tests.proofs.reality.sources import Sources
from tests.proofs.reality.spark import Spark
from tests.proofs.reality.store import start_store
from tests.proofs.reality.virt_handler import VirtHandler
from tests.proofs.rig.api import Object, named, until
from tests.proofs.rig.cluster import Cluster, documents
from tests.proofs.rig.processes import free_port

_PATIENCE = 120.0
_NOBODY = "https://127.0.0.1:1/convert"
_ADMISSION = "admissionregistration.k8s.io/v1"
_FLUX = "flux-system"
_ETCD, _STORE = 2379, 9000
"""The ports of what a Milvus depends on, which its cases name."""


def rbg(cluster: Cluster, source: Path) -> None:
    """Without its webhooks, which only convert and refuse, and without the kinds of children that it deprecates."""
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    port = free_port()
    cluster.run(
        "rbg",
        "--enable-webhooks=none",
        "--enable-deprecated-workload-types=false",
        f"--health-probe-bind-address=127.0.0.1:{port}",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    )
    cluster.wait_for_port("rbg", port)


def kthena(cluster: Cluster, source: Path) -> None:
    """No scheduler makes its gangs: without the CRD of PodGroups it makes none."""
    cluster.install_crds((source / "charts" / "kthena" / "charts" / "workload" / "crds").glob("*.yaml"))
    cluster.add_namespace("kthena-system")
    port = free_port()
    cluster.run(
        "kthena",
        f"--kubeconfig={cluster.kubeconfig}",
        f"--tls-cert-file={cluster.certificates / 'tls.crt'}",
        f"--tls-private-key-file={cluster.certificates / 'tls.key'}",
        f"--port={port}",
        "--controllers=modelserving",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        POD_NAMESPACE="kthena-system",
    )
    cluster.wait_for_port("kthena", port)
    path = "/validate-workload-ai-v1alpha1-modelserving"
    _call(cluster, "Validating", f"{port}{path}", "workload.serving.volcano.sh", "v1alpha1", ["modelservings"])


def kruise_main(cluster: Cluster, source: Path) -> None:
    """As its releases. It enters its address into the CRDs of which it converts versions."""
    starting.kruise(cluster, source)
    conversion = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": _NOBODY}},
    }
    kind = "CustomResourceDefinition"
    crds = [crd for crd in cluster.crds if len(crd["spec"]["versions"]) > 1]
    for crd in crds:
        crd_of = named("apiextensions.k8s.io/v1", kind, crd["metadata"]["name"])
        cluster.member.merge(crd_of, {"spec": {"conversion": conversion}})
    until("OpenKruise has entered its address", lambda: all(_converts(cluster, crd) for crd in crds), _PATIENCE)


def _converts(cluster: Cluster, crd: Object) -> bool:
    found: Object = cluster.member.find(crd) or {}
    client = found.get("spec", {}).get("conversion", {}).get("webhook", {}).get("clientConfig", {})
    return bool(client.get("caBundle"))


def minicluster(cluster: Cluster, source: Path) -> None:
    """It has no webhooks."""
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    port = free_port()
    cluster.run("minicluster", "--metrics-bind-address=0", f"--health-probe-bind-address=127.0.0.1:{port}")
    cluster.wait_for_port("minicluster", port)


def lws_main(cluster: Cluster, source: Path) -> None:
    """As its releases."""
    starting.lws(cluster, source)


def notebook(cluster: Cluster, source: Path) -> None:
    """It has no webhooks, and the versions differ by their names only. No culling, which asks in the notebooks."""
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    port = free_port()
    flags = ("--metrics-addr=0", "--qps=500", "--burst=1000", f"--probe-addr=127.0.0.1:{port}")
    cluster.run("notebook", *flags)
    cluster.wait_for_port("notebook", port)


def source_controller(cluster: Cluster, source: Path) -> None:
    """It fetches by an HTTP proxy, which serves what there is to fetch. A Service says where its artifacts are."""
    sources, storage, health = Sources(cluster.folder / "sources"), free_port(), free_port()
    artifacts = cluster.folder / "artifacts"
    artifacts.mkdir()
    cluster.listeners.append(sources.told)
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    cluster.add_namespace(_FLUX)
    service = named("v1", "Service", "source-controller", _FLUX)
    cluster.member.apply(service | {"spec": {"ports": [{"port": 80, "targetPort": storage}]}})
    cluster.run(
        "source-controller",
        *_flux_flags(health),
        f"--storage-path={artifacts}",
        f"--storage-addr=127.0.0.1:{storage}",
        f"--storage-adv-addr=source-controller.{_FLUX}.svc.cluster.local.",
        HTTP_PROXY=f"http://127.0.0.1:{sources.start()}",
        NO_PROXY="",
        no_proxy="",
    )
    cluster.wait_for_port("source-controller", storage)


def kustomize_controller(cluster: Cluster, source: Path) -> None:
    _run_beside_sources(cluster, source, "kustomize-controller")


def helm_controller(cluster: Cluster, source: Path) -> None:
    _run_beside_sources(cluster, source, "helm-controller")


def _run_beside_sources(cluster: Cluster, source: Path, name: str) -> None:
    """Start a controller of Flux that takes artifacts from source-controller's own server."""
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    service: Object = cluster.member.find(named("v1", "Service", "source-controller", _FLUX)) or {}
    storage, health = service["spec"]["ports"][0]["targetPort"], free_port()
    cluster.run(name, *_flux_flags(health), SOURCE_CONTROLLER_LOCALHOST=f"127.0.0.1:{storage}")
    cluster.wait_for_port(name, health)


def _flux_flags(health: int) -> tuple[str, ...]:
    """Return what Flux's controllers have in common: they try again after a time in which a case sees them at rest."""
    return (
        "--metrics-addr=0",
        f"--health-addr=127.0.0.1:{health}",
        "--concurrent=8",
        "--min-retry-delay=5s",
        "--max-retry-delay=5s",
        "--requeue-dependency=5s",
        "--interval-jitter-percentage=0",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    )


def grove(cluster: Cluster, source: Path) -> None:
    """With the default scheduler as its back end, which needs no object of its own for a gang."""
    crds = (source / "api", source.parent / "scheduler" / "api")
    cluster.install_crds(file for folder in crds for file in sorted(folder.glob("core/v1alpha1/crds/*.yaml")))
    port, probes = free_port(), free_port()
    host = {"bindAddress": "127.0.0.1"}
    webhooks = {"port": port, "serverCertDir": str(cluster.certificates), "certProvisionMode": "manual"}
    config = {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "runtimeClientConnection": {"qps": 500, "burst": 1000},
        "leaderElection": {"enabled": False},
        "server": {
            "webhooks": {**host, **webhooks},
            "healthProbes": {**host, "port": probes},
            "metrics": {**host, "port": free_port()},
        },
        "controllers": {
            kind: {"concurrentSyncs": 3} for kind in ("podCliqueSet", "podClique", "podCliqueScalingGroup")
        },
        "scheduler": {"profiles": [{"name": "default-scheduler"}]},
    }
    cluster.run("grove", f"--config={cluster.write_config('grove', config)}", GROVE_INIT_CONTAINER_IMAGE="init")
    cluster.wait_for_port("grove", port)
    for what, path in {"Mutating": "default", "Validating": "validate"}.items():
        address = f"{port}/webhooks/{path}-podcliqueset"
        _call(cluster, what, address, "grove.io", "v1alpha1", ["podcliquesets"])


def nim(cluster: Cluster, source: Path) -> None:
    """It reaches a model by the address of a Service, which only its proxy answers."""
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    port, models = free_port(), f"http://127.0.0.1:{start_models()}"
    cluster.run(
        "nim",
        f"--health-probe-bind-address=127.0.0.1:{free_port()}",
        ENABLE_WEBHOOKS="true",
        WEBHOOK_PORT=str(port),
        MANIFESTS=str(source / "manifests"),
        POD_LOGS=models,
        HTTP_PROXY=models,
        NO_PROXY="",
        no_proxy="",
    )
    cluster.wait_for_port("nim", port)
    cluster.install_webhooks("nim", source / "config" / "webhook" / "manifests.yaml", port)


def aibrix(cluster: Cluster, source: Path) -> None:
    """It has one program for all of its kinds, and the webhooks of StormServices are what these need."""
    cluster.install_crds((source / "config" / "crd").glob("*/*aibrix.ai_*.yaml"))
    port = free_port()
    cluster.run(
        "aibrix",
        f"--kubeconfig={cluster.kubeconfig}",
        "--controllers=*",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{free_port()}",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        WEBHOOK_PORT=str(port),
    )
    cluster.wait_for_port("aibrix", port)
    cluster.install_webhooks("aibrix", source / "config" / "webhook" / "manifests.yaml", port, wanted=_is_of_storms)


def _is_of_storms(webhook: Object) -> bool:
    return any("stormservices" in rule["resources"] for rule in webhook["rules"])


def spark_operator(cluster: Cluster, source: Path) -> None:
    """A stand-in is its spark-submit, and what runs in the pods of drivers. It enters certificates of its own."""
    namespace, name, port, health = "spark-operator", "spark-operator-webhook", free_port(), free_port()
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    cluster.add_namespace(namespace)
    webhooks = [_of_spark(thing, name, port) for thing in documents(source / "config" / "webhook" / "manifests.yaml")]
    for thing in webhooks:
        cluster.member.apply(thing)
    cluster.processes.start(
        "spark-webhook",
        cluster.programs["spark-operator"],
        *("webhook", "start", f"--webhook-port={port}", f"--health-probe-bind-address=127.0.0.1:{free_port()}"),
        f"--webhook-cert-dir={cluster.temporary / 'spark-webhook'}",
        f"--mutating-webhook-name={name}",
        f"--validating-webhook-name={name}",
        f"--webhook-secret-namespace={namespace}",
        environment={"KUBECONFIG": str(cluster.kubeconfig)},
    )
    cluster.wait_for_port("spark-webhook", port)
    starting.until_entered(cluster, "Spark Operator", "caBundle", webhooks)
    cluster.run(
        "spark-operator",
        *("controller", "start", f"--health-probe-bind-address=127.0.0.1:{health}"),
        # The minute, by which its runs are called, is one of those that are replaced in recorded states.
        "--scheduled-spark-application-timestamp-precision=minutes",
        *("--kube-api-qps=500", "--kube-api-burst=1000"),
        SPARK_HOME=str(Spark(cluster.member).install(cluster.temporary / "spark")),
        KUBERNETES_SERVICE_HOST="127.0.0.1",
        KUBERNETES_SERVICE_PORT=str(cluster.member.port),
    )
    cluster.wait_for_port("spark-operator", health)


def _of_spark(thing: Object, name: str, port: int) -> Object:
    """Return webhooks under the name that the operator is told; pods are those of Spark, as in its chart."""
    for hook in thing["webhooks"]:
        hook["clientConfig"] = {"url": f"https://localhost:{port}{hook['clientConfig']['service']['path']}"}
        if "pods" in hook["rules"][0]["resources"]:
            hook["objectSelector"] = {"matchLabels": {"sparkoperator.k8s.io/launched-by-spark-operator": "true"}}
    return {**thing, "metadata": {"name": name}}


def slurm_operator(cluster: Cluster, source: Path) -> None:
    """Without its webhook, which only validates. It has no client of Slurm, so that no job waits for a node."""
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    port = free_port()
    flags = ("--metrics-addr=0", "--nodeset-workers=4")
    cluster.run("slurm-operator", *flags, f"--health-addr=127.0.0.1:{port}")
    cluster.wait_for_port("slurm-operator", port)


def milvus(cluster: Cluster, source: Path) -> None:
    """Without its webhook, as its chart installs it. No chart of what Milvus depends on is there."""
    cluster.install_crds((source / "config" / "crd" / "bases").glob("*.yaml"))
    start_store(_STORE)
    etcd, peer = f"http://127.0.0.1:{_ETCD}", f"http://127.0.0.1:{free_port()}"
    cluster.processes.start(
        "etcd-of-milvus",
        cluster.layout.binaries / "etcd",
        f"--data-dir={cluster.folder / 'etcd-of-milvus'}",
        f"--listen-client-urls={etcd}",
        f"--advertise-client-urls={etcd}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
    )
    # It reads the values of charts by a relative path.
    charts = cluster.folder / "milvus" / "config" / "assets" / "charts"
    charts.mkdir(parents=True)
    values: Object = {chart: {} for chart in ("etcd", "minio", "pulsar", "pulsarv3", "kafka")}
    (charts / "values.yaml").write_text(json.dumps(values), encoding="utf-8")
    port = free_port()
    flags = ("--metrics-bind-address=0", "--k8s-qps=500", "--k8s-burst=1000", "--tool-image=tool")
    address = f"--health-probe-bind-address=127.0.0.1:{port}"
    cluster.run_in(cluster.folder / "milvus", "milvus", *flags, f"--work-dir={source}/", address)
    cluster.wait_for_port("milvus", port)


def cloudnative_pg(cluster: Cluster, source: Path) -> None:
    """Its instance managers are a server of ours."""
    namespace, config, port = "cnpg-system", source / "config", free_port()
    cluster.install_crds((config / "crd" / "bases").glob("*.yaml"))
    cluster.add_namespace(namespace)
    queries = "cnpg-default-monitoring"
    for thing in documents(config / "manager" / "default-monitoring.yaml"):
        cluster.member.apply(thing | named("v1", "ConfigMap", queries, namespace))
    # It reads the programs that pods get by a relative path, and tells them apart by their hashes.
    folder = cluster.folder / "cloudnative-pg"
    (folder / "operator").mkdir(parents=True)
    program = b"the instance manager"
    for architecture in ("amd64", "arm64"):
        (folder / "operator" / f"manager_{architecture}").write_bytes(program)
    # It serves webhooks with the files of these names.
    certificates = folder / "certificates"
    certificates.mkdir()
    for part in ("crt", "key"):
        (certificates / f"apiserver.{part}").symlink_to(cluster.certificates / f"tls.{part}")
    instances = Instances(cluster.member, hashlib.sha256(program).hexdigest(), "amd64")
    cluster.run_in(
        folder,
        "cloudnative-pg",
        "controller",
        "--metrics-bind-address=0",
        f"--webhook-port={port}",
        INSTANCE_MANAGERS=f"127.0.0.1:{instances.start()}",
        WEBHOOK_CERT_DIR=str(certificates),
        OPERATOR_NAMESPACE=namespace,
        OPERATOR_IMAGE_NAME="operator",
        MONITORING_QUERIES_CONFIGMAP=queries,
    )
    cluster.wait_for_port("cloudnative-pg", port)
    cluster.install_webhooks("cloudnative-pg", config / "webhook" / "manifests.yaml", port)


def _call(cluster: Cluster, what: str, address: str, group: str, version: str, resources: Sequence[str]) -> None:
    """Have the member call a webhook, whose manifest is a template, about new and changed objects of a group."""
    bundle = base64.b64encode(cluster.layout.authority.bundle).decode()
    rule = {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": ["CREATE", "UPDATE"],
        "resources": [*resources],
    }
    hook = {
        "name": f"{what.lower()}.{group}",
        "clientConfig": {"url": f"https://127.0.0.1:{address}", "caBundle": bundle},
        "rules": [rule],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 30,
    }
    name = f"{what.lower()}.{group}"
    cluster.member.apply(named(_ADMISSION, f"{what}WebhookConfiguration", name) | {"webhooks": [hook]})


_OF_KUBEVIRT = {
    "kubevirt.io": ("KubeVirt", "VirtualMachineInstanceMigration", "VirtualMachineInstancePreset"),
    "pool.kubevirt.io": ("VirtualMachinePool",),
    "snapshot.kubevirt.io": ("VirtualMachineSnapshot", "VirtualMachineSnapshotContent", "VirtualMachineRestore"),
    "export.kubevirt.io": ("VirtualMachineExport",),
    "clone.kubevirt.io": ("VirtualMachineClone",),
    "backup.kubevirt.io": ("VirtualMachineBackup", "VirtualMachineBackupTracker"),
    "instancetype.kubevirt.io": (
        *("VirtualMachineInstancetype", "VirtualMachinePreference"),
        *("VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"),
    ),
    "migrations.kubevirt.io": ("MigrationPolicy",),
}
"""What virt-controller follows next to the kinds that cases are about."""


def kubevirt(cluster: Cluster, source: Path) -> None:
    """Without virt-api, which fills in and refuses. A thread stands in for virt-handler."""
    schemas = source / "pkg" / "virt-operator" / "resource" / "generate" / "components" / "validations_generated.go"
    files = []
    for made in kubevirt_crds(schemas.read_text(encoding="utf-8")):
        crd = dict(made)
        _serve_as_kubevirt(crd)
        files.append(cluster.write_config(crd["metadata"]["name"], crd))
    cluster.install_crds(files)
    crds = [_open_crd(group, kind) for group, kinds in _OF_KUBEVIRT.items() for kind in kinds]
    for crd in crds:
        cluster.member.apply(crd)
    for crd in crds:
        until(f"{crd['metadata']['name']} is served", partial(_serves, cluster, crd["spec"]), _PATIENCE)
    cluster.add_namespace("kubevirt")
    VirtHandler(cluster.member).start()
    port = free_port()
    certificates = cluster.certificates
    cluster.run(
        "kubevirt",
        f"--kubeconfig={cluster.kubeconfig}",
        "--listen=127.0.0.1",
        f"--port={port}",
        "--launcher-image=launcher",
        "--exporter-image=exporter",
        f"--prom-cert-file={certificates / 'tls.crt'}",
        f"--prom-key-file={certificates / 'tls.key'}",
    )
    cluster.wait_for_port("kubevirt", port)


def _serves(cluster: Cluster, spec: Object) -> bool:
    return cluster.member.get(f"/apis/{spec['group']}/v1/{spec['names']['plural']}?limit=1") is not None


def _serve_as_kubevirt(crd: Object) -> None:
    """Have a CRD serve the older version, too, and have the subresources that KubeVirt's operator gives to its kind."""
    (version,) = crd["spec"]["versions"]
    kind = crd["spec"]["names"]["kind"]
    if kind == "VirtualMachineInstance":
        del version["subresources"]
    if kind == "VirtualMachineInstanceReplicaSet":
        version["subresources"]["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.labelSelector",
        }
    crd["spec"]["versions"].append({**version, "name": "v1alpha3", "storage": False})


def _open_crd(group: str, kind: str) -> Object:
    """Return a CRD that takes everything, for a kind of which there are no objects."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = ("v1", "v1beta1", "v1alpha1")
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in served]
    plural = f"{kind.removesuffix('y')}ies" if kind.endswith("y") else f"{kind}s"
    names = {"plural": plural.lower(), "kind": kind}
    scope = "Cluster" if "Cluster" in kind or kind == "MigrationPolicy" else "Namespaced"
    crd = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural.lower()}.{group}")
    return crd | {"spec": {"group": group, "names": names, "scope": scope, "versions": versions}}
