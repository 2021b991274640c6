"""Scripts in a folder answer instead of the Karta, as Karmada's own command line says they do."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.proofs.e2e.flow import flowing, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.rig.api import until
from tests.proofs.rig.binaries import build
from tests.proofs.rig.interpreter import Interpreter, run
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted
from tests.support.waiting import HANG

_JOBSET = kind_of("JobSet")
_SOURCE = Path(__file__).with_name("overrides")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("overrides")


@pytest.fixture(scope="module")
def overridden(installed: Installed, folder: Path) -> Iterator[Interpreter]:
    with installed.serving("--overrides", folder) as server:
        yield server


@pytest.fixture
def override(folder: Path) -> Iterator[Path]:
    """An override for JobSets, gone afterwards."""
    file = folder / "jobset.yaml"
    shutil.copy(_SOURCE / file.name, file)
    yield file
    file.unlink(missing_ok=True)


def test_override_prevails_over_karta_until_deleted(overridden: Interpreter, override: Path) -> None:
    pods = _JOBSET.stages[0].pods
    took = overridden.counts(_JOBSET.workload("x"), pods * 2)
    override.unlink()
    back = overridden.counts(_JOBSET.workload("x"), pods)
    say(f"  the script answers after {took:.1f} s, the Karta again after {back:.1f} s")


def test_karmada_schedules_by_the_override(plane: ControlPlane, overridden: Interpreter, override: Path) -> None:
    pods = _JOBSET.stages[0].pods
    overridden.counts(_JOBSET.workload("x"), pods * 2)
    with flowing(plane, _JOBSET, _JOBSET.workload("overridden"), weighted(1, 1)) as flow:
        binding = flow.scheduled({"member1": pods, "member2": pods})
        assert binding["spec"]["replicas"] == pods * 2
        assert binding["spec"]["replicaRequirements"]["resourceRequest"] == _JOBSET.requires
        flow.members({})
        override.unlink()
        overridden.counts(_JOBSET.workload("x"), pods)
        flow.edited("once")
        until("the binding counts as the Karta does", lambda: flow.binding()["spec"]["replicas"] == pods)
        flow.saw(f"without the override: {pods} pods")


_ASKED = {
    "InterpretReplica": ("--observed-file", "object.yaml"),
    "InterpretComponent": ("--observed-file", "object.yaml"),
    "ReviseReplica": ("--observed-file", "object.yaml", "--desired-replica", "7"),
    "Retain": ("--desired-file", "object.yaml", "--observed-file", "observed.yaml"),
    # Karmada loses what is empty outside of the status here, and then writes nothing but the status: we keep the rest.
    "AggregateStatus": ("--observed-file", "full.yaml", "--status-file", "items.yaml"),
    "InterpretStatus": ("--observed-file", "object.yaml"),
    "InterpretHealth": ("--observed-file", "object.yaml"),
    "InterpretDependency": ("--observed-file", "object.yaml"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A customization with a script for every operation, and what to ask it about."""
    here = tmp_path_factory.mktemp("files")
    for file in _SOURCE.iterdir():
        shutil.copy(file, here)
    text = (here / "object.yaml").read_text(encoding="utf-8")
    observed, full = yaml.safe_load(text), yaml.safe_load(text)
    observed["spec"]["replicas"] = 5
    spec = full["spec"]["template"]["spec"]
    del spec["volumes"][0], spec["containers"][0]["env"]
    for name, content in (("observed.yaml", observed), ("full.yaml", full)):
        (here / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    return here


@pytest.mark.usefixtures("plane")
@pytest.mark.parametrize("operation", _ASKED)
def test_interpret_prints_what_karmadactl_prints(files: Path, operation: str) -> None:
    arguments = [f"--operation={operation}", "-f", str(files / "deployment.yaml")]
    arguments += [str(files / word) if word.endswith(".yaml") else word for word in _ASKED[operation]]
    theirs = subprocess.run(
        [build(say) / "karmadactl", "interpret", *arguments],
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
        env={},
    )
    ours = run("interpret", *arguments)
    assert theirs.stdout, theirs.stderr
    assert (ours.stdout, ours.returncode) == (theirs.stdout, 0), ours.stderr
    sys.stdout.write(f"\n{ours.stdout}")
