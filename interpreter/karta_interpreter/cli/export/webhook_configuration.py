"""``karta-interpreter export webhook-configuration``: what a server would register."""

from pathlib import Path

import click

from karta_interpreter.cli.errors import Problem, UsageProblem
from karta_interpreter.cli.files import read_crds
from karta_interpreter.cli.render.document import to_yaml
from karta_interpreter.cli.render.findings import findings_text
from karta_interpreter.cli.render.table import count
from karta_interpreter.errors import ServeError
from karta_interpreter.k8s.values import Object
from karta_interpreter.registration import NAME, Endpoint, left_out, served_kinds, webhook_configuration
from karta_interpreter.sources.kind_filter import Selection
from karta_interpreter.sources.snapshot import Snapshot
from karta_interpreter.sources.store import Store

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_PATH = click.Path(exists=True, path_type=Path)
_KARTAS = "Folder or file of definitions, strongest first; may be repeated."
_OVERRIDES = "Folder or file of ResourceInterpreterCustomizations that answer before the Kartas; may be repeated."
_KINDS = 'Take only this kind: KIND, apiVersion/KIND or "apiVersion/*"; may be repeated.'
_INPUT = click.Path(exists=True, allow_dash=True)


@click.command("webhook-configuration")
@click.option("--kartas", type=_PATH, multiple=True, help=_KARTAS)
@click.option("--overrides", type=_PATH, multiple=True, help=_OVERRIDES)
@click.option("--catalogue/--no-catalogue", default=True, help="Whether to take the definitions of this package, too.")
@click.option("--kinds", multiple=True, metavar="KIND", help=_KINDS)
@click.option("--without", multiple=True, metavar="KIND", help="A kind to leave out; may be repeated.")
@click.option("--url", metavar="URL", help="Where Karmada calls the server: https://HOST[:PORT].")
@click.option("--service", metavar="NAMESPACE/NAME[:PORT]", help="The Service that Karmada calls, instead of a URL.")
@click.option("--ca-file", type=_FILE, metavar="FILE", help="Who signed the server's certificate, PEM.")
@click.option("--name", default=NAME, show_default=True, help="Name of the object.")
@click.option(
    "--webhook-timeout",
    type=click.IntRange(1, 30),
    default=3,
    show_default=True,
    metavar="SECONDS",
    help="How long Karmada waits for an answer.",
)
@click.option(
    "--multiple-pod-templates-scheduling",
    is_flag=True,
    help="Karmada's feature gate MultiplePodTemplatesScheduling is on.",
)
@click.option(
    "--crds",
    type=_INPUT,
    multiple=True,
    metavar="PATH",
    help='CustomResourceDefinitions to look at: file, folder or "-"; may be repeated.',
)
def webhook_configuration_command(  # noqa: PLR0913 - one for each option
    *,
    kartas: tuple[Path, ...],
    overrides: tuple[Path, ...],
    catalogue: bool,
    kinds: tuple[str, ...],
    without: tuple[str, ...],
    url: str | None,
    service: str | None,
    ca_file: Path | None,
    name: str,
    webhook_timeout: int,
    multiple_pod_templates_scheduling: bool,
    crds: tuple[str, ...],
) -> None:
    """Print the ResourceInterpreterWebhookConfiguration for definitions.

    It is what `serve --register` applies. CRDs have more about the kinds; those of a control plane come from
    "kubectl get crds -o yaml".
    """
    endpoint = _endpoint(url, service, ca_file)
    store = Store(kartas, overrides=overrides, catalogue=catalogue, selection=Selection(kinds, without))
    snapshot = _definitions(store)
    served = served_kinds(read_crds(crds)) if crds else None
    click.echo(findings_text(left_out(snapshot, served)), err=True, nl=False)
    configuration = webhook_configuration(
        snapshot,
        endpoint,
        served,
        name=name,
        multiple_pod_templates=multiple_pod_templates_scheduling,
        timeout_seconds=webhook_timeout,
    )
    click.echo(to_yaml(configuration), nl=False)
    click.echo(_summary(configuration, endpoint), err=True)


def _endpoint(url: str | None, service: str | None, ca_file: Path | None) -> Endpoint:
    authority = ca_file.read_bytes() if ca_file else b""
    try:
        if url and not service:
            return Endpoint.of_url(url, authority)
        if service and not url:
            return Endpoint.of_service(service, authority)
    except ServeError as error:
        raise UsageProblem(f"error: {error}") from error
    raise UsageProblem("error: say where Karmada calls the server: either --url or --service")


def _definitions(store: Store) -> Snapshot:
    snapshot = store.load()
    broken = [finding for each in snapshot.quarantined for finding in each.findings]
    click.echo(findings_text([*snapshot.findings, *broken]), err=True, nl=False)
    if snapshot.quarantined:
        unusable = count(len(snapshot.quarantined), "definition")
        raise Problem(f"error: {unusable} cannot be used; a configuration without them would take their kinds away")
    return snapshot


def _summary(configuration: Object, endpoint: Endpoint) -> str:
    operations = sum(len(rule["operations"]) for hook in configuration["webhooks"] for rule in hook["rules"])
    trust = "the given CA" if endpoint.ca_bundle else "the CAs of Karmada's own system (no --ca-file)"
    kinds = count(len(configuration["webhooks"]), "kind")
    return f"{kinds}, {count(operations, 'operation')}; the certificate for {endpoint.server_name} has to be by {trust}"
