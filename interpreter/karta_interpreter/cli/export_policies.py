"""``karta-interpreter export override-policy`` and ``propagation-policy``: policies from a definition."""

from textwrap import fill

import click

from karta_interpreter.base.k8s import diff
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli.definitions import definitions_named, kinds_of, workload_of
from karta_interpreter.cli.files import read_object
from karta_interpreter.cli.options import complete_kinds, file_option, inputs, output
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.cli.render import to_json
from karta_interpreter.cli.writing import Data, say
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.export.policies import Direction, Policy, failover_policy, switch_policy, switch_policy_of

_WIDTH = 100

_files = inputs("-f", "--filename", "paths", text="Definitions")


@click.command("override-policy")
@click.argument("kind", required=False, shell_complete=complete_kinds)
@_files
@click.option("--suspend", is_flag=True, help="Suspend the workloads.")
@click.option("--resume", is_flag=True, help="Resume the workloads.")
@file_option("--object", "path", help='Only this workload, with the patches that it needs: file or "-".')
@click.option("--cluster", "clusters", metavar="NAME", multiple=True, help="A cluster to suspend in; may be repeated.")
@output("yaml", "json")
def override_policy_command(
    *,
    kind: str | None,
    paths: tuple[str, ...],
    suspend: bool,
    resume: bool,
    path: str | None,
    clusters: tuple[str, ...],
    output: str,
) -> None:
    """Print an OverridePolicy that suspends or resumes workloads in some clusters.

    Its plaintext overriders are JSON Patches from the suspendDefinition of KIND, or of the kind of --object: for
    roll-outs of stateful workloads that go from cluster to cluster.
    """
    if (kind is None) == (path is None):
        raise UsageProblem("error: give either KIND or --object")
    if suspend == resume:
        raise UsageProblem("error: give either --suspend or --resume")
    direction: Direction = "suspend" if suspend else "resume"
    policy = (
        _of_object(direction, path, paths, clusters)
        if path
        else switch_policy(_definition(kind or "", paths), direction, clusters)
    )
    _print(policy, output)


@click.command("propagation-policy")
@click.argument("kind", shell_complete=complete_kinds)
@_files
@click.option("--cluster-scoped", is_flag=True, help="Objects of KIND have no namespace.")
@output("yaml", "json")
def propagation_policy_command(*, kind: str, paths: tuple[str, ...], cluster_scoped: bool, output: str) -> None:
    """Print a PropagationPolicy whose application failover fits KIND, with its state where the definition names it.

    Thresholds follow from the family of the kind; comments say what each member has to do. Edit the selector and the
    placement. A kind without namespaces gets a ClusterPropagationPolicy.
    """
    _print(failover_policy(_definition(kind, paths), cluster_scoped=cluster_scoped), output)


def _of_object(direction: Direction, path: str, paths: tuple[str, ...], clusters: tuple[str, ...]) -> Policy:
    workload = workload_of(read_object(path, lambda: kinds_of(paths)), paths, ())
    switched = workload.suspend() if direction == "suspend" else workload.resume()
    patches = diff(workload.object, switched.object)
    return switch_policy_of(workload.karta.definition, direction, workload.object, patches, clusters)


def _definition(kind: str, paths: tuple[str, ...]) -> Definition:
    found = definitions_named([kind], paths)
    if len(found) > 1:
        names = ", ".join(f"{definition.gvk.api_version}/{definition.gvk.kind}" for definition in found)
        raise UsageProblem(f"error: {kind} names several kinds; write one of {names}")
    return found[0]


def _print(policy: Policy, form: str) -> None:
    notes = "".join(f"{fill(note, _WIDTH, initial_indent='# ', subsequent_indent='# ')}\n" for note in policy.notes)
    say(to_json(policy.manifest) if form == "json" else Data(notes + to_yaml(policy.manifest)), nl=False)
