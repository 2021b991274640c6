from typing import Any

import pytest

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition
from karta_interpreter.definitions.karta.model import GangScheduling, PodGroupMember
from karta_interpreter.engine.workload.gang import EffectiveMember, effective_member
from tests.support.rows import rows

POD = {"metadata": {"name": "ship-0", "labels": {"flag": "red"}}}
RED, BLUE = (f'.metadata.labels.flag == "{flag}"' for flag in ("red", "blue"))


def fleet(*groups: tuple[str, list[PodGroupMember]]) -> Definition:
    gvk = GVK("toys.example.com", "v1", "Fleet")
    components = (
        ComponentRules("fleet", "fleet", gvk),
        ComponentRules("fleet", "squad", owner="fleet"),
        ComponentRules("fleet", "ship", owner="squad"),
    )
    keyed = [{"name": name, "members": members} for name, members in groups]
    return Definition("fleet", gvk, components, gang=GangScheduling.model_validate({"podGroups": keyed}))


def member(component: str, *filters: str) -> PodGroupMember:
    return PodGroupMember.model_validate({"componentName": component, "filters": filters})


@rows(
    ("groups", "group", "component"),
    [
        pytest.param([("a", [member("ship")])], "a", "ship", id="the component itself"),
        pytest.param([("a", [member("squad")])], "a", "squad", id="its owner"),
        pytest.param([("a", [member("fleet")])], "a", "fleet", id="the owner of that"),
        pytest.param(
            [("a", [member("fleet"), member("squad")]), ("b", [member("ship")])], "b", "ship", id="itself first"
        ),
        pytest.param([("a", [member("fleet")]), ("b", [member("squad")])], "b", "squad", id="then the nearest owner"),
        pytest.param([("a", [member("ship")]), ("b", [member("ship")])], "a", "ship", id="then the first group"),
        pytest.param(
            [("a", [member("ship", BLUE)]), ("b", [member("ship", RED)])], "b", "ship", id="whose filters it passes"
        ),
        pytest.param(
            [("a", [member("ship", BLUE), member("fleet")])], "a", "fleet", id="an owner's where its own keep it out"
        ),
        pytest.param([("a", [member("ship", RED, RED)])], "a", "ship", id="it passes all filters"),
    ],
)
def test_effective_member_is_found(groups: list[tuple[str, list[PodGroupMember]]], group: str, component: str) -> None:
    found = effective_member(fleet(*groups), "ship", POD)
    assert found is not None
    assert (found.pod_group, found.component) == (group, component)


@rows(
    "groups",
    [
        pytest.param([], id="without groups"),
        pytest.param([("a", [])], id="of a group without members"),
        pytest.param([("a", [member("ship", BLUE)])], id="which its filters keep out"),
        pytest.param([("a", [member("ship", RED, BLUE)])], id="which one of the filters keeps out"),
    ],
)
def test_pod_in_no_group_has_no_member(groups: Any) -> None:
    assert effective_member(fleet(*groups), "ship", POD) is None


def test_owner_is_not_member_through_its_children() -> None:
    assert effective_member(fleet(("a", [member("ship")])), "squad", POD) is None


def test_filter_without_output_is_an_error() -> None:
    definition = fleet(("a", [member("squad", ".metadata.labels.none")]), ("b", [member("fleet")]))
    with pytest.raises(WorkloadError, match="component squad, filters"):
        effective_member(definition, "ship", POD)


def test_effective_member_has_its_rule() -> None:
    rule = PodGroupMember.model_validate({"componentName": "ship", "groupByKeyPaths": [".metadata.name"]})
    assert effective_member(fleet(("a", [rule])), "ship", POD) == EffectiveMember("a", rule)
