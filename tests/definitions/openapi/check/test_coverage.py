"""Parts of a schema that look like what answers depend on."""

from typing import Any

import pytest

from karta_interpreter.definitions.openapi.check.coverage import relevant
from tests.support.rows import rows

_NUMBER = {"type": "integer"}
_TEXT = {"type": "string"}
_SWITCH = {"type": "boolean"}
_OPEN = {"x-kubernetes-preserve-unknown-fields": True}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: object) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _map(values: object) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


_RESOURCES = _object(limits=_map(_NUMBER), requests=_map(_NUMBER))
_CONTAINERS = _list(_object(name=_TEXT, image=_TEXT, resources=_RESOURCES))
_CLAIM = _object(metadata=_object(), spec=_object(accessModes=_list(_TEXT), resources=_RESOURCES), status=_object())
_POD: dict[str, Any] = _object(
    containers=_CONTAINERS,
    initContainers=_CONTAINERS,
    nodeSelector=_map(_TEXT),
    tolerations=_list(_object(key=_TEXT)),
    volumes=_list(_object(name=_TEXT, ephemeral=_object(volumeClaimTemplate=_CLAIM))),
)
_TEMPLATE = _object(metadata=_object(), spec=_POD)


def _parts(spec: dict[str, Any], scale: str = "", **rest: object) -> dict[str, str]:
    schema = _object(spec=_object(**spec), **rest)
    return {part.path.jq: part.sort.name for part in relevant(schema, scale)}


@rows(
    ("spec", "parts"),
    [
        pytest.param({"template": _TEMPLATE}, {".spec.template": "PODS"}, id="a pod template is one part"),
        pytest.param({"jobs": _list(_POD)}, {".spec.jobs[]": "PODS"}, id="a pod spec in a list"),
        pytest.param({"template": _OPEN}, {".spec.template": "PODS"}, id="an open template by its name"),
        pytest.param({"template": _TEXT}, {}, id="a text with the name of a template"),
        pytest.param(
            {"predictor": _object(**_POD["properties"], minReplicas=_NUMBER, model=_object(resources=_RESOURCES))},
            {
                ".spec.predictor": "PODS",
                ".spec.predictor.minReplicas": "COUNT",
                ".spec.predictor.model.resources": "RESOURCES",
            },
            id="fields next to those of a pod",
        ),
        pytest.param(
            {"roles": _map(_object(replicas=_NUMBER, resources=_RESOURCES))},
            {".spec.roles[].replicas": "COUNT", ".spec.roles[].resources": "RESOURCES"},
            id="a count and resources of each role",
        ),
        pytest.param({"resources": _OPEN}, {".spec.resources": "RESOURCES"}, id="open resources by their name"),
        pytest.param(
            {"master": _object(cpu={}, memory=_TEXT)}, {".spec.master": "RESOURCES"}, id="processors and memory"
        ),
        pytest.param(
            {"domain": _object(cpu={}, memory={}, resources=_RESOURCES)},
            {".spec.domain.resources": "RESOURCES"},
            id="resources next to processors",
        ),
        pytest.param({"minReplicas": _NUMBER, "maxReplicas": _NUMBER}, {".spec.minReplicas": "COUNT"}, id="bounds"),
        pytest.param({"parallelism": _TEXT, "replicas": {}}, {}, id="counts are numbers"),
        pytest.param({"size": {"x-kubernetes-int-or-string": True}}, {}, id="a guess of a count without pods"),
        pytest.param({"workerCount": _NUMBER, "slotsPerWorker": _NUMBER}, {".spec.workerCount": "COUNT"}, id="workers"),
        pytest.param({"image": _TEXT, "poolSize": _NUMBER}, {".spec.poolSize": "COUNT"}, id="a count next to an image"),
        pytest.param(
            {"size": _NUMBER, "template": _TEMPLATE},
            {".spec.size": "COUNT", ".spec.template": "PODS"},
            id="a guess of a count next to pods",
        ),
        pytest.param({"volumeClaimTemplates": _list(_CLAIM)}, {".spec.volumeClaimTemplates[]": "CLAIMS"}, id="claims"),
        pytest.param(
            {"devices": _list(_object(name=_TEXT, resourceClaimName=_TEXT))},
            {".spec.devices[]": "CLAIMS"},
            id="devices",
        ),
        pytest.param(
            {"runPolicy": _object(suspend=_SWITCH), "paused": _SWITCH, "stop": _TEXT, "pauseSeconds": _NUMBER},
            {".spec.runPolicy.suspend": "SWITCH", ".spec.paused": "SWITCH"},
            id="switches",
        ),
        pytest.param(
            {"nodeSelector": _map(_TEXT), "affinity": _object(nodeAffinity=_object(), podAffinity=_object())},
            {".spec.nodeSelector": "NODES", ".spec.affinity": "NODES"},
            id="nodes",
        ),
        pytest.param(
            {"affinity": _object(nodeAffinity=_object(), nodeSelector=_map(_TEXT))},
            {".spec.affinity.nodeAffinity": "NODES", ".spec.affinity.nodeSelector": "NODES"},
            id="nodes in an object of the operator",
        ),
        pytest.param({"storage": _object(pvcTemplate=_CLAIM["properties"]["spec"])}, {}, id="the size of a claim"),
    ],
)
def test_relevant_lists_parts_that_answers_depend_on(spec: dict[str, Any], parts: dict[str, str]) -> None:
    assert _parts(spec) == parts


def test_relevant_reads_nothing_of_a_status() -> None:
    assert _parts({}, status=_object(replicas=_NUMBER)) == {}


@rows(
    ("spec", "scale", "parts"),
    [
        pytest.param({"members": _NUMBER}, ".spec.members", [".spec.members"], id="a name that tells nothing"),
        pytest.param({"replicas": _NUMBER}, ".spec.replicas", [".spec.replicas"], id="a count is there once"),
        pytest.param(
            {"roles": _map(_object(replicas=_NUMBER))},
            ".spec.roles.Worker.replicas",
            [".spec.roles[].replicas"],
            id="a key of a map stands for all",
        ),
    ],
)
def test_relevant_has_the_count_of_the_scale_subresource(spec: dict[str, Any], scale: str, parts: list[str]) -> None:
    assert [*_parts(spec, scale)] == parts
