"""``karta-interpreter export crd`` and ``export json-schema``: the schema of a Karta."""

import click

from karta_interpreter.cli.render.document import to_json, to_yaml
from karta_interpreter.karta.publication import custom_resource_definition, json_schema


@click.command("crd")
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="How to print.")
def crd_command(output: str) -> None:
    """Print the CustomResourceDefinition of Kartas.

    It is the one that the chart and the kustomize base for Karmada's API server install.
    """
    document = custom_resource_definition()
    click.echo(to_json(document) if output == "json" else to_yaml(document), nl=False)


@click.command("json-schema")
def json_schema_command() -> None:
    """Print the JSON Schema of Kartas, for editors.

    An editor with it completes fields and annotations, and underlines unknown ones as they are written.
    """
    click.echo(to_json(json_schema()), nl=False)
