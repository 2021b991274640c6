"""Nodes of a member, so that Karmada's scheduler finds room there."""

from collections.abc import Mapping

from tests.proofs.e2e.rig.api import Api, Object

_ROOM = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}


def add_node(api: Api, name: str, room: Mapping[str, str] = _ROOM) -> None:
    """Add a node that is ready and has plenty of everything."""
    labels = {"kubernetes.io/hostname": name}
    node: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    api.apply(node)
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    api.put_status(node, {"capacity": room, "allocatable": room, "conditions": [ready]})
