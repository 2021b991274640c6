"""Hints for a command, an option or an argument that cannot be used.

Other tools have other names for the same thing, and earlier versions had them, too.
"""

import re
from collections.abc import Sequence

import click

from karta_interpreter.base.findings import closest, did_you_mean

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
    "--overrides": "override customizations customization scripts script lua",
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
    "--override": "overrides customization customizations scripts script lua",
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
    **dict.fromkeys(
        ("--verbose", "-v", "-vv", "--debug"),
        "`explain` shows what an answer comes from; a server with `--log-level debug` logs each call",
    ),
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
    "--crd": "`validate FILE --crd CRD` compares a Karta with its CRD",
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


def meant_command(name: str, names: Sequence[str], group: str | None) -> str:
    """Return a hint about an unknown command of a group: another way, or a command by other tools or by letters.

    >>> names = ["validate", "test"]
    >>> meant_command("lint", names, "karta-interpreter"), meant_command("tset", names, "karta-interpreter")
    ('did you mean validate?', 'did you mean test?')
    """
    if name in _OTHERWISE:
        return _OTHERWISE[name]
    named = next((command for command in names if name in _OTHER_COMMANDS.get(command, "").split()), "")
    may_be_kind = group == "catalogue" and not (named or closest(name, names))
    return did_you_mean(named or name, names) + f"; `catalogue show {name}` is about one kind" * may_be_kind


def meant_option(option: str, ctx: click.Context) -> str:
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
    if suggestion or isinstance(ctx.command, click.Group):
        return f" Did you mean '{suggestion}'?" if suggestion else " Options of a command stand behind its name"
    return (
        f" There are: {', '.join(name for name in options if name.startswith('--'))}"
        + "; the page has an editor for each other text" * (ctx.info_name == "console")
        if len(options) < _MOST_NAMED
        else f" `{ctx.command_path} --help` lists the options"
    )


def meant_argument(message: str, ctx: click.Context) -> str:
    """Return a hint about an argument that cannot be used, by the message of click about it."""
    if form := _FORM.match(message):
        return _of_form(form[1], ctx)
    if "is not a valid boolean" in message:
        return "Write true or false"
    return _of_extra_argument(message, ctx) if "unexpected extra arg" in message else _of_path(message, ctx)


def _has(option: str, ctx: click.Context) -> bool:
    return any(option in parameter.opts for parameter in ctx.command.params)


def _of_form(file: str | None, ctx: click.Context) -> str:
    """Return how an output is written into a file, or how a part of it is shown if a form of kubectl asks for it."""
    if not file:
        return "`-o json | jq EXPRESSION` shows a part"
    if _has("--output-dir", ctx):
        return f"`--output-dir {file}` writes the output into files"
    return f"`> {'FILE' if file.endswith('/') else file}` writes the output into a file"


def _of_path(message: str, ctx: click.Context) -> str:
    if message.startswith("Directory "):
        usable = "which can be written" if "not writable" in message else "that exists"
        is_of_objects = any(parameter.metavar == "KIND/NAME" for parameter in ctx.command.params)
        return f"Name a folder {usable}" + "; an object is given with --object KIND/NAME" * is_of_objects
    if not message.startswith("Path "):
        return ""
    if ctx.command.name == "test":
        return "One case is chosen with --name"
    is_list = bool(re.match(r"\w+ '[^']*[, ]", message))
    return "Name a file or folder on this machine" + "; `:` stands between several" * is_list


def _of_extra_argument(message: str, ctx: click.Context) -> str:
    if re.search(r"\((?:true|false|yes|no|on|off|enabled|disabled)\)", message, re.IGNORECASE):
        return "A switch has no value: write it alone, or leave it out"
    if arguments := [
        parameter.make_metavar(ctx) for parameter in ctx.command.params if isinstance(parameter, click.Argument)
    ]:
        given = (
            (_has("-f", ctx), "; definitions are given with -f"),
            (_has("--operation", ctx), "; an operation is given with --operation"),
            (_has("--to", ctx), "; other definitions are given with --to"),
            ("KIND|FILE" in "".join(arguments), "; a FILE with an object has its kind in it"),
            ("EXPRESSION" in arguments, "; quotes stand around an expression"),
        )
        return f"The command takes {' '.join(arguments)}{''.join(text for is_so, text in given if is_so)}"
    files = [
        parameter.opts[-1]
        for parameter in ctx.command.params
        if isinstance(parameter.type, click.Path) and parameter.opts[-1] not in ("--kubeconfig", "--output-dir")
    ]
    is_file = bool(re.search(r"\([^)]*[./]", message))
    option = "--port" if re.search(r"\(\d+\)", message) else "" if files else "--kubeconfig" if is_file else "--name"
    if _has(option, ctx):
        return f"A {option[2:]} is given with {option}"
    if not files:
        return "The command takes no arguments"
    named = " or ".join(files).replace("--object", "--object (an object)")
    if _has("--kinds", ctx):
        folder = ", or all with their folder, as --kartas mine/"
        return f"A file is given with {named}, once for each{folder}; a kind is given with --kinds"
    of_kind = "; `catalogue export KIND` prints a definition" * ("--filename" in files)
    return f"A file is given with {named}, once for each{of_kind}"
