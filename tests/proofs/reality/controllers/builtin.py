"""Kubernetes' own workloads, by kube-controller-manager."""

from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.rig.cluster import Cluster


def _start(_: Cluster) -> None:
    """It is part of every member."""


BUILTIN = Controller(
    name="built-in",
    kinds=(
        Kind("apps/v1", "Deployment", completes=False),
        Kind("apps/v1", "StatefulSet", completes=False),
        Kind("apps/v1", "DaemonSet", completes=False),
        Kind("apps/v1", "ReplicaSet", completes=False),
        Kind("batch/v1", "Job", completes=True),
        Kind("batch/v1", "CronJob", completes=False),
        Kind("v1", "Pod", completes=False),
    ),
    start=_start,
)
