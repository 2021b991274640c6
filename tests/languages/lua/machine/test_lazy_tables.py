"""Values on their way into Lua and out of it."""

from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.base.k8s.values import JSON
from tests.languages.lua.machine import machine
from tests.support.rows import rows

COPY = """
local function copy(value)
  if type(value) ~= "table" then return value end
  local new = {}
  for key, item in pairs(value) do new[key] = copy(item) end
  return new
end
function F(...)
  local values = {}
  for index = 1, select("#", ...) do values[index] = copy((select(index, ...))) end
  return unpack(values, 1, select("#", ...))
end
"""
WALK = """
local function walk(value)
  if type(value) ~= "table" then return 1 end
  local count = #value
  for _, item in pairs(value) do count = count + walk(item) end
  return count
end
function F(value)
  walk(value)
  return value
end
"""
READ = "function F(object) for key, value in next, object do local same = object[key] end return object end"
SAME = "function F(...) return ... end"

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
objects = st.dictionaries(st.text(), values, max_size=5)


def run(script: str, *arguments: JSON) -> list[JSON]:
    return machine.run_call(machine.call(script, arguments, results=5000))


def converted(value: JSON) -> JSON:
    """A value after Karmada's conversion there and back: no nulls, empty tables are arrays, and numbers are floats.

    Go writes a float with the fewest digits that mean it, and up to 1e21 without an exponent; whoever reads that has an
    integer where it is one of 64 bits.
    """
    if isinstance(value, dict):
        return {key: converted(item) for key, item in value.items() if item is not None} or []
    if isinstance(value, list):
        return [converted(item) for item in value if item is not None]
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
        digits = Decimal(repr(number))
        return int(digits) if number.is_integer() and -(2**63) <= digits < 2**64 else number
    return value


def without_nulls(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value if item is not None]
    return value


@given(st.lists(values, max_size=3))
def test_copied_values_are_converted(arguments: list[JSON]) -> None:
    assert run(COPY, *arguments) == [converted(value) for value in arguments]


@given(values)
def test_reading_everything_is_as_copying_it(value: JSON) -> None:
    assert run(WALK, value) == run(COPY, value)


@given(objects)
def test_untouched_value_comes_back_without_nulls(value: dict[str, JSON]) -> None:
    assert run(SAME, value) == [without_nulls(value) or []]


@given(objects)
def test_touching_an_object_changes_nothing_below_it(value: dict[str, JSON]) -> None:
    (result,) = run(READ, value)
    assert (converted(result) or []) == converted(value)


def test_unread_part_keeps_digits_of_large_integers() -> None:
    spec = {"template": {"count": 2**53 + 1, "empty": {}}}
    assert run("function F(object) return object.spec end", {"spec": spec}) == [spec]


@rows(
    ("script", "value", "expected"),
    [
        pytest.param("return o.a", {"a": 9007199254740993}, 9007199254740992, id="an integer of more than 53 bits"),
        pytest.param("return o.a", {"a": 2.0**70}, 2.0**70, id="an integer of more than 64 bits"),
        pytest.param("return o.a", {"a": 2.0}, 2, id="a float that is integral"),
        pytest.param("return #o.a, o.a[2]", {"a": [1, None, 3]}, 2, id="null elements are removed"),
        pytest.param("return o.a == nil", {"a": None}, True, id="null fields are not there"),
        pytest.param("return #o.a", {"a": []}, 0, id="an empty list"),
        pytest.param("return #o", {"a": 1}, 0, id="an object has no length, touched or not"),
        pytest.param("return next(o.a) == nil", {"a": {}}, True, id="an empty object"),
        pytest.param("return #o.a[1][2]", {"a": [[1, [2, 3]]]}, 2, id="lists in lists"),
        pytest.param("return type(o), type(o.a)", {"a": {"b": 1}}, "table", id="an unread object is a table"),
        pytest.param("return o.a == o.a", {"a": {"b": 1}}, True, id="and the same one each time"),
        pytest.param("local a = o.a o.a = nil return a.b", {"a": {"b": 1}}, 1, id="also when it is taken out"),
        pytest.param("o.a.b = nil return next(o.a) == nil", {"a": {"b": 1}}, True, id="removing the only key"),
        pytest.param("o.b = 2 return o.a + o.b", {"a": 1}, 3, id="setting a key before one was read"),
        pytest.param("o[1] = 2 return #o", {"a": 1}, 1, id="an index in an object"),
        pytest.param("return o[1] == nil and o[true] == nil", {"a": 1}, True, id="keys that no object has"),
        pytest.param("local n = 0 for k in pairs(o) do n = n + 1 end return n", {"a": 1, "b": {}}, 2, id="pairs"),
        pytest.param("local f, s = pairs({}) return (f(o))", {"a": 1}, "a", id="the iterator of another table"),
        pytest.param("local n = 0 for _ in ipairs(o) do n = n + 1 end return n", {"a": 1}, 0, id="ipairs"),
        pytest.param("return (next(o))", {"a": 1}, "a", id="next"),
        pytest.param("return table.maxn(o)", {"a": 1}, 0, id="maxn"),
        pytest.param("table.insert(o, 5) return o[1], o.a", {"a": 1}, 5, id="insert"),
        pytest.param("return table.concat(o)", {"a": 1}, "", id="concat"),
        pytest.param("return table.concat(o.a, ',')", {"a": ["x", 1]}, "x,1", id="concat of a list"),
        pytest.param("return unpack(o) == nil", {"a": 1}, True, id="unpack"),
        pytest.param("return o.a .. 'é'", {"a": "ü"}, "üé", id="text that is not ASCII"),
        pytest.param("return o['é']", {"é": 1}, 1, id="keys that are not ASCII"),
    ],
)
def test_objects_behave_as_tables(script: str, value: JSON, expected: JSON) -> None:
    results = run(f"function F(o) {script} end", value)
    assert results[0] == expected
    assert type(results[0]) is type(expected)


@pytest.mark.parametrize(
    ("count", "make"),
    [
        pytest.param(20_000, lambda n: {"a": list(range(n))}, id="a long list"),
        pytest.param(
            20_000, lambda n: {"a": {f"k{i}": i for i in range(n)}}, id="an object of many keys", marks=pytest.mark.slow
        ),
        pytest.param(8_000, lambda n: {"a": [{"x": i} for i in range(n)]}, id="many objects", marks=pytest.mark.slow),
    ],
)
def test_large_values_go_in_and_come_back(count: int, make: Any) -> None:
    value = make(count)
    script = "function F(o) local a = {} for k, v in pairs(o.a) do a[k] = v end return a end"
    assert run(script, value) == [value["a"]]


def test_host_function_gets_unread_and_read_objects_alike() -> None:
    value = {"t": {"a": {"é": [1, "ü"]}, "b": "grün", "n": 1.5}}
    seen: list[JSON] = []

    def take(*given: JSON) -> tuple[JSON, ...]:
        seen.extend(given)
        return ()

    script = (
        "function F(o) local k = require('karta') k.take(o.t) local x = o.t.b k.take(o.t) for _ in pairs(o.t) do end "
        "k.take(o.t, o) end"
    )
    machine.run_call(machine.call(script, (value,), {"take": take}))
    assert seen == [value["t"], value["t"], value["t"], value]


def test_index_in_object_is_an_error_of_mixed_keys() -> None:
    with pytest.raises(LuaRunError, match="mixed or invalid key types"):
        machine.run("o[0] = 1 return o", {"a": 1})


@rows(
    ("script", "expected"),
    [
        pytest.param("o.a.n = 2 return o", {"a": {"n": 2, "m": {"x": 1}}, "b": 3}, id="a field changed"),
        pytest.param("o.a = nil return o", {"b": 3}, id="a field removed before it was read"),
        pytest.param("local a = o.a o.a = nil return o", {"b": 3}, id="and behind that"),
        pytest.param("o.c = o.a return o.c", {"n": 1, "m": {"x": 1}}, id="a part in another place"),
        pytest.param("return {o.a, 5}", [{"n": 1, "m": {"x": 1}}, 5], id="a part in a list"),
        pytest.param("o.a.m.x = nil return o", {"a": {"n": 1, "m": []}, "b": 3}, id="the last field of a part"),
    ],
)
def test_changed_fields_change_and_others_stay(script: str, expected: JSON) -> None:
    assert machine.run(script, {"a": {"n": 1, "m": {"x": 1}}, "b": 3}) == [expected]


def test_pairs_goes_through_keys_in_alphabetical_order() -> None:
    """Two replicas give the same bytes: the order depends on no address and on no hash."""
    script = """
        local keys = {}
        for _, item in ipairs(o.list) do for key in pairs(item) do keys[#keys + 1] = key end end
        return keys
    """
    names = list(permutations("abcdefgh", 3))
    found = machine.run(script, {"list": [dict.fromkeys(each, 1) for each in names]})
    assert found == [[key for each in names for key in sorted(each)]]
