"""The recorded day as a workload."""

import orjson
import pytest

from tests.proofs.benchmarks.day import about_workloads, body, gvk_of, recorded, sample
from tests.proofs.fleet.multiply import object_of
from tests.support.bodies import UID

_UID = "0a1b2c3d-0001-4000-8000-00000000000f"


def _call(name: str) -> bytes:
    request = {
        "uid": _UID,
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "name": name,
        "note": ',"answer":',
    }
    line = {"time": 1.0, "request": {"request": request}, "answer": {"response": {"successful": True}}}
    return orjson.dumps(line) + b"\n"


_DAY = [_call(f"deploy-{number:03}") for number in range(4)]


def test_body_is_the_request_and_no_more() -> None:
    request = orjson.loads(body(_DAY[0]))["request"]
    assert request == orjson.loads(_DAY[0])["request"]["request"] | {"uid": UID}


def test_sample_of_the_day_itself_is_of_its_objects() -> None:
    made = [*sample(_DAY, 4, 50, 0)]
    assert {object_of(text) for text in made} == {object_of(call) for call in _DAY}


@pytest.mark.parametrize("objects", [pytest.param(4, id="as many as there are"), pytest.param(400, id="many more")])
def test_samples_of_rounds_share_no_object(objects: int) -> None:
    first, second = ({object_of(text) for text in sample(_DAY, objects, 50, number)} for number in (0, 1))
    assert not first & second


def test_sample_is_the_same_each_time() -> None:
    assert [*sample(_DAY, 400, 20, 3)] == [*sample(_DAY, 400, 20, 3)]


def test_calls_about_deployments_become_calls_about_the_kind_of_the_example() -> None:
    made = about_workloads()
    assert len(made) == len([call for call in recorded() if gvk_of(call) == ("apps", "v1", "Deployment")])
    assert {gvk_of(call) for call in made} == {("workload.example.io", "v1alpha1", "Workload")}
    request = orjson.loads(made[0])["request"]["request"]
    assert request["object"]["kind"] == "Workload"
