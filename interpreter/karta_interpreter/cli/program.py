"""The program: its commands, its help, and its errors."""

import errno
import gc
import importlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click
from click.shell_completion import CompletionItem

from karta_interpreter import __version__
from karta_interpreter.base.errors import NO_KUBECONFIG, InterpreterError, SettingsError
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.cli.render import one_line, plain

NAME = "karta-interpreter"
PLUGIN = "kubectl karta"
COMPLETE = "_KARTA_INTERPRETER_COMPLETE"
"""The environment variable that a shell sets to ask for completions."""
KARTA_API_GROUP = "KARTA_INTERPRETER_KARTA_API_GROUP"
"""The environment variable with the API group of Kartas, for all commands."""
_KARTA_API_GROUP = click.Option(["--karta-api-group"], envvar=KARTA_API_GROUP, show_envvar=True)

GROUPS = {
    "Ask": {
        "interpret": "Ask a definition about an object, as Karmada would.",
        "explain": "Show why an answer is what it is.",
        "tree": "Show the components, instances and pods of a workload.",
        "catalogue": "Show which kinds are interpreted, and how.",
    },
    "Write": {
        "create": "Draft definitions and suites.",
        "validate": "Check definitions and show all their errors and warnings.",
        "query": "Try one jq expression of a definition on an object.",
        "test": "Run golden suites and show answers that differ from the expected ones.",
        "console": "Edit a Karta in the browser and see its answers.",
    },
    "Run": {
        "serve": "Answer Karmada's resource interpreter requests over HTTPS.",
        "doctor": "Find out why Karmada does not get its answers.",
        "unregister": "Remove a server's registration from Karmada.",
        "types-api": "Register types of workloads over HTTP.",
        "completion": "Print the script that completes command lines in a shell.",
    },
    "Ship": {
        "diff": "Show where two definitions answer differently about the same objects.",
        "replay": "Ask recorded questions again and show which answers change.",
        "verify": "Compare the answers about workloads with what runs in a member cluster.",
        "export": "Print manifests for GitOps, and schemas.",
    },
}
"""The commands by what they are for, each with the first paragraph of its help."""

COMMANDS = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}


_ALIASES = {"catalog": "catalogue"}


EXTRAS = {
    "server": ("aiohttp", "cryptography", "kubernetes_asyncio", "prometheus_client", "uvloop", "watchfiles"),
    "console": ("aiohttp",),
}
"""The libraries that each extra of the package installs."""


_FULL = (errno.ENOSPC, errno.EDQUOT)


class Problem(click.ClickException):
    """A failure: one line on stderr, exit code 1. The message is shown unchanged."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message to stderr."""
        click.echo(plain(one_line(self.message)), file=file, err=True)


class UsageProblem(Problem):
    """Missing, superfluous or wrong arguments, exit code 2."""

    exit_code = 2


def is_usage(error: InterpreterError) -> bool:
    """Return whether an error is about wrong usage: a setting, or a kubeconfig that does not exist."""
    return isinstance(error, SettingsError) or getattr(error, "reason", "") == NO_KUBECONFIG


def missing_extra(command: str, error: ModuleNotFoundError) -> UsageProblem | None:
    """Return the message about a library of an extra that a command needs, or None if no extra installs it.

    >>> missing_extra("serve", ModuleNotFoundError(name="aiohttp.web_server")).message
    "error: serve requires aiohttp; install its extra: pip install 'karta-interpreter[server]' or '.[server]'"
    """
    library = (error.name or "").partition(".")[0]
    extra = next((extra for extra in (command, *EXTRAS) if library in EXTRAS.get(extra, ())), None)
    if not extra:
        return None
    return UsageProblem(
        f"error: {command} requires {library}; install its extra: pip install '{NAME}[{extra}]' or '.[{extra}]'"
    )


def _imported(name: str) -> click.Command:
    """Return the command of a module. Raises ModuleNotFoundError.

    An import makes hardly any garbage, and the collector would look at all that it has made over and over.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        command: click.Command = importlib.import_module(f"{__package__}.{name.replace('-', '_')}").command
        return command
    finally:
        if is_enabled:
            gc.enable()


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Make a line of plain text of a usage error, which repeats arguments."""
    try:
        yield
    except click.UsageError as error:
        error.message = plain(one_line(error.message))  # type: ignore[misc]  # click shows it later
        raise


@contextmanager
def room_for_output() -> Iterator[None]:
    """End the program with one line and exit code 1 if there is no room for its output."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        problem = Problem(f"error: the output cannot be written: {error.strerror}")
        problem.show()
        raise SystemExit(problem.exit_code) from error


class CommandGroup(click.Group):
    """A command with commands below it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that a line begins with. ``help COMMAND`` is ``COMMAND --help``.

        A usage error suggests a name for an unknown command.
        """
        args = [*args[1:2], "--help"] if args[0] == "help" and args[1:] else args
        name, names = args[0], self.list_commands(ctx)
        if name not in (*names, *_ALIASES) and not name.startswith("-"):
            ctx.fail(f"No such command '{name}'; {did_you_mean(name, names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of commands with their whole summaries."""
        with formatter.section("Commands"):
            commands = ((name, (command.help or "").partition("\n\n")[0]) for name, command in self.commands.items())
            formatter.write_dl(sorted(commands))


class Commands(CommandGroup):
    """The commands, each imported from its own module when it is used."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of commands by what they are for, without importing one."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature, as below
        """Return the names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, None for an unknown one."""
        cmd_name = _ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS:
            return None
        try:
            return _imported(cmd_name)
        except ModuleNotFoundError as error:
            if ctx.resilient_parsing:  # of a line that a shell completes
                return None
            if problem := missing_extra(cmd_name, error):
                raise problem from error
            raise

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with a text, without importing a command."""
        commands = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def main(self, *arguments: Any, **extra: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run the program: help, a version, completions or a command."""
        with room_for_output():
            return super().main(*arguments, **extra)

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:  # noqa: ANN401 - click's own signature
        """Parse the options before the command."""
        with _plain_errors():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a command. This package's own errors become one line and exit code 1.

        So does a library that is missing because its extra is not installed, with exit code 2.
        """
        try:
            with _plain_errors():
                return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if problem := missing_extra(ctx.invoked_subcommand or "", error):
                raise problem from error
            raise
        except InterpreterError as error:
            raise (UsageProblem if is_usage(error) else Problem)(f"error: {error}") from error


class PluginHelp(click.HelpFormatter):
    """Help that begins commands with ``kubectl karta``."""

    def getvalue(self) -> str:
        """Return the text of the help."""
        return re.sub(rf"{NAME} (?=(?:{'|'.join(COMMANDS)})\b)", f"{PLUGIN} ", super().getvalue())


_EXIT_CODES = """\b
Exit codes:
  0  All is well.
  1  A finding, a failed case, a difference or a problem; or the content of
     a file, a server or a definition cannot be used.
  2  Wrong usage: an option, an argument, a file that does not exist or
     cannot be opened, a missing extra.
  3  interpret and explain with --strict: answered, with a warning about a
     path that finds nothing.
"""


@click.group(
    cls=Commands, epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name=NAME)
@click.pass_context
def program(ctx: click.Context) -> None:
    """Answer Karmada's resource interpreter from Karta definitions."""
    if (group := os.environ.get(KARTA_API_GROUP)) and not ctx.resilient_parsing:
        # Imported only if it is needed: it takes as long as many a command.
        from karta_interpreter.cli.options import API_GROUP  # noqa: PLC0415 - see above
        from karta_interpreter.definitions.karta import karta_api_group  # noqa: PLC0415 - see above

        ctx.with_resource(karta_api_group(API_GROUP.convert(group, _KARTA_API_GROUP, ctx)))
    if os.environ.get("NO_COLOR"):  # no-color.org. click leaves colours out only for files and pipes
        ctx.color = False
    elif os.environ.get("FORCE_COLOR"):  # force-color.org
        ctx.color = True
