"""Why a command gives up: one line on stderr and an exit code."""

from typing import IO, Any

import click

from karta_interpreter.findings import escaped


class Problem(click.ClickException):
    """Something that failed, exit code 1; the message is shown as it is."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message to stderr."""
        click.echo(escaped(self.message, keep="\t\n"), file=file, err=True)


class UsageProblem(Problem):
    """Arguments that are missing, too many or not what they should be, exit code 2."""

    exit_code = 2
