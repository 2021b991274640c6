"""The log tells once what an answer lacks: resources that a definition does not read, and what cannot be read."""

import json
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering import call_log
from karta_interpreter.webhook.answering.call_log import AnswerGaps
from karta_interpreter.webhook.answering.calls import Calls
from tests.proofs.audit.definitions import GROUP, with_children
from tests.support.waiting import HANG
from tests.webhook.logs import capture_logs
from tests.webhook.process.client import question


async def _ask(calls: Calls, left_out: AnswerGaps, operation: str = "InterpretReplica", **spec: object) -> list[str]:
    obj = {"apiVersion": f"{GROUP}/v1", "kind": "Mill", "metadata": {"name": "x"}, "spec": spec}
    with capture_logs() as said:
        assert json.loads(await calls.answer(question("Mill", operation, object=obj), HANG))["response"]["successful"]
        left_out.look()
    return [entry["place"] for entry in said if "place" in entry]


@pytest.mark.catalogue
@pytest.mark.parametrize(
    ("kind", "lookup", "lacking", "reason", "whole"),
    [
        pytest.param("Rollout", GVK("apps", "v1", "Deployment"),
                     {"workloadRef": {"kind": "Deployment", "name": "shop"}},
                     "there is no Deployment shop; create it on the control plane of Karmada, "
                     "or give commands --reference-file with what `kubectl get --output=yaml -- Deployment` prints",
                     {"template": {"spec": {"containers": []}}}, id="an absent object"),
        pytest.param("Workflow", GVK("argoproj.io", "v1alpha1", "WorkflowTemplate"),
                     {"entrypoint": "main", "templates": [{"name": "main", "podSpecPatch": "{}"}]},
                     "a podSpecPatch is text that may change requests of pods",
                     {"entrypoint": "main", "templates": [{"name": "main"}]},
                     id="requests that cannot be known"),
    ],
)  # fmt: skip
async def test_log_names_once_why_requests_are_unknown(
    kind: str, lookup: GVK, lacking: dict[str, Any], reason: str, whole: dict[str, Any]
) -> None:
    store, gvk = Store(), GVK("argoproj.io", "v1alpha1", kind)
    store.load()
    known = Known.of([], [lookup])
    calls, left_out = Calls(store, Options()), AnswerGaps(lambda: known)
    calls.observers = (left_out.see,)

    async def reasons(spec: dict[str, Any]) -> list[str]:
        obj = {**gvk.type_meta, "metadata": {"name": "shop", "namespace": "web"}, "spec": spec}
        body = {"uid": "u", "kind": gvk._asdict(), "name": "shop", "operation": "InterpretReplica", "object": obj}
        with capture_logs() as said:
            await calls.answer(json.dumps({"request": body}).encode(), HANG)
            left_out.look()
        return [entry["reason"] for entry in said if "reason" in entry]

    assert await reasons(lacking) == [reason]
    assert await reasons(lacking) == []
    assert await reasons(whole) == []
    calls.close()


async def test_log_names_each_place_of_resources_left_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mill.yaml").write_text(json.dumps(with_children("mill", "Mill", 2)))
    store = Store([tmp_path], catalogue=False)
    store.load()
    calls, left_out = Calls(store, Options()), AnswerGaps()
    calls.observers = (left_out.see,)
    sidecars = [{"resources": {"limits": {"cpu": amount}}} for amount in "12"]
    assert await _ask(calls, left_out, sidecars=sidecars) == ["spec.sidecars[0].resources"]
    assert await _ask(calls, left_out, sidecars=sidecars) == []
    assert await _ask(calls, left_out, "InterpretHealth", more={"resources": {"limits": {"cpu": "1"}}}) == []
    assert await _ask(calls, left_out, more={"resources": {"limits": {"cpu": "1"}}, "text": "x" * 2**16}) == []
    assert await _ask(calls, left_out, more={"resources": {"limits": {"cpu": "1"}}}) == ["spec.more.resources"]
    monkeypatch.setattr(call_log, "_MOST_SUBJECTS", 2)
    assert await _ask(calls, left_out, other={"resources": {"limits": {"cpu": "1"}}}) == [], "there may be any number"
    calls.close()


async def test_log_names_once_which_dependencies_cannot_be_read(tmp_path: Path) -> None:
    karta = with_children("mill", "Mill", 1)
    needed = (
        "[{apiVersion: v1, kind: Secret, name: '.spec.keys[]'}, {apiVersion: v1, kind: ConfigMap, name: .spec.flour}]"
    )
    karta["metadata"]["annotations"] = {"karta-interpreter.io/dependencies": needed}
    (tmp_path / "mill.yaml").write_text(json.dumps(karta))
    store = Store([tmp_path], catalogue=False)
    store.load()
    calls, left_out = Calls(store, Options()), AnswerGaps()
    calls.observers = (left_out.see,)

    async def reasons(**spec: object) -> list[str]:
        obj = {"apiVersion": f"{GROUP}/v1", "kind": "Mill", "metadata": {"name": "x", "namespace": "web"}, "spec": spec}
        with capture_logs() as said:
            answer = json.loads(await calls.answer(question("Mill", "InterpretDependency", object=obj), HANG))
            left_out.look()
        assert [one["name"] for one in answer["response"]["dependencies"]] == ["rye"]
        return [entry["reason"] for entry in said if "reason" in entry]

    (reason,) = await reasons(keys=7, flour="rye")
    assert "mill, Secret: " in reason
    assert "7" not in reason, "the log has no content of an object"
    assert await reasons(keys=8, flour="rye") == []
    calls.close()


@pytest.mark.catalogue
async def test_log_names_once_and_metric_counts_what_stays_as_it_runs() -> None:
    store, gvk, kept = Store(), GVK("jobset.x-k8s.io", "v1alpha2", "JobSet"), list[GVK]()
    store.load()
    calls, gaps = Calls(store, Options()), AnswerGaps(kept=kept.append)
    calls.observers = (gaps.see,)

    async def places(replicas: int, operator: str = "All") -> list[str]:
        jobs = [{"name": "w", "replicas": number, "template": {"spec": {}}} for number in (replicas, 4)]
        desired, observed = (
            {**gvk.type_meta, "metadata": {"name": "train", "namespace": "ml"}}
            | {"spec": {"replicatedJobs": [job], "successPolicy": {"operator": policy}}}
            for job, policy in zip(jobs, (operator, "All"), strict=True)
        )
        body = {"uid": "u", "kind": gvk._asdict(), "name": "train", "operation": "Retain", "object": desired}
        with capture_logs() as said:
            await calls.answer(json.dumps({"request": body | {"observedObject": observed}}).encode(), HANG)
            gaps.look()
        return [entry["place"] for entry in said if "stays as it runs until" in entry["event"]]

    assert await places(4) == []
    assert await places(2) == ["spec.replicatedJobs[0].replicas"]
    assert await places(3, "Any") == ["spec.successPolicy.operator"]
    assert kept == [gvk, gvk]
    calls.close()
