"""Whether the resources of a chart fit each other, the server and the rules of a restricted namespace."""

import click
import pytest

from deploy.write_kustomize import is_hook, template
from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.cli.doctor import command as doctor
from karta_interpreter.cli.program import KARTA_API_GROUP
from karta_interpreter.cli.serve import command as serve
from karta_interpreter.webhook.settings import Bounds
from tests.deploy import rendered
from tests.deploy.rendered import Resource
from tests.support.rows import rows

GIVEN = {
    ("Secret", "karta-interpreter-kubeconfig"),
    ("Secret", "karta-interpreter-types-api-kubeconfig"),
    ("Secret", "mine"),
    ("Secret", "pull"),
    ("Secret", "karta-interpreter-tls"),
    ("ConfigMap", "one"),
    ("ConfigMap", "two"),
    ("ConfigMap", "inline"),
    ("ServiceAccount", "default"),
    ("ClusterIssuer", "ours"),
}
"""What is not made by the charts in the cases below."""

pytestmark = rendered.needs_helm
DEPLOYED = [case for case, (chart, *_) in rendered.VALUES.items() if chart == rendered.SERVER]


def deployment_of(case: str) -> Resource:
    return rendered.the(rendered.of(case), "Deployment")


def pods_of(case: str) -> list[Resource]:
    """The pod specs of the Deployments and of the hooks."""
    hooks = [resource["spec"] for resource in rendered.of_kind(rendered.of(case), "Pod")]
    hooks += [resource["spec"]["template"]["spec"] for resource in rendered.of_kind(rendered.of(case), "Job")]
    deployments = rendered.of_kind(rendered.of(case), "Deployment")
    return [*(each["spec"]["template"]["spec"] for each in deployments), *hooks]


def container_of(case: str) -> Resource:
    return rendered.container_of(rendered.of(case))


def is_self_signed(case: str) -> bool:
    return "--certificate-secret" in flags_of(case)


def flags_of(case: str) -> dict[str, str]:
    return dict(rendered.arguments(rendered.of(case)))


@rows("case", rendered.VALUES)
def test_resources_are_unique_and_labelled(case: str) -> None:
    seen = [(resource["kind"], resource["metadata"]["name"]) for resource in rendered.of(case)]
    assert sorted(seen) == sorted(set(seen))
    unlabelled = [
        resource["metadata"]["name"]
        for resource in rendered.of(case)
        if not is_hook(resource)
        and resource["kind"] != "CustomResourceDefinition"
        and "app.kubernetes.io/name" not in resource["metadata"]["labels"]
    ]
    assert unlabelled == []


def selectors_of(resource: Resource) -> list[Resource]:
    """The labels by which a resource takes pods."""
    spec = resource.get("spec", {})
    if resource["kind"] == "Service":
        return [spec["selector"]]
    if resource["kind"] == "NetworkPolicy":
        return [spec["podSelector"]["matchLabels"]]
    if resource["kind"] == "PodDisruptionBudget":
        return [spec["selector"]["matchLabels"]]
    if resource["kind"] == "Deployment":
        spread = spec["template"]["spec"].get("topologySpreadConstraints", ())
        constrained = [constraint["labelSelector"]["matchLabels"] for constraint in spread]
        return [spec["selector"]["matchLabels"], *constrained]
    return []


@rows("case", DEPLOYED)
def test_selectors_take_only_pods_of_their_program(case: str) -> None:
    resources = rendered.of(case)
    pods = {
        each["metadata"]["name"]: each["spec"]["template"]["metadata"]["labels"]
        for kind in ("Deployment", "Job")
        for each in rendered.of_kind(resources, kind)
    }
    pods |= {pod["metadata"]["name"]: pod["metadata"]["labels"] for pod in rendered.of_kind(resources, "Pod")}
    for resource in resources:
        for selector in selectors_of(resource):
            taken = {name for name, labels in pods.items() if selector.items() <= labels.items()}
            assert taken == {resource["metadata"]["name"]}


@rows("case", DEPLOYED)
def test_ports_lead_from_service_to_server(case: str) -> None:
    port, health = container_of(case)["ports"]
    assert flags_of(case)["--port"] == str(port["containerPort"])
    assert flags_of(case)["--health-port"] == str(health["containerPort"])
    service = rendered.the(rendered.of(case), "Service")
    (entry,) = service["spec"]["ports"]
    assert entry["targetPort"] == port["name"]
    for monitor in rendered.of_kind(rendered.of(case), "ServiceMonitor"):
        assert [endpoint["port"] for endpoint in monitor["spec"]["endpoints"]] == [entry["name"]]
        assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    if "networkPolicy.enabled=true" in str(rendered.VALUES[case]):
        policy = rendered.the(rendered.of(case), "NetworkPolicy")
        assert [rule["ports"] for rule in policy["spec"]["ingress"]] == [[{"protocol": "TCP", "port": port["name"]}]]


@rows("case", DEPLOYED)
def test_probes_ask_what_the_server_answers(case: str) -> None:
    _, health = container_of(case)["ports"]
    paths = {
        name: (probe["httpGet"]["path"], probe["httpGet"].get("scheme", "HTTP"), probe["httpGet"]["port"])
        for name, probe in container_of(case).items()
        if name.endswith("Probe")
    }
    assert paths == {
        "startupProbe": ("/healthz", "HTTP", health["name"]),
        "livenessProbe": ("/healthz", "HTTP", health["name"]),
        "readinessProbe": ("/readyz", "HTTP", health["name"]),
    }


@rows("case", DEPLOYED)
def test_memory_limit_is_enough_for_bounds_that_server_derives(case: str) -> None:
    memory = Quantity.parse(container_of(case)["resources"]["limits"]["memory"]).value
    assert memory >= 512 * 2**20, "the smallest in the table of docs/server.md"


@rows("case", DEPLOYED)
def test_stopping_pod_has_time_to_finish(case: str) -> None:
    flags, spec = flags_of(case), deployment_of(case)["spec"]["template"]["spec"]
    grace = float(flags["--grace-period"])
    assert spec["terminationGracePeriodSeconds"] >= grace + Bounds().drain_timeout + 5
    readiness = container_of(case)["readinessProbe"]
    assert readiness["periodSeconds"] * readiness["failureThreshold"] < grace


@rows("case", DEPLOYED)
def test_pods_are_allowed_in_a_restricted_namespace(case: str) -> None:
    for pod in pods_of(case):
        security = pod["securityContext"]
        assert security["runAsNonRoot"]
        assert security["runAsUser"] == security["runAsGroup"] == security["fsGroup"] == 65532
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        is_server = pod["containers"][0]["name"] == "karta-interpreter"
        assert pod["automountServiceAccountToken"] is (is_server and is_self_signed(case))
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}
            assert "memory" in container["resources"]["limits"]
        assert all("hostPath" not in volume for volume in pod.get("volumes", ()))
    kinds = [one["kind"] for one in rendered.of(case)]
    # The server makes the only Secret itself, and nothing else needs rights.
    assert [kinds.count(kind) for kind in ("Secret", "Role", "RoleBinding")] == [0, *2 * [int(is_self_signed(case))]]


@rows("case", DEPLOYED)
def test_mounts_have_volumes_and_flags_have_mounts(case: str) -> None:
    for pod in pods_of(case):
        volumes = [volume["name"] for volume in pod.get("volumes", ())]
        mounts = [mount for container in pod["containers"] for mount in container.get("volumeMounts", ())]
        assert sorted(volumes) == sorted(mount["name"] for mount in mounts)
        assert len({mount["mountPath"] for mount in mounts}) == len(mounts), "each has a folder of its own"
        assert all(mount.get("readOnly") for mount in mounts if mount["name"] != "tmp")
    folders = [mount["mountPath"] for mount in container_of(case)["volumeMounts"]]
    paths = [flag.partition("=")[2] for flag in container_of(case)["args"] if "=/" in flag]
    paths += [entry["value"] for entry in container_of(case).get("env", ()) if entry["value"].startswith("/")]
    assert paths or case == "without karmada-apiserver"
    assert [path for path in paths if not any(path.startswith(folder) for folder in folders)] == []


def test_labels_and_annotations_of_the_user_replace_those_of_the_chart() -> None:
    case = "labels and annotations that the chart sets, too"
    annotations = deployment_of(case)["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"kubectl.kubernetes.io/default-container": "other"}
    part_of = {
        one["kind"]: one["metadata"]["labels"]["app.kubernetes.io/part-of"]
        for one in rendered.of(case)
        if one["kind"] in {"ServiceMonitor", "PrometheusRule", "ConfigMap"}
    }
    assert part_of == dict.fromkeys(("ServiceMonitor", "PrometheusRule", "ConfigMap"), "monitoring")


@rows("case", DEPLOYED)
def test_references_of_pods_exist(case: str) -> None:
    made = {(resource["kind"], resource["metadata"]["name"]) for resource in rendered.of(case)} | GIVEN
    made |= {("Secret", one["spec"]["secretName"]) for one in rendered.of_kind(rendered.of(case), "Certificate")}
    # What the server makes itself
    made.add(("Secret", flags_of(case).get("--certificate-secret", "").rpartition("/")[2]))
    wanted = {("ServiceAccount", pod["serviceAccountName"]) for pod in pods_of(case)}
    for pod in pods_of(case):
        wanted |= {("Secret", one["name"]) for one in pod.get("imagePullSecrets", ())}
        for volume in pod.get("volumes", ()):
            wanted |= {("Secret", volume["secret"]["secretName"])} if "secret" in volume else set()
            wanted |= {("ConfigMap", volume["configMap"]["name"])} if "configMap" in volume else set()
    for autoscaler in rendered.of_kind(rendered.of(case), "HorizontalPodAutoscaler"):
        wanted.add(("Deployment", autoscaler["spec"]["scaleTargetRef"]["name"]))
    for binding in rendered.of_kind(rendered.of(case), "RoleBinding"):
        wanted.add((binding["roleRef"]["kind"], binding["roleRef"]["name"]))
        wanted |= {(subject["kind"], subject["name"]) for subject in binding["subjects"]}
    for certificate in rendered.of_kind(rendered.of(case), "Certificate"):
        wanted.add((certificate["spec"]["issuerRef"]["kind"], certificate["spec"]["issuerRef"]["name"]))
    assert wanted - made == set()


@rows("case", DEPLOYED)
def test_flags_are_those_of_the_program(case: str) -> None:
    options = [option for option in serve.params if isinstance(option, click.Option)]
    known = {flag: option for option in options for flag in (*option.opts, *option.secondary_opts)}
    for flag, value in flags_of(case).items():
        assert flag in known
        assert bool(value) != known[flag].is_flag, f"{flag}={value}"


def test_commands_that_are_run_in_a_pod_look_at_the_same_control_plane() -> None:
    shared = {option.envvar for option in doctor.params if isinstance(option, click.Option) and option.envvar}
    case = "every option of the server"
    given = {entry["name"]: entry["value"] for entry in container_of(case)["env"]}
    assert given == {
        "KARTA_INTERPRETER_KUBECONFIG": "/etc/karta-interpreter/karmada/kubeconfig",
        "KARTA_INTERPRETER_CONTEXT": "karmada-apiserver",
        KARTA_API_GROUP: "workloads.example.com",
        "KARTA_INTERPRETER_REGISTRATION_NAME": "ours",
        "A": "b",
    }
    assert given.keys() - shared == {"A", KARTA_API_GROUP}
    assert "env" not in container_of("without karmada-apiserver")


@pytest.mark.parametrize(
    ("case", "target", "behavior"),
    [
        pytest.param("everything on", 70, None, id="the defaults"),
        pytest.param(
            "an autoscaler in a hurry", 150, {"scaleDown": {"stabilizationWindowSeconds": 60}}, id="more than requested"
        ),
    ],
)
def test_autoscaler_looks_only_at_cpu_of_the_server(case: str, target: int, behavior: Resource | None) -> None:
    spec = rendered.the(rendered.of(case), "HorizontalPodAutoscaler")["spec"]
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": target}}
    container = {"container": container_of(case)["name"], **cpu}
    assert spec["metrics"] == [{"type": "ContainerResource", "containerResource": container}]
    assert spec.get("behavior") == behavior
    assert "replicas" not in deployment_of(case)["spec"]
    assert deployment_of("the defaults")["spec"]["replicas"] == 2


def test_limit_counts_as_request() -> None:
    values = "autoscaling.enabled=true,resources.requests.cpu=null,resources.limits.cpu=1"
    assert rendered.of_kind(template(rendered.SERVER, values), "HorizontalPodAutoscaler")


def test_kinds_are_named_one_by_one() -> None:
    flags = rendered.arguments(rendered.of("every option of the server"))
    assert [value for name, value in flags if name == "--kinds"] == ["RayCluster", "batch/v1/Job"]
    assert flags_of("every option of the server")["--without"] == "apps/v1/*"
    assert not {"--kinds", "--without"} & flags_of("the defaults").keys()


@rows(
    ("case", "wanted", "unwanted"),
    [
        ("the defaults", {"--service": "karmada-system/karta-interpreter:443", "--register": ""}, {"--public-url"}),
        ("a public URL", {"--public-url": "https://karta.example.com:8443/interpret"}, {"--service"}),
        ("another name and port", {"--service": "karmada-system/karta:8443", "--port": "9443"}, set()),
        ("without karmada-apiserver", {"--no-cluster": "", "--no-register": ""}, {"--registration-name", "--service"}),
    ],
)
def test_registration_is_told_where_the_server_is(case: str, wanted: dict[str, str], unwanted: set[str]) -> None:
    flags = flags_of(case)
    assert wanted.items() <= flags.items()
    assert not unwanted & flags.keys()


@rendered.needs_helm
@pytest.mark.parametrize("registers", [True, False])
def test_server_answers_in_the_time_that_karmada_waits_whoever_registers_it(*, registers: bool) -> None:
    made = template(rendered.SERVER, f"registration.enabled={str(registers).lower()},registration.timeoutSeconds=10")
    assert ("--webhook-timeout", "10") in rendered.arguments(made)
