"""Pod groups of a toy that has a captain, crews with a name, and squads whose boats are numbered."""

from copy import deepcopy
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.model import Topology
from karta_interpreter.engine.workload.gang import PodGroup, SubGroup, pod_groups
from tests.support.rows import rows

Raw = dict[str, Any]

FLEET = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: fleet}
spec:
  structureDefinition:
    rootComponent:
      name: fleet
      kind: {group: toys.example.com, version: v1, kind: Fleet}
      statusDefinition: {statusMappings: {}}
    childComponents:
      - name: captain
        ownerRef: fleet
        specDefinition: {podTemplateSpecPath: .spec.captain}
        podSelector: {componentTypeSelector: {keyPath: .metadata.labels.role, value: captain}}
      - name: crew
        ownerRef: fleet
        specDefinition: {podTemplateSpecPath: ".spec.crews[].template"}
        scaleDefinition: {replicasPath: ".spec.crews[].hands", minReplicasPath: ".spec.crews[].least"}
        instanceIdPath: .spec.crews[].name
        podSelector:
          componentTypeSelector: {keyPath: .metadata.labels.role, value: crew}
          componentInstanceSelector: {idPath: .metadata.labels.crew}
      - name: squad
        ownerRef: fleet
        scaleDefinition: {replicasPath: .spec.squads}
        podSelector: {replicaSelector: {keyPath: .metadata.labels.squad}}
      - name: lead
        ownerRef: squad
        specDefinition: {podTemplateSpecPath: .spec.boat}
        scaleDefinition: {replicasPath: .spec.squads}
        podSelector: {componentTypeSelector: {keyPath: .metadata.labels.role, value: lead}}
      - name: boat
        ownerRef: squad
        specDefinition: {podTemplateSpecPath: .spec.boat}
        scaleDefinition: {replicasPath: .spec.squads * .spec.boats}
        podSelector: {componentTypeSelector: {keyPath: .metadata.labels.role, value: boat}}
"""
SQUAD = 2

CAPTAIN = {"metadata": {"name": "captain", "labels": {"fleet": "f", "role": "captain"}}}
POD = {"spec": {"containers": [{"name": "main"}]}}
SPEC = {
    "captain": POD,
    "crews": [{"name": "port", "hands": 4, "template": POD}, {"name": "lee", "hands": 9, "least": 2, "template": POD}],
    "squads": 3,
    "boat": POD,
    "boats": 4,
}


def crew(name: str) -> Raw:
    return {"metadata": {"name": f"crew-{name}", "labels": {"fleet": "f", "role": "crew", "crew": name}}}


def boat(squad: int, role: str = "boat") -> Raw:
    return {"metadata": {"name": f"{role}-{squad}", "labels": {"fleet": "f", "role": role, "squad": str(squad)}}}


def member(component: str, *keys: str, filters: tuple[str, ...] = ()) -> Raw:
    paths = [f".metadata.labels.{key}" for key in keys]
    return {"componentName": component, "groupByKeyPaths": paths, "filters": [*filters]}


def grouped(gang: Raw, pods: list[Raw], spec: Raw = SPEC, squad: Raw | None = None) -> tuple[PodGroup, ...]:
    written = yaml.safe_load(FLEET)
    written["spec"]["optimizationInstructions"] = {"gangScheduling": gang}
    if squad is not None:
        written["spec"]["structureDefinition"]["childComponents"][SQUAD] |= squad
    return pod_groups(load_definition(written), {"spec": spec}, iter(deepcopy(pods)))


def keyed(*members: Raw) -> Raw:
    return {"podGroups": [{"name": "gang", "members": [*members]}]}


def shape(groups: tuple[PodGroup, ...]) -> list[tuple[tuple[str, ...], int, list[str]]]:
    return [(group.keys, group.minimum, [pod["metadata"]["name"] for pod in group.pods]) for group in groups]


ALL = 1 + (4 + 2) + (3 + 12)
"""The captain; the hands of a crew, or the least of them; three leads and four boats for each of them."""


@rows(
    ("members", "pods", "expected"),
    [
        pytest.param([member("fleet")], [CAPTAIN], [((), ALL, ["captain"])], id="no keys, one group"),
        pytest.param([member("fleet", "fleet")], [crew("lee"), CAPTAIN], [(("f",), ALL, ["crew-lee", "captain"])],
            id="a key in common, one group, which waits for the pods that are not there yet"),
        pytest.param([member("captain", "fleet"), member("crew", "fleet")], [CAPTAIN], [(("f",), 7, ["captain"])],
            id="several members with the same keys are one group"),
        pytest.param([member("crew", "fleet")], [crew("port")], [(("f",), 6, ["crew-port"])],
            id="instances in one group"),
        pytest.param([member("crew", "crew")], [crew("lee"), crew("port"), crew("lee")],
            [(("lee",), 2, ["crew-lee", "crew-lee"]), (("port",), 4, ["crew-port"])], id="a group for each instance"),
        pytest.param([member("fleet", "role")], [CAPTAIN, crew("lee"), boat(0)],
            [(("captain",), 1, ["captain"]), (("crew",), 6, ["crew-lee"]), (("boat",), 12, ["boat-0"])],
            id="a group for each component"),
        pytest.param([member("squad", "fleet", "squad")], [boat(0), boat(1, "lead"), boat(0, "lead")],
            [(("f", "0"), 5, ["boat-0", "lead-0"]), (("f", "1"), 5, ["lead-1"])], id="a group for each replica"),
        pytest.param([member("boat", "squad"), member("lead", "fleet")], [boat(0), boat(0, "lead")],
            [(("0",), 4, ["boat-0"]), (("f",), 3, ["lead-0"])], id="members with other keys are other groups"),
        pytest.param([member("captain", "fleet"), member("crew", "crew")], [CAPTAIN, crew("port")],
            [(("f",), 1, ["captain"]), (("port",), 4, ["crew-port"])],
            id="one for the component, one for each instance of another"),
        pytest.param([member("fleet", filters=('.metadata.labels.role != "captain"',))], [CAPTAIN], [],
            id="a pod that a filter keeps out is in no group"),
        pytest.param([member("captain")], [CAPTAIN, crew("lee")], [((), 1, ["captain"])], id="nor is another's"),
        pytest.param([member("fleet")], [], [], id="without pods there are no keys, so no groups"),
    ],
)  # fmt: skip
def test_groups_by_key(members: list[Raw], pods: list[Raw], expected: list[tuple[tuple[str, ...], int, Any]]) -> None:
    assert shape(grouped(keyed(*members), pods)) == expected


def test_component_in_stronger_group_is_not_waited_for() -> None:
    gang = {
        "podGroups": [
            {"name": "rest", "members": [member("fleet", "fleet")]},
            {"name": "crews", "members": [member("crew", "fleet")]},
        ]
    }
    rest, crews = grouped(gang, [CAPTAIN, crew("lee")])
    assert (rest.name, rest.minimum) == ("rest", ALL - 6)
    assert (crews.name, crews.minimum) == ("crews", 6)


def test_missing_component_is_not_waited_for() -> None:
    gang = keyed(member("captain", "fleet"), member("crew", "fleet"))
    assert shape(grouped(gang, [CAPTAIN], {"captain": POD})) == [(("f",), 1, ["captain"])]


@rows(
    ("squad", "spec", "message"),
    [
        pytest.param({"scaleDefinition": {}}, SPEC, "how many of them there are is not known", id="no count of squads"),
        pytest.param({"instanceIdPath": ".spec.crews[].name",
            "scaleDefinition": {"replicasPath": ".spec.crews[].hands"}}, SPEC,
            "how many of them there are is not known", id="one for each instance, which may not be the pod's"),
        pytest.param({"specDefinition": {"podTemplateSpecPath": ".spec.boat"}}, SPEC,
            "how many of them there are is not known", id="a count of pods"),
        pytest.param({"scaleDefinition": {"replicasPath": "5"}}, SPEC, "cannot be divided among the 5 replicas",
            id="a wrong one"),
    ],
)  # fmt: skip
def test_replica_of_unknown_size_is_error(squad: Raw, spec: Raw, message: str) -> None:
    selector = {"componentInstanceSelector": {"idPath": ".metadata.labels.crew"}} if "instanceIdPath" in squad else {}
    selector |= {"replicaSelector": {"keyPath": ".metadata.labels.squad"}}
    with pytest.raises(WorkloadError, match=message):
        grouped(keyed(member("squad", "squad")), [boat(0)], spec, squad | {"podSelector": selector})


def test_group_of_no_replicas_needs_no_pods() -> None:
    assert shape(grouped(keyed(member("squad", "squad")), [boat(0)], SPEC | {"squads": 0})) == [(("0",), 0, ["boat-0"])]


@rows(
    ("pods", "message"),
    [
        pytest.param([boat(0, "raft")], "pod raft-0 is of none", id="a pod of no component"),
        pytest.param([crew("deck")], "instance 'deck'", id="a pod of no instance"),
        pytest.param([{"metadata": {"labels": {"role": "captain"}}}], "groupByKeyPaths", id="a pod without the key"),
    ],
)
def test_pods_that_cannot_be_grouped(pods: list[Raw], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        grouped(keyed(member("fleet", "fleet")), pods)


RACK = {"topologyName": "sea", "preferredTopologyLevel": "bay", "requiredTopologyLevel": ""}
SEA = Topology.model_validate(RACK)


def whole(*parts: str, **more: Raw) -> Raw:
    subgroups = [{"componentName": part, **({"topology": RACK} if part == "squad" else {})} for part in parts]
    return {"podGroup": {"name": "all", "subGroups": subgroups, **more}}


def test_pod_group_holds_all_pods() -> None:
    assert grouped(whole(topology=RACK), [CAPTAIN]) == (PodGroup("all", ALL, (CAPTAIN,), topology=SEA),)


def test_subgroups_have_the_pods_below_their_component() -> None:
    (group,) = grouped(whole("crew", "squad"), [boat(1), CAPTAIN, crew("lee"), boat(0, "lead")])
    assert group.sub_groups == (
        SubGroup("crew", 6, (crew("lee"),)),
        SubGroup("squad", 15, (boat(1), boat(0, "lead")), SEA),
    )
    assert group.minimum == 21, "the captain is in no subgroup, so the group does not wait for him"
    assert CAPTAIN in group.pods


def test_pod_is_only_in_nearest_subgroup() -> None:
    (group,) = grouped(whole("fleet", "squad", "boat"), [boat(0), boat(0, "lead"), CAPTAIN])
    counted = {part.component: (part.minimum, len(part.pods)) for part in group.sub_groups}
    assert counted == {"fleet": (7, 1), "squad": (3, 1), "boat": (12, 1)}
    assert group.minimum == ALL


def test_missing_subgroup_is_omitted() -> None:
    (group,) = grouped(whole("crew", "captain"), [], {"captain": POD})
    assert [part.component for part in group.sub_groups] == ["captain"]


def test_shrinking_subgroup_keeps_its_last_pods() -> None:
    (group,) = grouped(whole("squad"), [boat(0)], SPEC | {"squads": 0})
    assert group.sub_groups == (SubGroup("squad", 0, (boat(0),), SEA),)


def test_newer_form_wins() -> None:
    (group,) = grouped(keyed(member("captain")) | whole(), [CAPTAIN])
    assert group.name == "all"


def test_without_instructions_there_are_no_groups() -> None:
    assert grouped({}, [CAPTAIN]) == ()


PODS = [CAPTAIN, crew("lee"), crew("port"), boat(0), boat(1), boat(0, "lead"), boat(2, "lead")]
MEMBERS = [
    member(component, *keys)
    for component in ("fleet", "squad", "crew", "boat")
    for keys in ((), ("fleet",), ("role",), ("fleet", "role"))
]


@given(st.lists(st.sampled_from(MEMBERS), max_size=3), st.permutations(PODS))
def test_groups_do_not_depend_on_order_of_pods(members: list[Raw], pods: list[Raw]) -> None:
    def by_identity(groups: tuple[PodGroup, ...]) -> dict[Any, Any]:
        return {keys: (minimum, sorted(names)) for keys, minimum, names in shape(groups)}

    assert by_identity(grouped(keyed(*members), pods)) == by_identity(grouped(keyed(*members), PODS))


@given(st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=3), st.sets(st.integers(0, len(PODS) - 1), min_size=1))
def test_pod_is_in_one_group(members: list[Raw], chosen: set[int]) -> None:
    pods = [PODS[index] for index in sorted(chosen)]
    names = [name for _, _, names in shape(grouped(keyed(*members), pods)) for name in names]
    assert len(names) == len(set(names)) <= len(pods)
