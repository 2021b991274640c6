"""What Helm prints after an installation."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from karta_interpreter.cli.export import command as export
from karta_interpreter.webhook.registration.configuration import Endpoint
from tests.deploy import rendered
from tests.deploy.rendered import CONTROL_PLANE, DEPLOY, SERVER, Resource

pytestmark = rendered.needs_helm

NOT_REGISTERED = "registration.enabled=false,certificate.mode=existingSecret,certificate.existingSecret=m"

_KARMADA = ("--api-versions", "config.karmada.io/v1alpha1")


def notes_of(chart: str | Path, values: str, folder: Path, *options: str) -> str:
    """The notes for values. Without a cluster Helm prints none, so a copy of the chart has them in a resource."""
    copy = folder / Path(chart).name
    shutil.copytree(DEPLOY / "helm" / chart, copy)
    text = (copy / "templates" / "NOTES.txt").read_text()
    notes = (
        f'{{{{- define "notes" -}}}}{text}{{{{- end -}}}}\nkind: Notes\ntext: {{{{ include "notes" . | toJson }}}}\n'
    )
    (copy / "templates" / "notes.yaml").write_text(notes)
    made = rendered.run_helm("template", copy, "--namespace", "karmada-system", "--set", values, *options)
    assert made.returncode == 0, made.stderr
    (resource,) = rendered.of_kind([one for one in yaml.load_all(made.stdout, yaml.CSafeLoader) if one], "Notes")
    return str(resource["text"])


def options_of_export(notes: str) -> list[str]:
    """The options of the command that the notes print for GitOps."""
    (line,) = re.findall(r"^  karta-interpreter export (webhook-configuration .*)$", notes, re.MULTILINE)
    return shlex.split(line)


def exported(notes: str) -> Resource:
    """The registration that this command prints."""
    ran = CliRunner().invoke(export, options_of_export(notes))
    assert ran.exit_code == 0, ran.output
    configuration: Resource = yaml.load(ran.stdout, yaml.CSafeLoader)
    return configuration


@pytest.mark.catalogue
def test_command_for_gitops_prints_what_the_server_would_register(tmp_path: Path) -> None:
    values = (
        "certificate.caKey=,registration.publicUrl=https://karta.example.com/interpret,registration.name=ours",
        "registration.timeoutSeconds=7,registration.multiplePodTemplatesScheduling=true",
        "server.kinds={ray.io/v1/*,batch/v1/Job},server.without={RayJob}",
    )
    configuration = exported(notes_of(SERVER, ",".join([NOT_REGISTERED, *values]), tmp_path))
    assert configuration["metadata"]["name"] == "ours"
    assert {webhook["timeoutSeconds"] for webhook in configuration["webhooks"]} == {7}
    config = {"url": "https://karta.example.com/interpret"}
    assert all(webhook["clientConfig"] == config for webhook in configuration["webhooks"])
    rules = {
        kind: rule["operations"]
        for each in configuration["webhooks"]
        for rule in each["rules"]
        for kind in rule["kinds"]
    }
    assert rules.keys() == {"RayCluster", "RayService", "RayCronJob", "Job"}
    # With Karmada's gate these two together scale a workload to zero.
    assert "InterpretComponent" in rules["RayCluster"]
    assert "ReviseReplica" not in rules["RayCluster"]


def test_command_for_gitops_names_the_service_and_the_authority(tmp_path: Path) -> None:
    options = options_of_export(
        notes_of(SERVER, f"{NOT_REGISTERED},server.catalogue=false,service.port=8443", tmp_path)
    )
    at = options.index("--service")
    assert options[at + 1] == "karmada-system/k-karta-interpreter:8443"
    assert options[options.index("--ca-file") + 1] == "ca.crt"
    assert "--no-catalogue" in options
    assert "--multiple-pod-templates-scheduling" not in options


@pytest.mark.parametrize("path", ["", "/", "/interpret", "/a/"])
def test_notes_name_the_url_that_is_registered(path: str, tmp_path: Path) -> None:
    url = f"https://karta.example.com:8443{path}"
    notes = notes_of(SERVER, f"registration.publicUrl={url}", tmp_path)
    assert f"Karmada is told to call {Endpoint.of_url(url).at}.\n" in notes


@pytest.mark.parametrize(("name", "told"), [("k", True), ("karta-interpreter", False)])
def test_server_of_another_name_is_told_what_its_control_plane_needs(name: str, *, told: bool, tmp_path: Path) -> None:
    notes = notes_of(SERVER, f"fullnameOverride={name}", tmp_path)
    assert (f"service.externalName={name}.karmada-system.svc.cluster.local" in notes) is told


@pytest.mark.parametrize(
    ("values", "warns"),
    [
        pytest.param("server.extraArgs={--kartas=/kartas}", True, id="a folder that the image may have"),
        pytest.param("server.extraArgs={--overrides=/scripts/a}", True, id="a folder of scripts"),
        pytest.param(
            "server.extraArgs={--kartas=/k/a},extraVolumes[0].name=k,extraVolumes[0].configMap.name=k,"
            "extraVolumeMounts[0].name=k,extraVolumeMounts[0].mountPath=/k/",
            False,
            id="below a volume",
        ),
        pytest.param("server.extraArgs={--record-secrets}", False, id="another option"),
    ],
)
def test_folder_of_definitions_without_a_volume_has_a_warning(values: str, *, warns: bool, tmp_path: Path) -> None:
    assert ("no volume is mounted at" in notes_of(SERVER, values, tmp_path)) is warns


@pytest.mark.parametrize(
    ("options", "wrong"),
    [pytest.param((), CONTROL_PLANE, id="the host cluster"), pytest.param(_KARMADA, SERVER, id="karmada-apiserver")],
)
def test_chart_on_the_wrong_api_server_warns(options: tuple[str, ...], wrong: str, tmp_path: Path) -> None:
    for chart in (SERVER, CONTROL_PLANE):
        notes = notes_of(chart, "fullnameOverride=k", tmp_path, *options)
        assert notes.startswith("WARNING") is (chart == wrong)
        assert ("helm" in notes.partition("\n\n")[2]) is (chart != wrong)  # the next steps
        if chart == CONTROL_PLANE:
            assert ("kubectl delete crd kartas.run.ai" in notes, "is prepared" in notes) == (
                chart == wrong,
                chart != wrong,
            )


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        pytest.param("", ["k"], id="of the server"),
        pytest.param("typesApi.enabled=true", ["k", "k-types-api"], id="of the types API, too"),
        # The permissions are those of the subjects.
        pytest.param(
            "typesApi.enabled=true,user.subjects[0].kind=User,user.subjects[0].name=karta",
            ["k-types-api"],
            id="without permissions of the server",
        ),
        pytest.param(
            "typesApi.enabled=true,typesApi.subjects[0].kind=User,typesApi.subjects[0].name=karta",
            ["k"],
            id="without permissions of the types API",
        ),
    ],
)
def test_token_is_named_where_it_has_permissions(values: str, printed: list[str], tmp_path: Path) -> None:
    notes = notes_of(CONTROL_PLANE, values, tmp_path, *_KARMADA)
    assert re.findall(r" create token (\S+) --duration 8760h$", notes, re.MULTILINE) == printed


@pytest.mark.parametrize("of_types", [False, True])
def test_kubeconfig_of_the_types_api_is_named_where_it_runs(*, of_types: bool, tmp_path: Path) -> None:
    notes = notes_of(SERVER, f"typesApi.enabled={str(of_types).lower()}", tmp_path)
    assert ("Secret karta-interpreter-types-api-kubeconfig" in notes) is of_types


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        ("fullnameOverride=karta-interpreter", None),
        ("fullnameOverride=mine", "registration.service=karmada-system/mine:443"),
        (
            "fullnameOverride=karta-interpreter,service.externalName=karta-interpreter.karta.svc.cluster.local",
            "registration.service=karmada-system/karta-interpreter:443",
        ),
    ],
)
def test_service_that_the_certificate_lacks_is_warned_of(values: str, advice: str | None, tmp_path: Path) -> None:
    notes = notes_of(CONTROL_PLANE, values, tmp_path, *_KARMADA)

    assert ("registration.service" in notes, (advice or "") in notes) == (bool(advice), True)


@pytest.mark.parametrize(("name", "is_warned"), [("karta-interpreter", True), ("karta.example.com", False)])
def test_service_without_a_domain_is_warned_of(name: str, *, is_warned: bool, tmp_path: Path) -> None:
    notes = notes_of(CONTROL_PLANE, f"service.externalName={name}", tmp_path, *_KARMADA)

    assert (f"write {name}.NAMESPACE.svc.cluster.local" in notes) is is_warned


@pytest.mark.parametrize(("port", "is_warned"), [(443, True), (8443, False)])
def test_port_that_the_service_lacks_is_warned_of(port: int, *, is_warned: bool, tmp_path: Path) -> None:
    values = f"service.port=8443,registration.service=karmada-system/k-karta-interpreter:{port}"

    assert ("WARNING: registration.service has port 443" in notes_of(SERVER, values, tmp_path)) is is_warned
