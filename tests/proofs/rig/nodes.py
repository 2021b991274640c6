"""Nodes of a member, so that Karmada's scheduler finds room there."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.proofs.rig.api import Api, Object

_ROOM = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}


def add_node(api: Api, name: str, room: Mapping[str, str] = _ROOM) -> None:
    """Add a node that is ready and has plenty of everything."""
    node = _node(name)
    api.apply(node)
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    api.put_status(node, {"capacity": room, "allocatable": room, "conditions": [ready]})
    # API servers taint each new node as not ready, and no controller here would take that away.
    api.merge(node, {"spec": {"taints": None}})


@contextmanager
def with_nodes(api: Api, count: int, cpu: int) -> Iterator[None]:
    """Have a member with so many nodes of so much CPU, instead of its one node, until the end of the block."""
    names = [f"{api.name}-node", *(f"{api.name}-node-{number}" for number in range(1, count))]
    for name in names:
        add_node(api, name, _ROOM | {"cpu": str(cpu)})
    try:
        yield
    finally:
        for name in names[1:]:
            api.delete(_node(name))
        add_node(api, names[0])


def _node(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}
