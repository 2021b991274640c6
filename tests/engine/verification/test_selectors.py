"""Selectors that select no pod: another label is what a component lacks, not pods."""

from typing import Any

import pytest

from karta_interpreter import Karta
from karta_interpreter.engine.verification import Evidence, Question, Verdict
from tests.engine.verification.member import Thing, container, evidence, judged, pod, workload
from tests.support.rows import rows

_OK, _DIFFERS, _ = Verdict
_KARTA = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: ring}
spec:
  structureDefinition:
    rootComponent:
      name: ring
      kind: {group: example.io, version: v1, kind: Ring}
      statusDefinition:
        phaseDefinition: {path: .status.phase}
        statusMappings: {running: [{byPhase: Up}]}
    childComponents:
    - name: head
      ownerRef: ring
      specDefinition: {podTemplateSpecPath: ".spec.head.template"}
      scaleDefinition: {replicasPath: "1"}
      podSelector: {componentTypeSelector: {keyPath: .metadata.labels.role, value: head}}
    - name: worker
      ownerRef: ring
      instanceIdPath: .spec.groups[].name
      specDefinition: {podTemplateSpecPath: ".spec.groups[].template"}
      scaleDefinition: {replicasPath: ".spec.groups[].replicas"}
      podSelector:
        componentTypeSelector: {keyPath: .metadata.labels.role, value: worker}
        componentInstanceSelector: {idPath: .metadata.labels.group}
"""
_CHILDREN = "spec.structureDefinition.childComponents"


def _template(name: str, claim: str) -> Thing:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    return {"spec": {"containers": [container(name)], "volumes": volumes}}


def _shown(**changes: str) -> Evidence:
    """Return a ring of a head and of two groups, with other labels of its pods."""
    head, groups = _template("head", "books"), {"a": 1, "b": 2}
    spec: Thing = {
        "head": {"template": head},
        "groups": [
            {"name": name, "replicas": replicas, "template": _template("worker", f"data-{name}")}
            for name, replicas in groups.items()
        ],
    }
    made = [("head", {"role": changes.get("head", "head")}, head)]
    made += [
        ("worker", {"role": changes.get("worker", "worker"), changes.get("key", "group"): name}, group["template"])
        for name, group in zip(groups, spec["groups"], strict=True)
        for _ in range(groups[name])
    ]
    pods = [
        pod(number, container(name), labels=labels, volumes=template["spec"]["volumes"])
        for number, (name, labels, template) in enumerate(made)
    ]
    return evidence(workload("example.io/v1", "Ring", spec, {"phase": "Up"}), *pods)


ROWS: list[Any] = [
    pytest.param(_shown(), [(_OK, "", "")], id="as it is"),
    pytest.param(
        _shown(head="leader"),
        [(_DIFFERS, "no pod has the label of head, and others have its containers", f"{_CHILDREN}[0].podSelector")],
        id="another label of the head's pods",
    ),
    pytest.param(
        _shown(worker="node"),
        [(_DIFFERS, "no pod has the label of worker, and others have its containers", f"{_CHILDREN}[1].podSelector")],
        id="another label of the workers' pods",
    ),
    pytest.param(
        _shown(key="pool"),
        [(_DIFFERS, "no pod of worker tells its instance", f"{_CHILDREN}[1].podSelector")],
        id="another label of the groups",
    ),
]


@rows(("shown", "expected"), ROWS)
def test_selector_that_selects_nothing_is_named(shown: Evidence, expected: list[tuple[Verdict, str, str]]) -> None:
    found = judged(Question.COUNTS, shown, Karta.load(_KARTA))

    assert [(each.verdict, each.reason, each.field) for each in found] == expected


@pytest.mark.parametrize(("template", "number"), [(".spec.head.template", 0), (".spec.groups[].template", 1)])
def test_template_without_volumes_is_named_by_the_pods_that_have_them(template: str, number: int) -> None:
    wrong = _KARTA.replace(f'"{template}"', f'"{template} | {{spec: {{containers: .spec.containers}}}}"')

    assert {each.field for each in judged(Question.DEPENDENCIES, _shown(), Karta.load(wrong))} == {
        f"{_CHILDREN}[{number}].specDefinition.podTemplateSpecPath"
    }
