"""Work on what others send grows with its size: twice as much of one thing, or of two, takes twice as many steps."""

import gc
import gzip
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path as FilePath
from typing import Any, NamedTuple
from unittest import mock

import orjson
import pytest

from karta_interpreter import Karta
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.karmada import Operation
from karta_interpreter.cli.changes import Side
from karta_interpreter.cli.replay import Replay
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.draft import draft
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.definitions.sources import reference_cache
from karta_interpreter.definitions.sources.informer import Informer, Pace
from karta_interpreter.definitions.sources.reference_cache import ReferenceCache
from karta_interpreter.definitions.sources.snapshot import ServedDefinition
from karta_interpreter.engine.comparison.cause import cause_of
from karta_interpreter.engine.comparison.change import answer_of, differences
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.fights.rounds import advanced, compared
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, interpret
from karta_interpreter.engine.operations.left_out import resources_left_out
from karta_interpreter.engine.redaction import Redaction
from karta_interpreter.engine.verification import verify
from karta_interpreter.engine.workload import Workload, WorkloadTree
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.jq.analysis import examine
from karta_interpreter.languages.lua.machine.names import names_of
from karta_interpreter.web.console.answers import PageQuestion, answer, kartas_of
from karta_interpreter.web.types_api.judge import judge
from karta_interpreter.webhook import admission
from karta_interpreter.webhook.wire import recording
from tests.engine.verification.member import container, evidence, pod, workload
from tests.support.examples import SWEEPS_ALL
from tests.support.steps import steps
from tests.webhook.process.client import question

pytestmark = [pytest.mark.slow, pytest.mark.sweep]

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
    """Texts that nobody reads, different and equal ones."""
    env = [{"name": "A", "value": f"the value {number}"} for number in range(values)]
    env += [{"name": "A", "value": "of " * (3 + number % 9) + str(number)} for number in range(equal)]
    inner: Any = "--token x"
    for number in range(depth):
        inner = {"a": [inner, f"the value {number} of it"]}
    said = [f"see the value {number} of {number}" for number in range(texts)]
    body = orjson.dumps({"request": {"object": {"spec": {"env": env, "said": said, "in": inner}}}})
    return lambda: Redaction(b"key").redacted(body, b'{"response": {}}', None)


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
    made: dict[str, bytes] = {}
    for number in range(others + serving):
        formats = [{"name": f"f{number}" if number < others else "sklearn", "autoSelect": True}]
        metadata = {"name": f"r{number}", "creationTimestamp": f"2026-01-01T00:00:00.{number:06}Z"}
        spec = {"supportedModelFormats": formats, "containers": [container]}
        made[f"r{number}"] = orjson.dumps({**runtime, "metadata": metadata, "spec": spec})
    cache = ReferenceCache(mock.Mock(), Pace())
    kinds = {kind: GVK("serving.kserve.io", "v1alpha1", kind) for kind in ("ServingRuntime", "ClusterServingRuntime")}
    cache._collections = {  # noqa: SLF001 - as if they were listed
        kinds["ServingRuntime"]: mock.Mock(listed=True, absent=False, path="/a/b/c/d", objects={}),
        kinds["ClusterServingRuntime"]: mock.Mock(listed=True, absent=False, path="/a/b/c/e", objects=made),
    }
    cache._keys[kinds["ClusterServingRuntime"], ""] = dict.fromkeys(made)  # noqa: SLF001
    obj: Any = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"}
    obj |= {"metadata": {"name": "i", "namespace": "n"}, "spec": {"predictor": {"sklearn": {"storageUri": "gs://m"}}}}
    definition = Karta.for_object(obj).definition

    def work() -> None:
        found: Any = interpret(definition, Call(Operation.INTERPRET_REPLICA, obj), reader=cache)
        assert found["requires"]["resourceRequest"]["cpu"] == "3025m"

    work()  # names are computed once for each state of the objects
    return work


def _informer(held: int, events: int) -> Callable[[], object]:
    """A kind that definitions refer to: events of all four kinds, beside objects that stay, and a look-up by names."""
    gvk, api = GVK("tekton.dev", "v1", "Task"), mock.Mock()
    cache = ReferenceCache(api, Pace())
    collection = Informer(api, "/apis/tekton.dev/v1/tasks", reference_cache._view, Pace(), cache._shares, len)  # noqa: SLF001
    collection.touched = partial(cache._touch, gvk, collection)  # noqa: SLF001 - as the cache follows a kind
    collection.listed = True
    cache._collections = {gvk: collection}  # noqa: SLF001

    def task(number: int) -> Any:
        name = {"name": f"t{number}", "namespace": f"n{number}", "creationTimestamp": f"2026-01-01T00:00:{number:06}Z"}
        return {"metadata": name, "text": orjson.dumps({"metadata": name})}

    for number in range(held):
        collection.put(task(2 * number))
    names = Query.compile("{name: .metadata.name}")
    cache.names(gvk, "n1", names)

    def work() -> None:
        for number in range(events):
            for kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
                collection._take(kind, task(2 * number + 1))  # noqa: SLF001 - as the watch does
                cache.names(gvk, f"n{2 * number + 1}", names)
                assert len(cache.list(gvk, f"n{2 * number + 1}")) == (kind in {"ADDED", "MODIFIED"})
        assert len(collection.objects) == held

    return work


def test_an_event_costs_the_logarithm_of_what_is_held() -> None:
    few, many = (steps(_informer(held=number, events=10)) for number in (20, 2000))
    assert many <= 1.1 * few


def test_objects_of_other_names_cost_a_look_up_nothing() -> None:
    few, many = (steps(_look_up(others=number, serving=5)) for number in (20, 500))
    assert many == few


def _verify_numbers(groups: int, fields: int) -> Callable[[], object]:
    """Groups of different sizes without pods, and a status whose numbers may count them."""
    template = {"spec": {"containers": [container()]}}
    workers = [{"groupName": f"g{number}", "replicas": 2 + number, "template": template} for number in range(groups)]
    status = {f"f{number}": -1 - number for number in range(fields)}
    spec = {"headGroupSpec": {"template": template}, "workerGroupSpecs": workers}
    shown = evidence(workload("ray.io/v1", "RayCluster", spec, status))
    definition = Karta.for_object(shown.object).definition
    return lambda: verify(definition, replace(shown))


def _verify_groups(pods: int, groups: int) -> Callable[[], object]:
    """Groups of a RayCluster that tell their pods, most of which are not there."""
    group = {"replicas": 2, "minReplicas": 0, "maxReplicas": 9, "template": {"spec": {"containers": [container()]}}}
    workers = [group | {"groupName": f"g{number}"} for number in range(groups)]
    spec = {"headGroupSpec": {"template": group["template"]}, "workerGroupSpecs": workers}
    labels = ({"ray.io/node-type": "worker", "ray.io/group": f"g{number % groups}"} for number in range(pods))
    own = [pod(number, owner="it", labels=each) for number, each in enumerate(labels)]
    shown = evidence(workload("ray.io/v1", "RayCluster", spec, {}), *own)
    definition = Karta.for_object(shown.object).definition
    return lambda: verify(definition, replace(shown))


def _karta(children: int, statuses: int) -> Any:
    made = [
        {
            "name": f"c{number}",
            "ownerRef": "root",
            "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "specDefinition": {"podTemplateSpecPath": f".spec.a{number}.template"},
            "scaleDefinition": {"replicasPath": f".spec.a{number}.replicas // 1"},
        }
        for number in range(children)
    ]
    matchers = [{"byPhase": f"Running{number}"} for number in range(statuses)]
    status = {"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {"running": matchers}}
    root = {"name": "root", "kind": {"group": "mill.io", "version": "v1", "kind": "Mill"}, "statusDefinition": status}
    structure = {"structureDefinition": {"rootComponent": root, "childComponents": made}}
    return {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "mill"}, "spec": structure}


def _review(children: int, statuses: int, kinds: int) -> Callable[[], object]:
    """A Karta, beside those of other kinds."""
    kind = {"group": "run.ai", "version": "v1alpha1", "kind": "Karta"}
    request = {"uid": "u", "kind": kind, "operation": "CREATE", "object": _karta(children, statuses)}
    body = orjson.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
    taken = {GVK("x.io", "v1", f"K{number}"): f"k{number}" for number in range(kinds)}
    return lambda: admission.validate(admission.read(body), taken)


def _types(children: int, statuses: int) -> Callable[[], object]:
    """A type that is registered in two versions."""
    kartas = [_karta(children, 1), _karta(1, statuses)]
    for number, karta in enumerate(kartas):
        karta["spec"]["structureDefinition"]["rootComponent"]["kind"]["version"] = f"v{number + 1}"
    body = orjson.dumps(
        {
            "group": "mill.io",
            "name": "Mill",
            "resourceInterfaces": kartas,
            "categoryId": "train",
            "priorityId": "medium",
        }
    )
    return lambda: judge(body)


def _console(children: int, elements: int) -> Callable[[], object]:
    """A definition and an object in the console."""
    obj = {"apiVersion": "mill.io/v1", "kind": "Mill", "metadata": {"name": "x", "namespace": "y"}}
    parts = {
        f"a{number}": {"replicas": 1, "template": {"spec": {"containers": [container()]}}} for number in range(children)
    }
    spec = {**parts, "list": [{"name": f"n{number}"} for number in range(elements)]}
    question = PageQuestion(
        karta=orjson.dumps(_karta(children, 2)).decode(), object=orjson.dumps(obj | {"spec": spec}).decode()
    )

    def work() -> object:
        kartas_of.cache_clear()
        return answer(question)

    return work


def _replay(calls: int, elements: int) -> Callable[[], object]:
    """Recorded calls whose answers differ from those of today."""
    folder = FilePath(tempfile.mkdtemp())
    listed = [{"name": f"n{number}"} for number in range(elements)]
    lines = [recording.head(DEFAULT_OPTIONS)]
    for number in range(calls):
        spec = {
            "replicas": 1 + number,
            "list": [] if number else listed,
            "template": {"spec": {"containers": [container()]}},
        }
        body = question(
            "Deployment",
            object=workload("apps/v1", "Deployment", spec, {}, name=f"d{number}"),
            kind={"group": "apps", "version": "v1", "kind": "Deployment"},
        )
        lines.append(recording.line(0.0, body, b'{"response": {"uid": "u", "successful": true, "replicas": 77}}'))
    file = folder / recording.file_name("20260101T000000Z", 1)
    file.write_bytes(gzip.compress(b"".join(lines)))
    return lambda: Replay(None, Side(())).file(file)


def _left_out(elements: int, depth: int) -> Callable[[], object]:
    """The observer that looks for resources which no definition reads."""
    inner: Any = {"resources": {"requests": {"cpu": "1"}}}
    for _ in range(depth):
        inner = {"in": inner}
    spec = {
        "list": [{"resources": {"requests": {"cpu": "1"}}, "name": f"n{number}"} for number in range(elements)],
        "in": inner,
    }
    obj = workload("apps/v1", "Deployment", spec, {})
    definition = Karta.for_object(obj).definition
    return lambda: resources_left_out(definition, obj)


def _lint(statements: int, names: int) -> Callable[[], object]:
    """A script of many statements about many names, some of which are undefined."""
    lines = [f"local n{number} = obj.spec.f{number}" for number in range(names)]
    lines += [f"if m{number % 7} then obj.x = string.foo(n0) end" for number in range(statements)]
    text = "function GetReplicas(obj)\n" + "\n".join(lines) + "\nreturn 1, nil\nend"
    return lambda: names_of(text)


def _tree(pods: int, instances: int) -> Callable[[], object]:
    """Pods that name their instance."""
    group = {"replicas": 2, "template": {"spec": {"containers": [container()]}}}
    workers = [group | {"groupName": f"g{number}"} for number in range(instances)]
    spec = {"headGroupSpec": {"template": group["template"]}, "workerGroupSpecs": workers}
    labels = ({"ray.io/node-type": "worker", "ray.io/group": f"g{number % instances}"} for number in range(pods))
    own = [pod(number, owner="it", labels=each) for number, each in enumerate(labels)]
    shown = workload("ray.io/v1", "RayCluster", spec, {})
    ray = Workload(Karta.for_object(shown), shown)
    return lambda: WorkloadTree.build(ray, own)


def _coverage(children: int, fields: int) -> Callable[[], object]:
    """Expressions about a schema, and parts of it that none of them reads."""
    template = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"containers": {}}}}}
    part = {"type": "object", "properties": {"replicas": {"type": "integer"}, "template": template}}
    parts = {f"{name}{number}": part for name, count in (("a", children), ("b", fields)) for number in range(count)}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": parts}}}
    crd_version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Mill", "plural": "mills"}
    crd = {"kind": "CustomResourceDefinition", "spec": {"group": "mill.io", "names": names, "versions": [crd_version]}}
    text = orjson.dumps(_karta(children, 2)).decode()
    return lambda: [*contradictions(text, "", [crd])]


def _pods_of_crd(pods: int) -> Callable[[], object]:
    """A CRD with many pod specs, of which no expression reads any, and a draft of them."""
    container = {"type": "object", "properties": {"name": {"type": "string"}, "image": {"type": "string"}}}
    spec = {"type": "object", "properties": {"containers": {"type": "array", "items": container}}}
    part = {"type": "object", "properties": {"replicas": {"type": "integer"}, "pod": spec}}
    parts = {f"b{number}": part for number in range(pods)}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": parts}}}
    crd_version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    crd = {"spec": {"group": "mill.io", "names": {"kind": "Mill", "plural": "mills"}, "versions": [crd_version]}}
    text = orjson.dumps(_karta(1, 2)).decode()

    def work() -> None:
        unread = [finding for finding in contradictions(text, "", [crd]) if finding.rule == "crd-unread"]
        assert len(unread) == pods
        assert len(draft(CustomKind.of(crd)).karta["spec"]["structureDefinition"]["childComponents"]) == pods

    return work


def _diff(children: int, elements: int) -> Callable[[], object]:
    """Two definitions that answer differently about every component of an object."""
    before, after = _karta(children, 2), _karta(children, 2)
    for number, child in enumerate(after["spec"]["structureDefinition"]["childComponents"]):
        child["scaleDefinition"]["replicasPath"] = f".spec.a{number}.replicas // 1 | . + 1"
    part = {"replicas": 1, "template": {"spec": {"containers": [container()]}}}
    spec: Any = {f"a{number}": part for number in range(children)}
    spec["list"] = [{"name": f"n{number}"} for number in range(elements)]
    obj = {"apiVersion": "mill.io/v1", "kind": "Mill", "metadata": {"name": "x", "namespace": "y"}, "spec": spec}
    sides = [Interpreter(ServedDefinition(load_definition(each), ""), {}) for each in (before, after)]
    call = Call(Operation.INTERPRET_COMPONENT, obj)

    def work() -> None:
        found = tuple(differences(*(answer_of(side, call, (), DEFAULT_OPTIONS) for side in sides)))
        assert len(found) == children
        assert cause_of(sides[0], sides[1], call, (), DEFAULT_OPTIONS, found)

    return work


def _retain(groups: int) -> Callable[[], object]:
    """A field of each group that the member keeps, twice in fewer groups than an instanceIdPath may give."""
    group = {"replicas": 1, "template": {"spec": {"containers": [container()]}}}
    named = [group | {"groupName": f"g{number}"} for number in range(groups)]
    deleting = [each | {"scaleStrategy": {"workersToDelete": ["one"]}} for each in named]
    head = {"headGroupSpec": {"template": group["template"]}}
    desired, observed = (
        workload("ray.io/v1", "RayCluster", {**head, "workerGroupSpecs": each}, {}) for each in (named, deleting)
    )
    definition = Karta.for_object(desired).definition

    def work() -> None:
        retained: Any = interpret(definition, Call(Operation.RETAIN, desired, observed=observed))
        kept = [each["scaleStrategy"] for each in retained["retained"]["spec"]["workerGroupSpecs"]]
        assert len(kept) == groups

    return work


def _dependencies(secrets: int) -> Callable[[], object]:
    """Names of dependencies by an annotation."""
    roles = [{"name": f"r{number}", "passwordSecret": {"name": f"s{number}"}} for number in range(secrets)]
    obj = workload("postgresql.cnpg.io/v1", "Cluster", {"instances": 1, "managed": {"roles": roles}}, {})
    definition = Karta.for_object(obj).definition

    def work() -> None:
        found: Any = interpret(definition, Call(Operation.INTERPRET_DEPENDENCY, obj))
        assert len(found["dependencies"]) == secrets

    return work


PATHS: dict[str, Path] = {
    "retain": Path({"groups": 450}, _retain),
    "dependencies": Path({"secrets": 1000}, _dependencies),
    "tree": Path({"pods": 40, "instances": 40}, _tree),
    "coverage": Path({"children": 8, "fields": 8}, _coverage),
    "pods of a CRD": Path({"pods": 200}, _pods_of_crd),
    "diff": Path({"children": 20, "elements": 40}, _diff),
    "lint": Path({"statements": 40, "names": 40}, _lint),
    "verify numbers": Path({"groups": 40, "fields": 400}, _verify_numbers),
    "verify groups": Path({"pods": 40, "groups": 40}, _verify_groups),
    "review": Path({"children": 40, "statuses": 40, "kinds": 40}, _review),
    "types": Path({"children": 20, "statuses": 20}, _types),
    "console": Path({"children": 20, "elements": 40}, _console),
    "replay": Path({"calls": 20, "elements": 40}, _replay),
    "left out": Path({"elements": 50, "depth": 50}, _left_out),
    "informer": Path({"held": 200, "events": 40}, _informer),
    "look-up by names": Path({"others": 50, "serving": 500}, _look_up),
    "fights": Path({"elements": 50, "names": 100, "depth": 50}, _fights),
    "recording": Path({"values": 50, "texts": 50, "equal": 50, "depth": 50}, _recording),
    "verify": Path({"pods": 50, "owners": 50, "elements": 50}, _verify),
}


_LONG = {"coverage", "console", "review", "types"}
"""To count the steps of these takes three quarters of the time of all: `make laws` does."""


@pytest.mark.parametrize("path", [each for each in PATHS if SWEEPS_ALL or each not in _LONG])
def test_work_doubles_with_each_dimension_and_with_each_two(path: str) -> None:
    """Few examples double all dimensions at once, which shows most products; `make laws` tells which they are."""
    sizes, prepared = PATHS[path]
    once = _warm_steps(prepared(**sizes))
    for several in (*combinations(sizes, 1), *combinations(sizes, 2)) if SWEEPS_ALL else (tuple(sizes),):
        twice = _warm_steps(prepared(**{**sizes, **{name: 2 * sizes[name] for name in several}}))
        assert twice <= _MOST * once, f"twice as many {' and '.join(several)}: {twice} steps instead of {once}"


@pytest.mark.skipif(not SWEEPS_ALL, reason="`make laws` measures it")
@pytest.mark.parametrize("path", ["fights", "recording", "verify", "verify groups", "look-up by names"])
def test_time_of_large_work_grows_with_its_size(path: str) -> None:
    """Loops in C are no steps. Four times as much takes sixteen times as long if the work is a product."""
    sizes, prepared = PATHS[path]
    once, larger = (
        prepared(**{name: size if name == "depth" else size * times for name, size in sizes.items()})
        for times in (_LARGE, 4 * _LARGE)
    )
    assert _seconds(larger) <= _MOST_SECONDS * _seconds(once)


def _warm_steps(work: Callable[[], object]) -> int:
    """Return the steps of work when all that is made once is made.

    What other tests have left is no part of it: beyond a few hundred expressions the next definition is parsed anew.
    """
    examine.cache_clear()
    work()
    return steps(work)


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
