from copy import deepcopy
from typing import Any

import pytest

from karta_interpreter import Karta, PathNotWritableError, Workload, WorkloadError
from tests.support.rows import rows


def test_c23_several_actions_are_done_in_sequence_and_undone(make: Any) -> None:
    workload = make("Orchestra", {"tempo": 90})
    before = deepcopy(workload.object)
    suspended = workload.suspend()
    assert suspended.object["spec"] == {"tempo": 90, "paused": True, "reason": "break"}
    assert suspended.suspend() is suspended
    resumed = suspended.resume()
    assert resumed.object["spec"] == {"tempo": 90, "paused": False, "reason": None}, "null is written, not removed"
    assert resumed.resume() is resumed
    assert workload.object == before


def test_c17_missing_parents_are_made(make: Any) -> None:
    assert make("Orchestra").suspend().object["spec"]["paused"] is True


def test_without_actions_it_is_an_error(make: Any) -> None:
    workload = make("Tavern", {"containers": []})
    with pytest.raises(WorkloadError, match="has no suspendActions on "):
        workload.suspend()
    with pytest.raises(WorkloadError, match="has no resumeActions on "):
        workload.root.resume()


def test_suspended_object_shares_unwritten_parts(make: Any) -> None:
    workload = make("Orchestra", {"sections": [{"name": "a"}]})
    suspended = workload.suspend().object
    assert suspended["spec"]["sections"] is workload.object["spec"]["sections"]
    assert suspended["metadata"] is workload.object["metadata"]


def test_children_come_before_the_root_and_each_can_be_asked_alone(make: Any, raw: Any) -> None:
    definition = raw("Orchestra")
    child = definition["spec"]["structureDefinition"]["childComponents"][0]
    child["suspendDefinition"] = {
        "suspendActions": [{"path": ".spec.paused", "value": '"conductor"'}, {"path": ".spec.seat", "value": "0"}],
        "resumeActions": [{"path": ".spec.seat", "value": "1"}],
    }
    workload = Workload(Karta.load(definition), make("Orchestra", {}).object)
    assert workload.suspend().object["spec"] == {"paused": True, "seat": 0, "reason": "break"}
    assert workload.component("conductor").suspend().object["spec"] == {"paused": "conductor", "seat": 0}
    assert workload.root.suspend().object["spec"] == {"paused": True, "reason": "break"}


@pytest.mark.parametrize("verb", ["suspend", "resume"])
def test_actions_of_every_component_reach_the_object(make: Any, raw: Any, verb: str) -> None:
    definition = raw("Orchestra")
    children = definition["spec"]["structureDefinition"]["childComponents"]
    definitions = [definition["spec"]["structureDefinition"]["rootComponent"], *children]
    for number, component in enumerate(definitions):
        actions = [{"path": f".spec.at{number}", "value": f'"{component["name"]}"'}]
        component["suspendDefinition"] = {"suspendActions": actions, "resumeActions": actions}
    workload = Workload(Karta.load(definition), make("Orchestra", {}).object)

    assert len(children) > 1
    changed = getattr(workload, verb)().object["spec"]
    assert changed == {f"at{number}": component["name"] for number, component in enumerate(definitions)}
    for component in definitions:
        alone = getattr(workload.component(component["name"]), verb)().object["spec"]
        assert [*alone.values()] == [component["name"]]


@rows(
    ("path", "spec", "expected"),
    [
        pytest.param(
            "(.spec.a // .spec.b)", {"a": 1, "b": 2}, {"a": True, "b": 2}, id="C18 the first where it is true"
        ),
        pytest.param("(.spec.a // .spec.b)", {"a": None, "b": 2}, {"a": None, "b": True}, id="C18 else the second"),
        pytest.param(
            ".spec.x[] | select(.on) | .off", {"x": [{"on": 1}, {}]}, {"x": [{"on": 1, "off": True}, {}]}, id="C21"
        ),
        pytest.param(".spec.x[].off", {"x": []}, {"x": []}, id="no place, no change"),
    ],
)
def test_paths_that_name_places(make: Any, raw: Any, path: str, spec: Any, expected: Any) -> None:
    assert _suspended(make, raw, path, spec).object["spec"] == expected


@rows(
    "path",
    [
        pytest.param(".spec.a // false", id="C19 a literal"),
        pytest.param("{a: .spec.a}", id="C20 a new object"),
        pytest.param(".spec.a.b", id="below a string"),
    ],
)
def test_paths_that_name_none_are_refused(make: Any, raw: Any, path: str) -> None:
    with pytest.raises(PathNotWritableError, match=r"component orchestra, suspendActions\[0\].path"):
        _suspended(make, raw, path, {"a": "" if "//" not in path else None})


def _suspended(make: Any, raw: Any, path: str, spec: Any) -> Workload:
    definition = raw("Orchestra")
    root = definition["spec"]["structureDefinition"]["rootComponent"]
    root["suspendDefinition"]["suspendActions"] = [{"path": path, "value": "true"}]
    return Workload(Karta.load(definition), make("Orchestra", spec).object).suspend()
