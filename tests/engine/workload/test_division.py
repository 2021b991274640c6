import pytest

from karta_interpreter.definitions.karta.definition import ComponentRules
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.definitions.karta.model import PodSelector
from karta_interpreter.engine.workload.gang import divides, divides_components
from tests.support.rows import rows

POD = {
    "metadata": {"name": "ship-0", "labels": {"fleet": "f", "role": "ship", "class": "a", "squad": "2", "job": "f-a-2"}}
}


def selected(**selector: object) -> ComponentRules:
    return ComponentRules("fleet", "ship", selector=PodSelector.model_validate(selector))


SHIP = selected(
    componentTypeSelector={"matchLabels": {"role": "ship"}},
    componentInstanceSelector={"idPath": ".metadata.labels.class"},
    replicaSelector={"keyPath": ".metadata.labels.squadron // .metadata.labels.squad"},
)


def keys(*paths: str) -> tuple[PodQuery, ...]:
    return tuple(map(PodQuery, paths))


@rows(
    ("paths", "components", "instances", "replicas"),
    [
        pytest.param([], False, False, False, id="no keys divide nothing"),
        pytest.param([".metadata.labels.fleet"], False, False, False, id="a key that all pods have in common"),
        pytest.param([".metadata.labels.role"], True, False, False, id="what recognises a component"),
        pytest.param([".metadata.labels.class"], False, True, False, id="what names an instance"),
        pytest.param([".metadata.labels.squad"], False, False, True, id="what numbers a replica, in other words"),
        pytest.param([".metadata.labels.class | ascii_upcase"], False, True, False, id="what is computed from it"),
        pytest.param(['.metadata.labels | join("-")'], True, True, True, id="a key of everything"),
        pytest.param([".metadata.labels.squad | tonumber"], False, False, True, id="a key that then fails"),
        pytest.param(
            [".metadata.labels.fleet", ".metadata.labels.class"], False, True, False, id="one of several keys is enough"
        ),
        pytest.param([".metadata.labels.job"], False, False, False, id="another label cannot be known to follow"),
        pytest.param([".metadata.labels.class[:0]"], False, False, False, id="a part that stays the same"),
    ],
)
def test_keys_divide_components_instances_and_replicas(
    paths: list[str], *, components: bool, instances: bool, replicas: bool
) -> None:
    assert divides_components(keys(*paths), SHIP, POD) is components
    assert divides(keys(*paths), SHIP.selector.instance_id, POD) is instances
    assert divides(keys(*paths), SHIP.selector.replica_key, POD) is replicas


def test_component_is_recognised_by_key() -> None:
    ship = selected(componentTypeSelector={"keyPath": ".metadata.labels.role", "value": "ship"})
    assert divides_components(keys(".metadata.labels.role"), ship, POD)
    assert not divides_components(keys(".metadata.labels.class"), ship, POD)


def test_instances_without_selectors_are_not_told_apart() -> None:
    pond = ComponentRules("fleet", "pond")
    everything = keys(".")
    assert not divides_components(everything, pond, POD)
    assert not divides(everything, pond.selector.instance_id, POD)
    assert not divides(everything, pond.selector.replica_key, POD)


@rows(
    ("key", "is_divided"),
    [
        pytest.param('.metadata.name | ltrimstr("ship-")', True, id="written the same"),
        pytest.param(".metadata.name", False, id="written in another way"),
    ],
)
def test_computed_selector_is_compared_as_text(key: str, *, is_divided: bool) -> None:
    numbered = selected(replicaSelector={"keyPath": '.metadata.name | ltrimstr("ship-")'})
    assert divides(keys(key), numbered.selector.replica_key, POD) is is_divided


def test_pod_without_labels_is_divided() -> None:
    assert divides(keys(".metadata.labels.class"), SHIP.selector.instance_id, {"metadata": {"name": "new"}})
