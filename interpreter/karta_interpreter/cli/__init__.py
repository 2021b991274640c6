"""The command line: one module per command, and the forms of their output in `render`.

stdout is data, stderr is talk. Exit code 0 is fine, 1 means findings or a failure, 2 wrong usage. A
command is imported when it runs, so that ``--help`` answers at once.
"""

import sys

import click
from click.shell_completion import ShellComplete

from karta_interpreter.cli.program import COMPLETE, NAME, PLUGIN, PluginHelp, program, room_for_output


def main() -> None:
    """Run the command line. Never returns."""
    program(prog_name=NAME, complete_var=COMPLETE)


def kubectl() -> None:
    """Run the command line as a plugin of kubectl, as its help shows. Never returns."""
    click.Context.formatter_class = PluginHelp
    program(prog_name=PLUGIN, complete_var=COMPLETE)


def kubectl_complete() -> None:
    """Print the completions of a command line of the plugin, in the form that kubectl asks for.

    The last argument is the word to complete. The last line of the output is a directive of Cobra: 4 has no file names
    completed, 0 has them.
    """
    *arguments, incomplete = sys.argv[1:] or [""]
    items = ShellComplete(program, {}, PLUGIN, COMPLETE).get_completions(arguments, incomplete)
    plain = [item for item in items if item.type == "plain"]
    with room_for_output():
        for item in plain:
            click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
        click.echo(":4" if len(plain) == len(items) else ":0")
