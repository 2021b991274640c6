"""What first answers are counted, and what is counted of them."""

import asyncio
import platform

import pytest

from tests.proofs.benchmarks import first_answers
from tests.support.bodies import body_about

pytestmark = pytest.mark.catalogue

amd64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="requests of Valgrind are machine code of amd64")


@amd64
def test_all_that_is_asked_is_answered_at_once() -> None:
    asked = first_answers.bodies()
    asyncio.run(first_answers.count([*asked.values()]))  # ends if one is not
    assert any("Kind=Milvus" in kind for kind in asked)


@amd64
def test_answer_that_fails_is_not_counted() -> None:
    obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "b"}, "spec": "none"}
    with pytest.raises(SystemExit, match="not answered at once"):
        asyncio.run(first_answers.count([body_about("InterpretComponent", obj)]))


def test_sum_and_largest_are_guarded_in_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_answers, "instructions", lambda: {"floor": 2.0, "one": 6.0, "other": 10.0})
    assert [*first_answers.counted_first().values()] == [8.0, 5.0]


def test_nothing_is_guarded_where_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_answers, "instructions", dict[str, float])
    assert first_answers.counted_first() == {}
