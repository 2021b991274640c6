"""The scripts of ReviseReplica and ReviseComponents.

If only one component may change, and its count is at a path through objects, the script writes the count there. For
all other objects it contains the functions that follow the places of the counts, and share the pods among these places.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from karta_interpreter.base.k8s import Projection
from karta_interpreter.definitions.karta import ComponentRules, PodSpec, PodTemplate
from karta_interpreter.export.lua import laid_out, quoted, table_of
from karta_interpreter.export.paths import Path, is_read, plain_path
from karta_interpreter.export.pod_sets import (
    Pods,
    bounds_of,
    has_computed_names,
    has_lone_count,
    has_plain_count,
    lone_component,
    lone_pod_sets,
)
from karta_interpreter.export.script import OperationScript
from karta_interpreter.languages.jq import project, take_outputs


def revise(script: OperationScript) -> None:
    """Write ``ReviseReplica``."""
    with script.in_units():
        _revise(script)


def _revise(script: OperationScript) -> None:
    with _with_shares(script, "ReviseReplica", "replicas") as head:
        leaves = script.definition.counted
        scaled = _only_scaled(script)
        if scaled:
            _write_one_count(script, scaled, head)
            return
        is_lone = all(has_lone_count(script, leaf) for leaf in leaves)
        pod_sets = lone_pod_sets(script) if is_lone else script.components()
        annotations = script.definition.annotations
        if annotations.is_indivisible:
            script.add(f"{head}\n  return undivided({pod_sets}, obj, replicas)\nend")
            return
        elastic_leaves = [leaf for leaf in leaves if annotations.elastic is None or annotations.is_elastic(leaf.name)]
        # The pods may be divided among several counts.
        if len(elastic_leaves) > 1 or any(leaf.instance_ids for leaf in elastic_leaves):
            script.features.add("many")
        names = ", ".join(f"[{quoted(name)}] = true" for name in annotations.elastic or ())
        elastic = "nil" if annotations.elastic is None else f"{{{names}}}"
        script.add(f"{head}\n  return revised({pod_sets}, {elastic}, obj, replicas)\nend")


def revise_components(script: OperationScript) -> None:
    """Write ``ReviseComponents``."""
    with _with_shares(script, "ReviseComponents", "assigned") as head:
        definition = script.definition
        is_lone = all(has_lone_count(script, leaf) for leaf in definition.counted)
        pod_sets = lone_pod_sets(script) if is_lone else script.components()
        if definition.annotations.is_indivisible:
            script.features.add("indivisible")
        if has_computed_names(definition):
            script.features.add("computed_names")
        script.add(f"{head}\n  return with_components({pod_sets}, obj, assigned)\nend")


@contextmanager
def _with_shares(script: OperationScript, name: str, argument: str) -> Iterator[str]:
    """Add the numbers that are divided along with counts to the function of a block, which begins with this head."""
    rules = script.definition.annotations.divided
    if not rules:
        yield f"function {name}(obj, {argument})"
        return
    yield f"local function with_counts(obj, {argument})"
    fields: list[str] = []
    for rule in rules:
        value, of = script.function(rule.value, "divided number", "places"), script.list_of(rule.of, "divided count")
        held = ", is_held = true" if rule.is_held else ""
        fields.append(f"{{value = {value}, of = {of}{held}}}")
    script.add(f"local divided_along = {table_of(fields)}")
    script.add(
        f"function {name}(obj, {argument})\n"
        "  local before = counts_before(divided_along, obj)\n"
        f"  return with_shares(divided_along, before, with_counts(obj, {argument}))\nend"
    )


def _only_scaled(script: OperationScript) -> ComponentRules | None:
    """Return the only component with a count that may change, or None if the script cannot write it at its path."""
    leaves, elastic = script.definition.counted, script.definition.annotations.elastic
    if elastic is None:
        elastic_leaves = list(leaves) if len(leaves) == 1 else []
    else:
        elastic_leaves = [leaf for leaf in leaves if elastic == (leaf.name,)]
    if len(elastic_leaves) != 1 or not all(has_plain_count(script, leaf) for leaf in leaves):
        return None
    (scaled,) = elastic_leaves
    path = _count_path(scaled)
    if path is None:
        is_writable = len(leaves) == 1
    else:
        is_writable = not is_read(_other_reads(script, scaled), _written(scaled, path))
    return scaled if is_writable else None


def _written(component: ComponentRules, path: Path) -> Sequence[str]:
    """Return the path of what writing a count may make: objects on the way, but not those that have the pods, too."""
    pods = component.pods
    template = plain_path(pods.query.node) if isinstance(pods, PodSpec | PodTemplate) else None
    same = 1  # an object with pods has a spec
    while template and path.steps[:-1][: same + 1] == template.steps[: same + 1] and same < len(path.steps) - 1:
        same += 1
    return path.steps[: same + 1]


def _count_path(component: ComponentRules) -> Path | None:
    return plain_path(component.replicas.node) if component.replicas else None


def _other_reads(script: OperationScript, scaled: ComponentRules) -> Projection:
    """Return the fields that the expressions about pods read, except for the count of one component."""
    projection = Projection()
    for leaf in script.definition.counted:
        take_outputs(projection, leaf.min_replicas, leaf.max_replicas, None if leaf is scaled else leaf.replicas)
        if isinstance(leaf.pods, PodSpec | PodTemplate):
            project(leaf.pods.query.node, (projection,))
        if isinstance(leaf.pods, PodSpec):
            take_outputs(projection, leaf.pods.metadata)
    return projection


def _write_one_count(script: OperationScript, scaled: ComponentRules, head: str) -> None:
    """Write the function for the only component with a count that may change, at its path or at none."""
    has_others = len(script.definition.counted) > 1
    others = ""
    if has_others:
        script.features.add("others")
        others = ", others"
    lines = [head, f"  local scaled{others} = nil{', 0' if has_others else ''}"]
    for leaf in script.definition.counted:
        bounds = [f"{name} = count({quoted(leaf.name)}, {value})" for name, value in bounds_of(script, leaf).items()]
        if leaf is scaled:
            if bounds:
                script.features.add("limits")
            lines += _scaled_set(script, leaf, bounds)
        else:
            own = [*lone_component(script, leaf, lambda pods: f"others = others + ({pods.replicas})")]
            own[-1:-1] = [f"    local {bound}" for bound in bounds]  # one that is not a number is an error
            lines += own
    lines += [f"  return with_pods(obj, replicas, scaled{others})", "end"]
    script.add(laid_out(lines))


def _scaled_set(script: OperationScript, component: ComponentRules, bounds: Sequence[str]) -> Iterator[str]:
    """Yield the lines that make `scaled`, the pod set with the count that may change."""
    path = _count_path(component)
    fields = [f"path = {path.keys}"] if path else []
    if path and component.has_default_count:
        fields.append(f"default = {path.default}")

    def scaled(pods: Pods) -> str:
        return f"scaled = {table_of([f'pods = {pods.replicas}', *fields, *bounds])}"

    yield from lone_component(script, component, scaled)
