"""``karta-interpreter export``: the manifests that `serve` applies, definitions for other programs, and schemas."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Unpack

import click

from karta_interpreter import __version__
from karta_interpreter.base.errors import ExportError, ServeError
from karta_interpreter.base.findings import count, escaped
from karta_interpreter.base.k8s import GVK, Object, grouped
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli.calls import operation_named
from karta_interpreter.cli.definitions import definitions_named, load_sources
from karta_interpreter.cli.files import read_crds, write_files
from karta_interpreter.cli.options import (
    FILE,
    ObjectName,
    Sources,
    WholeNumber,
    complete_kinds,
    inputs,
    kind_option,
    operation_option,
    output,
    output_dir_option,
    sources,
)
from karta_interpreter.cli.program import CommandGroup, Problem, UsageProblem
from karta_interpreter.cli.render import Data, findings_text, say, table, to_json, watched, written
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.schema_export import custom_resource_definition, json_schema
from karta_interpreter.definitions.sources.snapshot import Selection
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.registered.operations import operations_for, served_kinds
from karta_interpreter.export import argocd_kinds
from karta_interpreter.export.argocd_health import argocd_health, by_kind
from karta_interpreter.export.customization import Exported, customization
from karta_interpreter.export.policies import failover_policy
from karta_interpreter.webhook.registration.choice import Choice
from karta_interpreter.webhook.registration.configuration import (
    NAME,
    Endpoint,
    certificates,
    left_out,
    webhook_configuration,
    without_ca,
)

_WRITERS = frozenset({Operation.REVISE_REPLICA, Operation.REVISE_COMPONENTS})
_UNSAFE = "Karmada would write counts that it cannot read, as that script cannot be exported"

_EXAMPLES = """\b
Examples:
  karta-interpreter export customization RayCluster | kubectl apply -f -
  karta-interpreter export customization -f my-karta.yaml --operations InterpretHealth,Retain
  karta-interpreter export customization --check
  karta-interpreter export customization --output-dir customizations/
"""

_kinds = click.argument("kinds", nargs=-1, metavar="[KIND...]", shell_complete=complete_kinds)
_files = inputs("-f", "--filename", "paths", text="Definitions")

_WIDTH = 100
_ARGO_CD = f"Argo CD {argocd_kinds.VERSION}"


@click.group("export", cls=CommandGroup)
def command() -> None:
    """Print manifests for GitOps, and schemas."""


@command.command("webhook-configuration")
@sources
@kind_option("--kinds", help='Use only this kind: KIND, apiVersion/KIND or "apiVersion/*"; may be repeated.')
@kind_option("--without", help="A kind to leave out; may be repeated.")
@click.option(
    "--public-url", "--url", "url", metavar="URL", help="Where Karmada calls the server: https://HOST[:PORT]."
)
@click.option("--service", metavar="NAMESPACE/NAME[:PORT]", help="The Service that Karmada calls, instead of a URL.")
@click.option("--ca-file", type=FILE, metavar="FILE", help="The CA of the server's certificate, PEM.")
@click.option(
    "--registration-name",
    "--name",
    "name",
    type=ObjectName(),
    metavar="NAME",
    default=NAME,
    show_default=True,
    help="Name of the object.",
)
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
@click.option(
    "--operations",
    multiple=True,
    metavar="[KIND=]OPERATION,...",
    help="Only these operations, or with KIND= these of a kind, too; may be repeated.",
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
    operations: tuple[str, ...],
    crds: tuple[str, ...],
    **source_options: Unpack[Sources],
) -> None:
    """Print the ResourceInterpreterWebhookConfiguration for definitions.

    `serve --register` applies the same object. CRDs have details of the kinds; get those of a control plane with
    "kubectl get crds -o yaml".
    """
    endpoint = _endpoint(url, service, ca_file)
    snapshot = load_sources(source_options, Selection(kinds, without))
    if snapshot.quarantined:
        unusable = count(len(snapshot.quarantined), "definition")
        raise Problem(f"error: {unusable} cannot be used; a configuration without them would remove their kinds")
    served = served_kinds(read_crds(crds)) if crds else None
    say(findings_text(left_out(snapshot, served)), err=True, nl=False)
    configuration = webhook_configuration(
        snapshot,
        endpoint,
        served,
        name=name,
        multiple_pod_templates=multiple_pod_templates_scheduling,
        timeout_seconds=webhook_timeout,
        choice=Choice.of(operations),
    )
    if not configuration["webhooks"]:
        raise Problem(
            "error: no kind is left, and a configuration without webhooks would remove all of them; give some with -f"
        )
    say(Data(to_yaml(configuration)), nl=False)
    summary = _summary(configuration, endpoint)
    say(summary if crds else f"{summary}; with --crds kinds that are not served are left out", err=True)


def _endpoint(url: str | None, service: str | None, ca_file: Path | None) -> Endpoint:
    if bool(url) == bool(service):
        raise UsageProblem("error: give the address of the server for Karmada: either --url or --service")
    try:
        authority = certificates(ca_file) if ca_file else b""
        return Endpoint.of_url(url, authority) if url else Endpoint.of_service(service or "", authority)
    except ServeError as error:
        raise UsageProblem(f"error: {error}") from error


def _summary(configuration: Object, endpoint: Endpoint) -> str:
    operations = sum(len(rule["operations"]) for hook in configuration["webhooks"] for rule in hook["rules"])
    kinds = count(len(configuration["webhooks"]), "kind")
    trust, doubt = "a CA of Karmada's own system; for another CA give --ca-file", ""
    if endpoint.ca_bundle:
        trust, doubt = "the given CA", without_ca(endpoint.ca_bundle)
    needs = f"the certificate for {endpoint.server_name} must be signed by {trust}"
    summary = f"{kinds}, {count(operations, 'operation')}; {needs}"
    return f"{summary}; Karmada rejects {doubt}" if doubt else summary


@command.command("crd")
@output("yaml", "json")
def crd_command(output: str) -> None:
    """Print the CustomResourceDefinition of Kartas.

    The chart and the kustomize base for Karmada's API server install the same one.
    """
    say(written(custom_resource_definition(), output), nl=False)


@command.command("json-schema")
def json_schema_command() -> None:
    """Print the JSON Schema of Kartas, for editors.

    With it an editor completes fields and annotations, and underlines unknown ones.
    """
    say(to_json(json_schema(__version__)), nl=False)


@command.command("customization", epilog=_EXAMPLES)
@_kinds
@_files
@operation_option("--operations", metavar="NAMES", help="Only these operations, separated by commas.")
@click.option(
    "--multiple-pod-templates",
    is_flag=True,
    help="Karmada's feature gate MultiplePodTemplatesScheduling is on.",
)
@click.option("--check", is_flag=True, help="List which operations can be exported, or why not.")
@output_dir_option(help="Write a file for each kind into this folder.")
@output("yaml", "json")
def customization_command(
    *,
    kinds: tuple[str, ...],
    paths: tuple[str, ...],
    operations: str | None,
    multiple_pod_templates: bool,
    check: bool,
    output_dir: Path | None,
    output: str,
) -> None:
    """Print definitions as ResourceInterpreterCustomizations, whose Lua Karmada runs without a webhook.

    KIND is a kind, apiVersion/Kind or the name of a definition in the given files, or in the catalogue. Without KIND
    all are printed. The operations are those that `serve --register` registers. One that a script cannot answer as the
    definition does is named on stderr with the reason, and Karmada answers it as without a definition; the exit code is
    1 when its kind was asked for.
    """
    selected_operations = list(Operation)
    if operations is not None:
        selected_operations = [operation_named(name.strip()) for name in operations.split(",")]
    # Without its name ReviseComponents is left out: no release of Karmada has the field for its script.
    registered = partial(
        operations_for, multiple_pod_templates=multiple_pod_templates, component_revision=operations is not None
    )
    selected = list[tuple[Definition, list[Operation]]]()
    for definition in definitions_named(kinds, paths):
        selected.append((definition, [name for name in registered(definition) if name in selected_operations]))
    if operations is not None:
        _check_answered(selected, selected_operations, gate=multiple_pod_templates)
    customizations, rows, rejected = list[Object](), list[list[str]](), dict[str, str]()
    for definition, of_kind in watched(selected, "Definitions"):
        result, gvk = exported_safely(definition, of_kind), definition.gvk
        if result.customization is not None:
            customizations.append(result.customization)
        for operation in of_kind:
            rows.append([gvk.api_version, gvk.kind, operation, result.rejected.get(operation, "exported")])
        for operation, reason in result.rejected.items():
            rejected[f"{gvk}, {operation}"] = reason
    if check:
        say(table(rows, header=["APIVERSION", "KIND", "OPERATION", "CUSTOMIZATION"]), nl=False)
    else:
        _write_customizations(customizations, output, output_dir)
    scripts = sum(len(customization["spec"]["customizations"]) for customization in customizations)
    summary = f"{count(len(customizations), 'customization')}, {count(scripts, 'script')}"
    _report(rejected, f"{summary}; {len(rejected)} rejected", is_quiet=check, is_error=bool(kinds or paths))


def _write_customizations(customizations: Sequence[Object], output: str, output_dir: Path | None) -> None:
    by_name = grouped((customization["metadata"]["name"], customization) for customization in customizations)
    if twice := [name for name, of_name in by_name.items() if len(of_name) > 1]:
        raise Problem(
            f"error: several definitions are called {' and '.join(twice)}: "
            "their customizations would replace each other"
        )
    if output_dir is not None:
        files = {f"{name}.{output}": written(customization, output) for name, (customization,) in by_name.items()}
        write_files(output_dir, files)
    elif customizations and output == "yaml":
        say(Data("---\n".join(map(to_yaml, customizations))), nl=False)
    elif len(customizations) == 1:
        say(Data(to_json(customizations[0])), nl=False)
    elif customizations:
        say(Data(to_json({"apiVersion": "v1", "kind": "List", "items": customizations})), nl=False)


def _check_answered(
    selected: Sequence[tuple[Definition, Sequence[Operation]]], selected_operations: Sequence[Operation], *, gate: bool
) -> None:
    """Name each requested operation that no definition has. With one definition that is an error."""
    for operation in selected_operations:
        if any(operation in operations for _, operations in selected):
            continue
        is_gated = operation in (Operation.INTERPRET_COMPONENT, Operation.REVISE_COMPONENTS) and not gate
        hint = "; it needs Karmada's feature gate: give --multiple-pod-templates" if is_gated else ""
        if len(selected) == 1:
            raise UsageProblem(f"error: {selected[0][0].gvk}: {operation} is not registered{hint}")
        say(f"warning: {operation} is registered for no kind{hint}", err=True)


def exported_safely(definition: Definition, operations: Sequence[Operation]) -> Exported:
    """Return the customization of a definition, never with a script that writes counts next to none that reads them."""
    exported = customization(definition, operations)
    remaining = [operation for operation in operations if operation not in exported.rejected]
    counted = exported.rejected.keys() & {Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT}
    unsafe = {operation: _UNSAFE for operation in remaining if operation in _WRITERS}
    if not unsafe or not counted:
        return exported
    reduced = customization(definition, [operation for operation in operations if operation not in unsafe])
    return Exported(reduced.customization, {**reduced.rejected, **unsafe})


@command.command("argocd-health")
@_kinds
@_files
@click.option("--check", is_flag=True, help="List which definitions can be exported, or why not.")
@output("yaml", "json")
def argocd_health_command(kinds: tuple[str, ...], paths: tuple[str, ...], output: str, *, check: bool) -> None:
    """Print health checks for Argo CD: a patch of its ConfigMap argocd-cm.

    They are Lua scripts of the statuses in a definition. KIND is a kind, apiVersion/Kind or the name of a definition
    in the given files, or in the catalogue. Without KIND all are printed but those that Argo CD judges itself, which
    are named on stderr: a check replaces Argo CD's own. A definition that a script cannot express is named there with
    the reason; the exit code is 1 when it was asked for.
    """
    definitions = definitions_named(kinds, paths)
    left_out = {definition.gvk for definition in definitions if not kinds and argocd_kinds.judges(definition.gvk)}
    selected = [definition for definition in definitions if definition.gvk not in left_out]
    scripts = dict[str, str]()
    exported = 0
    rejected: dict[GVK, str] = {}
    for versions in by_kind(selected):
        try:
            scripts |= argocd_health(*versions)
            exported += 1
        except ExportError as error:
            rejected |= dict.fromkeys((version.gvk for version in versions), str(error))
    if check:
        reasons = dict.fromkeys(left_out, f"left out: {_ARGO_CD} judges it itself") | rejected
        gvks = [definition.gvk for definition in definitions]
        rows = [[gvk.api_version, gvk.kind, reasons.get(gvk, "exported")] for gvk in gvks]
        say(table(rows, header=["APIVERSION", "KIND", "ARGOCD-HEALTH"]), nl=False)
    elif exported:
        config_map: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm"}}
        say(written({**config_map, "data": scripts}, output), nl=False)
    if left_out and not check:
        names = ", ".join(f"{gvk.api_version}/{gvk.kind}" for gvk in sorted(left_out))
        say(f"left out, as {_ARGO_CD} judges them itself; name a KIND to export its check: {names}", err=True)
    summary = f"{count(exported, 'health check')}, {len(rejected)} of {len(selected)} rejected"
    _report(rejected, summary, is_quiet=check, is_error=bool(kinds or paths))


def _report(rejected: Mapping[str, str] | Mapping[GVK, str], summary: str, *, is_quiet: bool, is_error: bool) -> None:
    """Print the reason of each rejection, and the counts. Exit with 1 if a rejection is an error."""
    if not is_quiet:
        for subject, reason in rejected.items():
            say(escaped(f"{subject}: {reason}"), err=True)
    say(summary, err=True)
    if rejected and is_error:
        raise SystemExit(Problem.exit_code)


@command.command("propagation-policy")
@click.argument("kind", shell_complete=complete_kinds)
@inputs("-f", "--filename", "paths", text="Definitions")
@click.option("--cluster-scoped", is_flag=True, help="Objects of KIND have no namespace.")
@output("yaml", "json")
def propagation_policy_command(*, kind: str, paths: tuple[str, ...], cluster_scoped: bool, output: str) -> None:
    """Print a PropagationPolicy whose application failover fits KIND, with its state where the definition names it.

    Thresholds follow from the family of the kind; comments say what each member has to do. Edit the selector and the
    placement. A kind without namespaces gets a ClusterPropagationPolicy.
    """
    definition, *further = definitions_named([kind], paths)
    if further:
        names = ", ".join(f"{version.gvk.api_version}/{version.gvk.kind}" for version in (definition, *further))
        raise UsageProblem(f"error: {kind} names several kinds; write one of {names}")
    policy = failover_policy(definition, cluster_scoped=cluster_scoped)
    notes = "".join(f"{fill(note, _WIDTH, initial_indent='# ', subsequent_indent='# ')}\n" for note in policy.notes)
    say(to_json(policy.manifest) if output == "json" else Data(notes + to_yaml(policy.manifest)), nl=False)
