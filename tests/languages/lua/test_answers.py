"""Operations answered by scripts: what a script is given, and what becomes of what it returns."""

from typing import Any

import pytest

from karta_interpreter.base.errors import LuaRunError, LuaSyntaxError
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.languages.lua.script import Script
from tests.support.rows import rows
from tests.support.scripts import answer

_JOB: Any = {
    "apiVersion": "batch.example.com/v1",
    "kind": "Crawl",
    "metadata": {"name": "nightly", "namespace": "team", "annotations": {}},
    "spec": {"parallelism": 3, "hosts": [], "template": {"spec": {"volumes": [{"name": "tmp", "emptyDir": {}}]}}},
}


def _script(operation: str, body: str, parameters: str = "obj") -> Script:
    return Script(operation, f"function {SLOTS[operation].function}({parameters})\n{body}\nend", name="crawl")


@rows(
    ("script", "arguments", "expected"),
    [
        pytest.param(_script("InterpretReplica", "return obj.spec.parallelism"), {}, {"replica": 3, "requires": None},
            id="replicas without requirements"),
        pytest.param(
            _script(
                "InterpretReplica",
                'local kube = require("kube") return 1, kube.accuratePodRequirements({spec = {containers = {'
                '{resources = {requests = {cpu = "0.5", memory = kube.resourceAdd("1Gi", "1Gi")}}}}}})',
            ),
            {},
            {"replica": 1, "requires": {"resourceRequest": {"cpu": "500m", "memory": "2Gi"}}},
            id="replicas with requirements of the kube library",
        ),
        pytest.param(_script("InterpretComponent", 'return {{name = "crawler", replicas = obj.spec.parallelism}}'), {},
            {"components": [{"name": "crawler", "replicas": 3}]}, id="components"),
        pytest.param(_script("ReviseReplica", "obj.spec.parallelism = n return obj", "obj, n"), {"replicas": 5},
            {"revised": {**_JOB, "spec": {**_JOB["spec"], "parallelism": 5}}},
            id="a revised object keeps what was empty in it"),
        pytest.param(_script("Retain", "desired.spec.hosts = observed.spec.hosts return desired", "desired, observed"),
            {"observed": {**_JOB, "spec": {"hosts": {"a": 1, "b": {}}}}},
            {"retained": {**_JOB, "spec": {**_JOB["spec"], "hosts": {"a": 1, "b": {}}}}},
            id="a retained object keeps what was empty in either"),
        pytest.param(
            _script("AggregateStatus", "obj.status = {clusters = #items, last = items[2]} return obj", "obj, items"),
            {"items": ({"clusterName": "a"}, {"clusterName": "b", "status": {"x": None, "y": {}}})},
            {
                "aggregatedStatus": {
                    "apiVersion": "batch.example.com/v1",
                    "kind": "Crawl",
                    "metadata": {"name": "nightly", "namespace": "team"},
                    "spec": {"parallelism": 3, "template": {"spec": {"volumes": [{"name": "tmp"}]}}},
                    "status": {"clusters": 2, "last": {"clusterName": "b", "status": {}}},
                }
            },
            id="an object with a status loses what was empty in it",
        ),
        pytest.param(
            _script("AggregateStatus", "obj.status = {items = type(items)} obj.spec = nil return obj", "obj, items"),
            {},
            {
                "aggregatedStatus": {
                    "apiVersion": "batch.example.com/v1",
                    "kind": "Crawl",
                    "metadata": {"name": "nightly", "namespace": "team"},
                    "status": {"items": "nil"},
                }
            },
            id="no items are nil",
        ),
        pytest.param(_script("AggregateStatus", "return {kind = type(items), status = {number = #items}}",
            "obj, items"), {"items": ()}, {"aggregatedStatus": {"kind": "table", "status": {"number": 0}}},
            id="an empty list of items is a table"),
        pytest.param(_script("InterpretStatus", "return {}"), {}, {"status": {}}, id="an empty status"),
        pytest.param(_script("InterpretHealth", "return obj.spec.parallelism > 2"), {}, {"healthy": True}, id="health"),
        pytest.param(_script("InterpretHealth", 'return require("karta").interpretHealth(obj)'),
            {"own": {"interpretHealth": lambda obj: (obj["kind"] == "Crawl",)}}, {"healthy": True},
            id="the definition's own answer"),
    ],
)  # fmt: skip
def test_answers(script: Script, arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    assert answer((script,), object=_JOB, **arguments) == expected


def test_unites_the_dependencies_of_all_scripts() -> None:
    scripts = (
        _script("InterpretDependency", 'return {{apiVersion = "v1", kind = "Secret", name = "b"}}'),
        _script("InterpretDependency", "return {}"),
        _script(
            "InterpretDependency",
            'return require("kube").getPodDependencies({spec = {imagePullSecrets = {{name = "a"}}}}, "team")',
        ),
    )
    assert answer(scripts, object=_JOB)["dependencies"] == [
        {"apiVersion": "v1", "kind": "Secret", "name": "b"},
        {"apiVersion": "v1", "kind": "Secret", "namespace": "team", "name": "a"},
    ]


def test_refused_dependency_refuses_all() -> None:
    scripts = (
        _script("InterpretDependency", 'return {{apiVersion = "v1", kind = "Secret", name = "b"}}'),
        _script("InterpretDependency", 'return {{apiVersion = "v1", name = "b"}}'),
    )
    with pytest.raises(LuaRunError, match=r'^dependencies\[0\]\.kind: Invalid value: "": missing required kind$'):
        answer(scripts, object=_JOB)


@rows(
    ("script", "error", "message", "line"),
    [
        pytest.param(_script("InterpretHealth", "if false then return true end"), LuaRunError,
            "result type 0 is not bool", 0, id="falling off the end"),
        pytest.param(Script("InterpretHealth", "function Interprethealth() end", "crawl"), LuaRunError,
            "not found function InterpretHealth", 0, id="another function"),
        pytest.param(_script("InterpretHealth", "return obj.status.ready"), LuaRunError, "nil", 2, id="no status"),
        pytest.param(_script("InterpretHealth", "return ready ="), LuaSyntaxError, "=", 2, id="no Lua"),
        pytest.param(_script("InterpretHealth", 'return require("kube").resourceAdd(1) == "1"'), LuaRunError,
            r"bad argument #1 to resourceAdd \(string expected, got number\)", 2, id="the kube library refuses"),
    ],
)  # fmt: skip
def test_refused(script: Script, error: type[Exception], message: str, line: int) -> None:
    with pytest.raises(error, match=message) as refused:
        answer((script,), object=_JOB)
    if line:
        assert getattr(refused.value, "line", None) == line


def test_deep_result_is_refused() -> None:
    script = _script("InterpretStatus", "local t = {a = 1} for i = 1, 5000 do t = {t = t} end return t")
    with pytest.raises(LuaRunError):
        answer((script,), object=_JOB)


def test_leaves_the_object_alone() -> None:
    before = repr(_JOB)
    answer((_script("ReviseReplica", "obj.spec.hosts = nil return obj", "obj, n"),), object=_JOB, replicas=1)
    assert repr(_JOB) == before


def test_printed_text_is_passed_on() -> None:
    heard: list[str] = []
    answer((_script("InterpretHealth", 'print("up", 1) return true'),), object=_JOB, on_print=heard.append)
    assert "".join(heard).split() == ["up", "1"]


_COPY = """
  local function copy(value)
    if type(value) ~= "table" then return value end
    local result = {}
    for key, item in pairs(value) do result[key] = copy(item) end
    return result
  end
"""


@rows(
    "spec",
    [
        pytest.param({"containers": [{"resources": {"requests": {"memory": "1024Mi", "cpu": 0.5}}}]}, id="resources"),
        pytest.param({"overhead": {"memory": "1G", "ephemeral-storage": "1025"}}, id="an amount that Go rewrites"),
        pytest.param({"nodeSelector": {"b": "x", "a": ""}, "tolerations": [{"key": "c"}]}, id="a claim"),
        pytest.param({"tolerations": [{"colour": "blue"}, {"key": "c"}]}, id="a toleration of nothing"),
        pytest.param({"tolerations": [{"colour": "blue"}]}, id="a claim of nothing"),
        pytest.param(
            {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}}},
            id="an affinity",
        ),
        pytest.param(
            {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"colour": "blue"}}}},
            id="an affinity of nothing",
        ),
        pytest.param({}, id="nothing"),
    ],
)  # fmt: skip
def test_requirements_that_a_script_hands_on_are_as_if_it_had_written_them(spec: Any) -> None:
    """The way from kube to the result is short if a script touches nothing."""
    handed = "local r = require('kube').accuratePodRequirements(obj.template) return {{name = 'a', %s}}"
    short = _script("InterpretComponent", handed.replace("%s", "replicaRequirements = r"))
    long = _script("InterpretComponent", _COPY + handed.replace("%s", "replicaRequirements = copy(r)"))
    thing = {"kind": "Job", "template": {"spec": spec}}
    assert answer([short], object=thing) == answer([long], object=thing)


def test_requirements_may_go_anywhere() -> None:
    script = _script("InterpretStatus", "return {r = require('kube').accuratePodRequirements(obj), empty = {}}")
    asked = {"kind": "Job", "spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}}
    found = answer([script], object=asked)
    assert found == {"status": {"r": {"resourceRequest": {"cpu": "1"}}}}
    assert type(found["status"]["r"]) is dict  # which is all that writers of YAML know
    components = "return {{name = 'a', replicaRequirements = require('kube').accuratePodRequirements(obj)}}"
    (component,) = answer([_script("InterpretComponent", components)], object=asked)["components"]
    assert type(component["replicaRequirements"]) is dict
