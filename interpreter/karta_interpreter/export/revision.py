"""The script of ReviseReplica."""

from karta_interpreter.export.paths import plain_path
from karta_interpreter.export.pods import has_one, lone_component
from karta_interpreter.export.script import Script, has_default
from karta_interpreter.export.writer import quoted
from karta_interpreter.karta.definition import Component


def revise(script: Script) -> None:
    """``ReviseReplica``."""
    leaves, elastic_ones = script.definition.leaves, script.definition.annotations.elastic
    if len(leaves) == 1 and _is_plain_count(script, leaves[0]) and elastic_ones in (None, (leaves[0].name,)):
        _revise_one(script, leaves[0])
        return
    components = script.components()
    named = script.definition.annotations.elastic
    elastic = "nil"
    if named is not None:
        elastic = "{" + ", ".join(f"[{quoted(name)}] = true" for name in named) + "}"
    script.add(f"function ReviseReplica(obj, replicas)\n  return revised({components}, {elastic}, obj, replicas)\nend")


def _revise_one(script: Script, component: Component) -> None:
    """Write ``ReviseReplica`` for the only component, whose count is at one path or at none."""
    path = plain_path(component.replicas.node) if component.replicas else None
    default = path.default if path and has_default(component) else ""
    arguments = ", ".join(["obj", "replicas", "pods", *([path.keys] if path else []), *([default] if default else [])])
    lines = [
        "function ReviseReplica(obj, replicas)",
        "  local pods = nil",
        *lone_component(script, component, lambda pods: f"pods = {pods.replicas}"),
        f"  return with_pods({arguments})",
        "end",
    ]
    script.add("\n".join(lines))


def _is_plain_count(script: Script, component: Component) -> bool:
    """Whether the only pods of a component are counted at a path without lists, or by an expression without a place."""
    if not has_one(script, component) or component.min_replicas or component.max_replicas:
        return False
    query = component.replicas
    if query is None:
        return True
    path = plain_path(query.node)
    if path:
        return path.steps[0] == "spec" and not path.default.startswith('"')
    return query.is_plain and not script.has_place(query)
