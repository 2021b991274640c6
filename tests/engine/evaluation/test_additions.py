"""Containers that an operator adds, as the annotation says: in what is counted, and not in what is changed."""

import copy
import re
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import Counting, edit, pod_requirements
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.evaluation.pods import pod_sets, pod_templates
from tests.support.rows import rows

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


@rows(
    ("text", "conductor", "section"),
    [
        pytest.param("section: '{containers: [{name: \"proxy\"}]}'", {"initContainers": [WAIT]},
            {"containers": [VIOLIN, PROXY]}, id="all instances of the component get it, and no other component"),
        pytest.param("conductor: '{initContainers: [.spec.extra]}'", {"initContainers": [WAIT, PROXY]},
            {"containers": [VIOLIN]}, id="added to those of a bare pod spec, after its own"),
        pytest.param("conductor: '{firstInitContainers: [.spec.extra]}'", {"initContainers": [PROXY, WAIT]},
            {"containers": [VIOLIN]}, id="before its own init containers"),
        pytest.param("conductor: '{initContainers: [{name: \"last\"}], firstInitContainers: [.spec.extra]}'",
            {"initContainers": [PROXY, WAIT, {"name": "last"}]}, {"containers": [VIOLIN]}, id="on both sides of them"),
        pytest.param("section: '{firstInitContainers: [.spec.extra]}'", {"initContainers": [WAIT]},
            {"containers": [VIOLIN], "initContainers": [PROXY]}, id="first where there were none"),
        pytest.param("conductor: '{containers: [.spec.extra]}'", {"initContainers": [WAIT], "containers": [PROXY]},
            {"containers": [VIOLIN]}, id="where there were none"),
        pytest.param("{conductor: '.spec.nothing', section: '.spec | select(.extra == null) | {containers: [{}]}'}",
            {"initContainers": [WAIT]}, {"containers": [VIOLIN]}, id="null and no result at all are nothing"),
        pytest.param("section: '{containers: .spec.nothing, initContainers: []}'", {"initContainers": [WAIT]},
            {"containers": [VIOLIN]}, id="and so is a list that is null or empty"),
    ],
)  # fmt: skip
def test_added_containers_come_where_the_annotation_puts_them(
    orchestra: Raw, text: str, conductor: JSON, section: JSON
) -> None:
    definition, obj = adding(orchestra, text), playing(extra=PROXY)
    before = copy.deepcopy(obj)
    found = {pods.name: pods.template["spec"] for pods in pod_sets(definition, obj)}
    assert found == {"conductor": conductor, "first": section, "second": section}
    assert [template["spec"] for *_, template in pod_templates(definition, obj)] == list(found.values())
    assert obj == before


_SOLO = {"name": "solo"}
_EACH = ".spec.sections[] | if .proxy then {containers: [.proxy]} else null end"


@rows(
    ("expression", "proxies", "added"),
    [
        pytest.param(_EACH, [PROXY, None, _SOLO], [[PROXY], [], [_SOLO]], id="one output for each, null for none"),
        pytest.param("{containers: .spec.sections[].extra}", [PROXY, None, _SOLO], [[PROXY], [], [_SOLO]],
            id="an object for each of its values"),
        pytest.param(".spec.sections[] | select(.proxy) | {containers: [.proxy]}", [None, None, None], [[], [], []],
            id="no output at all is nothing for each"),
        pytest.param(".spec.sections[0].proxy | {containers: [.]}", [PROXY, None, None], [[PROXY], [PROXY], [PROXY]],
            id="an expression that cannot choose means all"),
        pytest.param("{containers: [.spec.extra]}", [], [], id="no instances"),
        pytest.param(_EACH, [], [], id="no instances, for each"),
    ],
)  # fmt: skip
def test_added_containers_of_each_instance(orchestra: Raw, expression: str, proxies: JSON, added: JSON) -> None:
    sections = [
        {
            "name": f"{number}",
            "players": 1,
            "template": {"spec": {"containers": [VIOLIN]}},
            **({"proxy": proxy, "extra": [proxy]} if proxy else {}),
        }
        for number, proxy in enumerate(proxies)
    ]
    definition, obj = adding(orchestra, f"section: '{expression}'"), {"spec": {"sections": sections, "extra": PROXY}}
    found = [pods.template["spec"]["containers"] for pods in pod_sets(definition, obj)]
    assert found == [[VIOLIN, *each] for each in added]
    assert [template["spec"]["containers"] for *_, template in pod_templates(definition, obj)] == found


def test_instance_without_template_gets_no_pods_of_added_containers(orchestra: Raw) -> None:
    definition, obj = adding(orchestra, "section: '{containers: [.spec.extra]}'"), playing(extra=PROXY)
    del obj["spec"]["sections"][0]["template"]
    found = {pods.name: pods.template["spec"]["containers"] for pods in pod_sets(definition, obj) if pods.instance}
    assert found == {"second": [VIOLIN, PROXY]}


@rows(
    ("text", "message"),
    [
        pytest.param("section: '.spec.sections[] | select(.name == \"first\") | {}'",
            "gives 1 result for 2 instance ids of instanceIdPath `.spec.sections[].name`",
            id="of one instance, which one is not known"),
        pytest.param("section: '{containers: (.spec.sections[] | select(.name == \"first\") | [.proxy])}'",
            "gives 1 result for 2 instance ids", id="inside of an object"),
        pytest.param("section: '.spec | {}, {}, {}'", "gives 3 results for 2 instance ids",
            id="more than there are instances"),
        pytest.param("conductor: '.spec.sections[] | {}'",
            "gives 2 results, but a component without instanceIdPath has exactly one instance",
            id="several for a component without instances"),
    ],
)  # fmt: skip
def test_added_containers_are_never_of_another_instance(orchestra: Raw, text: str, message: str) -> None:
    definition = adding(orchestra, text)
    with pytest.raises(InterpretationError, match=re.escape(message)):
        pod_sets(definition, playing())
    with pytest.raises(InterpretationError, match=r"annotation added-containers .*: gives \d result"):
        list(pod_templates(definition, playing()))


@rows(
    ("text", "rules"),
    [
        pytest.param(f"section: '{_EACH}'", [], id="one for each"),
        pytest.param("section: '.spec | select(.extra) | {}'", [], id="one for all"),
        pytest.param(
            "section: '.spec.sections[] | select(.proxy) | {}'", ["ids-differ"], id="for those that are selected"
        ),
        pytest.param("conductor: '.spec.sections[] | {}'", ["several-without-ids"], id="several, and no instances"),
    ],
)
def test_added_containers_that_may_not_fit_the_instances_are_found(orchestra: Raw, text: str, rules: list[str]) -> None:
    findings = adding(orchestra, text).findings
    assert [finding.rule for finding in findings] == rules
    assert all(finding.path[-1] == "karta-interpreter.io/added-containers" for finding in findings)


def test_pods_that_do_not_exist_get_none(orchestra: Raw) -> None:
    definition = adding(orchestra, "conductor: '{containers: [{}]}'")
    assert [pods.name for pods in pod_sets(definition, playing(conductor=None))] == ["first", "second"]


@rows(
    ("text", "message"),
    [
        pytest.param("'[]'", "annotation added-containers `\\[\\]`: gives a list where an object belongs", id="a list"),
        pytest.param("'{volumes: []}'", "annotation added-containers .*: gives volumes as a list; there are the lists",
            id="another field"),
        pytest.param("'{containers: {}}'",
            "annotation added-containers .*: gives containers as an object; there are the lists .* \\[\\{",
            id="no list"),
        pytest.param("'.spec.extra + 1'", "annotation added-containers `.spec.extra .*`: .*cannot",
            id="an expression that fails"),
    ],
)  # fmt: skip
def test_added_value_that_is_not_a_container_is_an_error(orchestra: Raw, text: str, message: str) -> None:
    definition = adding(orchestra, f"section: {text}")
    with pytest.raises(InterpretationError, match=f"^definition orchestra, {message}"):
        pod_sets(definition, playing(extra=PROXY))


def test_containers_of_wrong_type_stay_for_the_reader(orchestra: Raw) -> None:
    definition = adding(orchestra, "conductor: '{containers: [{}]}'")
    (conductor,) = pod_sets(definition, {"spec": {"conductor": {"pod": {"containers": 5}}}})
    assert conductor.template["spec"] == {"containers": 5}


def test_templates_do_not_need_ids_or_counts(orchestra: Raw) -> None:
    definition = load_definition(orchestra)
    nameless = {"players": "many", "template": {"spec": {"containers": [VIOLIN]}}}
    obj = {"spec": {"sections": [nameless, nameless, {"template": None}]}}
    found = [(component.name, position, template) for component, position, template in pod_templates(definition, obj)]
    assert found == [("section", position, nameless["template"]) for position in (0, 1)]
    with pytest.raises(InterpretationError, match="an instance id is a string"):
        pod_sets(definition, obj)


_GROUP = """
conductor: >-
  {FIELD: [{name: "band", containers: [
    {resources: .spec.common, containers: [.spec.players[] | {name, resources}]},
    {name: "proxy", resources: .spec.proxy}
  ]}]}
"""


@rows(
    ("players", "requests"),
    [
        pytest.param([{"limits": {"a.io/x": 2}}, None], {"a.io/x": "4", "cpu": "500m", "memory": "2Gi"},
            id="the common amounts are those of each member without its own"),
        pytest.param([{"limits": {"cpu": 8}}, {"requests": {"cpu": "1"}}],
            {"a.io/x": "3", "cpu": "1250m", "memory": "2Gi"}, id="a common request goes before a limit"),
        pytest.param([], {"a.io/x": "1"}, id="no members"),
    ],
)  # fmt: skip
def test_init_containers_added_together_request_their_sum(
    orchestra: Raw, players: list[JSON], requests: dict[str, str]
) -> None:
    definition = adding(orchestra, _GROUP.replace("FIELD", "initContainers"))
    common = {"limits": {"a.io/x": "1", "memory": "1Gi"}, "requests": {"cpu": "250m"}}
    members = [{"name": f"p{number}", "resources": resources} for number, resources in enumerate(players)]
    obj = playing(common=common, players=members, proxy={"limits": {"a.io/x": 1}})
    conductor = pod_sets(definition, obj)[0].template["spec"]["initContainers"]
    assert conductor[-1] == {"name": "band", "resources": {"requests": requests}}
    assert [container["name"] for container in conductor[1:-1]] == [*(member["name"] for member in members), "proxy"]
    assert pod_requirements({"spec": {"initContainers": conductor}}, Counting.SCHEDULER).to_json() == {
        "resourceRequest": requests
    }


def test_containers_added_together_have_what_their_group_has(orchestra: Raw) -> None:
    text = "conductor: '{containers: [{resources: .spec.common, containers: .spec.players}]}'"
    players = [{"name": "p"}, {"name": "q", "resources": {"limits": {"cpu": "2"}, "requests": None}}, "r"]
    obj = playing(common={"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": 1}}, players=players)
    first, second, other = pod_sets(adding(orchestra, text), obj)[0].template["spec"]["containers"]
    assert first == {"name": "p", "resources": obj["spec"]["common"]}
    assert second["resources"] == {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": 1}}
    assert other == "r", "the reader of containers reports it"


def test_wrong_amount_of_containers_added_together_stays_for_the_reader(orchestra: Raw) -> None:
    definition = adding(orchestra, _GROUP.replace("FIELD", "initContainers"))
    obj = playing(players=[{"name": "p", "resources": {"limits": {"cpu": "much"}}}])
    (template,) = [pods.template for pods in pod_sets(definition, obj) if pods.name == "conductor"]
    with pytest.raises(InterpretationError, match=r"resources\.limits\.cpu: .*much"):
        pod_requirements(template, Counting.SCHEDULER)
