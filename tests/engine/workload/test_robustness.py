"""Whatever is in an object, the library gives an answer or raises a `WorkloadError`, and leaves the object alone."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import pytest

from karta_interpreter import Component, FragmentedPodSpec, Workload, WorkloadError
from karta_interpreter.base.k8s.edit import set_value

JUNK: tuple[Any, ...] = (None, True, -1, 2**31, 1.5, "x", [], {}, [None], [{"name": []}], {"a": {"b": 1}})
pytestmark = pytest.mark.slow

POD = {"containers": [{"name": "main", "image": "a", "env": [{"name": "x"}]}], "schedulerName": "s"}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
SPECS: dict[str, Any] = {
    "Orchestra": {
        "conductor": {"template": TEMPLATE, "count": 1},
        "sections": [{"name": "a", "players": 2, "least": 1, "template": TEMPLATE}, {"name": "b"}],
        "paused": False,
    },
    "Tavern": {**POD, "labels": {"a": "b"}, "minReplicas": 1, "maxReplicas": "3"},
    "Harbor": {"docks": {"a": {"main": POD["containers"][0], "cranes": 2, "sidecars": [], "labels": {}}, "b": {}}},
    "Pod": POD,
}


def spoiled(workload: Workload) -> Iterator[Workload]:
    """The workload with each of its values replaced by each kind of junk."""
    pending: list[tuple[Any, ...]] = [("spec",), ("status",), ("metadata",)]
    while pending:
        path = pending.pop()
        value: Any = workload.object
        for step in path:
            value = value[step]
        if isinstance(value, dict | list):
            pending += [(*path, step) for step in (value if isinstance(value, dict) else range(len(value)))]
        for junk in JUNK:
            try:
                yield workload.replaced(set_value(workload.object, path, junk))
            except WorkloadError:
                assert path[0] == "metadata", "only an object without a name is not a workload"


def questions(workload: Workload) -> Iterator[Callable[[], Any]]:
    yield lambda: workload.status
    yield workload.suspend
    yield workload.resume
    for component in workload.components.values():
        yield from (partial(getattr, component, name) for name in ("instances", "scales"))
        changes: tuple[tuple[Callable[[Any], Any], Any], ...] = (
            (component.update_pod_templates, TEMPLATE),
            (component.update_pod_specs, POD),
            (component.update_pod_metadata, {"labels": {}}),
            (component.update_fragmented_pod_specs, FragmentedPodSpec(image="b")),
            (component.scale_to, 6),
        )
        for update, value in changes:
            yield partial(_everywhere, component, update, value)


def _everywhere(component: Component, update: Callable[[Any], Any], value: Any) -> Any:
    return update(dict.fromkeys(component.instance_ids, value))


def error_of(ask: Callable[[], Any]) -> str:
    try:
        ask()
    except WorkloadError as error:
        return str(error)
    return "no error"


@pytest.mark.parametrize("kind", SPECS)
def test_junk_anywhere_gives_an_answer_or_our_error(make: Callable[..., Workload], kind: str) -> None:
    status = {"phase": "Playing", "conditions": [{"type": "OutOfTune", "status": "True"}]}
    for workload in spoiled(make(kind, deepcopy(SPECS[kind]), status=status)):
        before = deepcopy(workload.object)
        for ask in questions(workload):
            assert error_of(ask).startswith(("definition ", "no error"))
        assert workload.object == before
