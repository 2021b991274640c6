"""The four steps of docs/upgrade.md: what an upgrade would change is recorded, shown and decided before it."""

import json
from pathlib import Path

import yaml

from tests.proofs.e2e.flow import flowing, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kartas import karta_of
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.rig.api import until
from tests.proofs.rig.interpreter import run
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted

_KIND = kind_of("JobSet")
_LESS, _MORE = "(.replicas // 1) *", "2 * (.replicas // 1) *"


def test_upgrade_takes_four_steps(plane: ControlPlane, installed: Installed, tmp_path: Path) -> None:
    folder, changed = tmp_path / "recordings", tmp_path / "next.yaml"
    folder.mkdir()
    text = yaml.safe_dump(karta_of(_KIND), width=10_000)
    assert _LESS in text
    changed.write_text(text.replace(_LESS, _MORE), encoding="utf-8")

    workload, placed = _KIND.workload("recorded"), _KIND.stages[0]
    with installed.serving("--record", folder), flowing(plane, _KIND, workload, weighted(2, 1)) as flow:
        flow.members(placed.members)

    same = run("replay", folder)
    assert same.returncode == 0, f"{same.stdout}{same.stderr}"
    replayed = run("replay", folder, "--to", changed)
    say(f"{replayed.stdout}{replayed.stderr}")
    assert replayed.returncode == 1
    found = json.loads(run("replay", folder, "--to", changed, "-o", "json").stdout)
    assert {group["operation"] for group in found["groups"]} >= {"InterpretReplica"}
    assert {each["name"] for group in found["groups"] for each in group["examples"]} == {f"default/{flow.name}"}

    explained = run("replay", folder, "--to", changed, "--explain", found["groups"][0]["examples"][0]["uid"])
    say(explained.stdout)
    assert (explained.returncode, _MORE in explained.stdout) == (0, True), explained.stderr
    validated = run("validate", changed)
    assert validated.returncode == 0, f"{validated.stdout}{validated.stderr}"

    with installed.serving("--kartas", changed) as upgraded:
        until("it is ready", upgraded.ready)
        diagnosis = run("doctor", "--kubeconfig", installed.kubeconfig)
        assert (diagnosis.returncode, "problem" in diagnosis.stdout) == (0, False), diagnosis.stdout
