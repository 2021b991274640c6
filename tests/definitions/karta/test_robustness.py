"""Whatever a file says, loading it ends with a definition or with findings that say why not."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from karta_interpreter.base.findings import Severity
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Path
from karta_interpreter.definitions.karta.loading import load_documents
from tests.support.rows import rows

pytestmark = pytest.mark.slow

TOY = yaml.safe_load(
    """
    apiVersion: run.ai/v1alpha1
    kind: Karta
    metadata:
      name: toy
      annotations:
        karta-interpreter.io/elastic: part
        karta-interpreter.io/retain: .spec.a
        karta-interpreter.io/aggregate: "{.status.a: sum}"
        karta-interpreter.io/dependencies: "[{apiVersion: v1, kind: Secret, name: '$sizes[0].data.a'}]"
    spec:
      structureDefinition:
        references:
          - name: sizes
            gvk: {group: "", version: v1, kind: ConfigMap}
            list: {matchLabels: {team: {expression: .spec.team}}}
        rootComponent:
          name: toy
          kind: {group: toys.example.com, version: v1, kind: Toy}
          statusDefinition:
            phaseDefinition: {path: .status.phase}
            conditionsDefinition: {path: .status.conditions}
            statusMappings:
              running: [{byPhase: Fine, byConditions: [{type: Ready, status: "True"}]}]
              failed: [{byExpression: {expression: .status.x, expectedResult: "1"}}]
          suspendDefinition:
            suspendActions: [{path: .spec.pause, value: "true"}]
            resumeActions: [{path: .spec.pause, value: false}]
        childComponents:
          - name: part
            ownerRef: toy
            specDefinition:
              fragmentedPodSpecDefinition: {imagePath: ".spec.parts[].image"}
            scaleDefinition: {replicasPath: ".spec.parts[].n"}
            instanceIdPath: .spec.parts[].name
            podSelector:
              componentTypeSelector: {keyPath: .metadata.labels.part, value: x, matchLabels: {app: toy}}
              componentInstanceSelector: {idPath: .metadata.labels.id}
      optimizationInstructions:
        gangScheduling:
          podGroups: [{name: all, members: [{componentName: part, filters: [.metadata.labels.a]}]}]
          podGroup: {name: all, subGroups: [{componentName: part}]}
    """
)
WORDS = ["", ".spec.a", ".x[]", "..", ".a[", "part", "toy", "true", "[]", "- .a", "{.status.a: max}", "\n", "\u0000"]


def places(value: JSON, at: Path = ()) -> Iterator[Path]:
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield from places(part, (*at, step))


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
KEYS = st.sampled_from([*WORDS, "name", "path"])
ANY = st.recursive(
    SCALARS | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)
CHANGES = st.lists(st.tuples(st.sampled_from(list(places(TOY))[1:]), ANY), min_size=1, max_size=3)


def check(text: str) -> None:
    for loaded in load_documents(text, "toy"):
        wrong = [finding for finding in loaded.findings if finding.severity is Severity.ERROR]
        assert (loaded.definition is None) == bool(wrong)
        assert all(finding.message and finding.line > 0 for finding in loaded.findings)


def test_toy_has_no_findings() -> None:
    assert [loaded.findings for loaded in load_documents(json.dumps(TOY), "toy")] == [()]


@given(CHANGES)
def test_any_change(changes: list[tuple[Path, Any]]) -> None:
    raw = TOY
    for path, value in changes:
        if edit.get(raw, path[:-1]) is not None and edit.get(raw, path, ...) is not ...:
            raw = edit.set_value(raw, path, value)
    check(json.dumps(raw))


@rows("path", list(places(TOY))[1:], ids=str)
def test_anything_missing(path: Path) -> None:
    check(json.dumps(edit.remove(TOY, path)))


@rows("path", list(places(TOY))[1:], ids=str)
def test_anything_of_another_type(path: Path) -> None:
    for value in ("part=x", 3, True, [], ["x"], {}, {"a": 1}):
        check(json.dumps(edit.set_value(TOY, path, value)))
