from copy import deepcopy
from typing import Any

import pytest

from karta_interpreter.base.errors import ComponentNotFoundError, InterpretationError, WorkloadError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.evaluation.attribution import (
    Attribution,
    attribute_all,
    attributing,
    component_of,
    replica_maker,
)
from tests.support.rows import rows

Raw = dict[str, Any]

ORCHESTRA = {"spec": {"sections": [{"name": "violins"}, {"name": "brass"}]}}


def pod(**labels: str) -> Raw:
    return {"metadata": {"name": "player-0", "labels": labels}}


@pytest.mark.parametrize(
    ("player", "component"),
    [
        pytest.param(pod(part="conductor"), "conductor", id="its own selector"),
        pytest.param(pod(part="section"), "section", id="another one's"),
    ],
)
def test_selector_that_matches_gives_component(orchestra: Raw, player: Raw, component: str) -> None:
    assert component_of(load_definition(orchestra), player).name == component


def test_first_of_matching_selectors_wins(orchestra: Raw) -> None:
    for child in orchestra["spec"]["structureDefinition"]["childComponents"]:
        child["podSelector"]["componentTypeSelector"] = {"keyPath": ".metadata.labels.part"}
    assert component_of(load_definition(orchestra), pod(part="section")).name == "conductor"


def test_only_component_with_pods_has_them_all(harbor: Raw) -> None:
    assert component_of(load_definition(harbor), {}).name == "dock"


def test_component_without_selector_has_no_pods_beside_others(orchestra: Raw) -> None:
    del orchestra["spec"]["structureDefinition"]["childComponents"][0]["podSelector"]
    with pytest.raises(ComponentNotFoundError):
        component_of(load_definition(orchestra), pod(part="conductor"))


def test_pod_of_no_component_is_error(orchestra: Raw) -> None:
    with pytest.raises(ComponentNotFoundError) as caught:
        component_of(load_definition(orchestra), pod(part="audience"))
    assert str(caught.value) == (
        "definition orchestra: pod player-0 is of none of the components that have pods (conductor, section): "
        "is it one of another workload?"
    )


@pytest.mark.parametrize(
    ("player", "instance"),
    [
        pytest.param(pod(part="section", section="brass"), "brass", id="the one it says"),
        pytest.param(pod(part="conductor", section="brass"), "", id="an unnamed instance is not asked for"),
    ],
)
def test_label_of_pod_gives_instance(orchestra: Raw, player: Raw, instance: str) -> None:
    assert attributing(load_definition(orchestra), ORCHESTRA)(player).instance == instance


@rows(
    ("spec", "player", "error"),
    [
        pytest.param(ORCHESTRA["spec"], pod(part="section", section="drums"),
            "component section: pod player-0 is of the instance 'drums'; the object has violins, brass",
            id="an instance that is not there"),
        pytest.param({"sections": None}, pod(part="section", section="drums"),
            "is of the instance 'drums'; the object has none", id="nor is any other"),
        pytest.param(ORCHESTRA["spec"], pod(part="section"), "which says nothing", id="a pod that does not say"),
    ],
)  # fmt: skip
def test_pod_of_unknown_instance_is_error(orchestra: Raw, spec: Raw, player: Raw, error: str) -> None:
    with pytest.raises(WorkloadError, match=error):
        attributing(load_definition(orchestra), {"spec": spec})(player)


def test_object_with_wrong_ids_is_error(orchestra: Raw) -> None:
    with pytest.raises(InterpretationError, match="instanceIdPath"):
        attributing(load_definition(orchestra), {"spec": {"sections": [{"name": 1}]}})(pod(part="section", section="1"))


@pytest.fixture
def seated(orchestra: Raw) -> Definition:
    """An orchestra whose sections are made of desks, which are numbered."""
    children = orchestra["spec"]["structureDefinition"]["childComponents"]
    section = children[1]
    children.append(deepcopy(section) | {"name": "soloist", "ownerRef": "section"})
    section["podSelector"]["replicaSelector"] = {"keyPath": ".metadata.labels.desk"}
    section["podSelector"]["componentTypeSelector"]["value"] = "tutti"
    return load_definition(orchestra)


@pytest.mark.parametrize(
    ("player", "place"),
    [
        pytest.param(
            pod(part="tutti", section="brass", desk="2"), Attribution("section", "brass", "2"), id="its own selector"
        ),
        pytest.param(
            pod(part="section", section="brass", desk="0"), Attribution("soloist", "brass", "0"), id="its owner's"
        ),
        pytest.param(pod(part="conductor", desk="2"), Attribution("conductor"), id="nobody's"),
        pytest.param(pod(part="tutti", section="brass"), Attribution("section", "brass"), id="a pod that does not say"),
    ],
)
def test_label_of_pod_gives_replica(seated: Definition, player: Raw, place: Attribution) -> None:
    assert attributing(seated, ORCHESTRA)(player) == place


def test_replicas_are_made_at_the_nearest_level(seated: Definition) -> None:
    makers = [replica_maker(seated, component.name) for component in seated.components]
    assert [maker and maker.name for maker in makers] == [None, None, "section", "section"]


def test_pods_are_attributed_in_order(orchestra: Raw) -> None:
    players = [pod(part="section", section="brass"), pod(part="conductor"), pod(part="section", section="violins")]
    places = attribute_all(load_definition(orchestra), ORCHESTRA, iter(players))
    assert [(place.component, place.instance) for place in places] == [
        ("section", "brass"),
        ("conductor", ""),
        ("section", "violins"),
    ]


def test_pods_of_no_component_are_all_named(orchestra: Raw) -> None:
    lost = [{"metadata": {"name": name, "labels": {"part": part}}} for name, part in (("a", "x"), ("b", "section"))]
    with pytest.raises(WorkloadError) as caught:
        attribute_all(load_definition(orchestra), ORCHESTRA, [*lost, pod(part="conductor")])
    first, second = str(caught.value).splitlines()
    assert "pod a is of none" in first
    assert "pod b: " in second


def test_pods_without_instance_selector_belong_to_the_only_instance(orchestra: Raw) -> None:
    del orchestra["spec"]["structureDefinition"]["childComponents"][1]["podSelector"]["componentInstanceSelector"]
    definition, brass = load_definition(orchestra), {"spec": {"sections": [{"name": "brass"}]}}

    assert attributing(definition, brass)(pod(part="section")).instance == "brass"
    with pytest.raises(ComponentNotFoundError, match="pods cannot be told apart by instance"):
        attributing(definition, ORCHESTRA)(pod(part="section"))
