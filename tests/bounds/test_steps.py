"""Work on what others send grows with its size: twice as much of one thing, or of two, takes twice as many steps."""

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple
from unittest import mock

import orjson
import pytest

from karta_interpreter import Karta
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.karmada import Operation
from karta_interpreter.definitions.sources.informer import Pace
from karta_interpreter.definitions.sources.reference_cache import ReferenceCache
from karta_interpreter.engine.fights.rounds import advanced, compared
from karta_interpreter.engine.operations import Call, interpret
from karta_interpreter.engine.verification import verify
from karta_interpreter.webhook.wire.redaction import Redaction
from tests.engine.verification.member import container, evidence, pod, workload
from tests.support.examples import SWEEPS_ALL
from tests.support.steps import steps

pytestmark = pytest.mark.sweep

_MOST, _MOST_SECONDS, _LARGE = 2.3, 9, 30
"""Twice the steps and four times the seconds, with the logarithm of sorting and what memory costs."""


class Path(NamedTuple):
    """Something that reads what others send: ``prepared`` gets the sizes of its dimensions, and returns the work.

    What has a bound is no dimension, or has a size beyond its bound.
    """

    sizes: dict[str, int]
    prepared: Callable[..., Callable[[], object]]


def _fights(elements: int, names: int, depth: int) -> Callable[[], object]:
    """Two lists: one whose elements have keys of many fields, one whose elements are alike, with writers of both."""
    wide = "k:{" + ",".join(f'"n{number}":1' for number in range(names)) + "}"
    parts: Any = {f"f:p{number}": {} for number in range(names)}
    owned: Any = {"f:spec": {"f:a": {wide: {}}, "f:b": {'k:{"x":1}': {"f:c": parts, "f:d": {wide: {}}}}}}
    objects = []
    for value in (1, 2):
        inner: Any = value
        for _ in range(depth):
            inner = {"e": inner}
        alike = {"x": 1, "c": [{"v": value}], "d": [{"v": value}]}
        listed = [{f"n{number}": number, "v": value} for number in range(elements)]
        objects.append({"spec": {"a": listed, "b": [alike] * elements, "e": inner}})
    karmada: Any = {"manager": "karmada", "time": "2026-11-20T02:12:00Z"}
    karmada["fieldsV1"] = {"f:metadata": {"f:annotations": {"f:work.karmada.io/name": {}}}}
    others = [{"manager": f"m{number}", "fieldsV1": owned} for number in range(5)]
    objects[1]["metadata"] = {"managedFields": [karmada, *others]}

    def work() -> None:
        comparison = compared(*objects)
        assert comparison
        assert comparison.differences
        advanced(b"", comparison, 0)

    return work


def _recording(values: int, texts: int, equal: int, depth: int) -> Callable[[], object]:
    """Values of an environment, in texts that repeat them, and values of equal words."""
    env = [{"name": "A", "value": f"the value {number}"} for number in range(values)]
    env += [{"name": "A", "value": "of " * (3 + number % 9) + str(number)} for number in range(equal)]
    inner: Any = "--token x"
    for number in range(depth):
        inner = {"a": [inner, f"the value {number} of it"]}
    said = [f"see the value {number} of {number}" for number in range(texts)]
    body = orjson.dumps({"request": {"object": {"spec": {"env": env, "said": said, "in": inner}}}})
    return lambda: Redaction(b"key").redacted(body, b'{"response": {}}')


def _verify(pods: int, owners: int, elements: int) -> Callable[[], object]:
    """Pods of a Deployment, which other objects own, and a list in the object."""
    shared = {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container()]}}}
    spec = {"replicas": pods, "other": [{"name": f"n{number}"} for number in range(elements)], **shared}
    between = tuple(
        {"kind": "ReplicaSet", "metadata": {"uid": f"r{number}"}, "spec": shared} for number in range(owners)
    )
    own = [pod(number, owner=f"r{number % owners}") for number in range(pods)]
    shown = evidence(workload("apps/v1", "Deployment", spec, {}), *own, owners=between)
    definition = Karta.for_object(shown.object).definition
    return lambda: verify(definition, replace(shown))


def _look_up(others: int, serving: int) -> Callable[[], object]:
    """Runtimes that serve other formats, and some that serve the wanted one: KServe chooses the newest."""
    runtime = {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ClusterServingRuntime"}
    container = {"name": "kserve-container", "resources": {"requests": {"cpu": "3"}}}
    made: dict[str, Any] = {}
    for number in range(others + serving):
        formats = [{"name": f"f{number}" if number < others else "sklearn", "autoSelect": True}]
        metadata = {"name": f"r{number}", "creationTimestamp": f"2026-01-01T00:00:00.{number:06}Z"}
        spec = {"supportedModelFormats": formats, "containers": [container]}
        made[f"r{number}"] = {**runtime, "metadata": metadata, "spec": spec}
    cache = ReferenceCache(mock.Mock(), Pace())
    kinds = {kind: GVK("serving.kserve.io", "v1alpha1", kind) for kind in ("ServingRuntime", "ClusterServingRuntime")}
    cache._collections = {  # noqa: SLF001 - as if they were listed
        kinds["ServingRuntime"]: mock.Mock(listed=True, absent=False, left_out={}, objects={}),
        kinds["ClusterServingRuntime"]: mock.Mock(listed=True, absent=False, left_out={}, objects=made),
    }
    obj: Any = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"}
    obj |= {"metadata": {"name": "i", "namespace": "n"}, "spec": {"predictor": {"sklearn": {"storageUri": "gs://m"}}}}
    definition = Karta.for_object(obj).definition

    def work() -> None:
        found: Any = interpret(definition, Call(Operation.INTERPRET_REPLICA, obj), reader=cache)
        assert found["requires"]["resourceRequest"]["cpu"] == "3025m"

    work()  # names are computed once for each state of the objects
    return work


def test_objects_of_other_names_cost_a_look_up_nothing() -> None:
    few, many = (steps(_look_up(others=number, serving=5)) for number in (20, 500))
    assert many == few


PATHS: dict[str, Path] = {
    "look-up by names": Path({"others": 50, "serving": 500}, _look_up),
    "fights": Path({"elements": 50, "names": 100, "depth": 50}, _fights),
    "recording": Path({"values": 50, "texts": 50, "equal": 50, "depth": 50}, _recording),
    "verify": Path({"pods": 50, "owners": 50, "elements": 50}, _verify),
}


@pytest.mark.parametrize("path", PATHS)
def test_work_doubles_with_each_dimension_and_with_each_two(path: str) -> None:
    sizes, prepared = PATHS[path]
    work = prepared(**sizes)
    work()  # what is made once is made
    once = steps(work)
    for several in (*combinations(sizes, 1), *combinations(sizes, 2)):
        twice = steps(prepared(**{**sizes, **{name: 2 * sizes[name] for name in several}}))
        assert twice <= _MOST * once, f"twice as many {' and '.join(several)}: {twice} steps instead of {once}"


@pytest.mark.skipif(not SWEEPS_ALL, reason="`make laws` measures it")
@pytest.mark.parametrize("path", PATHS)
def test_time_of_large_work_grows_with_its_size(path: str) -> None:
    """Loops in C are no steps. Four times as much takes sixteen times as long if the work is a product."""
    sizes, prepared = PATHS[path]
    once, larger = (
        prepared(**{name: size if name == "depth" else size * times for name, size in sizes.items()})
        for times in (_LARGE, 4 * _LARGE)
    )
    assert _seconds(larger) <= _MOST_SECONDS * _seconds(once)


def _seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of three times."""
    found = []
    for _ in range(3):
        gc.collect()
        gc.disable()
        begun = time.thread_time()
        work()
        found.append(time.thread_time() - begun)
        gc.enable()
    return min(found)
