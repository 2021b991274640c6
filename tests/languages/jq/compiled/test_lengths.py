"""The work on an expression grows with its length, whatever it is made of: counted in calls of functions."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import example, given, strategies as st

from karta_interpreter.base.k8s.projection import Projection, reader
from karta_interpreter.languages.jq.analysis import Execution, vet
from karta_interpreter.languages.jq.assign import compile_trace
from karta_interpreter.languages.jq.compiled.compiler import compile_list
from karta_interpreter.languages.jq.compiled.reads import mark_all, project, sources
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.parser import parse
from karta_interpreter.languages.jq.syntax.printer import render
from tests.languages.jq.expressions import plain_expressions
from tests.support.counting import calls

SHORT = 8
TIMES = 4
FIRST = 4000
"""So much work can be done once, such as what is cached afterwards, or before a bound is reached."""

OPERATORS = (" | ", " // ", ", ", " + ", " * ", " and ")


def projection_of(node: Node) -> Projection:
    projection = Projection()
    mark_all(project(node, (projection,)))
    return projection


STAGES: dict[str, Callable[[Node], object]] = {
    "compiling": compile_list,
    "tracing": compile_trace,
    "sources": sources,
    "reads": projection_of,
    "decoder": lambda node: reader({"object": projection_of(node)}),
}


def work(unit: str, operator: str, times: int) -> dict[str, int]:
    """The work of each stage on an expression that repeats a unit. Only vetting, if another process runs it."""
    node = parse(operator.join([f"({unit})"] * times))
    vetting = {"vetting": calls(lambda: vet(node))}
    if vet(node).verdict is not Execution.PLAIN:
        return vetting
    return vetting | {name: calls(partial(stage, node)) for name, stage in STAGES.items()}


@pytest.mark.slow
@given(unit=plain_expressions.map(render), operator=st.sampled_from(OPERATORS))
@example(unit=".a // .b", operator=" | ")
@example(unit="(.a // .b)[]", operator=" | ")
@example(unit=".a0 // .a1 // .a2 // .a3", operator=" | ")
@example(unit="if .c then .a else .b end", operator=" | ")
@example(unit="select(.k) // .b", operator=" | ")
@example(unit=".[]", operator=" | ")
@example(unit=".[][]", operator=" | ")
@example(unit="first(.a // .b)", operator=" | ")
@example(unit="any(.a // .b)", operator=" | ")
@example(unit=". // .", operator=" | ")
@example(unit="if (.a // .b) then . else (.c // .d) end", operator=" | ")
@example(unit="(.a // 1) * (.b // 1)", operator=" * ")
def test_work_is_linear_in_length(unit: str, operator: str) -> None:
    short = work(unit, operator, SHORT)
    long = work(unit, operator, SHORT * TIMES)
    assert {name: most for name, most in long.items() if most > FIRST + short[name] * (TIMES + 1)} == {}


def test_work_on_large_expressions_is_bounded() -> None:
    """From some number of parts on, values are read whole: each part is a type of the decoder."""
    fields = ".".join(f"f{number}" for number in range(100))
    node = parse(", ".join(f"(.a{number}[] | .{fields})" for number in range(60)))
    assert 1000 < parts(projection_of(node)) < 2000


def parts(projection: Projection) -> int:
    below = [*projection.fields.values(), *([projection.elements] if projection.elements else [])]
    return 1 + sum(map(parts, below))
