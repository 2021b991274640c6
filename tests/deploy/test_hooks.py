"""The pods that Helm runs for a release: the test, and the removal of the registration."""

import click
import pytest

from deploy.write_kustomize import template
from karta_interpreter.cli.unregister import command as unregister
from tests.deploy import rendered
from tests.deploy.test_resources import container_of, flags_of


@rendered.needs_helm
def test_network_policy_without_peers_allows_only_the_test_and_the_pods() -> None:
    policy = rendered.the(rendered.of("a NetworkPolicy for nobody"), "NetworkPolicy")["spec"]
    tests = rendered.the(rendered.of("a NetworkPolicy for nobody"), "Pod")
    peers = [{"podSelector": {"matchLabels": tests["metadata"]["labels"]}}, {"podSelector": policy["podSelector"]}]
    assert policy["ingress"][0]["from"] == peers


@rendered.needs_helm
def test_network_policy_lets_doctor_in_a_pod_reach_the_server() -> None:
    # It dials the Service. Network plugins see the port of the pod behind it.
    policy = rendered.the(rendered.of("a NetworkPolicy for nobody"), "NetworkPolicy")["spec"]
    ports = [{"protocol": "TCP", "port": "https"}]
    assert {"to": [{"podSelector": policy["podSelector"]}], "ports": ports} in policy["egress"]


@rendered.needs_helm
def test_network_policies_let_pods_ask_dns_of_kubernetes_and_of_openshift() -> None:
    policies = rendered.of_kind(rendered.of("everything on"), "NetworkPolicy")
    asked = [{"protocol": protocol, "port": port} for port in (53, 5353) for protocol in ("UDP", "TCP")]
    assert len(policies) == 2
    for policy in policies:
        first = policy["spec"]["egress"][0]
        assert first["ports"][:4] == asked
        assert "to" not in first


@rendered.needs_helm
@pytest.mark.parametrize(
    ("values", "jobs"),
    [
        pytest.param("", 1, id="the server registers itself"),
        pytest.param("registration.removeOnUninstall=false", 0, id="it is to stay"),
        pytest.param("registration.enabled=false", 0, id="it is not the server's"),
    ],
)
def test_job_removes_registration_of_deleted_release(values: str, jobs: int) -> None:
    assert len(rendered.of_kind(template(rendered.SERVER, values), "Job")) == jobs


@rendered.needs_helm
def test_uninstall_job_has_access_of_server_and_needs_nothing_that_is_gone() -> None:
    case = "every option of the server"
    job = rendered.the(rendered.of(case), "Job")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "post-delete"
    # If it fails, Helm prints its log, and leaves it for those who need more.
    assert job["metadata"]["annotations"]["helm.sh/hook-output-log-policy"] == "hook-failed"
    assert "hook-failed" not in job["metadata"]["annotations"]["helm.sh/hook-delete-policy"]
    assert job["spec"]["ttlSecondsAfterFinished"] == 3600
    assert job["spec"]["activeDeadlineSeconds"] == 120, "helm uninstall ends while karmada-apiserver is away"
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"] == ["unregister", f"--name={flags_of(case)['--registration-name']}"]
    assert container["image"] == container_of(case)["image"]
    server = {entry["name"]: entry["value"] for entry in container_of(case)["env"]}
    given = {entry["name"]: entry["value"] for entry in container["env"]}
    options = [option for option in unregister.params if isinstance(option, click.Option)]
    taken = {option.envvar for option in options if option.name != "name"}  # the name is an argument
    extra = {"A"}  # a variable of server.extraEnv
    assert given == {name: value for name, value in server.items() if name in taken | extra}
    assert pod["serviceAccountName"] == "default"
    assert {one["secret"]["secretName"] for one in pod["volumes"] if "secret" in one} == {
        "karta-interpreter-kubeconfig"
    }
