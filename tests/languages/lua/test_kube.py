"""The functions of ``require("kube")``, against worked examples of Karmada's."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.languages.lua.machine.kube import KUBE
from tests.support.rows import rows

_SYNTAX = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def _pod(**spec: Any) -> dict[str, Any]:
    return {"spec": spec}


def _asking(**resources: Any) -> dict[str, Any]:
    return _pod(containers=[{"name": "web", "resources": resources}])


@rows(
    ("quantities", "total"),
    [
        pytest.param((), "0", id="nothing"),
        pytest.param((None, None), "0", id="nils are zeros"),
        pytest.param(("1Gi", "1Mi"), "1025Mi", id="binary"),
        pytest.param(("1Gi", "1G"), "2073741824", id="binary that is not a round number"),
        pytest.param(("1G", "1Gi"), "2073741824", id="decimal first"),
        pytest.param((None, "0", "1Ki", "1M"), "1001024", id="the format of the first that is not zero"),
        pytest.param(("100m", "0.9"), "1", id="one whole"),
        pytest.param(("1.500",), "1500m", id="a sum is canonical"),
        pytest.param(("-1", "+3"), "2", id="signs"),
        pytest.param(("1e3", "1"), "1001", id="an exponent"),
    ],
)
def test_resource_add(quantities: tuple[str | None, ...], total: str) -> None:
    assert KUBE["resourceAdd"](*quantities) == total


@given(st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(["", "m", "k", "Ki", "Mi"])), max_size=5))
def test_sum_does_not_depend_on_order(parts: list[tuple[int, str]]) -> None:
    texts = [f"{number}{suffix}" for number, suffix in parts]
    there, back = KUBE["resourceAdd"](*texts), KUBE["resourceAdd"](*reversed(texts))
    assert Quantity.parse(there) == Quantity.parse(back)


@rows(
    ("text", "number"),
    [
        pytest.param(None, 0.0, id="nil"),
        pytest.param("0", 0.0, id="zero"),
        pytest.param("100m", 0.1, id="milli"),
        pytest.param("1Gi", 1073741824.0, id="binary"),
        pytest.param("1.5Gi", 1.5 * 2**30, id="a mixed number of a binary unit"),
        pytest.param("0.7", 7 * 0.1, id="seven tenths is off by the last bit, as it is for Karmada"),
        pytest.param("8Ei", float(2**63 - 1), id="the largest binary amount"),
        pytest.param("1e308", 1e308, id="near the largest float"),
    ],
)
def test_get_resource_quantity(text: str | None, number: float) -> None:
    assert KUBE["getResourceQuantity"](text) == number


@rows(
    ("template", "requirements"),
    [
        pytest.param({}, None, id="an empty template asks for nothing"),
        pytest.param([], None, id="whichever way it comes"),
        pytest.param(_asking(limits={"cpu": 2}), {"resourceRequest": {"cpu": "2"}}, id="a number, a limit"),
        pytest.param({"Spec": {"CONTAINERS": [{"Resources": {"requests": {"memory": "1.5Gi", "cpu": "0.5"}}}]}},
            {"resourceRequest": {"cpu": "500m", "memory": "1536Mi"}}, id="fields in any case"),
        pytest.param(_asking(requests={"foo": "1", "storage": "1Gi"}), None, id="resources that are not counted"),
        pytest.param(_asking(requests=[], limits={}), None, id="empty tables are no resources"),
        pytest.param(_pod(containers=[[], {"resources": {"requests": {"cpu": "1"}}}, {}]),
            {"resourceRequest": {"cpu": "1"}}, id="empty elements are no containers"),
        pytest.param(_pod(nodeSelector={"disk": "ssd"}, tolerations=[{"key": "gpu", "value": "", "colour": "blue"}]),
            {"nodeClaim": {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "gpu"}]}},
            id="a node claim has no unknown and no empty fields"),
        pytest.param(_pod(priorityClassName="high", resources={"requests": {"cpu": "1"}}), None,
            id="pod level resources do not"),
        pytest.param({"spec": {"replicas": "many"}, "kind": 5}, None, id="unknown fields may have any type"),
        pytest.param(
            _pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "values": ["a"]}]}]}}}),
            {"nodeClaim": {"hardNodeAffinity": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "", "values": ["a"]}]}]}}},
            id="required fields are there without a value",
        ),
    ],
)  # fmt: skip
def test_accurate_pod_requirements(template: Any, requirements: Any) -> None:
    assert KUBE["accuratePodRequirements"](template) == requirements


@rows(
    ("namespace", "used"),
    [
        pytest.param("team", "team", id="a name"),
        pytest.param(None, "default", id="nil is the default namespace"),
        pytest.param(7, "7", id="a number is a string to Lua"),
        pytest.param(1.5, "1.5", id="and so is a fraction"),
        pytest.param(1152921504606847000, "1152921504606846976", id="with all its digits, as tostring has it"),
        pytest.param(9223372036854776000, "9.223372036854776e+18", id="or with an exponent from 2^63"),
    ],
)
def test_get_pod_dependencies(namespace: Any, used: str) -> None:
    volumes = [{"secret": {"SecretName": "key"}}, {"emptyDir": {}}, {"persistentVolumeClaim": {"claimName": "disk"}}]
    template = _pod(serviceAccountName="runner", volumes=volumes)
    assert KUBE["getPodDependencies"](template, namespace) == [
        {"apiVersion": "v1", "kind": "Secret", "namespace": used, "name": "key"},
        {"apiVersion": "v1", "kind": "ServiceAccount", "namespace": used, "name": "runner"},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": used, "name": "disk"},
    ]


@pytest.mark.parametrize(
    "template",
    [
        pytest.param({}, id="empty"),
        # GetDependenciesFromPodTemplate of Karmada reads ServiceAccountName only.
        pytest.param(_pod(serviceAccount="runner"), id="the older name of an account, which Karmada does not read"),
    ],
)
def test_pod_without_dependencies_gives_nil(template: Any) -> None:
    assert KUBE["getPodDependencies"](template, "team") is None


def test_dependencies_without_a_namespace_have_none() -> None:
    template = _pod(imagePullSecrets=[{"name": "pull"}])
    assert KUBE["getPodDependencies"](template, "") == [{"apiVersion": "v1", "kind": "Secret", "name": "pull"}]


@rows(
    ("function", "arguments", "message"),
    [
        pytest.param("resourceAdd", (1,), "bad argument #1 to resourceAdd (string expected, got number)",
            id="a number"),
        pytest.param("resourceAdd", ("1", {}), "bad argument #2 to resourceAdd (string expected, got table)",
            id="a table"),
        pytest.param("resourceAdd", ("1x",), f"cannot parse '1x': {_SYNTAX}", id="an unknown letter"),
        pytest.param("resourceAdd", ("",), f"cannot parse '': {_SYNTAX}", id="an empty string"),
        pytest.param("resourceAdd", ("1KiB",), f"cannot parse '1KiB': {_SYNTAX}", id="bytes"),
        pytest.param("resourceAdd", ("1mi",), "cannot parse '1mi': unable to parse quantity's suffix", id="a small Mi"),
        pytest.param("resourceAdd", ("Ei",), "cannot parse 'Ei': unable to parse numeric part of quantity",
            id="only a suffix"),
        pytest.param("getResourceQuantity", (), "getResourceQuantity only accepts one argument", id="no quantity"),
        pytest.param("getResourceQuantity", ("1", "2"), "getResourceQuantity only accepts one argument",
            id="two quantities"),
        pytest.param("getResourceQuantity", (True,),
            "bad argument #1 to getResourceQuantity (string expected, got boolean)", id="a boolean for a quantity"),
        pytest.param("getResourceQuantity", ("-1",), "int approximation unexpectedly returned a negative value: -1",
            id="less than nothing"),
        pytest.param("getResourceQuantity", ("1e309",),
            "int approximation unexpectedly returned an infinite value: 1e309", id="more than a float holds"),
        pytest.param("accuratePodRequirements", (), "getPodRequirements only accepts one argument", id="no template"),
        pytest.param("accuratePodRequirements", ({}, {}), "getPodRequirements only accepts one argument",
            id="two templates"),
        pytest.param("accuratePodRequirements", (None,),
            "bad argument #1 to accuratePodRequirements (table expected, got nil)", id="nil for a template"),
        pytest.param(
            "accuratePodRequirements",
            (_pod(hostNetwork="yes"),),
            "fail to convert lua value to PodTemplateSpec: json unmarshal obj failed: "
            "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool",
            id="a string for a boolean, which has nothing to do with resources",
        ),
        pytest.param(
            "accuratePodRequirements",
            (_pod(containers=[{"ports": [{"containerPort": "80"}]}]),),
            "fail to convert lua value to PodTemplateSpec: json unmarshal obj failed: json: cannot unmarshal string "
            "into Go struct field ContainerPort.spec.containers[0].ports[0].containerPort of type int32",
            id="a string for a number, and where it is",
        ),
        pytest.param(
            "accuratePodRequirements",
            (_asking(limits={"cpu": "lots"}),),
            "fail to convert lua value to PodTemplateSpec: json unmarshal obj failed: "
            f"spec.containers[0].resources.limits.cpu: {_SYNTAX}",
            id="a word for a quantity",
        ),
        pytest.param("getPodDependencies", ({},), "getPodDependencies only accepts two argument", id="no namespace"),
        pytest.param("getPodDependencies", ("x", "team"),
            "bad argument #1 to getPodDependencies (table expected, got string)", id="a string for a template"),
        pytest.param("getPodDependencies", ({"spec": 5}, {}),
            "bad argument #2 to getPodDependencies (string expected, got table)",
            id="a table for a namespace, before the template is read"),
        pytest.param(
            "getPodDependencies",
            (_pod(volumes={"secret": {"secretName": "key"}}), "team"),
            "fail to convert lua value to corev1.PodTemplateSpec: json unmarshal obj failed: "
            "json: cannot unmarshal object into Go struct field PodSpec.spec.volumes of type []Volume",
            id="an object for a list",
        ),
    ],
)  # fmt: skip
def test_refused(function: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(LuaRunError) as refused:
        KUBE[function](*arguments)
    assert str(refused.value) == message
