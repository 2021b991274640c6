"""``karta-interpreter unregister``: removes the registration from Karmada."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from karta_interpreter.base.command_line import shown
from karta_interpreter.base.findings import count, listed
from karta_interpreter.cli.definitions import with_cluster
from karta_interpreter.cli.options import ObjectName, control_plane
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import one_line, say, table
from karta_interpreter.clusters.remains import Remain, read_remains
from karta_interpreter.clusters.resource import MOST_NAMED
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.webhook.registration.configuration import KIND, NAME
from karta_interpreter.webhook.registration.registrar import registrations, unregister

# A server that registers itself has created its object again by then.
_SETTLED_SECONDS = 2.0


@click.command("unregister")
@control_plane
@click.option(
    "--name",
    type=ObjectName(),
    metavar="NAME",
    default=NAME,
    show_default=True,
    envvar="KARTA_INTERPRETER_REGISTRATION_NAME",
    show_envvar=True,
    help="Name of the registration.",
)
@click.option("--dry-run", is_flag=True, help="Delete nothing, and name what would stay, with the command to end it.")
def command(*, kubeconfig: Path | None, context: str | None, name: str, dry_run: bool) -> None:
    """Remove a server's registration from Karmada.

    The command deletes its ResourceInterpreterWebhookConfiguration, and Karmada uses its own interpreters again. Stop
    the servers first: one that registers itself creates the object again. A missing object is not an error. Attached
    dependencies and statuses of templates stay, and --dry-run lists them.
    """
    with_cluster(kubeconfig, context, lambda api: _unregister(api, name, dry_run=dry_run))


def print_remains(remains: Sequence[Remain]) -> None:
    """Print what stays. An object without a command is a problem."""
    rows = [remain for remain in remains if remain.command]
    refused = [remain for remain in remains if not remain.command]
    if rows:
        say(table(rows, header=("OBJECT", "WHAT STAYS", "THE COMMAND THAT ENDS IT")), nl=False)
    say(f"{count(len(rows), 'object')} would stay as registered; counts, placement and health go back", err=True)
    for problem in refused[:MOST_NAMED]:
        say(one_line(f"problem: {problem.what}: {problem.why}"), err=True)
    if len(refused) > MOST_NAMED:
        say(f"problem: {len(refused) - MOST_NAMED} more bindings have no command for such reasons", err=True)
    if refused:
        raise SystemExit(Problem.exit_code)


async def _unregister(api: ApiServer, name: str, *, dry_run: bool) -> None:
    names = await registrations(api)
    if name not in names:
        others = f"; there is {listed(shown('name', other) for other in names)}, which --name takes" if names else ""
        say(f"{api.url} has no {KIND} {name}: nothing to do{others}", err=True)
        return
    if dry_run:
        print_remains(await read_remains(api, name))
        return
    await unregister(api, name)
    await asyncio.sleep(_SETTLED_SECONDS)
    if name in await registrations(api):
        raise Problem(
            f"error: {KIND} {name} was deleted and created again: a server with --register runs; stop it first"
        )
    say(f"deleted {KIND} {name} at {api.url}", err=True)
