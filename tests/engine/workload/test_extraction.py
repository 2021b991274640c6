from typing import Any

import pytest

from karta_interpreter import FragmentedPodSpec, Karta, Scale, Workload, WorkloadError
from tests.support.rows import rows

TEMPLATE = {"spec": {"containers": [{"name": "main"}]}}


def section(name: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "template": TEMPLATE, **fields}


def test_instance_has_parts_that_definition_extracts(make: Any) -> None:
    spec = {"sections": [section("violins", players=8, desks=2, least=4), section("brass")]}
    instances = make("Orchestra", spec).component("section").instances
    assert list(instances) == ["violins", "brass"]
    violins = instances["violins"]
    assert violins.pod_template is spec["sections"][0]["template"]
    assert (violins.scale, violins.replicas, violins.has_pods) == (Scale(16, 4, None), 16, True)
    assert (violins.pod_spec, violins.pod_metadata, violins.fragmented_pod_spec) == (None, None, None)


@rows(
    ("player", "replicas"),
    [
        pytest.param(3, 3, id="C11 a number"),
        pytest.param("3", 3, id="C11 a numeric string"),
        pytest.param("+3", 3, id="C11 as Go's ParseInt reads it"),
        pytest.param(3.0, 3, id="C11 a number without a fraction"),
        pytest.param(0, 0, id="none are none, not the default"),
        pytest.param(None, None, id="C11 null is not a count"),
    ],
)
def test_counts_are_numbers_or_numeric_strings(make: Any, player: Any, replicas: int | None) -> None:
    bounds = make("Tavern", {"containers": [], "minReplicas": player}).root.scales
    assert bounds == {"": Scale(None, replicas, None)}


@rows(
    "count",
    [
        pytest.param(2.5, id="C11 a fraction"),
        pytest.param("2.5", id="C11 a fraction in a string"),
        pytest.param(" 2", id="C11 a space"),
        pytest.param(True, id="a boolean"),
        pytest.param(2**31, id="more than 32 bits"),
        pytest.param(-1, id="less than none"),
        pytest.param([1], id="a list"),
    ],
)
def test_other_counts_are_errors(make: Any, count: Any) -> None:
    with pytest.raises(
        WorkloadError, match=r"definition tavern, component tavern, minReplicasPath `.spec.minReplicas`"
    ):
        _ = make("Tavern", {"containers": [], "minReplicas": count}).root.scales


def test_c10_a_default_behind_a_whole_list_gives_too_few(make: Any, raw: Any) -> None:
    definition = raw("Orchestra")
    section_definition = definition["spec"]["structureDefinition"]["childComponents"][1]
    section_definition["scaleDefinition"] = {"replicasPath": ".spec.sections[].players // 1"}
    spec: dict[str, Any] = {"sections": [section("a", players=2), section("b"), section("c", players=0)]}
    workload = Workload(Karta.load(definition), make("Orchestra", spec).object)
    with pytest.raises(WorkloadError, match="gives 2 results for 3 instance ids"):
        _ = workload.component("section").scales


def test_c12_a_list_that_is_not_there_has_no_instances(make: Any) -> None:
    specs: list[Any] = [None, {}, {"sections": None}, {"sections": []}]
    for spec in specs:
        component = make("Orchestra", spec).component("section")
        assert (component.instance_ids, component.instances, component.pod_templates) == ((), {}, {})


def test_c13_a_conductor_without_a_template_is_nobody(make: Any) -> None:
    """`.spec.conductor.count // 1` counts one; the definition's own count stays to be seen in `scales`."""
    component = make("Orchestra", {}).component("conductor")
    instance = component.instances[""]
    assert (instance.has_pods, instance.replicas, instance.scale, instance.pod_template) == (False, 0, None, None)
    assert component.scales == {"": Scale(1, None, None)}


def test_c14_instances_of_a_map_come_sorted_by_key(make: Any) -> None:
    docks = {"west": {"cranes": 2}, "east": {"cranes": 1}}
    instances = make("Harbor", {"docks": docks}).component("dock").instances
    assert [(name, each.replicas) for name, each in instances.items()] == [("east", 1), ("west", 2)]


@rows(
    ("names", "message"),
    [
        pytest.param(["a", ""], "an empty string", id="C15 an empty id"),
        pytest.param(["a", None], "is null", id="C15 no id"),
        pytest.param(["a", 1], "is a number", id="a number"),
        pytest.param(["a", "a"], "another name", id="one id twice"),
    ],
)
def test_instance_ids_are_strings_of_which_none_is_empty_or_there_twice(
    make: Any, names: list[Any], message: str
) -> None:
    component = make("Orchestra", {"sections": [section(name) for name in names]}).component("section")
    with pytest.raises(WorkloadError, match=message):
        _ = component.instance_ids


def test_c9_results_and_ids_must_pair_up(make: Any, raw: Any) -> None:
    definition = raw("Orchestra")
    child = definition["spec"]["structureDefinition"]["childComponents"][1]
    child["specDefinition"]["podTemplateSpecPath"] = ".spec.sections[] | select(.on) | .template"
    karta = Karta.load(definition)
    for on in ([True, False], [False, False]):
        spec: dict[str, Any] = {"sections": [section(str(index), on=each) for index, each in enumerate(on)]}
        with pytest.raises(WorkloadError, match="for 2 instance ids"):
            _ = Workload(karta, make("Orchestra", spec).object).component("section").instances


def test_wrong_type_is_an_error_with_its_place(make: Any) -> None:
    component = make("Orchestra", {"sections": [section("a"), {"name": "b", "template": "x"}]}).component("section")
    said = r"gives a string where an object belongs \(at spec.sections\[1\].template\)"
    with pytest.raises(
        WorkloadError, match=rf"component section, podTemplateSpecPath `.spec.sections\[\].template`: {said}"
    ):
        _ = component.pod_templates
    assert component.scales, "what is not asked for does no harm"


def test_pod_spec_and_metadata_are_extracted(make: Any) -> None:
    spec = {"containers": [], "labels": {"a": "b"}, "maxReplicas": 3}
    instance = make("Tavern", spec).root.instances[""]
    assert instance.pod_spec is instance.pod_metadata is spec
    assert (instance.scale, instance.replicas) == (Scale(None, None, 3), 1)


def test_pods_in_pieces_come_as_they_are(make: Any) -> None:
    main = {"name": "main", "image": "crane:1"}
    docks = {"a": {"scheduler": "kai", "main": main, "claims": []}, "b": {}}
    specs = make("Harbor", {"docks": docks}).component("dock").fragmented_pod_specs
    assert specs == {
        "a": FragmentedPodSpec(
            scheduler_name="kai", container=main, image="crane:1", resource_claims=[], priority_class_name="p-null"
        ),
        "b": FragmentedPodSpec(priority_class_name="p-null"),
    }


def test_pieces_of_whole_pods_come_from_their_places(make: Any) -> None:
    pods: dict[str, Any] = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "schedulerName": "kai",
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}},
            "containers": [{"name": "main", "image": "violin:1", "resources": {"limits": {"cpu": 1}}}],
        },
    }
    sections = [{"name": "a", "template": pods}, {"name": "b", "template": None}]
    specs = make("Orchestra", {"sections": sections}).component("section").fragmented_pod_specs
    assert specs == {
        "a": FragmentedPodSpec(
            scheduler_name="kai",
            labels={"a": "b"},
            node_affinity={"requiredDuringSchedulingIgnoredDuringExecution": {}},
            containers=pods["spec"]["containers"],
            container=pods["spec"]["containers"][0],
            image="violin:1",
            resources={"limits": {"cpu": 1}},
        ),
        "b": FragmentedPodSpec(),
    }
    two = [{"name": "main", "image": "a"}, {"name": "log", "image": "b"}]
    several = make("Tavern", {"containers": two, "labels": {"c": "d"}}).root.fragmented_pod_specs[""]
    assert several == FragmentedPodSpec(labels={"c": "d"}, containers=two), "image and resources of none of them"


def test_fragment_of_wrong_type_is_an_error(make: Any) -> None:
    component = make("Harbor", {"docks": {"a": {"labels": []}}}).component("dock")
    with pytest.raises(WorkloadError, match=r"labelsPath .* gives a list where an object belongs"):
        _ = component.fragmented_pod_specs


def test_component_without_definition_of_parts_has_no_parts(make: Any) -> None:
    component = make("Orchestra", {}).component("chair")
    assert component.pod_templates == component.pod_specs == component.pod_metadata == component.scales == {}
    assert component.fragmented_pod_specs == {}
    assert component.instances[""].replicas == 1


def test_undefined_parts_are_empty_despite_wrong_instance_ids(make: Any) -> None:
    section = make("Orchestra", {"sections": [{"name": ""}]}).component("section")
    chair = make("Orchestra", {"sections": [{"name": ""}]}).component("chair")
    assert (section.pod_specs, section.pod_metadata) == ({}, {})
    assert (chair.pod_templates, chair.scales, chair.fragmented_pod_specs) == ({}, {}, {})
    for read in ("pod_templates", "fragmented_pod_specs", "scales", "instances"):
        with pytest.raises(WorkloadError, match="an empty string; an instance id is a string that is not empty"):
            getattr(section, read)
