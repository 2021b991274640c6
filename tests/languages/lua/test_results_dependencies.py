"""Dependencies of several scripts: what Karmada refuses, and the order of what it takes."""

from typing import Any

import pytest

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.languages.lua.script_dependencies import merge_dependencies, verify
from tests.support.rows import rows

_SECRET = {"apiVersion": "v1", "kind": "Secret", "namespace": "team", "name": "key"}
_LABELLED = {"apiVersion": "v1", "kind": "Secret", "labelSelector": {"matchLabels": {"app": "web"}}}
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)


def _selecting(**selector: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "labelSelector": selector}


def _expression(**requirement: Any) -> dict[str, Any]:
    return _selecting(matchExpressions=[{"key": "app", "operator": "Exists", **requirement}])


@rows(
    "dependency",
    [
        pytest.param(_SECRET, id="a named one"),
        pytest.param({"apiVersion": "v1", "kind": "Node", "name": "a"}, id="one without a namespace"),
        pytest.param(_LABELLED, id="one with labels"),
        pytest.param(_selecting(), id="a selector that selects everything"),
        pytest.param(_selecting(matchLabels={"example.com/app": ""}), id="a key with a prefix, an empty value"),
        pytest.param(_expression(operator="In", values=["a", ""]), id="one of several values"),
        pytest.param(_expression(operator="DoesNotExist"), id="no such label"),
    ],
)
def test_verified(dependency: dict[str, Any]) -> None:
    verify([dependency])


@rows(
    ("dependency", "message"),
    [
        pytest.param(
            {**_SECRET, "apiVersion": ""},
            'dependencies[0].apiVersion: Invalid value: "": missing required apiVersion',
            id="no version",
        ),
        pytest.param(
            {**_SECRET, "kind": ""}, 'dependencies[0].kind: Invalid value: "": missing required kind', id="no kind"
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "Secret"},
            'dependencies[0]: Invalid value: {"apiVersion":"v1","kind":"Secret"}: '
            "dependency can not leave name and labelSelector all empty",
            id="nothing to find it by",
        ),
        pytest.param(
            _expression(operator="In"),
            "dependencies[0].labelSelector.matchExpressions[0].values: Required value: "
            "must be specified when `operator` is 'In' or 'NotIn'",
            id="one of no values",
        ),
        pytest.param(
            _expression(values=["a"]),
            "dependencies[0].labelSelector.matchExpressions[0].values: Forbidden: "
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            id="values where none are looked at",
        ),
        pytest.param(
            _expression(operator="Gt"),
            'dependencies[0].labelSelector.matchExpressions[0].operator: Invalid value: "Gt": '
            "not a valid selector operator",
            id="an operator of node selectors",
        ),
        pytest.param(
            _expression(key="a b"),
            'dependencies[0].labelSelector.matchExpressions[0].key: Invalid value: "a b": name part ' + _NAME_RULE,
            id="a space in a key",
        ),
        pytest.param(
            _expression(key="/app"),
            'dependencies[0].labelSelector.matchExpressions[0].key: Invalid value: "/app": '
            "prefix part must be non-empty",
            id="an empty prefix",
        ),
        pytest.param(
            _selecting(matchLabels={"a" * 64: "x"}),
            f'dependencies[0].labelSelector.matchLabels: Invalid value: "{"a" * 64}": '
            "name part must be no more than 63 bytes",
            id="a long key",
        ),
        pytest.param(
            _selecting(matchLabels={"a/b/c": "x"}),
            'dependencies[0].labelSelector.matchLabels: Invalid value: "a/b/c": a valid label key '
            f"{_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
            id="two slashes",
        ),
        pytest.param(
            _selecting(matchLabels={"app": "x" * 64}),
            f'dependencies[0].labelSelector.matchLabels: Invalid value: "{"x" * 64}": must be no more than 63 bytes',
            id="a long value",
        ),
        pytest.param(
            {**_SECRET, "apiVersion": "", "kind": ""},
            '[dependencies[0].apiVersion: Invalid value: "": missing required apiVersion, '
            'dependencies[0].kind: Invalid value: "": missing required kind]',
            id="everything that is wrong at once",
        ),
    ],
)
def test_refused(dependency: dict[str, Any], message: str) -> None:
    with pytest.raises(LuaRunError) as refused:
        verify([dependency])
    assert str(refused.value) == message


def test_names_the_dependency_that_is_wrong() -> None:
    with pytest.raises(LuaRunError, match=r"^dependencies\[1\]\.kind"):
        verify([_SECRET, {**_SECRET, "kind": ""}])


def test_empty_name_part_breaks_two_rules() -> None:
    with pytest.raises(LuaRunError, match=r"name part must be non-empty, .*name part must consist of"):
        verify([_expression(key="a/")])


@pytest.mark.parametrize(
    "prefix", [pytest.param("Example.com", id="upper case"), pytest.param("a" * 254, id="longer than a domain name")]
)
def test_prefix_must_be_a_domain_name(prefix: str) -> None:
    with pytest.raises(LuaRunError, match="prefix part "):
        verify([_expression(key=f"{prefix}/app")])


def test_sorts_by_version_kind_namespace_and_name() -> None:
    ordered = [
        {"apiVersion": "apps/v1", "kind": "Secret", "namespace": "b", "name": "b"},
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "b", "name": "b"},
        {"apiVersion": "v1", "kind": "Secret", "name": "b"},
        {"apiVersion": "v1", "kind": "Secret", "namespace": "a", "name": "b"},
        {"apiVersion": "v1", "kind": "Secret", "namespace": "b", "name": "a"},
        {"apiVersion": "v1", "kind": "Secret", "namespace": "b", "name": "b"},
    ]
    assert merge_dependencies([ordered[3:][::-1], ordered[:3][::-1]]) == ordered


def test_names_each_dependency_once() -> None:
    assert merge_dependencies([[_SECRET, _SECRET], [_SECRET]]) == [_SECRET]


def test_keeps_every_dependency_that_has_a_selector() -> None:
    assert merge_dependencies([[_LABELLED, _SECRET], [_LABELLED]]) == [_LABELLED, _LABELLED, _SECRET]
