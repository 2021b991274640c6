from typing import Any

import pytest

from karta_interpreter import WorkloadError
from karta_interpreter.engine.workload.updates import merge
from tests.support.rows import rows


@rows(
    ("old", "new", "go_type", "expected"),
    [
        pytest.param({"a": 1}, {"b": 2}, "", {"b": 2}, id="a value without a type is replaced"),
        pytest.param({"tolerations": [1], "size": 3}, {}, "PodSpec", {"size": 3}, id="only a CRD's own field stays"),
        pytest.param({"size": 3}, {"size": 4}, "PodSpec", {"size": 4}, id="unless it is spoken of"),
        pytest.param({"size": 3}, {"size": None}, "PodSpec", {}, id="which null does, too"),
        pytest.param({"hostname": "a"}, {"hostname": None}, "PodSpec", {}, id="null is an absent field"),
        pytest.param({"hostname": None}, {}, "PodSpec", {"hostname": None}, id="so a null need not go"),
        pytest.param({}, {"hostname": None}, "PodSpec", {}, id="nor come"),
        pytest.param(None, {"hostname": "a"}, "PodSpec", {"hostname": "a"}, id="what is not there is made"),
        pytest.param(None, {}, "PodSpec", {}, id="even empty"),
        pytest.param("x", {"hostname": "a"}, "PodSpec", {"hostname": "a"}, id="another type makes way"),
        pytest.param({"labels": {"a": "1", "b": "2"}}, {"labels": {"a": "2"}}, "ObjectMeta", {"labels": {"a": "2"}},
            id="labels as given"),
        pytest.param({"spec": {"nodeName": "x", "extra": 1}, "own": 2}, {"spec": {"hostname": "h"}}, "PodTemplateSpec",
            {"spec": {"extra": 1, "hostname": "h"}, "own": 2}, id="at every level"),
        pytest.param([{"name": "a", "gpus": 1, "image": "x"}, {"name": "b", "gpus": 2}],
            [{"name": "b"}, {"name": "c"}, {"name": "a", "image": "y"}], "[]Container",
            [{"name": "b", "gpus": 2}, {"name": "c"}, {"name": "a", "gpus": 1, "image": "y"}],
            id="containers keep what is theirs, whatever their order"),
        pytest.param([{"name": "a"}, {"name": "b"}], [{"name": "b"}], "[]Container", [{"name": "b"}], id="or go"),
        pytest.param([{"name": "a", "x": 1}], [], "[]Container", [], id="an empty list clears"),
        pytest.param([{"x": 1}], [{"image": "i"}], "[]Container", [{"image": "i"}],
            id="nameless ones are not the same"),
        pytest.param({"resources": {"limits": {"cpu": 1}, "dial": 1}}, {"resources": {"requests": {"cpu": 2}}},
            "PodSpec", {"resources": {"dial": 1, "requests": {"cpu": 2}}}, id="resources"),
    ],
)  # fmt: skip
def test_merge_takes_known_fields_of_new_value(old: Any, new: Any, go_type: str, expected: Any) -> None:
    assert merge(old, new, go_type) == expected


def test_true_is_not_one() -> None:
    assert merge({"hostPID": True}, {"hostPID": 1}, "PodSpec") == {"hostPID": 1}
    assert type(merge({"hostPID": True}, {"hostPID": 1}, "PodSpec")["hostPID"]) is int


def test_merge_rejects_new_entry_without_name() -> None:
    old, new = [{"name": "a", "image": "x:1"}], [{"image": "x:2"}]
    with pytest.raises(WorkloadError, match="an entry of the new list has no name; those of the old one: a"):
        merge(old, new, "[]Container")


def test_merge_shares_unchanged_parts() -> None:
    old = {"spec": {"containers": [{"name": "a", "env": [{"name": "x"}]}], "volumes": [{"name": "v"}]}}
    new = {"spec": {"containers": [{"name": "a", "env": [{"name": "x"}]}], "volumes": []}}
    assert merge(old, new, "PodTemplateSpec")["spec"]["containers"] is old["spec"]["containers"]
    assert merge(old, {"spec": {**new["spec"], "volumes": [{"name": "v"}]}}, "PodTemplateSpec") is old


def test_merge_knows_fields_of_newer_pods() -> None:
    assert merge({"schedulingGroup": {}, "evictionResponders": [], "own": 1}, {"hostname": "h"}, "PodSpec") == {
        "hostname": "h",
        "own": 1,
    }
