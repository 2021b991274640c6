"""The function itself: errors, scripts, expressions in other processes, references; and the forms of its values."""

import json
from typing import Any

import pytest

from karta_interpreter import Explanation, Karta
from karta_interpreter.engine.explain import Place, explain, outline
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from tests.engine.explain.conftest import Define, pods, train
from tests.engine.explain.laws import check_laws
from tests.support.rows import rows

HOT = {"name": "hot", "replicas": 2, "template": pods(resources={"requests": {"cpu": "1"}})}
SCRIPT = """\
healthInterpretation:
  luaScript: |
    function InterpretHealth(obj)
      return true
    end
"""


def rules(found: Explanation) -> list[str]:
    return [fact.rule for fact in found.facts]


def test_error_keeps_facts_before_it(define: Define) -> None:
    found = explain(define(), Call(Operation.INTERPRET_REPLICA, train(HOT, {**HOT, "name": "odd", "replicas": "x"})))

    assert found.results is None
    assert found.error.endswith("gives a string, which is not a whole number")
    assert found.facts[-1].note == f"the chain ends here: {found.error}"


def test_unreachable_number_explains_pod_sets(define: Define) -> None:
    fixed = define(scaleDefinition={"replicasPath": ".spec.groups[] | 2"})
    found = explain(fixed, Call(Operation.REVISE_REPLICA, train(HOT), replicas=3))

    assert (found.results, rules(found)) == (None, ["fixed"])
    assert found.facts[0].note == "hot has 2 pods: it is the only pod set, but its count follows from spec.groups[]"


def test_status_field_is_escaped_in_pointer(define: Define) -> None:
    found = explain(define(), Call(Operation.INTERPRET_STATUS, train(HOT, **{"cars/ready": 2})))

    assert [fact.answer for fact in found.facts if fact.value == 2] == ["/status/cars~1ready"]


@rows("status", ["text", [1], 3, True])
def test_status_of_wrong_type_stays_without_reports(define: Define, status: Any) -> None:
    obj = {**train(HOT), "status": status}
    explanation = explain(define(), Call(Operation.AGGREGATE_STATUS, obj))
    assert explanation.results == {"aggregatedStatus": obj}


@pytest.mark.parametrize(
    "reported",
    [
        pytest.param([[None, {"type": "Moving", "status": "True"}]], id="a null next to a condition"),
        pytest.param([[{"type": "Moving", "status": "True"}], 3], id="a number in another cluster"),
    ],
)
def test_conditions_are_explained_beside_what_are_none(define: Define, reported: list[Any]) -> None:
    items = [StatusItem(f"member{index}", {"signals": each}) for index, each in enumerate(reported)]
    before = {**train(HOT), "status": {"signals": [{"type": "Moving", "status": "True"}]}}
    explanation = explain(define(), Call(Operation.AGGREGATE_STATUS, before, items=tuple(items)))
    assert "aggregated" in rules(explanation)


def test_kept_condition_is_explained_next_to_one_without_status() -> None:
    kept = {"type": "FailureTarget", "status": "True"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "status": {"conditions": [kept]}}
    items = [{"clusterName": "member1", "status": {"active": 1, "conditions": [{"type": "FailureTarget"}]}}]
    explanation = Karta.for_object(job).explain("AggregateStatus", job, statuses=items)
    assert any("member1 has no status" in fact.note for fact in explanation.facts)


def test_script_answer_is_not_traced(define: Define) -> None:
    found = explain(define(annotations={"lua": SCRIPT}), Call(Operation.INTERPRET_HEALTH, train(HOT, phase="Ready")))

    assert found.results == {"healthy": True}
    assert rules(found) == ["script"]
    assert [layer.name for layer in found.layers if layer.answers] == ["script"]


def test_omitted_operation_is_explained(define: Define) -> None:
    definition = define(annotations={"operations": "InterpretHealth"})

    found = explain(definition, Call(Operation.INTERPRET_REPLICA, train(HOT)))

    assert found.facts == ()
    assert not any(layer.answers for layer in found.layers)
    assert "does not answer InterpretReplica" in found.error


@rows(
    ("count", "source", "writes"),
    [
        pytest.param(".spec.groups[].replicas", "spec.groups[0].replicas", True, id="a field"),
        pytest.param("[.spec.groups[].replicas] | add | [.] | .[]", "computed; no field to write another count to",
                     False, id="a computation"),
        pytest.param(
            ".spec.groups[] | .replicas | tojson | fromjson",
            "computed in another process, which is not traced; no field to write another count to",
            False,
            id="an expression that runs in another process",
        ),
        pytest.param("2", "a constant of the definition; no field to write another count to", False, id="a constant"),
    ],
)  # fmt: skip
def test_count_is_explained_by_its_source(define: Define, count: str, source: str, writes: bool) -> None:
    found = check_laws(define(scaleDefinition={"replicasPath": count}), Call(Operation.INTERPRET_REPLICA, train(HOT)))

    (fact,) = [fact for fact in found.facts if fact.rule == "count"]
    assert fact.note == f"hot: {source}"
    assert bool(fact.writes) is writes


def test_minimum_and_no_count(define: Define) -> None:
    group = {"name": "hot", "template": pods(), "min": 3}
    bounded = define(scaleDefinition={"replicasPath": ".spec.groups[].n", "minReplicasPath": ".spec.groups[].min"})
    unscaled = define(scaleDefinition={})

    notes = [
        next(
            fact
            for fact in check_laws(each, Call(Operation.INTERPRET_REPLICA, train(group))).facts
            if fact.rule == "count"
        )
        for each in (bounded, unscaled)
    ]

    assert [fact.note for fact in notes] == [
        "hot: spec.groups[0].min",
        "hot: the definition has no count for it, which means 1",
    ]
    assert [place.pointer for place in notes[0].places] == ["/spec/groups/0/n", "/spec/groups/0/min"]


def test_layers_have_the_order_of_karmada(define: Define) -> None:
    definition = define()

    layers = explain(definition, Call(Operation.INTERPRET_HEALTH, train(HOT)), origin="cluster").layers

    assert [(layer.name, layer.answers) for layer in layers] == [
        ("customization", False),
        ("karta", True),
        ("karmada", False),
    ]
    assert layers[1].note == "Karta train (cluster)"
    assert layers[2].note == "no answer: every object counts as healthy"


@rows(
    ("kind", "operation", "note"),
    [
        pytest.param("apps/v1 Deployment", "InterpretHealth", "its own code", id="native code"),
        pytest.param(
            "ray.io/v1 RayCluster", "InterpretHealth", "the script that it carries for the kind", id="a script"
        ),
        pytest.param(
            "ray.io/v1 RayCluster", "Retain", "no answer: the template replaces the member's object", id="nothing"
        ),
    ],
)
def test_layer_of_karmada_is_explained(kind: str, operation: str, note: str) -> None:
    api_version, name = kind.split()
    obj = {"apiVersion": api_version, "kind": name, "metadata": {"name": "x"}}

    found = Karta.for_object(obj).explain(operation, obj, observed=obj if operation == "Retain" else None)

    assert found.layers[-1].note == note


def test_json_of_explanation_has_parts_of_a_view(define: Define) -> None:
    document = json.loads(json.dumps(explain(define(), Call(Operation.INTERPRET_REPLICA, train(HOT))).to_json()))

    (count,) = [fact for fact in document["facts"] if fact["rule"] == "count"]
    assert count == {
        "rule": "count",
        "note": "hot: spec.groups[0].replicas",
        "value": 2,
        "answer": "/replica",
        "component": "group",
        "instance": "hot",
        "field": "spec.structureDefinition.childComponents[0].scaleDefinition.replicasPath",
        "expression": ".spec.groups[] | .replicas // 1",
        "places": [{"source": "object", "pointer": "/spec/groups/0/replicas", "exists": True, "value": 2}],
        "writes": ["/spec/groups/0/replicas"],
    }
    assert document["results"]["replica"] == 2


def test_long_value_is_omitted_in_json() -> None:
    assert "value" not in Place(("spec",), "x" * 1000).to_json()


def test_library_returns_error_that_karmada_would_get() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}}

    assert Karta.for_object(job).explain("Retain", job).error == "Retain needs the observed object"


def test_explain_names_why_a_kind_is_not_elastic(define: Define) -> None:
    definition = define(annotations={"elastic": "none"})

    facts = explain(definition, Call(Operation.REVISE_REPLICA, train(HOT), replicas=7)).facts

    notes = [fact.note for fact in facts if fact.rule == "fixed"]
    assert notes
    assert not any(fact.writes for fact in facts)
    assert all(
        note.endswith('metadata.annotations["karta-interpreter.io/elastic"] is none, so it stays') for note in notes
    )


def test_outline_has_expressions_and_annotations_of_operation(define: Define) -> None:
    definition = define(annotations={"elastic": "group"})

    read = {operation: [fact.expression for fact in outline(definition, operation).facts] for operation in Operation}

    assert read[Operation.REVISE_REPLICA] == [".spec.groups[] | .replicas // 1", ".spec.groups[].name", "group"]
    assert read[Operation.INTERPRET_STATUS] == []
    assert [fact.note for fact in outline(definition, Operation.INTERPRET_HEALTH).facts][2:] == [
        'Running: phase "ready"',
        "Running: condition Ready=True",
        'Degraded: phase "Stalled"',
        "healthy: Completed, Running, Suspended",
    ]


OMITTED = {"aggregate": ".status.observedGeneration: omit"}


def of_annotations(found: Explanation) -> list[tuple[str, str]]:
    return [
        (fact.field.rpartition("/")[2].removesuffix('"]'), fact.note)
        for fact in found.facts
        if fact.rule == "annotation"
    ]


def test_decisive_annotation_is_named_with_other_answer(define: Define) -> None:
    late = {**train(HOT, phase="ready", observedGeneration=2), "metadata": {"name": "x", "generation": 3}}

    found = check_laws(define(annotations=OMITTED), Call(Operation.INTERPRET_HEALTH, late))

    assert found.results == {"healthy": True}
    assert of_annotations(found) == [("aggregate", "aggregate: without it healthy would be false")]


def test_indecisive_annotation_is_not_named(define: Define) -> None:
    current = {**train(HOT, phase="ready", observedGeneration=3), "metadata": {"name": "x", "generation": 3}}

    found = check_laws(define(annotations=OMITTED), Call(Operation.INTERPRET_HEALTH, current))

    assert of_annotations(found) == []


def test_field_omitted_by_annotation_is_explained(define: Define) -> None:
    items = (StatusItem("north", {"phase": "Ready", "seed": 7}),)

    found = check_laws(
        define(annotations={"aggregate": ".status.seed: omit"}),
        Call(Operation.AGGREGATE_STATUS, train(HOT), items=items),
    )

    assert of_annotations(found) == [("aggregate", "aggregate: without it aggregatedStatus.status.seed would be 7")]


def test_annotation_error_names_annotation(define: Define) -> None:
    found = explain(
        define(annotations={"health": ".status.phase"}), Call(Operation.INTERPRET_HEALTH, train(HOT, phase="Ready"))
    )

    assert found.results is None
    assert "annotation health" in found.error
    assert any(fact.field.endswith('/health"]') for fact in found.facts)


def test_script_is_explained_by_its_annotation(define: Define) -> None:
    definition = define(annotations={"lua": SCRIPT, "healthy-statuses": "Running"})

    (fact,) = explain(definition, Call(Operation.INTERPRET_HEALTH, train(HOT))).facts
    (read,) = outline(definition, Operation.INTERPRET_HEALTH).facts

    assert fact.field == read.field == 'metadata.annotations["karta-interpreter.io/lua"]'


def test_outline_has_fields_that_script_asks_of_the_karta(define: Define) -> None:
    asks = SCRIPT.replace("return true", 'return require("karta").interpretHealth(obj)')

    fields = [
        fact.note
        for fact in outline(
            define(annotations={"lua": asks, "healthy-statuses": "Running"}), Operation.INTERPRET_HEALTH
        ).facts
    ]

    assert {"annotation lua", "annotation healthy-statuses"} <= set(fields)


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        pytest.param(
            ".status.observedGeneration: omit",
            ["InterpretStatus", "InterpretHealth"],
            id="generations are not compared",
        ),
        pytest.param(".status.seed: first", [], id="no other operation asks"),
    ],
)
def test_outline_names_aggregation_if_it_matters(define: Define, aggregate: str, expected: list[str]) -> None:
    definition = define(annotations={"aggregate": aggregate})

    named = [
        str(operation)
        for operation in Operation
        if any(fact.note == "annotation aggregate" for fact in outline(definition, operation).facts)
    ]

    assert named == ["AggregateStatus", *expected]


def test_unreadable_status_is_not_blamed_on_annotation(define: Define) -> None:
    obj = {
        **train(HOT, observedGeneration=2),
        "metadata": {"name": "x", "annotations": {"resourcetemplate.karmada.io/generation": "two"}},
    }

    found = explain(define(), Call(Operation.INTERPRET_STATUS, obj))

    assert (found.results, found.facts) == (None, ())


def test_immutable_path_is_one_fact_with_what_may_change_below(define: Define) -> None:
    definition = define(annotations={"retain": "- immutable: .spec.parts\n- changeable: .spec.parts.size\n"})
    desired, observed = (train(HOT) for _ in range(2))
    desired["spec"]["parts"], observed["spec"]["parts"] = {"x": 1, "size": 2}, {"x": 3, "size": 1}

    (fact,) = explain(definition, Call(Operation.RETAIN, desired, observed=observed)).facts

    way = "delete it in the member, or make a new one"
    advice = f"which cannot change in a Train that exists, and stays as it runs until it is made anew: {way}"
    assert (fact.answer, fact.value) == ("/retained/spec/parts/x", 3)
    assert fact.note == f"rule immutable .spec.parts, {advice}: the member's value"


@rows(
    ("kind", "changed", "rule", "places"),
    [
        pytest.param(
            ("batch/v1", "Job"), {"spec": {"suspend": True}}, "rest", [("spec", "suspend")], id="it asks for rest"
        ),
        pytest.param(
            ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
            {"status": {"observedGeneration": 1, "readyReplicas": 1}},
            "stale",
            [("metadata", "generation"), ("status", "observedGeneration")],
            id="its generation is late",
        ),
    ],
)
def test_health_between_two_reports_names_its_reason(
    kind: tuple[str, str], changed: dict[str, Any], rule: str, places: list[tuple[str, ...]]
) -> None:
    obj = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "x", "generation": 2}, "spec": {}, **changed}
    found = explain(Karta.for_object(obj).definition, Call(Operation.INTERPRET_HEALTH, obj))

    assert found.results == {"healthy": True}
    assert [[place.path for place in fact.places] for fact in found.facts if fact.rule == rule] == [places]
