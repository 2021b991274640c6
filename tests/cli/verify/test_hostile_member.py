"""Members that answer what no API server does, and pods that name more owners than anybody has."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from click.testing import Result
from hypothesis import HealthCheck, example, given, settings, strategies as st

from karta_interpreter.clusters.member import Tree
from tests.clusters.member_server import DEPLOYMENTS, PODS, REPLICA_SETS, MemberServer, serving, shops
from tests.engine.verification.member import Thing
from tests.support.examples import EXAMPLES

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]

_ANSWERS: list[tuple[str, Any, str]] = [
    ("a list without items", {"metadata": {}}, "the answer is no list"),
    ("a Status", {"kind": "Status", "message": "ok"}, "the answer is no list"),
    ("items that are no list", {"items": {"a": 1}}, "the answer is no list"),
]
_VALUES: list[tuple[str, Any, str]] = [
    ("no object", "x", "a Pod is no object"),
    ("null", None, "a Pod is no object"),
    ("no metadata", {"spec": {}}, "metadata is missing"),
    ("metadata: null", {"metadata": None}, "metadata is missing"),
    ("metadata that is a list", {"metadata": []}, "another type than Kubernetes gives it"),
    ("no name", {"metadata": {"uid": "1"}}, "name is missing"),
    ("no uid", {"metadata": {"name": "odd"}}, "Pod odd.metadata.uid is missing"),
    ("labels that are a list", {"metadata": {"name": "odd", "uid": "1", "labels": []}}, "labels has another type"),
    ("containers of text", {"metadata": {"name": "odd", "uid": "1"}, "spec": {"containers": ["x"]}}, "another type"),
    ("a status of text", {"metadata": {"name": "odd", "uid": "1"}, "status": "ok"}, "another type"),
    ("another kind", {"kind": "Secret", "metadata": {"name": "odd", "uid": "1"}}, "a Secret is in the list of Pod"),
]


def _verify(run: Run, folder: Path, member: MemberServer, *options: str) -> Result:
    with serving(member):
        result = run("verify", "-A", "--kubeconfig", member.kubeconfig(folder), *options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def _tree(run: Run, folder: Path, member: MemberServer, *arguments: str) -> Result:
    with serving(member):
        result = run("tree", *arguments, "--kubeconfig", member.kubeconfig(folder))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


class _Answering(MemberServer):
    """A member that answers the list of a path with something else."""

    other: dict[str, Any]

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, Any]:
        return (200, self.other[path]) if path in self.other else super().answer(path, query)


@pytest.mark.parametrize(("answer", "line"), [pytest.param(*row[1:], id=row[0]) for row in _ANSWERS])
def test_answer_that_is_no_list_is_one_line(run: Run, tmp_path: Path, answer: Any, line: str) -> None:
    member = _Answering(shops("a", "b"))
    member.other = {"/api/v1/configmaps": answer}
    result = _verify(run, tmp_path, member, "-o", "json")

    assert [problem for problem in json.loads(result.stdout)["problems"] if line in problem]
    assert {each["object"] for each in json.loads(result.stdout)["results"]} >= {"team/a", "team/b"}


@pytest.mark.parametrize(("value", "line"), [pytest.param(*row[1:], id=row[0]) for row in _VALUES])
def test_item_that_is_no_pod_is_one_line(run: Run, tmp_path: Path, value: Any, line: str) -> None:
    for number in (1, 3):
        member = _Answering(shops("a"))
        pods = [{**pod} for pod in member.collections[PODS]]
        member.other = {PODS: {"items": [*pods, *[value] * number]}}
        result = _verify(run, tmp_path, member)
        (problem,) = [text for text in result.stderr.splitlines() if "is not judged" in text]
        assert line in problem
        assert ("and neither are 2 more" in problem) == (number == 3)
        assert "team/a" in result.stdout
        shown = _tree(run, tmp_path, member, "deploy/a", "-n", "team")
        assert (shown.exit_code, "2 current" in shown.stdout) == (0, True)


@pytest.mark.parametrize("path", [DEPLOYMENTS, REPLICA_SETS, "/api/v1/serviceaccounts"])
def test_item_of_any_list_costs_others_nothing(run: Run, tmp_path: Path, path: str) -> None:
    for _, value, _ in _VALUES:
        member = _Answering(shops("a"))
        others = [{**obj} for obj in member.collections.get(path, [])]
        if value is None or (isinstance(value, dict) and "containers" in str(value)):
            continue
        member.other = {path: {"items": [value, *others]}}
        assert "team/a" in _verify(run, tmp_path, member).stdout


_PATHS = (PODS, DEPLOYMENTS, REPLICA_SETS, "/api/v1/configmaps", "/apis", "/apis/apps/v1", "/api/v1")
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "name", "uid", "spec", "status", "ownerReferences", "labels", "items", "kind"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=EXAMPLES * 3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(PODS, {"items": [{"metadata": {"name": "a", "uid": "b", "ownerReferences": [{"uid": 1}, {}, None]}}]})
@given(st.sampled_from(_PATHS), _JSON)
def test_any_answer_is_shown_without_traceback(run: Run, tmp_path: Path, path: str, answer: Any) -> None:
    member = _Answering(shops("a"))
    member.other = {path: answer}
    _verify(run, tmp_path, member)
    _tree(run, tmp_path, member, "deploy", "-A")


def _crossed(number: int, *, between: bool = False) -> MemberServer:
    """Return Deployments and pods that each name all of them as their owners, perhaps through ReplicaSets."""
    member = MemberServer(shops(*(f"d{each}" for each in range(number)), replicas=1, proxied=False), page=1000)
    for path, owned_by in ((PODS, REPLICA_SETS if between else DEPLOYMENTS), (REPLICA_SETS, DEPLOYMENTS)):
        kind = "ReplicaSet" if owned_by == REPLICA_SETS else "Deployment"
        owners: list[Thing] = []
        for obj in member.collections[owned_by]:
            named = {name: obj["metadata"][name] for name in ("name", "uid")}
            owners.append({"apiVersion": "apps/v1", "kind": kind, **named})
        for obj in member.collections[path]:
            obj["metadata"]["ownerReferences"] = owners
    return member


def _decoded(run: Run, folder: Path, member: MemberServer, *arguments: str) -> int:
    """Return how often an object that was read is unpacked."""
    calls = 0

    def see(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is Tree.get.__code__

    with serving(member):
        config = member.kubeconfig(folder)
        sys.setprofile(see)
        try:
            run(*arguments, "--kubeconfig", config)
        finally:
            sys.setprofile(None)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("between", [False, True], ids=["directly", "through ReplicaSets"])
@pytest.mark.parametrize("command", [("verify", "-A"), ("tree", "deploy", "-A")], ids=lambda command: str(command[0]))
def test_work_is_linear_in_references(run: Run, tmp_path: Path, command: tuple[str, ...], *, between: bool) -> None:
    few, many = (_decoded(run, tmp_path, _crossed(number, between=between), *command) for number in (50, 100))
    assert many < 2.5 * few


def test_more_workloads_of_a_pod_than_anybody_has_are_one_line(run: Run, tmp_path: Path) -> None:
    member = _crossed(40)
    report = json.loads(_verify(run, tmp_path, member, "-o", "json").stdout)
    shown = _tree(run, tmp_path, member, "deploy", "-A")

    assert len([text for text in report["problems"] if "more than 32" in text]) == 1
    assert shown.stderr.count("more than 32") == 1
    counted = [each for each in report["results"] if each["question"] == "InterpretReplica"]
    assert {each["verdict"] for each in counted if each["kind"] == "Deployment"} == {"unjudged"}


def test_all_owners_are_read(run: Run, tmp_path: Path) -> None:
    """Also those that are no controller, as Flink's operator names the object of its Deployment."""
    member = MemberServer(shops("a"))
    for path in (PODS, REPLICA_SETS):
        for obj in member.collections[path]:
            (owner,) = obj["metadata"]["ownerReferences"]
            others = [{**owner, "uid": f"gone-{number}", "controller": True} for number in range(31)]
            obj["metadata"]["ownerReferences"] = [*others, {**owner, "controller": False}]
    result = _tree(run, tmp_path, member, "deploy/a", "-n", "team")
    assert "2 current" in result.stdout


def test_pod_of_another_namespace_is_not_counted(run: Run, tmp_path: Path) -> None:
    """An owner of an object is in its namespace, so anybody else may write what they like."""
    member = MemberServer(shops("a"))
    (owner,) = member.collections[PODS][0]["metadata"]["ownerReferences"]
    other: Thing = {**member.collections[PODS][0]}
    other["metadata"] = {**other["metadata"], "namespace": "other", "uid": "other", "ownerReferences": [owner]}
    member.collections[PODS].append(other)
    result = _tree(run, tmp_path, member, "deploy", "-A", "-o", "json")
    (item,) = json.loads(result.stdout)["items"]
    assert item["currentReplicas"] == 2


def test_label_that_ends_like_a_time_is_read(run: Run, tmp_path: Path) -> None:
    member = MemberServer(shops("a"))
    for path in (PODS, REPLICA_SETS, DEPLOYMENTS):
        for obj in member.collections[path]:
            chosen = {"example.com/runtime": "python", "time": "noon"}
            obj["metadata"] |= {"labels": chosen, "annotations": chosen}
    result = _verify(run, tmp_path, member)
    assert "not judged" not in result.output
    assert "2 current" in _tree(run, tmp_path, member, "deploy/a", "-n", "team").stdout
