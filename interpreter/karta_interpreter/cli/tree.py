"""``karta-interpreter tree``: the components, instances and pods of a workload."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import click

from karta_interpreter.base.findings import count, escaped
from karta_interpreter.base.k8s import MOST_REPLICAS, Object, full_name, get
from karta_interpreter.cli import options
from karta_interpreter.cli.definitions import kinds_of, with_cluster, workload_of
from karta_interpreter.cli.explain import warnings_text
from karta_interpreter.cli.files import check_stdin, file_given, read_object, read_objects
from karta_interpreter.cli.options import LATER, NO_OBJECT, MemberOptions, definitions, file_option, output
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import one_line, say, text_of, written
from karta_interpreter.engine.evaluation import Status, pod_name
from karta_interpreter.engine.explain import warnings_about
from karta_interpreter.engine.workload import ComponentNode, InstanceNode, PodGroup, SubGroup, WorkloadTree
from karta_interpreter.engine.workload.tree import GroupNode, count_running, reason_without_group

_MARKERS = (("├── ", "│   "), ("└── ", "    "))
_NONE = "none"
# The most pods of an instance that are shown to people.
_MOST_PODS = 20

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
        reasons = dict.fromkeys(reason_without_group(tree.workload, pod) for pod in tree.ungrouped)
        below.append((_line("in no group", *map(pod_name, tree.ungrouped)), [(text, []) for text in reasons if text]))
    return text_of((head, *_drawn(below)))


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


def _counts(node: ComponentNode, each: InstanceNode) -> Iterator[str]:
    yield _counted(node, each)
    if each.has_known_pods:
        yield f"{each.counts.current} current"
        yield f"{each.counts.ready} ready"
    if each.requests:
        yield f"{_amounts(each.requests)} each"
        if each.has_known_pods and each.counts.desired > 1:
            yield f"{_amounts(each.total_requests)} in all"


def _amounts(requests: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in requests.items())


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
    """Yield a branch for each pod, those that do not run first, up to a number."""
    for pod in sorted(node.pods, key=lambda pod: pod.rank)[:_MOST_PODS]:
        facts = pod.to_json()
        if get(pod.pod, ("metadata", "deletionTimestamp")):
            state = "being deleted"
        elif pod.problem:
            state = pod.problem
        else:
            state = "ready" if pod.is_ready else "not ready"
        words = (
            str(facts.get("phase", "")),
            state,
            f"on {facts['node']}" if "node" in facts else "",
            f"replica {pod.replica}" if pod.replica is not None else "",
        )
        yield _line(pod_name(pod.pod), *words), []
    if len(node.pods) > _MOST_PODS:
        yield f"and {len(node.pods) - _MOST_PODS} more", []


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
  karta-interpreter tree rayjob/demo --context member1 -n ml
  karta-interpreter tree rayjob --context member1 -A --status Failed
"""


@click.command("tree", epilog=_EXAMPLES)
@click.argument("file", required=False, type=LATER, metavar="[FILE | KIND | KIND/NAME]")
@file_option("--object", "path", help='The workload, instead of FILE: file or "-".')
@file_option("--pods", help='The pods of the workload: file, folder or "-".')
@definitions
@options.references
@options.member_cluster
@click.option("-l", "--selector", "labels", default="", metavar="LABELS", help="Only objects with these labels.")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([str(status) for status in Status], case_sensitive=False),
    help="Only workloads with this status; may be repeated.",
)
@output("tree", "json", "yaml")
def command(  # noqa: PLR0913 - one for each option
    *,
    file: str | None,
    path: str | None,
    pods: str | None,
    filenames: tuple[str, ...],
    references: tuple[str, ...],
    labels: str,
    statuses: tuple[str, ...],
    output: str,
    member: MemberOptions,
) -> None:
    """Show the components, instances and pods of a workload.

    FILE contains the workload, "-" is stdin. Counts are for the whole workload. The selectors of the definition match
    pods among those of this workload: do not pass pods of other workloads. Pods whose owner is another object of its
    kind are left out. The exit code is 1 when a pod matches no component.

    With --context or --kubeconfig KIND/NAME is an object in a member cluster, which is shown with its pods, and KIND
    gives a row for each object of the kind. It only reads.
    """
    if member.context is not None or member.kubeconfig is not None:
        if path or pods or references or not file:
            raise UsageProblem("error: with --context give KIND or KIND/NAME, and no file of a workload or of pods")
        check_stdin(filenames)
        _show_live(file, filenames, member, Filter(labels, statuses), output)
        return
    if member.namespace or member.all_namespaces or labels or statuses:
        raise UsageProblem("error: -n, -A, -l and --status are for a member: give --context or --kubeconfig")
    path = file_given(file, path)
    check_stdin(filter(None, (path, pods, *filenames, *references)))
    if path is None:
        raise UsageProblem(f"error: {NO_OBJECT}")
    obj = read_object(path, lambda: kinds_of(filenames))
    workload = workload_of(obj, filenames, references)
    warnings = warnings_about(workload.definition, workload.object)
    try:
        of_file, owners = _pods(pods)
        _show(WorkloadTree.build(workload, of_file, owners), output)
    finally:  # they may tell why there is no tree
        say(warnings_text(warnings), err=True, nl=False)


def _show(tree: WorkloadTree, output: str) -> None:
    """Print a tree, and the pods that belong nowhere on stderr with exit code 1."""
    say(tree_text(tree) if output == "tree" else written(tree.to_json(), output), nl=False)
    if tree.strays:
        say("\n".join(escaped(stray.reason) for stray in tree.strays), err=True)
        raise SystemExit(Problem.exit_code)


class Filter(NamedTuple):
    """A label selector and statuses, which choose among the objects of a kind."""

    labels: str
    statuses: tuple[str, ...]


def _show_live(text: str, filenames: Sequence[str], member: MemberOptions, chosen: Filter, output: str) -> None:
    # Imported only if needed: files are read without the client of an API server.
    from karta_interpreter.cli import live  # noqa: PLC0415 - see above
    from karta_interpreter.cli.definitions import check_namespaces  # noqa: PLC0415 - see above
    from karta_interpreter.clusters.live import read_live  # noqa: PLC0415 - see above
    from karta_interpreter.clusters.member import WorkloadSelection  # noqa: PLC0415 - see above

    check_namespaces(member)
    asked = live.named(text, filenames)
    if asked.name and any(chosen):
        raise UsageProblem("error: -l and --status choose among objects of a kind: give KIND without a name")
    selection = WorkloadSelection(member.namespace, name=asked.name, labels=chosen.labels, owned=True)
    read = partial(
        read_live,
        definitions=asked.definitions,
        selection=selection,
        all_namespaces=member.all_namespaces,
    )
    shown = with_cluster(member.kubeconfig, member.context, read)
    _warn(shown.problems)
    if asked.name:
        _show(live.only(shown, asked.kind, asked.name), output)
    else:
        trees = live.newest_first(shown.trees, chosen.statuses)
        if output != "tree":
            say(written(live.workloads_json(trees), output), nl=False)
        elif trees:
            say(live.workloads_table(trees, time.time()), nl=False)
        elif not shown.problems:
            say(f"in {shown.place} there is no such {asked.kind}", err=True)
    if shown.problems:
        raise SystemExit(Problem.exit_code)


def _warn(problems: Iterable[str]) -> None:
    for problem in problems:
        say(f"warning: {one_line(problem)}", err=True)


def _pods(path: str | None) -> tuple[list[Object] | None, list[Object]]:
    """Return the pods of a file, None without one, and its other objects."""
    if path is None:
        return None, []
    pods, others = list[Object](), list[Object]()
    for obj in read_objects(path):
        is_pod = (obj.get("apiVersion"), obj.get("kind")) == ("v1", "Pod")
        (pods if is_pod else others).append(obj)
    if others and not pods:
        raise Problem(f"error: {path}: it contains no Pod; --pods takes what `kubectl get pods -o yaml` prints")
    return pods, others
