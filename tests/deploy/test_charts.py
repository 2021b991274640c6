import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.write_kustomize import template
from deploy.write_readme import rows
from karta_interpreter.webhook import settings
from karta_interpreter.webhook.settings import option
from tests.deploy import rendered
from tests.deploy.rendered import CHARTS, DEPLOY, ROOT, SERVER
from tests.support.examples import few

OTHERS = {"karmada.sh", "karmada.config", "kartas.run.ai", "server.config", "server.md"}
FREE = {
    "resources.requests",
    "resources.limits",
    "typesApi.resources.requests",
    "typesApi.resources.limits",
    "dashboard.labels",
    "strategy.rollingUpdate",
    "podSecurityContext",
    "securityContext",
}
"""Mappings of which the user chooses the keys, though there are some by default."""
MAY_BE_EMPTY = FREE | {
    "certificate.caKey",
    "certificate.certManager.duration",
    "certificate.certManager.issuerRef",
    "certificate.certManager.renewBefore",
    "image.pullPolicy",
    "karmada.kubeconfig.secret",
    "resources",
    "serviceMonitor.interval",
    "strategy",
    "strategy.type",
    "typesApi.resources",
}
"""What has a meaning without a value."""


def text_of(chart: str, file: str) -> str:
    return (DEPLOY / "helm" / chart / file).read_text()


def values_of(chart: str) -> dict[str, Any]:
    return dict(yaml.load(text_of(chart, "values.yaml"), yaml.CSafeLoader))


@pytest.mark.parametrize("chart", CHARTS)
def test_values_have_comments(chart: str) -> None:
    text = text_of(chart, "values.yaml")
    assert [row for row in rows(yaml.compose(text), text.splitlines()) if row.endswith("|  |")] == []


@pytest.mark.parametrize("chart", CHARTS)
def test_schema_has_exactly_the_values_that_there_are(chart: str) -> None:
    schema = json.loads(text_of(chart, "values.schema.json"))
    for given in ("global", "enabled"):  # by Helm, and by a chart that depends on this one
        schema["properties"].pop(given)
    # Of a name at the top Helm lists those that there are, and a template knows its own and those of the other chart.
    names = schema.pop("propertyNames")
    moved = {
        name: schema["properties"].pop(name)["const"].removeprefix("given as ") for name in names["else"]["if"]["enum"]
    }
    assert [*moved] == sorted(moved)
    assert names["else"]["else"]["enum"] == sorted({*schema["properties"], "global", "enabled"})
    for path in moved.values():
        value: Any = values_of(chart)
        for part in path.split("."):
            value = value[part]
    assert names["if"]["const"] == chart
    assert differences(values_of(chart), schema | {"additionalProperties": False}) == []


def differences(values: dict[str, Any], schema: dict[str, Any], at: str = "") -> list[str]:
    known = schema["properties"]
    found = [f"{at}{name}" for name in values.keys() ^ known.keys()]
    # Helm takes the name with its default away if a file has it without a value.
    empty = {f"{at}{name}" for name, value in values.items() if value and not isinstance(value, list)}
    empty -= {f"{at}{name}" for name in schema.get("required", ())} | MAY_BE_EMPTY
    found += sorted(f"{path} may be empty" for path in empty)
    if (
        at
    ):  # For a name that is not there, Helm 3.22 prints another place than that of propertyNames outside of an `if`.
        assert schema["if"]["propertyNames"]["enum"] == sorted(known)
        assert schema["else"]["const"] == f"fields: {', '.join(sorted(known))}"
    if schema["additionalProperties"] is not False:
        found.append(f"{at}: typos are accepted")
    for name, value in values.items():
        if isinstance(value, dict) and value and f"{at}{name}" not in FREE:
            found += differences(value, known[name], f"{at}{name}.")
    return found


OPTIONS = settings._CHART_VALUES  # noqa: SLF001 - the table that messages are made of
TYPOS = [
    ("karta-interpreter", "replicsa=1", "invalid propertyName 'replicsa'\n.* must be one of 'affinity', .*'replicas'"),
    ("karta-interpreter", "server.prot=1", "/server': additional properties .*'prot'"),
    ("karta-interpreter", "server.port=443", "minimum: got 443"),
    ("karta-interpreter", "prometheusRule.runbookUrl=docs/runbook.md", "/prometheusRule/runbookUrl"),
    ("karta-interpreter", "certificate.mode=selfsigned", "/certificate/mode"),
    ("karta-interpreter", "registration.publicUrl=http://karta.example.com", "/registration/publicUrl"),
    ("karta-interpreter", "registration.service=karmada-system/karta-interpreter:70000", "with a PORT up to 65535"),
    ("karta-interpreter", "server.logLevel=null", "/server': missing property 'logLevel'"),
    ("karta-interpreter", "image.tag=karta-interpreter:0.1.0", "/image/tag': value must be 'what stands behind"),
    ("karta-interpreter", "server.connectionAge=90000", "maximum: got 90,000"),
    (
        "karta-interpreter",
        "extraVolumeMounts[0].name=a,extraVolumeMounts[0].mountPath=a",
        "mountPath': value must be 'a path from",
    ),
    ("karta-interpreter", "registration.timeoutSeconds=31", "/registration/timeoutSeconds"),
    ("karta-interpreter", "karmada.kartaApiGroup=karta", "/karmada/kartaApiGroup"),
    ("karta-interpreter-control-plane", "admision.url=x", "'admision'\n.* must be one of 'admission', 'crd'"),
    ("karta-interpreter-control-plane", "kartaApiGroup=karta", "/kartaApiGroup"),
    ("karta-interpreter", "certificate.selfSigned.days=30", "minimum: got 30"),
    ("karta-interpreter", "image.digest=1234", "/image/digest"),
    # A sentence about the right value, instead of a type or a pattern.
    ("karta-interpreter", "kartas=a.yaml", "/kartas': value must be 'fields: configMaps, inline'"),
    ("karta-interpreter", "podDisruptionBudget.minAvailable=1", "'/podD.*must be 'fields: enabled, maxUnavailable'"),
    ("karta-interpreter", "overrides.configMaps=a", "/overrides/configMaps': value must be 'a list: --set"),
    ("karta-interpreter", "server.host=karta.example.com", "/server/host': value must be '0.0.0.0, or :: "),
    ("karta-interpreter", "serviceMonitor.interval=30", "/interval': value must be 'a duration in h, m and s"),
    ("karta-interpreter-control-plane", "user.subjects[0].name=ada", "/user/subjects/0': missing property 'kind'"),
    ("karta-interpreter", "server.kinds={RayCluster batch/v1}", "/server/kinds/0"),
    ("karta-interpreter", "server.without={apps/v1/Deploy*}", "/server/without/0"),
    ("karta-interpreter", "server.without={apps/*}", "/server/without/0': .*such as apps/v1/"),
    ("karta-interpreter", "autoscaling.behavior.scaledown.selectPolicy=Min", "'scaledown' not allowed"),
    ("karta-interpreter", "strategy.rollingUpdate.maxSurg=2", "/strategy/rollingUpdate': .*'maxSurg' not allowed"),
    ("karta-interpreter", "lifecycle.prestop.sleep.seconds=1", "/lifecycle': .*'prestop' not allowed"),
    ("karta-interpreter", "resources.requests.cup=1", "/resources/requests': value must be 'fields: cpu, memory"),
    (
        "karta-interpreter",
        "registration.multiplePodTemplatesScheduling=yes",
        "Scheduling': value must be 'true or false, without quotes'",
    ),
    (
        "karta-interpreter",
        "nodeSelector.kubernetes.io/os=linux",
        "/nodeSelector/kubernetes': .*a backslash before a dot",
    ),
    ("karta-interpreter", "affinity.nodeAfinity.x=1", "/affinity': .*'nodeAfinity' not allowed"),
    ("karta-interpreter", "tolerations[1].effect=NoSchedul", "/tolerations/1/effect': value must be one of"),
    ("karta-interpreter", "networkPolicy.from[0].podSelectr.x=1", "/networkPolicy/from/0': .*'podSelectr' not allowed"),
    # What YAML and `--set` read as a number or a boolean, the API server takes as a string only.
    ("karta-interpreter", "server.extraEnv[0].value=1", "/server/extraEnv/0/value': value must be 'text: "),
    ("karta-interpreter", "tolerations[0].value=true", "/tolerations/0/value': got boolean, want string"),
    ("karta-interpreter", "autoscaling.targetCPUUtilizationPercentage=0", "minimum: got 0"),
    ("karta-interpreter", "registration.name=", "/registration/name"),
    ("karta-interpreter", "prometheusRule.thresholds.timeouts=5", "/thresholds/timeouts': value must be 'a part of"),
    ("karta-interpreter", "networkPolicy.from[0].ipBlock=10.0.0.0/8", "/from/0/ipBlock': got string, want object"),
    ("karta-interpreter", "certificate.extraNames={https://karta.example.com}", "/certificate/extraNames/0"),
    # RBAC takes a list of no names for all names.
    ("karta-interpreter-control-plane", "rbac.registrationName=null", "/rbac': missing property 'registrationName'"),
    (
        "karta-interpreter-control-plane",
        "admission.url=https://karta.example.com:70000",
        "/admission/url': .*up to 65535",
    ),
    ("karta-interpreter-control-plane", "admission.failurePolicy=fail", "/admission/failurePolicy"),
    ("karta-interpreter", "image.repository=registry.example:5000/karta-interpreter:1.0", "/image/repository"),
    ("karta-interpreter", "image.repository=REGISTRY/karta-interpreter", "/image/repository': .*in small letters"),
    ("karta-interpreter", "replicaCount=3", "- at '/replicaCount': value must be 'given as replicas'"),
    ("karta-interpreter-control-plane", "installCRDs=true", "- at '/installCRDs': value must be 'given as crd.create'"),
    ("karta-interpreter", "dashboard=null", "missing property 'dashboard'"),
    (
        "karta-interpreter",
        "registration.publicUrl=https://localhost:8443/interpret",
        "/publicUrl': .*that Karmada can call",
    ),
]
"""What the schema of a chart rejects, and its complaint; Helm prints all complaints at once."""
BY_ISSUER = "certificate.mode=certManager,certificate.certManager.issuerRef.name=ours"
CONTRADICTIONS = [
    ("resources.limits.memory=100Mi", "resources.limits.memory is 100Mi, below the request of 192Mi"),
    ("typesApi.resources.limits.cpu=10m", "typesApi.resources.limits.cpu is 10m, below the request of 50m"),
    ("server.healthPort=8443", "server.healthPort"),
    (f"{BY_ISSUER},certificate.certManager.duration=24h", "certificate.certManager.renewBefore"),
    ("server.extraArgs={--record=/records}", "/records"),
    ("server.extraEnv[0].name=KARTA_INTERPRETER_RECORD,server.extraEnv[0].value=/records", "/records"),
    ("server.extraArgs={--kubeconfig=/etc/k}", "server.extraArgs"),
    ("server.extraEnv[0].name=KARTA_INTERPRETER_KUBECONFIG,server.extraEnv[0].value=/etc/k", "server.extraEnv"),
    ("server.catalogue=false,karmada.cluster=false", "no definition"),
    ("typesApi.enabled=true,karmada.cluster=false", "karmada.cluster"),
    *(
        (f"server.extraArgs={{{option}}}", f"server.extraArgs has {option}")
        for option in (
            "--port=9000",
            "--health-port=9000",
            "--grace-period=60",
            "--host=localhost",
            "--context=x",
            "--karta-api-group=x",
            "--no-register",
            "--service=a/b:443",
            "--public-url=https://a.example",
            "--registration-name=x",
            "--certificate-secret=a/b",
            "--certificate-file=/a",
        )
    ),
    ("server.extraArgs={--register},registration.enabled=false", "server.extraArgs has --register"),
    ("server.extraEnv[0].name=KARTA_INTERPRETER_LOG_LEVEL,server.extraEnv[0].value=debug", "INTERPRETER_LOG_LEVEL"),
    (
        "server.kinds={Job},server.extraEnv[0].name=KARTA_INTERPRETER_KINDS,server.extraEnv[0].value=Pod",
        "KARTA_INTERPRETER_KINDS",
    ),
    ("server.extraEnv[0].name=KARTA_INTERPRETER_SERVICE,server.extraEnv[0].value=a/b", "KARTA_INTERPRETER_SERVICE"),
]
"""What fails silently, so that templates of the server's chart reject it, and what the message names."""
BY_SCHEMA = [
    ("service.type=NodePort,service.loadBalancerClass=ours", "/service/loadBalancerClass"),
    ("service.nodePort=30443", "/service/nodePort"),
    ("service.externalTrafficPolicy=Local", "/service/externalTrafficPolicy"),
    ("server.extraArgs={--log-level debug}", "/server/extraArgs/0"),
    ("server.extraArgs={--kinds,Job}", "/server/extraArgs/1"),
    ("certificate.mode=existingSecret", "/certificate/existingSecret"),
    ("certificate.existingSecret=mine", "/certificate/existingSecret"),
    # The server and cert-manager write the authority there, and system roots do not know it.
    ("certificate.caKey=", "/certificate/caKey"),
    ("certificate.caKey=authority.crt", "/certificate/caKey"),
    ("certificate.mode=certManager,certificate.caKey=", "/certificate/caKey"),
    (f"{BY_ISSUER},certificate.caKey=authority.crt", "/certificate/caKey"),
    ("certificate.certManager.issuerRef.name=ours", "/certificate/certManager/issuerRef"),
    ("certificate.mode=certManager,certificate.certManager.issuerRef.kind=ClusterIssuer", "/certManager/issuerRef"),
    (f"image.tag=sha256:{'ab' * 32}", "/image/tag"),
    ("karmada.kubeconfig.secret=", "/karmada/kubeconfig/secret"),
    ("typesApi.tokens.secret=tokens", "/typesApi/tokens/secret"),
    ("typesApi.enabled=true,typesApi.kubeconfig.secret=", "/typesApi/kubeconfig/secret"),
    (r"kartas.inline.a\.txt=x", "/kartas/inline/a.txt"),
    ("kartas.inline.a=x", "/kartas/inline/a"),
    (r"overrides.inline.a\.lua=x", "/overrides/inline/a.lua"),
    (r"kartas.inline.a\.yaml.kind=Karta", "/kartas/inline/a.yaml"),
    (r"overrides.inline.a\.yaml=1", "/overrides/inline/a.yaml"),
    ("admission.enabled=true", "'admission'"),
]
"""What the schema of the server's chart rejects by other values, and the place of the value."""


WORKING = [
    "resources.requests.memory=1Gi,resources.limits.memory=1024Mi,resources.limits.cpu=0.5",
    "server.extraArgs={--log-level=debug,--connection-age=30,--host=::,--no-cluster,--webhook-timeout=5,--kinds=Job}",
    "server.extraArgs={--register,--service=a/b,--registration-name=x},registration.enabled=false",
    "server.extraArgs={--cluster,--kubeconfig=/injected/k},karmada.cluster=false,registration.enabled=false",
    "server.extraArgs={--kubeconfig=/k/k},extraVolumes[0].name=k,extraVolumeMounts[0].name=k,extraVolumeMounts[0].mountPath=/k",
    "server.extraArgs={--ca-file=/a},certificate.mode=existingSecret,certificate.existingSecret=x,certificate.caKey=",
    "server.extraEnv[0].name=KARTA_INTERPRETER_KINDS,server.extraEnv[0].value=Job",
    f"{BY_ISSUER},certificate.caKey=",
    "karmada.cluster=false,registration.enabled=false,karmada.kubeconfig.secret=",
    "service.type=NodePort,service.nodePort=30443",
]
"""What looks like one of these, and works."""


def complaints_about(chart: str, values: str) -> str:
    """What Helm prints about values that it does not take."""
    ran = rendered.run_helm("template", chart, "--set", values)
    assert ran.returncode == 1
    return ran.stderr


@pytest.fixture(scope="module")
def complaints() -> dict[str, str]:
    """What Helm prints about all typos of each chart."""
    return {chart: complaints_about(chart, ",".join(typo[1] for typo in TYPOS if typo[0] == chart)) for chart in CHARTS}


@rendered.needs_helm
@pytest.mark.parametrize(("chart", "complaint"), [pytest.param(typo[0], typo[2], id=typo[1]) for typo in TYPOS])
def test_typos_are_rejected(complaints: dict[str, str], chart: str, complaint: str) -> None:
    assert re.search(complaint, complaints[chart])


@rendered.needs_helm
@pytest.mark.sweep
@pytest.mark.parametrize(
    ("values", "complaint"), [pytest.param(*each, id=each[0]) for each in few(CONTRADICTIONS, "rejected")]
)
def test_values_that_cannot_work_are_rejected(values: str, complaint: str) -> None:
    assert complaint in complaints_about(rendered.SERVER, values)


@rendered.needs_helm
@pytest.mark.sweep
@pytest.mark.parametrize(("values", "place"), [pytest.param(*each, id=each[0]) for each in few(BY_SCHEMA, "schema")])
def test_values_that_do_not_fit_others_are_rejected_by_the_schema(values: str, place: str) -> None:
    assert place in complaints_about(rendered.SERVER, values)


@rendered.needs_helm
@pytest.mark.sweep
@pytest.mark.parametrize("values", few(WORKING, "working"))
def test_values_that_can_work_are_taken(values: str) -> None:
    assert template(rendered.SERVER, values)


@rendered.needs_helm
def test_admission_without_a_way_to_the_server_is_rejected() -> None:
    values = "admission.enabled=true,service.create=false"
    assert "admission.enabled needs service.create or admission.url" in complaints_about(
        "karta-interpreter-control-plane", values
    )
    assert template(rendered.CONTROL_PLANE, f"{values},admission.url=https://karta.example.com")


@rendered.needs_helm
@pytest.mark.parametrize("chart", CHARTS)
def test_values_below_the_name_of_the_chart_are_rejected(chart: str) -> None:
    complaints = complaints_about(chart, f"{chart}.enabled=true")
    assert (
        f"values stand at the top: below {chart} only in the values of a chart that depends on this one" in complaints
    )


@rendered.needs_helm
@pytest.mark.parametrize(
    ("values", "place"),
    [
        pytest.param(
            "admission.enabled=true,admission.caBundle=-----BEGIN CERTIFICATE-----", "/admission/caBundle", id="PEM"
        ),
        pytest.param("admission.enabled=true,admission.caBundle=QQ==", "/admission/caBundle", id="something else"),
        pytest.param("admission.enabled=true,admission.url=https://a.example/interpret", "/admission/url", id="a path"),
        pytest.param("server.port=8443", "'server'", id="a value of the other chart"),
    ],
)
def test_values_of_admission_that_cannot_work_are_rejected(values: str, place: str) -> None:
    assert place in complaints_about(rendered.CONTROL_PLANE, values)


@rendered.needs_helm
def test_chart_of_an_organisation_depends_on_both_charts_under_conditions(tmp_path: Path) -> None:
    chart = tmp_path / "platform"
    dependencies = [
        {
            "name": name,
            "version": yaml.safe_load(text_of(name, "Chart.yaml"))["version"],
            "condition": f"{name}.enabled",
        }
        for name in CHARTS
    ]
    for name in CHARTS:
        shutil.copytree(DEPLOY / "helm" / name, chart / "charts" / name)
    (chart / "Chart.yaml").write_text(
        yaml.safe_dump({"apiVersion": "v2", "name": "platform", "version": "1.0.0", "dependencies": dependencies})
    )
    values = {"karta-interpreter": {"enabled": True}, "karta-interpreter-control-plane": {"enabled": False}}
    (chart / "values.yaml").write_text(yaml.safe_dump(values))
    made = rendered.run_helm("template", chart).stdout
    kinds = {each["kind"] for each in yaml.safe_load_all(made) if each}
    assert "Deployment" in kinds
    assert "CustomResourceDefinition" not in kinds


@rendered.needs_helm
def test_ids_of_an_openshift_project_take_the_place_of_the_charts() -> None:
    values = "podSecurityContext.runAsUser=null,podSecurityContext.runAsGroup=null,podSecurityContext.fsGroup=null"
    for resource in template(rendered.SERVER, values):
        if resource["kind"] in ("Deployment", "Job", "Pod"):
            spec = resource["spec"].get("template", resource)["spec"]
            assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    deployment = rendered.the(template(rendered.SERVER, "podSecurityContext=null,securityContext=null"), "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    assert "securityContext" not in pod
    assert "securityContext" not in pod["containers"][0]


@rendered.needs_helm
def test_labels_and_annotations_of_all_resources_leave_selectors_alone() -> None:
    on = "commonLabels.team=ml,commonAnnotations.owner=ml,dashboard.enabled=true,serviceMonitor.enabled=true"
    made = template(rendered.SERVER, on)
    for resource in made:
        assert resource["metadata"]["labels"]["team"] == "ml", resource["kind"]
        assert resource["metadata"]["annotations"]["owner"] == "ml", resource["kind"]
    deployment = rendered.the(made, "Deployment")
    assert "team" not in deployment["spec"]["selector"]["matchLabels"]
    service = rendered.the(made, "Service")
    assert "team" not in service["spec"]["selector"]
    job = rendered.the(made, "Job")["spec"]["template"]["metadata"]["labels"]
    assert job == {
        "team": "ml",
        **rendered.the(rendered.of("the defaults"), "Job")["spec"]["template"]["metadata"]["labels"],
    }


@rendered.needs_helm
def test_fields_of_service_and_deployment_that_values_set() -> None:
    values = (
        "service.type=LoadBalancer,service.nodePort=30443,service.loadBalancerClass=example.com/internal,"
        "service.externalTrafficPolicy=Local,strategy.type=Recreate,typesApi.enabled=true,"
        "lifecycle.preStop.sleep.seconds=3,deploymentAnnotations.keel=on,"
        "extraVolumes[0].name=ca,extraVolumes[0].configMap.name=ca,"
        "extraVolumeMounts[0].name=ca,extraVolumeMounts[0].mountPath=/ca"
    )
    made = template(rendered.SERVER, values)
    service, deployment = rendered.the(made, "Service"), rendered.the(made, "Deployment")
    assert service["spec"]["loadBalancerClass"] == "example.com/internal"
    assert service["spec"]["externalTrafficPolicy"] == "Local"
    assert service["spec"]["ports"][0]["nodePort"] == 30443
    for each in rendered.of_kind(made, "Deployment"):
        assert each["spec"]["strategy"] == {"type": "Recreate"}, "the API server refuses steps with it"
    assert deployment["metadata"]["annotations"]["keel"] == "on"
    pod = deployment["spec"]["template"]["spec"]
    assert pod["volumes"][-1] == {"name": "ca", "configMap": {"name": "ca"}}
    assert pod["containers"][0]["volumeMounts"][-1] == {"name": "ca", "mountPath": "/ca"}
    assert pod["containers"][0]["lifecycle"] == {"preStop": {"sleep": {"seconds": 3}}}


@rendered.needs_helm
def test_pods_of_a_release_run_where_those_of_the_server_do() -> None:
    values = (
        "typesApi.enabled=true,nodeSelector.pool=system,tolerations[0].key=system,tolerations[0].operator=Exists,"
        "affinity.nodeAffinity.x=y,podLabels.team=ml,server.extraEnv[0].name=HTTPS_PROXY,server.extraEnv[0].value=http://p,"
        "extraVolumes[0].name=ca,extraVolumes[0].configMap.name=ca,"
        "extraVolumeMounts[0].name=ca,extraVolumeMounts[0].mountPath=/ca"
    )
    made = template(rendered.SERVER, values)
    workloads = {
        each["metadata"]["name"]: each["spec"]["template"] for each in made if "template" in each.get("spec", {})
    }
    for name, pod in workloads.items():
        container = pod["spec"]["containers"][0]
        assert {"name": "HTTPS_PROXY", "value": "http://p"} in container["env"], name
        assert {"name": "ca", "mountPath": "/ca"} in container["volumeMounts"], name
        assert {"name": "ca", "configMap": {"name": "ca"}} in pod["spec"]["volumes"], name
    for pod in [*(each["spec"] for each in workloads.values()), rendered.the(made, "Pod")["spec"]]:
        assert pod["nodeSelector"] == {"pool": "system"}
        assert pod["tolerations"] == [{"key": "system", "operator": "Exists"}]
        assert pod["affinity"] == {"nodeAffinity": {"x": "y"}}
    labelled = [name for name, pod in workloads.items() if pod["metadata"]["labels"].get("team") == "ml"]
    assert len(workloads) == 3, "the server, the workload types API, and the Job that unregisters"
    assert len(labelled) == 2, "a sidecar that a label asks for would keep a Job running"


@rendered.needs_helm
def test_threshold_of_an_alert_is_that_of_the_values() -> None:
    values = (
        "prometheusRule.enabled=true,prometheusRule.thresholds.slow=0.5,prometheusRule.thresholds.certificateDays=7"
    )
    rule = rendered.the(template(rendered.SERVER, values), "PrometheusRule")
    expressions = {each["alert"]: each["expr"] for each in rule["spec"]["groups"][0]["rules"]}
    assert expressions["KartaInterpreterSlow"].endswith("> 0.5")
    assert "< 7 * 86400" in expressions["KartaInterpreterCertificateExpires"]


NAMES = {"long": "a" * 53, "dots": "karta.interpreter", "number": "2026"}
"""Of releases: the longest that Helm takes, one that no Service can have, and one that YAML reads as something else."""
_NAME = re.compile(r"(?!.{254})[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


@rendered.needs_helm
@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("case", ["long", *(pytest.param(case, marks=pytest.mark.slow) for case in ("dots", "number"))])
def test_names_are_what_kubernetes_and_cert_manager_take(chart: str, case: str) -> None:
    values = f"{rendered.EVERYTHING},certificate.mode=certManager,nameOverride={'b' * 63}"
    values = values if chart == rendered.SERVER else "admission.enabled=true"
    resources = template(chart, values, release=NAMES[case])
    assert {"Job", "Certificate"} <= {each["kind"] for each in resources} or chart != rendered.SERVER
    for each in resources:
        name, spec = each["metadata"]["name"], each.get("spec", {})
        assert _NAME.fullmatch(name), f"{each['kind']} {name}"
        assert len(name) <= 63 or each["kind"] not in {"Job", "Service"}
        assert "." not in name or each["kind"] != "Service"
        assert len(spec.get("commonName", "")) <= 64
        pod = spec.get("template", {}).get("metadata", {})
        labels = {**each["metadata"].get("labels", {}), **pod.get("labels", {})}
        assert [label for label in labels.values() if not _LABEL.fullmatch(label)] == []


@rendered.needs_helm
def test_topology_constraint_keeps_its_own_selector(tmp_path: Path) -> None:
    one = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    constraints = [{**one, "labelSelector": {"matchLabels": {"team": "a"}}}, one]
    file = tmp_path / "values.yaml"
    file.write_text(json.dumps({"topologySpreadConstraints": constraints}))
    deployment = rendered.the(template(rendered.SERVER, "", "--values", str(file)), "Deployment")
    first, second = deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
    selected = deployment["spec"]["selector"]["matchLabels"]
    assert first["labelSelector"]["matchLabels"] == {**selected, "team": "a"}
    assert second["labelSelector"]["matchLabels"] == selected


@rendered.needs_helm
def test_null_value_is_as_if_it_were_empty() -> None:
    values = ("podAnnotations", "podLabels", "certificate.extraNames", "kartas.inline", "resources")
    resources = template(rendered.SERVER, ",".join(f"{value}=null" for value in values))
    assert rendered.of_kind(resources, "Deployment")


@rendered.needs_helm
@pytest.mark.parametrize("chart", CHARTS)
def test_lint_has_nothing_to_say(chart: str) -> None:
    ran = rendered.run_helm("lint", chart, "--strict", "--quiet")
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


def paths_of(values: dict[str, Any], above: str = "") -> set[str]:
    """The paths of all values, sections included."""
    found = {f"{above}{name}" for name in values}
    return found.union(*(paths_of(v, f"{above}{k}.") for k, v in values.items() if isinstance(v, dict)))


@pytest.mark.parametrize("page", ["docs/install.md", "docs/runbook.md"])
def test_pages_speak_of_values_that_there_are(page: str) -> None:
    known = set[str]().union(*(paths_of(values_of(chart)) for chart in CHARTS))
    sections = {path.partition(".")[0] for path in known}
    words = re.findall(r"(?<![\w/.$\"])([a-z]\w*(?:\.[a-zA-Z]\w*)+)\b(?!\()", (ROOT / page).read_text())
    spoken = {word for word in words if word.partition(".")[0] in sections and word not in OTHERS}
    assert spoken
    assert spoken - known == set()


@rendered.needs_helm
@pytest.mark.parametrize("name", OPTIONS)
def test_messages_name_the_value_of_an_option(name: str) -> None:
    path = OPTIONS[name]
    assert option(name) == f"--{name} (value {path} of the chart)"
    values = {
        "certificate.existingSecret": "certificate.mode=existingSecret,certificate.existingSecret=mine",
        "certificate.extraNames": "certificate.extraNames={a.example}",
        "karmada.kubeconfig": "karmada.kubeconfig.secret=mine",
        "registration.enabled": "registration.enabled=false",
        "registration.multiplePodTemplatesScheduling": "registration.multiplePodTemplatesScheduling=true",
        "registration.name": "registration.name=ours",
        "registration.operations": "registration.operations={InterpretHealth}",
        "registration.service": "registration.service=a/b:443",
        "server.kinds": "server.kinds={Job}",
        "server.without": "server.without={Job}",
    }
    before, after = (rendered.pod_of(template(SERVER, value)) for value in ("", values[path]))
    assert before != after
    variable = f"KARTA_INTERPRETER_{name.replace('-', '_').upper()}"
    assert any(f"--{name}" in text or f"--no-{name}" in text or variable in text for text in map(str, (before, after)))
