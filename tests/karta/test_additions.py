"""Containers that an operator adds, as the annotation says: in what is counted, and not in what is changed."""

import copy
from typing import Any

import pytest

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import load_definition
from karta_interpreter.karta.pods import pod_sets, pod_templates

Raw = dict[str, Any]

PROXY = {"name": "proxy"}
WAIT = {"name": "wait"}
VIOLIN = {"name": "violin"}


def adding(raw: Raw, text: str) -> Definition:
    annotations = {"karta-interpreter.io/added-containers": text}
    return load_definition(edit.set_value(raw, ("metadata", "annotations"), annotations))


def playing(**spec: JSON) -> Raw:
    """An orchestra whose conductor has a pod, and whose two sections have a template each."""
    section = {"players": 2, "template": {"spec": {"containers": [VIOLIN]}}}
    sections = [{"name": "first", **section}, {"name": "second", **section}]
    return {"spec": {"conductor": {"pod": {"initContainers": [WAIT]}}, "sections": sections, **spec}}


@pytest.mark.parametrize(
    ("text", "conductor", "section"),
    [
        pytest.param(
            "section: '{containers: [{name: \"proxy\"}]}'",
            {"initContainers": [WAIT]},
            {"containers": [VIOLIN, PROXY]},
            id="all instances of the component get it, and no other component",
        ),
        pytest.param(
            "conductor: '{initContainers: [.spec.extra]}'",
            {"initContainers": [WAIT, PROXY]},
            {"containers": [VIOLIN]},
            id="added to those of a bare pod spec, after its own",
        ),
        pytest.param(
            "conductor: '{containers: [.spec.extra]}'",
            {"initContainers": [WAIT], "containers": [PROXY]},
            {"containers": [VIOLIN]},
            id="where there were none",
        ),
        pytest.param(
            "{conductor: '.spec.nothing', section: '.spec | select(.extra == null) | {containers: [{}]}'}",
            {"initContainers": [WAIT]},
            {"containers": [VIOLIN]},
            id="null and no result at all are nothing",
        ),
        pytest.param(
            "section: '{containers: .spec.nothing, initContainers: []}'",
            {"initContainers": [WAIT]},
            {"containers": [VIOLIN]},
            id="and so is a list that is null or empty",
        ),
    ],
)
def test_they_come_after_those_of_the_template(orchestra: Raw, text: str, conductor: JSON, section: JSON) -> None:
    definition, obj = adding(orchestra, text), playing(extra=PROXY)
    before = copy.deepcopy(obj)
    found = {pods.name: pods.template["spec"] for pods in pod_sets(definition, obj)}
    assert found == {"conductor": conductor, "first": section, "second": section}
    assert [template["spec"] for _, template in pod_templates(definition, obj)] == list(found.values())
    assert obj == before


def test_pods_that_do_not_exist_get_none(orchestra: Raw) -> None:
    definition = adding(orchestra, "conductor: '{containers: [{}]}'")
    assert [pods.name for pods in pod_sets(definition, playing(conductor=None))] == ["first", "second"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("'[]'", "component section: gives a list where an object with lists", id="a list"),
        pytest.param("'{volumes: []}'", "component section: gives volumes; there are the lists", id="another field"),
        pytest.param("'{containers: {}}'", "component section: gives containers; there are", id="no list"),
        pytest.param("'.spec.extra + 1'", "component section: .*cannot", id="an expression that fails"),
    ],
)
def test_what_is_no_container_is_an_error(orchestra: Raw, text: str, message: str) -> None:
    definition = adding(orchestra, f"section: {text}")
    with pytest.raises(InterpretationError, match=f"definition orchestra, annotation added-containers, {message}"):
        pod_sets(definition, playing(extra=PROXY))


def test_a_list_of_the_template_that_is_none_is_left_to_who_reads_it(orchestra: Raw) -> None:
    definition = adding(orchestra, "conductor: '{containers: [{}]}'")
    (conductor,) = pod_sets(definition, {"spec": {"conductor": {"pod": {"containers": 5}}}})
    assert conductor.template["spec"] == {"containers": 5}


def test_templates_do_not_need_ids_or_counts(orchestra: Raw) -> None:
    definition = load_definition(orchestra)
    nameless = {"players": "many", "template": {"spec": {"containers": [VIOLIN]}}}
    obj = {"spec": {"sections": [nameless, nameless, {"template": None}]}}
    assert list(pod_templates(definition, obj)) == [("section", nameless["template"])] * 2
    with pytest.raises(InterpretationError, match="an instance id is a string"):
        pod_sets(definition, obj)
