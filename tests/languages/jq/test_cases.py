"""Every case of the corpus, in this process and in libjq."""

import json
import re
from functools import reduce
from typing import Any

import pytest

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq import Query, parse
from karta_interpreter.languages.jq.compiled.functions import FUNCTIONS, key_of
from karta_interpreter.languages.jq.compiled.values import order_key
from karta_interpreter.languages.jq.syntax import (
    Alternative,
    Array,
    Comma,
    FunctionCall,
    Identity,
    Index,
    Literal,
    Node,
    Pipe,
    Try,
)
from karta_interpreter.languages.jq.syntax.traversal import parts_of
from tests.languages.jq.cases import CASES, Case, every_case
from tests.languages.jq.oracle import libjq_program


@every_case
def test_case(case: Case) -> None:
    query = Query.compile(case.jq)
    assert query.is_plain
    if case.outputs is None:
        with pytest.raises(QueryEvaluationError, match=re.escape(case.error)):
            query.evaluate(case.input)
    else:
        assert exact(query.evaluate(case.input)) == exact(case.outputs)


def exact(outputs: list[JSON]) -> str:
    """A text in which 1, 1.0 and true differ."""
    return json.dumps(outputs, sort_keys=True)


@pytest.mark.slow
def test_libjq_gives_the_same_where_no_difference_is_named() -> None:
    differing = [
        case for case, found in zip(CASES, libjq_outputs(CASES), strict=True) if found != comparable(case.outputs)
    ]
    assert differing == [case for case in CASES if case.libjq]


def libjq_outputs(cases: list[Case]) -> list[list[Any] | None]:
    """The outputs by case, None where libjq fails; one program, which libjq takes long to compile."""
    attempts: list[Node] = [
        Pipe(Index(Identity(), Literal(index)), Alternative(Try(Array(parse(case.jq))), Literal(None)))
        for index, case in enumerate(cases)
    ]
    program = libjq_program(Array(reduce(Comma, attempts)))
    return [comparable(found) for found in next(program([case.input for case in cases]))]


def comparable(outputs: list[JSON] | None) -> list[Any] | None:
    return None if outputs is None else [order_key(output) for output in outputs]


def test_functions_have_cases() -> None:
    called = {key_of(part) for case in CASES for part in parts_of(parse(case.jq)) if isinstance(part, FunctionCall)}
    assert FUNCTIONS.keys() - called == set()
