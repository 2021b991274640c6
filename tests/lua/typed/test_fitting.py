"""The quick look is right when it says yes: reading in full finds nothing wrong, and nothing that matters to kube."""

from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s.dependencies import pod_dependencies
from karta_interpreter.k8s.requirements import Counting, pod_requirements
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.typed import decode, fitter
from karta_interpreter.lua.typed.declarations import declarations

_fits = fitter("PodTemplateSpec")

_SCALARS = {
    "string": st.sampled_from(["", "a", "disk"]),
    "bool": st.booleans(),
    "int32": st.sampled_from([0, 7, -(2**31), 2**31 - 1]),
    "int64": st.sampled_from([0, 2**53, -(2**53)]),
    "IntOrString": st.sampled_from([80, "http"]),
    "Quantity": st.sampled_from(["1", "0.5", "1000m", "1.50", "1024Mi", "3e3", "2Ei", "1n", 4]),
    "Time": st.just(None),
    "any": st.sampled_from([1, "x"]),
}
_WRONG: st.SearchStrategy[JSON] = st.sampled_from(
    [None, True, 1, 1.0, 0.5, 2**31, 2**60, "", "x", " 1", "1x", [], {}, [{}], {"a": {}}]
)


@cache
def _values(go_type: str, depth: int) -> st.SearchStrategy[JSON]:
    """Values of a type, or nearly: empty parts, and now and then something else."""
    pointed = go_type.removeprefix("*")
    if pointed in _SCALARS:
        return _SCALARS[pointed]
    if pointed.startswith("[]"):
        return st.lists(_values(pointed[2:], depth), min_size=0 if depth < 0 else 1, max_size=2)
    if pointed.startswith("map[string]"):
        value = _values(pointed.removeprefix("map[string]"), depth)
        return st.dictionaries(st.sampled_from(["cpu", "memory", "example.com/gpu"]), value, min_size=1, max_size=2)
    return _structs(pointed, depth - 1)


@cache
def _structs(name: str, depth: int) -> st.SearchStrategy[JSON]:
    fields = declarations()[name]
    required = {field.name: _values(field.type, depth) for field in fields if field.always}
    rest = {field.name: _later(field.type, depth) for field in fields if not field.always}
    chosen = st.lists(st.sampled_from(sorted(rest)), max_size=3, unique=True) if rest and depth > 0 else st.just([])
    return chosen.flatmap(lambda names: st.fixed_dictionaries({**required, **{name: rest[name] for name in names}}))


def _later(go_type: str, depth: int) -> st.SearchStrategy[JSON]:
    return st.deferred(lambda: _values(go_type, depth))


def _read(template: JSON) -> Any:
    """What kube makes of a template: its requirements and dependencies, or why there are none."""
    try:
        return pod_requirements(template, Counting.KARMADA), pod_dependencies(template, "team")
    except InterpretationError as err:
        return str(err)


@st.composite
def _spoiled(draw: st.DrawFn) -> JSON:
    """A template in which one part may be something else."""
    template = draw(_structs("PodTemplateSpec", 6))
    parts: list[Any] = [(template, key) for key in template]
    for parent, key in parts:
        inner = parent[key]
        if isinstance(inner, dict | list):
            parts += [(inner, step) for step in (inner if isinstance(inner, dict) else range(len(inner)))]
    spoils: bool = draw(st.booleans())
    if parts and spoils:
        parent, key = draw(st.sampled_from(parts))
        parent[key] = draw(_WRONG)
    return template


@given(_spoiled())
@settings(max_examples=150, deadline=None)
def test_what_fits_is_read_without_error_and_means_the_same(template: JSON) -> None:
    assume(_fits(template))
    assert _read(template) == _read(decode("PodTemplateSpec", _stripped(template)))


@given(_structs("PodTemplateSpec", 6))
@settings(max_examples=50, deadline=None)
def test_templates_as_kubernetes_writes_them_fit(template: JSON) -> None:
    assume(not _has_empty(template))
    assert _fits(template)


def _stripped(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _stripped(item) for key, item in value.items() if item is not None}
    return [_stripped(item) for item in value] if isinstance(value, list) else value


def _has_empty(value: JSON) -> bool:
    """Whether something in it is an empty table, or a struct whose fields are all zero."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (isinstance(value, dict | list) and not any(inner)) or any(map(_has_empty, inner))


def _container(**fields: Any) -> Any:
    return {"spec": {"containers": [{"name": "a", **fields}]}}


@pytest.mark.parametrize(
    ("template", "fits"),
    [
        pytest.param(_container(resources={"limits": {"cpu": "2"}}), True, id="a plain template"),
        pytest.param(_container(resources={}), True, id="an empty object that nothing depends on"),
        pytest.param({"metadata": {"creationTimestamp": None}, **_container()}, True, id="as Go writes no time"),
        pytest.param(_container(resources={"limits": {"cpu": 2}}), True, id="an amount that is a number"),
        pytest.param(_container(resources={"limits": {"cpu": True}}), False, id="which true is not"),
        pytest.param(_container(resources={"limits": {"cpu": " 2"}}), False, id="nor text around one"),
        pytest.param(_container(resources={"limits": {"cpu": 2**60}}), False, id="nor one that a float does not count"),
        pytest.param(_container(Image="x"), False, id="a field in another case, which counts"),
        pytest.param(_container(colour="blue"), False, id="an unknown field, which might be one"),
        pytest.param(_container(stdin=1), False, id="another type"),
        pytest.param(_container(image=None), False, id="a null"),
        pytest.param({"spec": {"containers": [{"name": "a"}, {}]}}, False, id="an empty element, which is deleted"),
        pytest.param(
            {"spec": {**_container()["spec"], "tolerations": [{}]}}, False, id="also where no field is required"
        ),
        pytest.param(
            {"spec": {**_container()["spec"], "nodeSelector": {}}}, False, id="an empty map, which is deleted"
        ),
        pytest.param([], False, id="a list"),
        pytest.param("x", False, id="a string"),
    ],
)
def test_what_fits(template: JSON, fits: bool) -> None:
    assert _fits(template) is fits
