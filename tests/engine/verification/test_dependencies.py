from typing import Any

import pytest
import yaml

from karta_interpreter import Karta
from karta_interpreter.engine.verification import Question, Verdict
from tests.engine.verification.member import (
    DEFINITION,
    Thing,
    container,
    deployment,
    evidence,
    judged,
    pod,
    verdicts,
    workload,
)
from tests.support.rows import rows

OK, DIFFERS, UNJUDGED = Verdict

_CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data-pod-1"}}
_TOKEN = {"name": "t", "projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}}


def _reference(kind: str, name: str) -> Thing:
    field = {"ConfigMap": "configMapRef", "Secret": "secretRef"}[kind]
    return container(envFrom=[{field: {"name": name}}])


@rows(
    ("pods", "made", "verdict"),
    [
        pytest.param([pod(1)], {}, OK, id="no-references"),
        pytest.param([pod(1, serviceAccountName="default")], {}, OK, id="the-default-account"),
        pytest.param([pod(1, volumes=[_TOKEN])], {}, OK, id="the-ca-that-every-namespace-has"),
        pytest.param([pod(1, volumes=[_CLAIM])], {}, OK, id="a-claim-with-the-name-of-the-pod"),
        pytest.param([pod(1, _reference("ConfigMap", "x"))], {"ConfigMap/x": True}, OK, id="a-controller-has-made-it"),
        pytest.param([pod(1, _reference("ConfigMap", "x"))], {"ConfigMap/x": False}, DIFFERS, id="nobody-has-made-it"),
        pytest.param([pod(1, _reference("Secret", "x"))], {}, UNJUDGED, id="nobody-reads-secrets"),
        pytest.param([pod(1, _reference("ConfigMap", "x"))], {}, UNJUDGED, id="config-maps-could-not-be-read"),
        pytest.param([], {}, UNJUDGED, id="no-pods"),
    ],
)
def test_references_of_pods_are_compared_with_answer(
    pods: list[Thing], made: dict[str, bool], verdict: Verdict
) -> None:
    shown = evidence(deployment(), *pods, made=made)

    assert [each.verdict for each in judged(Question.DEPENDENCIES, shown)] == [verdict]


def test_named_references_are_no_difference() -> None:
    shown = evidence(deployment(_reference("Secret", "x")), pod(1, _reference("Secret", "x")))

    assert verdicts(Question.DEPENDENCIES, shown) == [(OK, "")]


def test_kind_that_is_selected_by_labels_is_no_difference() -> None:
    annotation = "- {apiVersion: v1, kind: ConfigMap, labelSelector: '{matchLabels: {app: .metadata.name}}'}"
    karta = yaml.safe_load(DEFINITION)
    karta["metadata"]["annotations"] = {"karta-interpreter.io/dependencies": annotation}
    shop = workload("example.io/v1", "Shop", {"replicas": 1, "template": {"spec": {"containers": [container()]}}})
    shown = evidence(shop, pod(1, _reference("ConfigMap", "x")), made={"ConfigMap/x": False})

    assert [each.verdict for each in judged(Question.DEPENDENCIES, shown, Karta.load(karta))] == [OK]


def test_what_the_object_refers_to_elsewhere_is_no_difference() -> None:
    karta = yaml.safe_load(DEFINITION)
    entry = "- {apiVersion: v1, kind: ConfigMap, name: .spec.settings.name, namespace: .spec.settings.namespace}"
    karta["metadata"]["annotations"] = {"karta-interpreter.io/dependencies": entry}
    settings = {"name": "x", "namespace": "platform"}
    template = {"spec": {"containers": [container()]}}
    shop = workload("example.io/v1", "Shop", {"replicas": 1, "template": template, "settings": settings})
    shown = evidence(shop, pod(1, _reference("ConfigMap", "x")), made={"ConfigMap/x": False})

    assert [each.verdict for each in judged(Question.DEPENDENCIES, shown, Karta.load(karta))] == [OK]


def test_object_of_a_kind_that_the_controller_makes_is_not_judged() -> None:
    karta = yaml.safe_load(DEFINITION)
    children = [{"group": "", "version": "v1", "kind": "ServiceAccount"}]
    karta["spec"]["structureDefinition"]["additionalChildKinds"] = children
    shop = workload("example.io/v1", "Shop", {"replicas": 1, "template": {"spec": {"containers": [container()]}}})
    shown = evidence(shop, pod(1, serviceAccountName="shop-it"), made={"ServiceAccount/shop-it": False})

    (found,) = judged(Question.DEPENDENCIES, shown, Karta.load(karta))
    assert found.verdict == UNJUDGED
    assert "nobody tells who has made it" in found.reason


def test_reference_in_the_object_is_named_with_its_line() -> None:
    def with_field(obj: Thing) -> None:
        obj["spec"]["settings"] = [{"from": "shop-settings"}]

    shown = evidence(deployment(change=with_field), pod(1, _reference("ConfigMap", "shop-settings")))
    (found,) = judged(Question.DEPENDENCIES, shown)

    assert found.reason == "the ConfigMap at .spec.settings[].from is not named"
    assert found.fix == "- {apiVersion: v1, kind: ConfigMap, name: '.spec.settings[].from'}"
    assert found.field == "metadata.annotations.karta-interpreter.io/dependencies"


def test_unreadable_pod_is_left_out() -> None:
    broken: dict[str, Any] = pod(1, volumes="none")

    assert verdicts(Question.DEPENDENCIES, evidence(deployment(), broken)) == [(OK, "")]
