import copy
import json
import re
from pathlib import Path
from typing import Any

from karta_interpreter import Karta
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.clusters.reports import verify_folder
from tests.proofs.reality.controllers import CONTROLLERS
from tests.proofs.reality.findings import State
from tests.proofs.reality.recording import differences, looked_up, normalized, write
from tests.support.recorded import FOLDER, recorded, state_of


def _pod(name: str, uid: str, owner: str, *, ready: bool = True) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": "2026-01-01T10:00:07Z"}]
    metadata: dict[str, Any] = {"name": name, "namespace": "t-shop", "uid": uid, "resourceVersion": "77"}
    metadata |= {"ownerReferences": [{"kind": "Shop", "name": "it", "uid": owner, "controller": True}]}
    return {"kind": "Pod", "metadata": metadata, "spec": {"nodeName": "b"}, "status": {"conditions": conditions}}


def _document(first: str, second: str, owner: str, address: str) -> dict[str, Any]:
    uid = "11111111-2222-3333-4444-{:012}".format
    pods = [_pod(f"it-{first}", uid(1), owner), _pod(f"it-{second}", uid(2), owner, ready=False)]
    metadata = {"name": "it", "namespace": "t-shop", "uid": owner}
    obj = {"apiVersion": "example.io/v1", "kind": "Shop", "metadata": metadata, "status": {"head": address}}
    return {"workload": {"object": obj, "owners": [], "pods": pods}}


def test_two_runs_have_the_same_text() -> None:
    owners = "aaaaaaaa-2222-3333-4444-555555555555", "bbbbbbbb-2222-3333-4444-555555555555"
    one = _document("bbbbb", "ccccc", owners[0], "10.0.7.3")
    other = _document("zzzzz", "xxxxx", owners[1], "10.1.2.99")
    other["workload"]["pods"].reverse()
    texts = [normalized(each, "t-shop", "shop.1-running", lambda _: "then") for each in (one, other)]

    assert texts[0] == texts[1]
    assert "t-shop" not in texts[0]
    assert {pod["metadata"]["namespace"] for pod in json.loads(texts[0])["workload"]["pods"]} == {"shop.1-running"}


def test_folder_and_durations_of_a_run_are_not_in_the_text() -> None:
    owner = "aaaaaaaa-2222-3333-4444-555555555555"
    messages = (
        "lstat /somewhere/reality-aaaaaaaa/tmp/build-169338638/a after 292.322ms",
        "lstat /elsewhere/reality-bbbbbbbb/tmp/build-2454383136/a after 5.079s",
    )
    texts = [
        normalized(_document("bbbbb", "ccccc", owner, message), "t-shop", "shop.1-running", lambda _: "then")
        for message in messages
    ]

    assert texts[0] == texts[1]
    assert re.search(r'"lstat /tmp/build-1000\d{4}/a after 1s"', texts[0])


def test_pod_that_is_not_ready_any_more_is_a_difference(tmp_path: Path) -> None:
    workload = _document("bbbbb", "ccccc", "aaaaaaaa-2222-3333-4444-555555555555", "10.0.0.1")["workload"]
    for thing in (workload["object"], *workload["pods"]):
        thing["metadata"]["namespace"] = "shop.1-running"
    write("shop", [State("shop.1-running", workload)], tmp_path)
    changed = copy.deepcopy(workload)
    changed["pods"][0]["status"] = {}

    assert not [*differences([State("shop.1-running", workload)], tmp_path / "shop")]
    assert [each.what for each in differences([State("shop.1-running", changed)], tmp_path / "shop")] == [
        "recorded shop.1-running"
    ]


def test_step_that_is_recorded_in_one_run_only_is_a_difference_when_no_other_step_was_so(tmp_path: Path) -> None:
    workload = _document("bbbbb", "ccccc", "aaaaaaaa-2222-3333-4444-555555555555", "10.0.0.1")["workload"]
    again, unready = copy.deepcopy(workload), copy.deepcopy(workload)
    unready["pods"][0]["status"] = {}
    for step, each in (("1-running", workload), ("2-retain", again), ("3-stuck", unready)):
        for thing in (each["object"], *each["pods"]):
            thing["metadata"]["namespace"] = f"shop.{step}"
    running, same, stuck = (
        State("shop.1-running", workload),
        State("shop.2-retain", again),
        State("shop.3-stuck", unready),
    )
    write("shop", [running, same], tmp_path)

    assert not [*differences([running], tmp_path / "shop")]
    assert [each.what for each in differences([running, stuck], tmp_path / "shop")] == ["recorded shop.3-stuck"]
    assert not [*differences([running, stuck], tmp_path / "shop", {"shop.3-stuck"})]


def test_reference_without_a_namespace_is_written_once(tmp_path: Path) -> None:
    workload = _document("bbbbb", "ccccc", "aaaaaaaa-2222-3333-4444-555555555555", "10.0.0.1")["workload"]
    runtime = {"apiVersion": "example.io/v1", "kind": "ClusterRuntime", "metadata": {"name": "torch"}}
    own = [{**runtime, "kind": "Runtime", "metadata": {"name": "mine", "namespace": each}} for each in ("a.1", "a.2")]
    later = {**runtime, "metadata": {"name": "torch", "creationTimestamp": "2027-01-15T07:40:00Z"}}
    write("shop", [State("a.1", workload, (runtime, own[0])), State("a.2", workload, (later, own[1]))], tmp_path)

    written = json.loads((tmp_path / "shop" / "member.json").read_bytes())["references"]
    assert [(each["kind"], each["metadata"].get("namespace")) for each in written] == [
        ("ClusterRuntime", None),
        ("Runtime", "a.1"),
        ("Runtime", "a.2"),
    ]


def test_objects_that_a_workload_does_not_refer_to_are_not_recorded() -> None:
    rollout: dict[str, Any] = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "it", "namespace": "shop"},
    }
    rollout["spec"] = {"workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}
    metadata = [{"name": name, "namespace": "shop"} for name in ("web", "api")]
    saved = [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": each} for each in metadata]
    saved.append({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata[0]})

    assert looked_up(Karta.for_object(rollout).definition, rollout, saved) == saved[:1]


def test_recorded_folders_are_of_controllers_and_small() -> None:
    folders = [*FOLDER.iterdir()]

    assert {folder.name for folder in folders} <= {controller.name for controller in CONTROLLERS}
    assert sum(file.stat().st_size for folder in folders for file in folder.iterdir()) < 5 * 2**20


def test_recorded_states_have_names_of_their_own() -> None:
    for states in recorded().values():
        assert len({state_of(each) for each in states}) == len(states)


def test_verify_reads_a_recorded_folder() -> None:
    definition = Karta.for_object({"apiVersion": "apps/v1", "kind": "StatefulSet"}).definition
    report = verify_folder(FOLDER / "built-in", [definition], WorkloadSelection())

    assert report.results
    assert not report.problems
