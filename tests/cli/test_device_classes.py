"""The option `--device-class` of the commands: what it takes, and what `interpret` and `explain` say of claims."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from karta_interpreter.cli.options import MOST_CLASSES
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.wire.recording import head, line
from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  template:
    spec:
      resourceClaims:
      - {name: gpus, resourceClaimTemplateName: two-gpus}
      - {name: shared, resourceClaimName: shared}
      containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}, claims: [{name: gpus}]}}]
"""
REFERENCES = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two-gpus, namespace: ml}
spec:
  spec:
    devices:
      requests:
      - {name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}
      - {name: watch, exactly: {deviceClassName: gpu.nvidia.com, adminAccess: true}}
      - {name: nic, exactly: {deviceClassName: nic.example.com}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: nic.example.com}
spec: {extendedResourceName: example.com/nic}
"""
MAPPED = ("--device-class", "gpu.nvidia.com=nvidia.com/gpu")


@pytest.fixture
def asked(files: Path) -> tuple[str, ...]:
    (files / "train.yaml").write_text(JOB)
    (files / "references.yaml").write_text(REFERENCES)
    return "train.yaml", "--operation", "InterpretReplica", "--reference-file", "references.yaml"


def test_interpret_counts_claims_by_mappings_and_device_classes(run: Run, asked: tuple[str, ...]) -> None:
    result = run("interpret", *asked, *MAPPED, "-o", "json")

    requires = json.loads(result.stdout)["operations"]["InterpretReplica"]["results"]["requires"]
    assert requires == {"resourceRequest": {"nvidia.com/gpu": "3", "example.com/nic": "1"}}
    assert result.stderr == (
        "warning: job: claim shared of ResourceClaim shared: pods may share it, so no pod counts it: pods may request "
        "more than the answer\n"
    )


def test_interpret_counts_no_claim_without_the_option(run: Run, asked: tuple[str, ...]) -> None:
    result = run("interpret", *asked, "-o", "json")

    requires = json.loads(result.stdout)["operations"]["InterpretReplica"]["results"]["requires"]
    assert requires == {"resourceRequest": {"nvidia.com/gpu": "1"}}
    assert "the definition looks up no objects" in result.stderr


def test_explain_names_claim_class_and_amount(run: Run, asked: tuple[str, ...]) -> None:
    explanation = json.loads(run("explain", *asked, *MAPPED, "-o", "json").stdout)["explanations"][0]
    facts = {fact["note"]: fact for fact in explanation["facts"]}

    note = (
        "job: nvidia.com/gpu 3 a pod, named by a, the limit in place of a request that is not set, claim gpus of "
        "ResourceClaimTemplate two-gpus (2 of class gpu.nvidia.com)"
    )
    assert facts[note]["value"] == "3"
    assert facts[note]["answer"] == "/requires/resourceRequest/nvidia.com~1gpu"
    assert "/spec/template/spec/resourceClaims/0" in [place["pointer"] for place in facts[note]["places"]]
    known = "job: claim gpus of ResourceClaimTemplate two-gpus counts nothing: adminAccess takes no device from others"
    assert facts[known]["rule"] == "claim"
    (unknown,) = [fact for fact in explanation["facts"] if fact.get("severity")]
    assert unknown["rule"] == "requests-unknown"


def test_suite_counts_claims_of_its_references(run: Run, files: Path) -> None:
    job, *references = [*yaml.safe_load_all(JOB), *yaml.safe_load_all(REFERENCES)]
    case = {
        "name": "claims",
        "description": "Both classes stand for a resource.",
        "operation": "InterpretReplica",
        "references": references,
        "desiredObj": job,
        "output": {
            "replica": 1,
            "requires": {"resourceRequest": {"nvidia.com/gpu": "3", "example.com/nic": "1"}},
        },
    }
    (files / "claims" / "testdata").mkdir(parents=True)
    (files / "claims" / "testdata" / "suite.yaml").write_text(yaml.safe_dump(case))

    karta = ("-f", str(Path(__file__).parents[2] / "kartas/batch/v1/Job/karta.yaml"))
    assert run("test", "claims", *karta).exit_code == 1
    result = run("test", "claims", *karta, *MAPPED)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("claims", "is_left_out"),
    [
        pytest.param([{"name": "gpus", "resourceClaimTemplateName": "two-gpus"}], True, id="pods with a claim"),
        pytest.param([], False, id="pods without a claim"),
    ],
)
def test_replay_leaves_out_what_depends_on_templates(
    run: Run, files: Path, claims: list[dict[str, str]], is_left_out: bool
) -> None:
    spec = {"replicas": 3, "template": {"spec": {"containers": [{"name": "main"}], "resourceClaims": claims}}}
    obj = {"apiVersion": "example.io/v1", "kind": "Job", "metadata": {"name": "demo"}, "spec": spec}
    kind = {"group": "example.io", "version": "v1", "kind": "Job"}
    request = {"uid": "u", "kind": kind, "name": "demo", "operation": "InterpretReplica", "object": obj}
    requirements = {"resourceRequest": {"nvidia.com/gpu": "2"}}
    response = {"uid": "u", "successful": True, "replicas": 3, "replicaRequirements": requirements}
    recorded = head(Options(device_classes=("gpu.nvidia.com=nvidia.com/gpu",)))
    recorded += line(1.0, json.dumps({"request": request}).encode(), json.dumps({"response": response}).encode())
    (files / "recordings").mkdir()
    (files / "recordings" / "calls-20260101T000000Z-00000000.jsonl.gz").write_bytes(gzip.compress(recorded))

    result = run("replay", "recordings", "--to", "karta.yaml")

    assert ("left out: Job: the definition reads other objects" in result.stderr) is is_left_out
    assert ("1 answer differs" in result.stderr) is not is_left_out


@rows(
    ("classes", "reason"),
    [
        pytest.param(["nvidia.com/gpu=gpu.nvidia.com"], "is not the name of a DeviceClass and an extended resource",
                     id="the other way round"),
        pytest.param(["gpu.nvidia.com=gpu"], "is not the name of a DeviceClass and an extended resource",
                     id="a resource that Karmada does not count"),
        pytest.param(["gpu.nvidia.com"], "or auto", id="a class without a resource"),
        pytest.param(["a=example.com/a", "a=example.com/b"], "a has two resources: give one", id="two resources"),
        pytest.param([f"a{number}=example.com/a" for number in range(MOST_CLASSES + 1)],
                     f"{MOST_CLASSES + 1} classes are given, and {MOST_CLASSES} are read", id="too many"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["interpret", "serve"])
def test_classes_that_cannot_be_read_are_a_usage_error(
    run: Run, files: Path, command: str, classes: list[str], reason: str
) -> None:
    (files / "train.yaml").write_text(JOB)
    given = [part for each in classes for part in ("--device-class", each)]
    result = run(command, *(["train.yaml"] if command == "interpret" else ["--cluster"]), *given)

    assert result.exit_code == 2
    assert reason in result.stderr


@pytest.mark.usefixtures("files")
def test_serve_needs_a_control_plane_for_claims(run: Run) -> None:
    result = run("serve", *MAPPED)

    assert (result.exit_code, "--device-class has no effect without --cluster" in result.stderr) == (2, True)
