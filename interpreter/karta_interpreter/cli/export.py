"""``karta-interpreter export``: the manifests that `serve` applies, to keep them in Git, and schemas."""

from pathlib import Path
from typing import Unpack

import click

from karta_interpreter import __version__
from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli.definitions import Sources, load_sources, sources
from karta_interpreter.cli.export_definitions import argocd_health_command, customization_command, flux_health_command
from karta_interpreter.cli.export_policies import override_policy_command, propagation_policy_command
from karta_interpreter.cli.files import read_crds
from karta_interpreter.cli.options import FILE, ObjectName, WholeNumber, inputs, kind_option, output
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import findings_text, to_json, written
from karta_interpreter.definitions.karta.schema_export import custom_resource_definition, json_schema
from karta_interpreter.definitions.sources.snapshot import Selection
from karta_interpreter.webhook.registration import NAME, Endpoint, left_out, served_kinds, webhook_configuration


@click.group("export")
def command() -> None:
    """Print manifests for GitOps, and schemas."""


@command.command("webhook-configuration")
@sources
@kind_option("--kinds", help='Use only this kind: KIND, apiVersion/KIND or "apiVersion/*"; may be repeated.')
@kind_option("--without", help="A kind to leave out; may be repeated.")
@click.option("--url", metavar="URL", help="Where Karmada calls the server: https://HOST[:PORT].")
@click.option("--service", metavar="NAMESPACE/NAME[:PORT]", help="The Service that Karmada calls, instead of a URL.")
@click.option("--ca-file", type=FILE, metavar="FILE", help="The CA of the server's certificate, PEM.")
@click.option("--name", type=ObjectName(), metavar="NAME", default=NAME, show_default=True, help="Name of the object.")
@click.option(
    "--webhook-timeout",
    type=WholeNumber(1, 30),
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
@inputs("--crds", text="CustomResourceDefinitions of the kinds")
def webhook_configuration_command(  # noqa: PLR0913 - one for each option
    *,
    kinds: tuple[str, ...],
    without: tuple[str, ...],
    url: str | None,
    service: str | None,
    ca_file: Path | None,
    name: str,
    webhook_timeout: int,
    multiple_pod_templates_scheduling: bool,
    crds: tuple[str, ...],
    **given: Unpack[Sources],
) -> None:
    """Print the ResourceInterpreterWebhookConfiguration for definitions.

    `serve --register` applies the same object. CRDs have details of the kinds; get those of a control plane with
    "kubectl get crds -o yaml".
    """
    endpoint = _endpoint(url, service, ca_file)
    snapshot = load_sources(given, Selection(kinds, without))
    if snapshot.quarantined:
        unusable = count(len(snapshot.quarantined), "definition")
        raise Problem(f"error: {unusable} cannot be used; a configuration without them would remove their kinds")
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
    raise UsageProblem("error: give the address of the server for Karmada: either --url or --service")


def _summary(configuration: Object, endpoint: Endpoint) -> str:
    operations = sum(len(rule["operations"]) for hook in configuration["webhooks"] for rule in hook["rules"])
    kinds = count(len(configuration["webhooks"]), "kind")
    trust = "the given CA" if endpoint.ca_bundle else "a CA of Karmada's own system; for another CA give --ca-file"
    needs = f"the certificate for {endpoint.server_name} must be signed by {trust}"
    return f"{kinds}, {count(operations, 'operation')}; {needs}"


@command.command("crd")
@output("yaml", "json")
def crd_command(output: str) -> None:
    """Print the CustomResourceDefinition of Kartas.

    It is the one that the chart and the kustomize base for Karmada's API server install.
    """
    click.echo(written(custom_resource_definition(), output), nl=False)


@command.command("json-schema")
def json_schema_command() -> None:
    """Print the JSON Schema of Kartas, for editors.

    With it an editor completes fields and annotations, and underlines unknown ones.
    """
    click.echo(to_json(json_schema(__version__)), nl=False)


command.add_command(argocd_health_command)
command.add_command(flux_health_command)
command.add_command(customization_command)
command.add_command(override_policy_command)
command.add_command(propagation_policy_command)
