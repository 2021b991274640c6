"""``karta-interpreter tree``: the components, instances and pods of a workload."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import click

from karta_interpreter.base.findings import count, escaped
from karta_interpreter.base.k8s import MOST_REPLICAS, Object
from karta_interpreter.cli import options
from karta_interpreter.cli.definitions import kinds_of, workload_of
from karta_interpreter.cli.explain import warnings_text
from karta_interpreter.cli.files import check_stdin, file_given, read_object, read_objects
from karta_interpreter.cli.options import LATER, NO_OBJECT, definitions, file_option, output
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import full_name, one_line, say, written
from karta_interpreter.engine.evaluation import Status, pod_name
from karta_interpreter.engine.explain import warnings_about
from karta_interpreter.engine.workload import ComponentNode, InstanceNode, PodGroup, SubGroup, WorkloadTree
from karta_interpreter.engine.workload.tree import GroupNode, count_running

_MARKERS = (("├── ", "│   "), ("└── ", "    "))
_NONE = "none"

_Branch: TypeAlias = tuple[str, "list[_Branch]"]
"""A line, and the branches below it."""


def tree_text(tree: WorkloadTree) -> str:
    """Return the tree drawn with lines, pods as its leaves."""
    obj = tree.workload.object
    title = f"{obj['kind']} {full_name(obj.get('metadata'))}".rstrip()
    status = (
        "no status yet"
        if not obj.get("status") and Status.UNDEFINED in tree.status.matched
        else ", ".join(tree.status.matched)
    )
    head, below = _component(tree.root, click.style(title, bold=True), status)
    below += [_group(node) for node in tree.groups]
    if tree.ungrouped:
        below.append((_line("in no group", *map(pod_name, tree.ungrouped)), []))
    return "".join(f"{one_line(line)}\n" for line in (head, *_drawn(below)))


def _component(node: ComponentNode, name: str, *facts: str) -> _Branch:
    """Return the branch of a component. One nameless instance has no branch of its own."""
    children = [_component(child, child.name) for child in node.children]
    if [each.instance.id for each in node.instances] == [""]:
        (only,) = node.instances
        return _line(name, *facts, *_counts(node, only)), [*_pods_of(only), *children]
    instances = [(_line(each.instance.id, *_counts(node, each)), [*_pods_of(each)]) for each in node.instances]
    return _line(name, *facts, "" if instances else _NONE), [*instances, *children]


def _group(node: GroupNode) -> _Branch:
    """Return the branch of a group: its members and, with known pods, its minimum and how many of its pods run."""
    rule, group = node.rule, node.group
    members = f"of {' and '.join(rule.members)}"
    if group is None:
        return _line(f"group {rule.name}", members, f"by {' and '.join(rule.keys)}" if rule.keys else ""), []
    name = f"group {rule.name} {'-'.join(group.keys)}".rstrip()
    parts: list[_Branch] = [(_line(part.component, *_gang_facts(part)), []) for part in group.sub_groups]
    return _line(name, members, *_gang_facts(group)), parts


def _gang_facts(group: PodGroup | SubGroup) -> Iterator[str]:
    yield f"at least {count(group.minimum, 'pod')} together"
    if group.pods:
        running = count_running(group.pods)
        yield f"{running} run" + ("" if running >= group.minimum else f", {group.minimum - running} missing")


def _line(name: str, *facts: str) -> str:
    return ": ".join(filter(None, [name, ", ".join(filter(None, facts))]))


def _counts(node: ComponentNode, each: InstanceNode) -> tuple[str, str]:
    requests = ", ".join(f"{name} {amount}" for name, amount in each.requests.items())
    return _counted(node, each), f"{requests} each" if requests else ""


def _counted(node: ComponentNode, each: InstanceNode) -> str:
    instance = each.instance
    if node.has_pods and not instance.has_pods:
        return _NONE
    if not node.has_pods and instance.scale is None:
        return ""
    counted, scale = count(instance.replicas, "pod" if node.has_pods else "replica"), instance.scale
    least, most = (None, None) if scale is None else (scale.minimum, scale.maximum)
    if most is None or most == MOST_REPLICAS:  # the default of operators for no bound
        return f"{counted} (at least {least})" if least else counted
    return f"{counted} ({'at most' if least is None else f'{least} to'} {most})"


def _pods_of(node: InstanceNode) -> Iterator[_Branch]:
    for pod in node.pods:
        facts = pod.to_json()
        words = (
            str(facts.get("phase", "")),
            "ready" if facts["ready"] else "not ready",
            f"on {facts['node']}" if "node" in facts else "",
            f"replica {pod.replica}" if pod.replica is not None else "",
        )
        yield _line(pod_name(pod.pod), *words), []


def _drawn(branches: Sequence[_Branch]) -> Iterator[str]:
    for position, (line, below) in enumerate(branches, start=1):
        marker, further = _MARKERS[position == len(branches)]
        yield marker + line
        yield from (further + line for line in _drawn(below))


_EXAMPLES = """\b
Examples:
  karta-interpreter tree raycluster.yaml
  karta-interpreter tree raycluster.yaml --pods pods.yaml
  kubectl get rayjob demo -o yaml | karta-interpreter tree -
"""


@click.command("tree", epilog=_EXAMPLES)
@click.argument("file", required=False, type=LATER, metavar="[FILE]")
@file_option("--object", "path", help='The workload, instead of FILE: file or "-".')
@file_option("--pods", help='The pods of the workload: file, folder or "-".')
@definitions
@options.references
@output("tree", "json", "yaml")
def command(
    file: str | None,
    path: str | None,
    pods: str | None,
    filenames: tuple[str, ...],
    references: tuple[str, ...],
    output: str,
) -> None:
    """Show the components, instances and pods of a workload.

    FILE contains the workload, "-" is stdin. Counts are for the whole workload. The selectors of the definition match
    pods among those of this workload: do not pass pods of other workloads. The exit code is 1 when a pod matches no
    component.
    """
    path = file_given(file, path)
    check_stdin(filter(None, (path, pods, *filenames, *references)))
    if path is None:
        raise UsageProblem(f"error: {NO_OBJECT}")
    obj = read_object(path, lambda: kinds_of(filenames))
    workload = workload_of(obj, filenames, references)
    warnings = warnings_about(workload.definition, workload.object)
    try:
        tree = WorkloadTree.build(workload, _pods(pods))
        say(tree_text(tree) if output == "tree" else written(tree.to_json(), output), nl=False)
    finally:  # they may tell why there is no tree
        say(warnings_text(warnings), err=True, nl=False)
    if tree.strays:
        say("\n".join(escaped(stray.reason) for stray in tree.strays), err=True)
        raise SystemExit(Problem.exit_code)


def _pods(path: str | None) -> list[Object]:
    given = read_objects(path) if path is not None else []
    pods = [obj for obj in given if (obj.get("apiVersion"), obj.get("kind")) == ("v1", "Pod")]
    if given and not pods:
        raise Problem(f"error: {path}: it contains no Pod; --pods takes what `kubectl get pods -o yaml` prints")
    return pods
