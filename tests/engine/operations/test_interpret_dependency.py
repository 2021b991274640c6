"""InterpretDependency beside what `tests/base/k8s/test_dependencies.py` holds about pod templates."""

from collections.abc import Sequence
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.engine.operations.conftest import Define, component

LONGEST = 253


def _asked(define: Define, namespace: str, volumes: list[dict[str, Any]]) -> Sequence[Object]:
    obj = {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": {"name": "t", "namespace": namespace},
        "spec": {"template": {"spec": {"containers": [{"name": "a"}], "volumes": volumes}}},
    }
    call = Call(Operation.INTERPRET_DEPENDENCY, obj)
    return interpret(define(root=component("train", ".spec.template")), call)["dependencies"]


def test_too_long_namespace_is_not_repeated(define: Define) -> None:
    secrets = [{"name": f"v{number}", "secret": {"secretName": f"s{number}"}} for number in range(30)]
    assert len(_asked(define, "n" * LONGEST, secrets)) == len(secrets)
    assert _asked(define, "n" * (LONGEST + 1), []) == [], "there is nothing to repeat it for"
    with pytest.raises(InterpretationError, match="more than 253 bytes"):
        _asked(define, "n" * (LONGEST + 1), secrets)
