"""OpenKruise, without the daemon that it runs on nodes."""

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.cluster import Cluster, documents
from tests.proofs.rig.processes import free_port

_NAMESPACE = "kruise-system"
_PATIENCE = 120.0
_CLONESETS = "/apis/apps.kruise.io/v1alpha1/clonesets"
_STATEFULSETS = "/apis/apps.kruise.io/v1beta1/statefulsets"


def _start(cluster: Cluster) -> None:
    source, port = programs.KRUISE.source() / "config", free_port()
    cluster.install_crds((source / "crd" / "bases").glob("*.yaml"))
    cluster.add_namespace(_NAMESPACE)
    webhooks = [_webhooks_of(thing) for thing in documents(source / "webhook" / "manifests.yaml")]
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
        POD_NAMESPACE=_NAMESPACE,
    )
    until("OpenKruise has entered its address", lambda: all(_is_entered(cluster, one) for one in webhooks), _PATIENCE)
    cluster.wait_for_port("kruise", port)


def _webhooks_of(thing: Object) -> Object:
    """Return the webhooks under the names by which OpenKruise finds them to enter address and certificate.

    Those that only guard objects of others against their deletion are left out.
    """
    name = f"kruise-{thing['metadata']['name']}"
    hooks = []
    for hook in thing["webhooks"]:
        service = hook["clientConfig"]["service"]
        if service["path"].startswith("/mutate") or "apps-kruise-io" in service["path"]:
            hooks.append({**hook, "clientConfig": {"service": {**service, "namespace": _NAMESPACE}}})
    return {**thing, "metadata": {"name": name}, "webhooks": hooks}


def _is_entered(cluster: Cluster, thing: Object) -> bool:
    found = cluster.member.find(thing)
    return found is not None and all("url" in hook["clientConfig"] for hook in found["webhooks"])


def _kind(name: str, *, completes: bool, children: tuple[str, ...] = (), version: str = "v1alpha1") -> Kind:
    return Kind(f"apps.kruise.io/{version}", name, completes=completes, children=children, switch="spec.paused")


KRUISE = Controller(
    name="kruise",
    kinds=(
        _kind("CloneSet", completes=False),
        _kind("StatefulSet", completes=False, version="v1beta1"),
        _kind("DaemonSet", completes=False),
        _kind("BroadcastJob", completes=True),
        _kind("AdvancedCronJob", completes=True),
        _kind("UnitedDeployment", completes=False, children=(_CLONESETS, _STATEFULSETS)),
    ),
    start=_start,
    programs=(programs.KRUISE,),
)
