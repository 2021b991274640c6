"""An answer that is remembered has the bytes of one that is computed, and is the answer of the definition in use."""

import tracemalloc
from pathlib import Path
from typing import Any

import orjson
import pytest

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, Options, Results
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.webhook.server import calls as calls_module
from karta_interpreter.webhook.server.calls import Calls
from karta_interpreter.webhook.server.pending_call import RememberedAnswers
from karta_interpreter.webhook.wire import FastDecoder
from tests.catalogue.entries import Entry, entries
from tests.proofs.benchmarks.workload import OPERATIONS, UID, body_about
from tests.support.examples import third

OTHER = "another-uid"
KARTA = (Path(__file__).parents[2] / "proofs/benchmarks/definitions/workload.yaml").read_text()


class Blind(FastDecoder):
    def read(self, body: bytes, answered: object = None) -> None:
        del body, answered


class PlainCalls(Calls):
    _reads_by = Blind


@pytest.fixture(scope="module")
def store() -> Store:
    store = Store()
    store.load()
    return store


def calls(store: Store, make: type[Calls] = Calls) -> Calls:
    return make(store, DEFAULT_OPTIONS)


def workload(replicas: Any) -> bytes:
    spec = {"replicas": replicas, "template": {"spec": {"containers": []}}}
    obj = {
        "apiVersion": "workload.example.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "x", "namespace": "y"},
        "spec": spec,
    }
    return body_about("InterpretReplica", obj)


def response(answer: object) -> Any:
    assert isinstance(answer, bytes)
    return orjson.loads(answer)["response"]


@pytest.mark.sweep
@pytest.mark.parametrize(
    "entry", third(entries(), __name__), ids=lambda entry: str(entry.definition and entry.definition.gvk)
)
async def test_remembered_answer_is_the_same_bytes(store: Store, entry: Entry) -> None:
    remembering, plain = calls(store), calls(store, PlainCalls)
    texts = dict.fromkeys(orjson.dumps(case.call.object) for case in entry.swept)
    for text in texts:
        obj = orjson.loads(text)
        obj["metadata"] = {"name": "x", "namespace": "y", **obj.get("metadata", {})}
        obj.setdefault("status", {})
        for operation in OPERATIONS:
            asked = body_about(operation, obj)
            first, other = remembering.answer_soon(asked), asked.replace(UID.encode(), OTHER.encode(), 1)
            if isinstance(first, bytes):
                assert first == plain.answer_soon(asked), operation
                expected = plain.answer_soon(other)
                for _ in range(2):
                    assert remembering.answer_soon(other) == expected, operation


async def test_answers_take_no_more_memory_than_is_counted(store: Store) -> None:
    decoder, remembered = FastDecoder(store.snapshot.find), RememberedAnswers()
    obj: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "y"}}
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for replicas in range(500):
            decoded = decoder.read(body_about("InterpretReplica", obj | {"spec": {"replicas": replicas}}))
            assert decoded is not None
            assert decoded.asked is not None
            remembered.add(decoded.asked, b"x" * 100)
        del decoded
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1.5 * remembered._size  # noqa: SLF001 - which bounds it
    assert remembered._size < 2**20  # noqa: SLF001


async def test_computes_no_more_while_the_status_changes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    obj: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "y"}}
    obj["spec"] = {"replicas": 2, "template": {"spec": {"containers": [{"name": "x"}]}}}
    asked = calls(store)
    computed: list[str] = []

    def counted(definition: Definition, call: Call, options: Options) -> Results:
        computed.append(definition.name)
        return own_answer(definition, call, options)

    monkeypatch.setattr(calls_module, "own_answer", counted)
    for ready in range(5):
        answer = asked.answer_soon(body_about("InterpretReplica", {**obj, "status": {"readyReplicas": ready}}))
        assert response(answer)["replicas"] == 2
    assert len(computed) == 1


async def test_values_of_other_types_are_other_questions(tmp_path: Path) -> None:
    (tmp_path / "workload.yaml").write_text(KARTA)
    store = Store([tmp_path], catalogue=False)
    store.load()
    asked = calls(store)
    assert [response(asked.answer_soon(workload(count)))["successful"] for count in (1, True, 1.0)] == [
        True,
        False,
        True,
    ]


async def test_another_definition_answers_anew(tmp_path: Path) -> None:
    store = Store([tmp_path], catalogue=False)
    found = []
    asked = calls(store)
    for expression in (".spec.replicas", ".spec.replicas * 2"):
        (tmp_path / "workload.yaml").write_text(
            KARTA.replace("replicasPath: .spec.replicas // 1", f"replicasPath: {expression}")
        )
        store.load()
        found.append(response(asked.answer_soon(workload(3)))["replicas"])
    assert found == [3, 6]


def test_keeps_what_was_asked_for_recently_in_bounded_memory() -> None:
    answers, wanted = RememberedAnswers(100_000), ("InterpretReplica", b"wanted")
    answers.add(wanted, b"answer")
    for number in range(1000):
        answers.add(("InterpretReplica", b"%d" % number), b"x" * 1000)
        assert answers.find(wanted) == b"answer"
    kept = [number for number in range(1000) if answers.find(("InterpretReplica", b"%d" % number))]
    assert kept
    assert 1000 * len(kept) < 100_000
    answers.add(wanted, b"x" * 100_000)  # larger than all may be
    assert answers.find(("InterpretReplica", b"999"))
