import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.webhook.wire import FastDecoder
from tests.proofs.benchmarks.capacity import Replica, capacity_table
from tests.proofs.benchmarks.workload import (
    OPERATIONS,
    REPLICAS_MARK,
    STATE_MARK,
    TEMPLATE_MARK,
    UID,
    Make,
    bounded,
    deployment,
    managed_by,
    pytorch_job,
    ray_cluster,
    renumbered,
    request_body,
    sized,
    variant,
    workload,
)
from tests.proofs.rig.binaries import KARMADA

MAKES = [workload, bounded, deployment, ray_cluster, pytorch_job]
HERE = Path(__file__).parent
_OF_THE_STATUS = {"InterpretHealth", "InterpretStatus", "AggregateStatus", "Retain"}


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("size", [5 * 1024, 24 * 1024])
def test_objects_have_the_size_that_is_asked_for(make: Make, size: int) -> None:
    length = len(orjson.dumps(sized(size, variant(3, make))))
    assert size <= length <= size + 16


def test_bodies_are_spelled_as_karmada_spells_them() -> None:
    body = request_body("Retain", 5 * 1024, ray_cluster).decode()
    assert body.endswith("}\n")
    order = [
        '"uid"',
        '"kind":{',
        '"name"',
        '"namespace"',
        '"operation"',
        '"object"',
        '"observedObject"',
        '"replicas":0',
    ]
    request = body[body.index('"request":') :]
    places = [request.index(field) for field in order]
    assert places == sorted(places)
    obj = orjson.loads(body)["request"]["object"]
    assert list(obj) == sorted(obj)
    assert list(obj["metadata"]) == sorted(obj["metadata"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_uid_stands_where_the_load_generator_writes(operation: str) -> None:
    body = request_body(operation, 5 * 1024, ray_cluster).decode()
    assert re.findall('"uid":"([^"]*)"', body)[0] == UID


def test_variants_share_neither_name_nor_pod_template() -> None:
    clusters = [sized(24 * 1024, variant(number, ray_cluster)) for number in range(4)]
    assert len({cluster["metadata"]["name"] for cluster in clusters}) == 4
    templates = [template for cluster in clusters for template in _templates(cluster["spec"])]
    assert len(templates) > 40
    assert len({orjson.dumps(template) for template in templates}) == len(templates)


def test_owners_change_managed_fields_only() -> None:
    few, many = managed_by(0)(1), managed_by(16)(1)
    assert len(many["metadata"].pop("managedFields")) == 16
    assert few["metadata"].pop("managedFields") == []
    assert few == many


@pytest.mark.parametrize("make", [deployment, ray_cluster, pytorch_job])
def test_the_catalogue_knows_the_kinds(make: Make) -> None:
    obj = make(1)
    assert (HERE.parents[2] / "kartas" / obj["apiVersion"] / obj["kind"] / "karta.yaml").exists()


def test_a_replica_is_as_busy_as_the_autoscaler_wants_it() -> None:
    # 250m at 60 % are 150 ms of every second: 1,500 requests of 100 µs.
    assert Replica("250m", 60).per_second(100.0) == 1500
    assert "| 5 KB | 100 | 10,000 | 6,000 | 1,500 |" in capacity_table({"5 KB": 100.0}, Replica("250m", 60))


def test_the_chart_says_what_a_replica_is() -> None:
    assert Replica.of_chart().per_second(100.0) > 0


def test_one_version_of_karmada_is_measured_and_tested_against() -> None:
    module = (HERE / "go" / "go.mod").read_text()
    assert re.findall(r"github\.com/karmada-io/karmada (\S+)", module) == [KARMADA]


def _templates(value: Any) -> list[dict[str, Any]]:
    groups = [value["headGroupSpec"], *value["workerGroupSpecs"]]
    return [group["template"] for group in groups]


@cache
def _find(gvk: GVK) -> Definition | None:
    found = find_in_catalogue(gvk)
    return found.definition if found else None


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each not in _OF_THE_STATUS])
@pytest.mark.parametrize("make", [deployment, ray_cluster, pytorch_job])
def test_first_calls_ask_about_other_parts_and_later_ones_about_the_same(make: Make, operation: str) -> None:
    body = request_body(operation, 5 * 1024, variant(0, make))
    read = FastDecoder(_find).read

    def parts(*marks: str) -> set[str]:
        found = [read(renumbered(body, marks, number)) for number in range(4)]
        return {str(one.request) for one in found if one}

    assert len(parts(STATE_MARK, TEMPLATE_MARK, REPLICAS_MARK)) == 4
    assert len(parts(STATE_MARK)) == 1


def test_numbers_stand_in_the_place_of_all_marks_and_change_no_length() -> None:
    body = request_body("ReviseReplica", 5 * 1024, variant(0, ray_cluster))
    marks = [STATE_MARK, TEMPLATE_MARK, REPLICAS_MARK]
    other = renumbered(body, marks, 7)
    assert len(other) == len(body)
    assert [mark for mark in marks if mark.encode() in other] == []
    assert other.count(b"00000000007") == body.count(STATE_MARK.encode()) + body.count(TEMPLATE_MARK.encode())
    assert other.count(b'"replicas":4000007') == 1
