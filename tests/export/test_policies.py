"""The policies of Karmada that follow from definitions."""

from collections.abc import Iterator, Sequence
from typing import Any

from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import Operation
from karta_interpreter.export.policies import failover_policy
from tests.catalogue.entries import entries
from tests.support.rows import rows


def _of(api_version: str, kind: str) -> Definition:
    found = find_in_catalogue(GVK.parse(api_version, kind))
    assert found
    return found.definition


def _entries() -> Iterator[tuple[Definition, Sequence[Object]]]:
    """Yield the definitions of kinds that may move, with their objects."""
    for entry in entries():
        if entry.definition and entry.definition.answers(Operation.INTERPRET_HEALTH):
            yield entry.definition, entry.objects


@rows("definition", (each for each, _ in _entries()), ids=lambda each: each.name)
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


def test_policies_of_all_kinds_have_names_of_their_own() -> None:
    names = [str(get(failover_policy(each).manifest, ("metadata", "name"))) for each, _ in _entries()]
    assert len({*names}) == len(names)
    assert all(len(name) <= 63 for name in names), "Karmada rejects longer ones"


def test_policies_of_kinds_without_namespaces_are_of_the_cluster() -> None:
    without = {each.name for each, objs in _entries() if not any(get(obj, ("metadata", "namespace")) for obj in objs)}
    kinds = {each.name: failover_policy(each).manifest["kind"] for each, _ in _entries()}
    assert {name for name, kind in kinds.items() if kind == "ClusterPropagationPolicy"} == without != set()


def test_policy_of_a_kind_that_the_caller_calls_cluster_scoped() -> None:
    definition = _of("apps/v1", "Deployment")
    assert failover_policy(definition, cluster_scoped=True).manifest["kind"] == "ClusterPropagationPolicy"
