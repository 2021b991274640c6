"""Reading and writing values as Go types, by the rules of ``encoding/json``."""

from typing import Any

import pytest

from karta_interpreter.languages.lua.gotypes.scalars import SCALARS, MismatchError
from karta_interpreter.languages.lua.gotypes.structs import declarations, decode, encode
from tests.support.rows import rows


@rows(
    ("go_type", "value", "read"),
    [
        pytest.param("int32", 2**31 - 1, 2**31 - 1, id="the largest of 32 bits"),
        pytest.param("int64", -(2**62), -4611686018427388000, id="a large negative number"),
        pytest.param("int64", 2**62 + 1, 4611686018427388000, id="a large number has the digits that Go writes"),
        pytest.param("*int64", 0, 0, id="a pointer is read as what it points to"),
        pytest.param("IntOrString", 80, 80, id="a port number"),
        pytest.param("IntOrString", "http", "http", id="a port name"),
        pytest.param("Quantity", " 1Gi ", "1Gi", id="spaces around a quantity"),
        pytest.param("Quantity", 0.00001, "10u", id="a small number is not written with an exponent"),
        pytest.param("Quantity", 1e21, "1e+21", id="a large one is, and Go keeps the text"),
        pytest.param("Quantity", 1.125, "1.125", id="Go keeps a text that looks canonical"),
        pytest.param("Quantity", 0.125, "125m", id="and rewrites one that does not"),
        pytest.param("Time", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z", id="a leap day"),
        pytest.param("Time", "2024-01-01T1:00:00.5+02:00", "2024-01-01T1:00:00.5+02:00", id="an hour of one digit"),
        pytest.param("[]string", ["a", "", {}], ["a", ""], id="an empty string stays, an empty table does not"),
        pytest.param("map[string]string", {"a": "", "b": []}, {"a": ""}, id="in a map as well"),
        pytest.param("any", {"f:a": {".": {}}, "b": 1}, {"f:a": {}, "b": 1}, id="anything but an empty table"),
        pytest.param("HTTPGetAction", {"\u017fcheme": "HTTP"}, {"scheme": "HTTP"}, id="Go's other s"),
        pytest.param("EnvVar", {"\u212aey": "x", "Name": "a"}, {"name": "a"}, id="Go's other k, in an unknown field"),
        pytest.param("KeyToPath", {"\u212aey": "x"}, {"key": "x"}, id="and in a known one"),
        pytest.param("EnvVar", {"n\u0430me": "x", "value": "y"}, {"value": "y"}, id="other letters are other letters"),
        pytest.param("EnvVar", {"value": "b", "VALUE": "a"}, {"value": "b"}, id="the last spelling counts"),
        pytest.param("EnvVar", {"Value": "b", "value": {}}, {"value": "b"}, id="an empty table is not one"),
        pytest.param(
            "PodSpec",
            {"containers": [{"name": "b"}], "Containers": [{"name": "a", "image": "x"}, {"name": "c"}]},
            {"containers": [{"name": "b", "image": "x"}]},
            id="Go reads lists and objects over those of an earlier spelling",
        ),
    ],
)
def test_reads(go_type: str, value: Any, read: Any) -> None:
    assert decode(go_type, value) == read


@rows(
    ("go_type", "value", "message"),
    [
        pytest.param("bool", 0, "json: cannot unmarshal number into Go value of type bool", id="zero is not false"),
        pytest.param("string", 5, "json: cannot unmarshal number into Go value of type string", id="a number"),
        pytest.param("string", True, "json: cannot unmarshal bool into Go value of type string", id="a boolean"),
        pytest.param("int32", "5", "json: cannot unmarshal string into Go value of type int32", id="a string"),
        pytest.param("int32", True, "json: cannot unmarshal bool into Go value of type int32", id="true is not 1"),
        pytest.param("int32", 1.5, "json: cannot unmarshal number 1.5 into Go value of type int32", id="a fraction"),
        pytest.param("int32", 2**31, "json: cannot unmarshal number 2147483648 into Go value of type int32",
            id="33 bits"),
        pytest.param("int64", 2**63, "json: cannot unmarshal number 9223372036854776000 into Go value of type int64",
            id="65 bits, in the digits that Go writes"),
        pytest.param("int64", 1e22, "json: cannot unmarshal number 1e+22 into Go value of type int64",
            id="with an exponent"),
        pytest.param("IntOrString", 1.5, "json: cannot unmarshal number 1.5 into Go value of type int32",
            id="half a port"),
        pytest.param("[]string", {"a": 1}, "json: cannot unmarshal object into Go value of type []string",
            id="an object"),
        pytest.param("map[string]string", ["a"],
            "json: cannot unmarshal array into Go value of type map[string]string", id="a list"),
        pytest.param("Quantity", True, "quantities must match", id="a boolean is not a quantity"),
        pytest.param("Quantity", {"a": 1}, "quantities must match", id="an object is not a quantity"),
        pytest.param("Time", "2023-02-29T00:00:00Z", "parsing time", id="no leap day in 2023"),
        pytest.param("Time", "2024-01-01", "parsing time", id="a date is not a time"),
        pytest.param("Time", 5, "json: cannot unmarshal number into Go value of type string", id="a number"),
        pytest.param("EnvVar", {"name": 1},
            "json: cannot unmarshal number into Go struct field EnvVar.name of type string", id="where"),
        pytest.param("Container", {"env": [{"name": "a"}, {"Name": 1}]},
            "json: cannot unmarshal number into Go struct field EnvVar.env[1].name of type string",
            id="the innermost struct, and the whole path in the type's own spelling"),
        pytest.param("EnvVar", {"value": "b", "VALUE": 5},
            "json: cannot unmarshal number into Go struct field EnvVar.value of type string",
            id="any spelling has to fit"),
        pytest.param("LabelSelector", {"matchLabels": {"app.io/a": 1}},
            'json: cannot unmarshal number into Go struct field LabelSelector.matchLabels["app.io/a"] of type string',
            id="the key of a map"),
    ],
)  # fmt: skip
def test_refuses(go_type: str, value: Any, message: str) -> None:
    with pytest.raises(MismatchError) as refused:
        decode(go_type, value)
    assert str(refused.value).startswith(message)


@rows(
    ("go_type", "value", "written"),
    [
        pytest.param("Toleration", {"effect": "a", "key": "b"}, ["key", "effect"], id="fields in their order"),
        pytest.param("map[string]string", {"a": "x", "b": ""}, ["a", "b"], id="empty values too"),
        pytest.param("LabelSelectorRequirement", {"values": []}, ["key", "operator"], id="what is always written"),
        pytest.param("DownwardAPIVolumeFile", {"path": "", "mode": 0}, ["path", "mode"], id="a zero behind a pointer"),
        pytest.param("FCVolumeSource", {"readOnly": False, "fsType": ""}, [], id="what is empty is not"),
    ],
)
def test_writes(go_type: str, value: Any, written: list[str]) -> None:
    assert list(encode(go_type, value)) == written


def test_writes_no_list_as_null() -> None:
    assert encode("NodeSelector", {}) == {"nodeSelectorTerms": None}


def test_used_types_are_declared() -> None:
    used = {field.type for fields in declarations().values() for field in fields}
    plain = {name.removeprefix("*").removeprefix("[]").removeprefix("map[string]") for name in used}
    assert plain <= declarations().keys() | SCALARS.keys()


def test_reading_leaves_its_input_alone() -> None:
    value: Any = {"Containers": [{"name": "a", "env": [{}]}, {}], "nodeSelector": {"a": []}}
    decode("PodSpec", value)
    assert value == {"Containers": [{"name": "a", "env": [{}]}, {}], "nodeSelector": {"a": []}}


@rows(
    ("go_type", "value"),
    [
        pytest.param("PodSpec", {"containers": [{"name": "a", "env": [{"name": "b"}]}], "priority": 5}, id="a struct"),
        pytest.param("map[string]Quantity", {"cpu": "1", "memory": "1536Mi"}, id="canonical quantities"),
        pytest.param("[]Toleration", [{"key": "a", "tolerationSeconds": 0}], id="a list"),
    ],
)
def test_unchanged_value_is_shared(go_type: str, value: Any) -> None:
    assert decode(go_type, value) is value
