"""The program: its commands, its help, and what becomes of errors."""

import importlib
import os
from typing import Any

import click

from karta_interpreter import __version__
from karta_interpreter.cli.problem import Problem
from karta_interpreter.errors import InterpreterError
from karta_interpreter.suggestion import did_you_mean

COMMANDS = {
    "serve": "Answer Karmada's resource interpreter requests over HTTPS.",
    "interpret": "Ask a definition about an object, as Karmada would.",
    "tree": "Show what a workload is made of.",
    "validate": "Check definitions and show everything that is wrong with them.",
    "test": "Run golden suites and show where an answer is not the expected one.",
    "diff": "Show where two definitions answer differently about the same objects.",
    "catalog": "Show which kinds are interpreted, and how.",
    "create": "Draft a definition from a CRD.",
    "export": "Print manifests for GitOps, and schemas.",
    "unregister": "Take a server's registration back from Karmada.",
    "doctor": "Find out why Karmada does not get its answers.",
}


class Commands(click.Group):
    """The commands, each imported from its own module when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, None when there is none."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"karta_interpreter.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that a line begins with; a usage error with the name that was probably meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command '{args[0]}'; {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing one."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a command; an error that this package raises on purpose becomes one line and exit code 1."""
        try:
            return super().invoke(ctx)
        except InterpreterError as error:
            raise Problem(f"error: {error}") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="karta-interpreter")
@click.pass_context
def program(ctx: click.Context) -> None:
    """Answer Karmada's resource interpreter from Karta definitions."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
