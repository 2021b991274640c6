"""What scripts return, as Karmada takes it or refuses it."""

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.base.karmada import SLOTS, Operation
from karta_interpreter.languages.lua.results import FUNCTION, read_results, remarks
from tests.support.rows import rows

_MISSING_KIND = "json unmarshal obj failed: Object 'Kind' is missing in"


@rows(
    ("returned", "answer"),
    [
        pytest.param((3,), {"replica": 3, "requires": None}, id="no second result"),
        pytest.param((3, None), {"replica": 3, "requires": None}, id="nil for a second result"),
        pytest.param((2.9, None), {"replica": 2, "requires": None}, id="a fraction goes"),
        pytest.param((-0.5, None), {"replica": 0, "requires": None}, id="towards zero"),
        pytest.param((-2, None), {"replica": -2, "requires": None}, id="a negative number is a number"),
        pytest.param((1, []), {"replica": 1, "requires": {}}, id="an empty table requires nothing in particular"),
        pytest.param(
            (1, {"resourceRequest": {"memory": "2048Mi", "cpu": 0.5}}),
            {"replica": 1, "requires": {"resourceRequest": {"cpu": "500m", "memory": "2Gi"}}},
            id="quantities may be numbers and come back as Go writes them",
        ),
        pytest.param(
            (1, {"ResourceRequest": {"CPU": "1"}, "NAMESPACE": "team", "colour": "blue"}),
            {"replica": 1, "requires": {"resourceRequest": {"CPU": "1"}, "namespace": "team"}},
            id="fields in any case, unknown ones ignored, keys of maps as they are",
        ),
        pytest.param(
            (1, {"nodeClaim": {"nodeSelector": [], "tolerations": []}, "priorityClassName": ""}),
            {"replica": 1, "requires": {"nodeClaim": {}}},
            id="empty fields are left out, an object that has become empty is not",
        ),
        pytest.param(
            (1, {"nodeClaim": {"hardNodeAffinity": {"nodeSelectorTerms": [{"matchFields": [{"key": "a"}]}]}}}),
            {
                "replica": 1,
                "requires": {
                    "nodeClaim": {
                        "hardNodeAffinity": {"nodeSelectorTerms": [{"matchFields": [{"key": "a", "operator": ""}]}]}
                    }
                },
            },
            id="a required field is written without a value",
        ),
        pytest.param(
            (1, {"nodeClaim": {"tolerations": [{"key": "a", "tolerationSeconds": 0, "value": ""}]}}),
            {"replica": 1, "requires": {"nodeClaim": {"tolerations": [{"key": "a", "tolerationSeconds": 0}]}}},
            id="a zero behind a pointer is written",
        ),
        pytest.param((1, {"resourceRequest": {"cpu": []}}), {"replica": 1, "requires": {}}, id="empty tables vanish"),
        pytest.param((1, None, "more"), {"replica": 1, "requires": None}, id="further results do not matter"),
    ],
)
def test_replicas(returned: tuple[Any, ...], answer: dict[str, Any]) -> None:
    assert read_results("InterpretReplica", returned) == answer


@rows(
    ("returned", "components"),
    [
        pytest.param((None,), None, id="nil"),
        pytest.param((), None, id="no result"),
        pytest.param(([],), [], id="an empty table"),
        pytest.param(([{"name": "a", "replicas": 2}],), [{"name": "a", "replicas": 2}], id="a component"),
        pytest.param(([{"Replicas": 2}],), [{"name": "", "replicas": 2}], id="without a name, which is written"),
        pytest.param(
            ([{"name": "a", "replicas": 1, "replicaRequirements": {"namespace": "x", "resourceRequest": {"cpu": 1}}}],),
            [{"name": "a", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}],
            id="a component's requirements have no namespace",
        ),
        pytest.param(([[], {"name": "a"}, []],), [{"name": "a", "replicas": 0}], id="empty elements vanish"),
        pytest.param(
            ([{"REPLICAS": 1, "replicas": 2, "Replicas": 3}],),
            [{"name": "", "replicas": 2}],
            id="of several spellings the last one in the order of bytes counts",
        ),
    ],
)
def test_components(returned: tuple[Any, ...], components: list[Any] | None) -> None:
    assert read_results("InterpretComponent", returned) == {"components": components}


@rows(
    ("operation", "returned", "references", "answer"),
    [
        pytest.param(
            "Retain",
            ({"kind": "Job", "a": [], "b": [], "c": []},),
            ({"a": {}}, {"b": []}),
            {"retained": {"kind": "Job", "a": {}, "b": []}},
            id="Retain: empty as in either object",
        ),
        pytest.param(
            "ReviseReplica",
            ({"kind": "Job", "a": []},),
            ({"a": {}},),
            {"revised": {"kind": "Job", "a": {}}},
            id="ReviseReplica: empty as in the object",
        ),
        pytest.param(
            "AggregateStatus",
            ({"kind": "Job", "status": {"conditions": [], "active": 1}},),
            (),
            {"aggregatedStatus": {"kind": "Job", "status": {"active": 1}}},
            id="AggregateStatus: nothing empty comes through",
        ),
        pytest.param("InterpretStatus", ([],), (), {"status": {}}, id="a status may be empty"),
        pytest.param("InterpretStatus", ({"a": 1, "b": {}},), (), {"status": {"a": 1}}, id="its parts may not"),
        pytest.param("InterpretStatus", ([1],), (), {"status": [1]}, id="a list is a table"),
        pytest.param("InterpretHealth", (True,), (), {"healthy": True}, id="healthy"),
        pytest.param("InterpretHealth", (False,), (), {"healthy": False}, id="unhealthy"),
        pytest.param("InterpretDependency", ([],), (), {"dependencies": []}, id="no dependencies"),
        pytest.param(
            "InterpretDependency",
            ([{"APIVersion": "v1", "kind": "Secret", "name": "a", "namespace": "", "uid": "1"}],),
            (),
            {"dependencies": [{"apiVersion": "v1", "kind": "Secret", "name": "a"}]},
            id="a dependency",
        ),
    ],
)
def test_other_operations(
    operation: str, returned: tuple[Any, ...], references: tuple[Any, ...], answer: dict[str, Any]
) -> None:
    assert read_results(operation, returned, references) == answer


@rows(
    ("operation", "returned", "message"),
    [
        pytest.param(
            "InterpretReplica",
            (),
            "result type 0 is not number, but nil",
            id="no replicas",
        ),
        pytest.param(
            "InterpretReplica",
            (True,),
            "result type 1 is not number, but boolean",
            id="a boolean for replicas",
        ),
        pytest.param(
            "InterpretReplica",
            ("3",),
            "result type 3 is not number, but string",
            id="a string for replicas",
        ),
        pytest.param(
            "InterpretReplica",
            (FUNCTION,),
            "result type 4 is not number, but function",
            id="a function for replicas",
        ),
        pytest.param(
            "InterpretReplica",
            (math.nan,),
            "GetReplicas returned nan, which is more than replicas can be: 2147483647",
            id="NaN for replicas",
        ),
        pytest.param(
            "InterpretReplica",
            (1, FUNCTION),
            "expect the returned requires type is table but got function",
            id="a function for requirements",
        ),
        pytest.param(
            "InterpretReplica",
            ([],),
            "result type 7 is not number, but table",
            id="a table for replicas",
        ),
        pytest.param(
            "InterpretReplica",
            (2**31,),
            "GetReplicas returned 2147483648, which is more than replicas can be: 2147483647",
            id="more replicas than Karmada can count",
        ),
        pytest.param(
            "InterpretReplica",
            (1, "x"),
            "expect the returned requires type is table but got string",
            id="a string for requirements",
        ),
        pytest.param(
            "InterpretReplica",
            (1, [1]),
            "json unmarshal obj failed: json: cannot unmarshal array into Go value of type ReplicaRequirements",
            id="a list for requirements",
        ),
        pytest.param(
            "InterpretReplica",
            (1, {"resourceRequest": {"cpu": "1mm"}}),
            "json unmarshal obj failed: resourceRequest.cpu: unable to parse quantity's suffix",
            id="a quantity that is none",
        ),
        pytest.param(
            "InterpretComponent",
            (True,),
            "expected result type 'table' or 'nil' from GetComponents, but got 'boolean'",
            id="a boolean for components",
        ),
        pytest.param(
            "InterpretComponent",
            ({"name": "a"},),
            "failed to convert lua table for components: json unmarshal obj failed: "
            "json: cannot unmarshal object into Go value of type []Component",
            id="one component without its list",
        ),
        pytest.param(
            "InterpretComponent",
            ([{"name": "a", "replicas": 1.5}],),
            "failed to convert lua table for components: json unmarshal obj failed: "
            "json: cannot unmarshal number 1.5 into Go struct field Component[0].replicas of type int32",
            id="half a replica",
        ),
        pytest.param(
            "ReviseReplica",
            (None,),
            "expect the returned requires type is table but got nil",
            id="nothing revised",
        ),
        pytest.param(
            "Retain",
            (1,),
            "expect the returned requires type is table but got number",
            id="a number for an object",
        ),
        pytest.param("Retain", ([],), f"{_MISSING_KIND} '{{}}'", id="an empty object has no kind"),
        pytest.param(
            "AggregateStatus",
            ([{"kind": "Job"}],),
            "json unmarshal obj failed: json: cannot unmarshal array into Go value of type map[string]interface {}",
            id="a list of objects",
        ),
        pytest.param("Retain", ({"kind": ""},), _MISSING_KIND + """ '{"kind":""}'""", id="an empty kind"),
        pytest.param("Retain", ({"kind": 1},), _MISSING_KIND + """ '{"kind":1}'""", id="a kind that is not a name"),
        pytest.param(
            "InterpretStatus",
            (None,),
            "expect the returned replica type is table but got nil",
            id="no status",
        ),
        pytest.param(
            "InterpretHealth",
            (None,),
            "result type 0 is not bool, but nil",
            id="no health",
        ),
        pytest.param(
            "InterpretHealth",
            (FUNCTION,),
            "result type 4 is not bool, but function",
            id="a function for health",
        ),
        pytest.param(
            "InterpretHealth",
            (1,),
            "result type 2 is not bool, but number",
            id="a number for health",
        ),
        pytest.param(
            "InterpretDependency",
            (None,),
            "expect the returned requires type is table but got nil",
            id="nil for dependencies, which is fine for components",
        ),
    ],
)
def test_refused(operation: str, returned: tuple[Any, ...], message: str) -> None:
    with pytest.raises(LuaRunError) as refused:
        read_results(operation, returned)
    assert str(refused.value) == message
    assert refused.value.hint.startswith(f"{SLOTS[operation].function} must return ")
    assert ("a quantity is written" in refused.value.hint) == ("quantity" in message)


def test_kind_is_missing_behind_version_of_three_parts() -> None:
    with pytest.raises(LuaRunError, match="Object 'Kind' is missing"):
        read_results("Retain", ({"apiVersion": "a/b/c", "kind": "Job"},))


def test_object_in_message_is_cut_short() -> None:
    with pytest.raises(LuaRunError) as refused:
        read_results("Retain", ({"data": "x" * 10_000},))
    assert len(str(refused.value)) < 300


_TEMPLATE = {"kind": "Job", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 4}}
_MEMBER = {**_TEMPLATE, "status": {"replicas": 2}}
_ITEMS = [{"clusterName": name, "status": {"replicas": 2, "phase": "Running"}} for name in ("one", "two")]
_AMOUNTS = {"resourceRequest": {"cpu": "1"}}
_POD = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "web"}


@rows(
    ("operation", "others", "returned", "remark"),
    [
        pytest.param("InterpretReplica", (), (-1,), "replicas is -1, less than none", id="fewer than none"),
        pytest.param("InterpretReplica", (), (1.5,), "drops the fraction of replica", id="a fraction"),
        pytest.param(
            "InterpretReplica", (), (1, {"resourceRequest": {"memory": 1024}}), "is 1024Mi meant?", id="bytes"
        ),
        pytest.param("InterpretReplica", (), (1, {"resourceRequest": {"cpu": "500"}}), "cpu is 500 cores", id="cores"),
        pytest.param(
            "InterpretReplica", (), (1, {"resourceRequest": {"memory": 2}}), "is 2Gi meant?", id="a few bytes"
        ),
        pytest.param(
            "InterpretReplica", (), (1, {"resourceRequest": {"cpu": "4Gi"}}), "is memory meant?", id="memory as cores"
        ),
        pytest.param(
            "InterpretReplica", (), (1, {"resourceRequest": {"gpu": 1}}), "gpu is no resource", id="a resource"
        ),
        pytest.param(
            "InterpretReplica", (), (1, {"resourceRequest": {"nvidia.com/gpu": "1500m"}}), "as 2", id="half a GPU"
        ),
        pytest.param(
            "InterpretReplica",
            (),
            (1, {**_AMOUNTS, "nodeClaim": {"nodeAffinity": {"b": 1}}}),
            "drops requires.nodeClaim.nodeAffinity: write nodeClaim.hardNodeAffinity",
            id="an affinity",
        ),
        pytest.param(
            "InterpretComponent",
            (),
            ([{"name": "a", "replicas": 1, "replicaRequirements": {**_AMOUNTS, "toleration": [{}]}}],),
            "write nodeClaim.tolerations",
            id="a toleration",
        ),
        pytest.param("InterpretReplica", (), (1, []), "the requirements are empty", id="empty requirements"),
        pytest.param("InterpretReplica", (), (1, {"resourceRequest": {"memory": "1Gi", "cpu": 8}}), "", id="amounts"),
        pytest.param(
            "InterpretComponent",
            (),
            ([{"name": "a", "replicas": 1}] * 2,),
            "2 components are called a",
            id="one name twice",
        ),
        pytest.param("InterpretComponent", (), ([{"replicas": 1}],), "a component has no name", id="no name"),
        pytest.param("InterpretComponent", (), ([{"name": "a", "replicas": -1}],), "a: the number", id="no pods"),
        pytest.param(
            "ReviseReplica", (6,), (_TEMPLATE,), "nothing is changed, and 6 replicas", id="nothing is changed"
        ),
        pytest.param("ReviseReplica", (4,), (_TEMPLATE,), "", id="nothing is to be changed"),
        pytest.param(
            "ReviseReplica",
            (6,),
            ({**_TEMPLATE, "spec": {"replicas": "6"}},),
            """spec.replicas becomes "6": write a number""",
            id="a text",
        ),
        pytest.param(
            "ReviseReplica", (6,), ({**_TEMPLATE, "spec": {"replicas": 1.5}},), "without a fraction", id="a fraction"
        ),
        pytest.param(
            "ReviseReplica",
            (6,),
            ({**_TEMPLATE, "spec": {"replicas": 4, "size": 6}},),
            "spec.size is new, and spec.replicas stays",
            id="another field than the count",
        ),
        pytest.param(
            "ReviseReplica",
            (6,),
            ({**_TEMPLATE, "spec": {"replicas": -2}},),
            "spec.replicas becomes -2, less than none: write 6",
            id="a difference",
        ),
        pytest.param(
            "ReviseReplica",
            (2,),
            ({**_TEMPLATE, "spec": {"replicas": 2, "groups": [{"replicas": 2}, {"replicas": 2}]}},),
            "spec.groups.replicas is 2 in 2 entries, 4 in all",
            id="the whole for each entry",
        ),
        pytest.param("InterpretStatus", (), ([{"type": "Ready"}],), "the status is a list", id="a list as a status"),
        pytest.param(
            "AggregateStatus",
            (_ITEMS,),
            ({**_TEMPLATE, "status": {"replicas": 4, "phase": {"m1": "Running"}}},),
            "status.phase is an object, and the clusters report a string",
            id="another type than the clusters report",
        ),
        pytest.param("ReviseReplica", (2,), (_MEMBER,), "the status is changed", id="the status is revised"),
        pytest.param(
            "ReviseComponents", ([],), ({**_TEMPLATE, "spec": {"replicas": "6"}},), "becomes", id="components"
        ),
        pytest.param("Retain", (_MEMBER,), (_MEMBER,), "the object of the member", id="the member"),
        pytest.param("Retain", (_MEMBER,), (_TEMPLATE,), "", id="the template"),
        pytest.param("AggregateStatus", (_ITEMS,), (_TEMPLATE,), "no status is set", id="no status"),
        pytest.param("AggregateStatus", (_ITEMS,), (_MEMBER,), "clusters report 2 + 2", id="one cluster"),
        pytest.param("AggregateStatus", (None,), (_TEMPLATE,), "", id="nothing is reported"),
        pytest.param(
            "AggregateStatus",
            (_ITEMS,),
            ({**_TEMPLATE, "status": {"replicas": 4, "phase": "Running"}},),
            "",
            id="a sum",
        ),
        pytest.param("InterpretStatus", (), ({"replicas": 2},), "", id="the status"),
        pytest.param("InterpretDependency", (), ([_POD],), "", id="a dependency"),
        pytest.param(
            "InterpretDependency", (), ([_POD | {"kind": "secret"}],), "is Secret meant", id="a resource's name"
        ),
        pytest.param(
            "InterpretDependency",
            (),
            ([_POD | {"namespace": "web"}],),
            "the namespace is the name",
            id="two names swapped",
        ),
        pytest.param(
            "InterpretDependency", (), ([{**_POD, "namespace": ""}],), "without a namespace", id="no namespace"
        ),
        pytest.param("InterpretHealth", (), (True,), "", id="health"),
        pytest.param("InterpretDependency", (), ([_POD | {"kind": "Secrets"}],), "is Secret meant", id="a plural"),
        pytest.param(
            "InterpretDependency",
            (),
            ([{**_POD, "namespace": "default"}],),
            "default, which the object does not name",
            id="a fixed namespace",
        ),
        pytest.param("InterpretDependency", (), ([_POD | {"apiVersion": "core/v1"}],), "is in v1", id="a group"),
        pytest.param(
            "ReviseReplica",
            (4,),
            ({**_TEMPLATE, "spec": {}},),
            "spec is gone",
            id="a lost part",
        ),
        pytest.param("ReviseReplica", (4,), ({**_TEMPLATE, "replicas": 4},), "no part of", id="a place"),
        pytest.param("ReviseReplica", (3,), ({**_TEMPLATE, "spec": {"replicas": 7}},), "4 + 3: write 3", id="a sum"),
        pytest.param("AggregateStatus", (_ITEMS,), ({**_TEMPLATE, "status": _ITEMS[0]},), "is an item", id="an item"),
        pytest.param("InterpretStatus", (), ({"status": {"replicas": 2}},), "return it alone", id="in a status"),
        pytest.param("InterpretStatus", (), (_TEMPLATE,), "the whole object: return observedObj.status", id="it all"),
    ],
)
def test_implausible_result_causes_remark(
    operation: str, others: tuple[Any, ...], returned: tuple[Any, ...], remark: str
) -> None:
    texts = list(remarks(operation, [_TEMPLATE, *others], returned, read_results(operation, returned)))

    assert len(texts) == bool(remark)
    assert all(remark in text for text in texts)


def test_text_with_other_capitals_than_the_object_causes_remark() -> None:
    observed = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    script = "if a.phase == 'running' and c.type == 'Ready' and c.status ~= \"true\" and a.mode == 'true' then"
    assert [*remarks("InterpretHealth", [observed], (False,), {"healthy": False}, script)] == [
        'the script compares phase with "running", and the object has "Running"',
        'the script compares status with "true", and the object has "True"',
    ]


@rows(
    ("script", "remark"),
    [
        pytest.param(
            "return a.status.observedGeneration == a.metadata.generation",
            ["the script compares observedGeneration, a string, with generation, a number: they are never equal"],
            id="a text and a number",
        ),
        pytest.param("return a.status.count == a.metadata.generation", [], id="two numbers"),
        pytest.param("return a.status.observedGeneration == a.generation .. ''", [], id="a number as a text"),
        pytest.param("return a.status.count == a.spec.absent", [], id="nothing"),
    ],
)
def test_comparison_of_other_types_causes_remark(script: str, remark: list[str]) -> None:
    observed = {"metadata": {"generation": 2}, "status": {"observedGeneration": "2", "count": 3}}
    assert [*remarks("InterpretHealth", [observed], (False,), {"healthy": False}, script)] == remark


def test_field_that_retain_loses_causes_remark() -> None:
    objects = [{"spec": {"replicas": 2}}, {"spec": {"replicas": 3}}]
    (text,) = remarks("Retain", objects, ({"spec": {}},), {"retained": {"spec": {}}})
    assert text == "Retain: spec.replicas is gone, and both objects have it"


def test_entry_in_place_of_a_list_causes_remark() -> None:
    observed = {"status": {"conditions": [{"type": "Ready"}]}}
    status = {"conditions": {"type": "Ready"}}
    (text,) = remarks("InterpretStatus", [observed], (status,), {"status": status})
    assert text == "ReflectStatus: conditions is an object, and the object has a list there"


def test_fields_of_spec_are_no_status() -> None:
    observed = {"spec": {"replicas": 2}, "status": {"ready": 1}}
    (text,) = remarks("InterpretStatus", [observed], ({"replicas": 2},), {"status": {"replicas": 2}})
    assert text == "ReflectStatus: replicas are fields of the spec, and a status is asked for"


_NAMES = st.sampled_from(["spec", "status", "metadata", "name", "namespace", "kind", "replicas", "template", "memory"])
_ANY = st.recursive(
    st.sampled_from([0, 1, 1.5, "", "1", "500m", True, None]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(_NAMES, below, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.fixed_dictionaries({"kind": st.just("K")}, optional={"spec": _ANY, "status": _ANY, "metadata": _ANY})
_MORE: dict[str, st.SearchStrategy[Any]] = {
    "ReviseReplica": st.integers(0, 3),
    "ReviseComponents": _ANY,
    "Retain": _OBJECTS,
    "AggregateStatus": st.lists(st.fixed_dictionaries({"clusterName": st.just("m"), "status": _ANY}), max_size=2),
}


@given(operation=st.sampled_from([*Operation]), data=st.data())
def test_every_answer_that_can_be_read_has_its_remarks(operation: Operation, data: st.DataObject) -> None:
    """An error here would end the process of the script, and with it the answer."""
    arguments = [data.draw(_OBJECTS), *(data.draw(_MORE[name]) for name in (operation,) if name in _MORE)]
    returned = tuple(data.draw(st.lists(_ANY | _OBJECTS, min_size=1, max_size=2)))
    with suppress(LuaRunError):
        list(remarks(operation, arguments, returned, read_results(operation, returned)))
