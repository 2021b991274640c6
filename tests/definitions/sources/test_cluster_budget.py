"""Kartas of a cluster, and the objects that definitions refer to, within the memory that they may take together."""

from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.sources import budget as budgets
from karta_interpreter.definitions.sources.budget import Budget, weight, weight_of
from karta_interpreter.definitions.sources.cluster_karta import ClusterKarta
from karta_interpreter.definitions.sources.informer import Informer
from tests.definitions.sources.running import FAST, RunningCluster, expressions, quarantined, running_cluster
from tests.definitions.sources.scripted_api import KARTAS, ScriptedApi
from tests.support.examples import EXAMPLES

Spec = Callable[..., Any]

_A, _B, _C = (f"kartas.run.ai/{name}" for name in "abc")


def _put(api: ScriptedApi, name: str, spec: Any, second: int, size: int = 1000) -> None:
    """Store a Karta that was created in some second, and weighs about twice ``size``."""
    created = f"2026-01-01T00:00:{second:02}Z"
    api.put(KARTAS, name, spec, creationTimestamp=created, annotations={"note": "x" * size})


async def _lists_again(running: RunningCluster) -> None:
    """Return when the cluster has listed its Kartas once more."""
    lists = len(running.api.requests("get", KARTAS))
    await running.api.was_asked("watch", KARTAS)
    running.api.end_watches()
    await running.api.was_asked("get", KARTAS, lists + 1)


async def test_newest_karta_is_left_out_until_another_goes(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    for second, name in enumerate("cba"):
        _put(api, name, spec(name.upper(), replicas=f".{name}"), second, 100_000)
    async with running_cluster(tmp_path, api, budget=Budget(500_000)) as running:
        snapshot = await running.serves(C=".c", B=".b")
        assert quarantined(snapshot) == {_A: False}
        assert "would take more than" in str(snapshot.quarantined[0].findings[0])
        assert running.cluster.budget.held <= 500_000

        api.delete(KARTAS, "b")
        await running.serves(C=".c")
        await _lists_again(running)
        snapshot = await running.serves(C=".c", A=".a")
        assert not snapshot.quarantined
        assert not running.cluster.budget.refused


async def test_older_karta_takes_the_room_of_a_newer_one(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    _put(api, "a", spec("A", replicas=".a"), 2, 200_000)
    _put(api, "b", spec("B", replicas=".b"), 1)
    async with running_cluster(tmp_path, api, budget=Budget(500_000)) as running:
        await running.serves(A=".a", B=".b")
        _put(api, "b", spec("B", replicas=".changed"), 1, 200_000)
        snapshot = await running.serves(B=".changed")
    assert quarantined(snapshot) == {_A: False}


async def test_change_without_room_leaves_the_last_version_in_use(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    _put(api, "a", spec("A", replicas=".a"), 1)
    async with running_cluster(tmp_path, api, budget=Budget(300_000)) as running:
        await running.serves(A=".a")
        _put(api, "a", spec("A", replicas=".larger"), 1, 200_000)
        snapshot = await running.until(lambda snapshot: bool(snapshot.quarantined))
        assert quarantined(snapshot) == {_A: True}
        await running.serves(A=".a")
        _put(api, "a", spec("A", replicas=".smaller"), 1)
        snapshot = await running.serves(A=".smaller")
        assert not snapshot.quarantined
        api.delete(KARTAS, "a")
        await running.serves()
        assert running.cluster.budget.held == 0


async def test_new_object_without_room_does_not_leave_the_old_one_in_use(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    _put(api, "a", spec("A", replicas=".a"), 1)
    async with running_cluster(tmp_path, api, budget=Budget(300_000)) as running:
        await running.serves(A=".a")
        api.put(KARTAS, "a", spec("A", replicas=".b"), uid="another", annotations={"note": "x" * 200_000})
        snapshot = await running.until(lambda snapshot: bool(snapshot.quarantined))
    assert (expressions(snapshot), quarantined(snapshot)) == ({}, {_A: False})


async def test_last_good_version_counts_until_it_goes(tmp_path: Path, spec: Spec) -> None:
    api = ScriptedApi()
    _put(api, "a", spec("A", replicas=".a"), 1, 100_000)
    async with running_cluster(tmp_path, api, budget=Budget(500_000)) as running:
        await running.serves(A=".a")
        _put(api, "a", spec("A", replicas=".a |"), 1)
        await running.until(lambda snapshot: quarantined(snapshot) == {_A: True})
        assert running.cluster.budget.held > 200_000
        _put(api, "a", spec("A", replicas=".b"), 1)
        await running.serves(A=".b")
        assert running.cluster.budget.held < 100_000


def test_deeply_nested_change_of_karta_is_read() -> None:
    deep: Any = []
    for _ in range(1020):  # orjson reads 1,024 levels
        deep = [deep]
    karta = ClusterKarta.first_seen(_A, {"metadata": {"name": "a"}, "spec": deep})
    changed = {"metadata": {"name": "a"}, "spec": [deep]}
    assert karta.seen_again(changed).obj is changed


def _object(name: str, second: int, size: int) -> Object:
    metadata = {"name": name, "creationTimestamp": f"2026-01-01T00:00:{second:02}Z"}
    return {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": metadata, "spec": "x" * size}


_CHANGES = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from([0, 500, 2000, 5000, 9000])), max_size=20)


@settings(max_examples=EXAMPLES)
@example([("b", 9000), ("a", 9000), ("a", 0)])  # one that was left out goes
@given(_CHANGES)
def test_budget_counts_what_is_kept_and_oldest_has_room(changes: list[tuple[str, int]]) -> None:
    api: Any = None
    budget = Budget(30_000)
    informer = Informer[Object](api, KARTAS, dict, FAST, budget, weight_of)
    for name, size in changes:
        obj = _object(name, ord("z") - ord(name), size)
        informer._take("MODIFIED" if size else "DELETED", obj)  # noqa: SLF001 - as the watch does
        if name in informer.objects:
            budget.settle((KARTAS, name), weight_of(informer.objects[name]))
        assert budget.held == sum(map(weight_of, informer.objects.values())) <= budget.most
        assert budget.refused.keys() == {(KARTAS, name) for name in informer.left_out}
        assert not size or name != "e" or informer.objects[name] == obj, "the oldest has room"


def test_object_that_was_created_again_is_the_newest() -> None:
    api: Any = None
    informer = Informer[Object](api, KARTAS, dict, FAST, Budget(30_000), weight_of)
    for name, second in (("a", 1), ("b", 2), ("a", 3), ("c", 0)):
        informer.put(_object(name, second, 5000))
    assert informer.objects.keys() == {"b", "c"}
    assert informer.left_out.keys() == {"a"}


def test_budget_with_room_looks_for_nothing_that_gives_way() -> None:
    assert Budget(10).take("a", 10, map(pytest.fail, ["a newer object was looked for"])) == []


def test_names_of_refused_objects_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MOST_REFUSED", 3)
    api: Any = None
    budget = Budget(1000)
    informer = Informer[Object](api, KARTAS, dict, FAST, budget, weight_of)
    for name, size in zip("abcdef", repeat(5000)):
        informer.put(_object(name, 1, size))
    assert not informer.objects
    assert len(informer.left_out) == len(budget.refused) == 3


def test_definition_that_was_forgotten_while_it_was_read_does_not_count() -> None:
    budget = Budget()
    budget.take("a", 3)
    budget.forget("a")
    budget.settle("a", 2)
    assert budget.held == 0


def test_deep_value_weighs_more_than_its_text() -> None:
    deep: Any = []
    for _ in range(1000):
        deep = [deep]
    assert weight_of(deep) > weight(b"[" * 1000)
