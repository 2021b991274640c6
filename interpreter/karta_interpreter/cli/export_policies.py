"""``karta-interpreter export propagation-policy``: a policy from a definition."""

from textwrap import fill

import click

from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli.definitions import definitions_named
from karta_interpreter.cli.options import complete_kinds, inputs, output
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.cli.render import to_json
from karta_interpreter.cli.writing import Data, say
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.export.policies import failover_policy

_WIDTH = 100


@click.command("propagation-policy")
@click.argument("kind", shell_complete=complete_kinds)
@inputs("-f", "--filename", "paths", text="Definitions")
@click.option("--cluster-scoped", is_flag=True, help="Objects of KIND have no namespace.")
@output("yaml", "json")
def propagation_policy_command(*, kind: str, paths: tuple[str, ...], cluster_scoped: bool, output: str) -> None:
    """Print a PropagationPolicy whose application failover fits KIND, with its state where the definition names it.

    Thresholds follow from the family of the kind; comments say what each member has to do. Edit the selector and the
    placement. A kind without namespaces gets a ClusterPropagationPolicy.
    """
    policy = failover_policy(_definition(kind, paths), cluster_scoped=cluster_scoped)
    notes = "".join(f"{fill(note, _WIDTH, initial_indent='# ', subsequent_indent='# ')}\n" for note in policy.notes)
    say(to_json(policy.manifest) if output == "json" else Data(notes + to_yaml(policy.manifest)), nl=False)


def _definition(kind: str, paths: tuple[str, ...]) -> Definition:
    found = definitions_named([kind], paths)
    if len(found) > 1:
        names = ", ".join(f"{definition.gvk.api_version}/{definition.gvk.kind}" for definition in found)
        raise UsageProblem(f"error: {kind} names several kinds; write one of {names}")
    return found[0]
