"""Resources of an object that its definition does not read."""

import json

import pytest

from karta_interpreter.base.k8s.values import JSON, field_path
from karta_interpreter.engine.explain import warnings_about
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.left_out import resources_left_out
from tests.engine.explain.conftest import Define, pods, train
from tests.support.rows import rows

CPU = {"requests": {"cpu": "1"}}


def _group(**fields: JSON) -> dict[str, JSON]:
    return {"name": "hot", "replicas": 1, "template": pods(), **fields}


@rows(
    ("group", "places"),
    [
        pytest.param(_group(template=pods(resources=CPU)), [], id="the resources of containers are read"),
        pytest.param(_group(resources=CPU), ["spec.groups[0].resources"], id="resources beside the template"),
        pytest.param(_group(sidecars=[{"computeResources": {"limits": {"memory": "1Gi"}}}]),
            ["spec.groups[0].sidecars[0].computeResources"], id="limits under another name, in a list"),
        pytest.param(_group(resources={"requests": {"storage": "1Gi"}}), [], id="a claim requests storage alone"),
        pytest.param(_group(resources={"requests": {}, "limits": None}), [], id="nothing is set"),
        pytest.param(_group(resources="2 CPUs"), [], id="no resources of Kubernetes' form"),
        pytest.param(_group(ephemeralContainers=[{"resources": CPU}]), [],
            id="an API server refuses resources for debugging"),
    ],
)  # fmt: skip
def test_resources_left_out_are_those_that_no_expression_reads(
    define: Define, group: dict[str, JSON], places: list[str]
) -> None:
    definition, obj = define({}), train(group)
    assert [field_path(path) for path in resources_left_out(definition, obj)] == places
    facts = warnings_about(definition, obj, Operation.INTERPRET_COMPONENT)
    assert [field_path(fact.places[0].path) for fact in facts if fact.rule == "resources-left-out"] == places
    assert not warnings_about(definition, obj, Operation.INTERPRET_DEPENDENCY)


def test_resources_of_parts_that_annotation_names_are_not_left_out(define: Define) -> None:
    obj = train(_group(resources=CPU, extra=[{"resources": CPU}]))
    parts = [{"unknown": ".spec.groups[].extra", "reason": "varies"}]
    definition = define({}, {"unread": json.dumps(parts)})
    assert [field_path(path) for path in resources_left_out(definition, obj)] == ["spec.groups[0].resources"]


def test_annotation_whose_places_are_unknown_leaves_out_nothing_that_is_read(define: Define) -> None:
    parts = [{"unknown": ".spec.groups[1:][]?.sidecar", "reason": "varies"}]
    definition = define({}, {"unread": json.dumps(parts)})
    assert resources_left_out(definition, train(_group(template=pods(resources=CPU)))) == []
