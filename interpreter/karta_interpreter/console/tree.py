"""The components of a workload for the page: names, counts and requests, without the pod templates."""

from collections.abc import Sequence

from karta_interpreter.errors import WorkloadError
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.workload import Karta, Workload, WorkloadTree
from karta_interpreter.workload.tree import ComponentNode, InstanceNode


def tree(definition: Definition, obj: Object, references: Sequence[Object] = ()) -> Object:
    """The tree of a workload from its root down, or the error that came instead."""
    if not definition.has_karta:
        return {"error": "scripts do not describe components"}
    workload = Workload(Karta(definition), obj)
    try:
        found = WorkloadTree.build(workload.with_references(references) if references else workload)
    except WorkloadError as error:
        return {"error": str(error)}
    status = list(map(str, found.status.matched)) if found.status else []
    return {"status": status, "replicas": found.replicas, "root": _component(found.root)}


def _component(node: ComponentNode) -> Object:
    return {
        "name": node.name,
        "kind": node.kind.kind if node.kind else "",
        "hasPods": node.has_pods,
        "instances": [_instance(each) for each in node.instances],
        "children": [_component(child) for child in node.children],
    }


def _instance(node: InstanceNode) -> Object:
    scale, needs = node.instance.scale, node.requirements
    bounds = {} if scale is None else {"minimum": scale.minimum, "maximum": scale.maximum}
    return {
        "id": node.instance.id,
        "hasPods": node.instance.has_pods,
        "replicas": node.instance.replicas,
        "requests": ((needs and needs.to_json()) or {}).get("resourceRequest") or {},
        **bounds,
    }
