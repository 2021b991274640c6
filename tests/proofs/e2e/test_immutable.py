"""What an API server lets nobody change belongs to the member: every field, on an API server without controllers.

The template is what a control plane would have stored. The member's object was made from it by admission of the member,
and has another value of one field, one more field, or one less. Retain's answer is accepted, and changes only what may.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from http.client import RemoteDisconnected
from itertools import islice
from pathlib import Path as File
from typing import Final

import pytest
import yaml

from karta_interpreter.base.k8s import Object, Path, changes, get, remove, set_value
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from tests.catalogue.entries import entries
from tests.proofs.e2e.flow import say
from tests.proofs.e2e.immutable import Variation, variations
from tests.proofs.e2e.recorded_member import RecordedMember
from tests.proofs.rig.api import ApiError
from tests.proofs.rig.client import Client
from tests.support.examples import SWEEPS_ALL, few

_BASES: Final = yaml.safe_load(File(__file__).with_name("immutable_bases.yaml").read_text(encoding="utf-8"))
_NAMESPACE: Final = "immutable"
_DRY_RUN: Final = "?dryRun=All"
_TEMPLATE_OF_PODS: Final = ("spec", "template")
_POD_FIELDS: Final = ("activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations")
_MOST_TRIED: Final = 12
_CONTAINER: Final = {"image": "i", "imageID": "i", "ready": False, "restartCount": 0}
_REFUSALS: Final = {400, 403, 422, 500}

IsAllowed = Callable[[Path], bool]


def _in_pod(path: Path) -> bool:
    return path[1:2] in [(name,) for name in _POD_FIELDS] or path[-1] == "image"


def _in_gated_pod(path: Path) -> bool:
    return _in_pod(path) or path[:2] == ("spec", "nodeSelector") or path[:2] == ("spec", "affinity")


def _outside_of(*names: str) -> IsAllowed:
    return lambda path: not (path[0] == "spec" and path[1] in names)


def _in_suspended_job(path: Path) -> bool:
    place = path[2:]
    return (
        path[:2] != _TEMPLATE_OF_PODS
        or place[:1] == ("metadata",)
        or place[:2] in [("spec", name) for name in ("nodeSelector", "tolerations", "schedulingGates")]
        or place[:2] == ("spec", "affinity")
    )


_JOB: Final = ("selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_SET: Final = ("selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates")
# The base, the part that varies, what may change in it, and the fewest variations that an API server takes.
_LAWS: Final = (
    ("Pod", ("spec",), _in_pod, 500),
    ("Gated", ("spec",), _in_gated_pod, 500),
    ("Job", (*_TEMPLATE_OF_PODS, "spec"), _outside_of("template", *_JOB), 500),
    ("Suspended", (*_TEMPLATE_OF_PODS, "spec"), _in_suspended_job, 500),
    ("Indexed", ("spec",), _outside_of("template", *_JOB), 40),
    ("StatefulSet", ("spec",), _outside_of(*_SET), 40),
    ("Deployment", ("spec",), _outside_of("selector"), 20),
    ("ReplicaSet", ("spec",), _outside_of("selector"), 20),
    ("DaemonSet", ("spec",), _outside_of("selector"), 20),
)


@dataclass
class Judge:
    """One kind on an API server, with the objects that it has taken."""

    api: Client
    definition: Definition
    taken: dict[str, Object | None] = field(default_factory=dict)

    def stored(self, obj: Object, query: str = "") -> Object | None:
        """Return the object as the API server stores it, or None if it takes none like this."""
        key = query + json.dumps(obj, sort_keys=True)
        if key not in self.taken:
            try:
                self.taken[key] = self.api.request("POST", self.api.collection(dict(obj)) + query, obj)
            except ApiError as error:
                if error.status not in _REFUSALS:
                    raise
                self.taken[key] = None
            except RemoteDisconnected:  # it panics over some objects that are refused
                self.taken[key] = None
        return self.taken[key]

    def judge(self, variation: Variation, is_allowed: IsAllowed) -> str | None:
        """Return what is wrong, "" if nothing is, or None if one of the two objects cannot exist."""
        hub, member = self.stored(variation.template, _DRY_RUN), self.stored(variation.member)
        if hub is None or member is None:
            return None
        desired = _template(hub, member)
        retained = self._retained(desired, member)
        try:
            written = self.api.request("PUT", self.api.path(dict(retained)) + _DRY_RUN, retained)
        except ApiError as error:
            return f"refused: {error.message[:600]}"
        others = [path for path, *_ in changes(member["spec"], written["spec"]) if not is_allowed(("spec", *path))]
        if others:
            return f"changes {others}"
        again = self._retained(desired, written)
        return "" if again["spec"] == retained["spec"] else "the next answer is another one"

    def _retained(self, desired: Object, member: Object) -> Object:
        call = Call(Operation.RETAIN, deepcopy(desired), deepcopy(member))
        retained: Object = interpret(self.definition, call)["retained"]
        return retained


def _template(hub: Object, member: Object) -> Object:
    """Return a template as Karmada sends it: without what the API server of the control plane has generated."""
    metadata = {name: member["metadata"][name] for name in ("name", "namespace", "resourceVersion")}
    labels = hub["metadata"].get("labels")
    desired: Object = {**hub, "metadata": {**metadata, **({"labels": labels} if labels else {})}}
    desired = remove(desired, ("status",))
    return _pruned(desired) if hub["kind"] == "Job" else desired


def _pruned(job: Object) -> Object:
    """Return a Job without the labels of its controller (``removeGenerateSelectorOfJob`` in Karmada)."""
    for path in (("spec", "selector", "matchLabels"), ("spec", "template", "metadata", "labels")):
        labels = get(job, path) or {}
        kept = {name: value for name, value in labels.items() if not name.endswith(("controller-uid", "job-name"))}
        job = set_value(job, path, kept)
    return job


def _schemas(api: Client, obj: Object) -> Object:
    version = obj["apiVersion"]
    root = f"/openapi/v3/api/{version}" if version == "v1" else f"/openapi/v3/apis/{version}"
    schemas: Object = api.request("GET", root)["components"]["schemas"]
    return schemas


def _part(schemas: Object, obj: Object, path: Path) -> Object:
    """Return the schema of a part of a kind."""
    for found in schemas.values():
        for kind in found.get("x-kubernetes-group-version-kind", ()):
            if kind["kind"] == obj["kind"] and found.get("properties", {}).get("spec"):
                part: Object = found
                for step in path:
                    part = part["properties"][step]
                    reference = (part.get("allOf") or [part])[0].get("$ref", "")
                    part = schemas[reference.rpartition("/")[2]] if reference else part
                return part
    raise LookupError(obj["kind"])


def _definition(kind: str) -> Definition:
    groups = {"", "apps", "batch"}
    return next(
        each
        for each in (entry.definition for entry in entries())
        if each and each.gvk.kind == kind and each.gvk.group in groups
    )


@pytest.mark.parametrize(("name", "part", "is_allowed", "fewest"), _LAWS, ids=[law[0] for law in _LAWS])
def test_member_keeps_what_no_api_server_changes(
    member: RecordedMember, name: str, part: Path, is_allowed: IsAllowed, fewest: int
) -> None:
    member.api.add_namespace(_NAMESPACE)
    base = deepcopy(_BASES[name])
    base["metadata"] |= {"namespace": _NAMESPACE, "generateName": f"{name.lower()}-"}
    judge = Judge(member.api, _definition(base["kind"]))
    schemas = _schemas(member.api, base)
    assert member.api.request("POST", member.api.collection(base) + _DRY_RUN, base)

    def ask(alternatives: list[Variation]) -> str | None:
        for variation in islice(alternatives, _MOST_TRIED):
            verdict = judge.judge(variation, is_allowed)
            if verdict is not None:
                return f"{variation.how} {'.'.join(map(str, variation.path))}: {verdict}" if verdict else ""
        return None

    verdicts = member.for_each(ask, few([*variations(base, part, _part(schemas, base, part), schemas)], name))

    wrong = [verdict for verdict in verdicts if verdict]
    tried = [verdict for verdict in verdicts if verdict is not None]
    say(f"{name}: {len(tried)} of {len(verdicts)} variations can exist")
    assert not wrong, f"{len(wrong)} of {len(tried)}\n" + "\n".join(wrong)
    assert not SWEEPS_ALL or len(tried) >= fewest


@pytest.mark.parametrize(
    ("policy", "code", "is_refused"),
    [("Never", 0, True), ("Never", 1, True), ("OnFailure", 0, True), ("OnFailure", 1, False), ("Always", 0, False)],
)
def test_status_of_a_pod_that_is_back_is_accepted(
    member: RecordedMember, policy: str, code: int, *, is_refused: bool
) -> None:
    api, definition = member.api, _definition("Pod")
    api.add_namespace(_NAMESPACE)
    base = deepcopy(_BASES["Pod"])
    base["metadata"] |= {"namespace": _NAMESPACE, "generateName": "back-"}
    base["spec"] |= {"restartPolicy": policy}
    pod = api.request("POST", api.collection(base), base)
    name = base["spec"]["containers"][0]["name"]

    def written(state: Object, phase: str) -> Object:
        status = {"phase": phase, "containerStatuses": [{**_CONTAINER, "name": name, "state": state}]}
        items = (StatusItem("north", status),)
        answer: Object = interpret(definition, Call(Operation.AGGREGATE_STATUS, pod, items=items))["aggregatedStatus"]
        stored: Object = api.request("PUT", f"{api.path(dict(pod))}/status", answer)
        return stored

    running = {"running": {"startedAt": "2026-03-01T09:00:00Z"}}
    pod = written({"terminated": {"exitCode": code}}, "Failed" if code else "Succeeded")
    if is_refused:
        back = [{**_CONTAINER, "name": name, "state": running}]
        as_it_is = {**pod, "status": {**pod["status"], "containerStatuses": back}}
        with pytest.raises(ApiError, match="non-terminated"):
            api.request("PUT", f"{api.path(dict(pod))}/status{_DRY_RUN}", as_it_is)

    pod = written(running, "Running")
    assert ("containerStatuses" in pod["status"]) is not is_refused
    pod = written(running, "Running")
    assert pod["status"]["containerStatuses"][0]["state"] == running
