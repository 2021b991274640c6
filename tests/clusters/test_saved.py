"""Folders with what a member showed: what is written, what is left out, and what is read again."""

import errno
import gzip
import os
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from karta_interpreter import Karta
from karta_interpreter.base.errors import RecordingError
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.clusters.reports import verify_folder
from karta_interpreter.clusters.saved import Saved, read_about, read_workloads, save
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.verification import Evidence, Verdict
from tests.clusters.evidence import defined, deployments, written_by_version_0_1
from tests.engine.test_redaction import REFERRING
from tests.engine.verification.member import NOW, container, evidence, pod, workload

pytestmark = pytest.mark.catalogue


def test_object_that_is_nested_too_deeply_costs_the_others_nothing(tmp_path: Path) -> None:
    left_out = save(tmp_path, Saved(NOW), defined(*deployments(1, 300)))
    text = gzip.decompress((tmp_path / "workloads.jsonl.gz").read_bytes())
    deeper = text.replace(b'{"a":1}', b'{"a":' * 600 + b"1" + b"}" * 600).replace(b'"d1"', b'"d600"')
    (tmp_path / "workloads.jsonl.gz").write_bytes(gzip.compress(text + deeper))
    written_by_version_0_1(tmp_path)
    report = verify_folder(tmp_path, [Karta.for_object(deployments(1)[0].object).definition], WorkloadSelection())

    assert [problem for problem in left_out if problem.endswith("d300 is not saved: it is nested too deeply")]
    assert "d1" in {result.name.rpartition("/")[2] for result in report.results if result.name}


@pytest.mark.parametrize(
    ("constant", "bound"),
    [pytest.param("_LONGEST", 2_000, id="one workload"), pytest.param("_MOST", 2_000, id="all workloads together")],
)
def test_folder_leaves_out_and_names_what_verify_would_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, constant: str, bound: int
) -> None:
    large, small = (
        evidence(workload("batch/v1", "Job", {}, {"note": "x" * length}, name=name))
        for name, length in (("large", 2_000), ("small", 1))
    )
    monkeypatch.setattr(f"karta_interpreter.clusters.saved.{constant}", bound)
    left_out = save(tmp_path, Saved(NOW), defined(large, small))
    about = read_about(tmp_path)
    assert [each.object["metadata"]["name"] for each in read_workloads(tmp_path, about)] == ["small"]
    assert [*about.problems] == left_out
    (problem,) = left_out
    assert "large is not saved" in problem


def test_save_of_too_much_about_member_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karta_interpreter.clusters.saved._LONGEST", 1000)
    save(tmp_path, Saved(0), [])
    with pytest.raises(RecordingError, match=r"member\.json has more than 1000 bytes; verify would not read it"):
        save(tmp_path, Saved(0, problems=("x" * 1000,)), [])


def test_folder_keeps_labels_that_tell_pods_apart(tmp_path: Path) -> None:
    # The MPI Operator gives the launcher its role in a label, and in a variable.
    launcher, worker = (
        pod(
            number,
            container(env=[{"name": "K_MPI_JOB_ROLE", "value": role}]),
            labels={"training.kubeflow.org/job-role": role},
            owner=owner,
        )
        for number, (role, owner) in enumerate([("launcher", "job"), ("worker", "it")])
    )
    launcher["metadata"]["namespace"] = worker["metadata"]["namespace"] = "with-launcher"
    template = {"template": {"spec": {"containers": [container()]}}}
    spec = {"mpiReplicaSpecs": {"Launcher": template, "Worker": {**template, "replicas": 1}}}
    running = {"conditions": [{"type": "Running", "status": "True"}]}
    obj = workload("kubeflow.org/v2beta1", "MPIJob", spec, running, namespace="with-launcher")
    owned = {"ownerReferences": [{"uid": "it", "controller": True}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "it-launcher", "uid": "job", **owned}}
    save(tmp_path, Saved(NOW), defined(evidence(obj, launcher, worker, owners=(job,))))

    selection = WorkloadSelection("with-launcher", "mpijob", "it")
    report = verify_folder(tmp_path, [Karta.for_object(obj).definition], selection)
    assert [each.judgement.verdict for each in report.results if each.judgement.question == "InterpretReplica"] == [
        Verdict.OK
    ]


def test_saved_references_keep_what_definitions_read(tmp_path: Path) -> None:
    definition = load_definition(yaml.safe_load(REFERRING))
    obj = {"apiVersion": "example.io/v1", "kind": "Mill", "metadata": {"name": "a"}, "spec": {"sizes": "large"}}
    sizes = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "large"},
        "data": {"pods": "3", "x": "hunter2"},
    }

    save(tmp_path, Saved(0, references=(sizes,)), [(definition, Evidence(obj))])

    (written,) = read_about(tmp_path).references
    assert written["data"]["pods"] == "3"
    assert written["data"]["x"].startswith("redacted-")


def _content(folder: Path) -> tuple[Saved, object]:
    about = read_about(folder)
    return about, [(each.object, each.pods) for each in read_workloads(folder, about)]


@pytest.mark.parametrize("name", ["member.json", "workloads.jsonl.gz"])
def test_damage_changes_no_saved_workload_without_a_word(tmp_path: Path, name: str) -> None:
    save(tmp_path, Saved(NOW, problems=("one",)), defined(*deployments(1, 2)))
    whole, path = _content(tmp_path), tmp_path / name
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        try:
            # Of a seal that is not one any more nothing else is damaged.
            about, workloads = _content(tmp_path)
            assert (replace(about, digest=""), workloads) == (replace(whole[0], digest=""), whole[1])
        except RecordingError:
            continue


def test_files_of_two_folders_are_told_apart(tmp_path: Path) -> None:
    for number in (1, 2):
        save(tmp_path / str(number), Saved(NOW), defined(*deployments(number)))
    (tmp_path / "1" / "workloads.jsonl.gz").replace(tmp_path / "2" / "workloads.jsonl.gz")
    with pytest.raises(RecordingError, match="not the content that was saved"):
        _content(tmp_path / "2")


def test_folder_of_version_0_1_is_read(tmp_path: Path) -> None:
    save(tmp_path, Saved(NOW), defined(*deployments(1)))
    written_by_version_0_1(tmp_path)
    assert [each.object["metadata"]["name"] for each in read_workloads(tmp_path, read_about(tmp_path))] == ["d1"]


@pytest.mark.parametrize("calls", [1, 2], ids=["the workloads", "the rest"])
def test_save_without_room_keeps_the_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    save(tmp_path, Saved(NOW), defined(*deployments(1)))
    older = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    left = [calls]

    def full(_: int) -> None:
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path, Saved(NOW), defined(*deployments(2)))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == older
