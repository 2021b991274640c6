"""What holds for every workload and every change, whatever they are."""

from copy import deepcopy
from typing import Any

from hypothesis import given, strategies as st

from karta_interpreter import Karta, Workload
from karta_interpreter.engine.workload.updates import fields_of, merge

TEXT = st.text("abxyz", min_size=1, max_size=3)
LEAF = st.none() | st.booleans() | st.integers(0, 9) | TEXT
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2), max_leaves=6
)
OWN = st.dictionaries(TEXT.map("own-{}".format), JSON, max_size=2)
"""Fields that Kubernetes does not have."""


KARTA = Karta.load("""
spec:
  structureDefinition:
    rootComponent:
      name: orchestra
      kind: {group: toys.example.com, version: v1, kind: Orchestra}
      statusDefinition: {statusMappings: {}}
      suspendDefinition:
        suspendActions: [{path: .spec.paused, value: "true"}, {path: .spec.reason, value: '"break"'}]
        resumeActions: [{path: .spec.paused, value: "false"}, {path: .spec.reason, value: "null"}]
    childComponents:
      - name: section
        ownerRef: orchestra
        specDefinition: {podTemplateSpecPath: ".spec.sections[].template"}
        scaleDefinition: {replicasPath: ".spec.sections[] | .players // 1"}
        instanceIdPath: .spec.sections[].name
        podSelector: {componentInstanceSelector: {idPath: .metadata.labels.section}}
""")


def known(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def templates(own: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Pod templates, with fields of their own next to those that Kubernetes has at the levels that are merged."""

    def mixed(fields: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        return st.builds(lambda some, more: {**some, **more}, fields, own)

    container = mixed(known(image=TEXT, args=st.lists(TEXT, max_size=2), tty=st.booleans()))
    containers = st.dictionaries(TEXT, container, max_size=3).map(
        lambda named: [{"name": name, **fields} for name, fields in named.items()]
    )
    spec = mixed(known(containers=containers, hostname=TEXT, nodeSelector=st.dictionaries(TEXT, TEXT, max_size=2)))
    metadata = mixed(known(labels=st.dictionaries(TEXT, TEXT, max_size=2), annotations=st.just({})))
    return st.builds(lambda given, spec: {**given, "spec": spec}, mixed(known(metadata=metadata)), spec)


PLAIN, MIXED = templates(st.just({})), templates(OWN)
COUNTS = st.none() | st.integers(0, 5)
SECTIONS = st.dictionaries(TEXT, st.tuples(MIXED, COUNTS), min_size=1, max_size=3).map(
    lambda named: [{"name": n, "template": template, "players": count} for n, (template, count) in named.items()]
)


TEMPLATE = "PodTemplateSpec"


def without(value: Any, go_type: str) -> Any:
    """A value without the fields that Kubernetes does not have."""
    element = go_type.removeprefix("[]")
    if element != go_type and fields_of(element):
        return [without(each, element) for each in value]
    known = fields_of(go_type)
    if not known or not isinstance(value, dict):
        return value
    return {field: without(value[field], below) for field, below in known.items() if field in value}


def own_fields(value: Any, go_type: str, at: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    """The places of the fields that Kubernetes does not have; elements of lists by name."""
    element = go_type.removeprefix("[]")
    if element != go_type and fields_of(element):
        return set().union(*(own_fields(each, element, (*at, each["name"])) for each in value))
    known = fields_of(go_type)
    if not known:
        return set()
    own = {(*at, field) for field in value if field not in known}
    parts = [own_fields(value[field], below, (*at, field)) for field, below in known.items() if field in value]
    return own.union(*parts)


@given(old=MIXED, new=PLAIN)
def test_merged_value_is_read_back(old: Any, new: Any) -> None:
    assert without(merge(old, new, TEMPLATE), TEMPLATE) == new


@given(old=MIXED, new=PLAIN)
def test_merge_loses_own_fields_only_with_their_owner(old: Any, new: Any) -> None:
    kept = {place for place in own_fields(old, TEMPLATE) if _is_there(place[:-1], new)}
    assert own_fields(merge(old, new, TEMPLATE), TEMPLATE) == kept


@given(old=MIXED, new=MIXED)
def test_merging_again_changes_nothing(old: Any, new: Any) -> None:
    once = merge(old, new, TEMPLATE)
    assert merge(once, new, TEMPLATE) is once


@given(old=MIXED, new=MIXED)
def test_neither_value_is_touched(old: Any, new: Any) -> None:
    before = deepcopy((old, new))
    merge(old, new, TEMPLATE)
    assert (old, new) == before


def _is_there(place: tuple[Any, ...], new: Any) -> bool:
    here = new
    for step in place:
        named = {each["name"]: each for each in here} if isinstance(here, list) else here
        if step not in named:
            return False
        here = named[step]
    return True


def orchestra(sections: Any) -> Workload:
    spec = {"sections": sections, "hall": {"own": 1}}
    obj = {"apiVersion": KARTA.gvk.api_version, "kind": KARTA.gvk.kind, "metadata": {"name": "city"}, "spec": spec}
    return Workload(KARTA, obj)


@given(sections=SECTIONS)
def test_c35_what_was_read_can_be_written_without_a_change(sections: Any) -> None:
    workload = orchestra(sections)
    section = workload.component("section")
    assert section.update_pod_templates(deepcopy(dict(section.pod_templates))) is workload
    assert section.scale_to({name: each.replicas for name, each in section.instances.items()}) is workload


@given(sections=SECTIONS, template=PLAIN, data=st.data())
def test_template_update_is_read_back_and_keeps_others(sections: Any, template: Any, data: Any) -> None:
    workload = orchestra(sections)
    before = deepcopy(workload.object)
    name = data.draw(st.sampled_from(workload.component("section").instance_ids))

    updated = workload.component("section").update_pod_templates({name: template}).component("section")

    assert without(updated.pod_templates[name], TEMPLATE) == template
    others = {other: old for other, old in workload.component("section").pod_templates.items() if other != name}
    assert all(updated.pod_templates[other] is old for other, old in others.items())
    assert updated.scales == workload.component("section").scales
    assert {**updated.workload.object, "spec": None} == {**before, "spec": None}
    assert workload.object == before


@given(sections=SECTIONS, count=st.integers(0, 9), data=st.data())
def test_scaled_count_is_read_back_and_keeps_others(sections: Any, count: int, data: Any) -> None:
    section = orchestra(sections).component("section")
    name = data.draw(st.sampled_from(section.instance_ids))
    scaled = section.scale_to({name: count}).component("section")
    assert {**scaled.scales, name: None} == {**section.scales, name: None}
    assert scaled.scales[name].replicas == count
    assert scaled.pod_templates == section.pod_templates


@given(sections=SECTIONS)
def test_suspending_and_resuming_are_idempotent_and_touch_their_places_only(sections: Any) -> None:
    workload = orchestra(sections)
    suspended = workload.suspend()
    assert suspended.suspend() is suspended
    resumed = suspended.resume()
    assert resumed.resume() is resumed
    places = {"paused": None, "reason": None}
    assert {**resumed.object["spec"], **places} == {**workload.object["spec"], **places}
