"""Templates of drafts for objects without their own: of an object that they name, and the same one of an operator."""

from typing import Any

from karta_interpreter.base.k8s.requirements import Counting, pod_requirements
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta import Known, resolved
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.drafting import draft_from
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.verification import Evidence

Thing = dict[str, Any]


def _template(name: str, cpu: str) -> Thing:
    requests = {"cpu": cpu}
    return {"spec": {"containers": [{"name": name, "image": name, "resources": {"requests": requests}}]}}


def _crew(name: str, *pods: Thing, others: tuple[Thing, ...] = (), **spec: Any) -> Evidence:
    obj = {"apiVersion": "example.com/v1", "kind": "Crew", "metadata": {"name": name, "namespace": "team"}}
    made = [{"kind": "Pod", "metadata": {"name": f"{name}-{number}"}, **each} for number, each in enumerate(pods)]
    return Evidence({**obj, "spec": spec}, tuple(made), now=2e9, reader=Known.of(others))


def _cores(*shown: Evidence) -> tuple[list[list[int]], list[str]]:
    """Return the CPU of each pod of each object by the draft, and its notes about absent templates."""
    drafted = draft_from(CustomKind("crd", GVK.of(shown[0].object), {}), shown)
    definition = load_definition(drafted.karta)
    cores = [
        sorted(
            pod_requirements(pods.template, Counting.SCHEDULER).resource_request["cpu"]
            for pods in pod_sets(resolved(definition, each.object, each.reader), each.object)
            for _ in range(pods.replicas)
        )
        for each in shown
    ]
    return cores, [note for _, note in drafted.notes if "template" in note]


_LEAD, _SCOUT, _STAND_IN = _template("lead", "2"), _template("scout", "1"), _template("stand-in", "500m")
_DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "model", "namespace": "team"},
    "spec": {"template": _template("main", "3")},
}
_NAMED = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "model"}


def test_template_of_named_object_is_read_for_objects_without_one() -> None:
    own, model = _template("main", "1"), _template("main", "3")
    cores, notes = _cores(
        _crew("a", *[own] * 2, replicas=2, template=own),
        _crew("b", *[own] * 4, replicas=4, template=own),
        _crew("c", *[model] * 3, replicas=3, workloadRef=_NAMED, others=(_DEPLOYMENT,)),
    )

    assert cores == [[1000] * 2, [1000] * 4, [3000] * 3]
    (note,) = notes
    assert note == (
        "CHECK: 1 of 3 objects lack this template, and have pods of the Deployment that .spec.workloadRef names. "
        "Can it name other kinds?"
    )


def test_template_of_named_object_with_other_containers_is_not_read() -> None:
    own, other = _template("main", "1"), _template("other", "3")
    cores, notes = _cores(
        _crew("a", *[own] * 2, replicas=2, template=own),
        _crew("c", *[other] * 3, replicas=3, workloadRef=_NAMED, others=(_DEPLOYMENT,)),
    )

    assert cores == [[1000] * 2, []]
    assert notes == []


def test_pod_that_operator_makes_without_template_has_the_field_that_tells_its_objects() -> None:
    cores, notes = _cores(
        _crew("a", _LEAD, _SCOUT, mode="scouts", lead=_LEAD, scout=_SCOUT),
        _crew("b", _LEAD, _STAND_IN, mode="scouts", lead=_LEAD),
        _crew("c", _LEAD, _STAND_IN, mode="scouts", lead=_LEAD),
        _crew("d", _LEAD, mode="none", lead=_LEAD),
    )

    assert cores == [[1000, 2000], [500, 2000], [500, 2000], [2000]]
    (note,) = notes
    assert note == (
        "CHECK: 2 of 4 objects lack this template, and have pods with the same containers and requests. "
        "Does the operator make them?"
    )


def test_pod_of_one_object_without_template_is_not_taken_for_a_default() -> None:
    cores, notes = _cores(
        _crew("a", _LEAD, _SCOUT, mode="scouts", lead=_LEAD, scout=_SCOUT),
        _crew("b", _LEAD, _STAND_IN, mode="scouts", lead=_LEAD),
    )

    assert cores == [[1000, 2000], [2000]]
    assert notes == []
