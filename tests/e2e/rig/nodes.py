"""Nodes of a member, so that Karmada's scheduler finds room there."""

from tests.e2e.rig.api import Api, Object

_ROOM = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}


def add_node(api: Api, name: str) -> None:
    """Add a node that says it is ready and has plenty of everything."""
    node: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    api.apply(node)
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    api.put_status(node, {"capacity": _ROOM, "allocatable": _ROOM, "conditions": [ready]})
