from copy import deepcopy
from dataclasses import replace

import pytest
from msgspec import structs

from karta_interpreter import Karta, Workload
from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.sources import find_in_catalogue
from karta_interpreter.engine.operations import Call, interpret
from karta_interpreter.engine.verification import Question, Verdict, aggregation, judge_crd
from tests.engine.verification.member import (
    DEFINITION,
    NOW,
    SHOP,
    Thing,
    container,
    deployment,
    evidence,
    judged,
    pod,
    verdicts,
    workload,
)
from tests.support.rows import rows

OK, DIFFERS, UNJUDGED = Verdict

SCHEMA: Thing = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer"},
                "template": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


def _crd(*served: str) -> Thing:
    versions = [{"name": name, "served": True, "schema": {"openAPIV3Schema": SCHEMA}} for name in served]
    return {
        "metadata": {"name": "shops"},
        "spec": {"group": "example.io", "names": {"kind": "Shop"}, "versions": versions},
    }


@rows(
    ("replicas", "served", "reasons"),
    [
        pytest.param("replicas", ["v1"], [], id="every-path-is-there"),
        pytest.param("size", ["v1"], ["has no field .spec.size"], id="a-path-that-the-version-lacks"),
        pytest.param("replicas", ["v2"], ["the CRD does not serve v1, only v2"], id="another-version"),
    ],
)
def test_definition_is_compared_with_served_version(replicas: str, served: list[str], reasons: list[str]) -> None:
    definition = Karta.load(DEFINITION.replace(".spec.replicas", f".spec.{replicas}")).definition

    found = list(judge_crd(definition, _crd(*served)))
    assert [each.verdict for each in found] == [DIFFERS] * len(reasons)
    for each, reason in zip(found, reasons, strict=True):
        assert reason in each.reason


def test_field_that_several_expressions_read_is_one_difference() -> None:
    scale = "replicasPath: .spec.size\n        maxReplicasPath: .spec.size"
    definition = Karta.load(DEFINITION.replace("replicasPath: .spec.replicas", scale)).definition

    (found,) = judge_crd(definition, _crd("v1"))
    assert found.field.endswith("scaleDefinition.replicasPath")


_JOB_SET = GVK("jobset.x-k8s.io", "v1alpha2", "JobSet")


def _served(schema: Thing, gvk: GVK = _JOB_SET) -> Thing:
    versions = [{"name": gvk.version, "served": True, "schema": {"openAPIV3Schema": schema}}]
    names = {"group": gvk.group, "names": {"kind": gvk.kind}}
    return {"metadata": {"name": "served"}, "spec": {**names, "versions": versions}}


# The schema of the second is of an earlier release than that of the version which its Karta is written for.
@rows("gvk", [_JOB_SET, GVK("apps.kruise.io", "v1alpha1", "BroadcastJob")])
def test_fields_that_the_release_of_the_catalogue_lacks_are_named(gvk: GVK) -> None:
    entry, known = find_in_catalogue(gvk), catalogue_schemas()[gvk]
    assert entry
    schema: Thing = {**deepcopy(known.schema)}
    assert list(judge_crd(entry.definition, _served(schema, gvk))) == []

    spec = schema["properties"]["spec"]["properties"]
    spec["surge"] = {"type": "object", "properties": {"pods": {"type": "integer"}}}
    (found,) = judge_crd(entry.definition, _served(schema, gvk))
    assert found.verdict is UNJUDGED
    assert found.reason == (
        f"the CRD has fields that {known.crd}, which the definition was written from, has not: .spec.surge"
    )


def test_definition_of_another_release_is_not_compared_with_the_schema_of_the_catalogue() -> None:
    entry = find_in_catalogue(_JOB_SET)
    schema: Thing = {**deepcopy(catalogue_schemas()[_JOB_SET].schema)}
    assert entry
    schema["properties"]["spec"]["properties"]["surge"] = {"type": "integer"}
    annotations = structs.replace(entry.definition.annotations, written_from="JobSet 99.0")
    assert list(judge_crd(replace(entry.definition, annotations=annotations), _served(schema))) == []


def test_status_without_loss_is_no_difference() -> None:
    assert verdicts(Question.STATUS, evidence(deployment())) == [(OK, "")]


def test_object_without_status_is_not_judged() -> None:
    job = workload("batch/v1", "Job", {"template": {"spec": {"containers": [container()]}}})

    assert verdicts(Question.STATUS, evidence(job)) == [(UNJUDGED, "it has no status")]


def test_field_that_a_merged_status_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(definition: Definition, call: Call, **_: object) -> Thing:
        given = interpret(definition, call)
        return {"aggregatedStatus": {"status": {}}} if call.operation == "AggregateStatus" else dict(given)

    monkeypatch.setattr(aggregation, "interpret", losing)
    shop = workload("example.io/v1", "Shop", {}, {"phase": "Deployed"})
    (found,) = judged(Question.STATUS, evidence(shop), SHOP)
    assert (found.verdict, found.reason) == (DIFFERS, "a merged status lacks .status.phase")
    assert found.field == "metadata.annotations.karta-interpreter.io/aggregate"


def test_workload_names_the_differences_of_its_crd() -> None:
    shop = workload("example.io/v1", "Shop", {"replicas": 1, "template": {"spec": {"containers": [container()]}}})
    found = Workload(SHOP, shop)

    assert [each.reason for each in found.verify([pod(1)], crd=_crd("v1"), now=NOW) if each.question == "CRD"] == []
    assert found.verify([pod(1)], crd=_crd("v2"), now=NOW)[-1].reason == "the CRD does not serve v1, only v2"
    with pytest.raises(WorkloadError, match="a CRD is a dict"):
        found.verify([pod(1)], crd=["v2"])  # type: ignore[arg-type]
