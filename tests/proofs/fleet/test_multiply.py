"""The program that makes more objects of a recording."""

import base64
import json
from typing import Any

import pytest

from tests.proofs.fleet.multiply import copied, multiplied, object_of, objects_of
from tests.support.rows import rows

_UID = "0a1b2c3d-0001-4000-8000-00000000000f"


def _call(name: str, patch: Any = None) -> bytes:
    request = {
        "uid": _UID,
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "name": name,
        "namespace": "web",
        "operation": "ReviseReplica",
        "object": {
            "metadata": {"name": name, "uid": _UID},
            "image": "registry.example/deploy:1",
            "pods": f"{name}-xyz",
        },
    }
    response: dict[str, Any] = {"uid": _UID, "successful": True}
    if patch is not None:
        response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
    line = {"time": 1.0, "request": {"request": request}, "answer": {"response": response}}
    return json.dumps(line, separators=(",", ":")).encode()


_DAY = [_call("deploy-001"), _call("deploy-002"), _call("deploy-001"), _call("settings")]


@rows(
    ("objects", "calls"),
    [
        pytest.param(2, 4, id="the day itself"),
        pytest.param(3, 6, id="a copy of the first object only"),
        pytest.param(20, 31, id="ten of each"),
        pytest.param(1, 4, id="never fewer than there are"),
    ],
)
def test_multiplied_recording_has_so_many_objects(objects: int, calls: int) -> None:
    made = [*multiplied(_DAY, objects_of(_DAY), objects)]
    assert (objects_of(made), len(made)) == (max(objects, 2), calls)


def test_multiplied_recording_is_the_same_each_time() -> None:
    assert [*multiplied(_DAY, 2, 9)] == [*multiplied(_DAY, 2, 9)]


def test_multiplied_recording_takes_one_call_at_a_time() -> None:
    endless = (_DAY[0] for _ in iter(int, 1))
    made = multiplied(endless, 1, 3)
    assert [object_of(next(made)) for _ in range(4)] == [
        b"Deployment deploy-001",
        b"Deployment deploy-1001",
        b"Deployment deploy-2001",
        b"Deployment deploy-001",
    ]


def test_copy_has_name_uid_and_image_of_its_own_everywhere() -> None:
    text = copied(_call("deploy-001", [{"value": f"deploy-001 {_UID}"}]), 7)
    line = json.loads(text)
    patch = base64.b64decode(line["answer"]["response"]["patch"])
    for part in (text, patch):
        assert b"deploy-001" not in part
        assert _UID.encode() not in part
    thing = line["request"]["request"]["object"]
    assert (thing["metadata"]["name"], thing["pods"]) == ("deploy-7001", "deploy-7001-xyz")
    assert thing["image"] == "registry-7.example/deploy:1"
    assert line["answer"]["response"]["uid"] == line["request"]["request"]["uid"] != _UID


def test_copies_share_no_uid() -> None:
    uids = {json.loads(copied(_DAY[0], number))["answer"]["response"]["uid"] for number in range(1, 2000)}
    assert len(uids) == 1999
