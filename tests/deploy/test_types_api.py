"""The workload types API of the server's chart: a Deployment of its own that fits the program."""

import click
import pytest

from deploy.write_kustomize import template
from karta_interpreter.cli.types_api import command
from tests.deploy import rendered
from tests.deploy.rendered import Resource
from tests.support.rows import rows

pytestmark = rendered.needs_helm
CASES = [
    "everything on",
    "labels and annotations that the chart sets, too",
    "the workload types API with tokens",
    "the workload types API with definitions",
]


def container_of(case: str) -> Resource:
    (container,) = deployment_of(case)["spec"]["template"]["spec"]["containers"]
    assert isinstance(container, dict)
    return container


def deployment_of(case: str) -> Resource:
    return rendered.the(rendered.of(case), "Deployment", of_types=True)


def flags_of(case: str) -> list[tuple[str, str]]:
    first, *flags = container_of(case)["args"]
    assert first == "types-api"
    return [(name, value) for name, _, value in (flag.partition("=") for flag in flags)]


@rows("case", CASES)
def test_flags_are_those_of_the_program(case: str) -> None:
    options = [option for option in command.params if isinstance(option, click.Option)]
    known = {flag: option for option in options for flag in (*option.opts, *option.secondary_opts)}
    for flag, value in flags_of(case):
        assert flag in known
        assert bool(value) != known[flag].is_flag, f"{flag}={value}"


@rows("case", CASES)
def test_ports_lead_from_service_to_api(case: str) -> None:
    (port,) = container_of(case)["ports"]
    assert dict(flags_of(case))["--port"] == str(port["containerPort"])
    (entry,) = rendered.the(rendered.of(case), "Service", of_types=True)["spec"]["ports"]
    assert entry["targetPort"] == port["name"]
    probes = {name: probe["httpGet"] for name, probe in container_of(case).items() if name.endswith("Probe")}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }
    assert all((probe["port"], probe["scheme"]) == (port["name"], "HTTPS") for probe in probes.values())


@pytest.mark.parametrize(
    ("case", "allowed"),
    [
        pytest.param("everything on", [], id="nobody"),
        pytest.param("the workload types API with tokens", [{"podSelector": {"matchLabels": {"a": "b"}}}], id="peers"),
    ],
)
def test_network_policy_lets_the_named_peers_in(case: str, allowed: list[Resource]) -> None:
    policy = rendered.the(rendered.of(case), "NetworkPolicy", of_types=True)["spec"]
    rules = [rule for rule in policy.get("ingress", ()) if rule["ports"] == [{"protocol": "TCP", "port": "types"}]]
    assert [peer for rule in rules for peer in rule["from"]] == allowed
    assert "Ingress" in policy["policyTypes"]


@rows("case", CASES)
def test_it_has_the_definitions_and_the_certificate_of_the_server(case: str) -> None:
    own = "--host", "--port", "--certificate-file", "--key-file", "--types-token-file"
    of_server = rendered.arguments(rendered.of(case))
    shared = [flag for flag in flags_of(case) if flag[0] not in own and not flag[0].startswith("--types-")]
    assert [flag for flag in shared if flag not in of_server] == []
    named = [flag for flag in of_server if flag[0] in {"--kartas", "--overrides", "--kinds", "--without"}]
    assert [flag for flag in named if flag not in shared] == []
    service = rendered.the(rendered.of(case), "Service", of_types=True)["metadata"]
    assert ("--certificate-name", f"{service['name']}.{service['namespace']}.svc") in of_server


@rows("case", CASES)
def test_it_has_a_kubeconfig_of_its_own(case: str) -> None:
    def mounted(*, of_types: bool) -> list[str]:
        pod = rendered.the(rendered.of(case), "Deployment", of_types=of_types)["spec"]["template"]["spec"]
        return [volume["secret"]["secretName"] for volume in pod["volumes"] if volume["name"] == "karmada"]

    assert mounted(of_types=True) == ["karta-interpreter-types-api-kubeconfig"]
    assert mounted(of_types=False) == ["karta-interpreter-kubeconfig"]


def test_context_is_that_of_its_own_kubeconfig() -> None:
    made = template(
        rendered.SERVER, "typesApi.enabled=true,typesApi.kubeconfig.context=one,karmada.kubeconfig.context=two"
    )
    pods = [
        rendered.the(made, "Deployment", of_types=of_types)["spec"]["template"]["spec"] for of_types in (True, False)
    ]
    found = [{each["name"]: each["value"] for each in pod["containers"][0]["env"]} for pod in pods]
    assert [each["KARTA_INTERPRETER_CONTEXT"] for each in found] == ["one", "two"]


def test_long_names_are_cut() -> None:
    made = template(rendered.SERVER, f"typesApi.enabled=true,fullnameOverride={'x' * 63}")
    service = rendered.the(made, "Service", of_types=True)
    assert len(service["metadata"]["name"]) <= 63
