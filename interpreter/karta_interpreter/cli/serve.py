"""``karta-interpreter serve``: the webhook server."""

import math
import os
from pathlib import Path
from typing import Any, cast

import click

from karta_interpreter.cli.errors import Problem
from karta_interpreter.cli.render.startup import startup_text
from karta_interpreter.errors import InterpreterError
from karta_interpreter.findings import escaped
from karta_interpreter.server import Settings, Started, run
from karta_interpreter.server.log import flush_log, print_text

_STDERR = 2
_LAYOUT = "\t\n"
_DEFAULT = Settings()
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, path_type=Path)


class _Limited(click.FloatRange):
    """A number in a range; what is written "nan" is in any for click, as it is neither less nor more."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number", param, ctx)
        return number


class _Address(click.types.StringParamType):
    """A text with something in it: Python takes an empty address for all that there are."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - click's signature
        return super().convert(value, param, ctx) or self.fail("it is empty; 0.0.0.0 stands for all", param, ctx)


# A day is more than anybody waits for, and what a timer of the event loop can still be set to.
_SECONDS = _Limited(min=0, max=86_400)
_SOME_SECONDS = _Limited(min=0, min_open=True, max=86_400)
# A thousand years; no certificate can end after the year 9999.
_DAYS = _Limited(min=0, min_open=True, max=365_000)


def _option(
    field: str, flag: str, kind: "click.ParamType[Any] | type", help_text: str, metavar: str = ""
) -> click.Option:
    """The flag and the environment variable of one field of `Settings`, which also gives the default."""
    default = getattr(_DEFAULT, field)
    name = flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return click.Option(
        [flag, field],
        type=kind,
        default=default,
        multiple=isinstance(default, tuple),
        show_default=default not in (None, ()),
        envvar=f"KARTA_INTERPRETER_{name}",
        show_envvar=True,
        metavar=metavar or None,
        help=help_text,
    )


_OPTIONS: list[click.Parameter] = [
    _option("host", "--host", _Address(), "Address to listen on; 0.0.0.0 for all.", "ADDRESS"),
    _option("port", "--port", click.IntRange(0, 65535), "Port to listen on; 0 for any free one.", "PORT"),
    _option(
        "health_port",
        "--health-port",
        click.IntRange(0, 65535),
        "Port for /healthz and /readyz alone, over plain HTTP, which answers under any load.",
        "PORT",
    ),
    _option("folders", "--kartas", _FOLDER, "Folder or file of definitions, strongest first; may be repeated.", "PATH"),
    _option(
        "overrides",
        "--overrides",
        _FOLDER,
        "Folder or file of Karmada's Lua scripts, over definitions; repeatable.",
        "PATH",
    ),
    _option("catalogue", "--catalogue/--no-catalogue", bool, "Whether to serve the definitions of this package, too."),
    _option(
        "kinds",
        "--kinds",
        str,
        'Serve only this kind: KIND, apiVersion/KIND or "apiVersion/*"; may be repeated.',
        "KIND",
    ),
    _option("without", "--without", str, "A kind to leave out, written in the same way; may be repeated.", "KIND"),
    _option(
        "certificate_file", "--certificate-file", _FILE, "Certificate chain, PEM; read again when it changes.", "FILE"
    ),
    _option("key_file", "--key-file", _FILE, "Private key of the certificate, PEM.", "FILE"),
    _option(
        "certificate_names", "--certificate-name", str, "Name for a self-signed certificate; may be repeated.", "NAME"
    ),
    _option(
        "certificate_secret",
        "--certificate-secret",
        str,
        "Keep a self-signed certificate there, shared by all replicas; in the cluster around.",
        "NAMESPACE/NAME",
    ),
    _option("certificate_days", "--certificate-days", _DAYS, "How long a certificate in the Secret is valid.", "DAYS"),
    _option("authority_days", "--authority-days", _DAYS, "How long the authority that signs it is valid.", "DAYS"),
    _option(
        "certificate_interval",
        "--certificate-interval",
        _SOME_SECONDS,
        "How often to look for a new certificate.",
        "SECONDS",
    ),
    _option("plain_http", "--plain-http/--https", bool, "Serve without TLS, behind something that adds it."),
    _option("body_limit", "--body-limit", click.IntRange(min=1), "Largest request that is read.", "BYTES"),
    _option("call_limit", "--call-limit", _SOME_SECONDS, "Longest time for one answer.", "SECONDS"),
    _option("calls_in_work", "--calls-in-work", click.IntRange(min=1), "Most calls that wait at a time.", "NUMBER"),
    _option("connections", "--connections", click.IntRange(min=1), "Most connections at a time.", "NUMBER"),
    _option("header_timeout", "--header-timeout", _SOME_SECONDS, "Time for a client to send its headers.", "SECONDS"),
    _option("exchange_timeout", "--exchange-timeout", _SOME_SECONDS, "Time for body and answer to travel.", "SECONDS"),
    _option(
        "connection_age", "--connection-age", _SECONDS, "When a client has to open a new one; 0: never.", "SECONDS"
    ),
    _option("grace_period", "--grace-period", _SECONDS, "How long to go on after a signal to stop.", "SECONDS"),
    _option("drain_timeout", "--drain-timeout", _SECONDS, "How long to wait then for running calls.", "SECONDS"),
    _option("log_level", "--log-level", click.Choice(["debug", "info", "warning", "error"]), "What to log."),
    _option(
        "resource_quota_estimate",
        "--resource-quota-estimate/--no-resource-quota-estimate",
        bool,
        "Answer as Karmada's feature gate ResourceQuotaEstimate wants it.",
    ),
    _option(
        "pod_requests",
        "--pod-requests",
        click.Choice(["scheduler", "karmada"]),
        "Count a pod's resources as kube-scheduler reserves them, or by Karmada's formula.",
    ),
    _option("cluster", "--cluster/--no-cluster", bool, "Whether to serve the Kartas on karmada-apiserver, too."),
    _option(
        "kubeconfig", "--kubeconfig", _FILE, "How to reach karmada-apiserver; default: the cluster around.", "FILE"
    ),
    _option("context", "--context", str, "Context of the kubeconfig.", "NAME"),
    _option("register", "--register/--no-register", bool, "Whether to tell Karmada to ask this server."),
    _option("registration_name", "--registration-name", str, "Name of the configuration in Karmada.", "NAME"),
    _option("public_url", "--public-url", str, "Where Karmada reaches this server.", "URL"),
    _option("service", "--service", str, "Or the Service by which it does.", "NAMESPACE/NAME:PORT"),
    _option(
        "ca_file", "--ca-file", _FILE, "Who signed the certificate, PEM; not needed for a self-signed one.", "FILE"
    ),
    _option("webhook_timeout", "--webhook-timeout", click.IntRange(1, 30), "How long Karmada waits.", "SECONDS"),
    _option(
        "multiple_pod_templates_scheduling",
        "--multiple-pod-templates-scheduling/--no-multiple-pod-templates-scheduling",
        bool,
        "Whether Karmada's feature gate of that name is on.",
    ),
]


def serve(**settings: object) -> None:
    """Answer Karmada's resource interpreter requests over HTTPS.

    Without a certificate the server signs one itself. Definitions are read again when they change; one that is
    broken does not affect the others, and its last good version goes on being served. So are Karmada's
    ResourceInterpreterCustomizations, whose scripts answer instead of the definitions. With --register the server
    keeps Karmada's ResourceInterpreterWebhookConfiguration in step with them.
    """
    chosen = Settings(**cast("dict[str, Any]", settings))
    try:
        run(chosen, started=_introduce)
    except InterpreterError as error:
        # Not by click, which waits for the reader of a full pipe and fails without one.
        print_text(f"error: {escaped(str(error), keep=_LAYOUT)}\n")
        flush_log()
        raise SystemExit(Problem.exit_code) from error


def _introduce(started: Started) -> None:
    text = startup_text(f"{started.url}/interpret", started.snapshot)
    is_coloured = click.get_current_context().color is not False and os.isatty(_STDERR)
    print_text(text if is_coloured else click.unstyle(text))


command = click.Command("serve", callback=serve, params=_OPTIONS, help=serve.__doc__)
