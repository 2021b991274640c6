from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.evaluation.pods import PodSet, leaves_count_unset, pod_sets, scale_locations
from tests.support.rows import rows

Raw = dict[str, Any]

POD = {"containers": [{"name": "main", "image": "pot"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}


def section(name: str, **fields: Any) -> Raw:
    return {"name": name, "template": TEMPLATE, **fields}


def shape(sets: tuple[PodSet, ...]) -> list[tuple[Any, ...]]:
    return [(s.name, s.component, s.instance, s.replicas) for s in sets]


@rows(
    ("toy", "spec", "expected"),
    [
        pytest.param("brew", {"template": TEMPLATE, "kettles": 3}, [("brew", "brew", "", 3)], id="one template"),
        pytest.param("brew", {"template": TEMPLATE}, [("brew", "brew", "", 1)], id="its default"),
        pytest.param("brew", {"kettles": 3}, [], id="no template, so no pods, whatever is counted"),
        pytest.param("brew", {"template": None, "kettles": 3}, [], id="null is not a template"),
        pytest.param("brew", {"template": {}}, [], id="neither is an empty one"),
        pytest.param("brew", {"template": {"metadata": {"labels": {}}}}, [], id="nor one without spec"),
        pytest.param("brew", {"template": {"spec": None}}, [], id="nor one whose spec is null"),
        pytest.param("brew", None, [], id="nor is there one without a spec"),
        pytest.param(
            "orchestra",
            {
                "conductor": {"pod": POD},
                "sections": [section("violins", players=9, least=2, most=12), section("brass", least="3")],
            },
            [
                ("conductor", "conductor", "", 1),
                ("violins", "section", "violins", 9),
                ("brass", "section", "brass", 3),
            ],
            id="components as defined, instances as listed; the minimum counts where replicas are unset",
        ),
        pytest.param("orchestra", {"conductor": {"pod": POD}}, [("conductor", "conductor", "", 1)],
            id="a list that is not there has no instances"),
        pytest.param("orchestra",
            {"sections": [section("violins", players=1), {"name": "brass", "players": 5}, section("oboe", players=0)]},
            [("violins", "section", "violins", 1), ("oboe", "section", "oboe", 0)],
            id="an instance without a template is left out, the others keep their own counts"),
        pytest.param("harbor",
            {"docks": {"west": {"image": "crane", "cranes": 2}, "east": {"image": "crane"}, "dry": {}}},
            [("dry", "dock", "dry", 1), ("east", "dock", "east", 1), ("west", "dock", "west", 2)],
            id="a map is in order of its keys; an entry exists even if it says nothing of its pods"),
    ],
)  # fmt: skip
def test_pod_sets(compiled: dict[str, Definition], toy: str, spec: Any, expected: list[tuple[Any, ...]]) -> None:
    assert shape(pod_sets(compiled[toy], {"spec": spec})) == expected


@rows(
    ("toy", "spec", "template"),
    [
        pytest.param("brew", {"template": TEMPLATE}, TEMPLATE, id="a template as it is"),
        pytest.param("orchestra", {"conductor": {"pod": POD}}, {"spec": POD}, id="a spec becomes a template"),
        pytest.param("orchestra", {"conductor": {"pod": {}}}, {"spec": {}}, id="an empty spec is one"),
        pytest.param("orchestra", {"conductor": {"pod": POD, "meta": {"labels": {"x": "y"}}}},
            {"metadata": {"labels": {"x": "y"}}, "spec": POD}, id="with its metadata"),
    ],
)  # fmt: skip
def test_templates(compiled: dict[str, Definition], toy: str, spec: Raw, template: Raw) -> None:
    (only,) = pod_sets(compiled[toy], {"spec": spec})
    assert only.template == template


@rows(
    ("toy", "spec", "message"),
    [
        pytest.param("brew", {"template": "pot"},
            "definition brew, component brew, podTemplateSpecPath `.spec.template`: gives a string where an object",
            id="a template of the wrong type"),
        pytest.param("brew", {"template": {"spec": []}},
            "podTemplateSpecPath `.spec.template`: gives a template whose spec is a list",
            id="a spec of the wrong type"),
        pytest.param("orchestra", {"conductor": {"pod": 1}},
            "component conductor, podSpecPath `.spec.conductor.pod`: gives a number where an object",
            id="a bare spec of the wrong type"),
        pytest.param("orchestra", {"conductor": {"pod": {}, "meta": "x"}},
            "component conductor, metadataPath `.spec.conductor.meta`: gives a string where an object",
            id="metadata of the wrong type"),
        pytest.param("orchestra", {"sections": {"violins": 1}},
            "component section, instanceIdPath `.spec.sections[].name`: ",
            id="the failing expression is named with its reason"),
        pytest.param("orchestra", {"sections": [section("violins", players=-1)]},
            "component section, replicasPath `.spec.sections[].players`: gives -1", id="a count that is none"),
    ],
)  # fmt: skip
def test_failures(compiled: dict[str, Definition], toy: str, spec: Raw, message: str) -> None:
    with pytest.raises(InterpretationError) as caught:
        pod_sets(compiled[toy], {"spec": spec})
    assert message in str(caught.value)


def redefined(raw: Raw, field: str, expression: str) -> Definition:
    """The orchestra with another expression in its section."""
    at = ("spec", "structureDefinition", "childComponents", 1)
    return load_definition(edit.set_value(raw, (*at, *field.split(".")), expression))


@rows(
    ("field", "expression", "message"),
    [
        pytest.param("specDefinition.podTemplateSpecPath", ".spec.sections[] | select(.template).template",
            "podTemplateSpecPath `.spec.sections[] | select(.template).template`: gives 1 result for 2 instance ids",
            id="fewer templates than ids"),
        pytest.param("instanceIdPath", ".spec.sections[] | select(.template).name",
            "gives 2 results for 1 instance ids of instanceIdPath `.spec.sections[] | select(.template).name`",
            id="fewer ids than templates"),
        pytest.param("specDefinition.podTemplateSpecPath", ".spec.missing[]", "gives 0 results for 2 instance ids",
            id="no template at all for ids that exist"),
        pytest.param("scaleDefinition.replicasPath", ".spec.sections[].players // 1",
            "replicasPath `.spec.sections[].players // 1`: gives 1 result for 2 instance ids",
            id="the default of a whole list"),
    ],
)  # fmt: skip
def test_positions_must_match(orchestra: Raw, field: str, expression: str, message: str) -> None:
    definition = redefined(orchestra, field, expression)
    sections = [section("violins", players=2), {"name": "brass"}]
    with pytest.raises(InterpretationError) as caught:
        pod_sets(definition, {"spec": {"sections": sections}})
    assert message in str(caught.value)


def test_counts_are_not_read_where_no_pods_exist(brew: Raw) -> None:
    at = ("spec", "structureDefinition", "rootComponent", "scaleDefinition", "replicasPath")
    failing = load_definition(edit.set_value(brew, at, ".spec.kettles * 2"))
    assert pod_sets(failing, {"spec": {}}) == ()


def test_several_pod_sets_need_ids(brew: Raw) -> None:
    at = ("spec", "structureDefinition", "rootComponent", "specDefinition", "podTemplateSpecPath")
    several = load_definition(edit.set_value(brew, at, ".spec.templates[]"))
    assert pod_sets(several, {"spec": {}}) == ()
    assert len(pod_sets(several, {"spec": {"templates": [TEMPLATE]}})) == 1
    with pytest.raises(InterpretationError, match="gives 2 results, but a component without instanceIdPath"):
        pod_sets(several, {"spec": {"templates": [TEMPLATE, TEMPLATE]}})


def test_pod_sets_does_not_change_the_object(compiled: dict[str, Definition]) -> None:
    obj = {"spec": {"template": TEMPLATE}}
    before = repr(obj)
    (only,) = pod_sets(compiled["brew"], obj)
    assert repr(obj) == before
    assert only.template is TEMPLATE


def test_locations_belong_to_their_pod_sets(compiled: dict[str, Definition]) -> None:
    sections = [section("violins", players=9, least=2), {"name": "brass"}, section("oboe", players=1)]
    obj = {"spec": {"conductor": {"pod": POD}, "sections": sections}}
    conductor, violins, oboe = scale_locations(compiled["orchestra"], obj)
    assert (conductor.replicas, conductor.minimum, conductor.maximum) == (None, None, None)
    assert violins.pod_set.name == "violins"
    assert violins.replicas is not None
    assert violins.replicas.path == ("spec", "sections", 0, "players")
    assert violins.minimum is not None
    assert violins.minimum.path == ("spec", "sections", 0, "least")
    assert oboe.replicas is not None
    assert oboe.replicas.path == ("spec", "sections", 2, "players")
    assert [location.pod_set for location in (conductor, violins, oboe)] == list(pod_sets(compiled["orchestra"], obj))


@rows("expression", ["1", "3 + 4", "if .spec.paused then 0 else 1 end"])
def test_computed_count_has_no_place(brew: Raw, expression: str) -> None:
    at = ("spec", "structureDefinition", "rootComponent", "scaleDefinition", "replicasPath")
    definition = load_definition(edit.set_value(brew, at, expression))
    (only,) = scale_locations(definition, {"spec": {"template": TEMPLATE}})
    assert only.replicas is None


@rows(
    ("toy", "spec", "is_left"),
    [
        pytest.param("brew", {"template": TEMPLATE, "kettles": 0}, False, id="none is a number"),
        pytest.param("brew", {"template": TEMPLATE}, True, id="a default is not the object's word"),
        pytest.param("brew", {}, False, id="no pods, no count"),
        pytest.param("brew", {"template": TEMPLATE, "kettles": "many"}, False, id="nor is one read that is there"),
        pytest.param("orchestra", {"conductor": {"pod": POD}, "sections": [section("oboe", players=1)]}, False,
            id="bounds that nobody needs"),
        pytest.param("orchestra", {"sections": [section("oboe", players=1), section("brass", least=1)]}, True,
            id="one section of several"),
        pytest.param("orchestra", {"sections": [section("oboe", players=1), {"name": "brass"}]}, False,
            id="a section that has no pods"),
    ],
)  # fmt: skip
def test_leaves_count_unset(compiled: dict[str, Definition], toy: str, spec: Any, is_left: bool) -> None:
    assert leaves_count_unset(compiled[toy], {"spec": spec}) is is_left


def test_minimum_counts_if_replicas_have_no_place(brew: Raw) -> None:
    at = ("spec", "structureDefinition", "rootComponent", "scaleDefinition")
    bounds = {"replicasPath": "if .spec.fixed then 1 else .spec.kettles end", "minReplicasPath": ".spec.least"}
    definition = load_definition(edit.set_value(brew, at, bounds))
    unset = [
        leaves_count_unset(definition, {"spec": {"template": TEMPLATE, **spec}})
        for spec in ({"fixed": True}, {"fixed": True, "least": 1}, {"kettles": 1}, {"least": 1})
    ]
    assert unset == [True, False, False, True]
