"""The commands for a control plane that answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.proofs.e2e.flow import say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kartas import karta_files
from tests.proofs.e2e.kinds import KINDS, kind_of
from tests.proofs.rig.api import named, until
from tests.proofs.rig.interpreter import Interpreter, run
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.layout import TOKEN
from tests.proofs.rig.plane import ControlPlane


def test_doctor_finds_nothing_wrong(installed: Installed, interpreter: Interpreter) -> None:
    until("it is ready", interpreter.ready)
    done = run("doctor", "--kubeconfig", installed.kubeconfig)
    say(f"{done.stdout}{done.stderr}")
    assert done.returncode == 0
    assert "problem" not in done.stdout


def test_export_prints_what_serve_registers(
    plane: ControlPlane, installed: Installed, interpreter: Interpreter
) -> None:
    crds = plane.karmada.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions") or {}
    file = plane.folder / "crds.yaml"
    items = [
        item | {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"} for item in crds["items"]
    ]
    file.write_text(yaml.safe_dump_all(items), encoding="utf-8")
    url, ca = interpreter.url, plane.authority.file
    definitions = ("--no-catalogue", *(option for karta in karta_files() for option in ("--kartas", karta)))
    done = run("export", "webhook-configuration", *definitions, "--url", url, "--ca-file", ca, "--crds", file)
    assert done.returncode == 0, done.stderr
    exported = yaml.safe_load(done.stdout)
    assert exported["webhooks"] == installed.registration()["webhooks"]
    assert len(exported["webhooks"]) == len(KINDS)
    for webhook in exported["webhooks"]:
        (rule,) = webhook["rules"]
        say(f"  {rule['kinds'][0]:<16} {' '.join(rule['operations'])}")


_MEMBER = "member1"
_KIND = kind_of("Deployment")
_SERVICE = _KIND.scaled(_KIND.workload("verified"), (0,))


@pytest.fixture
def proxied(plane: ControlPlane) -> Iterator[str]:
    """The path at which karmada-apiserver passes requests on to a member that has a workload."""
    secret = {"namespace": "karmada-cluster", "name": "impersonator"}
    # As `karmadactl join` does
    plane.karmada.apply({"apiVersion": "v1", "kind": "Secret", "metadata": secret, "stringData": {"token": TOKEN}})
    cluster = named("cluster.karmada.io/v1alpha1", "Cluster", _MEMBER)
    plane.karmada.merge(cluster, {"spec": {"impersonatorSecretRef": secret}})
    plane.members[_MEMBER].apply(_SERVICE)
    yield f"/apis/cluster.karmada.io/v1alpha1/clusters/{_MEMBER}/proxy"
    plane.members[_MEMBER].delete(_SERVICE)


def test_verify_reads_a_member_through_karmada(plane: ControlPlane, proxied: str, tmp_path: Path) -> None:
    direct = write_kubeconfig(tmp_path / "direct.config", plane.members[_MEMBER].port, plane.authority)
    port = plane.karmada.port
    through = write_kubeconfig(tmp_path / "through.config", port, plane.authority)
    through.write_text(through.read_text(encoding="utf-8").replace(f":{port}", f":{port}{proxied}"), encoding="utf-8")
    reports = [
        run("verify", "--kubeconfig", file, "-n", "default", "--object", "Deployment/verified")
        for file in (direct, through)
    ]
    say(reports[1].stdout)
    assert [report.returncode for report in reports] == [0, 0], reports[1].stderr
    assert reports[0].stdout == reports[1].stdout
