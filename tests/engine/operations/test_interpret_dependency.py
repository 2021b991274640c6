"""InterpretDependency beside what `tests/base/k8s/test_dependencies.py` holds about pod templates."""

import json
from collections.abc import Sequence
from typing import Any, cast

import orjson
import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import InterpretationError, QueryAbsentError, QueryReferenceError
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.reference_resolver import Known, ReferenceReader
from karta_interpreter.engine.explain import explain
from karta_interpreter.engine.operations import Call, Operation, interpret, script_results
from tests.engine.operations.conftest import Define, component
from tests.support.rows import rows

LONGEST = 253


def _asked(define: Define, namespace: str, volumes: list[dict[str, Any]]) -> Sequence[Object]:
    obj = {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": {"name": "t", "namespace": namespace},
        "spec": {"template": {"spec": {"containers": [{"name": "a"}], "volumes": volumes}}},
    }
    call = Call(Operation.INTERPRET_DEPENDENCY, obj)
    return interpret(define(root=component("train", ".spec.template")), call)["dependencies"]


def test_dependencies_in_a_namespace_that_cannot_exist_are_left_out(define: Define) -> None:
    secrets = [{"name": f"v{number}", "secret": {"secretName": f"s{number}"}} for number in range(30)]
    assert len(_asked(define, "n" * LONGEST, secrets)) == len(secrets)
    assert _asked(define, "n" * (LONGEST + 1), secrets) == [], "each would repeat it"
    assert _asked(define, "{{=a/b}}", secrets) == []


@rows(
    ("name", "is_named"),
    [
        pytest.param("key.v1", True, id="a DNS subdomain"),
        pytest.param("Key_1", True, id="no name of a Secret: the API server says that it is not found"),
        pytest.param("team:reader", True, id="a name of a Role"),
        pytest.param("a/b", False, id="two segments of a path"),
        pytest.param("a%2fb", False, id="an escaped slash"),
        pytest.param("..", False, id="the folder above"),
        pytest.param("{{inputs.parameters.key}}", False, id="a parameter of Argo Workflows"),
        pytest.param("$(params.key)", False, id="a parameter of Tekton"),
        pytest.param("a key", False, id="two words"),
        pytest.param("k" * 254, False, id="more bytes than any name has"),
        pytest.param("kéy", False, id="not ASCII"),
        pytest.param("key\n", False, id="a line end"),
    ],
)
def test_names_that_no_object_can_have_are_left_out(define: Define, name: str, is_named: bool) -> None:
    secrets = [{"name": "a", "secret": {"secretName": name}}, {"name": "b", "secret": {"secretName": "other"}}]
    assert [one["name"] for one in _asked(define, "ml", secrets)] == sorted([name] * is_named + ["other"])


_SHOP: Any = {
    "apiVersion": "example.io/v1",
    "kind": "Train",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"template": {"spec": {"containers": [{"name": "a"}]}}, "place": "mesh", "bad": "a b"},
}
_SERVICE: Any = {"apiVersion": "v1", "kind": "Service", "namespace": "shop"}
_OVERRIDE = """
dependencyInterpretation:
  luaScript: |
    function GetDependencies(desiredObj)
      local refs = {}
      refs[1] = {apiVersion = 'v1', kind = 'Service', namespace = desiredObj.metadata.namespace,
                 labelSelector = {matchLabels = {app = desiredObj.metadata.labels.app}}}
      return refs
    end
"""


_CLAIMING: Any = {
    "apiVersion": "example.io/v1",
    "kind": "Train",
    "metadata": {"name": "t", "namespace": "ml"},
    "spec": {
        "template": {
            "spec": {
                "resourceClaims": [
                    {"name": "channel", "resourceClaimTemplateName": "imex"},
                    {"name": "nic", "resourceClaimTemplateName": "nic"},
                ],
                "schedulingGroup": {"podGroupName": "gang"},
            }
        }
    },
}


def _domain(name: str, namespace: str, template: str) -> Object:
    metadata = {"name": name, "namespace": namespace}
    spec = {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": template}}}
    return {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": metadata, "spec": spec}


class _Without(ReferenceReader):
    """A reader of a control plane where the kind cannot be looked up."""

    def __init__(self, error: type[QueryReferenceError]) -> None:
        self._error = error

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        raise self._error(f"{gvk} {name} in {namespace}")

    def list(self, gvk: GVK, namespace: str | None) -> Sequence[Object]:
        raise self._error(f"{gvk} in {namespace}")


_GANG, _NIC = "PodGroup gang", "ResourceClaimTemplate nic"


@rows(
    ("reader", "found"),
    [
        pytest.param(Known.of([_domain("rack", "ml", "imex"), _domain("x", "ml", "other")]),
                     [_NIC, "ComputeDomain rack", _GANG], id="it makes the template"),
        pytest.param(Known.of([_domain("rack", "other", "imex")]), ["ResourceClaimTemplate imex", _NIC, _GANG],
                     id="it is in another namespace"),
        pytest.param(_Without(QueryAbsentError), ["ResourceClaimTemplate imex", _NIC, _GANG],
                     id="the control plane does not have the kind"),
        pytest.param(None, ["ResourceClaimTemplate imex", _NIC, _GANG], id="nobody looks it up"),
    ],
)  # fmt: skip
def test_compute_domain_stands_for_the_template_that_it_makes(
    define: Define, reader: ReferenceReader | None, found: list[str]
) -> None:
    definition, call = (
        define(root=component("train", ".spec.template")),
        Call(Operation.INTERPRET_DEPENDENCY, _CLAIMING),
    )
    dependencies = interpret(definition, call, reader=reader)["dependencies"]
    assert [f"{each['kind']} {each['name']}" for each in dependencies] == found
    assert {each["namespace"] for each in dependencies} == {"ml"}
    explained = explain(definition, call, reader=reader)
    assert explained.results == {"dependencies": dependencies}
    assert {fact.answer for fact in explained.facts} >= {f"/dependencies/{index}" for index in range(3)}


def test_compute_domains_that_are_not_listed_yet_are_an_error(define: Define) -> None:
    definition = define(root=component("train", ".spec.template"))
    with pytest.raises(QueryReferenceError):
        interpret(definition, Call(Operation.INTERPRET_DEPENDENCY, _CLAIMING), reader=_Without(QueryReferenceError))


class _Serving(_Without):
    """A reader of a control plane that serves only some API versions, and has no objects."""

    def __init__(self, *api_versions: str) -> None:
        super().__init__(QueryAbsentError)
        self._api_versions = api_versions

    def served(self, kinds: Sequence[GVK]) -> GVK:
        return next((gvk for gvk in kinds if gvk.api_version in self._api_versions), kinds[0])


@rows(
    ("reader", "expected"),
    [
        pytest.param(None, "new.io/v2", id="nobody says what is served"),
        pytest.param(_Serving("new.io/v1", "old.io/v1"), "new.io/v1", id="an older version"),
        pytest.param(_Serving("old.io/v1"), "old.io/v1", id="the group of before"),
        pytest.param(_Serving("new.io/v2", "old.io/v1"), "new.io/v2", id="the newest is served, too"),
        pytest.param(_Serving(), "new.io/v2", id="none is served"),
        pytest.param(_Without(QueryAbsentError), "new.io/v2", id="nobody knows, and it stays so"),
    ],
)
def test_dependency_is_in_the_first_version_that_is_served(
    define: Define, reader: ReferenceReader | None, expected: str
) -> None:
    entry = "- {apiVersion: 'new.io/v2, new.io/v1, old.io/v1', kind: Source, name: .spec.place}"
    definition = define(root=component("train", ".spec.template"), dependencies=entry)
    call = Call(Operation.INTERPRET_DEPENDENCY, _SHOP)
    (dependency,) = interpret(definition, call, reader=reader)["dependencies"]
    assert dependency == {"apiVersion": expected, "kind": "Source", "namespace": "shop", "name": "mesh"}
    (fact,) = (fact for fact in explain(definition, call, reader=reader).facts if fact.rule == "dependency")
    assert ("does not serve new.io/v2" in fact.note) == (expected != "new.io/v2")


def test_claims_of_pods_are_in_a_version_that_is_served(define: Define) -> None:
    definition = define(root=component("train", ".spec.template"))
    call = Call(Operation.INTERPRET_DEPENDENCY, _CLAIMING)
    dependencies = interpret(definition, call, reader=_Serving("resource.k8s.io/v1beta1"))["dependencies"]
    claims = {each["apiVersion"] for each in dependencies if each["kind"] == "ResourceClaimTemplate"}
    assert claims == {"resource.k8s.io/v1beta1"}


def _by_labels(define: Define, selector: str, more: str = "", **annotations: str) -> Any:
    entry = f"- {{apiVersion: v1, kind: Service, labelSelector: '{selector}'{more}}}"
    return define(root=component("train", ".spec.template"), dependencies=entry, **annotations)


@rows(
    ("selector", "more", "expected"),
    [
        pytest.param("{matchLabels: {app: .metadata.labels.app}}", "",
            [{**_SERVICE, "labelSelector": {"matchLabels": {"app": "web"}}}], id="a label"),
        pytest.param("{matchLabels: {app: .metadata.labels.app}}", ", namespace: .spec.place",
            [], id="in another namespace"),
        pytest.param("{matchLabels: {app: .metadata.labels.app, tier: .metadata.labels.tier}}", "", [],
            id="one label is not there: without it the selector would match other objects"),
    ],
)  # fmt: skip
def test_dependencies_by_labels_are_karmadas_references(
    define: Define, selector: str, more: str, expected: list[Object]
) -> None:
    definition = _by_labels(define, selector, more)
    call = Call(Operation.INTERPRET_DEPENDENCY, _SHOP)

    assert interpret(definition, call)["dependencies"] == expected
    assert [fact.answer for fact in explain(definition, call).facts if fact.rule == "dependency"] == [
        f"/dependencies/{index}" for index, _ in enumerate(expected)
    ]


@rows(
    ("selector", "reason"),
    [
        pytest.param(".spec", "gives a label selector with a field bad", id="not a selector"),
        pytest.param("{matchLabels: {app: .spec.bad}}", 'Invalid value: "a b"', id="not a label"),
        pytest.param("{matchLabels: .spec.place}", "cannot unmarshal string", id="not labels"),
        pytest.param(".spec.place", "gives a string where an object belongs", id="a string"),
    ],
)
def test_invalid_label_selector_is_an_error_of_the_annotation(define: Define, selector: str, reason: str) -> None:
    with pytest.raises(InterpretationError) as raised:
        interpret(_by_labels(define, selector), Call(Operation.INTERPRET_DEPENDENCY, _SHOP))
    assert "definition train, annotation dependencies" in str(raised.value)
    assert reason in str(raised.value)


def test_script_with_a_label_selector_gives_the_answer_of_the_annotation(define: Define) -> None:
    selector = "{matchLabels: {app: .metadata.labels.app}}"
    call = Call(Operation.INTERPRET_DEPENDENCY, _SHOP)

    overridden = interpret(_by_labels(define, "{}", lua=_OVERRIDE), call)

    assert overridden == interpret(_by_labels(define, selector), call)


_SECRETS = "- {apiVersion: v1, kind: Secret, name: '.spec.secrets[]'}"


@rows(
    ("spec", "annotations", "reason"),
    [
        pytest.param({"secrets": [f"s{number}" for number in range(10_001)]}, {"dependencies": _SECRETS},
            "more than 10000", id="names of an annotation"),
        pytest.param({"templates": [{}] * 10_001}, {"dependencies": "- {pods: '.spec.templates[]'}"},
            "more than 10000", id="pod templates of an annotation"),
        pytest.param({"secrets": ["$(p)"], "p": [f"s{number}" for number in range(17)]},
            {"dependencies": _SECRETS + "\n- {parameters: .spec}"}, "more than 16", id="values of a parameter"),
        pytest.param({"secrets": ["$(a)$(b)$(c)$(d)$(e)"], **dict.fromkeys("abcde", "s")},
            {"dependencies": _SECRETS + "\n- {parameters: .spec}"}, "more than 4", id="parameters of a name"),
    ],
)  # fmt: skip
def test_more_dependencies_than_a_bound_are_an_error(
    define: Define, spec: dict[str, Any], annotations: dict[str, str], reason: str
) -> None:
    obj = {"apiVersion": "example.io/v1", "kind": "Train", "metadata": {"name": "t", "namespace": "n"}, "spec": spec}
    definition = define(root=component("train", ".spec.template"), **annotations)
    with pytest.raises(InterpretationError, match=reason):
        interpret(definition, Call(Operation.INTERPRET_DEPENDENCY, obj))


def test_as_many_dependencies_as_a_bound_are_answered(define: Define) -> None:
    spec = {"secrets": ["$(p)$(q)$(p)$(q)", *(f"s{number}" for number in range(9_999))], "p": [*"abcd"], "q": ""}
    obj = {"apiVersion": "example.io/v1", "kind": "Train", "metadata": {"name": "t", "namespace": "n"}, "spec": spec}
    definition = define(root=component("train", ".spec.template"), dependencies=_SECRETS + "\n- {parameters: .spec}")
    names = [each["name"] for each in interpret(definition, Call(Operation.INTERPRET_DEPENDENCY, obj))["dependencies"]]
    assert len(names) == 9_999 + 4


_NAMED: Any = [
    {"apiVersion": "v1", "kind": "Secret", "namespace": "victim", "name": "crown"},
    {"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "own"},
    {"apiVersion": "v1", "kind": "Secret", "name": "crown"},
    {"apiVersion": "v1", "kind": "Secret", "name": "victim/crown"},
    {"apiVersion": "example.io/v1", "kind": "Crown", "name": "victim/crown"},
    {"apiVersion": "example.io/v1", "kind": "ClusterCrown", "name": "crown"},
    {"apiVersion": "v1", "kind": "Secret", "namespace": "victim", "labelSelector": {"matchLabels": {"a": "b"}}},
    {"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "labelSelector": {"matchLabels": {"a": "b"}}},
    {"apiVersion": "v1", "kind": "Secret", "labelSelector": {"matchLabels": {"a": "b"}}},
    {"apiVersion": "example.io/v1", "kind": "Crown", "labelSelector": {"matchLabels": {"a": "b"}}},
    {"apiVersion": "v1", "kind": "PersistentVolume", "labelSelector": {"matchLabels": {"a": "b"}}},
]
# Karmada's cache finds `victim/crown` without a namespace, and selects in all namespaces.
_FOLLOWED: Any = [_NAMED[10], _NAMED[5], _NAMED[7], _NAMED[1]]
_SCRIPT = """
dependencyInterpretation:
  luaScript: |
    function GetDependencies(desiredObj)
      return desiredObj.spec.needed
    end
"""


def _in_order(references: Sequence[Object]) -> list[str]:
    return sorted(json.dumps(reference, sort_keys=True) for reference in references)


def test_script_names_objects_of_the_namespace_and_of_the_cluster_only(define: Define) -> None:
    definition, obj = define(lua=_SCRIPT), {**_SHOP, "spec": {"needed": _NAMED}}
    call, printed = Call(Operation.INTERPRET_DEPENDENCY, obj), list[str]()

    answered = interpret(definition, call, on_print=printed.append)["dependencies"]

    assert _in_order(answered) == _in_order(_FOLLOWED)
    assert "Secret victim/crown is left out: it is in another namespace, so its owner has to propagate it" in printed
    assert len(printed) == len(_NAMED) - len(_FOLLOWED)
    assert explain(definition, call).results == {"dependencies": answered}


def test_object_text_that_only_a_script_reads_has_its_namespace(define: Define) -> None:
    # The event loop does not decode an object that only a script reads.
    obj = {**_SHOP, "spec": {"needed": _NAMED}}
    call = Call(Operation.INTERPRET_DEPENDENCY, cast("Object", orjson.Fragment(orjson.dumps(obj))))

    assert _in_order(interpret(define(lua=_SCRIPT), call)["dependencies"]) == _in_order(_FOLLOWED)


def test_workload_without_namespace_names_nothing_that_has_one(define: Define) -> None:
    # Karmada follows no dependencies of such a workload: only ResourceBindings have them.
    metadata = {"name": "web"}
    call = Call(Operation.INTERPRET_DEPENDENCY, {**_SHOP, "metadata": metadata, "spec": {"needed": _NAMED}})
    named = interpret(define(lua=_SCRIPT), call)["dependencies"]
    assert [each for each in named if each.get("namespace")] == []

    entry = "[{apiVersion: v1, kind: Secret, name: '\"crown\"', namespace: '\"victim\"'}]"
    definition = define(root=component("train", ".spec.template"), dependencies=entry)
    assert (
        interpret(definition, Call(Operation.INTERPRET_DEPENDENCY, {**_SHOP, "metadata": metadata}))["dependencies"]
        == []
    )


_PLACES = st.sampled_from(["", "shop", "victim", "shop/", "victim/crown", "SHOP", "..", "shop%2f..", "shop\n", "*"])
_REFERENCES = st.lists(
    st.fixed_dictionaries(
        {
            "apiVersion": st.sampled_from(["v1", "apps/v1", "example.io/v1", "rbac.authorization.k8s.io/v1"]),
            "kind": st.sampled_from(["Secret", "Node", "ClusterRole", "Crown"]),
        },
        optional={
            "namespace": _PLACES,
            "name": _PLACES,
            "labelSelector": st.just({"matchLabels": {"a": "b"}}),
        },
    ).filter(lambda reference: reference.get("name") or "labelSelector" in reference),
    max_size=6,
)


@given(_REFERENCES)
def test_followed_dependencies_are_of_the_namespace_or_of_the_cluster(references: list[Any]) -> None:
    call = Call(Operation.INTERPRET_DEPENDENCY, _SHOP)
    for one in script_results(call, [{"dependencies": references}])["dependencies"]:
        name, namespace = one.get("name", ""), one.get("namespace", "")
        assert namespace in ("", "shop")
        assert not set(name) & set("/%\n*")
        if not namespace:
            assert one["kind"] in ("Node", "ClusterRole") or (name and "/" in one["apiVersion"])
