"""Warnings about counts that a definition does not find, and that differ from the object."""

from typing import Any

import pytest

from karta_interpreter.engine.explain import warnings_about
from tests.engine.explain.conftest import Define, pods, train
from tests.support.rows import rows

HOT = {"name": "hot", "replicas": 2, "template": pods()}


@rows(("least", "most", "count"), [(1, 5, 0), (5, 5, 0), (6, 5, 1), (6, None, 0)])
def test_warning_about_a_least_number_above_the_most(define: Define, least: int, most: int, count: int) -> None:
    paths = {"minReplicasPath": ".spec.groups[] | .min", "maxReplicasPath": ".spec.groups[] | .max"}
    facts = warnings_about(define(scaleDefinition=paths), train(HOT | {"min": least, "max": most}))
    assert [fact.rule for fact in facts] == ["least-above-most"] * count
    assert all("of pods, 6, is greater than the most, 5" in fact.note for fact in facts)


@rows(
    ("group", "notes"),
    [
        pytest.param({"replicas": 3}, [], id="within its limits"),
        pytest.param(
            {"replicas": 9},
            ["group: 9 at spec.groups[0].replicas, at least 1, at most 5, so its count is 5"],
            id="above its limit",
        ),
        pytest.param(
            {"replicas": -2},
            ["group: -2 at spec.groups[0].replicas, at least 1, at most 5, so its count is 1"],
            id="below 0",
        ),
        pytest.param({"replicas": 0}, [], id="scaled to 0"),
        pytest.param({"replicas": 3, "roleReplicas": 0}, [], id="a role that is scaled to 0"),
        pytest.param(
            {"replicas": 3, "hosts": 0}, ["group: spec.groups[0].hosts is 0, so its count is 0"], id="times 0"
        ),
        pytest.param(
            {"replicas": 3, "least": 4},
            ["hot: the least number of pods, 4, is greater than its count, 3"],
            id="below the least number",
        ),
        pytest.param(
            {"replicas": 3, "slots": "two"},
            ['group: no count can be read, but spec.groups[0].slots is "two": write a number from 1'],
            id="a text that is no number",
        ),
    ],
)
def test_warnings_about_counts_that_are_not_those_of_the_object(
    define: Define, group: dict[str, Any], notes: list[str]
) -> None:
    count = "([[.replicas, 1] | max, 5] | min) * (.hosts // 1) * (.roleReplicas // 1) * (.slots // 1 | tonumber)"
    paths = {"replicasPath": f".spec.groups[] | {count}", "minReplicasPath": ".spec.groups[] | .least"}

    found = warnings_about(define(scaleDefinition=paths), train(HOT | group))

    assert [fact.note for fact in found] == notes


@pytest.mark.parametrize(("hosts", "count"), [(4, 1), (1, 0)])
def test_number_beside_a_template_that_no_count_reads_may_be_a_factor(define: Define, hosts: int, count: int) -> None:
    notes = [warning.note for warning in warnings_about(define(), train(HOT | {"hosts": hosts}))]
    message = "group: nothing reads spec.groups[0].hosts, which is 4: if each replica has so many pods, multiply"
    assert [note.startswith(message) for note in notes] == [True] * count


@rows(
    ("text", "metadata", "hint"),
    [
        pytest.param(
            '.spec.groups[] | .template.metadata.annotations["example.io/size"] // "4" | tonumber',
            {"annotations": {"example.io/size": "3"}},
            'metadata.annotations["example.io/size"]',
            id="an annotation of the object in place of its pods",
        ),
        pytest.param(
            '.spec.groups[] | .replicas // (.labels["a.slots"] // 4)',
            {},
            'spec.groups[0].labels["A.slots"]',
            id="a key of a map in other letters, behind another default",
        ),
    ],
)
def test_warning_about_a_count_that_a_default_hides(
    define: Define, text: str, metadata: dict[str, Any], hint: str
) -> None:
    obj = train({"name": "hot", "template": pods(), "labels": {"A.slots": 2}}) | {"metadata": {"name": "a", **metadata}}

    found = [fact.note for fact in warnings_about(define(scaleDefinition={"replicasPath": text}), obj)]

    assert [note.rpartition("; the object has ")[2] for note in found] == [f"{hint}: a typo?"] * bool(hint)


@rows("count", [(5, True), (1, False)])
def test_count_beside_pods_without_scale_definition(define: Define, count: tuple[int, bool]) -> None:
    obj = train({"name": "hot", "replicas": count[0], "template": pods()})

    found = [fact.note for fact in warnings_about(define(scaleDefinition=None), obj)]

    assert any("write scaleDefinition: {replicasPath: .spec.groups[].replicas}" in note for note in found) is count[1]


def test_unreadable_count_ends_its_warnings(define: Define) -> None:
    obj = train({"name": "", "template": pods()}, HOT, phase="Ready")
    broken = define(scaleDefinition={"replicasPath": '.spec.groups[] | error("no")'})

    assert [fact.rule for fact in warnings_about(broken, obj)] == ["phase-unmapped"]
