"""KServe in the mode that makes Deployments; nothing routes requests to them."""

import json

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.api import Object
from tests.proofs.rig.cluster import Cluster, documents
from tests.proofs.rig.processes import free_port

_NAMESPACE = "kserve"
_RUNTIMES = ("sklearnserver", "huggingfaceserver")


def _start(cluster: Cluster) -> None:
    source, port = programs.KSERVE.source() / "config", free_port()
    cluster.install_crds((source / "crd" / "full").glob("**/serving*.yaml"))
    cluster.add_namespace(_NAMESPACE)
    (config,) = documents(source / "configmap" / "inferenceservice.yaml")
    cluster.member.apply(_in_deployments(config))
    health = f"127.0.0.1:{free_port()}"
    cluster.run(
        "kserve",
        "--metrics-addr=0",
        f"--health-probe-addr={health}",
        f"--webhook-port={port}",
        POD_NAMESPACE=_NAMESPACE,
    )
    cluster.wait_for_port("kserve", port)
    cluster.install_webhooks("", source / "webhook" / "manifests.yaml", port)
    for runtime in _RUNTIMES:
        for thing in documents(source / "runtimes" / f"kserve-{runtime}.yaml"):
            for api in (cluster.member, cluster.karmada):
                api.apply(thing)


def _in_deployments(config: Object) -> Object:
    ingress = json.loads(config["data"]["ingress"]) | {"disableIngressCreation": True, "disableIstioVirtualHost": True}
    changed = {"ingress": json.dumps(ingress), "deploy": json.dumps({"defaultDeploymentMode": "Standard"})}
    return {**config, "data": {**config["data"], **changed}}


def _component(pod: Object) -> str:
    """Return the component by the Service of a pod, which has the name of a canary in its own."""
    labels = pod["metadata"]["labels"]
    service: str = labels["app"].removeprefix(f"isvc.{labels['serving.kserve.io/inferenceservice']}-")
    return service.removesuffix("-predictor")


KSERVE = Controller(
    name="kserve",
    kinds=(Kind("serving.kserve.io/v1beta1", "InferenceService", completes=False, component=_component),),
    start=_start,
    programs=(programs.KSERVE,),
)
