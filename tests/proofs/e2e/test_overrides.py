"""Scripts in a folder answer instead of the Karta, as Karmada's own command line says they do."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.proofs.e2e.flow import flowing, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.binaries import build
from tests.proofs.rig.interpreter import Interpreter, run
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted
from tests.support.waiting import HANG

_JOBSET = kind_of("JobSet")
# Twice the pods of the definition's own answer; and health by an annotation, whatever the status says.
_SCRIPTS = {
    "replicaResource": """\
local karta = require("karta")
function GetReplicas(obj)
  local replicas, requires = karta.getReplicas(obj)
  return replicas * 2, requires
end
""",
    "healthInterpretation": """\
function InterpretHealth(obj)
  return obj.metadata.annotations ~= nil and obj.metadata.annotations["example.com/well"] == "yes"
end
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of overrides that the server watches."""
    return tmp_path_factory.mktemp("overrides")


@pytest.fixture(scope="module")
def overridden(installed: Installed, folder: Path) -> Iterator[Interpreter]:
    """Our server with a folder of overrides."""
    server = installed.serve("--overrides", folder)
    installed.registered({"url": server.url})
    yield server
    installed.stop(server)


@pytest.fixture
def override(folder: Path) -> Iterator[Path]:
    """An override for JobSets, gone afterwards."""
    file = folder / "jobset.yaml"
    file.write_text(yaml.safe_dump(_customization(_JOBSET.api_version, "JobSet", _SCRIPTS)), encoding="utf-8")
    yield file
    file.unlink(missing_ok=True)


def test_override_prevails_over_karta_until_deleted(overridden: Interpreter, override: Path) -> None:
    pods = _JOBSET.stages[0].pods
    took = _counted(overridden, pods * 2)
    override.unlink()
    back = _counted(overridden, pods)
    say(f"  the script answers after {took:.1f} s, the Karta again after {back:.1f} s")


def test_karmada_schedules_by_the_override(plane: ControlPlane, overridden: Interpreter, override: Path) -> None:
    pods = _JOBSET.stages[0].pods
    _counted(overridden, pods * 2)
    with flowing(plane, _JOBSET, _JOBSET.workload("overridden"), weighted(1, 1)) as flow:
        binding = flow.scheduled({"member1": pods, "member2": pods})
        assert binding["spec"]["replicas"] == pods * 2
        assert binding["spec"]["replicaRequirements"]["resourceRequest"] == _JOBSET.requires
        flow.members({})
        override.unlink()
        _counted(overridden, pods)
        flow.edited("once")
        until("the binding counts as the Karta does", lambda: flow.binding()["spec"]["replicas"] == pods)
        flow.saw(f"without the override: {pods} pods")


_DEPLOYMENT: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "generation": 3, "labels": {"app": "web"}},
    "spec": {
        "replicas": 3,
        "paused": False,
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "serviceAccountName": "web",
                "volumes": [{"name": "data", "emptyDir": {}}, {"name": "conf", "configMap": {"name": "web-conf"}}],
                "containers": [
                    {
                        "name": "main",
                        "image": "web:1",
                        "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {"cpu": 1}},
                        "env": [],
                    }
                ],
            },
        },
    },
    "status": {"observedGeneration": 3, "replicas": 3, "readyReplicas": 2, "availableReplicas": 2.5},
}
_ITEMS = [
    {"clusterName": "member1", "applied": True, "status": {"replicas": 2, "readyReplicas": 2}},
    {"clusterName": "member2", "applied": True, "status": {"replicas": 1, "readyReplicas": 0}},
]
_ALL_SCRIPTS = {
    "replicaResource": """\
local kube = require("kube")
function GetReplicas(obj)
  return obj.spec.replicas, kube.accuratePodRequirements(obj.spec.template)
end
""",
    "componentResource": """\
local kube = require("kube")
function GetComponents(obj)
  local main = { name = "main", replicas = obj.spec.replicas }
  main.replicaRequirements = kube.accuratePodRequirements(obj.spec.template)
  return { main, { name = "side", replicas = 0 } }
end
""",
    "replicaRevision": """\
function ReviseReplica(obj, desired)
  obj.spec.replicas = desired
  obj.spec.template.metadata.annotations = { note = "for " .. desired .. " of " .. desired / 2 }
  return obj
end
""",
    "retention": """\
function Retain(desired, observed)
  desired.spec.replicas = observed.spec.replicas
  desired.spec.paused = nil
  return desired
end
""",
    "statusAggregation": """\
function AggregateStatus(obj, items)
  local sum = 0
  for i = 1, #items do sum = sum + items[i].status.readyReplicas end
  obj.status = { readyReplicas = sum, share = sum / 3, empty = {} }
  return obj
end
""",
    "statusReflection": """\
function ReflectStatus(obj)
  return { ready = obj.status.readyReplicas, available = obj.status.availableReplicas, none = {} }
end
""",
    "healthInterpretation": """\
function InterpretHealth(obj)
  return obj.status.readyReplicas == obj.spec.replicas
end
""",
    "dependencyInterpretation": """\
local kube = require("kube")
function GetDependencies(obj)
  return kube.getPodDependencies(obj.spec.template, obj.metadata.namespace)
end
""",
}
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
    observed = json.loads(json.dumps(_DEPLOYMENT))
    observed["spec"]["replicas"] = 5
    full = json.loads(json.dumps(_DEPLOYMENT))
    del full["spec"]["template"]["spec"]["volumes"][0], full["spec"]["template"]["spec"]["containers"][0]["env"]
    documents = {
        "customization.yaml": [_customization("apps/v1", "Deployment", _ALL_SCRIPTS)],
        "object.yaml": [_DEPLOYMENT],
        "observed.yaml": [observed],
        "full.yaml": [full],
        "items.yaml": _ITEMS,
    }
    for name, content in documents.items():
        (here / name).write_text(yaml.safe_dump_all(content), encoding="utf-8")
    return here


@pytest.mark.usefixtures("plane")
@pytest.mark.parametrize("operation", _ASKED)
def test_interpret_prints_what_karmadactl_prints(files: Path, operation: str) -> None:
    arguments = [f"--operation={operation}", "-f", str(files / "customization.yaml")]
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


def _customization(api_version: str, kind: str, scripts: dict[str, str]) -> Object:
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": f"{kind.lower()}-override"},
        "spec": {
            "target": {"apiVersion": api_version, "kind": kind},
            "customizations": {field: {"luaScript": text} for field, text in scripts.items()},
        },
    }


def _counted(server: Interpreter, expected: int) -> float:
    """Wait until the server counts that many pods, and return the seconds."""
    begun = time.monotonic()
    until(f"{expected} pods", lambda: server.ask("InterpretReplica", _JOBSET.workload("x")).get("replicas") == expected)
    return time.monotonic() - begun
