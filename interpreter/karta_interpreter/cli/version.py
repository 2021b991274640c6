"""``karta-interpreter version``: what is installed."""

import platform

import click

from karta_interpreter import __version__
from karta_interpreter.cli.options import output
from karta_interpreter.cli.render import written


@click.command("version")
@output("text", "yaml", "json")
def command(output: str) -> None:
    """Print the versions of this program and of its Python."""
    versions = {"version": __version__, "python": platform.python_version(), "platform": platform.platform()}
    if output == "text":
        click.echo(f"karta-interpreter {__version__}, Python {versions['python']}")
    else:
        click.echo(written(versions, output), nl=False)
