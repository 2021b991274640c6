"""Argo Rollouts, which has no webhooks."""

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.processes import free_port


def _start(cluster: Cluster) -> None:
    cluster.install_crds((programs.ARGO_ROLLOUTS.source() / "manifests" / "crds").glob("*-crd.yaml"))
    cluster.add_namespace("argo-rollouts")
    port = free_port()
    flags = ("--leader-elect=false", "--qps=500", "--burst=1000", f"--metricsPort={free_port()}")
    cluster.run("argo-rollouts", f"--kubeconfig={cluster.kubeconfig}", *flags, f"--healthzPort={port}")
    cluster.wait_for_port("argo-rollouts", port)


ARGO_ROLLOUTS = Controller(
    name="argo-rollouts",
    kinds=(Kind("argoproj.io/v1alpha1", "Rollout", completes=False, switch="spec.paused"),),
    start=_start,
    programs=(programs.ARGO_ROLLOUTS,),
)
