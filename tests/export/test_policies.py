"""Policies of Karmada, which do what the definition does itself."""

from collections.abc import Sequence
from typing import Any

import pytest

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s.edit import get, set_value
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.workload import Karta, Workload
from karta_interpreter.export.policies import Direction, failover_policy, switch_policy, switch_policy_of
from tests.catalogue.entries import entries

_SUSPENDABLE = [
    pytest.param(entry.definition, entry.objects, id=entry.definition.name)
    for entry in entries()
    if entry.definition and entry.definition.suspend and entry.definition.gvk.kind != "VirtualMachine"
]


@pytest.mark.parametrize("direction", ["suspend", "resume"])
def test_override_of_a_kind_with_two_switches_needs_the_object(direction: Direction) -> None:
    with pytest.raises(ExportError, match="depends on its spec; give --object"):
        switch_policy(_of("kubevirt.io/v1", "VirtualMachine"), direction)


@pytest.mark.parametrize("direction", ["suspend", "resume"])
@pytest.mark.parametrize(("definition", "objects"), _SUSPENDABLE)
def test_override_switches_workload_as_its_definition_does(
    definition: Definition, objects: Sequence[Object], direction: Direction
) -> None:
    compared = 0
    for obj in objects:
        patched: Any = obj
        for patch in _overriders(switch_policy(definition, direction).manifest):
            assert patch["operator"] == "add"
            *parents, last = [step.replace("~1", "/").replace("~0", "~") for step in patch["path"][1:].split("/")]
            if not isinstance(get(patched, tuple(parents)), dict):
                break  # as Karmada would: the comment above the policy names what has to be there
            patched = set_value(patched, (*parents, last), patch["value"])
        else:
            workload = Workload(Karta(definition), set_value(obj, ("metadata", "name"), "a"))
            switched = workload.suspend() if direction == "suspend" else workload.resume()
            assert set_value(patched, ("metadata", "name"), "a") == switched.object
            compared += 1
    assert compared


def _overriders(policy: Any) -> Any:
    (rule,) = policy["spec"]["overrideRules"]
    return rule["overriders"]["plaintext"]


def _of(api_version: str, kind: str) -> Definition:
    found = find_in_catalogue(GVK.parse(api_version, kind))
    assert found
    return found.definition


def test_override_selects_kind_and_clusters() -> None:
    policy = switch_policy(_of("jobset.x-k8s.io/v1alpha2", "JobSet"), "suspend", ["m1", "m2"])
    assert policy.manifest == {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "suspend-jobset-x-k8s-io-jobset-v1alpha2"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}],
            "overrideRules": [
                {
                    "targetCluster": {"clusterNames": ["m1", "m2"]},
                    "overriders": {"plaintext": [{"operator": "add", "path": "/spec/suspend", "value": True}]},
                }
            ],
        },
    }


def test_override_names_what_template_needs() -> None:
    notes = " ".join(switch_policy(_of("flink.apache.org/v1beta1", "FlinkDeployment"), "suspend").notes)
    assert "all clusters" in notes
    assert "needs spec.job in the template" in notes
    assert "--resume" in notes


def test_kind_that_cannot_be_suspended_has_no_override() -> None:
    with pytest.raises(ExportError, match="has no suspendDefinition"):
        switch_policy(_of("apps/v1", "Deployment"), "suspend")


_FAILING = [
    pytest.param(entry.definition, id=entry.definition.name)
    for entry in entries()
    if entry.definition and entry.definition.answers(Operation.INTERPRET_HEALTH)
]


@pytest.mark.parametrize("definition", _FAILING)
def test_failover_policy_is_one_that_karmada_accepts(definition: Definition) -> None:
    """By `ValidateApplicationFailover` in Karmada's `pkg/util/validation`."""
    policy: Any = failover_policy(definition).manifest
    assert policy["spec"]["propagateDeps"], "failover needs it"
    application = policy["spec"]["failover"]["application"]
    assert application["decisionConditions"]["tolerationSeconds"] >= 0
    assert ("gracePeriodSeconds" in application) == (application["purgeMode"] == "Gracefully")
    assert application["purgeMode"] == "Directly" or "statePreservation" not in application


def test_failover_policy_preserves_state_of_flink() -> None:
    policy: Any = failover_policy(_of("flink.apache.org/v1beta1", "FlinkDeployment"))
    assert policy.manifest["spec"]["failover"]["application"] == {
        "decisionConditions": {"tolerationSeconds": 900},
        "purgeMode": "Directly",
        "statePreservation": {
            "rules": [{"aliasLabelName": "karta-interpreter.io/replaced-job", "jsonPath": "{ .jobStatus.jobId }"}]
        },
    }
    assert "StatefulFailoverInjection" in " ".join(policy.notes)


def test_failover_policy_follows_family() -> None:
    job: Any = failover_policy(_of("batch/v1", "Job")).manifest
    service: Any = failover_policy(_of("apps/v1", "Deployment")).manifest
    assert job["spec"]["failover"]["application"] == {
        "decisionConditions": {"tolerationSeconds": 300},
        "purgeMode": "Directly",
    }
    assert service["spec"]["failover"]["application"] == {
        "decisionConditions": {"tolerationSeconds": 900},
        "purgeMode": "Gracefully",
        "gracePeriodSeconds": 600,
    }


def test_object_in_queue_has_no_override() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "team"}}}
    with pytest.raises(ExportError, match=r"belongs to the queue.*spec\.active of its Workload"):
        switch_policy_of(_of("batch/v1", "Job"), "suspend", job, [{"op": "add", "path": "/spec/suspend"}], ())


def test_override_of_kind_names_label_of_queue_or_nothing() -> None:
    assert "label kueue.x-k8s.io/queue-name" in " ".join(switch_policy(_of("batch/v1", "Job"), "resume").notes)
    bucket = switch_policy(_of("source.toolkit.fluxcd.io/v1", "Bucket"), "resume")
    assert "queue" not in " ".join(bucket.notes)


def _entries() -> list[tuple[Definition, Sequence[Object]]]:
    return [(entry.definition, entry.objects) for entry in entries() if entry.definition]


def test_policies_of_all_kinds_have_names_of_their_own() -> None:
    answered = [each for each, _ in _entries() if each.answers(Operation.INTERPRET_HEALTH)]
    names = [str(get(failover_policy(each).manifest, ("metadata", "name"))) for each in answered]
    assert len({*names}) == len(names)
    assert all(len(name) <= 63 for name in names), "Karmada rejects longer ones"


def test_policies_of_kinds_without_namespaces_are_of_the_cluster() -> None:
    without = {each.name for each, objs in _entries() if not any(get(obj, ("metadata", "namespace")) for obj in objs)}
    kinds = {each.name: failover_policy(each).manifest["kind"] for each, _ in _entries()}
    assert {name for name, kind in kinds.items() if kind == "ClusterPropagationPolicy"} == without != set()


def test_policy_of_a_kind_that_the_caller_calls_cluster_scoped() -> None:
    definition = _of("apps/v1", "Deployment")
    assert failover_policy(definition, cluster_scoped=True).manifest["kind"] == "ClusterPropagationPolicy"
