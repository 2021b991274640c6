"""``tree`` of a real API server with the objects and pods that controllers have made, as a user runs it.

Expectations come from elsewhere: owner references, phases and requests from the API server (`owned.py`), and what each
controller says of its object (`operators.yaml`).
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import jq
import pytest
import yaml

from tests.proofs.e2e.flow import say
from tests.proofs.e2e.live_tree import pods_in, shown
from tests.proofs.e2e.owned import active, amounts, counted, is_ready, owned, requested
from tests.proofs.e2e.recorded_member import RecordedMember, State
from tests.proofs.rig.api import Object, named
from tests.proofs.rig.interpreter import run

pytestmark = pytest.mark.skipif("E2E_TREES" not in os.environ, reason="takes fifteen minutes: E2E_TREES=1 runs it")

_MEMBER_ROLE = Path(__file__).parents[3] / "deploy" / "member" / "clusterrole-verify.yaml"
_OPERATORS: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    Path(__file__).with_name("operators.yaml").read_text(encoding="utf-8")
)
_LEAST_CONTROLLERS = 10
_OTHER_REQUESTS: Mapping[tuple[str, str], str] = {
    ("apps/v1/Deployment", "kserve-agent"): "a webhook of KServe adds a container to the pods",
    ("apps/v1/ReplicaSet", "kserve-agent"): "a webhook of KServe adds a container to the pods",
    ("argoproj.io/v1alpha1/Workflow", "workflow-dag"): "a pod is of one template, and the row has the largest of each",
}
_OTHER_COUNTS: Mapping[tuple[str, str], str] = {
    ("argoproj.io/v1alpha1/Rollout", "rollout-stuck-bluegreen-4-running"): "it counts those of the active ReplicaSet",
    ("batch/v1/Job", "job-one-fails-3-fail-only"): "it has not counted the pod that has just failed",
}
_RUNNING = 2
_WRITERS = 4


class Things(NamedTuple):
    """Every workload, every object between and every pod of the member, by namespace."""

    by_namespace: Mapping[str, list[Object]]

    @classmethod
    def of(cls, member: RecordedMember) -> "Things":
        kinds = {(obj["apiVersion"], obj["kind"]) for state in member.states for obj in state.objects}
        by_namespace: dict[str, list[Object]] = defaultdict(list)
        for api_version, kind in sorted(kinds):
            everywhere = member.api.collection(named(api_version, kind, "", "x")).replace("/namespaces/x", "")
            for obj in member.api.request("GET", everywhere)["items"]:
                by_namespace[obj["metadata"]["namespace"]].append({**obj, "apiVersion": api_version, "kind": kind})
        return cls(by_namespace)

    def of_kind(self, kind: str) -> list[Object]:
        objects = chain.from_iterable(self.by_namespace.values())
        return [obj for obj in objects if f"{obj['apiVersion']}/{obj['kind']}" == kind]

    def below(self, obj: Object) -> list[Object]:
        return owned(self.by_namespace[obj["metadata"]["namespace"]], obj)

    def pods_of(self, obj: Object) -> list[Object]:
        """Return the pods of an object. Those of a pod are itself."""
        return [each for each in (obj, *self.below(obj)) if each["kind"] == "Pod"]


@pytest.fixture(scope="module")
def things(member: RecordedMember) -> Things:
    return Things.of(member)


@pytest.fixture(scope="module")
def rows(member: RecordedMember, reader: Path) -> Mapping[str, Mapping[tuple[str, str], Object]]:
    """What ``tree KIND -A -o json`` prints for each kind, by namespace and name."""
    controllers = {state.controller for state in member.states}
    say(f"{len(member.states)} states of {len(controllers)} controllers")
    assert len(controllers) >= _LEAST_CONTROLLERS
    kinds = sorted({state.kind for state in member.states})

    def read(kind: str) -> Mapping[tuple[str, str], Object]:
        return {(row["namespace"], row["name"]): row for row in shown(reader, kind, "-A")["items"]}

    with ThreadPoolExecutor(_RUNNING) as pool:
        return dict(zip(kinds, pool.map(read, kinds), strict=True))


def _place(obj: Object) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]


def _case(obj: Object) -> str:
    """Return the case of a recorded state, by its namespace, which ends with a number and a step."""
    return re.sub(r"-\d+-[a-z-]+$", "", obj["metadata"]["namespace"])


def test_rows_count_the_pods_below_each_object(
    things: Things, rows: Mapping[str, Mapping[tuple[str, str], Object]]
) -> None:
    differences, number, with_requests = [], 0, 0
    for kind, of_kind in rows.items():
        objects = things.of_kind(kind)
        assert of_kind.keys() == {_place(obj) for obj in objects}, kind
        for obj in objects:
            row, pods = of_kind[_place(obj)], things.pods_of(obj)
            numbers, expected = (row["currentReplicas"], row["readyReplicas"]), counted(pods)
            number += 1
            if numbers != expected:
                differences.append(f"{kind} {_place(obj)}: {numbers}, {expected} by the API server")
            if expected.current == row["replicas"] and (kind, _case(obj)) not in _OTHER_REQUESTS:
                with_requests += 1
                if amounts(row["totalRequests"]) != (total := requested(active(pods))):
                    differences.append(f"{kind} {_place(obj)}: {row['totalRequests']}, {total} by the API server")
    say(f"{number} objects of {len(rows)} kinds, the requests of {with_requests}")
    assert not differences, "\n".join(differences)


def test_rows_agree_with_what_controllers_say(
    things: Things, rows: Mapping[str, Mapping[tuple[str, str], Object]]
) -> None:
    differences, compared = [], set()
    for kind, of_kind in rows.items():
        for obj in things.of_kind(kind):
            # Most controllers no longer count the pods of what has ended.
            if _has_ended(obj) or (kind, obj["metadata"]["namespace"]) in _OTHER_COUNTS:
                continue
            counted_ready = of_kind[_place(obj)]["readyReplicas"]
            ready = _said(obj, "ready")
            if ready is None:
                ready = _said_below(things, obj)
            if ready not in (None, counted_ready):
                differences.append(f"{kind} {_place(obj)}: {counted_ready} ready, {ready} by its controller")
            running = _said(obj, "running")
            pods = [pod for pod in things.pods_of(obj) if pod.get("status", {}).get("phase") == "Running"]
            if running not in (None, len(pods)):
                differences.append(f"{kind} {_place(obj)}: {len(pods)} run, {running} by its controller")
            compared |= {kind} if (ready, running) != (None, None) else set()
    say(f"{len(compared)} kinds: {', '.join(sorted(compared))}")
    assert not differences, "\n".join(differences)


def _said(obj: Object, word: str) -> Any:
    """Return what a controller says in the status of its object, None if it says nothing of this."""
    expression = _OPERATORS.get(f"{obj['apiVersion']}/{obj['kind']}", {}).get(word)
    return _compiled(expression).input_value(obj.get("status", {})).first() if expression else None


_compiled = cache(jq.compile)


def _has_ended(obj: Object) -> bool:
    return bool(_said(obj, "completed") or _said(obj, "failed"))


def _said_below(things: Things, obj: Object) -> int | None:
    """Return how many pods are ready by the controllers that own them directly, None if one of them says nothing."""
    pods = active(things.pods_of(obj))
    direct = {owner["uid"] for pod in pods for owner in pod["metadata"].get("ownerReferences", ())}
    numbers = [_said(each, "ready") for each in (obj, *things.below(obj)) if each["metadata"]["uid"] in direct]
    return sum(numbers) if numbers and None not in numbers else None


@pytest.mark.parametrize("word", ["completed", "failed"])
def test_status_chooses_what_controllers_call_so(things: Things, reader: Path, word: str) -> None:
    number = 0
    for kind, words in _OPERATORS.items():
        if word not in words:
            continue
        expected = {_place(obj) for obj in things.of_kind(kind) if _said(obj, word)}
        rows = shown(reader, kind, "-A", "--status", word)["items"]
        assert {(row["namespace"], row["name"]) for row in rows} == expected, kind
        number += len(expected)
    assert number


def _chains(things: Things, states: list[State]) -> Iterator[Object]:
    """Yield of each chain of kinds between a workload and its pods the workload with most objects below it."""
    by_chain: dict[frozenset[str], Object] = {}
    for kind in sorted({state.kind for state in states}):
        obj = max(things.of_kind(kind), key=lambda each: len(things.below(each)))
        by_chain.setdefault(frozenset(each["kind"] for each in things.below(obj)), obj)
    yield from by_chain.values()


def test_tree_has_the_pods_below_its_object_and_no_other(member: RecordedMember, things: Things, reader: Path) -> None:
    for obj in _chains(things, member.states):
        namespace, name = _place(obj)
        arguments = f"{obj['apiVersion']}/{obj['kind']}/{name}", "-n", namespace, "--kubeconfig", reader
        texts = {form: run("tree", *arguments, "-o", form) for form in ("tree", "json", "yaml")}
        assert {form: (done.returncode, done.stderr) for form, done in texts.items()} == dict.fromkeys(texts, (0, ""))
        tree = json.loads(texts["json"].stdout)
        assert yaml.safe_load(texts["yaml"].stdout) == tree
        below = things.below(obj)
        pods = things.pods_of(obj)
        between = sorted({each["kind"] for each in below} - {"Pod"})
        say(f"  {obj['kind']:<20} {len(pods)} pods, below {', '.join(between) or 'itself'}")
        by_name = {pod["metadata"]["name"]: pod for pod in pods}
        assert sorted(pod["name"] for pod in pods_in(tree["root"])) == sorted(by_name)
        for pod in pods_in(tree["root"]):
            real = by_name[pod["name"]]
            assert (pod["phase"], pod["node"]) == (real["status"]["phase"], real["spec"]["nodeName"])
            assert pod["ready"] == is_ready(real)
            assert pod["name"] in texts["tree"].stdout
