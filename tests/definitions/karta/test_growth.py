"""Judging a definition takes no more than its size: counted in calls of functions, not in time."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.definitions.karta.loading import load_documents
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.languages.jq.analysis import examine
from tests.support.counting import calls
from tests.support.examples import few

_SIZES = (4, 8, 16, 48)  # the first one imports and compiles, and does not count
_MOST = 4.8  # exactly 4 where the work is linear, 10 where it is quadratic

_GVK = {"group": "example.org", "version": "v1", "kind": "Loaf"}
_PODS = {"podTemplateSpecPath": ".spec.template"}


def _karta(children: list[Any], **spec: Any) -> dict[str, Any]:
    status = {
        "phaseDefinition": {"path": ".status.phase"},
        "conditionsDefinition": {"path": ".status.conditions", "typeFieldName": "type", "statusFieldName": "status"},
        "statusMappings": {"running": spec.pop("running", [{"byPhase": "Baking"}])},
    }
    root = {"name": "loaf", "kind": _GVK, "statusDefinition": status}
    structure = {"rootComponent": root, "childComponents": children, **spec}
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "loaf"},
        "spec": {"structureDefinition": structure},
    }


def _children(count: int, **fields: str) -> list[Any]:
    """Return components whose fields may have their number in them."""
    return [
        {
            "name": f"c{number}",
            "ownerRef": fields.get("owner", "loaf").format(number, number - 1),
            "specDefinition": {"podTemplateSpecPath": f".spec.a{number}"},
            "scaleDefinition": {"replicasPath": f".a{number} // 1"},
        }
        for number in range(count)
    ]


def _gang(count: int, members: Callable[[int], list[str]], groups: int) -> dict[str, Any]:
    karta = _karta(_children(count))
    pod_groups = [
        {"name": f"g{group}", "members": [{"componentName": name} for name in members(group)]}
        for group in range(groups)
    ]
    karta["spec"]["optimizationInstructions"] = {"gangScheduling": {"podGroups": pod_groups}}
    return karta


def _annotated(name: str, text: str, children: int = 0) -> dict[str, Any]:
    karta = _karta(_children(children))
    karta["metadata"]["annotations"] = {f"karta-interpreter.io/{name}": text}
    return karta


def _reading(expression: str) -> dict[str, Any]:
    return _karta([{"name": "c", "ownerRef": "loaf", "specDefinition": {"podTemplateSpecPath": expression}}])


def _lines(count: int, line: str) -> str:
    return "\n".join(line.format(number) for number in range(count))


SHAPES: dict[str, Callable[[int], dict[str, Any]]] = {
    "components": lambda n: _karta(_children(n)),
    "a chain of owners": lambda n: _karta([*_children(n, owner="c{1}"), {"name": "c-1", "ownerRef": "loaf"}]),
    "a circle of owners": lambda n: _karta([*_children(n, owner="c{1}"), {"name": "c-1", "ownerRef": f"c{n - 1}"}]),
    "owners that are not there": lambda n: _karta(_children(n, owner="nobody{0}")),
    "the same component": lambda n: _karta(_children(1) * n),
    "components that are nothing": lambda n: _karta([{}] * n),
    "matchers": lambda n: _karta([], running=[{"byPhase": f"P{i}"} for i in range(n)]),
    "conditions": lambda n: _karta(
        [], running=[{"byConditions": [{"type": f"T{i}", "status": "True"} for i in range(n)]}]
    ),
    "expressions of matchers": lambda n: _karta(
        [], running=[{"byExpression": {"expression": f".a == {i}", "expectedResult": "true"}} for i in range(n)]
    ),
    "additional kinds": lambda n: _karta([], additionalChildKinds=[{**_GVK, "kind": f"K{i}"} for i in range(n)]),
    "the same kind": lambda n: _karta([], additionalChildKinds=[_GVK] * n),
    "pod groups": lambda n: _gang(n, lambda group: [f"c{group}"], n),
    "members of a pod group": lambda n: _gang(n, lambda _: [f"c{i}" for i in range(n)], 1),
    "members that are not there": lambda n: _gang(n, lambda _: [f"d{i}" for i in range(n)], 1),
    "fields that are not there": lambda n: _karta([], **{f"field{i}": 1 for i in range(n)}),
    "an annotation of names": lambda n: _annotated("elastic", ",".join(f"c{i}" for i in range(n)), children=n),
    "an annotation of other names": lambda n: _annotated("elastic", ",".join(f"d{i}" for i in range(n)), children=n),
    "places to retain": lambda n: _annotated("retain", _lines(n, "- .spec.a{}")),
    "dependencies": lambda n: _annotated(
        "dependencies", _lines(n, "- {{apiVersion: v1, kind: Secret, name: .spec.a{}}}")
    ),
    "rules of aggregation": lambda n: _annotated("aggregate", _lines(n, ".status.a{}: sum")),
    "a long pipe": lambda n: _reading(" | ".join([".a"] * (n // 2))),
    "a long list": lambda n: _reading(f"[{', '.join(['.a'] * n)}]"),
    "a long object": lambda n: _reading(f"{{{', '.join(f'a{i}: .b' for i in range(n))}}}"),
    "a long path": lambda n: _reading(".a" * n),
    "many alternatives": lambda n: _reading(" // ".join([".a"] * (n // 2))),
    "many choices": lambda n: _reading(f"if .a then 1 {' '.join(f'elif .b{i} then 2' for i in range(n))} else 3 end"),
    "many interpolations": lambda n: _reading('"' + "\\(.a)" * n + '"'),
    "deep parentheses": lambda n: _reading("(" * (n // 4) + ".a" + ")" * (n // 4)),
    "deep lists": lambda n: _reading("[" * (n // 4) + ".a" + "]" * (n // 4)),
}


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("shape", few([*SHAPES], "growth"))
def test_work_grows_linearly_with_size(shape: str) -> None:
    _, some, more, most = (_work(json.dumps(SHAPES[shape](size))) for size in _SIZES)
    assert most - more <= _MOST * (more - some), (some, more, most)


def test_rules_read_long_text_once() -> None:
    """A pattern that begins anew at each character takes a quarter of an hour, in which a server answers no call."""
    (loaded,) = load_documents(json.dumps(_karta([{**_children(1)[0], "a" * 200_000: "b"}])), "karta.yaml")

    assert [finding.rule for finding in loaded.findings] == ["unknown-field"]


def _work(text: str) -> int:
    examine.cache_clear()
    return calls(lambda: [*load_documents(text, "karta.yaml"), *contradictions(text, "karta.yaml", None)])
