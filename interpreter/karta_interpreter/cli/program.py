"""The program: its commands, its help, and its errors."""

import errno
import importlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import click
from click.shell_completion import CompletionItem

from karta_interpreter import __version__
from karta_interpreter.base.errors import NO_KUBECONFIG, InterpreterError, SettingsError
from karta_interpreter.base.findings import closest, did_you_mean
from karta_interpreter.cli.render import one_line, plain

NAME = "karta-interpreter"
PLUGIN = "kubectl karta"
COMPLETE = "_KARTA_INTERPRETER_COMPLETE"
"""The environment variable that a shell sets to ask for completions."""
KARTA_API_GROUP = "KARTA_INTERPRETER_KARTA_API_GROUP"
"""The environment variable with the API group of Kartas, for all commands."""
_KARTA_API_GROUP = click.Option(["--karta-api-group"], envvar=KARTA_API_GROUP, show_envvar=True)

COMMANDS = {
    "serve": "Answer Karmada's resource interpreter requests over HTTPS.",
    "interpret": "Ask a definition about an object, as Karmada would.",
    "explain": "Show why an answer is what it is.",
    "tree": "Show the components, instances and pods of a workload.",
    "validate": "Check definitions and show all their errors and warnings.",
    "query": "Try one jq expression of a definition on an object.",
    "test": "Run golden suites and show answers that differ from the expected ones.",
    "diff": "Show where two definitions answer differently about the same objects.",
    "replay": "Ask recorded questions again and show which answers change.",
    "catalogue": "Show which kinds are interpreted, and how.",
    "console": "Edit a Karta in the browser and see its answers.",
    "create": "Draft definitions and suites.",
    "export": "Print manifests for GitOps, and schemas.",
    "verify": "Compare the answers about workloads with what runs in a member cluster.",
    "types-api": "Register types of workloads over HTTP.",
    "unregister": "Remove a server's registration from Karmada.",
    "doctor": "Find out why Karmada does not get its answers.",
    "completion": "Print the script that completes command lines in a shell.",
}


_ALIASES = {"catalog": "catalogue"}


EXTRAS = {
    "server": ("aiohttp", "cryptography", "kubernetes_asyncio", "prometheus_client", "uvloop", "watchfiles"),
    "console": ("aiohttp",),
}
"""The libraries that each extra of the package installs."""


# The names of other tools for a command.
_OTHER_COMMANDS = {
    "catalogue": "get list kinds ls",
    "list": "search find get ls",
    "propagation-policy": "policy policies failover failover-policy",
    "show": "describe view info",
    "create": "new init generate scaffold",
    "console": "edit ui gui web dashboard",
    "diff": "compare plan",
    "doctor": "status check-server troubleshoot debug logs",
    "explain": "why describe",
    "interpret": "ask eval run health",
    "query": "jq expr expression",
    "serve": "start server webhook",
    "test": "suite",
    "unregister": "uninstall",
    "validate": "lint check vet",
}


# The names of other tools for an option, without dashes. The first option of a command with such a name is meant.
_SYNONYMS = {
    "--version": "v V",
    "--name": "k filter match only case operation op kind",
    "--certificate-file": "tls tls-cert tls-cert-file tls-cert-dir cert cert-file cert-dir certificate tls-crt",
    "--key-file": "tls-key tls-key-file tls-private-key-file key private-key",
    "--ca-file": "ca ca-cert ca-bundle cacert certificate-authority",
    "--host": "address bind bind-address listen listen-address",
    "--port": "p secure-port https-port webhook-port metrics-bind-address metrics-port",
    "--health-port": "health-probe-bind-address health-addr probe-port",
    "--kartas": "definitions folder directory dir karta filename f",
    "--overrides": "override customizations customization scripts lua",
    "--kinds": "kind include only",
    "--without": "exclude skip ignore",
    "--log-level": "v verbose verbosity debug zap-log-level",
    "--multiple-pod-templates-scheduling": "feature-gates multiple-pod-templates",
    "--webhook-timeout": "timeout request-timeout call-limit",
    "--wait": "timeout",
    "--context": "kube-context karmada-context cluster-context kubecontext cluster",
    "--kubeconfig": "karmada-config master server apiserver api-server",
    "--record": "trace audit audit-log",
    "--cluster": "in-cluster from-cluster from-api-server watch-cluster",
    "--types-token-file": "token token-file tokens auth-token api-key",
    "--override": "overrides customization customizations scripts lua",
    "--filename": "file karta kartas definition definitions manifest overrides override customizations scripts",
    "--object": "workload resource input desired desired-file template",
    "--operation": "op operations",
    "--desired-replica": "replicas replica input-replicas",
    "--crd": "schema schemas crds openapi filename f",
    "--output": "format out output-format json yaml",
    "--output-dir": "o output out folder dir directory",
}


# Options and commands of other tools, and of earlier versions, that are not here, and what to do instead.
_OTHERWISE = {
    "--no-color": "the environment variable NO_COLOR=1 leaves colours out",
    "--color": "the environment variable FORCE_COLOR=1 keeps colours in pipes and files",
    "--types-api": "`karta-interpreter types-api` is a program of its own, next to the server",
    "--console-port": "`karta-interpreter console` is a program of its own",
    **dict.fromkeys(
        ("--host", "--address", "--bind", "--listen"),
        "only servers listen on other addresses than loopback; `ssh -L` leads to the port of a console",
    ),
    "--config": "each setting has an option of its own, or an environment variable: `--help` names both",
    "--token": "a console needs none, and a cluster's is in the kubeconfig; `types-api` has --types-token-file",
    **dict.fromkeys(("--replicas", "--instances"), "`replicas` is a value of the chart: each pod is a whole server"),
    **dict.fromkeys(
        ("--workers", "--threads", "--concurrency", "--processes"), "one process answers; more pods answer more calls"
    ),
    **dict.fromkeys(
        ("--insecure", "--no-tls", "--http", "--disable-tls", "--plain-http", "--tls", "--https", "--ssl"),
        "Karmada calls servers over TLS only; without a certificate the server signs one itself; a console has no TLS",
    ),
    **dict.fromkeys(
        ("--reload", "--hot-reload", "--auto-reload"), "files and the cluster are read again at each change"
    ),
    **dict.fromkeys(
        ("--dry-run", "--dryrun"), "`validate`, `test` and `export` write nothing; `doctor` examines without a change"
    ),
    **dict.fromkeys(("--leader-elect", "--leader-election"), "servers need no leader: each of them answers"),
    **dict.fromkeys(("--log-json", "--json-log"), "each line of the log is JSON, unless it goes to a terminal"),
    "--save": "*Save* stands next to each text of the page",
    **dict.fromkeys(("--read-only", "--readonly"), "the console registers nothing and changes no file"),
    **dict.fromkeys(("version", "--version"), "`karta-interpreter --version` shows it"),
    "--operations": "the definition of a kind decides which operations are registered",
    "help": "`--help` shows the commands",
    **dict.fromkeys(
        ("migrate", "convert", "import"),
        "`diff` shows what a Karta answers otherwise than scripts; `serve --overrides` runs them unchanged",
    ),
    **dict.fromkeys(
        ("apply", "install", "deploy", "register"),
        "`kubectl apply -f FILE` brings a Karta to karmada-apiserver; `serve --register` registers a server",
    ),
    "--group": "the rows of `catalogue list` begin with the group: `| grep GROUP` leaves the others out",
    "crd": "`export crd` prints the CRD of Kartas; `create karta --crd FILE` drafts a Karta from another one",
    "schema": "`export json-schema` prints the schema of Kartas",
    **dict.fromkeys(("--all-namespaces", "-A"), "name a folder: all in it is read"),
    **dict.fromkeys(("--verbose", "-v", "-vv", "--debug"), "`explain` shows what an answer comes from"),
    **dict.fromkeys(("demo", "quickstart", "tutorial", "sample"), "`create example FOLDER` writes a kind to try with"),
    "show": "`catalogue show KIND` shows a definition, `tree FILE` an object",
    "karta": "`catalogue export` prints definitions",
    "--output-dir": "`> FILE` writes the output into a file",
    "--edit": "edit the file; `console -f FILE` has an editor that answers after each change",
    "--check": "`validate FILE` checks the scripts of customizations without running them",
    "--show-doc": "`explain RULE` shows what a rule of `validate` is for",
    **dict.fromkeys(("-o", "--output"), "the output has one form; `> FILE` writes the output into a file"),
    **dict.fromkeys(("-n", "--namespace"), "definitions and registrations are of the whole cluster"),
    **dict.fromkeys(("--yes", "-y", "--force"), "no command asks a question, and `create` writes over no file"),
    **dict.fromkeys(("-w", "--watch"), "`console -f FILE` answers after each change"),
    **dict.fromkeys(("-q", "--quiet"), "the exit code tells the result; `> /dev/null` leaves the text out"),
    **dict.fromkeys(("-r", "--raw-output", "--raw"), "`-o json` prints the values, of which `jq -r` makes text"),
    **dict.fromkeys(("--arg", "--argjson"), "expressions have no variables of a caller: write the value into it"),
    **dict.fromkeys(("--set", "--values"), "it is an option of helm; what `helm template` prints is read as `-`"),
    **dict.fromkeys(("--kubeconfig", "--context"), "this command reads files; `doctor --help` names the cluster's"),
    "--from": "a folder that `verify --save` wrote stands alone: verify FOLDER",
    **dict.fromkeys(("--fix", "--write"), "edit the file: each finding has a hint"),
    "lua": "`export customization` prints definitions as scripts in Lua",
    "--recursive": "a folder is read with the folders in it",
    "-R": "a folder is read with the folders in it",
}
# The most options of a command that a message names, and the most that share a word with an unknown one.
_MOST_NAMED = 16
_MOST_ALIKE = 3
_OF_A_CLUSTER = ("-n", "--namespace", "-l", "--selector", "--field-selector", "--context", "--kubeconfig")
_FROM_A_CLUSTER = (
    "`kubectl get KIND NAME -o yaml` prints an object of a cluster, which this command reads from a pipe as `-`"
)

_FORM = re.compile(r"'(?:(?:json-?path|go-template|custom-columns)\b.*|([\w.-]*[./][\w./-]*))' is not one of ")
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


class CommandGroup(click.Group):
    """A command with commands below it."""

    summaries: Mapping[str, str] = {}
    """The first paragraph of the help of each command, if it has to be known before the command is imported."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that a line begins with. ``help COMMAND`` is ``COMMAND --help``.

        A usage error suggests a name for an unknown command.
        """
        args = [*args[1:2], "--help"] if args[0] == "help" and args[1:] else args
        name, names = args[0], self.list_commands(ctx)
        if name not in (*names, *_ALIASES) and not name.startswith("-"):
            other = _OTHERWISE.get(name) or next(
                (
                    f"did you mean {command_name}?"
                    for command_name in names
                    if name in _OTHER_COMMANDS.get(command_name, "").split()
                ),
                "",
            )
            ctx.fail(
                f"No such command '{name}'; {other or did_you_mean(name, names)}"
                + f"; `catalogue show {name}` is about one kind"
                * (ctx.info_name == "catalogue" and not (other or closest(name, names)))
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of commands with their whole summaries."""
        with formatter.section("Commands"):
            commands = ((name, (command.help or "").partition("\n\n")[0]) for name, command in self.commands.items())
            formatter.write_dl(list(self.summaries.items()) or sorted(commands))


class Commands(CommandGroup):
    """The commands, each imported from its own module when it is used."""

    summaries = COMMANDS

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature, as below
        """Return the names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, None for an unknown one."""
        cmd_name = _ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS:
            return None
        try:
            command: click.Command = importlib.import_module(f"{__package__}.{cmd_name.replace('-', '_')}").command
        except ModuleNotFoundError as error:
            if ctx.resilient_parsing:  # of a line that a shell completes
                return None
            if problem := missing_extra(cmd_name, error):
                raise problem from error
            raise
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with a text, without importing a command."""
        commands = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of the program itself."""
        with _meant_option():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a command. This package's own errors and a full disk become one line and exit code 1.

        So does a library that is missing because its extra is not installed, with exit code 2.
        """
        try:
            with _meant_option():
                return super().invoke(ctx)
        except click.UsageError as error:
            if error.ctx and (hint := _further(error.message, error.ctx)):
                raise click.UsageError(f"{error.format_message().removesuffix('.')}. {hint}", ctx=error.ctx) from error
            raise
        except ModuleNotFoundError as error:
            if problem := missing_extra(ctx.invoked_subcommand or "", error):
                raise problem from error
            raise
        except InterpreterError as error:
            raise (UsageProblem if is_usage(error) else Problem)(f"error: {error}") from error
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise Problem(f"error: the output cannot be written: {error.strerror}") from error


@contextmanager
def _meant_option() -> Iterator[None]:
    """Add a hint to the error about an unknown option."""
    try:
        yield
    except click.NoSuchOption as error:
        suggestion = _meant(error.option_name, error.ctx) if error.ctx else ""
        raise click.NoSuchOption(error.option_name, f"{error.message}{suggestion}", ctx=error.ctx) from error


def _meant(option: str, ctx: click.Context) -> str:
    """Return a hint about an unknown option: the command's option that it stands for, by other tools or by letters."""
    names = (flag for parameter in ctx.command.get_params(ctx) for flag in (*parameter.opts, *parameter.secondary_opts))
    options = [name for name in names if name.startswith("-")]
    synonyms = (
        option_name
        for option_name, names in _SYNONYMS.items()
        if option_name in options and option.lstrip("-") in names.split()
    )
    if option_name := option[1:] if option[1:] in options else next(synonyms, ""):
        return f" Did you mean '{option_name}'?"
    is_output = option in ("-o", "--output", "--output-dir")
    word = "FOLDER" if is_output else option.lstrip("-").upper()
    if any(
        word in re.findall(r"\w+", parameter.make_metavar(ctx))
        for parameter in ctx.command.params
        if isinstance(parameter, click.Argument)
        and not (is_output and isinstance(parameter.type, click.Path) and parameter.type.exists)
    ):
        return f" Write {word} without an option"
    is_of_objects = not {"--object", "--observed-file"}.isdisjoint(options)
    if other := _FROM_A_CLUSTER if is_of_objects and option in _OF_A_CLUSTER else _OTHERWISE.get(option):
        return f" Instead: {other}"
    alike = [name for name in options if {*option.strip("-").split("-")} & {*name.strip("-").split("-")}]
    suggestion = closest(option, options) or "' or '".join(alike[:_MOST_ALIKE])
    if suggestion or isinstance(ctx.command, CommandGroup):
        return f" Did you mean '{suggestion}'?" if suggestion else " Options of a command stand behind its name"
    return (
        f" There are: {', '.join(name for name in options if name.startswith('--'))}"
        if len(options) < _MOST_NAMED
        else f" `{ctx.command_path} --help` lists the options"
    )


def _further(message: str, ctx: click.Context) -> str:
    """Return what to write instead of an argument that cannot be used."""
    if form := _FORM.match(message):
        if form[1] and any("--output-dir" in parameter.opts for parameter in ctx.command.params):
            return f"`--output-dir {form[1]}` writes the output into files"
        return (
            f"`> {'FILE' if form[1].endswith('/') else form[1]}` writes the output into a file"
            if form[1]
            else "`-o json | jq EXPRESSION` shows a part"
        )
    if "unexpected extra arg" not in message:
        is_list = bool(re.match(r"\w+ '[^']*[, ]", message))
        is_of_objects = any(parameter.metavar == "KIND/NAME" for parameter in ctx.command.params)
        usable = "which can be written" if "not writable" in message else "that exists"
        of_objects = "; an object is given with --object KIND/NAME" if is_of_objects else ""
        folder = f"Name a folder {usable}{of_objects}"
        path = (
            "One case is chosen with --name"
            if ctx.command.name == "test"
            else "Name a file or folder on this machine; `:` stands between several"
            if is_list
            else "Name a file or folder on this machine"
        )
        return folder if message.startswith("Directory ") else path if message.startswith("Path ") else ""
    if re.search(r"\((?:true|false|yes|no|on|off|enabled|disabled)\)", message, re.IGNORECASE):
        return "A switch has no value: write it alone, or leave it out"
    if arguments := [
        parameter.make_metavar(ctx) for parameter in ctx.command.params if parameter.param_type_name == "argument"
    ]:
        definitions = "".join(
            f"; {subject} given with {flag}"
            for flag, subject in (("-f", "definitions are"), ("--operation", "an operation is"))
            if any(flag in parameter.opts for parameter in ctx.command.params)
        )
        if "EXPRESSION" in arguments:
            definitions += "; quotes stand around an expression"
        return f"The command takes {' '.join(arguments)}{definitions}"
    files = [
        parameter.opts[-1]
        for parameter in ctx.command.params
        if isinstance(parameter.type, click.Path) and parameter.opts[-1] not in ("--kubeconfig", "--output-dir")
    ]
    option = "--port" if re.search(r"\(\d+\)", message) else "" if files else "--name"
    if any(option in parameter.opts for parameter in ctx.command.params):
        return f"A {option[2:]} is given with {option}"
    if not files:
        return "The command takes no arguments"
    kind = "; `catalogue export KIND` prints a definition" if "--filename" in files else ""
    if any("--kinds" in parameter.opts for parameter in ctx.command.params):
        kind = "; a kind is given with --kinds"
    return f"A file is given with {' or '.join(files).replace('--object', '--object (an object)')}, once for each{kind}"


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
