"""``karta-interpreter completion``: the script that completes command lines in a shell."""

import click
from click.shell_completion import get_completion_class

from karta_interpreter.cli.program import COMPLETE, NAME, program
from karta_interpreter.cli.render import Data, say

_EXAMPLES = """\b
Examples:
  source <(karta-interpreter completion bash)
  karta-interpreter completion zsh > "${fpath[1]}/_karta-interpreter"
  karta-interpreter completion fish > ~/.config/fish/completions/karta-interpreter.fish
"""


@click.command("completion", epilog=_EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes command lines in a shell.

    It completes commands, options, files, operations and the kinds of the catalogue. Bash must be 4.4 or newer.
    """
    shells = get_completion_class(shell)
    assert shells is not None  # noqa: S101 - the choices are those of click
    # The source method of Bash also starts a Bash, to warn about an old one.
    script = shells(program, {}, NAME, COMPLETE)
    say(Data(script.source_template % script.source_vars()), nl=False)
