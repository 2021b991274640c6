"""What scripts return, as Karmada takes it or refuses it."""

import math
from typing import Any

import pytest

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.languages.lua.results import FUNCTION, read_results
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
        pytest.param((1, {"resourceRequest": {"memory": "2048Mi", "cpu": 0.5}}),
            {"replica": 1, "requires": {"resourceRequest": {"cpu": "500m", "memory": "2Gi"}}},
            id="quantities may be numbers and come back as Go writes them"),
        pytest.param((1, {"ResourceRequest": {"CPU": "1"}, "NAMESPACE": "team", "colour": "blue"}),
            {"replica": 1, "requires": {"resourceRequest": {"CPU": "1"}, "namespace": "team"}},
            id="fields in any case, unknown ones ignored, keys of maps as they are"),
        pytest.param((1, {"nodeClaim": {"nodeSelector": [], "tolerations": []}, "priorityClassName": ""}),
            {"replica": 1, "requires": {"nodeClaim": {}}},
            id="empty fields are left out, an object that has become empty is not"),
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
        pytest.param((1, {"nodeClaim": {"tolerations": [{"key": "a", "tolerationSeconds": 0, "value": ""}]}}),
            {"replica": 1, "requires": {"nodeClaim": {"tolerations": [{"key": "a", "tolerationSeconds": 0}]}}},
            id="a zero behind a pointer is written"),
        pytest.param((1, {"resourceRequest": {"cpu": []}}), {"replica": 1, "requires": {}}, id="empty tables vanish"),
        pytest.param((1, None, "more"), {"replica": 1, "requires": None}, id="further results do not matter"),
    ],
)  # fmt: skip
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
        pytest.param("Retain", ({"kind": "Job", "a": [], "b": [], "c": []},), ({"a": {}}, {"b": []}),
            {"retained": {"kind": "Job", "a": {}, "b": []}}, id="Retain: empty as in either object"),
        pytest.param("ReviseReplica", ({"kind": "Job", "a": []},), ({"a": {}},), {"revised": {"kind": "Job", "a": {}}},
            id="ReviseReplica: empty as in the object"),
        pytest.param("AggregateStatus", ({"kind": "Job", "status": {"conditions": [], "active": 1}},), (),
            {"aggregatedStatus": {"kind": "Job", "status": {"active": 1}}},
            id="AggregateStatus: nothing empty comes through"),
        pytest.param("InterpretStatus", ([],), (), {"status": {}}, id="a status may be empty"),
        pytest.param("InterpretStatus", ({"a": 1, "b": {}},), (), {"status": {"a": 1}}, id="its parts may not"),
        pytest.param("InterpretStatus", ([1],), (), {"status": [1]}, id="a list is a table"),
        pytest.param("InterpretHealth", (True,), (), {"healthy": True}, id="healthy"),
        pytest.param("InterpretHealth", (False,), (), {"healthy": False}, id="unhealthy"),
        pytest.param("InterpretDependency", ([],), (), {"dependencies": []}, id="no dependencies"),
        pytest.param("InterpretDependency",
            ([{"APIVersion": "v1", "kind": "Secret", "name": "a", "namespace": "", "uid": "1"}],), (),
            {"dependencies": [{"apiVersion": "v1", "kind": "Secret", "name": "a"}]}, id="a dependency"),
    ],
)  # fmt: skip
def test_other_operations(
    operation: str, returned: tuple[Any, ...], references: tuple[Any, ...], answer: dict[str, Any]
) -> None:
    assert read_results(operation, returned, references) == answer


@rows(
    ("operation", "returned", "message"),
    [
        pytest.param("InterpretReplica", (), "result type 0 is not number, but nil", id="no replicas"),
        pytest.param("InterpretReplica", (True,), "result type 1 is not number, but boolean",
            id="a boolean for replicas"),
        pytest.param("InterpretReplica", ("3",), "result type 3 is not number, but string", id="a string for replicas"),
        pytest.param("InterpretReplica", (FUNCTION,), "result type 4 is not number, but function",
            id="a function for replicas"),
        pytest.param("InterpretReplica", (math.nan,),
            "GetReplicas returned nan, which is more than replicas can be: 2147483647", id="NaN for replicas"),
        pytest.param("InterpretReplica", (1, FUNCTION), "expect the returned requires type is table but got function",
            id="a function for requirements"),
        pytest.param("InterpretReplica", ([],), "result type 7 is not number, but table", id="a table for replicas"),
        pytest.param("InterpretReplica", (2**31,),
            "GetReplicas returned 2147483648, which is more than replicas can be: 2147483647",
            id="more replicas than Karmada can count"),
        pytest.param("InterpretReplica", (1, "x"), "expect the returned requires type is table but got string",
            id="a string for requirements"),
        pytest.param("InterpretReplica", (1, [1]),
            "json unmarshal obj failed: json: cannot unmarshal array into Go value of type ReplicaRequirements",
            id="a list for requirements"),
        pytest.param("InterpretReplica", (1, {"resourceRequest": {"cpu": "1mm"}}),
            "json unmarshal obj failed: resourceRequest.cpu: unable to parse quantity's suffix",
            id="a quantity that is none"),
        pytest.param("InterpretComponent", (True,),
            "expected result type 'table' or 'nil' from GetComponents, but got 'boolean'",
            id="a boolean for components"),
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
        pytest.param("ReviseReplica", (None,), "expect the returned requires type is table but got nil",
            id="nothing revised"),
        pytest.param("Retain", (1,), "expect the returned requires type is table but got number",
            id="a number for an object"),
        pytest.param("Retain", ([],), f"{_MISSING_KIND} '{{}}'", id="an empty object has no kind"),
        pytest.param("AggregateStatus", ([{"kind": "Job"}],),
            "json unmarshal obj failed: json: cannot unmarshal array into Go value of type map[string]interface {}",
            id="a list of objects"),
        pytest.param("Retain", ({"kind": ""},), _MISSING_KIND + """ '{"kind":""}'""", id="an empty kind"),
        pytest.param("Retain", ({"kind": 1},), _MISSING_KIND + """ '{"kind":1}'""", id="a kind that is not a name"),
        pytest.param("InterpretStatus", (None,), "expect the returned replica type is table but got nil",
            id="no status"),
        pytest.param("InterpretHealth", (None,), "result type 0 is not bool, but nil", id="no health"),
        pytest.param("InterpretHealth", (FUNCTION,), "result type 4 is not bool, but function",
            id="a function for health"),
        pytest.param("InterpretHealth", (1,), "result type 2 is not bool, but number", id="a number for health"),
        pytest.param("InterpretDependency", (None,), "expect the returned requires type is table but got nil",
            id="nil for dependencies, which is fine for components"),
    ],
)  # fmt: skip
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
