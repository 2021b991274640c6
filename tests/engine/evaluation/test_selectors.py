"""The rules of Karta's `PodQuerier`."""

import json
from typing import Any

import pytest

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.definitions.karta.definition import ComponentRules
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.definitions.karta.model import PodSelector
from karta_interpreter.engine.evaluation.attribution import (
    extract_group_keys,
    extract_replica_key,
    instance_of,
    matches_component_type,
    passes_filters,
)
from karta_interpreter.engine.evaluation.evaluation import instance_ids
from karta_interpreter.languages.jq import Query
from tests.support.rows import rows

POD = {
    "metadata": {
        "name": "choir-0",
        "labels": {"part": "alto", "quoted": 'say "ah"', "dotted/name": "x_y.z:0", "empty": "", "umlaut": "Ärger"},
        "annotations": {"lead": "yes"},
    },
    "spec": {"priority": 1000000, "hostNetwork": False, "containers": [{"name": "main", "ports": [{"port": 8080}]}]},
}


def component(selector: PodSelector) -> ComponentRules:
    return ComponentRules("choir", "singer", selector=selector)


def selected(key: str | None = None, value: str | None = None, **labels: str) -> ComponentRules:
    written = {"keyPath": key, "value": value, "matchLabels": labels}
    return component(PodSelector.model_validate({"componentTypeSelector": written}))


def instance(path: str, *ids: str) -> str:
    """The instance of the pod, by a selector, in an object with these instances."""
    names = Query.compile(", ".join(map(json.dumps, ids)) or "empty")
    selector = PodSelector.model_validate({"componentInstanceSelector": {"idPath": path}})
    choir = ComponentRules("choir", "singer", instance_ids=names, selector=selector)
    return instance_of(choir, instance_ids(choir, {}), POD)


def by_replica(path: str) -> ComponentRules:
    return component(PodSelector.model_validate({"replicaSelector": {"keyPath": path}}))


def test_long_expression_is_quoted_once_and_cut() -> None:
    path = f"({' + '.join(['.metadata.labels.none'] * 20)}) - {{}}"
    with pytest.raises(WorkloadError) as caught:
        instance(path, "alto")
    assert str(caught.value).count("(.metadata") == 1
    assert len(str(caught.value)) < len(path)


@rows(
    ("singer", "matches"),
    [
        pytest.param(component(PodSelector()), False, id="without a selector no pod is recognised"),
        pytest.param(selected(".metadata.labels.part"), True, id="a key that is there"),
        pytest.param(selected(".metadata.labels.none"), False, id="a key that is not"),
        pytest.param(selected(".metadata.labels.empty"), True, id="an empty value is there"),
        pytest.param(selected(".spec.hostNetwork"), True, id="false is there"),
        pytest.param(selected(".metadata.labels.none, .metadata.labels.part"), True, id="any answer is enough"),
        pytest.param(selected("empty"), False, id="no answer is not"),
        pytest.param(selected(".metadata.labels.part", "alto"), True, id="the value"),
        pytest.param(selected(".metadata.labels.part", "bass"), False, id="another value"),
        pytest.param(selected(".metadata.labels.none", "alto"), False, id="no value"),
        pytest.param(selected(".metadata.labels.part", "Alto"), False, id="case counts"),
        pytest.param(selected(".metadata.labels.quoted", 'say "ah"'), True, id="quotes are escaped"),
        pytest.param(selected('.metadata.labels["dotted/name"]', "x_y.z:0"), True, id="special characters"),
        pytest.param(selected(".metadata.labels.part", "\\(.metadata.name)"), False, id="a value is not a program"),
        pytest.param(selected(".metadata.labels.umlaut", "Ärger"), True, id="text beyond ASCII"),
        pytest.param(selected(".spec.hostNetwork", "false"), False, id="a boolean is not its name"),
        pytest.param(selected(".spec.containers[].name", "main"), True, id="one of several answers"),
        pytest.param(selected(".metadata.labels.part # the voice", "alto"), True, id="a comment ends with its line"),
        pytest.param(
            selected(".metadata.labels.part // .metadata.labels.none", "alto"),
            False,
            id="without parentheses the alternative alone is compared, as in Karta",
        ),
        pytest.param(
            selected("(.metadata.labels.part // .metadata.labels.none)", "alto"), True, id="with them, what it gives"
        ),
        pytest.param(selected(part="alto"), True, id="labels alone"),
        pytest.param(selected(part="alto", lead="yes"), False, id="all of them, and annotations are none"),
        pytest.param(selected(".metadata.annotations.lead", "yes", part="alto"), True, id="labels and key"),
        pytest.param(selected(".metadata.annotations.lead", "no", part="alto"), False, id="labels without the key"),
        pytest.param(selected(".metadata.annotations.lead", "yes", part="bass"), False, id="the key without labels"),
    ],
)
def test_component_type(*, singer: ComponentRules, matches: bool) -> None:
    assert matches_component_type(singer, POD) is matches


@rows("pod", [{}, {"metadata": None}, {"metadata": {"labels": None}}])
def test_pod_without_labels_matches_no_component(pod: Any) -> None:
    assert not matches_component_type(selected(".metadata.labels.part", "alto"), pod)
    assert not matches_component_type(selected(part="alto"), pod)


@rows(
    ("path", "key"),
    [
        pytest.param(".metadata.labels.part", "alto", id="a label"),
        pytest.param(".spec.containers[0].ports[0].port", "8080", id="a number of the pod"),
        pytest.param(".spec.priority", "1e+06", id="a large one as Go's floats are written"),
        pytest.param(".spec.priority | tostring", "1000000", id="text of a number is text"),
        pytest.param('"1000000" | tonumber', "1000000", id="an integer that jq makes"),
        pytest.param(".metadata.labels | length", "5", id="a count"),
        pytest.param(".spec.hostNetwork", "false", id="a boolean, false is a key too"),
        pytest.param('.metadata.labels.none // "0"', "0", id="a default"),
        pytest.param(".metadata.labels.part | ascii_downcase", "alto", id="a computed text"),
    ],
)
def test_keys_are_text(path: str, key: str) -> None:
    paths = [PodQuery(path)]
    assert extract_group_keys(component(PodSelector()), paths, POD) == (key,)
    assert instance(path, "other", key) == key
    assert extract_replica_key(by_replica(path), POD) == key


def test_group_keys_are_one_for_each_path() -> None:
    paths = [PodQuery(".metadata.labels.part"), PodQuery(".metadata.name")]
    assert extract_group_keys(component(PodSelector()), paths, POD) == ("alto", "choir-0")
    assert extract_group_keys(component(PodSelector()), [], POD) == ()


def test_without_a_selector_there_is_no_key() -> None:
    assert extract_replica_key(component(PodSelector()), POD) is None


@rows(
    ("path", "reason"),
    [
        pytest.param(".metadata.labels.none", "gives null, which says nothing", id="null"),
        pytest.param(".metadata.labels.empty", 'gives "", which says nothing', id="an empty text"),
        pytest.param("empty", "gives 0 results where one belongs", id="no answer"),
        pytest.param(".metadata.labels[]", "gives 5 results where one belongs", id="several"),
        pytest.param(".metadata.labels", "gives an object; a key is", id="an object, which is not a key"),
        pytest.param(".spec.containers", "gives a list; a key is", id="nor is a list"),
        pytest.param(".metadata.name.first", "string", id="an expression that fails"),
        pytest.param(".metadata.[", "expected", id="one that is not jq"),
        pytest.param("env.HOME", "env", id="one that is not allowed"),
    ],
)
def test_answers_that_are_no_key(path: str, reason: str) -> None:
    paths = [PodQuery(path)]
    with pytest.raises(WorkloadError) as caught:
        extract_group_keys(component(PodSelector()), paths, POD)
    message = str(caught.value)
    assert message.startswith(f"definition choir, component singer, groupByKeyPaths `{path}`, pod choir-0: ")
    assert reason in message.partition("choir-0: ")[2]
    with pytest.raises(WorkloadError, match="idPath"):
        instance(path, "alto")


@rows("path", [".metadata.labels.none", ".metadata.labels.empty", "empty"])
def test_pod_without_replica_has_no_key(path: str) -> None:
    assert extract_replica_key(by_replica(path), POD) is None


@rows(
    ("path", "reason"),
    [(".metadata.labels[]", "gives 5 results"), (".metadata.labels", "gives an object"), (".metadata.name.first", "")],
)
def test_replica_key_must_be_a_single_value(path: str, reason: str) -> None:
    with pytest.raises(WorkloadError, match=rf"replicaSelector\.keyPath .*{reason}"):
        extract_replica_key(by_replica(path), POD)


def test_comparison_that_is_not_jq_fails_on_evaluation() -> None:
    with pytest.raises(WorkloadError, match=r'keyPath `\.a == "b"'):
        matches_component_type(selected('.a == "b"', "c"), POD)


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        pytest.param([], True, id="no filter keeps nothing out"),
        pytest.param(['.metadata.labels | has("part")'], True, id="true"),
        pytest.param(['.metadata.labels.part == "bass"'], False, id="false"),
        pytest.param(["true", ".metadata.labels.none == null"], True, id="all are true"),
        pytest.param(["true", "false", "true"], False, id="one is not"),
        pytest.param([".metadata.labels.part"], False, id="a text is not true"),
        pytest.param(["1"], False, id="nor is 1"),
        pytest.param(["false", "null"], False, id="after the first that is false none is asked"),
    ],
)
def test_filters(filters: list[str], *, passes: bool) -> None:
    assert passes_filters(component(PodSelector()), map(PodQuery, filters), POD) is passes


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        pytest.param("null", "gives null", id="null is not an answer"),
        pytest.param(".metadata.labels.none", "gives null", id="nor is a field that is not there"),
        pytest.param("true, true", "gives 2 results", id="nor are two, even where both are true"),
        pytest.param("empty", "gives 0 results", id="nor is none"),
    ],
)
def test_filters_without_an_answer(written: str, reason: str) -> None:
    with pytest.raises(WorkloadError, match=reason):
        passes_filters(component(PodSelector()), [PodQuery(written)], POD)
