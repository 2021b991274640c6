"""Scripts of Retain and ReviseReplica for definitions whose fields are at paths through objects alone."""

from collections.abc import Mapping
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError, LuaRunError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.support.rows import few_rows, rows
from tests.support.scripts import answer

_RULES = r"""
- .spec.policy.managedBy
- .spec.policy.seed // empty
- .spec.policy.mode // "Auto"
- select(.spec.scaler != null) | .spec | .worker.replicas, .worker.slots
- .status
"""
_LABELS = {"kueue.x-k8s.io/queue-name": "team"}
_RETAINS = {"resourcetemplate.karmada.io/retain-replicas": "true"}
_POD = {"spec": {"containers": [{"name": "main", "image": "main"}]}}
_OF_LISTS = ("moved_path", "append_from", "scales_of", "shares_of")


def _component(name: str, **scale: str) -> dict[str, Any]:
    return {
        "name": name,
        "ownerRef": "team",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "specDefinition": {"podTemplateSpecPath": f".spec.{name}.template"},
        "scaleDefinition": {"replicasPath": f".spec.{name}.replicas // 1", **scale},
    }


def _team(*children: dict[str, Any], **annotations: str) -> Definition:
    """The definition of a kind with a head and workers, or other ``children``, whose paths have no list."""
    bounds = {"minReplicasPath": ".spec.bounds | .least // .most", "maxReplicasPath": ".spec.bounds | .most // .least"}
    root = {
        "name": "team",
        "kind": {"group": "example.io", "version": "v1", "kind": "Team"},
        "suspendDefinition": {
            "suspendActions": [{"path": ".spec.policy.suspend", "value": "true"}],
            "resumeActions": [{"path": ".spec.policy.suspend", "value": "false"}],
        },
        "statusDefinition": {
            "phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {"running": [{"byPhase": "Up"}]},
        },
    }
    own = {"elastic": "worker", "retain": _RULES} | annotations
    return load_definition(
        {
            "apiVersion": "run.ai/v1alpha1",
            "kind": "Karta",
            "metadata": {"name": "team", "annotations": {f"karta-interpreter.io/{key}": own[key] for key in own}},
            "spec": {
                "structureDefinition": {
                    "rootComponent": root,
                    "childComponents": [*(children or (_component("head"), _component("worker", **bounds)))],
                }
            },
        }
    )


def _object(spec: Any, labels: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "x"} | ({"labels": labels} if labels else {})
    return {"apiVersion": "example.io/v1", "kind": "Team", "metadata": metadata, "spec": spec, **fields}


def _agrees(definition: Definition, call: Call, **second: Any) -> Mapping[str, Any] | None:
    """Return the answer that a definition and its script agree about; None for an error of both."""
    script = Script(call.operation, script_of(definition, call.operation), "team")
    try:
        expected = interpret(definition, call)
    except InterpretationError:
        with pytest.raises(LuaRunError):
            answer([script], object=call.object, **second)
        return None
    assert answer([script], object=call.object, **second) == expected
    return expected


@pytest.mark.parametrize("operation", [Operation.RETAIN, Operation.REVISE_REPLICA])
def test_script_of_plain_paths_has_no_functions_for_lists(operation: Operation) -> None:
    text = script_of(_team(), operation)

    assert [name for name in _OF_LISTS if name in text] == []


@rows(
    "place",
    [
        pytest.param(".spec.parts[].size", id="a list"),
        pytest.param("if .spec.scaler then null else .spec.worker.slots end", id="null, which has no place"),
        pytest.param("select(.status.ready) | .spec.worker.slots", id="a condition on the member's status"),
    ],
)
def test_field_at_uncertain_path_takes_functions_for_lists(place: str) -> None:
    assert "moved_path" in script_of(_team(retain=f"- {place}"), Operation.RETAIN)


@rows(
    ("desired", "observed", "retained"),
    [
        pytest.param(_object({"policy": {}}), _object({"policy": {"managedBy": "kueue", "suspend": True}}),
            {"policy": {"managedBy": "kueue", "mode": None, "suspend": True}},
            id="a rule's field, and a switch that is unset"),
        pytest.param(_object({"policy": {"seed": 1, "mode": "Fixed"}}), _object({"policy": {}}),
            {"policy": {"mode": "Auto"}}, id="what the member lacks is dropped, or has another value"),
        pytest.param(_object({}), _object({"policy": {"managedBy": "kueue"}}), {"policy": {"managedBy": "kueue"}},
            id="a new object"),
        pytest.param(_object({"scaler": {}, "worker": {"replicas": 2, "template": _POD}}),
            _object({"scaler": {}, "worker": {"replicas": 5, "slots": 8, "template": _POD}}),
            {"scaler": {}, "worker": {"replicas": 5, "slots": 8, "template": _POD}},
            id="a condition that holds in both"),
        pytest.param(_object({"worker": {"replicas": 2, "template": _POD}}),
            _object({"scaler": {}, "worker": {"replicas": 5, "template": _POD}}),
            {"worker": {"replicas": 2, "template": _POD}}, id="a condition that does not hold in the template"),
        pytest.param(_object({"worker": {"template": _POD}}), _object({"worker": {"replicas": 5, "template": _POD}}),
            {"worker": {"replicas": 5, "template": _POD}}, id="a count that is unset"),
        pytest.param(_object({"worker": {"replicas": 2, "template": _POD}}, _RETAINS),
            _object({"worker": {"replicas": 5, "template": _POD}}), {"worker": {"replicas": 5, "template": _POD}},
            id="a count by Karmada's label"),
        pytest.param(_object({"worker": {"replicas": 2, "template": _POD}}, _RETAINS),
            _object({"worker": {"replicas": 5, "template": _POD}, "bounds": {"least": "many"}}),
            {"worker": {"replicas": 2, "template": _POD}}, id="a bound of the member that is not a number"),
        pytest.param(
            _object(
                {"policy": {"suspend": True}, "head": {"template": {"spec": {"tolerations": [{"key": "b"}]}}}}, _LABELS
            ),
            _object({"head": {"template": {"spec": {"tolerations": [{"key": "a"}, {"key": "b"}]}}}}),
            {
                "policy": {"suspend": False},
                "head": {"template": {"spec": {"tolerations": [{"key": "a"}, {"key": "b"}]}}},
            },
            id="what a queue has started, and has added to its pods",
        ),
        pytest.param(_object({"head": {"template": {"spec": {"tolerations": [{"key": "b"}]}}}}, _LABELS),
            _object({"head": {"template": {"spec": {"tolerations": [False, {"key": "b"}]}}}}),
            {"head": {"template": {"spec": {"tolerations": [False, {"key": "b"}]}}}},
            id="a broken element that comes first"),
        pytest.param(_object({"head": {"template": {"spec": {"nodeSelector": {"disk": "ssd"}}}}}, _LABELS),
            _object({"policy": {"suspend": True}, "head": {"template": {"spec": {"nodeSelector": {"pool": "a"}}}}}),
            {"policy": {"suspend": True}, "head": {"template": {"spec": {"nodeSelector": {"disk": "ssd"}}}}},
            id="what a queue holds is without its fields"),
        pytest.param(_object({"policy": "none"}), _object({}), None, id="a text on the way to a field"),
        pytest.param(_object({}), _object({"policy": ["none"]}), {}, id="a list on the way to the member's field"),
        pytest.param(_object({"worker": {"template": "none"}}), _object({}), {"worker": {"template": "none"}},
            id="a template that is none, its count unset"),
        pytest.param(_object({"worker": {"template": "none", "replicas": 2}}), _object({}),
            {"worker": {"template": "none", "replicas": 2}}, id="a template that is none, its bounds unset"),
        pytest.param(_object({"worker": {"template": "none", "replicas": 2}, "bounds": {"least": 1, "most": 2}}),
            _object({}), {"worker": {"template": "none", "replicas": 2}, "bounds": {"least": 1, "most": 2}},
            id="a template that nothing needs"),
    ],
)  # fmt: skip
def test_retain_at_plain_paths(desired: Any, observed: Any, retained: Any) -> None:
    observed = {**observed, "status": {"phase": "Up"}}

    found = _agrees(_team(), Call(Operation.RETAIN, desired, observed=observed), observed=observed)

    assert (found and found["retained"]["status"]) == (None if retained is None else {"phase": "Up"})
    if found and retained:
        wanted = {key: {k: v for k, v in value.items() if v is not None} for key, value in retained.items()}
        assert found["retained"]["spec"] == wanted


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        pytest.param("n" * 253, True, id="as long as any name"),
        pytest.param("n" * 254, False, id="longer"),
        pytest.param("é", False, id="not ASCII"),
        pytest.param("a.b-c_d:E1", True, id="all that names may have"),
        pytest.param("-a", False, id="a sign first"),
        pytest.param("..", False, id="the folder above"),
        pytest.param("a/b", False, id="a path"),
        pytest.param("a%b", False, id="an escape"),
        pytest.param("a\n", False, id="a line end"),
    ],
)
@pytest.mark.parametrize("field", ["secret", "place"])
def test_names_and_namespaces_that_no_object_can_have_are_left_out(field: str, text: str, is_named: bool) -> None:
    needed = "- {apiVersion: v1, kind: Secret, name: .spec.secret, namespace: .spec.place}"
    place = text if field == "place" else "p"
    obj = _object({"secret": "s", "place": place, field: text})
    obj["metadata"] = {**obj["metadata"], "namespace": place}

    found = _agrees(_team(dependencies=needed), Call(Operation.INTERPRET_DEPENDENCY, obj))

    assert found is not None
    assert len(found["dependencies"]) == is_named


@few_rows(
    ("name", "names"),
    [
        pytest.param("key", ["key"], id="without parameters"),
        pytest.param("$(params.app)-tls", ["shop-tls"], id="a part of the name"),
        pytest.param(
            "{{ params.app }}-{{=params['env']}}", ["shop-prod"], id="two, in both notations of Argo Workflows"
        ),
        pytest.param('$(params["app"])-{{params.env}}', ["shop-prod"], id="in brackets, and two notations"),
        pytest.param("{{params.env}}-$(params.app)", ["prod-shop"], id="the other notation first"),
        pytest.param("$(params.keys)", ["a", "b"], id="each value of a list"),
        pytest.param("$(params.keys)-$(params.keys)", ["a-a", "b-b"], id="one value in all of a name"),
        pytest.param("$(params.keys)-{{params.keys}}", ["a-a", "a-b", "b-a", "b-b"], id="each pair"),
        pytest.param("$(params.percent)", [], id="a percent sign in a value"),
        pytest.param("$(params.keys[1])", ["b"], id="an element"),
        pytest.param("$(params.keys[7])", [], id="no such element"),
        pytest.param("$(params.full)", ["shop-tls"], id="a parameter in the value of another"),
        pytest.param("$(params.itself)", [], id="a parameter in its own value"),
        pytest.param("$(params.many)", None, id="more than 16"),
        pytest.param("$(params.keys){{params.nine}}", None, id="in all"),
        pytest.param("{{params.nine}}", [f"n{number}" for number in range(9)], id="not more than 16"),
        pytest.param("$(params.there)", None, id="two parameters in one another"),
        pytest.param("$(params.number)", [], id="a number"),
        pytest.param("$(params.empty)", [], id="an empty value"),
        pytest.param("$(team.a.b)-key", ["ops-key"], id="a text for all that begins so"),
        pytest.param("$(params.absent)", [], id="no such parameter"),
        pytest.param("$(params)", [], id="no text"),
        pytest.param("$(params.app.deeper)", [], id="a field of a text"),
        pytest.param("$()", [], id="nothing"),
        pytest.param("$(params.app", [], id="no end"),
        pytest.param(f"{'k' * 260}$(params.app)", [], id="longer than any name"),
    ],
)
def test_parameters_in_names_get_their_values(name: str, names: list[str] | None) -> None:
    values = '{params: .spec.params, team: "ops"}'
    needed = f"[{{apiVersion: v1, kind: Secret, name: .spec.secret}}, {{parameters: '{values}'}}]"
    params = {
        "app": "shop",
        "env": "prod",
        "keys": ["a", "b"],
        "full": "$(params.app)-tls",
        "itself": "$(params.itself)",
        "many": [f"n{number:02}" for number in range(40)],
        "nine": [f"n{number}" for number in range(9)],
        "there": "$(params.back)",
        "back": "$(params.there)",
        "number": 5,
        "empty": "",
        "percent": "%1%0",
    }

    found = _agrees(
        _team(dependencies=needed), Call(Operation.INTERPRET_DEPENDENCY, _object({"secret": name, "params": params}))
    )

    assert (found and [one["name"] for one in found["dependencies"]]) == names


def test_parameters_that_are_null_or_of_pods_and_selectors() -> None:
    needed = """
      - {apiVersion: v1, kind: Service, labelSelector: '{matchLabels: {app: "web"}}'}
      - {pods: '{spec: {volumes: [{name: "v", secret: {secretName: "$(params.key)"}}]}}'}
      - {parameters: '.spec.absent, {params: {key: "team"}}'}
    """

    found = _agrees(_team(dependencies=needed), Call(Operation.INTERPRET_DEPENDENCY, _object({})))

    assert found is not None
    assert [one.get("name") for one in found["dependencies"]] == ["team", None]


@rows(
    ("labels", "selected"),
    [
        pytest.param("{matchLabels: {app: .spec.app}}", [{"matchLabels": {"app": "web"}}], id="a label"),
        pytest.param("{matchLabels: {app: .spec.app, tier: .spec.tier}}", [], id="a label that is not there"),
        pytest.param("{matchLabels: .spec.labels}", [], id="no labels"),
        pytest.param(".spec.selector", [], id="no selector"),
        pytest.param("{}", [{}], id="everything"),
        pytest.param("{matchLabels: {app: (.spec.app, .spec.app, .spec.other)}}",
            [{"matchLabels": {"app": "db"}}, {"matchLabels": {"app": "web"}}], id="several, each once"),
        pytest.param('{matchExpressions: [{key: "app", operator: "In", values: [.spec.app]}]}',
            [{"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}], id="an expression"),
        pytest.param("{matchLabels: {app: .spec.wrong}}", None, id="an invalid label"),
        pytest.param("{matchLabels: {app: .spec.size}}", None, id="a number"),
        pytest.param(".spec.nested", None, id="a field that no selector has"),
        pytest.param(".spec.app", None, id="a text"),
    ],
)  # fmt: skip
def test_dependencies_by_labels(labels: str, selected: list[Any] | None) -> None:
    needed = f"- {{apiVersion: v1, kind: Service, labelSelector: '{labels}'}}"
    spec = {"app": "web", "other": "db", "wrong": "a b", "size": 3, "nested": {"app": "web"}}

    found = _agrees(_team(dependencies=needed), Call(Operation.INTERPRET_DEPENDENCY, _object(spec)))

    service = {"apiVersion": "v1", "kind": "Service"}
    wanted = None if selected is None else [{**service, "labelSelector": selector} for selector in selected]
    assert (found and found["dependencies"]) == wanted


def test_quantities_in_lists_keep_their_notation() -> None:
    desired = _object({"policy": {"sizes": [{"cpu": 1}, 2, "0.5", [], "0", "5", "-5"]}})
    observed = _object({"policy": {"sizes": [{"cpu": "1"}, "2", "1", "1", "", "+5", "-5000m"]}})

    call = Call(Operation.RETAIN, desired, observed=observed)
    found = _agrees(_team(retain="- quantities: .spec.policy"), call, observed=observed)

    assert found is not None
    assert found["retained"]["spec"]["policy"] == {"sizes": [{"cpu": "1"}, "2", "0.5", [], "0", "+5", "-5000m"]}


@rows(
    ("spec", "replicas", "worker"),
    [
        pytest.param(
            {"head": {"template": _POD}, "worker": {"replicas": 2, "template": _POD}}, 5, 4, id="what is left"
        ),
        pytest.param({"worker": {"replicas": "2", "template": _POD}}, 5, "5", id="a text stays one"),
        pytest.param({"worker": {"template": _POD}}, 1, 1, id="the default is written"),
        pytest.param({"worker": {"replicas": 2, "template": _POD}}, 2, 2, id="the same number"),
        pytest.param({"worker": {"replicas": 2, "template": _POD}, "bounds": {"most": 3}}, 4, None, id="above a bound"),
        pytest.param(
            {"worker": {"replicas": 2, "template": _POD}, "bounds": {"least": 3}}, 1, None, id="below a bound"
        ),
        pytest.param({"worker": {"replicas": 2, "template": _POD}, "bounds": {"least": []}}, 3, None, id="no bound"),
        pytest.param({"head": {"replicas": 3, "template": _POD}, "worker": {"template": _POD}}, 2, None, id="too few"),
        pytest.param({"head": {"template": _POD}}, 2, None, id="nothing that may change"),
        pytest.param({"head": {"replicas": "x", "template": _POD}, "worker": {"template": _POD}}, 2, None, id="a text"),
        pytest.param("none", 2, None, id="no object"),
    ],
)
def test_revise_at_plain_paths(spec: Any, replicas: int, worker: int | str | None) -> None:
    call = Call(Operation.REVISE_REPLICA, _object(spec), replicas=replicas)

    found = _agrees(_team(), call, replicas=replicas)

    assert (found and found["revised"]["spec"]["worker"]["replicas"]) == worker


def test_script_writes_minimum_that_equals_its_default() -> None:
    head, worker = (_component(name) for name in ("head", "worker"))
    for name, part in (("head", head), ("worker", worker)):
        part["scaleDefinition"] = {"minReplicasPath": f"[(.spec.{name}.minReplicas // 1), 1] | max"}
    spec = {"head": {"minReplicas": 3, "template": _POD}, "worker": {"template": _POD}}

    call = Call(Operation.REVISE_REPLICA, _object(spec), replicas=2)
    found = _agrees(_team(head, worker, elastic="head,worker"), call, replicas=2)

    assert found is not None
    assert [found["revised"]["spec"][name]["minReplicas"] for name in ("head", "worker")] == [1, 1]
