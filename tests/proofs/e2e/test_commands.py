"""The commands for a control plane that answers."""

import yaml

from tests.proofs.e2e.flow import say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kartas import karta_files
from tests.proofs.e2e.kinds import KINDS
from tests.proofs.rig.api import until
from tests.proofs.rig.interpreter import Interpreter, run
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
