"""How many pods of a component and below it have to start together."""

from typing import Any

import pytest

from karta_interpreter.base.errors import ComponentNotFoundError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.workload import Karta, Workload
from tests.support.rows import rows

Raw = dict[str, Any]

POD = {"spec": {"containers": [{"name": "main"}]}}


def child(name: str, owner: str, **fields: Any) -> Raw:
    selector = {"componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": name}}
    return {"name": name, "ownerRef": owner, "podSelector": selector, **fields}


def fleet(root: Raw | None = None, squad: Raw | None = None, leader: Raw | None = None, ship: Raw | None = None) -> Raw:
    """A fleet has squads, which have leaders and several other ships; each may have a scale definition."""
    kind = {"group": "toys.example.com", "version": "v1", "kind": "Fleet"}
    components: list[Raw] = [
        {"name": "fleet", "kind": kind, "statusDefinition": {"statusMappings": {}}},
        child("squad", "fleet"),
        child("leader", "squad", specDefinition={"podTemplateSpecPath": ".spec.leader"}),
        child(
            "ship",
            "squad",
            specDefinition={"podTemplateSpecPath": ".spec.ships[].template"},
            instanceIdPath=".spec.ships[].name",
        ),
    ]
    components[3]["podSelector"]["componentInstanceSelector"] = {"idPath": ".metadata.labels.class"}
    for component, scale in zip(components, (root, squad, leader, ship), strict=True):
        component.update({"scaleDefinition": scale} if scale else {})
    structure = {"rootComponent": components[0], "childComponents": components[1:]}
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "fleet"},
        "spec": {"structureDefinition": structure},
    }


def paths(replicas: str | None = None, least: str | None = None) -> Raw:
    return {field: path for field, path in (("replicasPath", replicas), ("minReplicasPath", least)) if path}


def ships(*counts: tuple[str, int | None, int | None], leader: Any = POD, **spec: Any) -> Raw:
    entries = [{"name": name, "count": count, "least": least, "template": POD} for name, count, least in counts]
    return {
        "apiVersion": "toys.example.com/v1",
        "kind": "Fleet",
        "metadata": {"name": "first"},
        "spec": {"ships": entries, "leader": leader, **spec},
    }


SHIPS = paths(".spec.ships[].count", ".spec.ships[].least")
LEADER = paths(".spec.squads // 1")
SQUAD = paths(".spec.squads // 1")


@rows(
    ("scales", "obj", "component", "minimum"),
    [
        pytest.param({"ship": SHIPS}, ships(("a", 3, None)), "ship", 3, id="the replicas of a leaf"),
        pytest.param({"ship": SHIPS}, ships(("a", 10, 2)), "ship", 2, id="a minimum before replicas"),
        pytest.param({"ship": SHIPS}, ships(("a", 5, 0)), "ship", 5, id="a minimum of 0 is none"),
        pytest.param({"ship": SHIPS}, ships(("a", 3, None), ("b", 4, 2)), "ship", 5, id="the sum of instances"),
        pytest.param({"ship": SHIPS}, ships(("a", 0, None)), "ship", 0, id="no replicas, no pods"),
        pytest.param({"ship": SHIPS}, ships(("a", None, None)), "ship", 1, id="pods without a count are one"),
        pytest.param({"leader": LEADER, "ship": SHIPS}, ships(("a", 6, None), squads=3), "fleet", 9,
            id="owners without a scale add up"),
        pytest.param({"squad": SQUAD, "leader": LEADER, "ship": SHIPS}, ships(("a", 6, None), squads=3), "squad", 9,
            id="counts are for the whole workload, and multiply nothing"),
        pytest.param({"squad": SQUAD, "leader": LEADER, "ship": SHIPS}, ships(("a", 6, None), squads=3), "fleet", 9,
            id="as below an owner"),
        pytest.param({"root": paths("2"), "squad": SQUAD, "leader": LEADER, "ship": SHIPS},
            ships(("a", 6, None), squads=3), "fleet", 9, id="at every level"),
        pytest.param({"squad": SQUAD}, ships(("a", None, None), squads=3), "squad", 2,
            id="leaves without a scale are one each"),
        pytest.param({"leader": LEADER, "ship": SHIPS}, ships(leader=None, squads=3), "squad", 0,
            id="a section that is not there has no pods"),
        pytest.param({}, ships(("a", 9, 9), ("b", 9, 9)), "fleet", 3, id="without any scale, instances with pods"),
        pytest.param({}, ships(("a", 9, 9), leader=None), "leader", 0, id="a leaf without pods"),
    ],
)  # fmt: skip
def test_minimum_members_add_pods_below_component(scales: Raw, obj: Raw, component: str, minimum: int) -> None:
    assert Workload(Karta(load_definition(fleet(**scales))), obj).minimum_members(component) == minimum


@pytest.fixture
def scaled() -> Definition:
    return load_definition(fleet(squad=SQUAD, leader=LEADER, ship=SHIPS))


@pytest.mark.parametrize(("scales", "a", "b"), [({"ship": SHIPS}, 3, 2), ({}, 1, 1)])
def test_minimum_members_of_single_instance(scales: Raw, a: int, b: int) -> None:
    definition, obj = load_definition(fleet(**scales)), ships(("a", 3, None), ("b", 4, 2))
    assert [Workload(Karta(definition), obj).minimum_members("ship", instance) for instance in ("a", "b")] == [a, b]


@pytest.mark.parametrize(
    ("component", "instance", "error", "message"),
    [
        pytest.param("boat", None, ComponentNotFoundError, 'no component "boat"', id="an unknown component"),
        pytest.param("ship", "z", ComponentNotFoundError, 'no instance "z"', id="an unknown instance"),
        pytest.param("ship", "", ComponentNotFoundError, 'no instance ""', id="an empty id, where instances have ids"),
    ],
)
def test_unknown_part_of_workload_is_error(
    scaled: Definition, component: str, instance: str | None, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Workload(Karta(scaled), ships(("a", 1, None))).minimum_members(component, instance)
