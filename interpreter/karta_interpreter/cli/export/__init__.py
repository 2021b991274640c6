"""``karta-interpreter export``: manifests of what `serve` applies, to keep them in Git."""

import click

from karta_interpreter.cli.export.schemas import crd_command, json_schema_command
from karta_interpreter.cli.export.webhook_configuration import webhook_configuration_command


@click.group("export")
def command() -> None:
    """Print manifests for GitOps, and schemas."""


for each in (webhook_configuration_command, crd_command, json_schema_command):
    command.add_command(each)
