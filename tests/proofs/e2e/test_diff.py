"""`diff --from bindings` says what Karmada holds, and shows no difference once our server answers."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import yaml

from karta_interpreter.base.k8s import Quantity
from tests.proofs.e2e.accounts import account, bound
from tests.proofs.e2e.flow import Flow, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import KINDS, Kind, kind_of
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.interpreter import run
from tests.proofs.rig.kubeconfig import kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import DUPLICATED

_DEPLOY = Path(__file__).parents[3] / "deploy"
_ROLES = ("control-plane/clusterrole-diff.yaml", "member/clusterrole-verify.yaml")
_LEADERS = kind_of("LeaderWorkerSet")
_GET_PODS = """
function GetReplicas(obj)
  return (obj.spec.replicas or 1) * (obj.spec.leaderWorkerTemplate.size or 1), nil
end
"""
_OF_USER: Object = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterCustomization",
    "metadata": {"name": "of-a-user"},
    "spec": {
        "target": {"apiVersion": _LEADERS.api_version, "kind": _LEADERS.name},
        "customizations": {
            # The pods, not their groups
            "replicaResource": {"luaScript": _GET_PODS}
        },
    },
}
_REPLICAS = "InterpretReplica"


@pytest.fixture
def reader(plane: ControlPlane, tmp_path: Path) -> Path:
    """The kubeconfig of an account with the roles that docs/compare.md names, and no other."""
    subject, token = account(plane.karmada, "diff")
    for name in _ROLES:
        role: Object = yaml.safe_load((_DEPLOY / name).read_text(encoding="utf-8"))
        for each in (role, bound(role, subject)):
            plane.karmada.apply(each)
    file = tmp_path / "reader.config"
    file.write_text(kubeconfig(plane.karmada.port, plane.authority, {"token": token}), encoding="utf-8")
    return file


@pytest.fixture
def flows(plane: ControlPlane, installed: Installed) -> Iterator[list[Flow]]:
    """Two objects of each kind in both members, one of them running, while nobody but Karmada and a user answers."""
    run("unregister", "--kubeconfig", installed.kubeconfig)
    plane.karmada.apply(_OF_USER)
    plane.restart_components(multiple_pod_templates=False)
    flows = list[Flow]()
    try:
        for kind in KINDS:
            for name in ("held", "kept"):
                flows.append(Flow.begin(plane, kind, kind.workload(f"{name}-{kind.name.lower()}"), DUPLICATED))
        for flow in flows:
            _report(flow)
        yield flows
    finally:
        plane.karmada.delete(_OF_USER)
        for flow in flows:
            flow.end()


def _report(flow: Flow) -> None:
    others = [state for state in ("failed", "starting") if state in flow.kind.states]
    state = "running" if flow.name.startswith("held") else others[0]
    for name in flow.plane.members:
        until(f"{name} has {flow.name}", partial(flow.member, name))
    flow.report(**dict.fromkeys(flow.plane.members, state))

    def all_reported() -> bool:
        items = flow.binding().get("status", {}).get("aggregatedStatus", [])
        return len(items) == len(flow.plane.members) and all(item.get("status") for item in items)

    until(f"the binding of {flow.name} has what both members report", all_reported)
    flow.saw(f"{state} in both members")


def _diff(reader: Path, *options: str) -> CompletedProcess[str]:
    return run("diff", "--from", "bindings", "--to", "catalogue", "--kubeconfig", reader, *options)


def _recorded(binding: Object) -> int:
    annotations = binding["metadata"].get("annotations", {})
    return len(json.loads(annotations.get("resourcebinding.karmada.io/dependencies", "null")) or ())


def _is_what_karmada_holds(kind: Kind, summary: Object, flows: Sequence[Flow]) -> None:
    """Compare a summary with the bindings, and with the counts of the workload's file."""
    bindings, replicas = [flow.binding() for flow in flows], kind.stages[0].pods * len(flows)
    of_replica = {kind.stages[0].pods: kind.pods_of_replica}
    counted = [binding["spec"].get("replicas", 0) for binding in bindings]
    pods = {"from": sum(count * of_replica.get(count, 1) for count in counted), "to": replicas * kind.pods_of_replica}
    assert summary["objects"] == len(flows)
    assert summary["pods"] == pods
    for name, amount in kind.requires.items():
        asked = [binding["spec"].get("replicaRequirements", {}).get("resourceRequest", {}) for binding in bindings]
        counts = [binding["spec"].get("replicas", 0) for binding in bindings]
        today = sum(
            Quantity.parse(each.get(name, "0")).nanos * number for each, number in zip(asked, counts, strict=True)
        )
        shown = {side: Quantity.parse(text).nanos for side, text in summary["requests"][name].items()}
        assert shown == {"from": today, "to": Quantity.parse(amount).nanos * replicas}
    # Every workload names a ConfigMap and a Secret.
    more = 2 * len(flows) - sum(map(_recorded, bindings))
    assert summary["dependencies"] == {"more": more, "less": 0}


def test_diff_shows_what_karmada_holds_and_nothing_once_the_server_answers(
    plane: ControlPlane, installed: Installed, reader: Path, flows: list[Flow]
) -> None:
    def is_settled() -> Object | None:
        """Return the comparison once Karmada has answered about everything."""
        read: Object = json.loads(_diff(reader, "-o", "json").stdout)
        summaries = {(each["apiVersion"], each["kind"]): each for each in read["kinds"]}
        for kind in KINDS:
            mine = [flow for flow in flows if flow.kind is kind]
            try:
                _is_what_karmada_holds(kind, summaries[kind.api_version, kind.name], mine)
            except AssertionError as error:
                raise LookupError(f"{kind.name}: {error}") from error
        return read

    before = until("the summary is what Karmada holds", is_settled)
    done = _diff(reader)
    summary = done.stdout.partition("\n\n")[0]
    say(f"{summary}\n{done.stderr}")
    assert done.returncode == 1
    assert before["problems"] == []
    assert [kind["kind"] for kind in before["nobodyToday"]] == ["JobSet"]
    today = {kind["kind"]: kind["today"] for kind in before["kinds"]}
    assert today["LeaderWorkerSet"][_REPLICAS] == "customization of-a-user"
    assert {today[name]["InterpretHealth"] for name in ("Deployment", "RayCluster", "PyTorchJob")} == {"Karmada"}
    # Karmada calls healthy what nobody judges.
    health = [row for row in before["answers"] if row["kind"] == "JobSet" and row["operation"] == "InterpretHealth"]
    assert {(row["name"], row["cluster"]) for row in health} == {
        ("default/kept-jobset", name) for name in plane.members
    }

    plane.karmada.delete(_OF_USER)
    server = installed.serve()
    installed.registered({"url": server.url})
    plane.restart_components(multiple_pod_templates=False)

    def shows_nothing() -> bool:
        done = _diff(reader)
        if done.returncode:
            raise LookupError(f"{done.stdout}{done.stderr}")
        say(f"{done.stdout}{done.stderr}")
        return True

    until("diff shows no difference", shows_nothing)
    installed.stop(server)
