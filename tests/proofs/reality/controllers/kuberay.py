"""KubeRay, with the webhook that its binary serves, and Ray's dashboard, which it asks about jobs and applications."""

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.reality.dashboard import Dashboard
from tests.proofs.rig.api import Object
from tests.proofs.rig.cluster import Cluster, is_used
from tests.proofs.rig.processes import free_port

_WEBHOOK = 9443
_CLUSTERS = "/apis/ray.io/v1/rayclusters"
_JOBS = "/apis/ray.io/v1/rayjobs"


def _start(cluster: Cluster) -> None:
    source, dashboard = programs.KUBERAY.source() / "config", Dashboard()
    cluster.install_crds((source / "crd" / "bases").glob("*.yaml"))
    cluster.listeners.append(dashboard.told)
    # The port is not to be chosen: of several members one has the webhook.
    is_first = not is_used(_WEBHOOK)
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
    if not is_first:
        return
    cluster.wait_for_port("kuberay", _WEBHOOK)
    # Its manifest names webhooks of other kinds, too, which its binary does not serve.
    cluster.install_webhooks("kuberay", source / "webhook" / "manifests.yaml", _WEBHOOK, wanted=_of_clusters)


def _of_clusters(webhook: Object) -> bool:
    return any("rayclusters" in rule["resources"] for rule in webhook["rules"])


def _component(pod: Object) -> str:
    labels = pod["metadata"].get("labels", {})
    kind = labels.get("ray.io/node-type")
    if kind is None:
        return "submitter"
    return "head" if kind == "head" else str(labels["ray.io/group"])


def _is_submitter(pod: Object) -> bool:
    """Whether a pod ends with a RayJob: those of Ray go on."""
    return _component(pod) == "submitter"


KUBERAY = Controller(
    name="kuberay",
    kinds=(
        Kind("ray.io/v1", "RayCluster", completes=False, component=_component),
        Kind(
            "ray.io/v1",
            "RayJob",
            completes=True,
            component=_component,
            ends=_is_submitter,
            children=(_CLUSTERS,),
        ),
        Kind("ray.io/v1", "RayCronJob", completes=True, component=_component, children=(_JOBS, _CLUSTERS)),
        Kind("ray.io/v1", "RayService", completes=False, component=_component, children=(_CLUSTERS,)),
    ),
    start=_start,
    programs=(programs.KUBERAY,),
    ports=(_WEBHOOK,),
)
