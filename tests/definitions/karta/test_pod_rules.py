from typing import Any

import pytest

from karta_interpreter.base.errors import QuerySyntaxError
from karta_interpreter.base.k8s import edit
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.model import GangScheduling, PodSelector
from tests.support.rows import rows

Raw = dict[str, Any]

SECTION = ("spec", "structureDefinition", "childComponents", 1)
GANG = ("spec", "optimizationInstructions", "gangScheduling")
RACK = {"topologyName": "hall", "preferredTopologyLevel": "row", "requiredTopologyLevel": "floor"}


def test_pod_selectors_are_compiled_by_component(compiled: dict[str, Definition]) -> None:
    orchestra, conductor, section = (component.selector for component in compiled["orchestra"].components)
    assert orchestra == PodSelector()
    assert conductor.component_type is not None
    assert conductor.component_type.labels == {"part": "conductor"}
    assert (conductor.component_type.key, conductor.instance_id, conductor.replica_key) == (None, None, None)
    assert section.component_type is not None
    assert section.component_type.labels == {}
    assert (section.component_type.key, section.component_type.value) == (".metadata.labels.part", "section")
    assert (section.instance_id, section.replica_key) == (PodQuery(".metadata.labels.section"), None)


def test_replica_selector_is_compiled(orchestra: Raw) -> None:
    raw = edit.set_value(orchestra, (*SECTION, "podSelector", "replicaSelector"), {"keyPath": ".metadata.labels.desk"})
    assert load_definition(raw).components[2].selector.replica_key == PodQuery(".metadata.labels.desk")


def test_without_instructions_nothing_starts_together(compiled: dict[str, Definition]) -> None:
    assert compiled["orchestra"].gang == GangScheduling()


def test_groups_by_key(orchestra: Raw) -> None:
    members = [
        {"componentName": "section", "groupByKeyPaths": [".metadata.labels.hall"], "filters": ["true"]},
        {"componentName": "orchestra"},
    ]
    raw = edit.set_value(orchestra, GANG, {"podGroups": [{"name": "players", "members": members}]})
    gang = load_definition(raw).gang
    (group,) = gang.pod_groups
    section, whole = group.members
    assert (group.name, section.component, whole.component) == ("players", "section", "orchestra")
    assert (section.group_by, section.filters) == ((PodQuery(".metadata.labels.hall"),), (PodQuery("true"),))
    assert (whole.group_by, whole.filters, gang.pod_group) == ((), (), None)


def test_pod_group_with_subgroups_is_compiled(orchestra: Raw) -> None:
    parts = [{"componentName": "section", "topology": RACK}, {"componentName": "conductor"}]
    raw = edit.set_value(orchestra, GANG, {"podGroup": {"name": "all", "subGroups": parts, "topology": RACK}})
    gang = load_definition(raw).gang
    assert gang.pod_group is not None
    assert gang.pod_group.name == "all"
    topology = gang.pod_group.topology
    assert topology is not None
    assert (topology.name, topology.preferred_level, topology.required_level) == ("hall", "row", "floor")
    assert [(part.component, part.topology) for part in gang.pod_group.sub_groups] == [
        ("section", topology),
        ("conductor", None),
    ]
    assert gang.pod_groups == ()


def test_expressions_about_pods_do_not_slow_requests_down(orchestra: Raw) -> None:
    at = (*SECTION, "podSelector", "componentTypeSelector", "keyPath")
    definition = load_definition(edit.set_value(orchestra, at, "reduce .metadata.labels[] as $label (0; . + 1)"))
    assert not definition.uses_bounded


def test_expressions_are_compiled_when_they_are_first_asked() -> None:
    unusable = PodQuery(".metadata.[")
    with pytest.raises(QuerySyntaxError):
        _ = unusable.query
    query = PodQuery(".metadata.name")
    assert query.query is PodQuery(".metadata.name").query


def test_leaves_are_the_components_that_have_pods(compiled: dict[str, Definition]) -> None:
    assert [leaf.name for leaf in compiled["orchestra"].leaves] == ["conductor", "section"]
    assert [leaf.name for leaf in compiled["brew"].leaves] == ["brew"]


@rows(("name", "lineage"), [("desk", ["desk", "section", "orchestra"]), ("orchestra", ["orchestra"]), ("audience", [])])
def test_lineage_leads_to_the_root(orchestra: Raw, name: str, lineage: list[str]) -> None:
    children = [*edit.get(orchestra, SECTION[:-1]), {"name": "desk", "ownerRef": "section"}]
    raw = edit.set_value(orchestra, SECTION[:-1], children)
    assert [component.name for component in load_definition(raw).lineage(name)] == lineage
