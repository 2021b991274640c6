"""``karta-interpreter serve``: the webhook server."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

import click
from click.core import ParameterSource

from karta_interpreter.base.command_line import command_line
from karta_interpreter.base.errors import InterpreterError, SettingsError
from karta_interpreter.base.findings import escaped
from karta_interpreter.base.k8s import GVK, Object
from karta_interpreter.cli.options import (
    ADDRESS,
    API_GROUP,
    COUNT_PODS,
    COUNTING,
    DEVICE_CLASS,
    DEVICE_CLASSES,
    FILE,
    KIND,
    PATH,
    POD_REQUESTS,
    QUOTA_ESTIMATE,
    WRITABLE_FOLDER,
    Decimal,
    ObjectName,
    WholeNumber,
    device_classes,
)
from karta_interpreter.cli.program import Problem, UsageProblem, is_usage
from karta_interpreter.cli.render import say, table
from karta_interpreter.definitions.karta import catalogue_kinds, karta_api_group
from karta_interpreter.definitions.sources import Selection, ServedDefinition, Snapshot, list_files
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.log import flush_log, has_terminal, log, print_text
from karta_interpreter.webhook.process.server import Started
from karta_interpreter.webhook.process.signals import run
from karta_interpreter.webhook.settings import DefinitionSettings, Settings
from karta_interpreter.webhook.wire.request import context_of

_MOST_ROWS = 100  # of the table at the start: the catalogue fits, and a server may have thousands of kinds
_DEFAULT = Settings()
_PREFIX = "KARTA_INTERPRETER_"
# Kubernetes sets KARTA_INTERPRETER_SERVICE_HOST and the like in pods of a namespace with a Service of our name.


# A day is long enough for every setting, and a timer of the event loop can still be set to it.
_SECONDS = Decimal(min=0, max=86_400)
# 1,000 years. A certificate cannot end after the year 9999.
_DAYS = Decimal(min=0, min_open=True, max=365_000)


def setting(
    field: str,
    kind: "click.ParamType[Any] | type",
    help_text: str,
    metavar: str = "",
    *,
    flag: str = "",
    of: DefinitionSettings = _DEFAULT,
    callback: Callable[[click.Context, click.Parameter, Any], Any] | None = None,
) -> click.Option:
    """Return the flag and the environment variable of one field of settings, which also give the default."""
    default, name = getattr(of, field), field.replace("_", "-")
    is_list = isinstance(default, tuple)
    flag = flag or (f"--{name}/--no-{name}" if kind is bool else f"--{name}")
    variable = flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return click.Option(
        [flag, field],
        type=kind,
        default=default,
        multiple=is_list,
        show_default=default not in (None, ()),
        envvar=f"{_PREFIX}{variable}",
        show_envvar=True,
        metavar=metavar or None,
        callback=callback,
        help=f"{help_text.removesuffix('.')}; may be repeated." if is_list else help_text,
    )


OPTIONS: Final[Mapping[str, Sequence[click.Option]]] = {
    "Listening": [
        setting("host", ADDRESS, "Address to listen on; 0.0.0.0 for all.", "ADDRESS"),
        setting("port", WholeNumber(0, 65535), "Port to listen on; 0 for any free one.", "PORT"),
        setting("health_port", WholeNumber(0, 65535), "Port for /healthz and /readyz alone, over plain HTTP.", "PORT"),
        setting(
            "connection_age", _SECONDS, "Age after which a client has to open a new connection; 0: never.", "SECONDS"
        ),
        setting("plain_http", bool, "Serve without TLS, behind a proxy that adds it.", flag="--plain-http/--https"),
    ],
    "Definitions": [
        setting("folders", PATH, "Folder or file of definitions, highest precedence first.", "PATH", flag="--kartas"),
        setting("overrides", PATH, "Folder or file of Karmada's Lua scripts, which override definitions.", "PATH"),
        setting("catalogue", bool, "Whether to serve the definitions of this package, too."),
        setting("kinds", KIND, 'Serve only this kind: KIND, apiVersion/KIND or "apiVersion/*".', "KIND"),
        setting("without", KIND, "A kind to leave out, written in the same way.", "KIND"),
        setting("cluster", bool, "Whether to serve the Kartas on karmada-apiserver, too."),
        setting("karta_api_group", API_GROUP, "API group of the Kartas on the cluster; files may have any.", "GROUP"),
    ],
    "Karmada": [
        setting(
            "kubeconfig",
            click.Path(path_type=Path),
            "Kubeconfig for karmada-apiserver; default: in-cluster config, $KUBECONFIG or ~/.kube/config.",
            "FILE",
        ),
        setting("context", str, "Context of the kubeconfig.", "NAME"),
        setting(
            "ready_without_cluster", bool, "Whether to be ready 10 s after the start without Kartas of the cluster."
        ),
        setting("secret_references", bool, "Whether definitions may refer to Secrets of the cluster."),
        setting("register", bool, "Whether to register this server with Karmada."),
        setting("registration_name", ObjectName(), "Name of the configuration in Karmada.", "NAME"),
        setting(
            "operations",
            str,
            "Register only these operations, or with KIND= these of a kind, too.",
            "[KIND=]OPERATION,...",
        ),
        setting("public_url", str, "URL at which Karmada calls this server.", "URL"),
        setting("service", str, "Service by which Karmada calls it, instead of a URL.", "NAMESPACE/NAME:PORT"),
        setting("ca_file", FILE, "CA of the certificate, PEM; not needed for a self-signed one.", "FILE"),
        setting(
            "webhook_timeout",
            WholeNumber(1, 30),
            "How long Karmada waits. An answer has half a second less.",
            "SECONDS",
        ),
    ],
    "Answers": [
        setting("resource_quota_estimate", bool, QUOTA_ESTIMATE),
        setting("pod_requests", COUNTING, POD_REQUESTS),
        setting(
            "device_classes",
            DEVICE_CLASS,
            DEVICE_CLASSES,
            "CLASS=RESOURCE",
            flag="--device-class",
            callback=device_classes,
        ),
        setting("count_pods", KIND, COUNT_PODS, "KIND"),
        setting("multiple_pod_templates_scheduling", bool, "Whether Karmada's feature gate of that name is on."),
        setting("empty_workload_propagation", bool, "Whether karmada-scheduler's option of that name is on."),
    ],
    "Certificate": [
        setting("certificate_file", FILE, "Certificate chain, PEM; read again when it changes.", "FILE"),
        setting("key_file", FILE, "Private key of the certificate, PEM.", "FILE"),
        setting("certificate_names", str, "Name for a self-signed certificate.", "NAME", flag="--certificate-name"),
        setting(
            "certificate_secret", str, "Secret for a self-signed one that replicas share; in-cluster.", "NAMESPACE/NAME"
        ),
        setting("certificate_days", _DAYS, "How long a certificate in the Secret is valid.", "DAYS"),
        setting("authority_days", _DAYS, "How long the CA that signs it is valid.", "DAYS"),
    ],
    "Log and end": [
        setting("log_level", click.Choice(["debug", "info", "warning", "error"]), "Lowest level of log lines."),
        setting("grace_period", _SECONDS, "How long to keep serving after a signal to stop.", "SECONDS"),
    ],
    "Recording": [
        setting("record", WRITABLE_FOLDER, "Record requests and answers in this folder, for `replay`.", "FOLDER"),
        setting("record_secrets", bool, "Whether to record the texts that no operation reads, too."),
    ],
}
BY_FIELD: Final = {option.name: option for option in chain(*OPTIONS.values())}
"""The options by the fields of `Settings`."""


def serve(**settings: object) -> None:
    """Answer Karmada's resource interpreter requests over HTTPS.

    Without a certificate the server signs one itself. It reads definitions again when they change; a broken one does
    not affect the others, and its last good version stays in use. The same holds for Karmada's
    ResourceInterpreterCustomizations, whose scripts answer instead of the definitions. With --register the server
    keeps Karmada's ResourceInterpreterWebhookConfiguration in step with them.
    """
    server_settings = Settings(**cast("dict[str, Any]", settings))
    if problem := next(_contradictions(server_settings), ""):
        raise UsageProblem(f"error: {problem}")
    try:
        with karta_api_group(server_settings.karta_api_group):
            run(server_settings, started=lambda started: _introduce(started, server_settings))
    except InterpreterError as error:
        raise failed(error) from error


def failed(error: InterpreterError) -> SystemExit:
    """Print an error of a program with a log, and return what ends the program."""
    # click would wait for the reader of a full pipe, and fail without one.
    print_text("error: " + escaped(str(error), keep="\t\n") + "\n")
    flush_log()
    return SystemExit(UsageProblem.exit_code if is_usage(error) else Problem.exit_code)


def _contradictions(settings: Settings) -> Iterator[str]:
    if settings.port and settings.port == settings.health_port:
        yield f"--port and --health-port are both {settings.port}; give each its own"
    if settings.operations:
        # Imported only if needed: most servers have all operations.
        from karta_interpreter.webhook.registration.choice import Choice  # noqa: PLC0415

        try:
            Choice.of(settings.operations)
        except SettingsError as error:
            yield str(error)
    # Files and the cluster may get definitions later.
    if settings.kinds and not (settings.folders or settings.overrides or settings.cluster):
        served = catalogue_kinds() if settings.catalogue else {}
        selection = Selection(settings.kinds, settings.without)
        if not any(map(selection.takes, served)):
            unknown = "; ".join(f"{finding.message}; {finding.hint}" for finding in selection.findings(served))
            yield f"no kind is served: {unknown or '--without leaves all of --kinds out'}"
    source_of = click.get_current_context().get_parameter_source
    for name, other in _NEEDED.items():
        option, needed = BY_FIELD[name], BY_FIELD[other]
        # `--no-register` in so many words is a choice.
        is_open = not getattr(settings, other) and source_of(other) is ParameterSource.DEFAULT
        if is_open and getattr(settings, name) != getattr(_DEFAULT, name):
            yield f"{option.opts[0]} has no effect without {needed.opts[0]} {needed.metavar or ''}".rstrip()


# The settings that have no effect without another setting.
_NEEDED = {
    "record_secrets": "record",
    "ready_without_cluster": "cluster",
    "secret_references": "cluster",
    "device_classes": "cluster",
    "public_url": "register",
    "service": "register",
    "ca_file": "register",
    "registration_name": "register",
    "operations": "register",
    "certificate_days": "certificate_secret",
    "authority_days": "certificate_secret",
}


def _introduce(started: Started, settings: Settings) -> None:
    for path in (*settings.folders, *settings.overrides):
        if not list_files(path).files:
            log.warning("no definition file found", path=str(path), hint="files end in .yaml, .yml or .json")
    warnings = {
        "the certificate has no effect": (
            settings.plain_http
            and (settings.certificate_file or settings.certificate_names or settings.certificate_secret),
            "--plain-http serves without TLS: leave one of them out",
        ),
        "the names of the certificate have no effect": (
            settings.certificate_file and settings.certificate_names,
            "--certificate-file has names of its own: --certificate-name is for a self-signed one",
        ),
        "the kubeconfig has no effect": (
            (settings.kubeconfig or settings.context) and not (settings.cluster or settings.register),
            "--cluster serves the Kartas there, --register registers there",
        ),
        "the feature gate has no effect": (
            settings.multiple_pod_templates_scheduling and not settings.register,
            "--register registers by it, and so does `export webhook-configuration`",
        ),
        "the URL is one of this machine": (
            settings.register
            and re.match(r"https://(localhost|127\.[0-9.]+|\[::1\])(?![\w.-])", settings.public_url or ""),
            "Karmada's controllers call it from where they run: name this server as they reach it",
        ),
        "the API group has no effect": (
            settings.karta_api_group != _DEFAULT.karta_api_group and not settings.cluster,
            "--cluster serves the Kartas of this group; those in files may have any",
        ),
        "no kind is served": (
            not (started.snapshot.entries or settings.cluster),
            "give definitions with --kartas or --cluster, and look at --kinds and --without",
        ),
    }
    for message, (is_given, hint) in warnings.items():
        if is_given:
            log.warning(message, hint=hint)
    if has_terminal():
        text = startup_text(f"{started.url}/interpret", started.snapshot)
        print_text(click.unstyle(text) if click.get_current_context().color is False else text)


def _print_all(ctx: click.Context, _: click.Parameter, value: object) -> None:
    if value:
        ctx.meta[_ALL] = True
        say(ctx.get_help())
        ctx.exit()


_ALL: Final = f"{__name__}.all"
"""Whether the help of this context has all options."""
_HELP_ALL: Final = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_all,
    help="Show this message with all options and exit.",
)
_COMMON: Final = frozenset(
    {"port", "folders", "overrides", "kinds", "cluster", "kubeconfig", "register", "public_url", "service"}
    | {"certificate_file", "key_file", "record"}
)
"""The settings that most servers need."""


class SettingsCommand(click.Command):
    """A command with its settings by subject in its help, which is the docstring of its function."""

    def __init__(
        self,
        name: str,
        sections: Mapping[str, Sequence[click.Option]],
        function: Callable[..., None],
        common: Collection[str] = (),
    ) -> None:
        """Take the fields of the settings that ``--help`` shows, if ``--help-all`` shows the others."""
        super().__init__(name, callback=function, params=list(chain(*sections.values())), help=function.__doc__)
        self.sections, self._common = sections, common

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the settings, ``--help`` and ``--help-all``."""
        return [*super().get_params(ctx), *([_HELP_ALL] if self._common else [])]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the settings by subject, then the options that every command has."""
        further = [option for option in self.get_params(ctx) if option not in self.params]
        for title, options in {**self.sections, "Help": further}.items():
            records = [*filter(None, (option.get_help_record(ctx) for option in options if self._shows(ctx, option)))]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def _shows(self, ctx: click.Context, option: click.Parameter) -> bool:
        is_setting = option in self.params
        return not (self._common and is_setting) or option.name in self._common or ctx.meta.get(_ALL, False)


command = SettingsCommand("serve", OPTIONS, serve, _COMMON)


_DEPLOYMENT = GVK("apps", "v1", "Deployment")
_CONTAINER = {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}
_DEPLOYMENT_SPEC: Object = {"spec": {"replicas": 3, "template": {"spec": {"containers": [_CONTAINER]}}}}


def startup_text(url: str, snapshot: Snapshot) -> str:
    """Return the URL, the kinds that are served, and a command to try the server. The log names what is unusable."""
    paragraphs = [f"Listening on {click.style(url, bold=True)}\n", _served(snapshot)]
    if snapshot.entries:
        paragraphs.append(f"Try it:\n\n  {curl(url, snapshot)}\n")
    return "\n".join(paragraphs) + "\n"


def curl(url: str, snapshot: Snapshot) -> str:
    """Return a command line that asks the server about a kind, and trusts the server's self-signed certificate."""
    # About the replicas of a Deployment, or else the status of any kind that is served.
    deployment = snapshot.find(_DEPLOYMENT)
    if deployment and deployment.answers(Operation.INTERPRET_REPLICA):
        gvk, operation, content = _DEPLOYMENT, Operation.INTERPRET_REPLICA, _DEPLOYMENT_SPEC
    else:
        gvk, operation = _first_question(snapshot)
        content = {"status": {}}
    review = context_of("1", operation, {**gvk.type_meta, "metadata": {"name": "sample"}, **content})
    body = json.dumps(review, separators=(",", ":"))
    insecure = "--insecure" if url.startswith("https:") else ""
    header = "--header 'Content-Type: application/json'"
    return command_line(f"curl --silent {insecure} {header} --data {{0}} {{1}}", body, url)


def _first_question(snapshot: Snapshot) -> tuple[GVK, Operation]:
    for operation in (Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH, *Operation):
        for gvk in snapshot.kinds():
            if snapshot.entries[gvk].definition.answers(operation):
                return gvk, operation
    raise ValueError("no definition answers an operation")


def _served(snapshot: Snapshot) -> str:
    if not snapshot.entries:
        return "No definition is served.\n"
    kinds = snapshot.kinds()
    if len(kinds) > _MOST_ROWS:
        numbers = Counter(gvk.api_version for gvk in kinds)
        rows = [[version, str(number)] for version, number in sorted(numbers.items())]
        more = f"… and {len(rows) - _MOST_ROWS} more\n" if len(rows) > _MOST_ROWS else ""
        return f"{len(kinds)} kinds are served:\n{table(rows[:_MOST_ROWS], header=['APIVERSION', 'KINDS'])}{more}"
    entries = ((gvk, snapshot.entries[gvk]) for gvk in kinds)
    rows = [[gvk.api_version, gvk.kind, entry.definition.name, _origin(entry)] for gvk, entry in entries]
    return table(rows, header=["APIVERSION", "KIND", "DEFINITION", "ORIGIN"])


def _origin(entry: ServedDefinition) -> str:
    """Return where a definition comes from, and which operations scripts answer instead."""
    scripted = ", ".join(sorted(entry.definition.scripts.operations)) if entry.definition.has_karta else ""
    return f"{entry.origin}; by scripts: {scripted}" if scripted else entry.origin
