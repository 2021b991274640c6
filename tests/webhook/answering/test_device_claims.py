"""Claims of pods count the same in each lane, and the log says what they lack."""

import json
from collections.abc import AsyncIterator
from typing import NoReturn

import orjson
import pytest

from karta_interpreter.base.errors import QueryAbsentError
from karta_interpreter.base.k8s import CLAIM_TEMPLATES, DEVICE_CLASSES
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.languages.lua.script import Script, Scripts
from karta_interpreter.webhook.answering.call_log import AnswerGaps
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.settings import MIB
from tests.support.settling import settled
from tests.support.waiting import HANG
from tests.webhook.logs import capture_logs

pytestmark = pytest.mark.catalogue

JOB = GVK("batch", "v1", "Job")
COUNTED = Options(device_classes=("gpu.nvidia.com=nvidia.com/gpu",))
TEMPLATE: Object = {
    **CLAIM_TEMPLATES[0].type_meta,
    "metadata": {"name": "two-gpus", "namespace": "ml"},
    "spec": {"spec": {"devices": {"requests": [{"exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}]}}},
}
KNOWN = Known.of([TEMPLATE], [*CLAIM_TEMPLATES, *DEVICE_CLASSES])
SCRIPT = 'local karta = require("karta")\nfunction GetReplicas(obj)\n  return karta.GetReplicas(obj)\nend'


class _Fixed(Store):
    """A store with the definition of Jobs, and what is known of other objects."""

    reader = None

    def __init__(self, known: Known | None, *, by_script: bool = False) -> None:
        super().__init__(catalogue=False)
        entry = find_in_catalogue(JOB)
        assert entry is not None
        definition = entry.definition
        if by_script:
            definition = definition.overridden(Scripts([Script("ours", "InterpretReplica", SCRIPT)]))
        self.snapshot = Snapshot({JOB: ServedDefinition(definition, "catalogue")})
        self.reader = known


@pytest.fixture(autouse=True)
async def _children() -> AsyncIterator[None]:
    yield
    await settled()


def _body(claim: str, size: int) -> bytes:
    spec = {"containers": [{"name": "a"}], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": claim}]}
    obj = {
        **JOB.type_meta,
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"parallelism": 3, "template": {"spec": spec}},
    }
    request = {
        "uid": "u", "kind": JOB._asdict(), "name": "train", "namespace": "ml", "operation": "InterpretReplica",
        "object": obj, "replicas": None,
    }  # fmt: skip
    body = {"kind": "ResourceInterpreterContext", "apiVersion": "config.karmada.io/v1alpha1", "request": request}
    return orjson.dumps(body) + b"\n" + b" " * size


async def _answer(store: Store, claim: str = "two-gpus", size: int = 0, options: Options = COUNTED) -> JSON:
    calls = Calls(store, options)
    try:
        return json.loads(await calls.answer(_body(claim, size), HANG))["response"]
    finally:
        calls.close()


@pytest.mark.parametrize(
    ("size", "by_script"),
    [
        pytest.param(0, False, id="in this process"),
        pytest.param(3 * MIB, False, id="in a process of its own"),
        pytest.param(0, True, id="by a script that asks the Karta"),
    ],
)
async def test_claims_count_in_each_lane(size: int, by_script: bool) -> None:
    response = await _answer(_Fixed(KNOWN, by_script=by_script), size=size)

    assert (response["successful"], response["replicas"]) == (True, 3)
    assert response["replicaRequirements"]["resourceRequest"] == {"nvidia.com/gpu": "2"}


async def test_claims_count_nothing_without_the_setting() -> None:
    assert "replicaRequirements" not in await _answer(_Fixed(KNOWN), options=Options())


class _Forbidden(Known):
    def get(self, gvk: GVK, namespace: str, name: str) -> NoReturn:  # noqa: ARG002 - the signature of a reader
        raise QueryAbsentError("templates are forbidden")


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        pytest.param(KNOWN, "job: claim gpu: there is no ResourceClaimTemplate none", id="an absent template"),
        pytest.param(_Forbidden({}), "job: claim gpu: ResourceClaimTemplate none cannot be looked up: templates are "
                     "forbidden", id="a kind that may not be read"),
        pytest.param(None, "job: claim gpu: ResourceClaimTemplate none cannot be looked up: nothing is read",
                     id="no control plane"),
    ],
)  # fmt: skip
async def test_log_names_claims_that_count_nothing(known: Known | None, reason: str) -> None:
    calls, gaps = Calls(_Fixed(known), COUNTED), AnswerGaps(lambda: known, COUNTED)
    calls.observers = (gaps.see,)
    with capture_logs() as said:
        response = json.loads(await calls.answer(_body("none", 0), HANG))["response"]
        gaps.look()
    calls.close()

    assert (response["successful"], response["replicas"]) == (True, 3)
    (logged,) = [entry["reason"] for entry in said if "reason" in entry]
    assert logged.startswith(reason)
